package work

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/claims"
	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/store"
)

const (
	// patience is how long a delivery waits in place when the platform asks for time; for longer it goes back to the queue.
	patience       = 5 * time.Second
	deliverTimeout = 5 * time.Minute // of one delivery; videos take their time
	DeliverTries   = 14
	deliverWithin  = 48 * time.Hour // as long as the platform asks for time
	deliverPause   = 10 * time.Minute
)

// deliverAgain is the work of the queue of deliveries: one try. Where the platform asks for time, the delivery waits for it without using
// up a try. What is given up stays in the history.
func (s *Closer) deliverAgain(ctx context.Context, item claims.Item) claims.Next {
	err := s.deliver(ctx, item.Key)
	var asked *registry.Error
	switch {
	case err == nil:
		return claims.Next{}
	case s.IsStopping():
		return claims.Next{After: time.Millisecond, Free: true}
	case errors.As(err, &asked) && asked.RetryAfter > 0 && s.Now().Sub(item.Since) < deliverWithin:
		return claims.Next{After: asked.RetryAfter, Free: true}
	case item.Tries+1 >= DeliverTries:
		s.Log.ErrorContext(ctx, "a result could not be delivered and is kept", "run", item.Key, "tries", DeliverTries, "error", err)
		return claims.Next{}
	}
	s.Log.InfoContext(ctx, "a delivery failed, another try follows", "run", item.Key, "try", item.Tries+1, "error", err)
	return claims.Next{After: store.Backoff(s.Config.RetryBase, item.Tries+1, deliverPause)}
}

// deliver brings the result of a run from the queue.
func (s *Closer) deliver(ctx context.Context, runID string) error {
	r, err := s.store.Load(ctx, runID)
	if err != nil {
		return err
	}
	if !r.Status.Final() || r.DeliveredAt != nil || r.DeletedAt != nil {
		return nil
	}
	defer s.stopper.forgetAtProvider(ctx, r.ID, r.Tool.Service, r.Ticket) // who ended it may have died before
	return s.handOver(ctx, &r)
}

// deliverNow delivers what this process has just ended, under the run's claim: until the delivery is marked that
// is what remembers it. Only what does not work at once is queued.
func (s *Closer) deliverNow(ctx context.Context, r *store.Record) error {
	err := s.handOver(ctx, r)
	if err == nil {
		return nil
	}
	s.Log.InfoContext(ctx, "the delivery did not work at once and is queued", "run", r.ID, "error", err)
	if err := s.Redeliver(context.WithoutCancel(ctx), r.ID); err != nil {
		return &ownError{err}
	}
	return nil
}

// handOver brings the result of a run that is over. What cannot be delivered stays in the history.
func (s *Closer) handOver(ctx context.Context, r *store.Record) error {
	deliverer, ok := s.Config.Deliverers[r.Origin.Platform]
	if !ok {
		return fmt.Errorf("deliver run %s: the platform %s is not connected here", r.ID, r.Origin.Platform)
	}
	if err := s.Failpoint("deliver"); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, deliverTimeout)
	defer cancel()
	err := s.bring(ctx, deliverer, r.Run)
	if errors.Is(err, runs.ErrUndeliverable) {
		s.Metrics.Deliveries.WithLabelValues(r.Origin.Platform, "undeliverable").Inc()
		s.Log.InfoContext(ctx, "the result cannot be delivered and is kept", "run", r.ID, "platform", r.Origin.Platform, "error", err)
		_, err := s.Config.Pool.Exec(context.WithoutCancel(ctx), `UPDATE runs SET claimed_by = NULL WHERE id = $1 AND claimed_by IS NOT NULL`, r.ID)
		return err
	}
	if err != nil {
		s.Metrics.Deliveries.WithLabelValues(r.Origin.Platform, "failed").Inc()
		return fmt.Errorf("deliver run %s: %w", r.ID, err)
	}
	if err := s.Failpoint("delivered"); err != nil {
		return err
	}
	s.Metrics.Deliveries.WithLabelValues(r.Origin.Platform, "delivered").Inc()
	return s.writer.MarkDelivered(context.WithoutCancel(ctx), r.ID)
}

// bring delivers, waiting in place while the platform asks for a little time.
func (s *Closer) bring(ctx context.Context, deliverer runs.Deliverer, run runs.Run) error {
	for {
		err := deliverer.Deliver(ctx, run)
		var asked *registry.Error
		if !errors.As(err, &asked) || asked.RetryAfter <= 0 || asked.RetryAfter > patience {
			return err
		}
		if waiting := s.Sleep(ctx, asked.RetryAfter); waiting != nil {
			return waiting
		}
	}
}

// Redeliver queues the delivery of a run that is over and was not delivered, e.g. when somebody who
// could not be reached writes again. One that was delivered, or is being delivered, stays as it is.
func (s *Closer) Redeliver(ctx context.Context, runID string) error {
	err := pgx.BeginFunc(ctx, s.Config.Pool, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `UPDATE runs SET claimed_by = NULL WHERE id = $1 AND ended_at IS NOT NULL AND delivered_at IS NULL`, runID)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		return s.queueDelivery(ctx, tx, runID)
	})
	return errs.Wrap(err, "queue the delivery of run %s", runID)
}

// queueDelivery has the result of a run that is over brought once tx is committed, by any process.
func (s *Closer) queueDelivery(ctx context.Context, tx pgx.Tx, runID string) error {
	if err := s.deliveries.Add(ctx, tx, runID); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, store.OfferDeliverySQL)
	return err
}

// remind queues the delivery of a run that is over, in case that who ended it died before delivering.
func (s *Closer) remind(ctx context.Context, r *store.Record) error {
	if !r.Deliverable || r.DeliveredAt != nil {
		return nil
	}
	return s.Redeliver(ctx, r.ID)
}
