package main

import (
	"net/http"

	"github.com/signalbox/signalbox/cmd/signalbox/asking"
	"github.com/signalbox/signalbox/cmd/signalbox/callbacks"
	"github.com/signalbox/signalbox/cmd/signalbox/landing"
	"github.com/signalbox/signalbox/cmd/signalbox/sections"
	"github.com/signalbox/signalbox/cmd/signalbox/serve"
	"github.com/signalbox/signalbox/internal/disk"
	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/platforms/web/console"
	"github.com/signalbox/signalbox/platforms/web/pages"
	"github.com/signalbox/signalbox/providers/openapi"
)

// newConsole makes the operator's console.
func (a *app) newConsole() (http.Handler, error) {
	others := append(a.seller.Sections(), callbacks.Section(a.db.Pool), sections.Missions(a.missions), sections.Groups(a.groupWallets()), landing.Section(pages.NewShares(a.db.Pool)), asking.Section(a.questions))
	c, err := console.New(console.Config{
		Registry: a.registry, Catalogue: a.history, Runs: a.runs, People: a.users, Ledger: a.ledger, Grant: a.grant, Invitations: a.invitations(), Address: a.address, Settings: a.rules,
		Caller: web.Caller, CSRF: web.CSRFInput, Engines: a.engines().Rows, OrderEngine: a.engines().Order, Findings: a.findingRows,
		Room:     func() (int64, error) { return disk.Free(a.cfg.DataDir) },
		Lacks:    func() []console.Lack { return a.engines().Lacks(a.flows.Needs()) },
		Sections: append(others, a.moderationSections()...),
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
