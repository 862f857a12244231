package work

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/internal/claims"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/store"
	"github.com/signalbox/signalbox/runs/write"
)

const (
	stopsAtOnce = 64
	stopTries   = 6                // before an operator is told
	stopPause   = 10 * time.Second // before the second try, and twice as long before each further one
)

// Stopper stops runs at their providers, and has these forget them.
type Stopper struct {
	*store.Env
	store  *store.Store
	stops  *claims.Queue // runs that ended here and may go on at their providers
	copies *claims.Queue // what runs that moved have left behind
}

// NewStopper makes a Stopper.
func NewStopper(e *store.Env, st *store.Store) *Stopper {
	s := &Stopper{Env: e, store: st}
	queue := func(table, key string, work func(context.Context, claims.Item) claims.Next) *claims.Queue {
		return claims.NewQueue(claims.QueueConfig{
			Pool: e.Config.Pool, Log: e.Log, Now: e.Now, Table: table, Key: key, Process: e.Instance, Places: stopsAtOnce, Poll: e.Config.ReapEvery, Work: work,
		})
	}
	s.stops, s.copies = queue("run_stops", "run_id", s.stopDue), queue("run_copies", "id", s.stopCopy)
	return s
}

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
	w.s.Spawn(func() { w.s.stopper.stopNow(&u) })
}

// stopNow stops a run of which more is known here than its row says.
func (s *Stopper) stopNow(u *unwanted) {
	s.stops.Do(s.Working, u.ID, func(ctx context.Context, item claims.Item) claims.Next { return s.stopRun(ctx, item, u) })
}

// stopDue is the work of the queue of stops.
func (s *Stopper) stopDue(ctx context.Context, item claims.Item) claims.Next {
	r, err := s.store.Load(ctx, item.Key)
	if err != nil {
		s.Log.WarnContext(ctx, "a run that is to be stopped could not be read, another try follows", "run", item.Key, "error", err)
		return claims.Next{After: stopPause, Free: true}
	}
	return s.stopRun(ctx, item, &unwanted{Record: r})
}

// stopRun tries once to stop a run at its provider.
func (s *Stopper) stopRun(ctx context.Context, item claims.Item, u *unwanted) claims.Next {
	trying, cancel := context.WithTimeout(ctx, registry.AnswerWait+write.StopWithin)
	defer cancel()
	err := s.stopAtProvider(trying, u)
	switch {
	case err == nil:
		return claims.Next{}
	case s.IsStopping():
		return claims.Next{After: write.StopLease, Free: true}
	}
	return s.noteUnstopped(ctx, item, u, err)
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
func (s *Stopper) noteUnstopped(ctx context.Context, item claims.Item, u *unwanted, why error) claims.Next {
	log := s.Log.With("run", u.ID, "service", u.Tool.Service, "error", why)
	if u.Ticket != nil {
		log = log.With("providerId", u.Ticket.ProviderID)
	}
	if _, err := s.Config.Pool.Exec(ctx, `UPDATE run_stops SET error = $2 WHERE run_id = $1`, u.ID, cleanText(why.Error())); err != nil {
		log.WarnContext(ctx, "taking note of why a run could not be stopped failed", "noting", err)
	}
	if errors.Is(why, registry.ErrCantCancel) || item.Tries+1 >= stopTries {
		log.ErrorContext(ctx, "a run that ended here may go on at its service, and cost money there")
		return claims.Next{Keep: true}
	}
	log.WarnContext(ctx, "a run that ended here is not stopped at its provider yet, another try follows")
	return claims.Next{After: stopPause << item.Tries}
}

// forgetAtProvider has the provider delete what it keeps of a run, or an attempt of it, that is over there. It is not waited for, and
// a failure costs only its space.
func (s *Stopper) forgetAtProvider(ctx context.Context, runID, service string, ticket *registry.Ticket) {
	forgetter, ok := runs.Extra[registry.Forgetter](s.Config.Providers[service])
	if !ok || ticket == nil {
		return
	}
	s.Spawn(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), forgetLimit)
		defer cancel()
		defer context.AfterFunc(s.Base, cancel)()
		if err := forgetter.Forget(ctx, *ticket); err != nil {
			s.Log.InfoContext(ctx, "the provider keeps what it knows of a run", "run", runID, "error", err)
		}
	})
}

// forgetLimit bounds one Forget.
const forgetLimit = 30 * time.Second
