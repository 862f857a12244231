//go:build unix

// Command kills ends the program with SIGKILL while programs order of it, starts it again, and measures how long it takes from the kill
// until something ordered after it is done. In the end every order must be one run that succeeded and was paid once.
//
//	go run ./test/bench/kills [-kills 1000] [-clients 4]
//
// It is called from the project's root, and builds the program. The database is the program's own, which ends and starts with it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/test/bench/program"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	kills := flag.Int("kills", 1000, "how often the program is killed")
	clients := flag.Int("clients", 4, "programs that order, each one thing after the other")
	flag.Parse()
	if err := run(ctx, max(*kills, 1), *clients, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

const (
	// bar is how soon the program must work again.
	bar = 10 * time.Second
	// patience bounds one order.
	patience = time.Minute
	// within is the time after a recovery in which the program is killed.
	within = 700 * time.Millisecond
	pause  = 50 * time.Millisecond // between two tries
)

func run(ctx context.Context, kills, clients int, out io.Writer) (err error) {
	dir, err := program.Folder("sbkills")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	binary, err := program.Build(ctx, ".", dir)
	if err != nil {
		return err
	}
	address, err := program.FreeAddress()
	if err != nil {
		return err
	}
	p := &program.Process{Binary: binary, Dir: filepath.Join(dir, "data"), Address: address, Env: []string{"SIGNUP_CREDIT_USD=1000", "LOG_LEVEL=error"}}
	s := &siege{Process: p}
	defer func() { err = errors.Join(err, s.Stop()) }()
	if err := s.Up(ctx); err != nil {
		return err
	}
	return s.measure(ctx, kills, clients, out)
}

// siege is the program that is killed.
type siege struct{ *program.Process }

func (s *siege) measure(ctx context.Context, kills, clients int, out io.Writer) error {
	loading, stop := context.WithCancel(ctx)
	defer stop()
	var load sync.WaitGroup
	ordered := make([]int, clients)
	failed := make([]error, clients)
	keys := make([]string, clients+1)
	for i := range keys {
		var err error
		if keys[i], err = s.NewKey(ctx, fmt.Sprint("client", i)); err != nil {
			return err
		}
	}
	for i := range clients {
		load.Go(func() {
			for loading.Err() == nil && failed[i] == nil {
				failed[i] = s.complete(ctx, keys[i], fmt.Sprintf("client%d-%d", i, ordered[i]))
				ordered[i]++
			}
		})
	}
	var took []time.Duration
	for n := range kills {
		select {
		case <-time.After(rand.N(within)): // a random moment is meant
		case <-ctx.Done():
			return ctx.Err()
		}
		killed := time.Now()
		s.Kill()
		if err := s.Up(ctx); err != nil {
			return err
		}
		if err := s.complete(ctx, keys[clients], fmt.Sprint("after kill ", n)); err != nil {
			return err
		}
		took = append(took, time.Since(killed))
		if (n+1)%100 == 0 {
			report(out, took, "so far")
		}
	}
	stop()
	load.Wait()
	total := kills
	for _, n := range ordered {
		total += n
	}
	worst := report(out, took, fmt.Sprintf("under %d orders", total))
	err := errors.Join(append(failed, s.check(ctx, total, out))...)
	if worst > bar {
		err = errors.Join(err, fmt.Errorf("a recovery took %v, above %v", worst, bar))
	}
	return err
}

// report prints how long recoveries took, and gives the longest.
func report(out io.Writer, took []time.Duration, note string) time.Duration {
	sorted := slices.Sorted(slices.Values(took))
	at := func(percent int) time.Duration { return sorted[(len(sorted)-1)*percent/100].Round(time.Millisecond) }
	fmt.Fprintf(out, "%d kills %s; from the kill to the end of a run ordered after it: median %v, p95 %v, worst %v\n", len(sorted), note, at(50), at(95), at(100))
	return at(100)
}

// complete places an order, again and again with its key until it is answered, and waits for its success.
func (s *siege) complete(ctx context.Context, key, once string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var run struct{ RunID, Status string }
	order := program.Request{Method: http.MethodPost, Path: "/api/run/wallpaper", Key: key, Once: once, Body: map[string]any{"inputs": map[string]any{"width": 64, "height": 64}}}
	for tick := time.NewTicker(pause); ; {
		var err error
		if run.RunID == "" {
			err = s.Call(ctx, order, &run)
		} else {
			err = s.Call(ctx, program.Request{Path: "/api/runs/" + run.RunID, Key: key}, &run)
		}
		switch run.Status {
		case "succeeded":
			return nil
		case "failed", "timed_out", "canceled":
			return fmt.Errorf("the run of order %s is %s", once, run.Status)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("order %s, run %s is %s: %w\n%s", once, run.RunID, run.Status, errors.Join(ctx.Err(), err), s.Log())
		}
	}
}

// check expects as many runs as orders, all of which succeeded and were paid once.
func (s *siege) check(ctx context.Context, orders int, out io.Writer) error {
	pool, err := postgres.Attach(ctx, filepath.Join(s.Dir, "postgres"))
	if err != nil {
		return err
	}
	defer pool.Close()
	report, err := billing.NewLedger(pool).Check(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, report)
	var runs, succeeded, charged, captures int
	err = pool.QueryRow(ctx, `SELECT count(*), count(*) FILTER (WHERE status = 'succeeded'), count(*) FILTER (WHERE cost > 0),
		(SELECT count(*) FROM ledger_transfers WHERE kind = 'capture') FROM runs`).Scan(&runs, &succeeded, &charged, &captures)
	if err != nil {
		return err
	}
	if runs != orders || succeeded != orders || captures != charged || !report.OK() || report.OpenHolds != 0 {
		return fmt.Errorf("%d orders became %d runs, %d succeeded, %d of %d were paid; %v", orders, runs, succeeded, captures, charged, report)
	}
	return nil
}
