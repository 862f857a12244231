package write

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/runs/store"
)

// Limits need to know what an account has spent this month, and what a group's wallet has paid: both are a subject here. That is read from the
// rows of their runs. Of a subject with many runs all but the latest are added up by day (see fold), so that accepting a run costs the same with
// any number of runs before it:
//
//	run_spending_until  which subjects are added up, and before which id of a run
//	run_spending        the sums, and beside them what has changed since about a run that is in them
//
// The figures decide about money, so they are exact at each moment. One statement reads sums and runs, and a run is counted in exactly
// one of both, by its id. A trigger writes down what changes about a run that is in the sums, in the transaction that changes it.

// spentBy is what one member has spent of a subject and of a budget.
type spentBy struct {
	subject, member, budget string
	atOnce, today           int             // runs
	day, month              billing.NanoUSD // paid by the subject
	ofBudget                billing.NanoUSD // in the month, with what awaits confirmation
	unsummed                int             // rows that were read and could be in the sums
}

// spendingSQL reads what subjects have spent; $of is the column that holds the subject. The parameters are those that usages.args gives.
//
// Ids of runs are in order of time, which spares reading those of earlier months. The upper end, which all ids are below, is for the
// planner: without one it expects a third of the history and compiles the statement, which takes longer than to run it.
const spendingSQL = `
	SELECT a.id::text, s.member::text, coalesce(s.budget, ''),
		coalesce(sum(open) FILTER (WHERE agreed), 0),
		coalesce(sum(counts) FILTER (WHERE agreed AND at >= $2), 0),
		coalesce(sum(amount) FILTER (WHERE agreed AND at >= $2 AND coalesce(payer, member) = a.id), 0)::bigint,
		coalesce(sum(amount) FILTER (WHERE agreed AND at >= $3 AND coalesce(payer, member) = a.id), 0)::bigint,
		coalesce(sum(amount) FILTER (WHERE at >= $3 AND budget IS NOT NULL), 0)::bigint,
		sum(unsummed)
	FROM (SELECT DISTINCT unnest($1::text[])::uuid AS id) a
	LEFT JOIN run_spending_until u ON u.subject = a.id
	CROSS JOIN LATERAL (
		-- under way, or awaiting confirmation: what was promised
		SELECT account_id AS member, payer, budget, created_at AS at, promised AS amount, 1 AS open, 1 AS counts, status <> 'awaiting_confirmation' AS agreed, 0 AS unsummed
		FROM runs WHERE $of = a.id AND ended_at IS NULL
		UNION ALL
		-- over, and not in the sums: what it cost
		SELECT account_id, payer, budget, created_at, cost, 0, (status = 'succeeded')::int, true, (id < $5)::int
		FROM runs WHERE $of = a.id AND id >= greatest($4, u.before) AND id <= 'ffffffff-ffff-ffff-ffff-ffffffffffff' AND ended_at IS NOT NULL
		UNION ALL
		-- the sums, and what has changed about runs in them
		SELECT member, payer, budget, day::timestamp AT TIME ZONE 'UTC', spent, 0, succeeded, true, (run IS NOT NULL)::int
		FROM run_spending WHERE subject = a.id AND day >= $6 AND (run IS NULL OR run < u.before)) s
	GROUP BY 1, 2, 3`

var (
	spentByAccounts = strings.ReplaceAll(spendingSQL, "$of", "account_id")
	spentByPayers   = strings.ReplaceAll(spendingSQL, "$of", "payer")
)

// args are the parameters of spendingSQL: the subjects; when the day and the month began; the first id of the month; the first that is too new
// to be added up; and the month's first day.
func (u *usages) args(subjects []string) []any {
	return []any{subjects, u.day, u.month, firstID(u.month), store.FirstID(time.Now().Add(-foldAfter)), u.month.Format(time.DateOnly)}
}

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
				u.unsummed = append(u.unsummed, subject)
			}
		}
		return err
	})
}

const (
	maxUnsummed = 256              // rows of a subject that are read each time; of one with more they are added up
	foldAfter   = 20 * time.Minute // how old a run is before it is added up; the trigger tells of those that are fifteen minutes old
)

// foldUnsummed adds up, in the background, what was read of subjects that have many runs.
func (s *Limiter) foldUnsummed(used *usages) {
	if used == nil {
		return
	}
	from := used.month
	if used.now.Sub(from) < 24*time.Hour { // a process whose clock is behind may still be in the month before
		from = from.AddDate(0, -1, 0)
	}
	for _, subject := range used.unsummed {
		if _, busy := s.folding.LoadOrStore(subject, true); busy {
			continue
		}
		s.Spawn(func() {
			defer s.folding.Delete(subject)
			if err := s.fold(s.Base, subject, from); err != nil {
				s.Log.WarnContext(s.Base, "spending is not added up: limits are checked more slowly until it is", "subject", subject, "error", err)
			}
		})
	}
}

// fold adds up what a subject has spent since from, a beginning of a month, up to foldAfter ago.
//
// The trigger tells of a change if the subject is in run_spending_until and the run is fifteen minutes old. A transaction that began before
// both was so tells nothing, and the runs that it changes must not be added up before it ends. So it takes three calls until a subject has sums,
// and knowSQL comes last in each, so that boundSQL finds the subject only once that is committed:
//
//  1. knowSQL puts the subject into run_spending_until.
//  2. boundSQL notes the time: transactions that begin later tell of their changes.
//  3. boundSQL, once all transactions that write are younger than that time, chooses the runs to add up: those that were fifteen minutes
//     old before the oldest of them began. foldSQL adds them up.
//
// What such a transaction changes is either seen by foldSQL, or told by the trigger. Two things are taken for granted: transactions that
// change runs read what is committed (READ COMMITTED), and are made by the same role, since Postgres tells nobody else when they began.
func (s *Limiter) fold(ctx context.Context, subject string, from time.Time) error {
	batch := &pgx.Batch{} // one transaction, in which each statement sees what was committed before it
	batch.Queue(boundSQL, subject, foldAfter.Seconds())
	batch.Queue(foldSQL, subject, firstID(from), from.Format(time.DateOnly))
	batch.Queue(knowSQL, subject, firstID(from))
	return s.Config.Pool.SendBatch(ctx, batch).Close()
}

const (
	// knowSQL has the trigger tell of a subject ($1), none of whose runs since the id $2 is in the sums yet.
	knowSQL = `INSERT INTO run_spending_until (subject, before) VALUES ($1, $2) ON CONFLICT DO NOTHING`

	// boundSQL chooses up to which id runs of a subject ($1) may be added up: those older than $2 seconds, as fold says; null: none yet.
	boundSQL = `
	UPDATE run_spending_until u SET seen = coalesce(u.seen, clock_timestamp()),
		upto = CASE WHEN u.seen < w.oldest THEN run_id_at(least(clock_timestamp() - make_interval(secs => $2), w.oldest - interval '15 minutes')) END
	FROM (SELECT coalesce(min(xact_start), clock_timestamp()) AS oldest FROM pg_stat_activity WHERE datname = current_database() AND backend_xid IS NOT NULL AND pid <> pg_backend_pid()) w
	WHERE u.subject = $1`

	// foldSQL adds up the runs of a subject ($1) from the id $2 on, up to that of boundSQL, together with its sums and what was told of them until
	// now. Days before $3 are forgotten: no limit looks back further.
	foldSQL = `
	WITH u AS (SELECT subject, greatest(before, $2) AS before, upto FROM run_spending_until WHERE subject = $1 AND upto > greatest(before, $2)),
	moved AS (UPDATE run_spending_until m SET before = u.upto FROM u WHERE m.subject = u.subject),
	gone AS (DELETE FROM run_spending g USING u WHERE g.subject = u.subject AND (g.run IS NULL OR g.run < u.upto)
		RETURNING g.run IS NULL OR g.run < u.before AS kept, g.*)
	INSERT INTO run_spending (subject, day, member, payer, budget, spent, succeeded)
	SELECT u.subject, s.day, s.member, s.payer, s.budget, sum(s.spent), sum(s.succeeded)
	FROM u CROSS JOIN LATERAL (
		SELECT day, member, payer, budget, spent, succeeded FROM gone WHERE kept -- others are of runs that are read here, with the change
		UNION ALL
		SELECT (created_at AT TIME ZONE 'UTC')::date, account_id, payer, budget, cost, (status = 'succeeded')::int
		FROM runs WHERE account_id = u.subject AND id >= u.before AND id < u.upto AND ended_at IS NOT NULL
		UNION ALL
		SELECT (created_at AT TIME ZONE 'UTC')::date, account_id, payer, budget, cost, (status = 'succeeded')::int
		FROM runs WHERE payer = u.subject AND account_id <> u.subject AND id >= u.before AND id < u.upto AND ended_at IS NOT NULL) s
	WHERE s.day >= $3
	GROUP BY 1, 2, 3, 4, 5 HAVING sum(s.spent) <> 0 OR sum(s.succeeded) <> 0`
)
