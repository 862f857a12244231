package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/runner"
	"github.com/signalbox/signalbox/runs/runstest"
)

type options struct {
	history, short, people, tools int
	clients, rounds               int
	time                          time.Duration
	plans                         bool
	dir, program, server          string
}

const service = "bench"

// house is a database with a history, and the service that works on it.
type house struct {
	*runner.Service
	name     string
	pool     *pgxpool.Pool
	traced   *tracer
	ledger   *billing.Ledger
	registry *catalog.Registry
	metrics  *prometheus.Registry
	people   []string // of those that were measured, the one with most runs first
	measured int64    // complete runs
}

func newHouse(ctx context.Context, dsn, name string, o options, history int, out io.Writer) (*house, error) {
	h := &house{name: name, traced: &tracer{}}
	var err error
	if h.pool, err = connect(ctx, dsn, name, h.traced); err != nil {
		return nil, err
	}
	h.ledger = billing.NewLedger(h.pool)
	tools := make([]registry.Tool, o.tools)
	for i := range tools {
		tools[i] = tool(i)
	}
	if h.registry, err = runstest.Registry(tools...); err != nil {
		return nil, err
	}
	began := time.Now()
	if there, err := h.filled(ctx); err != nil {
		return nil, err
	} else if there {
		return h, h.meet(ctx, o)
	}
	if err := h.fill(ctx, o, history); err != nil {
		return nil, fmt.Errorf("fill the %s history: %w", name, err)
	}
	var size string
	err = h.pool.QueryRow(ctx, `SELECT pg_size_pretty(pg_database_size(current_database()))`).Scan(&size)
	fmt.Fprintf(out, "%s: %d runs of %d people with %d tools, %s, filled in %v\n", name, history, o.people, o.tools, size, time.Since(began).Round(time.Second))
	return h, err
}

func (h *house) close() { h.pool.Close() }

func toolID(i int) string { return fmt.Sprintf("bench%05d", i) }

func tool(i int) registry.Tool {
	return registry.Tool{
		ToolID: toolID(i), Service: service, DisplayName: fmt.Sprintf("Bench %d", i), CommandName: "/" + toolID(i),
		InputSchema: registry.InputSchema{
			{Name: "prompt", Type: registry.TypeString, Required: true},
			{Name: "seed", Type: registry.TypeNumber, Seed: true, Integer: true},
			{Name: "steps", Type: registry.TypeNumber, Integer: true, Default: json.Number("20")},
		},
		OutputSchema: registry.OutputSchema{{Name: "picture", Type: "image"}},
		CostingModel: &registry.CostingModel{Rate: "0.000337", Unit: registry.UnitSecond, RateSource: registry.RateStatic},
	}
}

// engine is done with every run at once.
type engine struct{}

// Submit takes a run.
func (engine) Submit(_ context.Context, c registry.Call) (registry.Ticket, error) {
	return registry.Ticket{RunID: c.RunID, Service: c.Tool.Service, ProviderID: c.Handle}, nil
}

// Poll gives a run's result.
func (engine) Poll(context.Context, registry.Ticket) (registry.Progress, error) {
	return registry.Progress{State: registry.RunSucceeded, Result: &registry.Result{
		Outputs: []registry.Output{runstest.File("picture", "image", "picture.png", "a picture")}, Usage: registry.Usage{RunTime: 1500 * time.Millisecond},
	}}, nil
}

// post takes results at once.
type post struct{}

// Deliver takes the run.
func (post) Deliver(_ context.Context, run runs.Run) error {
	if run.Status != runs.StatusSucceeded {
		return fmt.Errorf("run %s is %s", run.ID, run.Status)
	}
	return nil
}

// open lets the house work. The first check of the books, which comes once in ten minutes and belongs to no run, is over then.
func (h *house) open(ctx context.Context) error {
	if err := h.newService(); err != nil {
		return err
	}
	if err := h.Start(ctx); err != nil {
		return err
	}
	for checked := false; !checked; time.Sleep(10 * time.Millisecond) {
		var err error
		if checked, err = h.booksChecked(); err != nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err(), h.Stop(context.WithoutCancel(ctx)))
		}
	}
	return nil
}

// newService makes a service that is not at work yet, and reads.
func (h *house) newService() (err error) {
	h.metrics = prometheus.NewRegistry()
	h.Service, err = runner.New(runs.Config{
		Metrics: h.metrics, Pool: h.pool, Registry: h.registry, Ledger: h.ledger, Assets: &runstest.Assets{},
		Providers:  map[string]runs.Provider{service: {Submitter: engine{}}},
		Deliverers: map[string]runs.Deliverer{service: post{}},
		Logger:     slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
	})
	return err
}

func (h *house) booksChecked() (bool, error) {
	families, err := h.metrics.Gather()
	for _, family := range families {
		if family.GetName() == "signalbox_ledger_checked_timestamp_seconds" {
			return family.GetMetric()[0].GetGauge().GetValue() > 0, err
		}
	}
	return false, err
}

func (h *house) accept(ctx context.Context, account, toolID string) (runs.Run, error) {
	return h.Accept(ctx, runs.Request{
		AccountID: account, ToolID: toolID, Origin: runs.Origin{Platform: service},
		Values: map[runs.Source]map[string]any{runs.FromArgument: {"prompt": "a red bicycle by the sea"}, runs.FromPreference: {}},
	})
}

// complete lets clients accept runs as fast as they can, and waits until all are delivered and marked so.
func (h *house) complete(ctx context.Context, o options) (int64, time.Duration, error) {
	began := time.Now()
	var n atomic.Int64
	var wait sync.WaitGroup
	errs := make([]error, o.clients)
	for client := range o.clients {
		wait.Go(func() {
			for i := client; time.Since(began) < o.time && errs[client] == nil; i += o.clients {
				_, errs[client] = h.accept(ctx, h.people[i%len(h.people)], toolID(i%10))
				n.Add(1)
			}
		})
	}
	wait.Wait()
	err := errors.Join(errs...)
	for left := true; left && err == nil; time.Sleep(10 * time.Millisecond) {
		err = h.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM runs WHERE ended_at IS NULL) OR EXISTS (
			SELECT FROM runs WHERE id >= $1::uuid AND deliverable AND ended_at IS NOT NULL AND delivered_at IS NULL)`, idAt(began)).Scan(&left)
	}
	h.measured += n.Load()
	return n.Load(), time.Since(began), err
}

// idAt is the smallest id of a run of that time.
func idAt(t time.Time) string {
	id := fmt.Sprintf("%012x", t.UnixMilli())
	return uuid.MustParse(id + strings.Repeat("0", 20)).String()
}

// printScans prints what was read of tables from end to end, in rows for each complete run.
func (h *house) printScans(ctx context.Context, out io.Writer) error {
	h.pool.Reset() // connections that end tell what they counted
	time.Sleep(2 * time.Second)
	rows, err := h.pool.Query(ctx, `SELECT relname, seq_scan, seq_tup_read FROM pg_stat_user_tables WHERE seq_tup_read > $1 ORDER BY seq_tup_read DESC LIMIT 5`, h.measured)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var table string
		var scans, read int64
		if err := rows.Scan(&table, &scans, &read); err != nil {
			return err
		}
		fmt.Fprintf(out, "%s: %s was read from end to end %d times, %.1f rows for each of %d runs\n", h.name, table, scans, float64(read)/float64(h.measured), h.measured)
	}
	return rows.Err()
}
