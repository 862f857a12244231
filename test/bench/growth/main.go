// Command growth measures what a long history costs: complete runs, and what people open, in a house with a short history
// and in one with a long history, both with as many people and tools, by turns on one Postgres.
//
//	go run ./test/bench/growth [-history 1000000] [-short 10000] [-people 100000] [-tools 10000] [-clients 16] [-rounds 5] [-seconds 4] [-plans]
//
// It is called from the project's root. It starts a Postgres of its own in a temporary folder (-dir), with its usual durability once
// it is filled, and needs about 5 GB there for a million runs. What counts of runs is the ratio of processor times, of the rest the median.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/migrations"
	"github.com/signalbox/signalbox/test/bench/meter"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "growth:", err)
		os.Exit(1)
	}
}

func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("growth", flag.ContinueOnError)
	flags.IntVar(&o.history, "history", 1_000_000, "runs of the long history")
	flags.IntVar(&o.short, "short", 10_000, "runs of the short one")
	flags.IntVar(&o.people, "people", 100_000, "people of each house")
	flags.IntVar(&o.tools, "tools", 10_000, "tools of each house")
	flags.IntVar(&o.clients, "clients", 16, "clients that ask for runs")
	flags.IntVar(&o.rounds, "rounds", 5, "measurements with the long history, with one of the short one before and after each; 0: only lists and pages are measured")
	flags.DurationVar(&o.time, "time", 4*time.Second, "length of each measurement")
	flags.BoolVar(&o.plans, "plans", false, "print the plans of the statements that read")
	flags.StringVar(&o.dir, "dir", os.TempDir(), "where the database lies")
	flags.StringVar(&o.server, "server", "", "address of a database server to use, such as postgres://postgres@127.0.0.1:5432/postgres; its databases short and long are kept, and taken as they are the next time")
	flags.StringVar(&o.program, "program", "", "the built program, whose pages are measured; empty: it is built")
	return o, flags.Parse(args)
}

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	o, err := parse(args)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(o.dir, "signalbox-growth-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	dsn, filled := o.server, func() error { return nil }
	if dsn == "" {
		server, err := postgres.Start(ctx, postgres.Config{Dir: filepath.Join(dir, "postgres"), Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, server.Stop(context.WithoutCancel(ctx))) }()
		dsn = server.DSN()
		if filled, err = hurry(ctx, dsn); err != nil {
			return err
		}
	}
	short, err := newHouse(ctx, dsn, "short", o, o.short, out)
	if err != nil {
		return err
	}
	defer short.close()
	long, err := newHouse(ctx, dsn, "long", o, o.history, out)
	if err != nil {
		return err
	}
	defer long.close()
	if err := filled(); err != nil {
		return err
	}
	if o.rounds > 0 {
		if err := compareRuns(ctx, out, o, short, long); err != nil {
			return err
		}
	}
	for _, h := range []*house{short, long} {
		if err := h.newService(); err != nil {
			return err
		}
	}
	if err := compareReads(ctx, out, o, short, long); err != nil {
		return err
	}
	return measurePages(ctx, out, o, dir, long)
}

// compareRuns prints what a complete run costs in both houses, and what it reads of each table.
func compareRuns(ctx context.Context, out io.Writer, o options, short, long *house) error {
	for _, h := range []*house{short, long} {
		if err := h.open(ctx); err != nil {
			return err
		}
	}
	measure := func(h *house) func() (meter.Rate, error) {
		return func() (meter.Rate, error) {
			return meter.Measure(ctx, h.pool, func() (int64, time.Duration, error) { return h.complete(ctx, o) })
		}
	}
	if _, err := measure(long)(); err != nil { // the first one fills caches
		return err
	}
	rounds, err := meter.Alternate(o.rounds, measure(short), measure(long))
	if err != nil {
		return err
	}
	m := rounds.Median()
	fmt.Fprintf(out, "\na complete run, %d clients: %.0f/s and %d us with %d runs of history, %.0f/s and %d us with %d; by processor time %.2f times as dear, by rate %.2f times (%s)\n", o.clients,
		m.Base.PerSecond, m.Base.CPU.Microseconds(), o.short, m.Work.PerSecond, m.Work.CPU.Microseconds(), o.history, 1/m.CPURatio(), 1/m.Ratio(), rounds.Range())
	for _, h := range []*house{short, long} {
		if err := h.printScans(ctx, out); err != nil {
			return err
		}
		if err := h.Stop(ctx); err != nil {
			return err
		}
		began := time.Now()
		report, err := h.ledger.Check(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s: %v, checked in %v\n", h.name, report, time.Since(began).Round(time.Millisecond))
	}
	return nil
}

// connect makes a database and gives its pool, migrated.
func connect(ctx context.Context, dsn, name string, traced *tracer) (*pgxpool.Pool, error) {
	admin, err := postgres.Connect(ctx, dsn)
	if err != nil {
		return nil, err
	}
	defer admin.Close()
	var there bool
	if err := admin.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`, name).Scan(&there); err != nil {
		return nil, err
	}
	if !there {
		if _, err := admin.Exec(ctx, `CREATE DATABASE `+name); err != nil {
			return nil, err
		}
	}
	config := admin.Config()
	config.ConnConfig.Database, config.ConnConfig.Tracer = name, traced
	config.MaxConns = 30
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	_, err = migrations.Up(ctx, pool, slog.New(slog.DiscardHandler))
	return pool, err
}
