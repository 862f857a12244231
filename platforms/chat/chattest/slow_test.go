package chattest

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/router"
	"github.com/signalbox/signalbox/platforms/chat/show"
	"github.com/signalbox/signalbox/users"
)

// stuckAdapter is a platform that lets nobody write until it is freed.
type stuckAdapter struct {
	fakeAdapter
	name  string
	tried chan struct{}
	freed chan struct{}
}

func (a *stuckAdapter) Platform() string { return a.name }

func (a *stuckAdapter) Send(ctx context.Context, m chat.Message) ([]chat.MessageRef, error) {
	a.tried <- struct{}{}
	select {
	case <-a.freed:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return a.fakeAdapter.Send(ctx, m)
}

// A platform that lets us write slowly, or not at all, fills its own waiting places and no others.
func TestASlowPlatformHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	stuckFake, quickFake := NewFake(t), NewFake(t)
	w := NewWorld(t, NewFake(t), Tools()...)
	stuck := &stuckAdapter{fakeAdapter: fakeAdapter{stuckFake}, name: "stuck", tried: make(chan struct{}, 10), freed: make(chan struct{})}
	quick := &stuckAdapter{fakeAdapter: fakeAdapter{quickFake}, name: "quick", tried: make(chan struct{}, 10), freed: make(chan struct{})}
	close(quick.freed)
	log := slog.New(slog.DiscardHandler)
	deliverer, err := show.NewDeliverer(show.DelivererConfig{Adapters: []chat.Adapter{stuck, quick}, Pool: w.Pool, Media: w.Files, Logger: log})
	check(t, err)
	router, err := router.NewRouter(router.Config{
		Deliverer: deliverer, Pool: w.Pool, Tools: w.Registry, Runs: w.Runs, Accounts: w.People, Wallets: w.Ledger, Groups: w.Groups, Logger: log,
		Concurrency: 1, Waiting: 2,
	})
	check(t, err)
	check(t, router.Start(t.Context()))
	t.Cleanup(func() { check(t, router.Stop(context.WithoutCancel(t.Context()))) })

	help := func(f *Fake, i int) chat.Incoming {
		p := Person{ID: fmt.Sprint("p", i), Name: "Anna"}
		return chat.Incoming{
			ID: fmt.Sprint("help", i), Kind: chat.KindMessage, Chat: chat.Chat{Place: chat.Place{Chat: f.Private(p).ID}, Kind: chat.ChatPrivate},
			From: users.Identity{Platform: "any", ExternalID: p.ID, Name: p.Name}, Command: "help",
		}
	}
	check(t, router.Receive(t.Context(), "stuck", help(stuckFake, 0)))
	<-stuck.tried
	check(t, router.Receive(t.Context(), "stuck", help(stuckFake, 1)))
	full := make(chan error, 1)
	go func() { full <- router.Receive(t.Context(), "stuck", help(stuckFake, 2)) }()

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	check(t, router.Receive(ctx, "quick", help(quickFake, 0)))
	select {
	case <-quick.tried:
	case <-time.After(patience):
		t.Error("nobody was answered on the platform that works")
	}
	select {
	case err := <-full:
		t.Errorf("an update beyond the waiting places of its platform was taken: %v", err)
	default:
	}
	close(stuck.freed)
	check(t, <-full)
}

// An orderly stop does not wait for a platform that takes nothing: what could not be said is said after the next start.
func TestAStopBreaksOffWhatAPlatformHoldsUp(t *testing.T) {
	t.Parallel()
	w := NewWorld(t, NewFake(t), Tools()...)
	fake := NewFake(t)
	stuck := &stuckAdapter{fakeAdapter: fakeAdapter{fake}, name: "stuck", tried: make(chan struct{}, 10), freed: make(chan struct{})}
	open := func() *router.Router {
		deliverer, err := show.NewDeliverer(show.DelivererConfig{Adapters: []chat.Adapter{stuck}, Pool: w.Pool, Media: w.Files, Logger: slog.New(slog.DiscardHandler)})
		check(t, err)
		r, err := router.NewRouter(router.Config{
			Deliverer: deliverer, Pool: w.Pool, Tools: w.Registry, Runs: w.Runs, Accounts: w.People, Wallets: w.Ledger, Groups: w.Groups, Logger: slog.New(slog.DiscardHandler),
		})
		check(t, err)
		check(t, r.Start(t.Context()))
		return r
	}
	p := Person{ID: "p", Name: "Anna"}
	room := fake.Private(p)
	first := open()
	check(t, first.Receive(t.Context(), "stuck", chat.Incoming{
		ID: "help", Kind: chat.KindMessage, Chat: chat.Chat{Place: chat.Place{Chat: room.ID}, Kind: chat.ChatPrivate},
		From: users.Identity{Platform: "any", ExternalID: p.ID, Name: p.Name}, Command: "help",
	}))
	<-stuck.tried
	within, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	check(t, first.Stop(within))
	close(stuck.freed)
	again := open()
	defer func() { check(t, again.Stop(context.WithoutCancel(t.Context()))) }()
	select {
	case <-stuck.tried:
	case <-time.After(patience):
		t.Error("nobody was answered after the next start")
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
