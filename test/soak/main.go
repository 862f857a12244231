//go:build unix

// Command soak runs a house of several processes on one Postgres under load, while processes and the database are killed, the networks
// between all of them are cut, stand still and are slow, the store of files is full and the processes' clocks differ. In the end nothing may be lost or
// doubled, the books must be exact, and a process that lived through all of it must need no more than it did at first.
//
//	go run ./test/soak [-for 30m] [-processes 4] [-skew 2m] [-pause 700ms] [-seed 1]
//	go run ./test/soak -upgrade [-before REF] [-processes 4]
//
// With -upgrade the house is one of the version before, and goes over to this one, back, and there for good, process by process: two neighbouring
// versions work on one database. Killed are processes only; the database may have refused nothing, and has the schema of a new one in the end.
//
// It is called from the project's root, and builds the program, for -skew with a clock that is off (see clock.go). Telegram, the engines and the store of files are the strict simulators
// of the tests, in this process. TestSoak is its short form.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	o := options{root: ".", seed: uint64(time.Now().UnixNano())}
	flag.DurationVar(&o.length, "for", 30*time.Minute, "length of the load and the faults")
	flag.IntVar(&o.processes, "processes", 4, "processes of the house; the first is never killed, but for -upgrade")
	flag.DurationVar(&o.skew, "skew", 2*time.Minute, "how far the clocks of the second and the third of four processes are off, one ahead and one behind; 0 builds the program as it is")
	flag.DurationVar(&o.pause, "pause", 700*time.Millisecond, "between two orders of one person or program")
	flag.StringVar(&o.program, "program", "", "the built program, with a clock that is off by -skew; empty: it is built")
	flag.BoolVar(&o.upgrade, "upgrade", false, "from the version before to this one, instead of the other harm")
	flag.StringVar(&o.before, "before", "", "the version before, as git names it; empty: the newest tag, or before the newest change of the schema")
	flag.Uint64Var(&o.seed, "seed", o.seed, "of what is random")
	flag.Parse()
	if o.upgrade {
		o.skew = 0 // versions differ, and clocks do not
	}
	if o.processes < 2 {
		fmt.Fprintln(os.Stderr, "soak: -processes: want 2 or more, the first is never killed")
		os.Exit(2)
	}
	if err := run(ctx, o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

type options struct {
	root      string // of the project
	program   string // the built one, if there is one
	length    time.Duration
	processes int
	skew      time.Duration
	pause     time.Duration
	seed      uint64
	upgrade   bool
	before    string
	plan      []string // the harm that is done, after which the load ends; nil: random harm for all of length
}

// run soaks inside a benchmark, since the simulators belong to tests.
func run(ctx context.Context, o options, out io.Writer) (err error) {
	ran := false
	testing.Benchmark(func(b *testing.B) {
		if ran {
			return // once is enough, whatever the time
		}
		ran = true
		err = soak(ctx, b, o, out)
	})
	return err
}

// rest is how long the house has, once nothing fails any more, to bring all that it accepted to an end.
const rest = 3 * time.Minute

// soak loads the house and hurts it for as long as it is told, and then counts.
func soak(ctx context.Context, t testing.TB, o options, out io.Writer) (err error) {
	fmt.Fprintf(out, "seed %d\n", o.seed)
	h, err := newHouse(ctx, t, o, out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	crowd, err := newCrowd(ctx, h, o.pause)
	if err != nil {
		return err
	}
	loading, stop := context.WithTimeout(ctx, o.length)
	defer stop()
	crowd.begin(loading)
	last := func(ctx context.Context) error { return h.checkUpgraded(ctx, out) }
	if o.upgrade {
		err = h.upgrade(loading, out)
	} else {
		watched := watch(loading, h.processes[0])
		h.hurt(loading, o.plan, out)
		last = func(context.Context) error { return watched.check(out) }
	}
	stop()
	if err := errors.Join(err, ctx.Err()); err != nil {
		return errors.Join(h.said(), err)
	}
	ending, cancel := context.WithTimeout(ctx, rest)
	defer cancel()
	if err := crowd.end(ending); err != nil {
		return errors.Join(h.said(), h.check(ctx, crowd, out), err) // what is missing is read best where the text ends
	}
	return errors.Join(h.check(ctx, crowd, out), last(ctx), h.violations())
}
