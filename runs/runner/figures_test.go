package runner

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/runs"
)

// directSQL asks the runs themselves for what Stats tells.
const directSQL = `
	SELECT floor(extract(epoch FROM ended_at - $1::timestamptz) / $3::double precision)::int AS bucket, coalesce(service, ''), coalesce(tool_id, ''), count(*),
	       count(*) FILTER (WHERE status = 'succeeded'), count(*) FILTER (WHERE status IN ('failed', 'timed_out')),
	       sum(cost)::bigint, sum(greatest(full_cost, cost))::bigint,
	       coalesce(sum((quote ->> 'low')::bigint) FILTER (WHERE status = 'succeeded'), 0)::bigint, coalesce(sum(promised) FILTER (WHERE status = 'succeeded'), 0)::bigint,
	       coalesce(percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM ended_at - created_at)::double precision) FILTER (WHERE status = 'succeeded'), 0)::double precision,
	       coalesce(percentile_cont(0.95) WITHIN GROUP (ORDER BY extract(epoch FROM ended_at - created_at)::double precision) FILTER (WHERE status = 'succeeded'), 0)::double precision,
	       coalesce(sum(nano_units) FILTER (WHERE receipt ->> 'unit' = 'second'), 0)::double precision / 1e9
	FROM runs WHERE ended_at >= $1 AND ended_at < $2 GROUP BY GROUPING SETS ((1), (service, tool_id))`

// direct gives the figures of each step, and of each tool.
func direct(t *testing.T, h *house, from, to time.Time, step time.Duration) (steps map[int]runs.Figures, tools map[string]runs.Figures) {
	t.Helper()
	steps, tools = map[int]runs.Figures{}, map[string]runs.Figures{}
	var bucket *int
	var service, tool string
	var f runs.Figures
	var p50, p95 float64
	rows, _ := h.pool.Query(t.Context(), directSQL, from, to, step.Seconds())
	_, err := pgx.ForEachRow(rows, []any{&bucket, &service, &tool, &f.Runs, &f.Succeeded, &f.Failed, &f.Revenue, &f.Cost, &f.QuotedLow, &f.QuotedHigh, &p50, &p95, &f.EngineSeconds}, func() error {
		f.P50, f.P95 = time.Duration(p50*float64(time.Second)), time.Duration(p95*float64(time.Second))
		if bucket != nil {
			steps[*bucket] = f
		} else {
			tools[service+"/"+tool] = f
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return steps, tools
}

// differ tells whether figures differ: percentiles by more than 2.5 %.
func differ(a, b runs.Figures) bool {
	off := func(a, b time.Duration) bool {
		return math.Abs(float64(a-b)) > 0.025*float64(max(a, b))+float64(time.Millisecond)
	}
	different := off(a.P50, b.P50) || off(a.P95, b.P95) || math.Abs(a.EngineSeconds-b.EngineSeconds) > 1e-6*math.Abs(a.EngineSeconds)
	a.P50, a.P95, a.EngineSeconds, b.P50, b.P95, b.EngineSeconds = 0, 0, 0, 0, 0, 0
	return different || a != b
}

// sameAsRuns holds what Stats tells of the spans of the console against the runs.
func sameAsRuns(t *testing.T, h *house, when string) {
	t.Helper()
	now := time.Now().UTC()
	for _, span := range []struct{ length, step time.Duration }{
		{time.Hour, time.Minute}, {24 * time.Hour, 30 * time.Minute}, {7 * 24 * time.Hour, 3 * time.Hour}, {30 * 24 * time.Hour, 12 * time.Hour}, {90 * 24 * time.Hour, 24 * time.Hour},
		{47 * time.Hour, 47 * time.Minute},
	} {
		to := now.Truncate(span.step).Add(span.step)
		from := to.Add(-span.length)
		stats, err := h.Stats(t.Context(), from, to, span.step)
		if err != nil {
			t.Fatal(err)
		}
		steps, tools := direct(t, h, from, to, span.step)
		for i, b := range stats.Buckets {
			if differ(b.Figures, steps[i]) {
				t.Fatalf("%s: %s by %s, step %d:\n%+v, the runs say\n%+v", when, span.length, span.step, i, b.Figures, steps[i])
			}
		}
		for _, tool := range stats.Tools {
			if name := tool.Service + "/" + tool.ToolID; differ(tool.Figures, tools[name]) {
				t.Fatalf("%s: %s by %s, %s:\n%+v, the runs say\n%+v", when, span.length, span.step, name, tool.Figures, tools[name])
			}
		}
		if len(stats.Tools) != len(tools) {
			t.Fatalf("%s: %s by %s: %d tools, the runs say %d", when, span.length, span.step, len(stats.Tools), len(tools))
		}
	}
}

// historySQL makes runs that ended, copies of one that did: over a time that ends so long ago, with everything at random that figures are made of.
const historySQL = `INSERT INTO runs SELECT (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid(), 'idempotency_key', NULL, 'created_at', c.ended - c.took, 'ended_at', c.ended,
		'delivered_at', c.ended, 'status', c.status, 'cost', CASE c.status WHEN 'succeeded' THEN floor(random() * r.promised) ELSE 0 END, 'full_cost', floor(random() * r.promised),
		'nano_units', floor(random() * 1e10), 'tool_id', 'tool' || floor(random() * 12), 'service', 'service' || floor(random() * 2)))).*
	FROM runs r, (SELECT now() - $2::interval - random() * $3::interval AS ended, exp(random() * 14) * interval '1 ms' AS took,
		(ARRAY['succeeded', 'succeeded', 'failed', 'timed_out', 'canceled'])[1 + floor(random() * 5)] AS status FROM generate_series(1, $4) OFFSET 0) c WHERE r.id = $1`

func TestFiguresOfLongTimes(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	user := h.user(t, billing.Dollar)
	h.start(t)
	sample := h.ends(t, h.accept(t, sing(user)).ID)
	history := func(ago, length time.Duration, n int) {
		t.Helper()
		if _, err := h.pool.Exec(t.Context(), historySQL, sample.ID, ago, length, n); err != nil {
			t.Fatal(err)
		}
	}
	// all counts until nothing is left to count, a few blocks at a time.
	all := func() (passes int) {
		t.Helper()
		for done := false; !done; passes++ {
			var err error
			if done, err = h.CountFigures(t.Context(), 10*time.Millisecond); err != nil {
				t.Fatal(err)
			}
			if passes%20 == 10 {
				sameAsRuns(t, h, fmt.Sprintf("after %d passes", passes))
			}
		}
		return passes
	}
	history(0, 100*24*time.Hour, 3000)
	history(0, 2*time.Hour, 300)
	sameAsRuns(t, h, "before anything is counted")
	if passes := all(); passes < 10 {
		t.Errorf("a long history was taken in by %d passes", passes)
	}
	sameAsRuns(t, h, "counted")
	t.Run("what is counted is not read again", func(t *testing.T) {
		if _, err := h.pool.Exec(t.Context(), `UPDATE run_figures SET runs = runs + 1000000`); err != nil {
			t.Fatal(err)
		}
		to := time.Now().UTC().Truncate(12 * time.Hour).Add(12 * time.Hour)
		stats, err := h.Stats(t.Context(), to.Add(-30*24*time.Hour), to, 12*time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		for i, b := range stats.Buckets[:len(stats.Buckets)-2] {
			if b.Runs < 1000000 || b.Runs >= 2000000 {
				t.Errorf("step %d has %d runs", i, b.Runs)
			}
		}
		if _, err := h.pool.Exec(t.Context(), `UPDATE run_figures SET runs = runs - 1000000`); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("a run whose end is written late, or changes, counts at once and stays counted", func(t *testing.T) {
		for _, ago := range []string{"20 minutes", "5 days", "40 days"} {
			change := `UPDATE runs SET ended_at = now() - $1::interval, created_at = now() - $1::interval - interval '7 s' WHERE id = (SELECT id FROM runs WHERE ended_at < now() - interval '1 hour' ORDER BY random() LIMIT 1)`
			if _, err := h.pool.Exec(t.Context(), change, ago); err != nil {
				t.Fatal(err)
			}
			sameAsRuns(t, h, "changed "+ago+" ago")
			all()
			sameAsRuns(t, h, "counted anew "+ago+" ago")
		}
	})
	t.Run("several processes count beside runs that change", func(t *testing.T) {
		if _, err := h.pool.Exec(t.Context(), `DELETE FROM run_figures WHERE tool_id = '' AND random() < 0.3`); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var wait sync.WaitGroup
		for range 3 {
			wait.Go(func() {
				for ctx.Err() == nil {
					if _, err := h.CountFigures(ctx, time.Millisecond); err != nil && ctx.Err() == nil {
						t.Error(err)
					}
				}
			})
		}
		for range 40 {
			_, err := h.pool.Exec(t.Context(), `UPDATE runs SET cost = least(promised, cost + 1), ended_at = ended_at - interval '2 days', created_at = created_at - interval '2 days' WHERE id IN (SELECT id FROM runs WHERE status = 'succeeded' ORDER BY random() LIMIT $1)`, 1+rand.IntN(5))
			if err != nil {
				t.Error(err)
			}
		}
		sameAsRuns(t, h, "meanwhile")
		cancel()
		wait.Wait()
		all()
		sameAsRuns(t, h, "afterwards")
	})
	t.Run("old blocks go", func(t *testing.T) {
		var rows int
		if err := h.pool.QueryRow(t.Context(), `SELECT count(*) FROM run_figures WHERE at < now() - minutes * interval '1 minute' - (CASE minutes WHEN 5 THEN interval '3 hours' WHEN 30 THEN interval '3 days' WHEN 180 THEN interval '10 days' ELSE interval '95 days' END)`).Scan(&rows); err != nil || rows > 0 {
			t.Errorf("%d rows are older than anybody asks for (%v)", rows, err)
		}
	})
}
