package catalog_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
)

const benchTools = 10_000

func benchRegistry(b testing.TB, count int) (*catalog.Registry, []string) {
	b.Helper()
	tools := make([]registry.Tool, count)
	commands := make([]string, count)
	for i := range tools {
		tools[i] = simple(fmt.Sprintf("tool%05d", i))
		commands[i] = fmt.Sprintf("/tool%05d", (i*7919)%count)
	}
	r := newRegistry(b, catalog.Config{Loaders: []registry.Loader{fixed("bench", tools...)}})
	mustReload(b, r)
	return r, commands
}

// BenchmarkByCommand compares the lookup of a command among 10,000 tools, while reloads go on, with a
// plain map lookup of the same keys in the same run: the metric "x-map" is the ratio. Both sides take
// turns, so that what else the machine does hits both.
func BenchmarkByCommand(b *testing.B) {
	r, commands := benchRegistry(b, benchTools)
	plain := make(map[string]*registry.Tool, benchTools)
	for t := range r.Snapshot().Each() {
		plain[t.CommandName] = t
	}
	ctx, cancel := context.WithCancel(context.Background())
	var reloads sync.WaitGroup
	reloads.Go(func() {
		for ctx.Err() == nil {
			_, _ = r.Reload(ctx)
		}
	})
	defer reloads.Wait()
	defer cancel()
	var ours, theirs time.Duration
	b.ReportAllocs()
	b.ResetTimer()
	for done := 0; done < b.N; done += len(commands) {
		n := min(len(commands), b.N-done)
		start := time.Now()
		for _, c := range commands[:n] {
			if _, ok := plain[c]; !ok {
				b.Fatal(c)
			}
		}
		between := time.Now()
		for _, c := range commands[:n] {
			if _, ok := r.Snapshot().ByCommand(c); !ok {
				b.Fatal(c)
			}
		}
		theirs += between.Sub(start)
		ours += time.Since(between)
	}
	b.ReportMetric(float64(ours)/float64(theirs), "x-map")
}

func TestByCommandAllocatesNothing(t *testing.T) { // not parallel: it counts allocations
	r, _ := benchRegistry(t, 100)
	for _, typed := range []string{"tool00042", "/tool00042", "/tool00042@signalbot", "/nosuchtool"} {
		if n := testing.AllocsPerRun(100, func() { r.Snapshot().ByCommand(typed) }); n != 0 {
			t.Errorf("A41 A44 %q: %v allocations", typed, n)
		}
	}
}

func BenchmarkReload(b *testing.B) {
	r, _ := benchRegistry(b, benchTools)
	for b.Loop() {
		mustReload(b, r)
	}
}

func BenchmarkSearch(b *testing.B) {
	r, _ := benchRegistry(b, benchTools)
	for b.Loop() {
		r.Snapshot().Search("does tool00042 tools", catalog.SearchOptions{})
	}
}
