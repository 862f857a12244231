package group

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestGroup(t *testing.T) {
	t.Parallel()
	t.Run("everybody's item is flushed once, many together, a bad one alone", func(t *testing.T) {
		t.Parallel()
		var mu sync.Mutex
		flushed, flushes := map[int]int{}, 0
		bad := errors.New("bad")
		g := New(8, func(_ context.Context, items []*int) error {
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
		isIdle(t, g)
	})
	t.Run("who gives up is withdrawn, and nobody waits for them", func(t *testing.T) {
		t.Parallel()
		g := New(4, func(context.Context, []*int) error { return nil })
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
		if err := g.Do(t.Context(), new(int)); err != nil {
			t.Errorf("afterwards: %v", err)
		}
		isIdle(t, g)
	})
}

func TestGroupSurvivesAPanic(t *testing.T) {
	t.Parallel()
	g := New(4, func(context.Context, []*int) error { panic("boom") })
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
		want           time.Duration
	}{
		{"some of those who were there are back", 3, 5, 800 * time.Microsecond, 100 * time.Microsecond, 700 * time.Microsecond},
		{"all are", 5, 5, 800 * time.Microsecond, 100 * time.Microsecond, 0},
		{"they take their time", 3, 5, 800 * time.Microsecond, 900 * time.Microsecond, -100 * time.Microsecond},
		{"nobody else was there", 1, 1, 800 * time.Microsecond, 0, 0},
		{"more were there than a flush can serve", 8, 20, 800 * time.Microsecond, 100 * time.Microsecond, 0},
		{"the database was away", 3, 5, 20 * time.Second, 0, mostPatience},
	} {
		l := lane{waiting: c.waiting, crowd: c.crowd, ended: now.Add(-c.ago), took: c.took}
		if got := l.patience(8, now); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	t.Run("a flush begins when the last of them has come, or they are late", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			type flush struct{ at, items int } // microseconds since the start
			var got []flush
			start := time.Now()
			g := New(8, func(_ context.Context, items []*int) error {
				got = append(got, flush{int(time.Since(start).Microseconds()), len(items)})
				time.Sleep(600 * time.Microsecond)
				return nil
			}, Lane{Regulars: true})
			var wait sync.WaitGroup
			for _, at := range []int{0, 100, 200, 900, 1600, 1700, 2750, 2800} {
				wait.Go(func() {
					time.Sleep(time.Duration(at) * time.Microsecond)
					if err := g.Do(t.Context(), new(int)); err != nil {
						t.Error(err)
					}
				})
			}
			wait.Wait()
			// Three are served or waiting at 600, so a third is awaited; nobody comes as a third of those of 1600.
			if want := []flush{{0, 1}, {900, 3}, {2100, 2}, {2800, 2}}; !slices.Equal(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
			isIdle(t, g)
		})
	})
	t.Run("under load", func(t *testing.T) {
		t.Parallel()
		g := New(8, func(context.Context, []*int) error { return nil }, Lane{Regulars: true})
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
		if err := g.Do(t.Context(), new(int)); err != nil || g.lanes[0].crowd != 1 || g.lanes[0].ended.Before(now) {
			t.Errorf("after a flush of one: %v, a crowd of %d at %v", err, g.lanes[0].crowd, g.lanes[0].ended)
		}
		isIdle(t, g)
	})
}

// isIdle fails the test if something is left of a group's work.
func isIdle[T any](t *testing.T, g *Group[T]) {
	t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.waiting) != 0 || len(g.flying) != 0 || len(g.turns) != 0 {
		t.Errorf("%d are left waiting, %d keys are held and %d have a turn", len(g.waiting), len(g.flying), len(g.turns))
	}
	for i, l := range g.lanes {
		if l.led || l.waiting != 0 || l.wanted != 0 {
			t.Errorf("lane %d is led: %v, with %d waiting and %d wanted", i, l.led, l.waiting, l.wanted)
		}
	}
}

// placed is an item with its place.
type placed struct {
	lane int
	key  string
	n    int
}

func place(p *placed) (lane int, key string) { return p.lane, p.key }

func TestLanes(t *testing.T) {
	t.Parallel()
	t.Run("no key is flushed twice at a time, and everybody is served once or gives up", func(t *testing.T) {
		t.Parallel()
		var mu sync.Mutex
		held, served := map[string]bool{}, map[int]int{}
		change := func(items []*placed, f func(*placed)) {
			mu.Lock()
			defer mu.Unlock()
			for _, i := range items {
				f(i)
			}
		}
		g := New(8, func(_ context.Context, items []*placed) error {
			keys := map[string]bool{}
			change(items, func(i *placed) {
				if held[i.key] && !keys[i.key] {
					t.Errorf("%s is flushed by two lanes at a time", i.key)
				}
				keys[i.key], held[i.key] = true, true
			})
			runtime.Gosched()
			change(items, func(i *placed) {
				served[i.n]++
				delete(held, i.key)
			})
			return nil
		}, Lane{Regulars: true}, Lane{Gather: 100 * time.Microsecond}, Lane{})
		g.Place = place
		var wait sync.WaitGroup
		var gaveUp sync.Map
		for client := range 40 {
			wait.Go(func() {
				for i := range 50 {
					item := &placed{lane: rand.IntN(3), key: fmt.Sprint(rand.IntN(1 + client)), n: client*50 + i}
					ctx, cancel := t.Context(), context.CancelFunc(func() {})
					if client%4 == 0 {
						ctx, cancel = context.WithTimeout(ctx, rand.N(time.Millisecond))
					}
					if err := g.Do(ctx, item); errors.Is(err, context.DeadlineExceeded) {
						gaveUp.Store(item.n, true)
					} else if err != nil {
						t.Error(err)
					}
					cancel()
				}
			})
		}
		wait.Wait()
		for n := range 40 * 50 {
			if _, gone := gaveUp.Load(n); (served[n] == 1) == gone || served[n] > 1 {
				t.Errorf("%d was served %d times, gave up: %v", n, served[n], gone)
			}
		}
		isIdle(t, g)
	})
	t.Run("other keys go ahead, and a lane that waited for one is next and takes the others along", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			flushes, ends := make(chan []placed), make(chan struct{})
			g := New(8, func(_ context.Context, items []*placed) error {
				var flush []placed
				for _, i := range items {
					flush = append(flush, *i)
				}
				flushes <- flush
				<-ends
				return nil
			}, Lane{}, Lane{})
			g.Place = place
			var wait sync.WaitGroup
			ask := func(p placed) {
				wait.Go(func() {
					if err := g.Do(t.Context(), &p); err != nil {
						t.Error(err)
					}
				})
				synctest.Wait()
			}
			expect := func(want ...placed) {
				t.Helper()
				synctest.Wait()
				select {
				case got := <-flushes:
					if !slices.Equal(got, want) {
						t.Errorf("flushed %v, want %v", got, want)
					}
				default:
					t.Errorf("nothing is flushed, want %v", want)
				}
			}
			ask(placed{0, "a", 1})
			expect(placed{0, "a", 1})
			ask(placed{1, "a", 2})
			ask(placed{1, "b", 3})
			expect(placed{1, "b", 3})
			ask(placed{0, "a", 4})
			ask(placed{0, "c", 5})
			ends <- struct{}{}
			ends <- struct{}{}
			synctest.Wait()
			var got [][]placed
			for range 2 {
				got = append(got, <-flushes)
				ends <- struct{}{}
				synctest.Wait()
			}
			slices.SortFunc(got, func(a, b []placed) int { return cmp.Compare(a[0].n, b[0].n) })
			if want := [][]placed{{{1, "a", 2}, {0, "a", 4}}, {{0, "c", 5}}}; !slices.EqualFunc(got, want, slices.Equal) {
				t.Errorf("flushed %v, want %v", got, want)
			}
			wait.Wait()
			isIdle(t, g)
		})
	})
}
