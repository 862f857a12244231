package main

import (
	"cmp"
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/migrations"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/webhooks"
)

// post is how services reach us.
type post struct {
	addresses *webhooks.Addresses
	inbox     *webhooks.Inbox
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
		if _, signs := s.provider.(registry.CallbackVerifier); signs {
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

func (a *app) startInbox(ctx context.Context) error {
	sources := map[string]webhooks.Source{}
	for _, s := range a.services {
		verifier, _ := s.provider.(registry.CallbackVerifier) // nil: the address carries a token
		sources[s.name] = webhooks.Source{Verifier: verifier}
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

// callback makes a run look at its provider.
func (a *app) callback(ctx context.Context, service, runID, providerID string) (known bool, err error) {
	err = a.runs.Callback(ctx, service, runID, providerID)
	if errors.Is(err, runs.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// strategy is how the tools of a service read its callbacks, where they agree on it.
func (a *app) strategy(service string) (registry.WebhookConfig, bool) {
	var found *registry.WebhookConfig
	for _, t := range a.registry.Snapshot().ByService(service) {
		switch {
		case t.WebhookStrategy == nil:
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
	List   listEventsCommand   `cmd:"" help:"List the callbacks of services that were given up, or others."`
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
