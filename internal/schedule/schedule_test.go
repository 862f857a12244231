package schedule

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
)

// clock is moved by the test.
type clock struct{ now atomic.Pointer[time.Time] }

func newClock() *clock {
	c := &clock{}
	c.set(time.Date(2026, 5, 1, 12, 0, 30, 0, time.UTC))
	return c
}

func (c *clock) set(t time.Time)         { c.now.Store(&t) }
func (c *clock) advance(d time.Duration) { c.set(c.now.Load().Add(d)) }
func (c *clock) Now() time.Time          { return *c.now.Load() }

func start(t *testing.T, pool *pgxpool.Pool, c *clock, jobs ...Job) *Runner {
	t.Helper()
	r, err := New(pool, Config{Now: c.Now, RetryAfter: time.Minute}, jobs...)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

func tick(t *testing.T, r *Runner) {
	t.Helper()
	if err := r.pass1(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// pass1 looks once at each job.
func (r *Runner) pass1(ctx context.Context) (failed error) {
	for _, j := range r.jobs {
		_, err := r.pass(ctx, j)
		failed = errors.Join(failed, err)
	}
	return failed
}

// counting is a job that counts its runs in the database, and the times they were due.
func counting(t *testing.T, pool *pgxpool.Pool, spec string) (job Job, runs func() []time.Time) {
	t.Helper()
	if _, err := pool.Exec(t.Context(), `CREATE TABLE IF NOT EXISTS test_runs (due timestamptz)`); err != nil {
		t.Fatal(err)
	}
	job = Job{Name: "job", Spec: spec, Do: func(ctx context.Context, tx pgx.Tx, due time.Time) error {
		_, err := tx.Exec(ctx, `INSERT INTO test_runs VALUES ($1)`, due)
		return err
	}}
	return job, func() []time.Time {
		rows, err := pool.Query(context.Background(), `SELECT due FROM test_runs ORDER BY 1`)
		if err != nil {
			t.Fatal(err)
		}
		dues, err := pgx.CollectRows(rows, pgx.RowTo[time.Time])
		if err != nil {
			t.Fatal(err)
		}
		return dues
	}
}

func TestTimes(t *testing.T) {
	t.Parallel()
	t.Run("A76 a job runs at its times and not between", func(t *testing.T) {
		t.Parallel()
		pool, c := postgrestest.New(t), newClock()
		job, runs := counting(t, pool, "*/15 * * * *")
		r := start(t, pool, c, job)
		tick(t, r)
		if got := runs(); len(got) != 0 {
			t.Errorf("ran at once: %v", got)
		}
		for range 61 {
			c.advance(time.Minute)
			tick(t, r)
		}
		got := runs()
		if len(got) != 4 || !got[0].Equal(time.Date(2026, 5, 1, 12, 15, 0, 0, time.UTC)) || !got[3].Equal(time.Date(2026, 5, 1, 13, 0, 0, 0, time.UTC)) {
			t.Errorf("ran at %v", got)
		}
	})
	t.Run("none is lost: a run missed while nothing was up is made up for once", func(t *testing.T) {
		t.Parallel()
		pool, c := postgrestest.New(t), newClock()
		job, runs := counting(t, pool, "@hourly")
		start(t, pool, c, job)
		c.advance(5 * time.Hour)
		r := start(t, pool, c, job) // a restart
		tick(t, r)
		tick(t, r)
		if got := runs(); len(got) != 1 || !got[0].Equal(time.Date(2026, 5, 1, 13, 0, 0, 0, time.UTC)) {
			t.Errorf("ran at %v", got)
		}
	})
	t.Run("none is doubled: many machines, clocks that differ", func(t *testing.T) {
		t.Parallel()
		pool, c := postgrestest.New(t), newClock()
		job, runs := counting(t, pool, "@hourly")
		fast := newClock()
		machines := []*Runner{start(t, pool, c, job), start(t, pool, c, job), start(t, pool, fast, job)}
		fast.advance(20 * time.Second)
		for range 3 {
			c.advance(time.Hour)
			fast.advance(time.Hour)
			var all sync.WaitGroup
			for _, m := range append(machines, machines[0]) {
				all.Go(func() {
					if err := m.pass1(context.Background()); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
		}
		if got := runs(); len(got) != 3 {
			t.Errorf("ran at %v", got)
		}
	})
	t.Run("another expression is planned anew, the same one keeps its time", func(t *testing.T) {
		t.Parallel()
		pool, c := postgrestest.New(t), newClock()
		job, runs := counting(t, pool, "@hourly")
		start(t, pool, c, job)
		c.advance(50 * time.Minute) // 12:50:30
		start(t, pool, c, job)
		job.Spec = "*/5 * * * *"
		r := start(t, pool, c, job)
		c.advance(5 * time.Minute)
		tick(t, r)
		if got := runs(); len(got) != 1 || got[0].Minute() != 55 {
			t.Errorf("ran at %v", got)
		}
	})
	t.Run("times are UTC, or of the zone the expression names", func(t *testing.T) {
		t.Parallel()
		for spec, want := range map[string]string{"0 3 * * *": "03:00", "CRON_TZ=Europe/Prague 0 3 * * *": "01:00"} {
			times, err := Parse(spec)
			if err != nil {
				t.Fatal(err)
			}
			if got := times.Next(newClock().Now()).UTC().Format("15:04"); got != want {
				t.Errorf("%s: %s, want %s", spec, got, want)
			}
		}
	})
	t.Run("a night with an hour twice or without it has one run", func(t *testing.T) {
		t.Parallel()
		times, err := Parse("CRON_TZ=Europe/Prague 30 2 * * *")
		if err != nil {
			t.Fatal(err)
		}
		for noon, days := range map[time.Time]int{
			time.Date(2026, 10, 23, 12, 0, 0, 0, time.UTC): 4, // on the 25th, 03:00 becomes 02:00
			time.Date(2026, 3, 27, 12, 0, 0, 0, time.UTC):  4, // on the 29th, 02:00 becomes 03:00
		} {
			at := noon
			for range days {
				at = times.Next(at)
			}
			if day := at.Sub(noon) / (24 * time.Hour); int(day) != days-1 {
				t.Errorf("the run number %d after %s is at %s", days, noon, at)
			}
		}
	})
	t.Run("a job of every hour runs every hour of such a night", func(t *testing.T) {
		t.Parallel()
		times, err := Parse("CRON_TZ=Europe/Prague 0 * * * *")
		if err != nil {
			t.Fatal(err)
		}
		at := time.Date(2026, 10, 24, 12, 0, 0, 0, time.UTC)
		for range 24 {
			at = times.Next(at)
		}
		if want := time.Date(2026, 10, 25, 12, 0, 0, 0, time.UTC); !at.Equal(want) {
			t.Errorf("24 runs end at %s", at.UTC())
		}
	})
	t.Run("the machine's own zone does not matter", func(t *testing.T) {
		t.Parallel()
		times, err := Parse("0 3 * * *")
		if err != nil {
			t.Fatal(err)
		}
		elsewhere := time.FixedZone("elsewhere", 9*3600)
		if got := times.Next(newClock().Now().In(elsewhere)).UTC().Hour(); got != 3 {
			t.Errorf("at %d hours", got)
		}
	})
}

func TestFailures(t *testing.T) {
	t.Parallel()
	t.Run("a failure undoes the writes, keeps the reason and is tried again", func(t *testing.T) {
		t.Parallel()
		pool, c := postgrestest.New(t), newClock()
		job, runs := counting(t, pool, "@hourly")
		work, fail := job.Do, true
		job.Do = func(ctx context.Context, tx pgx.Tx, due time.Time) error {
			if err := work(ctx, tx, due); err != nil || !fail {
				return err
			}
			return errors.New("service is down")
		}
		r := start(t, pool, c, job)
		c.advance(time.Hour)
		tick(t, r)
		tick(t, r)
		var failures int
		var reason string
		row := pool.QueryRow(t.Context(), `SELECT failures, last_error FROM schedules WHERE name = 'job'`)
		if err := row.Scan(&failures, &reason); err != nil || failures != 1 || reason != "service is down" || len(runs()) != 0 {
			t.Errorf("failures %d, reason %q, %v; runs %v", failures, reason, err, runs())
		}
		fail = false
		c.advance(time.Minute)
		tick(t, r)
		if len(runs()) != 1 {
			t.Errorf("ran at %v", runs())
		}
	})
	t.Run("a panic, an SQL error and a job that takes too long are failures", func(t *testing.T) {
		t.Parallel()
		for name, do := range map[string]func(context.Context, pgx.Tx, time.Time) error{
			"panic: boom": func(context.Context, pgx.Tx, time.Time) error { panic("boom") },
			"no_such_table": func(ctx context.Context, tx pgx.Tx, _ time.Time) error {
				_, err := tx.Exec(ctx, `SELECT * FROM no_such_table`)
				return err
			},
			"longer than": func(ctx context.Context, tx pgx.Tx, _ time.Time) error {
				_, err := tx.Exec(ctx, `SELECT pg_sleep(60)`)
				return err
			},
			"commit": func(ctx context.Context, tx pgx.Tx, _ time.Time) error { _, _ = tx.Exec(ctx, `SELECT 1/0`); return nil },
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				pool, c := postgrestest.New(t), newClock()
				job := Job{Name: "job", Spec: "@hourly", Do: do}
				if name == "longer than" {
					job.Timeout = 200 * time.Millisecond
				}
				r := start(t, pool, c, job)
				c.advance(time.Hour)
				tick(t, r)
				var reason string
				if err := pool.QueryRow(t.Context(), `SELECT coalesce(last_error, '') FROM schedules`).Scan(&reason); err != nil || reason == "" {
					t.Fatalf("no reason kept: %v", err)
				}
				if name != "commit" && !strings.Contains(reason, name) {
					t.Errorf("reason %q", reason)
				}
			})
		}
	})
	t.Run("a run cut off with the program is still due", func(t *testing.T) {
		t.Parallel()
		pool, c := postgrestest.New(t), newClock()
		job, runs := counting(t, pool, "@hourly")
		stopped, stop := context.WithCancel(t.Context())
		work := job.Do
		job.Do = func(ctx context.Context, tx pgx.Tx, due time.Time) error {
			if err := work(ctx, tx, due); err != nil {
				return err
			}
			stop()
			return ctx.Err()
		}
		r := start(t, pool, c, job)
		c.advance(time.Hour)
		if err := r.pass1(stopped); err == nil {
			t.Error("no error")
		}
		job.Do = work
		tick(t, start(t, pool, c, job))
		if len(runs()) != 1 {
			t.Errorf("ran at %v", runs())
		}
	})
	t.Run("wrong jobs are refused", func(t *testing.T) {
		t.Parallel()
		for want, jobs := range map[string][]Job{
			"name":                  {{Spec: "@hourly"}},
			"taken":                 {{Name: "a", Spec: "@hourly"}, {Name: "a", Spec: "@daily"}},
			"schedule a: \"often\"": {{Name: "a", Spec: "often"}},
			"never comes true":      {{Name: "a", Spec: "0 0 30 2 *"}},
		} {
			if _, err := New(nil, Config{}, jobs...); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		}
	})
}

func TestFollow(t *testing.T) {
	t.Parallel()
	t.Run("A76 each machine hears of a run, no matter who did it", func(t *testing.T) {
		t.Parallel()
		pool, c := postgrestest.New(t), newClock()
		heard := make([]atomic.Int32, 3)
		var did atomic.Int32
		var machines []*Runner
		for i := range heard {
			machines = append(machines, start(t, pool, c, Job{
				Name: "sync", Spec: "@hourly",
				Do:     func(context.Context, pgx.Tx, time.Time) error { did.Add(1); return nil },
				Follow: func(context.Context) { heard[i].Add(1) },
			}))
		}
		for range 2 {
			c.advance(time.Hour)
			for range 2 {
				for _, m := range machines {
					tick(t, m)
				}
			}
		}
		for i := range heard {
			if heard[i].Load() != 2 {
				t.Errorf("machine %d heard of %d runs", i, heard[i].Load())
			}
		}
		if did.Load() != 2 {
			t.Errorf("did %d", did.Load())
		}
	})
	t.Run("Run keeps time by itself and ends with its context", func(t *testing.T) {
		t.Parallel()
		pool := postgrestest.New(t)
		ran := make(chan string, 10)
		r, err := New(pool, Config{}, Job{Name: "a", Spec: "@every 1s", Follow: func(context.Context) { ran <- "a" }},
			Job{Name: "b", Spec: "@every 1s", Follow: func(context.Context) { ran <- "b"; panic("a follower must not stop the others") }})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		seen := make(map[string]int)
		for seen["a"] < 2 || seen["b"] < 2 {
			select {
			case name := <-ran:
				seen[name]++
			case <-time.After(2 * time.Minute):
				t.Fatal(fmt.Sprint("seen ", seen))
			}
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
