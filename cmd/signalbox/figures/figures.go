// Package figures exports figures of the whole program for Prometheus; the rooms add their own.
package figures

import (
	"context"
	"math"
	"net/http"
	"runtime"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/signalbox/signalbox/cmd/signalbox/build"
	"github.com/signalbox/signalbox/comfy"
	"github.com/signalbox/signalbox/internal/assets"
)

// latencies are the bounds of histograms of what people wait for, in seconds.
var latencies = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}

// Config is what the figures are about.
type Config struct {
	Version string // of the program
	Pool    *pgxpool.Pool
	Fleet   *comfy.Fleet
	Gateway func() int // connections to Discord's gateway; nil: Discord is off
}

// Register adds the figures of the process, its build, the database and the engines.
func Register(to prometheus.Registerer, c Config) {
	built := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "signalbox_build_info", Help: "1, with what this program was built from."},
		[]string{"version", "revision", "goversion"})
	built.WithLabelValues(c.Version, build.Revision(), runtime.Version()).Set(1)
	to.MustRegister(
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), built,
		poolCollector{c.Pool}, enginesCollector{c.Fleet},
	)
	if c.Gateway != nil {
		to.MustRegister(gauge("discord_gateway_connections", "Connections to Discord's gateway over which events come.",
			func() float64 { return float64(c.Gateway()) }))
	}
}

func gauge(name, help string, read func() float64) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "signalbox_" + name, Help: help}, read)
}

// Tools tells how many tools there are, and how many of those in menus can be used now.
func Tools(to prometheus.Registerer, all, ready func() int) {
	to.MustRegister(
		gauge("tools", "Tools in the catalogue.", func() float64 { return float64(all()) }),
		gauge("tools_offered", "Tools in menus that can be used now.", func() float64 { return float64(ready()) }),
	)
}

// Files tells what files take. While the database is away there is no figure.
func Files(to prometheus.Registerer, pool *pgxpool.Pool) {
	total := assets.NewTotal(pool)
	figure := func(of func(assets.Space) int64) func() float64 {
		return func() float64 {
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
			defer cancel()
			space, err := total.Get(ctx, time.Now())
			if err != nil {
				return math.NaN()
			}
			return float64(of(space))
		}
	}
	to.MustRegister(
		gauge("files_bytes", "Bytes that all stored files take.", figure(func(s assets.Space) int64 { return s.Bytes })),
		gauge("files", "Stored files.", figure(func(s assets.Space) int64 { return s.Files })),
	)
}

// Acknowledgements measures how long people on chat platforms wait for a first sign.
func Acknowledgements(to prometheus.Registerer) func(platform string, after time.Duration) {
	seconds := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "signalbox_acknowledgement_seconds", Help: "Time from the reception of a message or a press to the first answer.", Buckets: latencies,
	}, []string{"platform"})
	to.MustRegister(seconds)
	return func(platform string, after time.Duration) { seconds.WithLabelValues(platform).Observe(after.Seconds()) }
}

// Calls measures calls to a chat platform's API, by what was called and the status of the answer. name is that of the
// platform, title its name for people, and by the label of what was called.
func Calls(to prometheus.Registerer, name, title, by string) func(call string, status int, took time.Duration) {
	seconds := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "signalbox_" + name + "_call_seconds", Help: "Time of calls to " + title + ", by " + by + " and status (0: no answer).",
		Buckets: prometheus.ExponentialBuckets(0.005, 4, 8),
	}, []string{by, "status"})
	to.MustRegister(seconds)
	return func(call string, status int, took time.Duration) {
		seconds.WithLabelValues(call, strconv.Itoa(status)).Observe(took.Seconds())
	}
}

// Requests measures requests by the pattern that serves them: addresses hold ids.
func Requests(to prometheus.Registerer) func(http.Handler) http.Handler {
	seconds := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "signalbox_http_seconds", Help: "Time of requests until their answer begins, by route and status.", Buckets: latencies,
	}, []string{"route", "status"})
	to.MustRegister(seconds)
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
