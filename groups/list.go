package groups

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/users"
)

// Wallet is an open wallet as operators see it.
type Wallet struct {
	Terms
	Place           users.Place
	Available, Held billing.NanoUSD // without those of a party
	Sponsors        int
}

// Open lists open wallets, at most limit, those first that have most.
func (s *Store) Open(ctx context.Context, limit int) ([]Wallet, error) {
	rows, err := s.cfg.Pool.Query(ctx, `
		SELECT g.id::text, g.pays, g.day_budget, g.month_budget, g.member_budget, g.guest_runs, coalesce(p.id::text, ''), coalesce(p.ends_at, 'epoch'),
			g.platform, g.kind, g.place, w.balance, h.balance, (SELECT count(DISTINCT account_id) FROM group_gifts WHERE fund = g.id)
		FROM groups g LEFT JOIN group_parties p ON p.group_id = g.id AND p.ended_at IS NULL
			JOIN ledger_accounts w ON w.owner = g.id AND w.kind = 'wallet' JOIN ledger_accounts h ON h.owner = g.id AND h.kind = 'hold'
		WHERE g.closed_at IS NULL ORDER BY w.balance DESC, g.id LIMIT $1`, limit)
	if err != nil {
		return nil, fmt.Errorf("list the wallets of groups: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (w Wallet, err error) {
		err = row.Scan(&w.ID, &w.Pays, &w.Day, &w.Month, &w.Member, &w.GuestRuns, &w.Party, &w.PartyEnds,
			&w.Place.Platform, &w.Place.Kind, &w.Place.ID, &w.Available, &w.Held, &w.Sponsors)
		return w, err
	})
	if err != nil {
		return nil, fmt.Errorf("list the wallets of groups: %w", err)
	}
	return list, nil
}
