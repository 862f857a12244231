// Command api measures how many requests a second the HTTP API answers, as a share of what a bare net/http
// handler that returns the same bytes answers on the same machine in the same run.
//
//	go run ./test/bench/api [-clients 16] [-seconds 2] [-rounds 5]
//
// It builds signalbox and starts it with a data folder of its own, makes an account and one run, and
// asks for the tool list, for the run, and for its file. The bare handler is a process of its own as well. The two take turns,
// and the figure that counts is the middle one of the rounds' ratios: absolute numbers mean nothing on shared machines.
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
	"time"

	"github.com/signalbox/signalbox/test/bench/program"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// least is the share of a bare handler's requests a second that the API must reach.
const least = 0.5

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("api", flag.ContinueOnError)
	clients := flags.Int("clients", 16, "connections at a time")
	seconds := flags.Float64("seconds", 2, "length of each measurement")
	rounds := flags.Int("rounds", 5, "measurements of each of the two, in turns")
	bare := flags.String("bare", "", "serve the answers in this folder and nothing else")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *bare != "" {
		return serveBare(ctx, *bare, out)
	}
	dir, err := program.Folder("sbapi")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	h, err := startHouse(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.stop()) }()
	low := false
	for _, name := range []string{caseTools, caseRun, caseFile} {
		ratio, err := h.compare(ctx, out, name, *clients, *rounds, time.Duration(*seconds*float64(time.Second)))
		if err != nil {
			return err
		}
		low = low || ratio < least
	}
	if low {
		return fmt.Errorf("a ratio is below %.1f", least)
	}
	return nil
}

// compare lets the two take turns at answering the same request.
func (h *house) compare(ctx context.Context, out io.Writer, name string, clients, rounds int, length time.Duration) (float64, error) {
	ours, bare := load{address: h.api.Address, request: h.requests[name]}, load{address: h.bare.Address, request: requestFor(h.bare.Address, "/"+name, "")}
	var ratios, rates []float64
	for range rounds {
		floor, err := bare.run(ctx, clients, length)
		if err != nil {
			return 0, fmt.Errorf("%s, bare handler: %w", name, err)
		}
		rate, err := ours.run(ctx, clients, length)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		ratios, rates = append(ratios, rate/floor), append(rates, rate)
	}
	slices.Sort(ratios)
	slices.Sort(rates)
	ratio := ratios[len(ratios)/2]
	_, err := fmt.Fprintf(out, "%-5s %8d bytes  %8.0f requests/s  %.2f of a bare handler (%.2f to %.2f)\n",
		name, h.sizes[name], rates[len(rates)/2], ratio, ratios[0], ratios[len(ratios)-1])
	return ratio, err
}
