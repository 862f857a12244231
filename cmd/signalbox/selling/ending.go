package selling

import (
	"context"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/payments"
)

// endWithin bounds one try to end a subscription.
const endWithin = 30 * time.Second

// EndSubscriptions ends those of deleted accounts that are due, where they are paid. What can't be ended, or not for days, is logged for the
// operator, who can do it there.
func (s *Seller) EndSubscriptions(ctx context.Context) error {
	list, err := s.cfg.Store.Endings(ctx)
	if err != nil {
		return err
	}
	for _, e := range list {
		failed := s.end(ctx, e)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		over, err := s.cfg.Store.Ended(ctx, e, failed)
		if err != nil {
			return err
		}
		about := []any{"source", e.Source, "subscription", e.Subscription, "error", failed}
		switch {
		case failed == nil:
			s.cfg.Logger.InfoContext(ctx, "the subscription of a deleted account was ended", about[:4]...)
		case over:
			s.cfg.Logger.ErrorContext(ctx, "the subscription of a deleted account was not ended; look for it where it is paid", about...)
		default:
			s.cfg.Logger.WarnContext(ctx, "the subscription of a deleted account was not ended, another try follows", about...)
		}
	}
	return nil
}

func (s *Seller) end(ctx context.Context, e payments.Ending) error {
	ctx, cancel := context.WithTimeout(ctx, endWithin)
	defer cancel()
	switch {
	case e.Source == billing.Stripe && s.till != nil:
		return s.till.End(ctx, e.Subscription)
	case e.Source == billing.Stars && s.stars != nil:
		return s.stars.EndSubscription(ctx, e)
	}
	return fmt.Errorf("%s is not connected", e.Source)
}
