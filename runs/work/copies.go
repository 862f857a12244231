package work

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/claims"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/store"
	"github.com/signalbox/signalbox/runs/write"
)

const (
	copyPause  = 10 * time.Second   // between two tries to stop a copy
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
		raw, _, err := write.EncodeTicket(noted)
		if err == nil {
			err = s.Failpoint("sending")
		}
		if err != nil {
			return &ownError{err}
		}
		tag, err := s.Config.Pool.Exec(ctx, `
			UPDATE runs SET ticket = $2, attempt = $3, started_at = coalesce(started_at, $4), notice = CASE notice WHEN 'waiting' THEN '' ELSE notice END WHERE id = $1 AND ended_at IS NULL`, id, raw, attempt, started)
		switch {
		case err != nil:
			return &ownError{fmt.Errorf("write where run %s goes: %w", id, err)}
		case tag.RowsAffected() == 0:
			return store.ErrGone
		}
		*kept = noted
		if err := s.Failpoint("sent"); err != nil {
			return &ownError{err}
		}
		return nil
	}
}

// begun reports whether the provider may have begun to work on the run.
func (w *step) begun() bool {
	return w.r.Status == runs.StatusRunning || w.r.Sending != nil && w.r.Ticket == nil
}

// tell sets what the person is told, and shows it.
func (w *step) tell(ctx context.Context, n runs.Notice) error {
	if w.r.Notice == n {
		return nil
	}
	w.r.Notice = n
	return w.write(ctx)
}

// answered takes back that who has the run does not answer.
func (w *step) answered() {
	if w.r.Notice == runs.NoticeSilent {
		w.r.Notice, w.dirty = runs.NoticeNone, true
	}
}

// move begins the next attempt elsewhere, and leaves a copy to be stopped.
func (w *step) move(ctx context.Context) error {
	left, attempt := *w.r.Where(), w.r.Attempt
	w.r.Notice = runs.NoticeMoved
	if w.begun() {
		w.r.Notice = runs.NoticeAnew
	}
	raw, err := json.Marshal(left)
	if err != nil {
		return &ownError{err}
	}
	w.begin()
	w.log().WarnContext(ctx, "the place of a run is gone: it goes on elsewhere", "left", left.Endpoint, "notice", w.r.Notice, "attempt", w.r.Attempt)
	err = postgres.InTx(ctx, w.s.Config.Pool, func(tx pgx.Tx) error {
		if err := w.writeOn(ctx, tx); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO run_copies (run_id, attempt, service, ticket, since, next_at) VALUES ($1, $2, $3, $4, $5, $5) ON CONFLICT DO NOTHING`,
			w.r.ID, attempt, w.r.Tool.Service, raw, w.s.Now())
		return err
	})
	if own := (*ownError)(nil); err != nil && !errors.Is(err, store.ErrGone) && !errors.As(err, &own) {
		err = &ownError{err}
	}
	if err == nil {
		w.shown()
	}
	return err
}

// stopCopy is the work of the queue of copies: it tells the place of one to stop it.
func (s *Stopper) stopCopy(ctx context.Context, item claims.Item) claims.Next {
	if s.Now().Sub(item.Since) > copiesLife {
		return claims.Next{}
	}
	ctx, cancel := context.WithTimeout(ctx, write.StopWithin)
	defer cancel()
	var run, service string
	var ticket registry.Ticket
	err := s.Config.Pool.QueryRow(ctx, `SELECT run_id::text, service, ticket FROM run_copies WHERE id = $1`, item.Key).Scan(&run, &service, &ticket)
	if canceler, ok := runs.Extra[registry.Canceler](s.Config.Providers[service]); ok && err == nil {
		err = canceler.Cancel(ctx, ticket)
	}
	if err != nil {
		s.Log.DebugContext(ctx, "a copy that a run left behind could not be stopped yet", "run", run, "at", ticket.Endpoint, "error", err)
		return claims.Next{After: copyPause, Free: true}
	}
	s.Log.InfoContext(ctx, "a copy that a run left behind was stopped", "run", run, "at", ticket.Endpoint)
	s.forgetAtProvider(ctx, run, service, &ticket)
	return claims.Next{}
}
