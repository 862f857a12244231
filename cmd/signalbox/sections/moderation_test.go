package sections

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/moderation"
	"github.com/signalbox/signalbox/platforms/web/console"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// result is a house with one run.
type result struct{ runs.Run }

func (r result) Get(_ context.Context, runID string) (runs.Run, error) {
	if runID != r.ID {
		return runs.Run{}, runs.ErrNotFound
	}
	return r.Run, nil
}

func TestModeration(t *testing.T) {
	t.Parallel()
	pool, ctx := postgrestest.New(t), t.Context()
	people := users.New(pool, users.Config{})
	ann, err := people.Identify(ctx, users.Identity{Platform: "telegram", ExternalID: "ann", Name: "Ann"})
	if err != nil {
		t.Fatal(err)
	}
	run := runs.Run{ID: uuid.NewString(), AccountID: ann.ID, Status: runs.StatusSucceeded, Tool: registry.Tool{ToolID: "painter", DisplayName: "Painter"}}
	_, err = pool.Exec(ctx, `INSERT INTO runs (id, account_id, tool_id, tool_version, service, status, inputs, sources, shape, quote, promised, platform, deliverable, timeout_ms, created_at, outputs, receipt, ended_at)
		VALUES ($1, $2, 'painter', '1', 'test', 'succeeded', '{}', '{}', 0, '{}', 0, 'web', false, 0, now(), '[]', '{}', now())`, run.ID, ann.ID)
	if err != nil {
		t.Fatal(err)
	}
	m, err := moderation.New(moderation.Config{
		Pool: pool, People: people, Runs: result{run},
		Rule:     func() moderation.Rule { return moderation.Rule{Strikes: 1, Within: time.Hour, Mute: time.Hour} },
		Withdraw: func(context.Context, runs.Run, moderation.Place) error { return nil }, Unshare: func(context.Context, pgx.Tx, string) error { return nil },
		Tell: func(context.Context, moderation.Notice) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]console.Section{}
	for _, s := range Moderation(m, func() time.Duration { return time.Hour }) {
		pages[s.Path] = s
	}
	row := func(page string) string {
		t.Helper()
		table, err := pages[page].Table(ctx, "")
		if err != nil || len(table.Rows) != 1 || len(table.Rows[0].Cells) != len(table.Columns) {
			t.Fatalf("the page %s has %+v, %v; want one row", page, table.Rows, err)
		}
		return table.Rows[0].ID
	}
	do := func(page, name, text string) {
		t.Helper()
		i := slices.IndexFunc(pages[page].Choices, func(c console.Choice) bool { return c.Name == name })
		if _, err := pages[page].Choices[i].Do(ctx, console.Chosen{ID: row(page), By: "console", Why: "a test", Text: text}); err != nil {
			t.Fatalf("%s on the page %s: %v", name, page, err)
		}
	}
	report := func() {
		t.Helper()
		if err := m.Report(ctx, moderation.Report{RunID: run.ID, Where: moderation.Place{Platform: "web"}, Reason: moderation.Spam}); err != nil {
			t.Fatal(err)
		}
	}
	mayRun := func(want bool) {
		t.Helper()
		if err := people.MayRun(ctx, ann.ID); (err == nil) != want {
			t.Errorf("may run: %v, want %v", err, want)
		}
	}
	report()
	if alarm, err := pages["reports"].Alarm(ctx); err != nil || !strings.HasPrefix(alarm, "One reported result") {
		t.Errorf("the alarm is %q, %v", alarm, err)
	}
	do("reports", "mute", "")
	mayRun(false)
	do("mutes", "end", "")
	mayRun(true)
	do("reports", "dismiss", "")
	report()
	do("reports", "strike", "")
	mayRun(false)
	do("strikes", "lift", "")
	mayRun(true)
	if err := m.Appeal(ctx, ann.ID, "it is mine"); err != nil {
		t.Fatal(err)
	}
	do("appeals", "grant", "Right.")
	if st, err := m.Standing(ctx, ann.ID); err != nil || !st.Clean() {
		t.Errorf("the standing is %+v, %v", st, err)
	}
	if alarm, err := pages["appeals"].Alarm(ctx); err != nil || alarm != "" {
		t.Errorf("the alarm is %q, %v", alarm, err)
	}
	for name, page := range pages {
		for _, choice := range page.Choices {
			_, err := choice.Do(ctx, console.Chosen{ID: "none", By: "console", Text: "Right."})
			if !errors.Is(err, runs.ErrNotFound) && registry.AsError(err).Code != registry.CodeInvalidInput {
				t.Errorf("%s on the page %s, of a row that is none: %v", choice.Name, name, err)
			}
		}
	}
}
