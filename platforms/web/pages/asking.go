package pages

import (
	"context"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/platforms/web/render"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// Limits tell what people set about their spending: users.Store.
type Limits interface {
	LimitSettings(ctx context.Context, accountID string) (users.LimitSettings, error)
}

// spending tells which prices people want to be asked about. Programs are not asked: their requests don't come through pages.
type spending struct {
	limits Limits
	ledger render.Ledger
}

// asking is which prices a person wants to be asked about.
func (s spending) asking(ctx context.Context, accountID string) (runs.Asking, error) {
	settings, err := s.limits.LimitSettings(ctx, accountID)
	if err != nil {
		return runs.Asking{}, err
	}
	b, err := s.ledger.Balance(ctx, accountID)
	return runs.Asking{Above: billing.NanoUSD(settings.Own.AskAbove(int64(b.Available))), Available: b.Available}, err
}

// share is the share of their credit, in percent, above which a person is asked; 0 where that is not known.
func (s spending) share(ctx context.Context, accountID string) int {
	settings, err := s.limits.LimitSettings(ctx, accountID)
	if err != nil {
		return 0
	}
	return settings.Own.ConfirmShare()
}
