package scaling_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/comfy/scaling"
	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/internal/signature"
)

func TestSignals(t *testing.T) {
	t.Parallel()
	pool := postgrestest.New(t)
	var load scaling.Load
	var told []string
	var broken error
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	look := func(after time.Duration, l scaling.Load) error {
		load, now = l, now.Add(after)
		s := scaling.New(scaling.Config{ // each time by another process
			Load: func(context.Context) (scaling.Load, error) { return load, nil },
			Send: func(_ context.Context, s scaling.Signal) error {
				if broken == nil {
					told = append(told, s.Type)
				}
				return broken
			},
			BusyAt: 4, BusyAfter: 30 * time.Second, IdleAfter: 10 * time.Minute,
		})
		return pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error { return s.Look(t.Context(), tx, now) })
	}
	busy, calm, idle := scaling.Load{Waiting: 8, Engines: 2, Working: 2}, scaling.Load{Waiting: 3, Engines: 2, Working: 2}, scaling.Load{Engines: 2, Working: 1}
	for i, step := range []struct {
		after time.Duration
		load  scaling.Load
		told  string
	}{
		{0, busy, ""},
		{20 * time.Second, busy, ""},
		{5 * time.Second, calm, ""}, // it was a burst
		{5 * time.Second, busy, ""},
		{30 * time.Second, busy, "fleet.busy"},
		{time.Minute, busy, ""},
		{4 * time.Minute, busy, "fleet.busy"}, // it goes on
		{time.Minute, calm, ""},
		{time.Second, idle, ""},
		{9 * time.Minute, idle, ""},
		{time.Minute, idle, "fleet.idle"},
		{time.Second, scaling.Load{Waiting: 1, Down: []string{"gpu1:8188"}}, "fleet.busy"}, // they sleep, and somebody waits
	} {
		told = nil
		if err := look(step.after, step.load); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(told, " "); got != step.told {
			t.Errorf("step %d: told %q, expected %q", i, got, step.told)
		}
	}
	broken = errors.New("nobody is there")
	if err := look(time.Hour, busy); !errors.Is(err, broken) { // since an hour, by what is noted
		t.Errorf("%v", err)
	}
	broken, told = nil, nil
	if err := look(time.Minute, busy); err != nil || !slices.Equal(told, []string{"fleet.busy"}) {
		t.Errorf("what was not taken is told again: %q, %v", told, err)
	}
}

func TestSending(t *testing.T) {
	t.Parallel()
	secret := []byte(strings.Repeat("k", 24))
	sent := scaling.Signal{ID: "3b5c", Type: "fleet.busy", At: time.Now(), Load: scaling.Load{Waiting: 8, Engines: 2, Down: []string{"gpu1:8188"}}}
	status := http.StatusNoContent
	var got scaling.Signal
	var forged error
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		_, forged = signature.Standard(r.Header, data, time.Now(), [][]byte{secret})
		_ = json.Unmarshal(data, &got)
		w.WriteHeader(status)
	}))
	t.Cleanup(s.Close)
	send := scaling.ToURL(outbound.NewHooks([]string{strings.TrimPrefix(s.URL, "http://")}, time.Minute), s.URL, secret)
	if err := send(t.Context(), sent); err != nil || forged != nil || got.Waiting != 8 || got.Type != "fleet.busy" || !slices.Equal(got.Down, sent.Down) {
		t.Errorf("%v, signature %v, %+v", err, forged, got)
	}
	status = http.StatusTeapot
	if err := send(t.Context(), sent); !errors.Is(err, scaling.ErrRefused) || !strings.Contains(err.Error(), "418") {
		t.Errorf("%v", err)
	}
	if err := scaling.ToURL(outbound.NewHooks(nil, time.Minute), s.URL, secret)(t.Context(), sent); err == nil {
		t.Error("it goes to an inner address that nobody allowed")
	}

	dir := t.TempDir()
	command, kept := filepath.Join(dir, "scale"), filepath.Join(dir, "kept")
	if err := os.WriteFile(command, []byte("#!/bin/sh\ncat > "+kept+"\necho no machine is left\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := scaling.ToCommand(command)(t.Context(), sent); !errors.Is(err, scaling.ErrRefused) || !strings.Contains(err.Error(), "no machine is left") {
		t.Errorf("%v", err)
	}
	if data, err := os.ReadFile(kept); err != nil || !strings.Contains(string(data), `"type":"fleet.busy"`) {
		t.Errorf("%s, %v", data, err)
	}
}
