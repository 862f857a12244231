// Command inbox measures how many callbacks of services a second the house takes (by its HTTP handler), each verified, stored for
// good, answered and worked on, against single-row durable inserts on the same Postgres from the same number of
// clients, one after the other in the same program.
//
//	go run ./test/bench/inbox [-clients 8,32,128] [-rounds 5] [-seconds 1.5]
//
// It starts a Postgres of its own in a temporary folder, with its usual durability. Inserts and events take turns; the
// figures are those of the round with the median ratio. The ratio counts: absolute times mean nothing on shared machines.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/migrations"
	"github.com/signalbox/signalbox/test/bench/meter"
	"github.com/signalbox/signalbox/webhooks"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	clients := flag.String("clients", "8,32,128", "numbers of clients, one measurement for each")
	rounds := flag.Int("rounds", 5, "measurements of events for each number of clients, with one of inserts before and after each")
	seconds := flag.Float64("seconds", 1.5, "length of each measurement")
	flag.Parse()
	if err := run(ctx, *clients, max(*rounds, 1), time.Duration(*seconds*float64(time.Second)), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, list string, rounds int, length time.Duration, out io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "signalbox-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	quiet := slog.New(slog.DiscardHandler)
	server, err := postgres.Start(ctx, postgres.Config{Dir: filepath.Join(dir, "postgres"), Logger: quiet})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop(context.WithoutCancel(ctx))) }()
	pool, err := postgres.Connect(ctx, server.DSN())
	if err != nil {
		return err
	}
	defer pool.Close()
	if _, err := migrations.Up(ctx, pool, quiet); err != nil {
		return err
	}
	if _, err := pool.Exec(ctx, `CREATE TABLE single_rows (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, client int, note text)`); err != nil {
		return err
	}
	fmt.Fprintf(out, "%8s %12s %12s %8s %12s %14s %14s %8s\n", "clients", "inserts/s", "events/s", "ratio", "of rounds", "insert cpu us", "event cpu us", "ratio")
	for text := range strings.SplitSeq(list, ",") {
		clients, err := strconv.Atoi(text)
		if err != nil || clients < 1 {
			return fmt.Errorf("-clients: %q is no number of clients", text)
		}
		if err := measure(ctx, out, pool, clients, rounds, length); err != nil {
			return err
		}
	}
	return nil
}

func measure(ctx context.Context, out io.Writer, pool *pgxpool.Pool, clients, rounds int, length time.Duration) error {
	inserts := func() (int64, time.Duration, error) {
		return loop(clients, length, func(client int) error {
			_, err := pool.Exec(ctx, `INSERT INTO single_rows (client, note) VALUES ($1, 'a row')`, client)
			return err
		})
	}
	events := func() (int64, time.Duration, error) { return callbacks(ctx, pool, clients, length) }
	measured, err := meter.Alternate(rounds,
		func() (meter.Rate, error) { return meter.Measure(ctx, pool, inserts) },
		func() (meter.Rate, error) { return meter.Measure(ctx, pool, events) })
	if err != nil {
		return err
	}
	m := measured.Median()
	_, err = fmt.Fprintf(out, "%8d %12.0f %12.0f %8.2f %12s %14d %14d %8.2f\n", clients, m.Base.PerSecond, m.Work.PerSecond, m.Ratio(), measured.Range(),
		m.Base.CPU.Microseconds(), m.Work.CPU.Microseconds(), m.CPURatio())
	return err
}

// callbacks sends callbacks as fast as the clients can, and waits until all are worked on, which counts.
func callbacks(ctx context.Context, pool *pgxpool.Pool, clients int, length time.Duration) (int64, time.Duration, error) {
	addresses, err := webhooks.NewAddresses("http://bench", make([]byte, 32), nil, nil)
	if err != nil {
		return 0, 0, err
	}
	box, err := webhooks.NewInbox(webhooks.InboxConfig{
		Pool: pool, Addresses: addresses, Sources: map[string]webhooks.Source{"bench": {Rate: 1e9, Burst: 1e9}},
		Callback: func(context.Context, string, string, string) (bool, error) { return true, nil },
	})
	if err != nil {
		return 0, 0, err
	}
	if err := box.Start(ctx); err != nil {
		return 0, 0, err
	}
	// Each client reports on a run of its own, again and again, and says something new each time.
	began := time.Now()
	runs, said := make([]string, clients), make([]int, clients)
	for client := range runs {
		runs[client] = addresses.Of("bench", fmt.Sprintf("%x-%d", began.UnixNano(), client))
	}
	calls, _, err := loop(clients, length, func(client int) error {
		said[client]++
		return post(ctx, box, runs[client], said[client])
	})
	for left := 1; left > 0 && err == nil; time.Sleep(time.Millisecond) {
		err = pool.QueryRow(ctx, `SELECT count(*) FROM webhook_events WHERE status = 'stored'`).Scan(&left)
	}
	took := time.Since(began)
	var undone int
	if err == nil {
		err = pool.QueryRow(ctx, `SELECT count(*) FROM webhook_events WHERE status <> 'done'`).Scan(&undone)
	}
	if undone > 0 {
		err = fmt.Errorf("%d callbacks were given up", undone)
	}
	return calls, took, errors.Join(err, box.Stop(ctx))
}

// post hands a callback to the inbox as the HTTP server does.
func post(ctx context.Context, box http.Handler, address string, step int) error {
	body := fmt.Sprintf(`{"event_type":"run.updated","status":"running","step":%d,"progress":0.5}`, step)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		return err
	}
	answer := httptest.NewRecorder()
	box.ServeHTTP(answer, request)
	if answer.Code != http.StatusOK {
		return fmt.Errorf("the answer is %d %q", answer.Code, answer.Body)
	}
	return nil
}

// loop lets clients call f until the time is over, and counts the calls.
func loop(clients int, length time.Duration, f func(client int) error) (int64, time.Duration, error) {
	began, calls := time.Now(), atomic.Int64{}
	var wait sync.WaitGroup
	errs := make([]error, clients)
	for client := range clients {
		wait.Go(func() {
			for time.Since(began) < length && errs[client] == nil {
				errs[client] = f(client)
				calls.Add(1)
			}
		})
	}
	wait.Wait()
	return calls.Load(), time.Since(began), errors.Join(errs...)
}
