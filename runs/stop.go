package runs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/registry"
)

// A run that ends here without a result may go on at its provider, where it costs money. A row of run_stops, written
// with the run's end, remembers that the provider has to be told: by the process that works on the run, once the answer to a
// submission under way is there, and should that process die, by any other.

const (
	stopWithin = 15 * time.Second                                  // for telling a provider to stop
	stopLease  = registry.AnswerWait + stopWithin + 10*time.Second // in which nobody else tries
	stopTries  = 6                                                 // before an operator is told
	stopPause  = 10 * time.Second                                  // before the second try, and twice as long before each further one
	stopsShown = 7 * 24 * time.Hour                                // how long an operator is told
	stopsPage  = 20
)

// stopper stops runs at their providers, and has these forget them.
type stopper struct {
	*env
	store *store
}

// submission is what came of handing a run to its provider.
type submission struct {
	ticket  registry.Ticket
	sending *registry.Ticket // where it was about to be sent
	err     error
}

// unwanted is a run that has to be stopped at its provider.
type unwanted struct {
	record
	open   <-chan submission // of a submission under way; nil: there is none
	unsent bool              // it is certain that nothing was sent
}

// queueStops adds to batch the rows of those runs that have to be stopped at their providers. Who works on a run has the first
// try; the claim tells who, so this comes before the runs' own rows are written.
func (s *writer) queueStops(batch *pgx.Batch, finishes []*finish) {
	var ids []string
	for _, f := range finishes {
		if f.stop {
			ids = append(ids, f.record.ID)
		}
	}
	if len(ids) == 0 {
		return
	}
	batch.Queue(`
		INSERT INTO run_stops (run_id, since, next_at)
		SELECT id, $2::timestamptz, CASE WHEN claimed_by IS NULL THEN $2 ELSE $3 END FROM runs
		WHERE id = ANY ($1::uuid[]) AND (claims > 0 OR ticket IS NOT NULL) ON CONFLICT DO NOTHING`,
		ids, s.now(), s.now().Add(stopLease))
}

// submits reports whether a run's provider works on it by itself, once it was told to.
func (s *env) submits(r *record) bool {
	return s.config.Providers[r.Tool.Service].Submitter != nil
}

// stopProvider has the provider told, in the background, that nobody wants the run any more.
func (w *step) stopProvider() {
	if !w.s.submits(&w.r) {
		return
	}
	u := unwanted{record: w.r, open: w.open, unsent: !w.sent && w.open == nil}
	w.s.spawn(func() { w.s.stopper.stopRun(u) })
}

// stopDue stops the runs whose time it is, see run_stops.
func (s *stopper) stopDue(ctx context.Context) error {
	rows, err := s.config.Pool.Query(ctx, `
		UPDATE run_stops SET next_at = $2 WHERE run_id IN (
			SELECT run_id FROM run_stops WHERE next_at <= $1 ORDER BY next_at LIMIT $3 FOR UPDATE SKIP LOCKED)
		RETURNING run_id::text`, s.now(), s.now().Add(stopLease), stopsPage)
	if err != nil {
		return err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(ids) == 0 {
		return err
	}
	due, err := s.store.query(ctx, `WHERE r.id = ANY ($1::uuid[])`, ids)
	if err != nil {
		return err
	}
	for _, r := range due {
		s.spawn(func() { s.stopRun(unwanted{record: r}) })
	}
	return nil
}

// stopRun stops a run at its provider, and takes note of what came of it.
func (s *stopper) stopRun(u unwanted) {
	ctx, cancel := context.WithTimeout(s.base, registry.AnswerWait+stopWithin)
	defer cancel()
	err := s.stopAtProvider(ctx, &u)
	if s.base.Err() != nil {
		return // the row stays: it is done at the next start, or by another process
	}
	noting, done := context.WithTimeout(s.base, stopWithin)
	defer done()
	if err == nil {
		_, err = s.config.Pool.Exec(noting, `DELETE FROM run_stops WHERE run_id = $1`, u.ID)
	} else {
		err = s.noteUnstopped(noting, &u, err)
	}
	if err != nil {
		s.log.WarnContext(noting, "taking note of a run that was stopped failed", "run", u.ID, "error", err)
	}
}

// stopAtProvider finds the provider's own id of the run and has it stopped by that.
func (s *stopper) stopAtProvider(ctx context.Context, u *unwanted) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the provider's code panicked: %v", p)
		}
	}()
	provider := s.config.Providers[u.Tool.Service]
	if u.ticket == nil {
		ticket, err := s.findTicket(ctx, u)
		if err != nil || ticket == nil {
			return err
		}
		u.ticket = ticket
		if err := s.keepTicket(ctx, &u.record); err != nil {
			return err
		}
	}
	canceler, ok := Extra[registry.Canceler](provider)
	if !ok {
		return fmt.Errorf("%s: %w", u.Tool.Service, registry.ErrCantCancel)
	}
	ctx, cancel := context.WithTimeout(ctx, stopWithin)
	defer cancel()
	if err := canceler.Cancel(ctx, *u.ticket); err != nil {
		return err
	}
	s.forgetAtProvider(ctx, u.ID, u.Tool.Service, u.ticket)
	return nil
}

// findTicket gives the ticket of a run whose submission nobody has seen the end of; nil: there is nothing at the provider.
func (s *stopper) findTicket(ctx context.Context, u *unwanted) (*registry.Ticket, error) {
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
			refused, u.sending = got.err, got.sending
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	finder, ok := Extra[registry.Finder](s.config.Providers[u.Tool.Service])
	if !ok {
		if refused != nil && registry.AsError(refused).Code != registry.CodeLost {
			return nil, nil
		}
		return nil, fmt.Errorf("nobody knows whether %s took it, nor under which id: %w", u.Tool.Service, registry.ErrCantCancel)
	}
	ticket, err := finder.Find(ctx, s.callOf(&u.record, true))
	if failure := registry.AsError(err); failure != nil {
		if failure.Code == registry.CodeLost {
			return nil, nil
		}
		return nil, err
	}
	return &ticket, nil
}

// keepTicket writes down the ticket of a run that is over, for the next try and for operators.
func (s *stopper) keepTicket(ctx context.Context, r *record) error {
	ticket, provider, err := encodeTicket(r.ticket)
	if err == nil {
		_, err = s.config.Pool.Exec(ctx, `UPDATE runs SET ticket = $2, provider_id = $3 WHERE id = $1 AND ticket IS NULL`, r.ID, ticket, provider)
	}
	return err
}

// noteUnstopped sets the time of the next try, or gives up and tells the operator.
func (s *stopper) noteUnstopped(ctx context.Context, u *unwanted, why error) error {
	rows, err := s.config.Pool.Query(ctx, `
		UPDATE run_stops SET tries = tries + 1, error = $2,
			next_at = CASE WHEN $3 OR tries + 1 >= $4 THEN NULL ELSE $5::timestamptz + $6::float8 * interval '1 second' * power(2, tries) END
		WHERE run_id = $1 RETURNING next_at IS NULL`,
		u.ID, cleanText(why.Error()), errors.Is(why, registry.ErrCantCancel), stopTries, s.now(), stopPause.Seconds())
	if err != nil {
		return err
	}
	given, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[bool])
	if errors.Is(err, pgx.ErrNoRows) {
		err = nil // another process has stopped it
	}
	id := ""
	if u.ticket != nil {
		id = u.ticket.ProviderID
	}
	if given {
		s.log.ErrorContext(ctx, "a run that ended here may go on at its service, and cost money there", "run", u.ID, "service", u.Tool.Service, "providerId", id, "error", why)
	} else {
		s.log.WarnContext(ctx, "a run that ended here is not stopped at its provider yet, another try follows", "run", u.ID, "service", u.Tool.Service, "providerId", id, "error", why)
	}
	return err
}

// Unstopped is a run that ended here and may go on at its service, where an operator has to look.
type Unstopped struct {
	RunID, Service string
	ProviderID     string // the service's own id; empty: not known
	Why            string
	Since          time.Time
}

// Unstopped lists the runs of the last days that could not be stopped at their services, newest first.
func (s *store) Unstopped(ctx context.Context) ([]Unstopped, error) {
	rows, err := s.config.Pool.Query(ctx, `
		SELECT r.id::text, r.service, coalesce(r.provider_id, ''), s.error, s.since FROM run_stops s JOIN runs r ON r.id = s.run_id
		WHERE s.next_at IS NULL AND s.since > $1 ORDER BY s.since DESC LIMIT $2`, s.now().Add(-stopsShown), stopsPage)
	if err != nil {
		return nil, fmt.Errorf("list runs that could not be stopped: %w", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Unstopped])
	if err != nil {
		return nil, fmt.Errorf("list runs that could not be stopped: %w", err)
	}
	return found, nil
}
