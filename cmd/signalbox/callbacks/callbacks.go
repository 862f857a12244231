// Package callbacks lets operators see what services called back, in the console and in the terminal, and have it worked on again.
package callbacks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/platforms/web/console"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/webhooks"
)

// Section shows operators the callbacks that came, and lets them try those again that were given up.
func Section(pool *pgxpool.Pool) console.Section {
	return console.Section{
		Path: "webhooks", Title: "Webhooks", Views: []console.View{{Name: "all", Title: "All"}, {Name: "left", Title: "Given up"}},
		Table: func(ctx context.Context, view string) (console.Table, error) {
			events, err := webhooks.Events(ctx, pool, webhooks.EventsQuery{Left: view == "left"})
			return table(events, view == "left"), err
		},
		Deed: &console.Deed{
			Name: "replay", Button: "Replay", All: "Replay all",
			Says: "What was given up is worked on again, as if it had just come: its run asks its service what became of it. Nothing is charged twice.",
			Do:   func(ctx context.Context, numbers ...string) (string, error) { return replay(ctx, pool, numbers) },
		},
		Alarm: func(ctx context.Context) (string, error) {
			dead, err := webhooks.Events(ctx, pool, webhooks.EventsQuery{Status: webhooks.StatusDead})
			if err != nil || len(dead) == 0 {
				return "", err
			}
			return plural(int64(len(dead)), "callback") + " of services could not be worked on", nil
		},
	}
}

// table has a row for each callback. Those that were given up can be replayed by their number.
func table(events []webhooks.Event, left bool) console.Table {
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

// replay has callbacks worked on again by their numbers, or all that were given up.
func replay(ctx context.Context, pool *pgxpool.Pool, numbers []string) (string, error) {
	var ids []int64
	for _, number := range numbers {
		id, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return "", registry.Errorf(registry.CodeInvalidInput, "%q is no number of a callback", number)
		}
		ids = append(ids, id)
	}
	n, err := webhooks.Replay(ctx, pool, time.Now(), ids...)
	if errors.Is(err, webhooks.ErrNoEvent) {
		return "", registry.Errorf(registry.CodeInvalidInput, "It was not given up, or somebody has replayed it already.")
	}
	return plural(n, "callback") + " will be worked on again.", err
}

// List prints a line for each callback, newest first: of a status, "all", or "left" for those that were given up.
func List(ctx context.Context, pool *pgxpool.Pool, w io.Writer, status string, limit int) error {
	q := webhooks.EventsQuery{Limit: limit, Left: status == "left"}
	if status != "left" && status != "all" {
		q.Status = webhooks.Status(status)
	}
	events, err := webhooks.Events(ctx, pool, q)
	if err != nil {
		return err
	}
	for _, event := range events {
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\trun %s\t%s\n", event.ID, event.ReceivedAt.UTC().Format(time.RFC3339), event.Service, event.Status,
			cmp.Or(event.RunID, event.ProviderID), event.Error)
	}
	if len(events) == 0 {
		fmt.Fprintln(w, "There are none.")
	}
	return nil
}

// Replay has callbacks worked on again by the running program, or at its next start: those with these numbers, or, without
// any, all that were given up.
func Replay(ctx context.Context, pool *pgxpool.Pool, w io.Writer, ids []int64) error {
	n, err := webhooks.Replay(ctx, pool, time.Now(), ids...)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s will be worked on again by the running program.\n", plural(n, "callback"))
	return err
}

// Strategy is how the tools of a service read its callbacks, where they agree on it.
func Strategy(tools *catalog.Snapshot, service string) (registry.WebhookConfig, bool) {
	var found *registry.WebhookConfig
	for _, t := range tools.ByService(service) {
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

func plural(n int64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return strconv.FormatInt(n, 10) + " " + word + "s"
}
