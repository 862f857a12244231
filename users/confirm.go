package users

import (
	"context"

	"github.com/signalbox/signalbox/registry"
)

const (
	// DefaultConfirmPercent is the share for those who chose none.
	DefaultConfirmPercent = 10
	// NeverConfirm is the share of those who are not asked: nobody can spend more than they have.
	NeverConfirm = 100
)

// askFloor is what nobody is asked about, however little they have left: a cent, in nano-dollars.
const askFloor = 10_000_000

// ConfirmChoices are the shares of their credit, in percent, above which people can have themselves asked.
func ConfirmChoices() []int { return []int{1, 5, DefaultConfirmPercent, 25, 50, NeverConfirm} }

// ConfirmShare is the share of their credit, in percent, above which the person is asked.
func (l Limits) ConfirmShare() int {
	if l.ConfirmPercent == 0 {
		return DefaultConfirmPercent
	}
	return l.ConfirmPercent
}

// AskAbove is the price in nano-dollars above which the person is asked before a run, who can spend so much; 0: at none.
func (l Limits) AskAbove(available int64) int64 {
	if l.ConfirmShare() >= NeverConfirm {
		return 0
	}
	return max(available/100*int64(l.ConfirmShare()), askFloor)
}

// SetConfirmPercent sets above which share of their credit, in percent, a person is asked before a run; 0 is the default.
func (s *Store) SetConfirmPercent(ctx context.Context, accountID string, percent int) error {
	if percent < 0 || percent > NeverConfirm {
		return registry.Errorf(registry.CodeInvalidInput, "a share of the credit is from 1 to %d percent, or 0 for the default of %d; found %d", NeverConfirm, DefaultConfirmPercent, percent)
	}
	settings, err := s.LimitSettings(ctx, accountID)
	if err != nil {
		return err
	}
	settings.Own.ConfirmPercent = percent
	return s.SetOwnLimits(ctx, accountID, settings.Own)
}
