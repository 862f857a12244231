package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/registry"
)

// A provider may have several places, such as engines. Where a run is about to go is written before it is sent, so that only that
// place has to be asked what became of it. When it is gone for too long the run goes on elsewhere; what it left there is a row
// of run_copies until that place has been told to stop it.

// Notice is what the person is told beside the state.
type Notice string

// The notices.
const (
	NoticeNone    Notice = ""
	NoticeWaiting Notice = "waiting" // nothing was sent: no engine is up that could run it
	NoticeMoved   Notice = "moved"   // it waited on an engine that is gone, and goes to another one
	NoticeAnew    Notice = "anew"    // it had begun there, and begins anew
)

const (
	copyPause  = 10 * time.Second // between two tries to stop a copy
	copiesPage = 50
	copiesLife = 7 * 24 * time.Hour // then nobody waits for that place any more
)

// notes gives the function that writes down where the run is about to be sent, and sets kept to it. A run that is over is not sent.
// It touches nothing of the step, which may have given up on the submission meanwhile.
func (w *step) notes(kept **registry.Ticket) func(context.Context, registry.Ticket) error {
	s, id, attempt, started := w.s, w.r.ID, w.r.Attempt, w.r.StartedAt
	return func(ctx context.Context, t registry.Ticket) error {
		var noted *registry.Ticket
		if t.Endpoint != "" {
			noted = &t
		}
		raw, _, err := encodeTicket(noted)
		if err == nil {
			err = s.failpoint("sending")
		}
		if err != nil {
			return &ownError{err}
		}
		tag, err := s.config.Pool.Exec(ctx, `
			UPDATE runs SET ticket = $2, attempt = $3, started_at = coalesce(started_at, $4), notice = CASE notice WHEN 'waiting' THEN '' ELSE notice END WHERE id = $1 AND ended_at IS NULL`, id, raw, attempt, started)
		switch {
		case err != nil:
			return &ownError{fmt.Errorf("write where run %s goes: %w", id, err)}
		case tag.RowsAffected() == 0:
			return errGone
		}
		*kept = noted
		if err := s.failpoint("sent"); err != nil {
			return &ownError{err}
		}
		return nil
	}
}

// where is the ticket of the run as it is known or about to be; nil: it is nowhere.
func (r *record) where() *registry.Ticket {
	if r.ticket != nil {
		return r.ticket
	}
	return r.sending
}

// begun reports whether the provider may have begun to work on the run.
func (w *step) begun() bool {
	return w.r.Status == StatusRunning || w.r.sending != nil && w.r.ticket == nil
}

// tell sets what the person is told, and shows it.
func (w *step) tell(ctx context.Context, n Notice) error {
	if w.r.Notice == n {
		return nil
	}
	w.r.Notice = n
	return w.write(ctx)
}

// move begins the next attempt elsewhere, and leaves a copy to be stopped.
func (w *step) move(ctx context.Context) error {
	left, attempt := *w.r.where(), w.r.Attempt
	w.r.Notice = NoticeMoved
	if w.begun() {
		w.r.Notice = NoticeAnew
	}
	raw, err := json.Marshal(left)
	if err != nil {
		return &ownError{err}
	}
	w.begin()
	w.log().WarnContext(ctx, "the place of a run is gone: it goes on elsewhere", "left", left.Endpoint, "notice", w.r.Notice, "attempt", w.r.Attempt)
	err = postgres.InTx(ctx, w.s.config.Pool, func(tx pgx.Tx) error {
		if err := w.writeOn(ctx, tx); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO run_copies (run_id, attempt, service, ticket, since, next_at) VALUES ($1, $2, $3, $4, $5, $5) ON CONFLICT DO NOTHING`,
			w.r.ID, attempt, w.r.Tool.Service, raw, w.s.now())
		return err
	})
	if own := (*ownError)(nil); err != nil && !errors.Is(err, errGone) && !errors.As(err, &own) {
		err = &ownError{err}
	}
	if err == nil {
		w.shown()
	}
	return err
}

// copyLeft is what a run has left behind.
type copyLeft struct {
	RunID   string
	Attempt int
	Service string
	Ticket  []byte
}

// stopCopies tells the places of copies to stop them.
func (s *stopper) stopCopies(ctx context.Context) error {
	now := s.now()
	if _, err := s.config.Pool.Exec(ctx, `DELETE FROM run_copies WHERE since < $1`, now.Add(-copiesLife)); err != nil {
		return err
	}
	rows, err := s.config.Pool.Query(ctx, `UPDATE run_copies SET next_at = $2 WHERE (run_id, attempt) IN (
			SELECT run_id, attempt FROM run_copies WHERE next_at <= $1 ORDER BY next_at LIMIT $3 FOR UPDATE SKIP LOCKED)
		RETURNING run_id::text, attempt, service, convert_to(ticket::text, 'UTF8')`, now, now.Add(copyPause), copiesPage)
	if err != nil {
		return err
	}
	due, err := pgx.CollectRows(rows, pgx.RowToStructByPos[copyLeft])
	if err != nil {
		return err
	}
	for _, c := range due {
		s.spawn(func() { s.stopCopy(c) })
	}
	return nil
}

func (s *stopper) stopCopy(c copyLeft) {
	ctx, cancel := context.WithTimeout(s.base, stopWithin)
	defer cancel()
	var ticket registry.Ticket
	err := json.Unmarshal(c.Ticket, &ticket)
	if canceler, ok := Extra[registry.Canceler](s.config.Providers[c.Service]); ok && err == nil {
		err = canceler.Cancel(ctx, ticket)
	}
	if err == nil {
		_, err = s.config.Pool.Exec(ctx, `DELETE FROM run_copies WHERE run_id = $1 AND attempt = $2`, c.RunID, c.Attempt)
	}
	if err != nil {
		s.log.DebugContext(ctx, "a copy that a run left behind could not be stopped yet", "run", c.RunID, "at", ticket.Endpoint, "error", err)
		return
	}
	s.log.InfoContext(ctx, "a copy that a run left behind was stopped", "run", c.RunID, "at", ticket.Endpoint)
	s.forgetAtProvider(ctx, c.RunID, c.Service, &ticket)
}
