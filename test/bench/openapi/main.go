// Command openapi measures how much work it takes to make checked tools of a document of many operations, as a multiple
// of what the OpenAPI library alone takes to decode the same document in the same run.
//
//	go run ./test/bench/openapi [-operations 10000] [-rounds 9]
//
// Work is the processor time of the whole process, its garbage collector included, on one processor: what passes on
// the clock is as much what else the machine has to do, and idle processors would be filled with collecting that
// nobody waits for. The two take turns after one that does not count, in which the heap grows; the figure that counts
// is the middle one of the rounds' ratios.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/signalbox/signalbox/providers/openapi"
	"github.com/signalbox/signalbox/registry/registrytest"
)

// most is the multiple of the library's time that making tools may take.
const most = 2.0

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("openapi", flag.ContinueOnError)
	operations := flags.Int("operations", 10_000, "operations of the document")
	rounds := flags.Int("rounds", 9, "measurements of each of the two, in turns")
	if err := flags.Parse(args); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "signalbox-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	document := describe(*operations)
	if err := os.WriteFile(filepath.Join(dir, "bench.openapi.json"), document, 0o600); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d operations, %.1f MB\n", *operations, float64(len(document))/1e6)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var ratios []float64
	for round := range *rounds + 1 {
		library, err := timed(func() error { return decode(ctx, document) })
		if err != nil {
			return err
		}
		ours, err := timed(func() error { return load(ctx, dir, *operations) })
		if err != nil {
			return err
		}
		if round == 0 {
			continue
		}
		ratios = append(ratios, ours.Seconds()/library.Seconds())
		fmt.Fprintf(out, "library alone %s, tools %s: %.2f\n", library.Round(time.Millisecond), ours.Round(time.Millisecond), ratios[len(ratios)-1])
	}
	slices.Sort(ratios)
	middle := ratios[len(ratios)/2]
	fmt.Fprintf(out, "loaded and validated in %.2f times the library's own time (%.2f to %.2f)\n", middle, ratios[0], ratios[len(ratios)-1])
	if middle > most {
		return fmt.Errorf("the ratio is above %.1f", most)
	}
	return nil
}

// timed measures the processor time of doing something, without the garbage of what was measured before.
func timed(do func() error) (time.Duration, error) {
	runtime.GC()
	before, err := used()
	if err != nil {
		return 0, err
	}
	if err := do(); err != nil {
		return 0, err
	}
	after, err := used()
	return after - before, err
}

// used is the processor time of this process so far.
func used() (time.Duration, error) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0, fmt.Errorf("read the process's times: %w", err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), nil
}

func decode(ctx context.Context, document []byte) error {
	loader := openapi3.NewLoader()
	loader.Context = ctx
	_, err := loader.LoadFromData(document)
	return err
}

func load(ctx context.Context, dir string, operations int) error {
	tools, err := openapi.New(openapi.Config{Dir: dir, Allow: []string{"*"}, Store: &registrytest.Specs{}}).Load(ctx)
	if err == nil && len(tools) != operations {
		err = fmt.Errorf("%d tools of %d operations", len(tools), operations)
	}
	return err
}
