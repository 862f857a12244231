package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
)

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
	_, err := pool.Exec(t.Context(), `
		INSERT INTO webhook_events (service, event_id, run_id, provider_id, state, body, status, error, received_at, due_at, ended_at) VALUES
			('vidu', '1', 'run-1', '', 'succeeded', '', 'dead', 'it broke', now(), now(), now()),
			('vidu', '2', '', 'job-2', 'succeeded', '', 'orphan', 'there is no such run', now(), now(), now()),
			('vidu', '3', 'run-3', '', 'succeeded', '', 'done', '', now(), now(), now())`)
	if err != nil {
		t.Fatal(err)
	}
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
