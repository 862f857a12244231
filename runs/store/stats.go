package store

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/runs"
)

const maxBuckets = 1000

const smallestStep = time.Second

const maxToolStats = 100

var (
	houseSQL     = `SELECT key, '', '', ` + sumsSQL + ` FROM (` + partsSQL(ofHouse, "true") + `) parts GROUP BY 1`
	houseTookSQL = `SELECT key, '', '', t.took, sum(t.n)::bigint FROM (` + partsSQL(ofHouse, "true") + `) parts, unnest(parts.took, parts.took_runs) t (took, n) WHERE t.took IS NOT NULL GROUP BY 1, 4 ORDER BY 1, 4`
	mostUsedSQL  = `SELECT tool_id FROM (
		SELECT f.* FROM unnest($1::int[], $2::int[], $3::timestamptz[]) b (key, minutes, at), LATERAL (
			SELECT f.tool_id, f.service, f.runs FROM run_figures f WHERE f.minutes = b.minutes AND f.at = b.at AND ` + ofTools + ` OFFSET 0) f
		UNION ALL
		SELECT r.*, 1 FROM unnest($4::int[], $5::timestamptz[], $6::timestamptz[]) g (key, since, until), LATERAL (
			SELECT r.tool_id, r.service FROM runs r WHERE r.ended_at >= g.since AND r.ended_at < g.until OFFSET 0) r) parts
		GROUP BY service, tool_id ORDER BY sum(runs) DESC, tool_id, service LIMIT ` + strconv.Itoa(maxToolStats)
	toolsSQL     = `SELECT 0, service, tool_id, ` + sumsSQL + ` FROM (` + partsSQL(ofTheseTools, "r.tool_id = ANY ($7)") + `) parts GROUP BY 2, 3 ORDER BY 4 DESC, 3, 2 LIMIT ` + strconv.Itoa(maxToolStats)
	toolsTookSQL = `SELECT 0, service, tool_id, t.took, sum(t.n)::bigint FROM (` + partsSQL(ofTheseTools, "r.tool_id = ANY ($7)") + `) parts, unnest(parts.took, parts.took_runs) t (took, n) WHERE t.took IS NOT NULL GROUP BY 2, 3, 4 ORDER BY 2, 3, 4`
)

// Stats gives the figures of the runs that ended from from on and before to, in steps of at least a second, at most 1000
// of them; steps in which nothing ended are there too.
func (s *Store) Stats(ctx context.Context, from, to time.Time, step time.Duration) (runs.Stats, error) {
	if step < smallestStep || !from.Before(to) || to.Sub(from) > maxBuckets*step {
		return runs.Stats{}, fmt.Errorf("statistics from %s to %s by %s: expected a span of 1 to %d steps of at least %s", from, to, step, maxBuckets, smallestStep)
	}
	var stats runs.Stats
	for at := from; at.Before(to); at = at.Add(step) {
		stats.Buckets = append(stats.Buckets, runs.Bucket{From: at})
	}
	// All is read from one state of the database: what a block loses meanwhile is not missed.
	err := pgx.BeginTxFunc(ctx, s.Config.Pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT set_config('jit', 'off', true), set_config('work_mem', '32MB', true)`); err != nil {
			return err
		}
		there, err := blocksBetween(ctx, tx, from, to)
		if err != nil {
			return err
		}
		var steps, whole sources
		for i, b := range stats.Buckets {
			steps.cover(int32(i), there, b.From, earlier(b.From.Add(step), to))
		}
		whole.cover(0, there, from, to)
		houses, err := figures(ctx, tx, houseSQL, houseTookSQL, steps.args())
		if err != nil {
			return err
		}
		for _, f := range houses {
			stats.Buckets[f.key].Figures = f.Figures
		}
		rows, _ := tx.Query(ctx, mostUsedSQL, whole.args()...)
		ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return err
		}
		tools, err := figures(ctx, tx, toolsSQL, toolsTookSQL, whole.args(ids))
		for _, f := range tools {
			stats.Tools = append(stats.Tools, f.ToolStats)
		}
		return err
	})
	if err != nil {
		return runs.Stats{}, fmt.Errorf("statistics: %w", err)
	}
	return stats, nil
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// keyed are figures with what they are found by.
type keyed struct {
	key int
	runs.ToolStats
}

// figures reads sums, and then how long runs took.
func figures(ctx context.Context, tx pgx.Tx, sums, took string, args []any) ([]keyed, error) {
	rows, _ := tx.Query(ctx, sums, args...)
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (f keyed, err error) {
		var nanoSeconds int64
		err = row.Scan(&f.key, &f.Service, &f.ToolID, &f.Runs, &f.Succeeded, &f.Failed, &f.Revenue, &f.Cost, &f.QuotedLow, &f.QuotedHigh, &nanoSeconds)
		f.EngineSeconds = float64(nanoSeconds) / 1e9
		return f, err
	})
	if err != nil {
		return nil, err
	}
	type name struct {
		key             int
		service, toolID string
	}
	found := make(map[name]*durations, len(all))
	for _, f := range all {
		found[name{f.key, f.Service, f.ToolID}] = &durations{}
	}
	var n name
	var power int
	var count int64
	rows, _ = tx.Query(ctx, took, args...)
	_, err = pgx.ForEachRow(rows, []any{&n.key, &n.service, &n.toolID, &power, &count}, func() error {
		if d := found[n]; d != nil {
			d.powers, d.counts, d.all = append(d.powers, power), append(d.counts, count), d.all+count
		}
		return nil
	})
	for i := range all {
		f := &all[i]
		d := found[name{f.key, f.Service, f.ToolID}]
		f.P50, f.P95 = d.percentile(0.5), d.percentile(0.95)
	}
	return all, err
}

// durations are how many runs took how long, as powers of tookBase of tookLeast, in order.
type durations struct {
	powers []int
	counts []int64
	all    int64
}

// percentile is what that part of the runs stayed below, as percentile_cont of Postgres has it; zero without runs.
func (d *durations) percentile(part float64) time.Duration {
	place, between := math.Modf(part * float64(d.all-1))
	low, high := d.nth(int64(place)), d.nth(min(int64(place)+1, d.all-1))
	return time.Duration((1-between)*low + between*high)
}

// nth is about how long a run took, in nanoseconds: the one with so many before it.
func (d *durations) nth(before int64) float64 {
	for i, n := range d.counts {
		if before -= n; before < 0 {
			return float64(tookLeast) * math.Pow(tookBase, float64(d.powers[i])+0.5)
		}
	}
	return 0
}

// CountByState counts the runs that are not over; states without any are not there.
func (s *Store) CountByState(ctx context.Context) (map[runs.Status]int64, error) {
	rows, _ := s.Config.Pool.Query(ctx, `SELECT status, count(*) FROM runs WHERE ended_at IS NULL GROUP BY status`)
	counts := map[runs.Status]int64{}
	var status runs.Status
	var n int64
	if _, err := pgx.ForEachRow(rows, []any{&status, &n}, func() error {
		counts[status] = n
		return nil
	}); err != nil {
		return nil, fmt.Errorf("count runs: %w", err)
	}
	return counts, nil
}
