package write

import (
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/store"
)

// directSQL asks the runs themselves for what spendingSQL tells, each member of each group and each budget with its own row.
const directSQL = `
	SELECT account_id::text AS subject, account_id::text AS member, coalesce(budget, ''),
		count(*) FILTER (WHERE ended_at IS NULL AND status <> 'awaiting_confirmation'),
		count(*) FILTER (WHERE created_at >= $2 AND (ended_at IS NULL AND status <> 'awaiting_confirmation' OR status = 'succeeded')),
		coalesce(sum(amount) FILTER (WHERE created_at >= $2 AND status <> 'awaiting_confirmation' AND payer IS NULL), 0)::bigint,
		coalesce(sum(amount) FILTER (WHERE created_at >= $3 AND status <> 'awaiting_confirmation' AND payer IS NULL), 0)::bigint,
		coalesce(sum(amount) FILTER (WHERE created_at >= $3 AND budget IS NOT NULL), 0)::bigint
	FROM (SELECT *, CASE WHEN ended_at IS NULL THEN promised ELSE cost END AS amount FROM runs) r
	WHERE account_id = ANY ($1::text[]::uuid[]) GROUP BY 1, 2, 3
	UNION ALL
	SELECT payer::text, account_id::text, coalesce(budget, ''),
		count(*) FILTER (WHERE ended_at IS NULL AND status <> 'awaiting_confirmation'),
		count(*) FILTER (WHERE created_at >= $2 AND (ended_at IS NULL AND status <> 'awaiting_confirmation' OR status = 'succeeded')),
		coalesce(sum(amount) FILTER (WHERE created_at >= $2 AND status <> 'awaiting_confirmation'), 0)::bigint,
		coalesce(sum(amount) FILTER (WHERE created_at >= $3 AND status <> 'awaiting_confirmation'), 0)::bigint,
		coalesce(sum(amount) FILTER (WHERE created_at >= $3 AND budget IS NOT NULL), 0)::bigint
	FROM (SELECT *, CASE WHEN ended_at IS NULL THEN promised ELSE cost END AS amount FROM runs) r
	WHERE payer = ANY ($1::text[]::uuid[]) GROUP BY 1, 2, 3`

// acceptedSQL puts runs in: accepted at random moments between two times ago, most of them over.
const acceptedSQL = `
	INSERT INTO runs (id, account_id, tool_id, tool_version, service, status, inputs, sources, shape, quote, promised, cost, platform, deliverable, timeout_ms,
		created_at, ended_at, receipt, payer, budget)
	SELECT overlay(gen_random_uuid()::text PLACING left(run_id_at(c.at)::text, 14) || '7' FROM 1)::uuid, c.accounts[1 + floor(random() * cardinality(c.accounts))], 'tool', '1', 'service', c.status, '{}', '{}', 0, '{}', 1000,
		CASE c.status WHEN 'succeeded' THEN floor(random() * 1000) ELSE 0 END, 'web', true, 1000, c.at + random() * interval '1 minute',
		CASE WHEN c.status IN ('succeeded', 'failed') THEN c.at + interval '1 minute' END, CASE WHEN c.status IN ('succeeded', 'failed') THEN '{}'::json END,
		CASE WHEN random() < 0.3 AND c.status <> 'awaiting_confirmation' THEN c.payers[1 + floor(random() * cardinality(c.payers))] END,
		CASE WHEN random() < 0.3 THEN 'key:' || floor(random() * 2) END
	FROM (SELECT now() - $4::interval - random() * ($3::interval - $4::interval) AS at, $1::text[]::uuid[] AS accounts, $2::text[]::uuid[] AS payers,
		(ARRAY['succeeded', 'succeeded', 'succeeded', 'failed', 'running', 'queued', 'awaiting_confirmation'])[1 + floor(random() * 7)] AS status FROM generate_series(1, $5) OFFSET 0) c`

// spenders are accounts, and groups that pay, with runs of the last months on a database of their own.
type spenders struct {
	*Limiter
	pool                  *pgxpool.Pool
	accounts, payers, all []string
}

func newSpenders(t *testing.T) *spenders {
	t.Helper()
	s := &spenders{pool: postgrestest.NewSized(t, 20)}
	env, err := store.NewEnv(runs.Config{Pool: s.pool, Now: time.Now, Random: crand.Reader, Metrics: prometheus.NewRegistry(), Logger: slog.New(slog.DiscardHandler), Events: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(env.Close)
	s.Limiter = NewLimiter(env)
	for range 3 {
		s.accounts, s.payers = append(s.accounts, uuid.NewString()), append(s.payers, uuid.NewString())
	}
	s.all = slices.Concat(s.accounts, s.payers)
	return s
}

func (s *spenders) accept(t *testing.T, accounts []string, from, until time.Duration, n int) {
	t.Helper()
	if _, err := s.pool.Exec(t.Context(), acceptedSQL, accounts, s.payers, from, until, n); err != nil {
		t.Fatal(err)
	}
}

// months are moments by which limits are counted: now, and the first day of this month, when another process may be in the month before.
func (s *spenders) months() []*usages {
	now := s.newUsages()
	before := *now
	before.month = before.month.AddDate(0, 0, -1)
	before.month = time.Date(before.month.Year(), before.month.Month(), 1, 0, 0, 0, 0, time.UTC)
	before.day = now.day.AddDate(0, 0, -1)
	return []*usages{now, &before}
}

// sameAsRuns holds what is read of all against the runs, in one state of the database.
func (s *spenders) sameAsRuns(ctx context.Context, u *usages) error {
	read := func(tx pgx.Tx, sql string, args ...any) (map[string]spentBy, error) {
		found := map[string]spentBy{}
		var b spentBy
		rows, _ := tx.Query(ctx, sql, args...)
		to := []any{&b.subject, &b.member, &b.budget, &b.atOnce, &b.today, &b.day, &b.month, &b.ofBudget, &b.unsummed}
		_, err := pgx.ForEachRow(rows, to[:len(rows.FieldDescriptions())], func() error {
			if b.unsummed = 0; b.atOnce != 0 || b.today != 0 || b.day != 0 || b.month != 0 || b.ofBudget != 0 {
				found[b.subject+" "+b.member+" "+b.budget] = b
			}
			return nil
		})
		return found, err
	}
	return pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		want, err := read(tx, directSQL, s.all, u.day, u.month)
		if err != nil {
			return err
		}
		got := map[string]spentBy{}
		for _, part := range []struct {
			sql      string
			subjects []string
		}{{spentByAccounts, s.accounts}, {spentByPayers, s.payers}} {
			some, err := read(tx, part.sql, u.args(part.subjects)...)
			if err != nil {
				return err
			}
			maps.Copy(got, some)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(spentBy{})); diff != "" {
			return errors.New(diff)
		}
		return nil
	})
}

// summed is how many runs are in the sums of a subject, and whether some are.
func (s *spenders) summed(t *testing.T, subject string) (n int) {
	t.Helper()
	err := s.pool.QueryRow(t.Context(), `SELECT count(*) FROM run_spending_until u JOIN runs r ON u.subject IN (r.account_id, r.payer) AND r.id < u.before
		WHERE u.subject = $1 AND u.upto IS NOT NULL`, subject).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestSpendingIsAddedUp(t *testing.T) {
	t.Parallel()
	s := newSpenders(t)
	s.accept(t, s.accounts, 62*24*time.Hour, 0, 1500)
	s.accept(t, s.accounts, 40*time.Minute, 0, 600)
	same := func(when string) {
		t.Helper()
		for _, u := range s.months() {
			if err := s.sameAsRuns(t.Context(), u); err != nil {
				t.Fatalf("%s, month from %s: %v", when, u.month, err)
			}
		}
	}
	same("nothing is added up")
	from := s.months()[1].month
	for pass := range 4 {
		for _, subject := range s.all {
			if err := s.fold(t.Context(), subject, from); err != nil {
				t.Fatal(err)
			}
		}
		same(fmt.Sprintf("after pass %d", pass))
	}
	for _, subject := range s.all {
		if s.summed(t, subject) < 100 {
			t.Errorf("of %s %d runs are in the sums", subject, s.summed(t, subject))
		}
	}
	// What is in the sums is not read: they can be seen.
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := s.pool.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	u := s.newUsages()
	usage, err := s.Usage(t.Context(), s.accounts[0])
	if err != nil {
		t.Fatal(err)
	}
	exec(`UPDATE run_spending SET spent = spent + 7 WHERE subject = $1`, s.accounts[0])
	if more, err := s.Usage(t.Context(), s.accounts[0]); err != nil || u.now.Sub(u.month) > 2*time.Hour && more.SpentMonth <= usage.SpentMonth {
		t.Errorf("%s spent, then %s: %v", usage.SpentMonth, more.SpentMonth, err)
	}
	exec(`UPDATE run_spending SET spent = spent - 7 WHERE subject = $1`, s.accounts[0])
	same("put right")
	names := strings.NewReplacer("$1", "'"+s.accounts[0]+"'", "$2", "'"+s.accounts[1]+"'", "$3", "'"+s.payers[0]+"'", "$4", "'"+s.payers[1]+"'")
	for what, sql := range map[string]string{
		"runs are given to another":    `UPDATE runs SET account_id = $2 WHERE account_id = $1 AND random() < 0.5`,
		"another group pays":           `UPDATE runs SET payer = $4 WHERE payer = $3`,
		"runs are dated back":          `UPDATE runs SET created_at = created_at - interval '1 day' WHERE account_id = $1`,
		"runs are deleted":             `DELETE FROM runs WHERE account_id IN ($1, $2) AND random() < 0.2`,
		"runs end late":                `UPDATE runs SET status = 'succeeded', cost = 5, ended_at = now(), receipt = '{}' WHERE ended_at IS NULL`,
		"what was said is taken back":  `UPDATE runs SET cost = 0, status = 'failed' WHERE status = 'succeeded' AND random() < 0.2`,
		"runs are refunded, forgotten": `UPDATE runs SET refunded_at = now(), inputs = '{}', outputs = NULL, deleted_at = now() WHERE random() < 0.2 AND ended_at IS NOT NULL`,
	} {
		exec(names.Replace(sql))
		same(what)
	}
	for range 2 {
		for _, subject := range s.all {
			if err := s.fold(t.Context(), subject, from); err != nil {
				t.Fatal(err)
			}
		}
		same("added up again")
	}
}

// Runs begin, end and change hands in transactions that overlap, are undone and are made by any version of the program, while others add up and
// forget the sums: what is read is what the runs say, in each state of the database.
func TestSpendingIsExactAtEachMoment(t *testing.T) {
	t.Parallel()
	s := newSpenders(t)
	s.accept(t, s.accounts, 62*24*time.Hour, 0, 600)
	s.accept(t, s.accounts, 30*time.Minute, 0, 400)
	from := s.months()[1].month
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var beside sync.WaitGroup
	background := func(f func() error) {
		beside.Go(func() {
			for ctx.Err() == nil {
				if err := f(); err != nil && ctx.Err() == nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 2 {
		background(func() error { return s.fold(ctx, s.all[rand.IntN(len(s.all))], from) })
	}
	background(func() error { // as if they came for the first time
		for range 60 {
			if _, err := s.pool.Exec(ctx, `SELECT`); err != nil {
				return err
			}
		}
		subject, batch := s.all[rand.IntN(len(s.all))], &pgx.Batch{}
		batch.Queue(`DELETE FROM run_spending_until WHERE subject = $1`, subject)
		batch.Queue(`DELETE FROM run_spending WHERE subject = $1`, subject)
		return s.pool.SendBatch(ctx, batch).Close()
	})
	var checks, folded atomic.Int64
	background(func() error {
		checks.Add(1)
		return s.sameAsRuns(ctx, s.months()[rand.IntN(2)])
	})
	background(func() error {
		var n int64
		err := s.pool.QueryRow(ctx, `SELECT count(*) FROM run_spending WHERE run IS NULL`).Scan(&n)
		folded.Store(max(folded.Load(), n))
		return err
	})
	undone := errors.New("undone")
	changes := []string{
		`UPDATE runs SET account_id = $2 WHERE id = ANY ($1) AND payer IS DISTINCT FROM $2`,
		`UPDATE runs SET status = 'succeeded', cost = floor(random() * 1000), ended_at = now(), receipt = '{}' WHERE id = ANY ($1) AND ended_at IS NULL AND $2::uuid IS NOT NULL`,
		`UPDATE runs SET cost = floor(random() * 1000) WHERE id = ANY ($1) AND status = 'succeeded' AND $2::uuid IS NOT NULL`,
		`UPDATE runs SET created_at = created_at - interval '1 day' WHERE id = ANY ($1) AND $2::uuid IS NOT NULL`,
		`DELETE FROM runs WHERE id = ANY (($1::uuid[])[1:2]) AND $2::uuid IS NOT NULL`,
	}
	var work sync.WaitGroup
	for range 4 {
		work.Go(func() {
			for range 60 {
				err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
					for range 1 + rand.IntN(4) {
						rows, _ := tx.Query(ctx, `SELECT id::text FROM runs ORDER BY random() LIMIT 8 FOR UPDATE SKIP LOCKED`)
						ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
						if err == nil {
							_, err = tx.Exec(ctx, changes[rand.IntN(len(changes))], ids, s.accounts[rand.IntN(3)])
						}
						if err == nil && rand.IntN(4) == 0 {
							_, err = tx.Exec(ctx, acceptedSQL, s.accounts, s.payers, 10*time.Minute, time.Duration(0), 4)
						}
						if err != nil {
							return err
						}
					}
					if rand.IntN(5) == 0 {
						return undone
					}
					return nil
				})
				if err != nil && !errors.Is(err, undone) && !isConflict(err) {
					t.Error(err)
					return
				}
			}
		})
	}
	work.Wait()
	stop()
	beside.Wait()
	t.Logf("%d times as the runs say, at most %d rows of sums", checks.Load(), folded.Load())
	if checks.Load() < 20 || folded.Load() == 0 {
		t.Error("that says nothing")
	}
}

// Who has many runs has them added up by who reads them.
func TestManyRunsAreAddedUp(t *testing.T) {
	t.Parallel()
	s := newSpenders(t)
	s.accept(t, s.accounts[:1], time.Hour, 25*time.Minute, 2*maxUnsummed)
	s.accept(t, s.accounts[1:2], time.Hour, 25*time.Minute, maxUnsummed/2)
	clocktest.Until(t, "the runs are added up", func() bool {
		for _, account := range s.accounts {
			if _, err := s.Usage(t.Context(), account); err != nil {
				t.Fatal(err)
			}
		}
		return s.summed(t, s.accounts[0]) >= 2*maxUnsummed
	})
	var known []string
	rows, _ := s.pool.Query(t.Context(), `SELECT subject::text FROM run_spending_until`)
	known, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || !slices.Equal(known, s.accounts[:1]) {
		t.Errorf("%v are known, want %s alone: %v", known, s.accounts[0], err)
	}
}

// However many runs there are, what is read of one with many is found by indexes, and is little once it is added up.
func TestSpendingIsFoundByIndexes(t *testing.T) {
	t.Parallel()
	s := newSpenders(t)
	busy := s.accounts[:1]
	s.accept(t, busy, 25*24*time.Hour, 25*time.Minute, 5000)
	s.accept(t, s.accounts[1:], 60*24*time.Hour, 0, 10000)
	for _, sql := range []string{`UPDATE runs SET status = 'succeeded', ended_at = created_at, receipt = '{}' WHERE ended_at IS NULL AND random() < 0.99`, `VACUUM ANALYZE runs`} {
		if _, err := s.pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		for _, subject := range []string{busy[0], s.payers[0]} {
			if err := s.fold(t.Context(), subject, s.newUsages().month); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct {
		sql, subject string
		indexes      []string
	}{
		"an account": {spentByAccounts, busy[0], []string{"runs_of_account", "runs_open", "run_spending_of_subject"}},
		"a group":    {spentByPayers, s.payers[0], []string{"runs_of_payer", "runs_open_of_payer", "run_spending_of_subject"}},
	} {
		rows, _ := s.pool.Query(t.Context(), `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF) `+c.sql, append([]any{pgx.QueryExecModeExec}, s.newUsages().args([]string{c.subject})...)...)
		plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
		text := strings.Join(plan, "\n")
		if err != nil || strings.Contains(text, "Seq Scan on run") {
			t.Errorf("%s: %v, %s", name, err, text)
		}
		for _, index := range c.indexes {
			if !strings.Contains(text, index) {
				t.Errorf("%s is read without %s:\n%s", name, index, text)
			}
		}
	}
}
