// Command runs measures how many complete runs a second the house gets through, from acceptance with its
// hold to the marked delivery, against single-row durable commits on the same Postgres from the same
// number of clients, one after the other in the same program.
//
//	go run ./test/bench/runs [-clients 8,32,64,128] [-rounds 5] [-seconds 2] [-users 100]
//
// It starts a Postgres of its own in a temporary folder, with its usual durability, unless DATABASE_URL
// names one; there it works in a database of its own, which it drops afterwards. Commits and runs take turns;
// the figures are those of the round with the median ratio. The ratio counts: absolute times mean nothing on shared machines.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/migrations"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/runner"
	"github.com/signalbox/signalbox/runs/runstest"
	"github.com/signalbox/signalbox/test/bench/meter"
)

// gcPercent lets 6 to 9 MB of garbage gather here, where the heap is small. In the program, whose heap is larger, it is about
// 5 MB: this flatters the ratio a little.
const gcPercent = 300

func main() {
	debug.SetGCPercent(gcPercent)
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type options struct {
	clients []int
	rounds  int
	time    time.Duration
	users   int
	profile string
}

func parse(args []string) (options, error) {
	flags := flag.NewFlagSet("runs", flag.ContinueOnError)
	clients := flags.String("clients", "8,32,64,128", "numbers of clients, one measurement for each")
	rounds := flags.Int("rounds", 5, "measurements of runs for each number of clients, with one of commits before and after each")
	seconds := flags.Float64("seconds", 2, "length of each measurement")
	users := flags.Int("users", 100, "users that the clients' runs belong to")
	profile := flags.String("cpuprofile", "", "file for a CPU profile of the runs of the last round")
	if err := flags.Parse(args); err != nil {
		return options{}, err
	}
	o := options{rounds: max(*rounds, 1), time: time.Duration(*seconds * float64(time.Second)), users: max(*users, 1), profile: *profile}
	for text := range strings.SplitSeq(*clients, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 1 {
			return options{}, fmt.Errorf("-clients: %q is no number of clients", text)
		}
		o.clients = append(o.clients, n)
	}
	return o, nil
}

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	o, err := parse(args)
	if err != nil {
		return err
	}
	pool, done, err := database(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	b, err := newBench(ctx, pool, o)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%8s %12s %10s %8s %12s %12s %12s %8s %14s\n", "clients", "commits/s", "runs/s", "ratio", "of rounds", "commit cpu us", "run cpu us", "ratio", "ms one by one")
	for _, clients := range o.clients {
		if err := b.measure(ctx, out, clients); err != nil {
			return err
		}
	}
	report, err := b.ledger.Check(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, report)
	return nil
}

// database gives a migrated database, and a function that takes it away again.
func database(ctx context.Context) (*pgxpool.Pool, func() error, error) {
	dsn, dir, stop := os.Getenv("DATABASE_URL"), "", func() error { return nil }
	if dsn == "" {
		var err error
		if dir, err = os.MkdirTemp("", "signalbox-bench-"); err != nil {
			return nil, nil, err
		}
		server, err := postgres.Start(ctx, postgres.Config{Dir: filepath.Join(dir, "postgres"), Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			return nil, nil, errors.Join(err, os.RemoveAll(dir))
		}
		dsn = server.DSN()
		stop = func() error { return errors.Join(server.Stop(context.WithoutCancel(ctx)), os.RemoveAll(dir)) }
	}
	name := "signalbox_bench_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	pool, drop, err := ownDatabase(ctx, dsn, name)
	if err != nil {
		return nil, nil, errors.Join(err, stop())
	}
	return pool, func() error { return errors.Join(drop(), stop()) }, nil
}

func ownDatabase(ctx context.Context, dsn, name string) (*pgxpool.Pool, func() error, error) {
	admin, err := postgres.Connect(ctx, dsn)
	if err != nil {
		return nil, nil, err
	}
	if _, err := admin.Exec(ctx, `CREATE DATABASE `+name); err != nil {
		admin.Close()
		return nil, nil, err
	}
	config := admin.Config()
	config.ConnConfig.Database = name
	config.MaxConns = 60
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err == nil {
		_, err = migrations.Up(ctx, pool, slog.New(slog.DiscardHandler))
	}
	drop := func() error {
		if pool != nil {
			pool.Close()
		}
		_, err := admin.Exec(context.WithoutCancel(ctx), `DROP DATABASE `+name+` WITH (FORCE)`)
		admin.Close()
		return err
	}
	if err != nil {
		return nil, nil, errors.Join(err, drop())
	}
	return pool, drop, nil
}

// bench is the house under measurement.
type bench struct {
	options
	pool     *pgxpool.Pool
	ledger   *billing.Ledger
	registry *catalog.Registry
	users    []string
}

func newBench(ctx context.Context, pool *pgxpool.Pool, o options) (*bench, error) {
	b := &bench{options: o, pool: pool, ledger: billing.NewLedger(pool)}
	var err error
	b.registry, err = runstest.Registry(registry.Tool{
		ToolID: "bench", Service: "bench", DisplayName: "Bench", CommandName: "/bench",
		InputSchema: registry.InputSchema{
			{Name: "prompt", Type: registry.TypeString, Required: true},
			{Name: "seed", Type: registry.TypeNumber, Seed: true, Integer: true},
			{Name: "steps", Type: registry.TypeNumber, Integer: true, Default: json.Number("20")},
		},
		OutputSchema: registry.OutputSchema{{Name: "result", Type: "text"}},
		CostingModel: &registry.CostingModel{Rate: "0.000337", Unit: registry.UnitSecond, RateSource: registry.RateStatic},
	})
	if err != nil {
		return nil, err
	}
	_, err = pool.Exec(ctx, `CREATE TABLE single_rows (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, client int NOT NULL, note text NOT NULL)`)
	if err != nil {
		return nil, err
	}
	for range o.users {
		user := uuid.NewString()
		b.users = append(b.users, user)
		err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
			return errors.Join(b.ledger.EnsureWallet(ctx, tx, user), b.ledger.Grant(ctx, tx, user, 1_000_000*billing.Dollar, user, "bench"))
		})
		if err != nil {
			return nil, err
		}
	}
	_, err = pool.Exec(ctx, `ANALYZE`) // as Postgres does by itself within a minute
	return b, err
}

func (b *bench) measure(ctx context.Context, out io.Writer, clients int) error {
	measured, err := meter.Alternate(b.rounds,
		func() (meter.Rate, error) { return b.rate(ctx, clients, b.commits) },
		func() (meter.Rate, error) { return b.withService(ctx, clients, b.complete) })
	if err != nil {
		return err
	}
	single, err := b.withService(ctx, clients, b.oneByOne)
	if err != nil {
		return err
	}
	m := measured.Median()
	_, err = fmt.Fprintf(out, "%8d %12.0f %10.0f %8.2f %12s %12d %12d %8.2f %14.1f\n", clients, m.Base.PerSecond, m.Work.PerSecond, m.Ratio(), measured.Range(),
		m.Base.CPU.Microseconds(), m.Work.CPU.Microseconds(), m.CPURatio(), 1000*float64(clients)/single.PerSecond)
	return err
}

// rate measures f, which gives how often it did something and the time that took.
func (b *bench) rate(ctx context.Context, clients int, f func(context.Context, int) (int64, time.Duration, error)) (meter.Rate, error) {
	return meter.Measure(ctx, b.pool, func() (int64, time.Duration, error) { return f(ctx, clients) })
}

// loop lets clients call f until the time is over and gives the calls per second.
func (b *bench) loop(ctx context.Context, clients int, f func(ctx context.Context, client int) error) (int64, time.Duration, error) {
	begun, deadline := time.Now(), time.Now().Add(b.time)
	var calls atomic.Int64
	var wait sync.WaitGroup
	errs := make([]error, clients)
	for client := range clients {
		wait.Go(func() {
			for time.Now().Before(deadline) && errs[client] == nil {
				errs[client] = f(ctx, client)
				calls.Add(1)
			}
		})
	}
	wait.Wait()
	return calls.Load(), time.Since(begun), errors.Join(errs...)
}

func (b *bench) commits(ctx context.Context, clients int) (int64, time.Duration, error) {
	return b.loop(ctx, clients, func(ctx context.Context, client int) error {
		_, err := b.pool.Exec(ctx, `INSERT INTO single_rows (client, note) VALUES ($1, 'a row')`, client)
		return err
	})
}

// engine is done with every run at once. Real ones keep their memory of runs elsewhere, so it has none.
type engine struct{}

// Submit takes a run.
func (engine) Submit(_ context.Context, c registry.Call) (registry.Ticket, error) {
	return registry.Ticket{RunID: c.RunID, Service: c.Tool.Service, ProviderID: c.Handle}, nil
}

// Poll gives a run's result.
func (engine) Poll(context.Context, registry.Ticket) (registry.Progress, error) {
	return registry.Progress{State: registry.RunSucceeded, Result: &registry.Result{
		Outputs: []registry.Output{runstest.Text("result", "done")}, Usage: registry.Usage{RunTime: 1500 * time.Millisecond},
	}}, nil
}

// inbox takes results at once.
type inbox struct {
	awaited  atomic.Bool // by wait; else nothing is kept
	arrivals sync.Map    // run id: chan struct{}, closed when the run has arrived
}

// Deliver takes the run.
func (i *inbox) Deliver(_ context.Context, run runs.Run) error {
	if run.Status != runs.StatusSucceeded {
		return fmt.Errorf("run %s is %s", run.ID, run.Status)
	}
	if i.awaited.Load() {
		close(i.arrival(run.ID))
	}
	return nil
}

func (i *inbox) arrival(runID string) chan struct{} {
	arrival, _ := i.arrivals.LoadOrStore(runID, make(chan struct{}))
	return arrival.(chan struct{})
}

func (i *inbox) wait(ctx context.Context, runID string) error {
	defer i.arrivals.Delete(runID)
	select {
	case <-i.arrival(runID):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// withService measures f with a service that has begun to work. The first check of the books, which comes once in ten
// minutes and belongs to no run, is over by then.
func (b *bench) withService(ctx context.Context, clients int, f func(context.Context, *house, int) (int64, time.Duration, error)) (meter.Rate, error) {
	h, err := b.open(ctx)
	if err != nil {
		return meter.Rate{}, err
	}
	return b.rate(ctx, clients, func(ctx context.Context, clients int) (int64, time.Duration, error) { return f(ctx, h, clients) })
}

// house is a service at work and where its results go.
type house struct {
	*runner.Service
	inbox *inbox
}

func (b *bench) open(ctx context.Context) (*house, error) {
	h, metrics := &house{inbox: &inbox{}}, prometheus.NewRegistry()
	var err error
	h.Service, err = runner.New(runs.Config{
		Metrics: metrics, Pool: b.pool, Registry: b.registry, Ledger: b.ledger, Assets: &runstest.Assets{},
		Providers:  map[string]runs.Provider{"bench": {Submitter: engine{}}},
		Deliverers: map[string]runs.Deliverer{"bench": h.inbox},
		Logger:     slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
	})
	if err != nil {
		return nil, err
	}
	if err := h.Start(ctx); err != nil {
		return nil, err
	}
	for checked := false; !checked; time.Sleep(10 * time.Millisecond) {
		if checked, err = booksChecked(metrics); err != nil {
			return nil, errors.Join(err, h.Stop(ctx))
		}
	}
	return h, nil
}

// booksChecked reports whether the service has checked the books since it started.
func booksChecked(metrics prometheus.Gatherer) (bool, error) {
	families, err := metrics.Gather()
	for _, family := range families {
		if family.GetName() == "signalbox_ledger_checked_timestamp_seconds" {
			return family.GetMetric()[0].GetGauge().GetValue() > 0, err
		}
	}
	return false, err
}

func (b *bench) accept(ctx context.Context, h *house, client, n int) (runs.Run, error) {
	return h.Accept(ctx, runs.Request{
		AccountID: b.users[(client+n)%len(b.users)], ToolID: "bench", Origin: runs.Origin{Platform: "bench"},
		Values: map[runs.Source]map[string]any{runs.FromArgument: {"prompt": "a red bicycle"}, runs.FromPreference: {}},
	})
}

// complete lets the clients accept runs as fast as they can, and waits until all are delivered and marked so.
func (b *bench) complete(ctx context.Context, h *house, clients int) (int64, time.Duration, error) {
	if b.profile != "" {
		file, err := os.Create(b.profile)
		if err != nil {
			return 0, 0, err
		}
		defer file.Close()
		if err := pprof.StartCPUProfile(file); err != nil {
			return 0, 0, err
		}
		defer pprof.StopCPUProfile()
	}
	begun := time.Now()
	counts := make([]int, clients)
	n, _, err := b.loop(ctx, clients, func(ctx context.Context, client int) error {
		counts[client]++
		_, err := b.accept(ctx, h, client, counts[client])
		return err
	})
	if err == nil {
		err = b.drained(ctx)
	}
	took := time.Since(begun)
	return n, took, errors.Join(err, h.Stop(ctx))
}

// drained waits until no run is open or undelivered.
func (b *bench) drained(ctx context.Context) error {
	for left := 1; left > 0; {
		time.Sleep(10 * time.Millisecond)
		err := b.pool.QueryRow(ctx, `SELECT (SELECT count(*) FROM runs WHERE ended_at IS NULL) + (SELECT count(*) FROM runs WHERE deliverable AND ended_at IS NOT NULL AND delivered_at IS NULL)`).Scan(&left)
		if err != nil {
			return err
		}
	}
	return nil
}

// oneByOne lets each client wait for the delivery of its run before it asks for the next.
func (b *bench) oneByOne(ctx context.Context, h *house, clients int) (int64, time.Duration, error) {
	h.inbox.awaited.Store(true)
	counts := make([]int, clients)
	n, took, err := b.loop(ctx, clients, func(ctx context.Context, client int) error {
		counts[client]++
		run, err := b.accept(ctx, h, client, counts[client])
		if err != nil {
			return err
		}
		return h.inbox.wait(ctx, run.ID)
	})
	return n, took, errors.Join(err, h.Stop(ctx))
}
