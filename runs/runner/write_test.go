package runner

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/group"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/runstest"
	"github.com/signalbox/signalbox/runs/store"
	"github.com/signalbox/signalbox/runs/write"
)

func TestPlacesOfWrites(t *testing.T) {
	t.Parallel()
	for processors, want := range map[int]int{1: 2, 2: 2, 4: 4, 64: 4} {
		s := &write.Writer{Writes: group.New(store.GroupSize, (*write.Writer)(nil).FlushWrites, write.WriteLanes(processors)...)}
		if got := s.Writes.Lanes(); got != want {
			t.Errorf("%d processors have %d lanes, want %d", processors, got, want)
		}
		used := make(map[int]bool)
		for range 200 {
			account := uuid.NewString()
			r := store.Record{Run: runs.Run{AccountID: account}}
			begins, key := s.PlaceOf(&write.Write{Accept: &write.Acceptance{Record: r}})
			ends, sameKey := s.PlaceOf(&write.Write{Finish: &write.Finish{Record: r}})
			if key != account || sameKey != account || begins%2 != 0 || ends != begins+1 {
				t.Errorf("runs of %s begin in lane %d as %s and end in lane %d as %s", account, begins, key, ends, sameKey)
			}
			used[begins], used[ends] = true, true
		}
		if len(used) != want {
			t.Errorf("of %d lanes %d are used", want, len(used))
		}
	}
}

func TestUnsoundRunsAreRefused(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	h.provider.OnSubmit = func(registry.Call, int) *runstest.Outcome {
		return &runstest.Outcome{Usage: registry.Usage{RunTime: time.Second}}
	}
	h.start(t)
	run := h.ends(t, h.accept(t, sing(h.user(t, billing.Dollar))).ID)
	if run.Status != runs.StatusSucceeded || run.Cost == 0 {
		t.Fatalf("the run %s and cost %s", run.Status, run.Cost)
	}
	const begunAnew = `ended_at = NULL, cost = 0, `
	for change, sound := range map[string]bool{
		`cost = promised`:             true,
		`delivered_at = now()`:        true,
		`status = 'failed', cost = 0`: true,
		begunAnew + `receipt = NULL, delivered_at = NULL, status = 'queued', waiting = true`: true,
		begunAnew + `receipt = NULL, delivered_at = NULL, status = 'awaiting_confirmation'`:  true,
		`status = 'done'`:     false,
		`status = 'queued'`:   false,
		`ended_at = NULL`:     false,
		`receipt = NULL`:      false,
		`cost = -1`:           false,
		`cost = promised + 1`: false,
		`status = 'failed'`:   false, // and costs
		`waiting = true`:      false,
		begunAnew + `receipt = NULL, delivered_at = NULL, status = 'succeeded'`:               false,
		begunAnew + `receipt = NULL, delivered_at = NULL, status = 'running', waiting = true`: false,
		begunAnew + `delivered_at = NULL, status = 'queued'`:                                  false,
		begunAnew + `receipt = NULL, status = 'queued', delivered_at = now()`:                 false,
	} {
		tx, err := h.pool.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_, err = tx.Exec(t.Context(), `UPDATE runs SET `+change+` WHERE id = $1`, run.ID)
		var refused *pgconn.PgError
		if sound != (err == nil) || !sound && (!errors.As(err, &refused) || refused.ConstraintName != "run_is_sound") {
			t.Errorf("%s: %v, want it refused: %t", change, err, !sound)
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
