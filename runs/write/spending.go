package write

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/runs/store"
)

// What accounts and groups have spent is read from their runs of the month. Of who made many, all but the latest are added up by day (tables
// run_spending and run_spending_until), so that an order costs the same with any number of runs before it. These sums decide about money, so
// they are exact at each moment: a run is in the sums or is read, by its id, in one statement; and what changes about one in the sums
// is told by a trigger in the transaction that changes it. fold says why it can't be missed.

// spentBy is what one member has spent of a subject, an account or a group that pays, and of a budget.
type spentBy struct {
	subject, member, budget string
	atOnce, today           int             // runs
	day, month              billing.NanoUSD // paid by the subject
	ofBudget                billing.NanoUSD // in the month, also what awaits confirmation
	unsummed                int             // runs that were read and might be in the sums
}

// spendingSQL counts what is under way and what was accepted in the day and in the month, of accounts or of payers ($of is the column). That ids are in order of time
// spares reading the rest of the history; with an upper end the planner expects a few runs, without one a third of them, which it might compile the statement for.
const spendingSQL = `
	SELECT a.id::text, s.member::text, coalesce(s.budget, ''), coalesce(sum(open) FILTER (WHERE agreed), 0), coalesce(sum(counts) FILTER (WHERE agreed AND at >= $2), 0),
		coalesce(sum(amount) FILTER (WHERE agreed AND at >= $2 AND coalesce(payer, member) = a.id), 0)::bigint,
		coalesce(sum(amount) FILTER (WHERE agreed AND at >= $3 AND coalesce(payer, member) = a.id), 0)::bigint,
		coalesce(sum(amount) FILTER (WHERE at >= $3 AND budget IS NOT NULL), 0)::bigint, sum(unsummed)
	FROM (SELECT DISTINCT unnest($1::text[])::uuid AS id) a LEFT JOIN run_spending_until u ON u.subject = a.id CROSS JOIN LATERAL (
		SELECT account_id AS member, payer, budget, created_at AS at, promised AS amount, 1 AS open, 1 AS counts, status <> 'awaiting_confirmation' AS agreed, 0 AS unsummed
		FROM runs WHERE $of = a.id AND ended_at IS NULL
		UNION ALL
		SELECT account_id, payer, budget, created_at, cost, 0, (status = 'succeeded')::int, true, (id < $5)::int
		FROM runs WHERE $of = a.id AND id >= greatest($4, u.before) AND id <= 'ffffffff-ffff-ffff-ffff-ffffffffffff' AND ended_at IS NOT NULL
		UNION ALL
		SELECT member, payer, budget, day::timestamp AT TIME ZONE 'UTC', spent, 0, succeeded, true, (run IS NOT NULL)::int
		FROM run_spending WHERE subject = a.id AND day >= $6 AND (run IS NULL OR run < u.before)) s
	GROUP BY 1, 2, 3`

var (
	spentByAccounts = strings.ReplaceAll(spendingSQL, "$of", "account_id")
	spentByPayers   = strings.ReplaceAll(spendingSQL, "$of", "payer")
)

// maxUnsummed is how many runs of one subject are read each time before they are added up.
const maxUnsummed = 256

// queueSpending adds to batch the reading of what subjects have spent, by spentByAccounts or spentByPayers.
func (u *usages) queueSpending(batch *pgx.Batch, sql string, subjects []string, each func(spentBy)) {
	batch.Queue(sql, u.args(subjects)...).Query(func(rows pgx.Rows) error {
		var s spentBy
		unsummed := map[string]int{}
		_, err := pgx.ForEachRow(rows, []any{&s.subject, &s.member, &s.budget, &s.atOnce, &s.today, &s.day, &s.month, &s.ofBudget, &s.unsummed}, func() error {
			each(s)
			unsummed[s.subject] += s.unsummed
			return nil
		})
		for subject, n := range unsummed {
			if n > maxUnsummed {
				u.long = append(u.long, subject)
			}
		}
		return err
	})
}

// args are the parameters of spendingSQL.
func (u *usages) args(subjects []string) []any {
	return []any{subjects, u.day, u.month, firstID(u.month), store.FirstID(time.Now().Add(-foldAfter)), u.month.Format(time.DateOnly)}
}

// foldAfter is how old runs are that may be added up. The trigger of migration 0740 tells of those that are fifteen minutes old.
const foldAfter = 20 * time.Minute

// foldLong adds up what was read of subjects that have many runs, in the background.
func (s *Limiter) foldLong(used *usages) {
	if used == nil {
		return
	}
	for _, subject := range used.long {
		if _, busy := s.folding.LoadOrStore(subject, true); busy {
			continue
		}
		from := used.month
		if used.now.Sub(from) < 24*time.Hour { // a process whose clock is behind may still be in the month before
			from = from.AddDate(0, -1, 0)
		}
		s.Spawn(func() {
			defer s.folding.Delete(subject)
			if err := s.fold(s.Base, subject, from); err != nil {
				s.Log.WarnContext(s.Base, "what somebody has spent is not added up", "subject", subject, "error", err)
			}
		})
	}
}

// fold adds up what a subject has spent since from, up to foldAfter ago.
//
// Whether a run is in the sums is told by its id. What changes about one is told by a trigger if the id is fifteen minutes old by then, and the
// subject is known. So a change is missed if its transaction began before either, and ends after the sums were read. Therefore a
// subject becomes known in one transaction; another, which comes after that is committed, notes the time; and sums are
// made when all transactions under way that write are younger than that, of runs that were fifteen minutes old before the oldest of them began.
// What such a transaction changes, before or after, is told beside the sums, or is seen here and told no more. Two things are taken for granted: transactions that
// change runs read what is committed (READ COMMITTED), and are made by the same role, since Postgres tells nobody else when they began.
func (s *Limiter) fold(ctx context.Context, subject string, from time.Time) error {
	batch := &pgx.Batch{} // one transaction, in which each statement sees what was committed before it
	batch.Queue(`
		UPDATE run_spending_until u SET seen = coalesce(u.seen, clock_timestamp()),
			upto = CASE WHEN u.seen < w.oldest THEN run_id_at(least(clock_timestamp() - make_interval(secs => $2), w.oldest - interval '15 minutes')) END
		FROM (SELECT coalesce(min(xact_start), clock_timestamp()) AS oldest FROM pg_stat_activity WHERE datname = current_database() AND backend_xid IS NOT NULL AND pid <> pg_backend_pid()) w
		WHERE u.subject = $1`, subject, foldAfter.Seconds())
	batch.Queue(`
		WITH u AS (SELECT subject, greatest(before, $2) AS before, upto FROM run_spending_until WHERE subject = $1 AND upto > greatest(before, $2)),
		moved AS (UPDATE run_spending_until m SET before = u.upto FROM u WHERE m.subject = u.subject),
		gone AS (DELETE FROM run_spending g USING u WHERE g.subject = u.subject AND (g.run IS NULL OR g.run < u.upto)
			RETURNING g.run IS NULL OR g.run < u.before AS kept, g.*)
		INSERT INTO run_spending (subject, day, member, payer, budget, spent, succeeded)
		SELECT u.subject, s.day, s.member, s.payer, s.budget, sum(s.spent), sum(s.succeeded)
		FROM u CROSS JOIN LATERAL (
			SELECT day, member, payer, budget, spent, succeeded FROM gone WHERE kept
			UNION ALL
			SELECT (created_at AT TIME ZONE 'UTC')::date, account_id, payer, budget, cost, (status = 'succeeded')::int
			FROM runs WHERE account_id = u.subject AND id >= u.before AND id < u.upto AND ended_at IS NOT NULL
			UNION ALL
			SELECT (created_at AT TIME ZONE 'UTC')::date, account_id, payer, budget, cost, (status = 'succeeded')::int
			FROM runs WHERE payer = u.subject AND account_id <> u.subject AND id >= u.before AND id < u.upto AND ended_at IS NOT NULL) s
		WHERE s.day >= $3
		GROUP BY 1, 2, 3, 4, 5 HAVING sum(s.spent) <> 0 OR sum(s.succeeded) <> 0`, subject, firstID(from), from.Format(time.DateOnly))
	batch.Queue(`INSERT INTO run_spending_until (subject, before) VALUES ($1, $2) ON CONFLICT DO NOTHING`, subject, firstID(from))
	return s.Config.Pool.SendBatch(ctx, batch).Close()
}
