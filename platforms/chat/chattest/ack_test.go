package chattest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
)

// firstSigns notes when each chat first sees that its command has arrived.
type firstSigns struct {
	fakeAdapter
	mu   sync.Mutex
	seen map[string]time.Time
}

func (f *firstSigns) note(to chat.Place) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.seen[to.Chat]; !ok {
		f.seen[to.Chat] = time.Now()
	}
}

func (f *firstSigns) Working(ctx context.Context, to chat.Place, what chat.Activity) error {
	f.note(to)
	return f.fakeAdapter.Working(ctx, to, what)
}

func (f *firstSigns) Send(ctx context.Context, m chat.Message) ([]chat.MessageRef, error) {
	f.note(m.To)
	return f.fakeAdapter.Send(ctx, m)
}

// signHarness is a Fake whose adapter is watched.
type signHarness struct {
	*Fake
	signs *firstSigns
}

func (h *signHarness) Connect(testing.TB) Connection {
	return Connection{Adapter: h.signs, Run: h.run}
}

// BenchmarkFirstSign sends tool commands of as many people at 200 a second and reports how long they wait for
// the first sign of life, and for the status message.
func BenchmarkFirstSign(b *testing.B) {
	fake := NewFake(b)
	h := &signHarness{Fake: fake, signs: &firstSigns{fakeAdapter: fakeAdapter{fake}, seen: map[string]time.Time{}}}
	w := NewWorld(b, h, Tools()...)
	w.Provider.Answer(func(registry.Call) (registry.Result, *registry.Error) {
		return registry.Result{Outputs: []registry.Output{registrytest.Text("poem", "Leaves fall.")}}, nil
	})
	sent := map[string]time.Time{}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	b.ResetTimer()
	for i := range b.N {
		p := Person{ID: fmt.Sprint(100_000 + i), Name: "Anna"}
		<-tick.C
		sent[p.ID] = time.Now()
		h.Post(b, Post{From: p, In: h.Private(p), Text: "/poem autumn"})
	}
	w.Idle()
	b.StopTimer()
	var waits []time.Duration
	for id, at := range sent {
		waits = append(waits, h.signs.seen[id].Sub(at))
	}
	slices.Sort(waits)
	at := func(q float64) float64 { return float64(waits[int(q*float64(len(waits)-1))].Microseconds()) / 1000 }
	b.ReportMetric(at(0.5), "p50-ms")
	b.ReportMetric(at(0.99), "p99-ms")
	b.ReportMetric(at(1), "max-ms")
}
