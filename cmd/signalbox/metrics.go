package main

import (
	"context"
	"net/http"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/signalbox/signalbox/comfy"
)

// latencies are the bounds of histograms of what people wait for, in seconds.
var latencies = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}

// registerMetrics adds what an operator watches of the program as a whole; the rooms add their own.
func (a *app) registerMetrics() {
	gauge := func(name, help string, read func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "signalbox_" + name, Help: help}, read)
	}
	built := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "signalbox_build_info", Help: "1, with what this program was built from."},
		[]string{"version", "revision", "goversion"})
	built.WithLabelValues(version, revision(), runtime.Version()).Set(1)
	a.metrics.MustRegister(
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), built,
		poolCollector{a.db.pool}, enginesCollector{a.fleet},
	)
	if a.chat.discord != nil {
		a.metrics.MustRegister(gauge("discord_gateway_connections", "Connections to Discord's gateway over which events come.",
			func() float64 { return float64(a.chat.discord.Connected()) }))
	}
}

// revision is the commit that this program was built from, as the Go tool noted it.
func revision() string {
	info, _ := debug.ReadBuildInfo()
	if info != nil {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return "unknown"
}

// acknowledgements measures how long people on chat platforms wait for a first sign.
func (a *app) acknowledgements() func(platform string, after time.Duration) {
	seconds := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "signalbox_acknowledgement_seconds", Help: "Time from the reception of a message or a press to the first answer.", Buckets: latencies,
	}, []string{"platform"})
	a.metrics.MustRegister(seconds)
	return func(platform string, after time.Duration) { seconds.WithLabelValues(platform).Observe(after.Seconds()) }
}

// measured measures requests by the pattern that serves them: addresses hold ids.
func (a *app) measured() func(http.Handler) http.Handler {
	seconds := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "signalbox_http_seconds", Help: "Time of requests until their answer begins, by route and status.", Buckets: latencies,
	}, []string{"route", "status"})
	a.metrics.MustRegister(seconds)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			received := time.Now()
			next.ServeHTTP(&begun{ResponseWriter: w, tell: func(status int) {
				seconds.WithLabelValues(r.Pattern, strconv.Itoa(status)).Observe(time.Since(received).Seconds())
			}}, r)
		})
	}
}

// begun tells when an answer begins: event streams last for hours.
type begun struct {
	http.ResponseWriter
	tell func(status int)
}

func (b *begun) WriteHeader(status int) {
	if b.tell != nil && status >= http.StatusOK {
		b.tell(status)
		b.tell = nil
	}
	b.ResponseWriter.WriteHeader(status)
}

func (b *begun) Write(p []byte) (int, error) {
	if b.tell != nil {
		b.tell(http.StatusOK)
		b.tell = nil
	}
	return b.ResponseWriter.Write(p)
}

// Flush is for handlers that ask for an http.Flusher.
func (b *begun) Flush() {
	if b.tell != nil {
		b.WriteHeader(http.StatusOK)
	}
	_ = http.NewResponseController(b.ResponseWriter).Flush()
}

// Unwrap is for http.ResponseController.
func (b *begun) Unwrap() http.ResponseWriter { return b.ResponseWriter }

// poolCollector tells of the connections to the database.
type poolCollector struct{ pool *pgxpool.Pool }

var (
	poolConnections = prometheus.NewDesc("signalbox_database_connections", "Connections to the database, by state.", []string{"state"}, nil)
	poolMost        = prometheus.NewDesc("signalbox_database_connections_max", "How many connections to the database there may be.", nil, nil)
	poolWaited      = prometheus.NewDesc("signalbox_database_wait_seconds_total", "Time spent waiting for a connection to the database.", nil, nil)
)

func (c poolCollector) Describe(d chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, d) }

func (c poolCollector) Collect(m chan<- prometheus.Metric) {
	s := c.pool.Stat()
	m <- prometheus.MustNewConstMetric(poolConnections, prometheus.GaugeValue, float64(s.AcquiredConns()), "used")
	m <- prometheus.MustNewConstMetric(poolConnections, prometheus.GaugeValue, float64(s.IdleConns()), "idle")
	m <- prometheus.MustNewConstMetric(poolMost, prometheus.GaugeValue, float64(s.MaxConns()))
	m <- prometheus.MustNewConstMetric(poolWaited, prometheus.CounterValue, s.AcquireDuration().Seconds())
}

// enginesCollector tells of the ComfyUI servers.
type enginesCollector struct{ fleet *comfy.Fleet }

var engineUp = prometheus.NewDesc("signalbox_engine_up", "1 where a ComfyUI server answers, else 0.", []string{"engine"}, nil)

func (c enginesCollector) Describe(d chan<- *prometheus.Desc) { d <- engineUp }

func (c enginesCollector) Collect(m chan<- prometheus.Metric) {
	for _, e := range c.fleet.Status() {
		up := 0.0
		if e.Up {
			up = 1
		}
		m <- prometheus.MustNewConstMetric(engineUp, prometheus.GaugeValue, up, e.Name)
	}
}

// startMetrics serves the figures at an address of their own, where the operator wants that.
func (a *app) startMetrics(context.Context) error {
	a.registerMetrics()
	if a.figures == nil {
		return nil
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(a.metrics, promhttp.HandlerOpts{}))
	a.serve("metrics", a.figures, mux)
	return nil
}
