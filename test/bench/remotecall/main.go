// Command remotecall measures what a call of a service costs beyond the bare request: through internal/upstream, and through
// a tool of providers/httptools, against a plain http.Client that asks the same service in the same run.
//
//	go run ./test/bench/remotecall [-calls 3000] [-rounds 5]
//
// The service answers at once on this machine. The ways take turns call by call, so that what else the machine does meets all
// of them, and the figure that counts is the middle one of the rounds' differences of the 99th percentiles: it must stay under
// a millisecond.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"time"
)

// most is what a call may cost beyond the bare request.
const most = time.Millisecond

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("remotecall", flag.ContinueOnError)
	calls := flags.Int("calls", 3000, "calls of each way in a round")
	rounds := flags.Int("rounds", 5, "rounds")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *calls < 100 || *rounds < 1 {
		return fmt.Errorf("%d calls in %d rounds: at least 100 in 1 are needed", *calls, *rounds)
	}
	dir, err := os.MkdirTemp("", "signalbox-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s, err := startService()
	if err != nil {
		return err
	}
	defer s.stop()
	ways, err := s.ways(ctx, dir)
	if err != nil {
		return err
	}
	return compare(ctx, out, ways, *calls, *rounds)
}

// compare prints what each way but the first costs beyond the first.
func compare(ctx context.Context, out io.Writer, ways []way, calls, rounds int) error {
	bare := make([]time.Duration, rounds)
	p99s := make([][]time.Duration, len(ways))
	for round := range rounds {
		times, err := measure(ctx, ways, calls)
		if err != nil {
			return err
		}
		for i, taken := range times {
			p99s[i] = append(p99s[i], percentile(taken, 99))
		}
		bare[round] = p99s[0][round]
	}
	slow := ""
	for i, w := range ways[1:] {
		beyond, ratios := make([]time.Duration, rounds), make([]float64, rounds)
		for round, p99 := range p99s[i+1] {
			beyond[round], ratios[round] = p99-bare[round], float64(p99)/float64(bare[round])
		}
		slices.Sort(beyond)
		slices.Sort(ratios)
		middle := beyond[rounds/2]
		if middle >= most {
			slow = w.name
		}
		if _, err := fmt.Fprintf(out, "%-20s p99 %8s beyond a bare client (%s to %s), %.2f of its p99 of %s\n",
			w.name, middle.Round(time.Microsecond), beyond[0].Round(time.Microsecond), beyond[rounds-1].Round(time.Microsecond),
			ratios[rounds/2], percentile(slices.Clone(bare), 50).Round(time.Microsecond)); err != nil {
			return err
		}
	}
	if slow != "" {
		return fmt.Errorf("%s costs %s or more beyond a bare client", slow, most)
	}
	return nil
}

// measure lets the ways take turns, after a few calls that open the connections.
func measure(ctx context.Context, ways []way, calls int) ([][]time.Duration, error) {
	const warm = 20
	times := make([][]time.Duration, len(ways))
	for n := range warm + calls {
		for i := range ways {
			w := (n + i) % len(ways) // nobody always comes first
			began := time.Now()
			if err := ways[w].call(ctx); err != nil {
				return nil, fmt.Errorf("%s: %w", ways[w].name, err)
			}
			if n >= warm {
				times[w] = append(times[w], time.Since(began))
			}
		}
	}
	return times, nil
}

func percentile(times []time.Duration, percent int) time.Duration {
	slices.Sort(times)
	return times[(len(times)-1)*percent/100]
}
