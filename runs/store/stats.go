package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/runs"
)

const maxBuckets = 1000

const smallestStep = time.Second

const longestCounts = 24 * time.Hour // from acceptance to end

const maxToolStats = 100

// statsSQL gives the figures of each bucket and, from the same reading, of each tool. Runs are found by their ids, which
// are in order of acceptance, since an index of their ends would make every run dearer.
const statsSQL = `
	SELECT bucket, coalesce(service, ''), coalesce(tool_id, ''), count(*),
	       count(*) FILTER (WHERE status = 'succeeded'), count(*) FILTER (WHERE status IN ('failed', 'timed_out')),
	       sum(cost)::bigint, sum(greatest(full_cost, cost))::bigint,
	       coalesce(sum(low) FILTER (WHERE status = 'succeeded'), 0)::bigint, coalesce(sum(promised) FILTER (WHERE status = 'succeeded'), 0)::bigint,
	       coalesce(percentile_cont(0.5) WITHIN GROUP (ORDER BY took) FILTER (WHERE status = 'succeeded'), 0)::double precision,
	       coalesce(percentile_cont(0.95) WITHIN GROUP (ORDER BY took) FILTER (WHERE status = 'succeeded'), 0)::double precision,
	       coalesce(sum(nano_units) FILTER (WHERE by_second), 0)::double precision / 1e9
	FROM (SELECT floor(extract(epoch FROM ended_at - $1::timestamptz) / $3::double precision)::int AS bucket, service, tool_id, status, cost, full_cost, nano_units, promised, (quote ->> 'low')::bigint AS low,
	             receipt ->> 'unit' = 'second' AS by_second, extract(epoch FROM ended_at - created_at)::double precision AS took
	      FROM runs WHERE id >= $4::uuid AND ended_at >= $1 AND ended_at < $2) ended
	GROUP BY GROUPING SETS ((bucket), (service, tool_id)) ORDER BY 4 DESC, 3`

// Stats gives the figures of the runs that ended from from on and before to, in steps of at least a second, at most 1000
// of them; steps in which nothing ended are there too. Runs that took more than a day are not counted.
func (s *Store) Stats(ctx context.Context, from, to time.Time, step time.Duration) (runs.Stats, error) {
	if step < smallestStep || !from.Before(to) || to.Sub(from) > maxBuckets*step {
		return runs.Stats{}, fmt.Errorf("statistics from %s to %s by %s: expected a span of 1 to %d steps of at least %s", from, to, step, maxBuckets, smallestStep)
	}
	var stats runs.Stats
	for at := from; at.Before(to); at = at.Add(step) {
		stats.Buckets = append(stats.Buckets, runs.Bucket{From: at})
	}
	rows, err := s.Config.Pool.Query(ctx, statsSQL, from, to, step.Seconds(), FirstID(from.Add(-longestCounts)))
	if err != nil {
		return runs.Stats{}, fmt.Errorf("statistics: %w", err)
	}
	if err := readStats(&stats, rows); err != nil {
		return runs.Stats{}, fmt.Errorf("statistics: %w", err)
	}
	return stats, nil
}

// readStats takes in the rows of figures.
func readStats(s *runs.Stats, rows pgx.Rows) error {
	var bucket *int
	var t runs.ToolStats
	var p50, p95 float64
	_, err := pgx.ForEachRow(rows, []any{&bucket, &t.Service, &t.ToolID, &t.Runs, &t.Succeeded, &t.Failed, &t.Revenue, &t.Cost, &t.QuotedLow, &t.QuotedHigh, &p50, &p95, &t.EngineSeconds}, func() error {
		t.P50, t.P95 = seconds(p50), seconds(p95)
		switch {
		case bucket == nil && len(s.Tools) < maxToolStats:
			s.Tools = append(s.Tools, t)
		case bucket != nil && *bucket < len(s.Buckets):
			s.Buckets[*bucket].Figures = t.Figures
		}
		return nil
	})
	return err
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// CountByState counts the runs that are not over; states without any are not there.
func (s *Store) CountByState(ctx context.Context) (map[runs.Status]int64, error) {
	rows, err := s.Config.Pool.Query(ctx, `SELECT status, count(*) FROM runs WHERE ended_at IS NULL GROUP BY status`)
	if err != nil {
		return nil, fmt.Errorf("count runs: %w", err)
	}
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
