package main

import (
	"context"
	"net/http"

	"github.com/signalbox/signalbox/cmd/signalbox/asking"
	"github.com/signalbox/signalbox/cmd/signalbox/callbacks"
	"github.com/signalbox/signalbox/cmd/signalbox/landing"
	"github.com/signalbox/signalbox/cmd/signalbox/serve"
	"github.com/signalbox/signalbox/comfy"
	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/platforms/web/console"
	"github.com/signalbox/signalbox/platforms/web/engineapi"
	"github.com/signalbox/signalbox/platforms/web/pages"
	"github.com/signalbox/signalbox/providers/openapi"
)

// newConsole makes the operator's console.
func (a *app) newConsole() (http.Handler, error) {
	c, err := console.New(console.Config{
		Registry: a.registry, Catalogue: a.history, Runs: a.runs, People: a.users, Ledger: a.ledger, Grant: a.grant, Invitations: a.invitations(), Address: a.address, Settings: a.rules,
		Caller: web.Caller, CSRF: web.CSRFInput, Engines: a.engineRows, OrderEngine: a.orderEngine, Findings: a.findingRows,
		Sections: append(a.seller.Sections(), callbacks.Section(a.db.Pool), a.missionSection(), groupSection(a.groupWallets()), landing.Section(pages.NewShares(a.db.Pool)), asking.Section(a.questions)),
		Logger:   a.log.With("component", "console"),
	})
	if err != nil {
		return nil, err
	}
	return c.Handler(), nil
}

// address is the whole address of a path of the page.
func (a *app) address(path string) string {
	if a.cfg.Public != nil {
		return a.cfg.Public.String() + path
	}
	return "http://" + serve.Reachable(a.listener.Addr()) + path
}

// engineRows tells the console of the engines and their queues.
func (a *app) engineRows(ctx context.Context) []console.Engine {
	queues := a.fleet.Queues(ctx)
	var rows []console.Engine
	for i, s := range a.fleet.Status() {
		rows = append(rows, console.Engine{Name: s.Name, Up: s.Up, Error: s.Error, Version: s.Version, GPUs: s.GPUs, Classes: s.Classes,
			CheckedAt: s.CheckedAt, Order: string(s.Order), Tags: s.Tags, Memory: s.Memory, Free: s.Free,
			Running: queues[i].Running, Waiting: queues[i].Pending})
	}
	return rows
}

// orderEngine does what an operator wants of an engine.
func (a *app) orderEngine(ctx context.Context, name, order string) error {
	return a.fleet.Order(ctx, name, comfy.Order(order))
}

// newEngineAPI is how programs of operators do the same.
func (a *app) newEngineAPI() http.Handler {
	return engineapi.Handler(engineapi.Config{
		Names: func() (names []string) {
			for _, s := range a.fleet.Status() {
				names = append(names, s.Name)
			}
			return names
		},
		List:  func() any { return a.fleet.Status() },
		Order: a.orderEngine, Record: a.users.Record, Caller: web.Caller, Logger: a.log.With("component", "engines"),
	})
}

// findingRows tells the console what could be better in the workflows and in OpenAPI documents.
func (a *app) findingRows() map[string][]console.Finding {
	rows := map[string][]console.Finding{}
	for tool, list := range a.flows.Findings() {
		for _, f := range list {
			rows[tool] = append(rows[tool], console.Finding{Severity: string(f.Severity), Message: f.Message, Advice: f.Advice, Node: f.Node})
		}
	}
	for _, f := range a.documentFindings() {
		severity := "warning"
		if f.Refused {
			severity = "error"
		}
		rows[f.Operation] = append(rows[f.Operation], console.Finding{Severity: severity, Message: f.Message})
	}
	return rows
}

// documentFindings are what is to be said about OpenAPI documents, if there are any.
func (a *app) documentFindings() []openapi.Finding {
	if a.documents == nil {
		return nil
	}
	return a.documents.Findings()
}
