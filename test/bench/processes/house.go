//go:build unix

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/test/bench/meter"
	"github.com/signalbox/signalbox/test/bench/program"
)

type bench struct {
	options
	binary, dir, dsn, tools string
}

const (
	patience = 2 * time.Minute
	warmUp   = 2 * time.Second
)

// house is some processes on a database of their own.
type house struct {
	pool      *pgxpool.Pool
	processes []*program.Process
	keys      []string
	next      atomic.Int64
	pooler    *exec.Cmd // nil: none
}

func (b *bench) open(ctx context.Context, n int) (*house, error) {
	h := &house{}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	admin, err := postgres.Connect(ctx, b.dsn)
	if err != nil {
		return h, err
	}
	defer admin.Close()
	name := "bench_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	if _, err := admin.Exec(ctx, `CREATE DATABASE `+name); err != nil {
		return h, err
	}
	address, err := url.Parse(b.dsn)
	if err != nil {
		return h, err
	}
	address.Path = "/" + name
	if h.pool, err = postgres.Connect(ctx, address.String()); err != nil {
		return h, err
	}
	database := []string{"DATABASE_URL=" + address.String()}
	if b.pooler > 0 {
		pooled, err := h.startPooler(b)
		if err != nil {
			return h, err
		}
		database = []string{"DATABASE_URL=" + pooled, "DATABASE_SESSION_URL=" + address.String()}
	}
	// Programs keep their connections: a new one for each order would count as what it costs.
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: n * b.clients}}
	for range n {
		page, err := program.FreeAddress()
		if err != nil {
			return h, err
		}
		p := &program.Process{Binary: b.binary, Dir: filepath.Join(b.dir, uuid.NewString()), Address: page, Client: client, Env: append([]string{
			"HOUSE_KEY=" + strings.Repeat("ab", 32), "TOOLS_DIR=" + b.tools, "WORKFLOWS_DIR=" + filepath.Join(b.dir, "none"),
			"OUTBOUND_ALLOW=127.0.0.1", "SIGNUP_CREDIT_USD=1000", "LOG_LEVEL=error", "GOMAXPROCS=" + strconv.Itoa(cmp.Or(b.processors, runtime.NumCPU()/n, 1)),
		}, database...)}
		h.processes = append(h.processes, p)
		if err := p.Up(ctx); err != nil {
			return h, err
		}
		if err := p.BooksChecked(ctx); err != nil {
			return h, err
		}
	}
	for i := range n * b.clients {
		key, err := h.processes[0].NewKey(ctx, fmt.Sprint("client", i))
		if err != nil {
			return h, err
		}
		h.keys = append(h.keys, key)
	}
	return h, nil
}

func (h *house) close() (err error) {
	for _, p := range h.processes {
		err = errors.Join(err, p.Stop())
	}
	if h.pooler != nil {
		_ = h.pooler.Process.Kill()
		_ = h.pooler.Wait()
	}
	if h.pool != nil {
		h.pool.Close()
	}
	return err
}

// startPooler starts PgBouncer in front of the house's database and gives the address there.
func (h *house) startPooler(b *bench) (address string, err error) {
	dir := filepath.Join(b.dir, "pooler-"+uuid.NewString())
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	address, h.pooler, err = postgrestest.StartPgBouncer(dir, h.pool.Config().ConnConfig, b.pooler)
	return address, err
}

func (h *house) poolerCPU() time.Duration {
	if h.pooler == nil {
		return 0
	}
	return meter.ProcessCPU(h.pooler.Process.Pid)
}

// connections are those that the house holds of the database: the bench's own do not count.
func (h *house) connections(ctx context.Context) (n int, err error) {
	err = h.pool.QueryRow(ctx, `SELECT count(*) - $1 FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'`, h.pool.Stat().TotalConns()).Scan(&n)
	return n, err
}

// order places one order at the process whose turn it is.
func (h *house) order(ctx context.Context, key string) error {
	p := h.processes[int(h.next.Add(1))%len(h.processes)]
	return p.Call(ctx, program.Request{Method: http.MethodPost, Path: "/api/run/instant", Key: key, Body: map[string]any{"inputs": map[string]any{"prompt": "a red bicycle"}}}, nil)
}

// load has clients order for a time, and waits until all is done.
func (h *house) load(ctx context.Context, clients int, length time.Duration) (runs int64, took time.Duration, err error) {
	began := time.Now()
	var n atomic.Int64
	var all sync.WaitGroup
	failed := make([]error, clients)
	for i := range clients {
		all.Go(func() {
			for time.Since(began) < length && failed[i] == nil {
				failed[i] = h.order(ctx, h.keys[i])
				n.Add(1)
			}
		})
	}
	all.Wait()
	err = errors.Join(failed...)
	for left := true; left && err == nil; time.Sleep(5 * time.Millisecond) {
		err = h.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM runs WHERE ended_at IS NULL)`).Scan(&left)
	}
	took = time.Since(began)
	var lost int
	if err == nil {
		err = h.pool.QueryRow(ctx, `SELECT count(*) FROM runs WHERE status <> 'succeeded'`).Scan(&lost)
	}
	if lost > 0 {
		err = fmt.Errorf("%d runs did not succeed", lost)
	}
	return n.Load(), took, err
}

// wait orders at an even pace and gives how long the answers took, the shortest first.
func (h *house) wait(ctx context.Context, pace int, length time.Duration) ([]time.Duration, error) {
	waits := make([]time.Duration, max(1, int(length.Seconds()*float64(pace))))
	failed := make([]error, len(waits))
	tick := time.NewTicker(time.Second / time.Duration(pace))
	defer tick.Stop()
	var all sync.WaitGroup
	for i := range waits {
		<-tick.C
		all.Go(func() {
			began := time.Now()
			failed[i] = h.order(ctx, h.keys[i%len(h.keys)])
			waits[i] = time.Since(began)
		})
	}
	all.Wait()
	slices.Sort(waits)
	return waits, errors.Join(failed...)
}

// idle is the processor time in a second without an order.
func (h *house) idle(ctx context.Context) (time.Duration, error) {
	before, _, err := h.cpu(ctx)
	if err != nil {
		return 0, err
	}
	time.Sleep(warmUp)
	after, _, err := h.cpu(ctx)
	return time.Duration(float64(after-before) / warmUp.Seconds()), err
}

// cpu is the processor time of the processes and of the database so far, and that of the database alone.
func (h *house) cpu(ctx context.Context) (total, server time.Duration, err error) {
	server, err = meter.ServerCPU(ctx, h.pool)
	total = server + h.poolerCPU()
	for _, p := range h.processes {
		total += meter.ProcessCPU(p.PID())
	}
	return total, server, err
}
