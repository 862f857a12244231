package work

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/store"
	"github.com/signalbox/signalbox/runs/write"
)

// step is the work on one run in this process.
type step struct {
	s    *Worker
	r    store.Record
	live *store.LiveRun

	sent  bool              // the present handle may have reached the provider
	open  <-chan submission // of a submission that the work did not wait for; nil: there is none
	ran   bool              // the provider was seen at work on it, in this attempt and by this process
	left  bool              // the work gave up on a run that the provider may still be at
	wrote time.Time         // progress, last
	dirty bool              // there is progress that was not written
	seen  map[string]bool
}

// begin is the next attempt before anything of it was done.
func (w *step) begin() {
	w.r.Attempt++
	w.sent, w.ran, w.left = false, false, false
	w.r.Ticket, w.r.Sending, w.r.Status, w.r.Fraction, w.r.Stage, w.r.QueuePosition, w.r.ExpectedAt = nil, nil, runs.StatusQueued, nil, "", 0, nil
}

func (w *step) log() store.Logger { return w.s.LogOf(&w.r.Run) }

// shown takes note of progress that was written, and publishes it.
func (w *step) shown() {
	w.wrote, w.dirty = w.s.Config.Now(), false
	w.s.Hub.SetLive(w.live, w.r.Run, nil)
}

// execer is a pool or a transaction.
type execer interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

func (w *step) writeOn(ctx context.Context, on execer) error {
	ticket, provider, err := write.EncodeTicket(w.r.Where())
	if err != nil {
		return &ownError{err}
	}
	if w.r.Ticket == nil {
		provider = nil
	}
	tag, err := on.Exec(ctx, `
		UPDATE runs SET status = $2, fraction = $3, stage = $4, queue_position = $5, attempt = $6, ticket = $7, provider_id = $8,
			started_at = coalesce(started_at, $9), notice = $10, running_at = CASE WHEN $2 = 'running' THEN coalesce(running_at, $11) END, expected_at = $12, engine_deaths = $13
		WHERE id = $1 AND ended_at IS NULL`,
		w.r.ID, w.r.Status, w.r.Fraction, w.r.Stage, w.r.QueuePosition, w.r.Attempt, ticket, provider, w.r.StartedAt, w.r.Notice, w.s.Now(), w.r.ExpectedAt, w.r.Deaths)
	if err != nil {
		return &ownError{fmt.Errorf("write the progress of run %s: %w", w.r.ID, err)}
	}
	if tag.RowsAffected() == 0 {
		return store.ErrGone
	}
	return nil
}

// write stores how far the run is. ErrGone means that somebody else has ended it.
func (w *step) write(ctx context.Context) error {
	if err := w.writeOn(ctx, w.s.Config.Pool); err != nil {
		return err
	}
	w.shown()
	return nil
}

// ownError is trouble on our side of things, such as a database that is away: the job is tried again.
type ownError struct{ error }

// cleanText makes a provider's short text fit for the database: no NUL, valid UTF-8, not endless.
func cleanText(text string) string {
	return store.Storable(text[:min(len(text), maxForeign)])
}

// maxForeign bounds short texts of providers, in bytes.
const maxForeign = 200
