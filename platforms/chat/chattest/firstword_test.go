package chattest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/dialogue"
)

// firstWords notes when a message first shows a model's word.
type firstWords struct {
	fakeAdapter
	mu   sync.Mutex
	sent map[string]time.Time // of a chat's status message
	seen map[string]chan time.Time
}

func (f *firstWords) Send(ctx context.Context, m chat.Message) ([]chat.MessageRef, error) {
	refs, err := f.fakeAdapter.Send(ctx, m)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sent[m.To.Chat] = time.Now()
	return refs, err
}

func (f *firstWords) Edit(ctx context.Context, ref chat.MessageRef, m chat.Message) (chat.MessageRef, error) {
	ref, err := f.fakeAdapter.Edit(ctx, ref, m)
	for word := range strings.FieldsSeq(m.Text.String()) {
		f.mu.Lock()
		if seen := f.seen[word]; seen != nil {
			seen <- time.Now()
			delete(f.seen, word)
		}
		f.mu.Unlock()
	}
	return ref, err
}

// expect gives where the time is told at which a word is shown.
func (f *firstWords) expect(word string) <-chan time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	seen := make(chan time.Time, 1)
	f.seen[word] = seen
	return seen
}

type wordHarness struct {
	*Fake
	words *firstWords
}

func (h *wordHarness) Connect(testing.TB) Connection {
	return Connection{Adapter: h.words, Run: h.run}
}

// BenchmarkFirstWord asks questions of as many people, one after the other, and reports how long after a model's first word that word
// is seen, and how long after the question its first sign of life.
func BenchmarkFirstWord(b *testing.B) {
	fake := NewFake(b)
	h := &wordHarness{Fake: fake, words: &firstWords{fakeAdapter: fakeAdapter{fake}, sent: map[string]time.Time{}, seen: map[string]chan time.Time{}}}
	w := NewWorld(b, h, Tools()...)
	waits, signs := make(chan time.Duration, b.N), []time.Duration{}
	w.Stop()
	memory := agent.NewStore(w.Pool, 0)
	model := &thinker{say: func(_ context.Context, c agent.Conversation) (agent.Turn, error) {
		word := "word-" + c.Turns[len(c.Turns)-1].Text
		seen, said := h.words.expect(word), time.Now()
		c.Saying(word)
		waits <- (<-seen).Sub(said)
		return agent.Turn{Text: word + " and more"}, nil
	}}
	w.Agent = dialogue.New(dialogue.Config{Conversations: memory, Agent: asker(func() *agent.Agent {
		return agent.New(agent.Config{Registry: w.Registry, Runs: w.Runs, Model: model, Conversations: memory})
	})})
	w.Start()
	b.ResetTimer()
	var all []time.Duration
	for i := range b.N {
		p := Person{ID: fmt.Sprint(100_000 + i), Name: "Anna"}
		room, asked := h.Private(p), time.Now()
		h.Post(b, Post{From: p, In: room, Text: fmt.Sprint(i)})
		all = append(all, <-waits)
		h.words.mu.Lock()
		signs = append(signs, h.words.sent[room.ID].Sub(asked))
		h.words.mu.Unlock()
	}
	b.StopTimer()
	slices.Sort(all)
	slices.Sort(signs)
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	b.ReportMetric(ms(all[len(all)/2]), "word-p50-ms")
	b.ReportMetric(ms(all[len(all)*99/100]), "word-p99-ms")
	b.ReportMetric(ms(signs[len(signs)/2]), "sign-p50-ms")
}
