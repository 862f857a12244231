package main

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/cmd/signalbox/callbacks"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/registry"
)

// leave puts a callback of each fate into the inbox.
func leave(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	_, err := pool.Exec(t.Context(), `
		INSERT INTO webhook_events (service, event_id, run_id, provider_id, state, body, status, error, received_at, due_at, ended_at) VALUES
			('vidu', '1', 'run-1', '', 'succeeded', '', 'dead', 'it broke', now(), now(), now()),
			('vidu', '2', '', 'job-2', 'succeeded', '', 'orphan', 'there is no such run', now(), now(), now()),
			('vidu', '3', 'run-3', '', 'succeeded', '', 'done', '', now(), now(), now())`)
	if err != nil {
		t.Fatal(err)
	}
}

func TestInboxInTheConsole(t *testing.T) {
	t.Parallel()
	pool := postgrestest.New(t)
	section := callbacks.Section(pool)
	alarmed := func() string {
		t.Helper()
		text, err := section.Alarm(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	numbers := func(view string) (list []string) {
		t.Helper()
		table, err := section.Table(t.Context(), view)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range table.Rows {
			list = append(list, cmp.Or(row.ID, "none"))
		}
		return list
	}
	if got := alarmed(); got != "" {
		t.Errorf("an empty inbox alarms: %s", got)
	}
	leave(t, pool)
	t.Run("W20 what was given up is shown apart, alarms, and is replayed with a click", func(t *testing.T) {
		if got := numbers("all"); !slices.Equal(got, []string{"none", "2", "1"}) {
			t.Errorf("all: %v", got)
		}
		if got := numbers("left"); !slices.Equal(got, []string{"2", "1"}) {
			t.Errorf("given up: %v", got)
		}
		if got := alarmed(); got != "1 callback of services could not be worked on" {
			t.Errorf("the alarm: %q", got)
		}
		for _, id := range []string{"3", "x"} {
			if said, err := section.Deed.Do(t.Context(), id); registry.AsError(err).Code != registry.CodeInvalidInput {
				t.Errorf("no. %s: %q, %v", id, said, err)
			}
		}
		if said, err := section.Deed.Do(t.Context(), "1"); err != nil || !strings.HasPrefix(said, "1 callback ") {
			t.Errorf("one: %q, %v", said, err)
		}
		if got := numbers("left"); !slices.Equal(got, []string{"2"}) || alarmed() != "" {
			t.Errorf("left: %v; alarm: %q", got, alarmed())
		}
		if said, err := section.Deed.Do(t.Context()); err != nil || !strings.HasPrefix(said, "1 callback ") {
			t.Errorf("all: %q, %v", said, err)
		}
	})
}

func TestWebhooksCommands(t *testing.T) {
	t.Parallel()
	pool := postgrestest.New(t)
	command := func(args ...string) (string, int) {
		t.Helper()
		var out bytes.Buffer
		code := run(t.Context(), append([]string{"--database-url", postgrestest.DSN(pool), "--data-dir", t.TempDir(), "webhooks"}, args...), &out, &out)
		return out.String(), code
	}
	if out, code := command("list"); code != 0 || !strings.Contains(out, "none") {
		t.Errorf("an empty inbox: %d %s", code, out)
	}
	leave(t, pool)
	t.Run("what was given up is listed, and worked on again", func(t *testing.T) {
		out, code := command("list")
		if code != 0 || !strings.Contains(out, "run-1") || !strings.Contains(out, "it broke") || !strings.Contains(out, "job-2") || strings.Contains(out, "run-3") {
			t.Errorf("%d %s", code, out)
		}
		if out, _ := command("list", "--status", "done"); !strings.Contains(out, "run-3") || strings.Contains(out, "run-1") {
			t.Errorf("done: %s", out)
		}
		if out, code := command("replay", "3"); code == 0 || !strings.Contains(out, "no such callback") {
			t.Errorf("what is done is replayed: %d %s", code, out)
		}
		if out, code := command("replay", "1"); code != 0 || !strings.Contains(out, "1 callback ") {
			t.Errorf("one: %d %s", code, out)
		}
		if out, code := command("replay"); code != 0 || !strings.Contains(out, "1 callback ") {
			t.Errorf("all: %d %s", code, out)
		}
	})
}
