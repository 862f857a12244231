package console

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// span is a stretch of time that ends now, with the steps its figures are given in.
type span struct {
	Name, Title  string
	Length, Step time.Duration
}

const day = 24 * time.Hour

var spans = []span{
	{"1h", "Last hour", time.Hour, time.Minute},
	{"24h", "Last 24 hours", day, 30 * time.Minute},
	{"7d", "Last 7 days", 7 * day, 3 * time.Hour},
	{"30d", "Last 30 days", 30 * day, 12 * time.Hour},
	{"90d", "Last 90 days", 90 * day, day},
}

func spanNamed(name string) (span, bool) {
	i := slices.IndexFunc(spans, func(s span) bool { return s.Name == name })
	if i < 0 {
		return span{}, false
	}
	return spans[i], true
}

func spanOr(name, otherwise string) span {
	if s, ok := spanNamed(name); ok {
		return s
	}
	s, _ := spanNamed(otherwise)
	return s
}

// bounds are the span's ends on whole steps, the last one still filling.
func (s span) bounds(now time.Time) (from, to time.Time) {
	to = now.UTC().Truncate(s.Step).Add(s.Step)
	return to.Add(-s.Length), to
}

func (c *Console) stats(ctx context.Context, s span) (runs.Stats, error) {
	from, to := s.bounds(c.cfg.Now())
	return c.cfg.Runs.Stats(ctx, from, to, s.Step)
}

// plot is one drawing over columns of the table of figures.
type plot struct {
	ID, Title, Unit string
	Columns         []string
	Kind            string // line or bars
}

var allPlots = []plot{
	{"plot-runs", "Runs", "count", []string{"succeeded", "failed"}, "bars"},
	{"plot-latency", "Time from acceptance to result", "seconds", []string{"p50", "p95"}, "line"},
	{"plot-revenue", "Revenue and cost", "usd", []string{"revenue", "cost"}, "line"},
	{"plot-failures", "Failures", "percent", []string{"failures"}, "line"},
	{"plot-gpu", "Engine seconds", "seconds", []string{"engine"}, "bars"},
}

// plotsView is the page of figures over time.
type plotsView struct {
	Span    span
	Spans   []span
	Plots   []plot
	Buckets []runs.Bucket
	Total   runs.Figures
	Tools   []runs.ToolStats
}

func (c *Console) plots(w http.ResponseWriter, r *http.Request, who users.Account) error {
	v := plotsView{Span: spanOr(r.URL.Query().Get("span"), "24h"), Spans: spans, Plots: allPlots}
	stats, err := c.stats(r.Context(), v.Span)
	if err != nil {
		return err
	}
	v.Buckets, v.Tools, v.Total = stats.Buckets, stats.Tools, sum(stats.Buckets)
	return c.show(w, r, who, "plots", view{Title: "Plots", Place: "plots", Live: true, Data: v})
}

// sum adds figures up. Percentiles cannot be added: they stay out.
func sum(buckets []runs.Bucket) runs.Figures {
	var total runs.Figures
	for _, b := range buckets {
		total.Runs += b.Runs
		total.Succeeded += b.Succeeded
		total.Failed += b.Failed
		total.Revenue += b.Revenue
		total.Cost += b.Cost
		total.EngineSeconds += b.EngineSeconds
	}
	return total
}

// failureShare is how many of a hundred runs failed; canceled ones do not count.
func failureShare(f runs.Figures) float64 {
	if f.Succeeded+f.Failed == 0 {
		return 0
	}
	return 100 * float64(f.Failed) / float64(f.Succeeded+f.Failed)
}
