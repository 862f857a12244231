package main

import (
	"cmp"
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/migrations"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/telegram"
	"github.com/signalbox/signalbox/platforms/web/console"
	"github.com/signalbox/signalbox/providers/httptools"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/webhooks"
)

// post is how services reach us, and how we reach the programs of our users.
type post struct {
	addresses *webhooks.Addresses
	inbox     *webhooks.Inbox
	outbox    *webhooks.Outbox
}

// newAddresses makes the addresses that services report to. They come before the runs service, which hands them out,
// while the inbox comes after it.
func (a *app) newAddresses(context.Context) error {
	key, err := a.keyFor("callback addresses")
	if err != nil {
		return err
	}
	public := ""
	if a.cfg.Public != nil {
		public = a.cfg.Public.String()
	}
	var signing []string
	for _, s := range a.services {
		if _, signs := runs.Extra[registry.CallbackVerifier](s.provider); signs {
			signing = append(signing, s.name)
		}
	}
	a.post.addresses, err = webhooks.NewAddresses(public, key, signing, nil)
	return err
}

// keyFor derives a key for one purpose from the secret of this installation.
func (a *app) keyFor(purpose string) ([]byte, error) {
	secret, err := linkKey(a.cfg.DataDir)
	if err != nil {
		return nil, err
	}
	return hkdf.Key(sha256.New, secret, nil, "signalbox "+purpose, 32)
}

// callbackURL is where the provider of a run may report.
func (a *app) callbackURL(service, runID string) string {
	for _, s := range a.services {
		if s.name == service {
			return a.post.addresses.Of(service, runID)
		}
	}
	return ""
}

// reports gives what was called back about runs of tools over HTTP; nil where nobody can call back.
func (a *app) reports() func(ctx context.Context, runID string) ([]httptools.Report, error) {
	if a.cfg.Public == nil {
		return nil
	}
	return func(ctx context.Context, runID string) ([]httptools.Report, error) {
		found, err := webhooks.Reports(ctx, a.db.pool, httptools.Service, runID)
		list := make([]httptools.Report, len(found))
		for i, r := range found {
			list[i] = httptools.Report(r)
		}
		return list, err
	}
}

func (a *app) startInbox(ctx context.Context) error {
	sources := map[string]webhooks.Source{}
	for _, s := range a.services {
		verifier, _ := runs.Extra[registry.CallbackVerifier](s.provider) // nil: the address carries a token
		sources[s.name] = webhooks.Source{Verifier: verifier, Check: a.signed(s.provider)}
	}
	var err error
	a.post.inbox, err = webhooks.NewInbox(webhooks.InboxConfig{
		Pool: a.db.pool, Addresses: a.post.addresses, Sources: sources, Strategy: a.strategy, Callback: a.callback,
		Logger: a.log.With("component", "webhooks"), Metrics: a.metrics,
	})
	if err != nil {
		return err
	}
	a.onStop("webhooks inbox", a.post.inbox.Stop)
	return a.post.inbox.Start(ctx)
}

// signed checks callbacks of providers whose tools say one by one how theirs are signed; nil for all others.
func (a *app) signed(provider runs.Provider) func(ctx context.Context, runID string, r registry.CallbackRequest) error {
	checker, ok := runs.Extra[interface {
		CheckCallback(ctx context.Context, tool registry.Tool, r registry.CallbackRequest) error
	}](provider)
	if !ok {
		return nil
	}
	return func(ctx context.Context, runID string, r registry.CallbackRequest) error {
		run, err := a.runs.Get(ctx, runID)
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
func (a *app) callback(ctx context.Context, service, runID, providerID string) (known bool, err error) {
	err = a.runs.Callback(ctx, service, runID, providerID)
	if errors.Is(err, runs.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// newOutbox makes what tells programs of runs. It comes before the web, which manages its endpoints, and starts after it,
// since the web knows the addresses of results.
func (a *app) newOutbox() error {
	key, err := a.keyFor("endpoint secrets")
	if err != nil {
		return err
	}
	a.post.outbox, err = webhooks.NewOutbox(webhooks.OutboxConfig{
		Pool: a.db.pool, Key: key, Hooks: outbound.NewHooks(a.cfg.Allow, webhooks.SendTimeout), Data: a.tellRun, Tell: a.tellPerson,
		Logger: a.log.With("component", "webhooks"), Metrics: a.metrics,
	})
	return err
}

func (a *app) startOutbox(ctx context.Context) error {
	a.onStop("webhooks outbox", a.post.outbox.Stop)
	return a.post.outbox.Start(ctx)
}

// tellRun is what programs are told of a run: what the API tells.
func (a *app) tellRun(ctx context.Context, runID string) (json.RawMessage, error) {
	run, err := a.runs.Get(ctx, runID)
	if err != nil {
		return nil, err
	}
	return a.web.TellRun(run, reachable(a.listener.Addr()))
}

// tellPerson says something to the owner of an account, in the page's chat and in a private one of Telegram.
func (a *app) tellPerson(ctx context.Context, accountID, text string) error {
	say := func(by chat.Adapter, place string) error {
		_, err := by.Send(ctx, chat.Message{To: chat.Place{Chat: place}, Text: chat.Plain(text)})
		return err
	}
	failed := say(a.chat.page, accountID)
	identities, err := a.users.Identities(ctx, accountID)
	for _, who := range identities {
		if who.Platform == telegram.Platform && a.chat.telegram != nil {
			failed = errors.Join(failed, say(a.chat.telegram, who.ExternalID))
		}
	}
	return errors.Join(failed, err)
}

// inboxSection shows operators the callbacks that came, and lets them try those again that were given up.
func (a *app) inboxSection() console.Section {
	return console.Section{
		Path: "webhooks", Title: "Webhooks", Views: []console.View{{Name: "all", Title: "All"}, {Name: "left", Title: "Given up"}},
		Table: func(ctx context.Context, view string) (console.Table, error) {
			events, err := webhooks.Events(ctx, a.db.pool, webhooks.EventsQuery{Left: view == "left"})
			return inboxTable(events, view == "left"), err
		},
		Deed: &console.Deed{
			Name: "replay", Button: "Replay", All: "Replay all",
			Says: "What was given up is worked on again, as if it had just come: its run asks its service what became of it. Nothing is charged twice.",
			Do:   a.replayEvents,
		},
		Alarm: func(ctx context.Context) (string, error) {
			dead, err := webhooks.Events(ctx, a.db.pool, webhooks.EventsQuery{Status: webhooks.StatusDead})
			if err != nil || len(dead) == 0 {
				return "", err
			}
			return plural(int64(len(dead)), "callback") + " of services could not be worked on", nil
		},
	}
}

// inboxTable has a row for each callback. Those that were given up can be replayed by their number.
func inboxTable(events []webhooks.Event, left bool) console.Table {
	t := console.Table{
		Lead:    "Callbacks of services, newest first, at most a hundred.",
		Columns: []string{"No.", "Received", "Service", "Run", "Says", "Copies", "Status", "Attempts", "Trouble"}, Empty: "No service has called back yet.",
	}
	if left {
		t.Empty = "Nothing was given up."
	}
	for _, e := range events {
		run := console.Cell{Text: e.ProviderID, Run: e.RunID}
		if e.Status == webhooks.StatusOrphan { // there is no such run
			run = console.Cell{Text: cmp.Or(e.RunID, e.ProviderID)}
		}
		row := console.Row{Cells: []console.Cell{
			{Text: strconv.FormatInt(e.ID, 10)}, {Text: e.ReceivedAt.UTC().Format(time.DateTime)}, {Text: e.Service}, run, {Text: e.State},
			{Text: strconv.Itoa(e.Copies)}, {Text: string(e.Status)}, {Text: strconv.Itoa(e.Attempts)}, {Text: e.Error},
		}}
		if e.Status == webhooks.StatusDead || e.Status == webhooks.StatusOrphan {
			row.ID = row.Cells[0].Text
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// replayEvents has callbacks worked on again by their numbers, or all that were given up.
func (a *app) replayEvents(ctx context.Context, numbers ...string) (string, error) {
	var ids []int64
	for _, number := range numbers {
		id, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return "", registry.Errorf(registry.CodeInvalidInput, "%q is no number of a callback", number)
		}
		ids = append(ids, id)
	}
	n, err := webhooks.Replay(ctx, a.db.pool, time.Now(), ids...)
	if errors.Is(err, webhooks.ErrNoEvent) {
		return "", registry.Errorf(registry.CodeInvalidInput, "It was not given up, or somebody has replayed it already.")
	}
	return plural(n, "callback") + " will be worked on again.", err
}

// strategy is how the tools of a service read its callbacks, where they agree on it.
func (a *app) strategy(service string) (registry.WebhookConfig, bool) {
	var found *registry.WebhookConfig
	for _, t := range a.registry.Snapshot().ByService(service) {
		switch {
		case t.WebhookStrategy == nil, t.State() == registry.StateUnavailable:
		case found == nil:
			found = t.WebhookStrategy
		case !reflect.DeepEqual(found, t.WebhookStrategy):
			return registry.WebhookConfig{}, false
		}
	}
	if found == nil {
		return registry.WebhookConfig{}, false
	}
	return *found, true
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
	return withDatabase(e, func(ctx context.Context, _ Config, db *database, log *slog.Logger) error {
		if _, err := migrations.Up(ctx, db.pool, quiet(log)); err != nil {
			return err
		}
		q := webhooks.EventsQuery{Limit: c.Limit, Left: c.Status == "left"}
		if c.Status != "left" && c.Status != "all" {
			q.Status = webhooks.Status(c.Status)
		}
		events, err := webhooks.Events(ctx, db.pool, q)
		if err != nil {
			return err
		}
		for _, event := range events {
			fmt.Fprintf(e.stdout, "%d\t%s\t%s\t%s\trun %s\t%s\n", event.ID, event.ReceivedAt.UTC().Format(time.RFC3339), event.Service, event.Status,
				cmp.Or(event.RunID, event.ProviderID), event.Error)
		}
		if len(events) == 0 {
			fmt.Fprintln(e.stdout, "There are none.")
		}
		return nil
	})
}

type replayEventsCommand struct {
	IDs []int64 `arg:"" optional:"" name:"id" help:"Numbers from webhooks list. None: all that were given up."`
}

// Run has the callbacks worked on by the running program, or at its next start.
func (c replayEventsCommand) Run(e env) error {
	return withDatabase(e, func(ctx context.Context, _ Config, db *database, log *slog.Logger) error {
		if _, err := migrations.Up(ctx, db.pool, quiet(log)); err != nil {
			return err
		}
		n, err := webhooks.Replay(ctx, db.pool, time.Now(), c.IDs...)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(e.stdout, "%s will be worked on again by the running program.\n", plural(n, "callback"))
		return err
	})
}

func plural(n int64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return strconv.FormatInt(n, 10) + " " + word + "s"
}
