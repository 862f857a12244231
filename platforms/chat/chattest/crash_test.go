package chattest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/signalbox/signalbox/registry"
)

// breakOff stops the running parts in the middle of whatever they do.
func (w *World) breakOff() {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	w.stopRun()
	w.stopRun = nil
	_ = w.Router.Stop(over) // says that work was broken off
	_ = w.Runs.Stop(over)
}

// changes counts what happened to the bot's messages so far.
func (f *Fake) changes() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, list := range f.notices {
		n += len(list)
	}
	return n
}

// TestBrokenOffAtAnyPoint breaks the program off again and again while many people use it. In the end each of
// them has one run, one message, and has paid once.
func TestBrokenOffAtAnyPoint(t *testing.T) {
	t.Parallel()
	const people, breaks = 40, 10
	s, fake := newScene(t)
	s.Provider.Answer(func(c registry.Call) (registry.Result, *registry.Error) {
		return registry.Result{Outputs: []registry.Output{PictureOutput("picture")}}, nil
	})
	chance := rand.New(rand.NewPCG(7, 11))
	rooms := make([]Room, people)
	for i := range people {
		p := Person{ID: fmt.Sprint(5000 + i), Name: fmt.Sprint("Person ", i)}
		rooms[i] = fake.Private(p)
		fake.Post(t, Post{From: p, In: rooms[i], Text: fmt.Sprint("/painter picture ", i)})
		if i%(people/breaks) == 0 {
			seen := fake.changes() + 1 + chance.IntN(5)
			s.until(rooms[i], "further change", func([]Seen) bool { return fake.changes() >= min(seen, 2*i+1) })
			s.breakOff()
			s.Start()
		}
	}
	for i, room := range rooms {
		s.AwaitMedia(room, fmt.Sprint("picture ", i))
	}
	s.Idle()
	if n := s.CountRuns(); n != people {
		t.Errorf("%d runs, want %d", n, people)
	}
	for _, room := range rooms {
		if list := fake.Messages(t, room); len(list) != 1 {
			t.Errorf("chat %s, one message was to be there:\n%s", room.ID, render(list))
		}
	}
	report, err := s.Ledger.Check(t.Context())
	if err != nil || len(report.Problems) != 0 {
		t.Errorf("the books: %+v, %v", report, err)
	}
	var charged int
	if err := s.Pool.QueryRow(t.Context(), `SELECT count(*) FROM runs WHERE cost = 4200000`).Scan(&charged); err != nil || charged != people {
		t.Errorf("%d runs were charged (%v), want %d", charged, err, people)
	}
}
