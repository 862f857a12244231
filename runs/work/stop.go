package work

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/store"
	"github.com/signalbox/signalbox/runs/write"
)

const stopTries = 6 // before an operator is told

const stopPause = 10 * time.Second // before the second try, and twice as long before each further one

// Stopper stops runs at their providers, and has these forget them.
type Stopper struct {
	*store.Env
	store *store.Store
}

// NewStopper makes a Stopper.
func NewStopper(e *store.Env, st *store.Store) *Stopper { return &Stopper{e, st} }

// submission is the result of submitting a run to its provider.
type submission struct {
	ticket  registry.Ticket
	sending *registry.Ticket // where it was about to be sent
	err     error
}

// unwanted is a run that has to be stopped at its provider.
type unwanted struct {
	store.Record
	open   <-chan submission // of a submission under way; nil: there is none
	unsent bool              // it is certain that nothing was sent
}

// stopProvider has the provider told, in the background, that nobody wants the run any more.
func (w *step) stopProvider() {
	if !w.s.Submits(&w.r) {
		return
	}
	u := unwanted{Record: w.r, open: w.open, unsent: !w.sent && w.open == nil}
	w.s.Spawn(func() { w.s.stopper.stopRun(u) })
}

// stopDue stops the runs whose time it is, see run_stops.
func (s *Stopper) stopDue(ctx context.Context) error {
	rows, err := s.Config.Pool.Query(ctx, `
		UPDATE run_stops SET next_at = $2 WHERE run_id IN (
			SELECT run_id FROM run_stops WHERE next_at <= $1 ORDER BY next_at LIMIT $3 FOR UPDATE SKIP LOCKED)
		RETURNING run_id::text`, s.Now(), s.Now().Add(write.StopLease), store.StopsPage)
	if err != nil {
		return err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(ids) == 0 {
		return err
	}
	due, err := s.store.Query(ctx, `WHERE r.id = ANY ($1::uuid[])`, ids)
	if err != nil {
		return err
	}
	for _, r := range due {
		s.Spawn(func() { s.stopRun(unwanted{Record: r}) })
	}
	return nil
}

// stopRun stops a run at its provider, and records the result.
func (s *Stopper) stopRun(u unwanted) {
	ctx, cancel := context.WithTimeout(s.Base, registry.AnswerWait+write.StopWithin)
	defer cancel()
	err := s.stopAtProvider(ctx, &u)
	if s.Base.Err() != nil {
		return // the row stays: it is done at the next start, or by another process
	}
	noting, done := context.WithTimeout(s.Base, write.StopWithin)
	defer done()
	if err == nil {
		_, err = s.Config.Pool.Exec(noting, `DELETE FROM run_stops WHERE run_id = $1`, u.ID)
	} else {
		err = s.noteUnstopped(noting, &u, err)
	}
	if err != nil {
		s.Log.WarnContext(noting, "taking note of a run that was stopped failed", "run", u.ID, "error", err)
	}
}

// stopAtProvider finds the provider's own id of the run and has it stopped by that.
func (s *Stopper) stopAtProvider(ctx context.Context, u *unwanted) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the provider's code panicked: %v", p)
		}
	}()
	provider := s.Config.Providers[u.Tool.Service]
	if u.Ticket == nil {
		ticket, err := s.findTicket(ctx, u)
		if err != nil || ticket == nil {
			return err
		}
		u.Ticket = ticket
		if err := s.keepTicket(ctx, &u.Record); err != nil {
			return err
		}
	}
	canceler, ok := runs.Extra[registry.Canceler](provider)
	if !ok {
		return fmt.Errorf("%s: %w", u.Tool.Service, registry.ErrCantCancel)
	}
	ctx, cancel := context.WithTimeout(ctx, write.StopWithin)
	defer cancel()
	if err := canceler.Cancel(ctx, *u.Ticket); err != nil {
		return err
	}
	s.forgetAtProvider(ctx, u.ID, u.Tool.Service, u.Ticket)
	return nil
}

// findTicket gives the ticket of a run whose submission nobody has seen the end of; nil: there is nothing at the provider.
func (s *Stopper) findTicket(ctx context.Context, u *unwanted) (*registry.Ticket, error) {
	if u.unsent {
		return nil, nil
	}
	var refused error
	if u.open != nil {
		select {
		case got := <-u.open:
			if got.err == nil {
				got.ticket.Service = u.Tool.Service
				return &got.ticket, nil
			}
			if errors.Is(got.err, registry.ErrNoPlace) {
				return nil, nil
			}
			refused, u.Sending = got.err, got.sending
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	finder, ok := runs.Extra[registry.Finder](s.Config.Providers[u.Tool.Service])
	if !ok {
		if refused != nil && registry.AsError(refused).Code != registry.CodeLost {
			return nil, nil
		}
		return nil, fmt.Errorf("nobody knows whether %s took it, nor under which id: %w", u.Tool.Service, registry.ErrCantCancel)
	}
	ticket, err := finder.Find(ctx, s.CallOf(&u.Record, true))
	if failure := registry.AsError(err); failure != nil {
		if failure.Code == registry.CodeLost {
			return nil, nil
		}
		return nil, err
	}
	return &ticket, nil
}

// keepTicket writes down the ticket of a run that is over, for the next try and for operators.
func (s *Stopper) keepTicket(ctx context.Context, r *store.Record) error {
	ticket, provider, err := write.EncodeTicket(r.Ticket)
	if err == nil {
		_, err = s.Config.Pool.Exec(ctx, `UPDATE runs SET ticket = $2, provider_id = $3 WHERE id = $1 AND ticket IS NULL`, r.ID, ticket, provider)
	}
	return err
}

// noteUnstopped sets the time of the next try, or gives up and tells the operator.
func (s *Stopper) noteUnstopped(ctx context.Context, u *unwanted, why error) error {
	rows, err := s.Config.Pool.Query(ctx, `
		UPDATE run_stops SET tries = tries + 1, error = $2,
			next_at = CASE WHEN $3 OR tries + 1 >= $4 THEN NULL ELSE $5::timestamptz + $6::float8 * interval '1 second' * power(2, tries) END
		WHERE run_id = $1 RETURNING next_at IS NULL`,
		u.ID, cleanText(why.Error()), errors.Is(why, registry.ErrCantCancel), stopTries, s.Now(), stopPause.Seconds())
	if err != nil {
		return err
	}
	given, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[bool])
	if errors.Is(err, pgx.ErrNoRows) {
		err = nil // another process has stopped it
	}
	id := ""
	if u.Ticket != nil {
		id = u.Ticket.ProviderID
	}
	if given {
		s.Log.ErrorContext(ctx, "a run that ended here may go on at its service, and cost money there", "run", u.ID, "service", u.Tool.Service, "providerId", id, "error", why)
	} else {
		s.Log.WarnContext(ctx, "a run that ended here is not stopped at its provider yet, another try follows", "run", u.ID, "service", u.Tool.Service, "providerId", id, "error", why)
	}
	return err
}
