//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/test/bench/program"
)

// watcher looks at a process that lives through everything.
type watcher struct {
	done    chan struct{}
	samples []sample
}

type sample struct{ goroutines, heap, resident float64 }

const lookEvery = time.Second

// watch asks a process for its figures until ctx ends.
func watch(ctx context.Context, p *process) *watcher {
	w := &watcher{done: make(chan struct{})}
	go func() {
		defer close(w.done)
		for tick := time.NewTicker(lookEvery); ; {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			var text string
			if p.Call(ctx, program.Request{Path: "/metrics"}, &text) == nil {
				w.samples = append(w.samples, sample{metric(text, "go_goroutines"), metric(text, "go_memstats_heap_alloc_bytes"), metric(text, "process_resident_memory_bytes")})
			}
		}
	}()
	return w
}

func metric(text, name string) float64 {
	_, rest, _ := strings.Cut(text, "\n"+name+" ")
	value, _, _ := strings.Cut(rest, "\n")
	n, _ := strconv.ParseFloat(value, 64) // what is missing is 0, and refused by check
	return n
}

// What may be more at the end than at first, beside the share: caches that fill, and what is under way just then.
const (
	moreShare      = 1.2
	moreGoroutines = 30
	moreHeap       = 16 << 20
)

// check compares the least that the process had in the second quarter of the time with the least of the last: faults and garbage only add.
func (w *watcher) check(out io.Writer) error {
	<-w.done
	quarter := len(w.samples) / 4
	if quarter == 0 {
		return fmt.Errorf("the process that lives for ever told its figures %d times only", len(w.samples))
	}
	first, last := floor(w.samples[quarter:2*quarter]), floor(w.samples[3*quarter:])
	fmt.Fprintf(out, "the process that lives for ever, least of the second and of the last quarter: goroutines %.0f and %.0f, heap %.1f and %.1f MB, resident %.0f and %.0f MB\n",
		first.goroutines, last.goroutines, first.heap/1e6, last.heap/1e6, first.resident/1e6, last.resident/1e6)
	if first.goroutines == 0 || last.goroutines > moreShare*first.goroutines+moreGoroutines || last.heap > moreShare*first.heap+moreHeap {
		return fmt.Errorf("it grows")
	}
	return nil
}

func floor(samples []sample) sample {
	least := samples[0]
	for _, s := range samples {
		least = sample{min(least.goroutines, s.goroutines), min(least.heap, s.heap), min(least.resident, s.resident)}
	}
	return least
}
