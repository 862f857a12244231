package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	"github.com/signalbox/signalbox/cmd/signalbox/callbacks"
	"github.com/signalbox/signalbox/cmd/signalbox/config"
	"github.com/signalbox/signalbox/cmd/signalbox/database"
	"github.com/signalbox/signalbox/cmd/signalbox/serve"
	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/providers/httptools"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/webhooks"
)

// post is how services reach us, and how we reach the programs of our users.
type post struct {
	*house
	addresses *webhooks.Addresses
	inbox     *webhooks.Inbox
	outbox    *webhooks.Outbox
}

// newAddresses makes the addresses that services report to. They come before the runs service, which hands them out,
// while the inbox comes after it.
func (p *post) newAddresses(context.Context) error {
	key, err := p.keyFor("callback addresses")
	if err != nil {
		return err
	}
	public := ""
	if p.cfg.Public != nil {
		public = p.cfg.Public.String()
	}
	var signing []string
	for _, s := range p.services {
		if _, signs := runs.Extra[registry.CallbackVerifier](s.Provider); signs {
			signing = append(signing, s.Name)
		}
	}
	p.addresses, err = webhooks.NewAddresses(public, key, signing, p.clock.Now)
	return err
}

// callbackURL is where the provider of a run may report.
func (p *post) callbackURL(service, runID string) string {
	for _, s := range p.services {
		if s.Name == service {
			return p.addresses.Of(service, runID)
		}
	}
	return ""
}

// reports gives what was called back about runs of tools over HTTP; nil where nobody can call back.
func (p *post) reports() func(ctx context.Context, runID string) ([]httptools.Report, error) {
	if p.cfg.Public == nil {
		return nil
	}
	return func(ctx context.Context, runID string) ([]httptools.Report, error) {
		found, err := webhooks.Reports(ctx, p.db.Pool, httptools.Service, runID)
		list := make([]httptools.Report, len(found))
		for i, r := range found {
			list[i] = httptools.Report(r)
		}
		return list, err
	}
}

func (p *post) startInbox(ctx context.Context) error {
	sources := map[string]webhooks.Source{}
	for _, s := range p.services {
		verifier, _ := runs.Extra[registry.CallbackVerifier](s.Provider) // nil: the address carries a token
		sources[s.Name] = webhooks.Source{Verifier: verifier, Check: p.signed(s.Provider)}
	}
	var err error
	p.inbox, err = webhooks.NewInbox(webhooks.InboxConfig{
		Pool: p.db.Pool, Addresses: p.addresses, Sources: sources, Callback: p.callback,
		Strategy: func(service string) (registry.WebhookConfig, bool) {
			return callbacks.Strategy(p.registry.Snapshot(), service)
		},
		Logger: p.log.With("component", "webhooks"), Metrics: p.metrics, Now: p.clock.Now,
	})
	if err != nil {
		return err
	}
	p.OnStop("webhooks inbox", p.inbox.Stop)
	return p.inbox.Start(ctx)
}

// signed checks callbacks of providers whose tools say one by one how theirs are signed; nil for all others.
func (p *post) signed(provider runs.Provider) func(ctx context.Context, runID string, r registry.CallbackRequest) error {
	checker, ok := runs.Extra[interface {
		CheckCallback(ctx context.Context, tool registry.Tool, r registry.CallbackRequest) error
	}](provider)
	if !ok {
		return nil
	}
	return func(ctx context.Context, runID string, r registry.CallbackRequest) error {
		run, err := p.runs.Get(ctx, runID)
		if errors.Is(err, runs.ErrNotFound) {
			return nil // nothing will be made of it
		}
		if err != nil {
			return err
		}
		return checker.CheckCallback(ctx, run.Tool, r)
	}
}

// callback makes a run look at its provider.
func (p *post) callback(ctx context.Context, service, runID, providerID string) (known bool, err error) {
	err = p.runs.Callback(ctx, service, runID, providerID)
	if errors.Is(err, runs.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// newOutbox makes what tells programs of runs. It comes before the web, which manages its endpoints, and starts after it,
// since the web knows the addresses of results.
func (p *post) newOutbox(tell func(ctx context.Context, accountID, text string) error) error {
	key, err := p.keyFor("endpoint secrets")
	if err != nil {
		return err
	}
	p.outbox, err = webhooks.NewOutbox(webhooks.OutboxConfig{
		Pool: p.db.Pool, Key: key, Hooks: outbound.NewHooks(p.cfg.Allow, webhooks.SendTimeout), Data: p.tellRun, Tell: tell,
		Logger: p.log.With("component", "webhooks"), Metrics: p.metrics, Now: p.clock.Now,
	})
	return err
}

func (p *post) startOutbox(ctx context.Context) error {
	p.OnStop("webhooks outbox", p.outbox.Stop)
	return p.outbox.Start(ctx)
}

// tellRun is what programs are told of a run: what the API tells.
func (p *post) tellRun(ctx context.Context, runID string) (json.RawMessage, error) {
	run, err := p.runs.Get(ctx, runID)
	if err != nil {
		return nil, err
	}
	return p.web.TellRun(run, serve.Reachable(p.listener.Addr()))
}

type webhooksCommand struct {
	List   listEventsCommand   `cmd:"" help:"List callbacks of services that were given up, or others."`
	Replay replayEventsCommand `cmd:"" help:"Have callbacks that were given up worked on again."`
}

type listEventsCommand struct {
	Status string `default:"left" enum:"left,all,stored,done,orphan,dead" help:"left: those that were given up; all, stored, done, orphan or dead."`
	Limit  int    `default:"50" help:"How many, newest first."`
}

// Run prints a line for each callback.
func (c listEventsCommand) Run(e env) error {
	return withDatabase(e, func(ctx context.Context, _ config.Config, db *database.DB, _ *slog.Logger) error {
		return callbacks.List(ctx, db.Pool, e.stdout, c.Status, c.Limit)
	})
}

type replayEventsCommand struct {
	IDs []int64 `arg:"" optional:"" name:"id" help:"Numbers from webhooks list. None: all that were given up."`
}

// Run has the callbacks worked on by the running program, or at its next start.
func (c replayEventsCommand) Run(e env) error {
	return withDatabase(e, func(ctx context.Context, _ config.Config, db *database.DB, _ *slog.Logger) error {
		return callbacks.Replay(ctx, db.Pool, e.stdout, c.IDs)
	})
}
