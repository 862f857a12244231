package peers

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
)

// floor is where processes of a test work; it notices what two of them do at a time.
type floor struct {
	t    *testing.T
	pool *pgxpool.Pool

	mu     sync.Mutex
	worker map[int]string // by item
	moved  chan struct{}
}

func newFloor(t *testing.T) *floor {
	return &floor{t: t, pool: postgrestest.New(t), worker: map[int]string{}, moved: make(chan struct{}, 1)}
}

// join starts a process that takes part in count items; leave ends it in good order.
func (f *floor) join(name string, count int) (leave func()) { return f.joinKind(name, "things", count) }

func (f *floor) joinKind(name, kind string, count int) (leave func()) {
	f.t.Helper()
	p := New(f.pool, slog.New(slog.NewTextHandler(f.t.Output(), nil)))
	ctx, end := context.WithCancel(f.t.Context())
	var all sync.WaitGroup
	ready := make(chan struct{})
	all.Go(func() {
		if err := p.Run(ctx, func() { close(ready) }); err != nil {
			f.t.Error(err)
		}
	})
	<-ready
	working, stop := context.WithCancel(f.t.Context())
	all.Go(func() {
		if err := p.Divide(working, kind, count, f.work(name)); err != nil && f.t.Context().Err() == nil {
			f.t.Error(err)
		}
	})
	leave = sync.OnceFunc(func() {
		stop()
		end()
		all.Wait()
	})
	f.t.Cleanup(leave)
	return leave
}

func (f *floor) work(name string) func(context.Context, int) error {
	return func(ctx context.Context, item int) error {
		f.mu.Lock()
		if other := f.worker[item]; other != "" {
			f.t.Errorf("%s works on %d, and %s still does", name, item, other)
		}
		f.worker[item] = name
		f.mu.Unlock()
		f.move()
		<-ctx.Done()
		f.mu.Lock()
		delete(f.worker, item)
		f.mu.Unlock()
		f.move()
		return nil
	}
}

func (f *floor) move() {
	select {
	case f.moved <- struct{}{}:
	default:
	}
}

// until waits for so many items with each of the named workers.
func (f *floor) until(want map[string]int) {
	f.t.Helper()
	late := time.After(time.Minute)
	for {
		f.mu.Lock()
		got := map[string]int{}
		for _, name := range f.worker {
			got[name]++
		}
		f.mu.Unlock()
		if maps.Equal(got, want) {
			return
		}
		select {
		case <-f.moved:
		case <-late:
			f.t.Fatalf("the parts are %v, want %v", got, want)
		}
	}
}

func TestDivide(t *testing.T) {
	t.Parallel()
	t.Run("each process has its part, those that come and go change it", func(t *testing.T) {
		t.Parallel()
		f := newFloor(t)
		leave := f.join("a", 5)
		f.until(map[string]int{"a": 5})
		f.join("b", 5)
		f.until(map[string]int{"a": 3, "b": 2})
		f.join("c", 5)
		f.until(map[string]int{"a": 2, "b": 2, "c": 1})
		leave()
		f.until(map[string]int{"b": 3, "c": 2})
	})
	t.Run("one thing stays with who has it", func(t *testing.T) {
		t.Parallel()
		f := newFloor(t)
		leave := f.join("a", 1)
		f.until(map[string]int{"a": 1})
		f.join("b", 1)
		f.until(map[string]int{"a": 1})
		leave()
		f.until(map[string]int{"b": 1})
	})
	t.Run("what a process had whose connection is cut is done by others", func(t *testing.T) {
		t.Parallel()
		f := newFloor(t)
		// A process that was killed: its rows are there, its lock is not.
		for _, sql := range []string{
			`INSERT INTO house_processes (id) VALUES ('dead')`,
			`INSERT INTO house_members (kind, process) VALUES ('others', 'dead')`,
			`INSERT INTO house_shares (kind, item, process) VALUES ('others', 0, 'dead')`,
		} {
			if _, err := f.pool.Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now()
		f.joinKind("a", "others", 1)
		f.until(map[string]int{"a": 1})
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("it took %v", took)
		}
	})
	t.Run("once work has ended it is looked anew, for what this process took again meanwhile", func(t *testing.T) {
		t.Parallel()
		p := New(postgrestest.New(t), slog.New(slog.NewTextHandler(t.Output(), nil)))
		heard := p.hear(shares)
		d := &division{Process: p, kind: "things", count: 1, running: map[int]context.CancelFunc{}, work: func(ctx context.Context, _ int) error {
			<-ctx.Done()
			return nil
		}}
		d.start(t.Context(), 0)
		d.stop(0)
		d.wait.Wait()
		select {
		case <-heard:
		default:
			t.Error("nobody looks: what was taken while its former work still stood here would be worked on by nobody")
		}
	})
	t.Run("work that ends by itself ends the part with its error", func(t *testing.T) {
		t.Parallel()
		f := newFloor(t)
		p := New(f.pool, slog.New(slog.NewTextHandler(t.Output(), nil)))
		refused := errors.New("refused")
		if err := p.Divide(t.Context(), "things", 2, func(context.Context, int) error { return refused }); !errors.Is(err, refused) {
			t.Errorf("it ended with %v", err)
		}
		var left int
		if err := f.pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM house_shares) + (SELECT count(*) FROM house_members)`).Scan(&left); err != nil || left != 0 {
			t.Errorf("%d rows are left, %v", left, err)
		}
	})
}

func TestNews(t *testing.T) {
	t.Parallel()
	pool := postgrestest.New(t)
	p := New(pool, slog.New(slog.NewTextHandler(t.Output(), nil)))
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	ready := make(chan struct{})
	settings, tools := p.hear("settings"), p.hear("tools")
	all.Go(func() { _ = p.Run(ctx, func() { close(ready) }) })
	<-ready
	for _, c := range []struct {
		sql   string
		heard <-chan struct{}
	}{
		{`INSERT INTO house_settings (name, value, by_whom) VALUES ('a', 'b', 'c')`, settings},
		{`DELETE FROM registry_pins`, tools},
		{`DELETE FROM remote_tools`, tools},
	} {
		if _, err := pool.Exec(t.Context(), c.sql); err != nil {
			t.Fatal(err)
		}
		select {
		case <-c.heard:
		case <-time.After(time.Minute):
			t.Errorf("nobody is told of %s", c.sql)
		}
	}
}
