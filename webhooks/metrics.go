package webhooks

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// inboxMetrics are what an operator's monitoring sees of the inbox.
type inboxMetrics struct {
	received, verified, rejected, duplicates, ended *prometheus.CounterVec
	lag                                             *prometheus.HistogramVec
}

func newInboxMetrics(registerer prometheus.Registerer) (inboxMetrics, error) {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "signalbox", Subsystem: "webhooks", Name: name, Help: help}, labels)
	}
	m := inboxMetrics{
		received:   counter("received_total", "Callbacks that came to a service's address.", "service"),
		verified:   counter("verified_total", "Callbacks that are the service's own.", "service"),
		rejected:   counter("rejected_total", "Callbacks that were not taken, by reason.", "service", "reason"),
		duplicates: counter("duplicates_total", "Callbacks that were stored before.", "service"),
		ended:      counter("ended_total", "Callbacks that were worked on, by what became of them: done, orphan, dead.", "service", "status"),
		lag: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "signalbox", Subsystem: "webhooks", Name: "lag_seconds", Help: "Time from receiving a callback to being done with it.",
			Buckets: []float64{.005, .02, .1, .5, 1, 2, 5, 15, 60, 300, 900},
		}, []string{"service"}),
	}
	var errs []error
	for _, c := range []prometheus.Collector{m.received, m.verified, m.rejected, m.duplicates, m.ended, m.lag} {
		errs = append(errs, registerer.Register(c))
	}
	return m, errors.Join(errs...)
}
