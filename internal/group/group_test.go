package group

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

func TestGroup(t *testing.T) {
	t.Parallel()
	t.Run("everybody's item is flushed once, many together, a bad one alone", func(t *testing.T) {
		t.Parallel()
		var mu sync.Mutex
		flushed, flushes := map[int]int{}, 0
		bad := errors.New("bad")
		g := New(8, 2, func(_ context.Context, items []*int) error {
			mu.Lock()
			defer mu.Unlock()
			flushes++
			for _, i := range items {
				if *i%50 == 7 {
					return bad
				}
			}
			for _, i := range items {
				flushed[*i]++
			}
			return nil
		})
		var wait sync.WaitGroup
		for i := range 200 {
			wait.Go(func() {
				if err := g.Do(t.Context(), &i); (i%50 == 7) != errors.Is(err, bad) {
					t.Errorf("%d: %v", i, err)
				}
			})
		}
		wait.Wait()
		for i := range 200 {
			if want := 1; flushed[i] != want && i%50 != 7 {
				t.Errorf("%d was flushed %d times", i, flushed[i])
			}
		}
		if g.leaders != 0 || len(g.waiting) != 0 {
			t.Errorf("%d leaders and %d waiting are left", g.leaders, len(g.waiting))
		}
	})
	t.Run("who gives up is withdrawn, and nobody waits for them", func(t *testing.T) {
		t.Parallel()
		g := New(4, 1, func(context.Context, []*int) error { return nil })
		var wait sync.WaitGroup
		for i := range 300 {
			wait.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), rand.N(200*time.Microsecond))
				defer cancel()
				if err := g.Do(ctx, &i); err != nil && !errors.Is(err, context.DeadlineExceeded) {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		if err := g.Do(t.Context(), new(int)); err != nil || g.leaders != 0 {
			t.Error(fmt.Errorf("afterwards: %w, %d leaders", err, g.leaders))
		}
	})
}

func TestGroupSurvivesAPanic(t *testing.T) {
	t.Parallel()
	g := New(4, 1, func(context.Context, []*int) error { panic("boom") })
	for range 2 {
		done := make(chan error, 1)
		go func() {
			defer func() {
				if p := recover(); p != nil {
					done <- fmt.Errorf("%v", p)
				}
			}()
			n := 1
			done <- g.Do(context.Background(), &n)
		}()
		select {
		case err := <-done:
			if err == nil {
				t.Error("no error")
			}
		case <-time.After(time.Minute):
			t.Fatal("the group hangs")
		}
	}
}

func TestFlushWaitsForRegulars(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for _, c := range []struct {
		name           string
		waiting, crowd int
		took, ago      time.Duration // of the last flush, since it
		want           bool
	}{
		{"some of those who were there are back", 3, 5, 800 * time.Microsecond, 100 * time.Microsecond, true},
		{"all are", 5, 5, 800 * time.Microsecond, 100 * time.Microsecond, false},
		{"they take their time", 3, 5, 800 * time.Microsecond, 200 * time.Microsecond, false},
		{"nobody else was there", 1, 1, 800 * time.Microsecond, 0, false},
		{"more were there than a flush can serve", 8, 20, 800 * time.Microsecond, 100 * time.Microsecond, false},
		{"the database was away", 3, 5, 20 * time.Second, mostPatience, false},
	} {
		g := New(8, 1, func(context.Context, []*int) error { return nil })
		g.waiting, g.crowd, g.ended, g.took = make([]*member[int], c.waiting), c.crowd, now.Add(-c.ago), c.took
		if got := g.expects(now); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	g := New(8, 1, func(context.Context, []*int) error { return nil })
	g.Regulars = true
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() {
			for range 50 {
				if err := g.Do(t.Context(), new(int)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	if err := g.Do(t.Context(), new(int)); err != nil || g.crowd != 1 || g.ended.Before(now) {
		t.Errorf("after a flush of one: %v, a crowd of %d at %v", err, g.crowd, g.ended)
	}
}
