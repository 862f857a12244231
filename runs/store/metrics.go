package store

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/runs"
)

// Metrics are what an operator's monitoring sees of runs.
type Metrics struct {
	Accepted   *prometheus.CounterVec
	ended      *prometheus.CounterVec
	seconds    *prometheus.HistogramVec
	cost       *prometheus.CounterVec
	estimates  *prometheus.CounterVec
	Absorbed   prometheus.Counter
	Unknown    *prometheus.CounterVec
	Deliveries *prometheus.CounterVec
	Open       *prometheus.GaugeVec
	Oldest     prometheus.Gauge
	Rescued    prometheus.Counter
	Problems   prometheus.Gauge
	Checked    prometheus.Gauge
}

func newMetrics(registerer prometheus.Registerer) (Metrics, error) {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "signalbox", Name: name, Help: help}, labels)
	}
	m := Metrics{
		Accepted:   counter("runs_accepted_total", "Runs taken on.", "service"),
		ended:      counter("runs_ended_total", "Runs that are over, by how.", "service", "status"),
		cost:       counter("runs_cost_dollars_total", "What users paid for runs.", "service"),
		estimates:  counter("tool_estimates_dollars_total", "What runs that succeeded were quoted (low, high) and came to (actual).", "tool", "what"),
		Unknown:    counter("runs_unknown_states_total", "States reported by providers that are not known.", "service"),
		Deliveries: counter("deliveries_total", "Deliveries of results, by outcome.", "platform", "outcome"),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "signalbox", Name: "run_seconds", Help: "Time from a run's acceptance to its end.",
			Buckets: []float64{.01, .05, .1, .5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600},
		}, []string{"service"}),
		Absorbed: prometheus.NewCounter(prometheus.CounterOpts{Namespace: "signalbox", Name: "runs_absorbed_dollars_total",
			Help: "What runs came to beyond the promised price."}),
		Open: prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "signalbox", Name: "runs_open",
			Help: "Runs that are not over, by status."}, []string{"status"}),
		Oldest: prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "signalbox", Name: "runs_queue_oldest_seconds",
			Help: "For how long the run that waits longest in the queue has waited; 0: none waits."}),
		Rescued: prometheus.NewCounter(prometheus.CounterOpts{Namespace: "signalbox", Name: "runs_rescued_total",
			Help: "Jobs taken over from processes that are gone, and jobs that were missing."}),
		Problems: prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "signalbox", Name: "ledger_problems",
			Help: "Problems that the last check of the ledger found; anything but 0 is an alarm."}),
		Checked: prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "signalbox", Name: "ledger_checked_timestamp_seconds",
			Help: "When the ledger was checked last."}),
	}
	var errs []error
	for _, c := range []prometheus.Collector{m.Accepted, m.ended, m.cost, m.estimates, m.Unknown, m.Deliveries, m.seconds, m.Absorbed, m.Open, m.Oldest, m.Rescued, m.Problems, m.Checked} {
		errs = append(errs, registerer.Register(c))
	}
	return m, errors.Join(errs...)
}

// Observe counts a run that is over.
func (m *Metrics) Observe(run *runs.Run) {
	m.ended.WithLabelValues(run.Tool.Service, string(run.Status)).Inc()
	m.cost.WithLabelValues(run.Tool.Service).Add(Dollars(run.Cost))
	if run.Status == runs.StatusSucceeded && run.Quote.Held() > 0 && run.Receipt != nil {
		for what, amount := range map[string]billing.NanoUSD{"low": run.Quote.Low, "high": run.Quote.High, "actual": run.Receipt.FullCost()} {
			m.estimates.WithLabelValues(run.Tool.ToolID, what).Add(Dollars(amount))
		}
	}
	if run.EndedAt != nil {
		m.seconds.WithLabelValues(run.Tool.Service).Observe(run.EndedAt.Sub(run.CreatedAt).Seconds())
	}
}
