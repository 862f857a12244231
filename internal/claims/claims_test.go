package claims

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/internal/locks"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
)

// office is a database with a table of work and one of processes.
type office struct {
	pool *pgxpool.Pool
}

func newOffice(t *testing.T) office {
	t.Helper()
	pool := postgrestest.New(t)
	_, err := pool.Exec(t.Context(), `
		CREATE TABLE work (id uuid PRIMARY KEY, since timestamptz NOT NULL, tries integer NOT NULL DEFAULT 0, next_at timestamptz, claimed_by text);
		CREATE TABLE processes (id text PRIMARY KEY, started_at timestamptz NOT NULL DEFAULT now(), gone_at timestamptz)`)
	if err != nil {
		t.Fatal(err)
	}
	return office{pool}
}

func (o office) queue(process string, work func(context.Context, Item) Next) *Queue {
	return NewQueue(QueueConfig{
		Pool: o.pool, Log: slog.New(slog.DiscardHandler), Now: time.Now, Table: "work", Key: "id", Process: process, Places: 4, Poll: 5 * time.Millisecond, Work: work,
	})
}

func (o office) add(t *testing.T, q *Queue, n int) (keys []string) {
	t.Helper()
	for range n {
		keys = append(keys, uuid.NewString())
	}
	if err := q.Add(t.Context(), o.pool, keys...); err != nil {
		t.Fatal(err)
	}
	return keys
}

// run lets a queue work until the test, or the function it gives, ends that.
func run(t *testing.T, q *Queue) (stop func()) {
	t.Helper()
	closing, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		q.Run(t.Context(), closing)
	}()
	stop = sync.OnceFunc(func() {
		close(closing)
		<-over
	})
	t.Cleanup(stop)
	return stop
}

func (o office) until(t *testing.T, what, condition string, args ...any) {
	t.Helper()
	clocktest.Until(t, what, func() (holds bool) {
		if err := o.pool.QueryRow(t.Context(), `SELECT `+condition, args...).Scan(&holds); err != nil {
			t.Fatal(err)
		}
		return holds
	})
}

const empty = `NOT EXISTS (SELECT FROM work)`

func TestQueue(t *testing.T) {
	t.Parallel()
	t.Run("what several processes share is worked on once", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t)
		var mu sync.Mutex
		done := map[string]int{}
		work := func(_ context.Context, item Item) Next {
			mu.Lock()
			defer mu.Unlock()
			done[item.Key]++
			return Next{}
		}
		queues := []*Queue{o.queue("a", work), o.queue("b", work), o.queue("c", work)}
		keys := o.add(t, queues[0], 300)
		for _, q := range queues {
			run(t, q)
		}
		o.until(t, "all is done", empty)
		for _, key := range keys {
			if done[key] != 1 {
				t.Fatalf("%s was worked on %d times", key, done[key])
			}
		}
	})
	t.Run("what failed is due again, and counts its tries but for those that are free", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t)
		var tries []int
		q := o.queue("a", func(_ context.Context, item Item) Next {
			switch tries = append(tries, item.Tries); len(tries) {
			case 1:
				return Next{After: time.Millisecond}
			case 2:
				return Next{After: time.Millisecond, Free: true}
			case 3:
				panic("at the third")
			}
			return Next{}
		})
		o.add(t, q, 1)
		run(t, q)
		o.until(t, "the panic is to be tried again later", `EXISTS (SELECT FROM work WHERE tries = 2 AND next_at > now() + interval '30 seconds')`)
		if _, err := o.pool.Exec(t.Context(), `UPDATE work SET next_at = now()`); err != nil {
			t.Fatal(err)
		}
		o.until(t, "it is done", empty)
		if fmt.Sprint(tries) != "[0 1 1 2]" {
			t.Errorf("the tries before were %v", tries)
		}
	})
	t.Run("what is due later is looked for then, also when another process put it there", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t)
		q := o.queue("a", func(_ context.Context, item Item) Next {
			if item.Tries == 0 {
				return Next{After: 20 * time.Millisecond}
			}
			return Next{}
		})
		q.cfg.Poll = time.Hour
		o.add(t, q, 2)
		if _, err := o.pool.Exec(t.Context(), `UPDATE work SET next_at = clock_timestamp() + interval '50 milliseconds'`); err != nil {
			t.Fatal(err)
		}
		run(t, q)
		o.until(t, "all is done", empty)
	})
	t.Run("what waits is due now when it is added again, what is under work stays as it is", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t)
		q := o.queue("a", nil)
		key := o.add(t, q, 1)[0]
		if _, err := o.pool.Exec(t.Context(), `UPDATE work SET next_at = now() + interval '1 day', tries = 9`); err != nil {
			t.Fatal(err)
		}
		if err := q.Add(t.Context(), o.pool, key); err != nil {
			t.Fatal(err)
		}
		o.until(t, "it is due", `EXISTS (SELECT FROM work WHERE next_at <= clock_timestamp() AND tries = 0)`)
		if _, err := o.pool.Exec(t.Context(), `UPDATE work SET claimed_by = 'b', tries = 5`); err != nil {
			t.Fatal(err)
		}
		if err := q.Add(t.Context(), o.pool, key); err != nil {
			t.Fatal(err)
		}
		o.until(t, "it is as it was", `EXISTS (SELECT FROM work WHERE claimed_by = 'b' AND tries = 5)`)
	})
	t.Run("one that takes long holds up no other, and a stop waits for it", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t)
		release, begun := make(chan struct{}), make(chan string, 1)
		q := o.queue("a", func(_ context.Context, item Item) Next {
			select {
			case begun <- item.Key:
				<-release
			default:
			}
			return Next{}
		})
		o.add(t, q, 20)
		stop := run(t, q)
		o.until(t, "the others are done", `(SELECT count(*) = 1 FROM work)`)
		slow := <-begun
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			stop()
		}()
		select {
		case <-stopped:
			t.Error("it stopped in the midst of work")
		default:
		}
		close(release)
		<-stopped
		o.until(t, "what was under way is noted", `NOT EXISTS (SELECT FROM work WHERE id = $1)`, slow)
	})
	t.Run("who puts a row there has the first try, before it is due", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t)
		q := o.queue("a", nil)
		key := o.add(t, q, 1)[0]
		if _, err := o.pool.Exec(t.Context(), `UPDATE work SET next_at = now() + interval '1 day'`); err != nil {
			t.Fatal(err)
		}
		done := 0
		q.Do(t.Context(), key, func(context.Context, Item) Next { done++; return Next{After: time.Hour} })
		o.until(t, "the next try is noted", `EXISTS (SELECT FROM work WHERE claimed_by IS NULL AND tries = 1 AND next_at < now() + interval '2 hours')`)
		if _, err := o.pool.Exec(t.Context(), `UPDATE work SET claimed_by = 'b'`); err != nil {
			t.Fatal(err)
		}
		over := func(context.Context, Item) Next { done++; return Next{} }
		q.Do(t.Context(), key, over)
		q.Do(t.Context(), uuid.NewString(), over)
		o.until(t, "what is another's by now stays as it is", `EXISTS (SELECT FROM work WHERE claimed_by = 'b' AND tries = 1)`)
		if done != 3 {
			t.Errorf("it was done %d times, want 3", done)
		}
		if _, err := o.pool.Exec(t.Context(), `UPDATE work SET claimed_by = NULL`); err != nil {
			t.Fatal(err)
		}
		q.Do(t.Context(), key, over)
		o.until(t, "it is over", empty)
	})
	t.Run("what is kept is not due any more", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t)
		q := o.queue("a", func(context.Context, Item) Next { return Next{Keep: true} })
		o.add(t, q, 1)
		run(t, q)
		o.until(t, "it is kept", `EXISTS (SELECT FROM work WHERE next_at IS NULL AND claimed_by IS NULL AND tries = 1)`)
	})
	t.Run("a claim whose answer was lost is given up", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t)
		q := o.queue("a", func(context.Context, Item) Next { return Next{} })
		o.add(t, q, 1)
		if _, err := o.pool.Exec(t.Context(), `UPDATE work SET claimed_by = 'a'`); err != nil {
			t.Fatal(err)
		}
		q.doubt = true
		run(t, q)
		o.until(t, "it is done", empty)
	})
}

// process makes a Process that has claims in the table of work.
func (o office) process(id string, q *Queue) *Process {
	return NewProcess(ProcessConfig{
		Pool: o.pool, Log: slog.New(slog.DiscardHandler), ID: id, Table: "processes", Lock: locks.Worker, Channel: "claims_test",
		Heard: func(string) {}, Again: func(context.Context) {},
		Release: func(ctx context.Context, tx pgx.Tx, id string, _ time.Time) (int64, error) {
			return q.Release(ctx, tx, id)
		},
	})
}

func TestProcess(t *testing.T) {
	t.Parallel()
	// two are a process with a claim, and another one.
	two := func(t *testing.T) (o office, first, second *Process) {
		t.Helper()
		o = newOffice(t)
		q := o.queue("first", nil)
		first, second = o.process("first", q), o.process("second", q)
		for _, p := range []*Process{first, second} {
			if err := p.Begin(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		o.add(t, q, 1)
		if _, err := o.pool.Exec(t.Context(), `UPDATE work SET claimed_by = 'first'`); err != nil {
			t.Fatal(err)
		}
		return o, first, second
	}
	takeOver := func(t *testing.T, p *Process) []Died {
		t.Helper()
		died, err := p.TakeOver(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return died
	}
	const claimed = `EXISTS (SELECT FROM work WHERE claimed_by = 'first')`
	t.Run("the claims of a process that lives stay, those of one that is gone are taken over at the second look", func(t *testing.T) {
		t.Parallel()
		o, first, second := two(t)
		for range 3 {
			if died := takeOver(t, second); len(died) != 0 {
				t.Fatalf("%v died", died)
			}
		}
		o.until(t, "the claim is still there", claimed)
		if err := first.conn.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		o.until(t, "the database has heard of it", `pg_try_advisory_xact_lock(`+locks.Worker+`)`, "first")
		if died := takeOver(t, second); len(died) != 0 {
			t.Errorf("%v died at the first look", died)
		}
		if died := takeOver(t, second); len(died) != 1 || died[0] != (Died{"first", 1}) {
			t.Errorf("%v died", died)
		}
		o.until(t, "the claim is free", `NOT `+claimed)
		o.until(t, "it will be looked at once more", `EXISTS (SELECT FROM processes WHERE id = 'first' AND gone_at IS NOT NULL)`)
	})
	t.Run("a process whose connection broke takes its sign of life again, and keeps its claims", func(t *testing.T) {
		t.Parallel()
		o, first, second := two(t)
		before := first.conn.PgConn().PID()
		ctx, end := context.WithCancel(t.Context())
		var keeping sync.WaitGroup
		keeping.Go(func() { first.Keep(ctx) })
		defer keeping.Wait()
		defer end()
		takeOver(t, second)
		if _, err := o.pool.Exec(t.Context(), `SELECT pg_terminate_backend($1)`, before); err != nil {
			t.Fatal(err)
		}
		o.until(t, "the sign of life is back", `(SELECT count(*) = 2 FROM pg_stat_activity WHERE datname = current_database() AND query = 'LISTEN claims_test' AND pid <> $1)`, before)
		takeOver(t, second)
		takeOver(t, second)
		o.until(t, "the claim is still there", claimed)
	})
	t.Run("a process that ends in good order leaves nothing", func(t *testing.T) {
		t.Parallel()
		o, first, _ := two(t)
		if err := first.End(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		o.until(t, "the claim is free", `NOT `+claimed)
		o.until(t, "it is forgotten", `NOT EXISTS (SELECT FROM processes WHERE id = 'first')`)
	})
	t.Run("a release that fails is no take-over", func(t *testing.T) {
		t.Parallel()
		o, first, second := two(t)
		if err := first.conn.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		o.until(t, "the database has heard of it", `pg_try_advisory_xact_lock(`+locks.Worker+`)`, "first")
		own, broken := second.cfg.Release, errors.New("no")
		second.cfg.Release = func(context.Context, pgx.Tx, string, time.Time) (int64, error) { return 0, broken }
		if died, err := second.TakeOver(t.Context()); !errors.Is(err, broken) || len(died) != 0 {
			t.Errorf("%v died, %v", died, err)
		}
		second.cfg.Release = own
		if died := takeOver(t, second); len(died) != 1 {
			t.Errorf("%v died", died)
		}
	})
}
