package runner

import (
	"math"
	"testing"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/runstest"
)

func TestStats(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	user := h.user(t, billing.Dollar)
	songs := map[string]*runstest.Outcome{
		"good":  {Usage: registry.Usage{RunTime: 2 * time.Second}},
		"wrong": {Err: registry.Errorf(registry.CodeRefused, "no")},
		"long":  {Manual: true},
	}
	h.provider.OnSubmit = func(call registry.Call, _ int) *runstest.Outcome { return songs[call.Inputs["song"].(string)] }
	h.start(t)
	var ended []runs.Run
	for _, song := range []string{"good", "good", "wrong", "long"} {
		r := sing(user)
		r.Values[runs.FromArgument]["song"] = song
		run := h.accept(t, r)
		if song != "long" {
			ended = append(ended, h.ends(t, run.ID))
		}
	}
	// One of the good ones ended an hour ago and took ten seconds.
	hourAgo := time.Now().UTC().Truncate(time.Minute).Add(-time.Hour)
	if _, err := h.pool.Exec(t.Context(), `UPDATE runs SET ended_at = $2, created_at = $2::timestamptz - interval '10 s', delivered_at = NULL WHERE id = $1`, ended[0].ID, hourAgo); err != nil {
		t.Fatal(err)
	}
	from := hourAgo.Add(-30 * time.Minute)
	stats, err := h.Stats(t.Context(), from, from.Add(3*time.Hour), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("each step has its figures, also the empty ones", func(t *testing.T) {
		if len(stats.Buckets) != 3 || !stats.Buckets[1].From.Equal(from.Add(time.Hour)) || stats.Buckets[2].Figures != (runs.Figures{}) {
			t.Fatalf("%+v", stats.Buckets)
		}
		first, second := stats.Buckets[0], stats.Buckets[1]
		if first.Runs != 1 || first.Succeeded != 1 || first.Failed != 0 || (first.P50-10*time.Second).Abs() > 250*time.Millisecond || first.P95 != first.P50 {
			t.Errorf("%+v", first)
		}
		if second.Runs != 2 || second.Succeeded != 1 || second.Failed != 1 || second.P50 <= 0 || second.P50 > time.Minute {
			t.Errorf("%+v", second)
		}
		if first.Revenue != ended[0].Cost || first.Revenue == 0 || first.Cost < first.Revenue {
			t.Errorf("revenue %s and cost %s, the run cost %s", first.Revenue, first.Cost, ended[0].Cost)
		}
		if quote := ended[0].Quote; first.QuotedLow != quote.Low || first.QuotedHigh != quote.High || quote.High == 0 {
			t.Errorf("quoted %s to %s, the run was quoted %s", first.QuotedLow, first.QuotedHigh, quote)
		}
		if math.Abs(first.EngineSeconds-2) > 0.001 {
			t.Errorf("%f engine seconds, expected 2", first.EngineSeconds)
		}
	})
	t.Run("and so has each tool", func(t *testing.T) {
		if len(stats.Tools) != 1 || stats.Tools[0].ToolID != "sing" || stats.Tools[0].Service != "choir" || stats.Tools[0].Runs != 3 || stats.Tools[0].Succeeded != 2 {
			t.Errorf("%+v", stats.Tools)
		}
	})
	t.Run("a span without end is refused", func(t *testing.T) {
		for _, c := range []struct {
			length, step time.Duration
		}{{0, time.Second}, {time.Hour, time.Millisecond}, {1001 * time.Hour, time.Hour}, {-time.Hour, time.Hour}} {
			if _, err := h.Stats(t.Context(), from, from.Add(c.length), c.step); err == nil {
				t.Errorf("%s by %s was taken", c.length, c.step)
			}
		}
	})
	t.Run("runs that are not over are counted by state", func(t *testing.T) {
		counts, err := h.CountByState(t.Context())
		if err != nil || counts[runs.StatusSubmitted]+counts[runs.StatusQueued]+counts[runs.StatusRunning] != 1 || counts[runs.StatusSucceeded] != 0 {
			t.Errorf("%v (%v)", counts, err)
		}
	})
}
