package groups

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/errs"
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
	rows, _ := s.cfg.Pool.Query(ctx, `
		SELECT `+termsColumns+`, g.platform, g.kind, g.place, w.balance, h.balance, (SELECT count(DISTINCT account_id) FROM group_gifts WHERE fund = g.id)
			`+termsTables+` JOIN ledger_accounts w ON w.owner = g.id AND w.kind = 'wallet' JOIN ledger_accounts h ON h.owner = g.id AND h.kind = 'hold'
		WHERE g.closed_at IS NULL ORDER BY w.balance DESC, g.id LIMIT $1`, limit)
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (w Wallet, err error) {
		err = row.Scan(append(w.columns(), &w.Place.Platform, &w.Place.Kind, &w.Place.ID, &w.Available, &w.Held, &w.Sponsors)...)
		return w, err
	})
	return list, errs.Wrap(err, "list the wallets of groups")
}
