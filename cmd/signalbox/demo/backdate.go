package demo

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/postgres"
)

// backdate moves each run, with the postings for it, to its moment, and what else is known of a person to an hour before their first
// run. How long things took stays as it was. The ledger refuses changes; in this database, which is thrown away, it is asked to look aside.
func (h *house) backdate(ctx context.Context, moments []time.Time) error {
	var ids, owners []string
	var micros, since []int64
	first := map[string]time.Time{}
	for i, run := range h.made {
		ids, micros = append(ids, run.ID), append(micros, run.CreatedAt.Sub(moments[i]).Microseconds())
		if _, known := first[run.AccountID]; !known {
			first[run.AccountID] = moments[i].Add(-time.Hour)
		}
	}
	for _, p := range h.people {
		came, known := first[p.ID]
		if !known {
			came = h.Now.Add(-week)
		}
		owners, since = append(owners, p.ID), append(since, came.UnixMicro())
	}
	err := postgres.InTx(ctx, h.Pool, func(tx pgx.Tx) error {
		for _, s := range []struct {
			sql  string
			args []any
		}{
			{`ALTER TABLE ledger_transfers DISABLE TRIGGER ledger_append_only`, nil},
			{`UPDATE runs r SET created_at = r.created_at - m.by, confirmed_at = r.confirmed_at - m.by, started_at = r.started_at - m.by, running_at = r.running_at - m.by,
				expected_at = r.expected_at - m.by, ended_at = r.ended_at - m.by, delivered_at = r.delivered_at - m.by, refunded_at = r.refunded_at - m.by
				FROM ` + moves + ` WHERE r.id = m.id`, []any{ids, micros}},
			{`UPDATE ledger_transfers t SET created_at = t.created_at - m.by FROM ` + moves + ` WHERE t.run_id = m.id`, []any{ids, micros}},
			{`UPDATE ledger_transfers t SET created_at = a.came FROM ` + arrivals + ` WHERE t.run_id IS NULL AND t.owner = a.id`, []any{owners, since}},
			{`UPDATE users u SET created_at = a.came FROM ` + arrivals + ` WHERE u.id = a.id`, []any{owners, since}},
			{`UPDATE user_identities i SET created_at = a.came FROM ` + arrivals + ` WHERE i.user_id = a.id`, []any{owners, since}},
			{`ALTER TABLE ledger_transfers ENABLE TRIGGER ledger_append_only`, nil},
		} {
			if _, err := tx.Exec(ctx, s.sql, s.args...); err != nil {
				return err
			}
		}
		return nil
	})
	return errs.Wrap(err, "moving the times")
}

// The rows that backdate joins: runs with how far they are moved, people with when they came.
const (
	moves    = `(SELECT unnest($1::text[])::uuid AS id, unnest($2::bigint[]) * interval '1 microsecond' AS by) m`
	arrivals = `(SELECT unnest($1::text[])::uuid AS id, 'epoch'::timestamptz + unnest($2::bigint[]) * interval '1 microsecond' AS came) a`
)
