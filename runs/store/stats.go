package store

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/runs"
)

const maxBuckets = 1000

const smallestStep = time.Second

const maxToolStats = 100

var (
	houseSQL = blocksPartSQL(ofHouse)
	toolsSQL = blocksPartSQL(ofTheseTools)
	// gapsSQL reads each run once: what it adds to its step, and what it adds to its tool.
	gapsSQL = `SELECT coalesce(key, 0), coalesce(tool_id, ''), coalesce(service, ''), ` + sumsSQL + `, took, ARRAY[count(*)] FROM (` + gapsPartSQL(1) + `) runs GROUP BY GROUPING SETS ((key, took), (tool_id, service, took))`
	// mostUsedSQL counts the runs of tools in blocks, which the index alone tells, and those that are given.
	mostUsedSQL = `SELECT tool_id FROM (
		SELECT f.* FROM unnest($1::int[], $2::int[], $3::timestamptz[]) b (key, minutes, at), LATERAL (
			SELECT f.tool_id, f.service, f.runs FROM run_figures f WHERE f.minutes = b.minutes AND f.at = b.at AND ` + ofTools + ` OFFSET 0) f
		UNION ALL
		SELECT * FROM unnest($4::text[], $5::text[], $6::bigint[])) parts
		GROUP BY service, tool_id ORDER BY sum(runs) DESC, tool_id, service LIMIT ` + strconv.Itoa(maxToolStats)
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
		// What is between the gaps of steps is made of blocks, and of longer ones for the whole span.
		at := from
		for i, since := range steps.since {
			whole.cover(0, there, at, since)
			at = steps.until[i]
		}
		whole.cover(0, there, at, to)

		all := make(sums)
		if err := all.read(ctx, tx, gapsSQL, planned(steps.ofGaps())); err != nil {
			return err
		}
		if err := all.read(ctx, tx, houseSQL, planned(steps.ofBlocks())); err != nil {
			return err
		}
		ids, err := all.mostUsed(ctx, tx, whole.ofBlocks())
		if err != nil {
			return err
		}
		if err := all.read(ctx, tx, toolsSQL, planned(whole.ofBlocks(), []any{ids})); err != nil {
			return err
		}
		for of, sum := range all {
			switch {
			case of.toolID == "":
				stats.Buckets[of.step].Figures = sum.figures()
			case slices.Contains(ids, of.toolID):
				stats.Tools = append(stats.Tools, runs.ToolStats{Service: of.service, ToolID: of.toolID, Figures: sum.figures()})
			}
		}
		slices.SortFunc(stats.Tools, func(a, b runs.ToolStats) int {
			return cmp.Or(cmp.Compare(b.Runs, a.Runs), cmp.Compare(a.ToolID, b.ToolID), cmp.Compare(a.Service, b.Service))
		})
		stats.Tools = stats.Tools[:min(len(stats.Tools), maxToolStats)]
		return nil
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

// subject is what figures are of: a step, of the whole house, or a tool, of the whole span.
type subject struct {
	step            int
	toolID, service string
}

// sum is what the runs of a subject came to.
type sum struct {
	runs.Figures
	nanoSeconds int64
	took        map[int]int64 // how many runs took how long, as powers of tookBase of tookLeast
}

type sums map[subject]*sum

// read adds up rows of gapsSQL or blocksPartSQL.
func (s sums) read(ctx context.Context, tx pgx.Tx, sql string, params []any) error {
	var of subject
	var part sum
	var took []int
	var counts []int64
	rows, _ := tx.Query(ctx, sql, params...)
	_, err := pgx.ForEachRow(rows, []any{&of.step, &of.toolID, &of.service, &part.Runs, &part.Succeeded, &part.Failed, &part.Revenue, &part.Cost, &part.QuotedLow, &part.QuotedHigh, &part.nanoSeconds, &took, &counts}, func() error {
		if of.toolID != "" {
			of.step = 0
		}
		to := s[of]
		if to == nil {
			to = &sum{took: make(map[int]int64)}
			s[of] = to
		}
		to.Runs += part.Runs
		to.Succeeded += part.Succeeded
		to.Failed += part.Failed
		to.Revenue += part.Revenue
		to.Cost += part.Cost
		to.QuotedLow += part.QuotedLow
		to.QuotedHigh += part.QuotedHigh
		to.nanoSeconds += part.nanoSeconds
		for i, power := range took {
			to.took[power] += counts[i]
		}
		return nil
	})
	return err
}

// mostUsed gives the tools with most runs in blocks and in what was read already.
func (s sums) mostUsed(ctx context.Context, tx pgx.Tx, blocks []any) ([]string, error) {
	var ids, services []string
	var counts []int64
	for of, sum := range s {
		if of.toolID != "" {
			ids, services, counts = append(ids, of.toolID), append(services, of.service), append(counts, sum.Runs)
		}
	}
	rows, _ := tx.Query(ctx, mostUsedSQL, planned(blocks, []any{ids, services, counts})...)
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

func (s *sum) figures() runs.Figures {
	var took durations
	for _, power := range slices.Sorted(maps.Keys(s.took)) {
		took.powers, took.counts, took.all = append(took.powers, power), append(took.counts, s.took[power]), took.all+s.took[power]
	}
	f := s.Figures
	f.P50, f.P95 = took.percentile(0.5), took.percentile(0.95)
	f.EngineSeconds = float64(s.nanoSeconds) / 1e9
	return f
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
