// Command chatload sends commands to the program on Telegram, Discord and the web at once, and measures how
// long people wait for the first sign that they were heard. It fails when one was not answered, or was
// answered twice, or when people wait too long.
//
//	go run ./test/bench/chatload [-rate 300] [-seconds 10]
//
// It builds the program and starts it with a Postgres of its own, against strict servers of Telegram and
// Discord in this process. The engine takes prompts and never answers: pictures are not the matter here. What
// the servers themselves take is part of the time; a bare server, asked at the same pace meanwhile, shows how
// much of it is the machine's. A third of the commands goes to each platform; everybody sends one.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/test/bench/program"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	rate := flag.Int("rate", 300, "commands a second, on all platforms together")
	seconds := flag.Int("seconds", 10, "length of the load")
	limit := flag.Duration("limit", 100*time.Millisecond, "what 99 of 100 may wait at most beyond the bare server")
	flag.Parse()
	if err := run(ctx, *rate, *seconds, *limit, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run measures inside a benchmark, since the servers belong to tests.
func run(ctx context.Context, rate, seconds int, limit time.Duration, out io.Writer) (err error) {
	dir, err := program.Folder("sbchatload")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	ran := false
	testing.Benchmark(func(b *testing.B) {
		if ran {
			return // once is enough, whatever the time
		}
		ran = true
		err = measure(ctx, b, dir, max(1, rate*seconds/3), time.Second*3/time.Duration(rate), limit, out)
	})
	return err
}

func measure(ctx context.Context, b *testing.B, dir string, each int, pause, limit time.Duration, out io.Writer) (err error) {
	h, err := startHouse(ctx, b, dir, each)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.stop()) }()
	began := time.Now()
	var sending sync.WaitGroup
	crowds := append([]platform{newBare(b)}, h.platforms...)
	failed := make([]error, len(crowds))
	for i, p := range crowds {
		sending.Go(func() { failed[i] = load(ctx, p, each, pause) })
	}
	sending.Wait()
	if err := errors.Join(failed...); err != nil {
		return err
	}
	took := time.Since(began)
	fmt.Fprintf(out, "%d commands in %.1f s: %.0f a second\n", 3*each, took.Seconds(), float64(3*each)/took.Seconds())
	return report(ctx, crowds, limit, out)
}

// report prints how long people waited, and fails where that was too long. The first crowd is the baseline.
func report(ctx context.Context, crowds []platform, limit time.Duration, out io.Writer) error {
	fmt.Fprintf(out, "%10s %10s %10s %10s %14s\n", "", "p50 ms", "p99 ms", "most ms", "p99 beyond ms")
	var baseline time.Duration
	var slow error
	for i, p := range crowds {
		waits, err := p.waits(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name(), err)
		}
		slices.Sort(waits)
		at := func(percent int) time.Duration { return waits[(len(waits)-1)*percent/100] }
		if i == 0 {
			baseline = at(99)
		}
		fmt.Fprintf(out, "%10s %10.1f %10.1f %10.1f %14.1f\n", p.name(), ms(at(50)), ms(at(99)), ms(at(100)), ms(at(99)-baseline))
		if at(99)-baseline > limit {
			slow = errors.Join(slow, fmt.Errorf("%s: one in a hundred waited longer than %v", p.name(), limit))
		}
	}
	return slow
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// load sends the commands at an even pace; one that is late does not hold up the others.
func load(ctx context.Context, p platform, n int, pause time.Duration) error {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	var sending sync.WaitGroup
	failed := make([]error, n)
	for i := range n {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		sending.Go(func() {
			if err := p.send(i); err != nil {
				failed[i] = fmt.Errorf("%s, command %d: %w", p.name(), i, err)
			}
		})
	}
	sending.Wait()
	return errors.Join(failed...)
}
