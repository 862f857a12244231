//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/signalbox/signalbox/internal/assets/bucket/buckettest"
	"github.com/signalbox/signalbox/internal/postgres/cluster"
)

// Between two faults there is a pause of at most atMost; one that lasts does so for at most lasting.
const (
	atMost  = 3 * time.Second
	lasting = 6 * time.Second
)

// hurt does the harm of the plan, or what is random until ctx ends, and mends everything then.
func (h *house) hurt(ctx context.Context, plan []string, out io.Writer) {
	defer h.mend()
	harms := h.harms()
	names := slices.Sorted(maps.Keys(harms))
	count := map[string]int{}
	for n, told := 0, time.Now(); (n < len(plan) || plan == nil) && h.pass(ctx, atMost); n++ {
		name := names[h.rng.IntN(len(names))]
		switch {
		case plan != nil:
			name = plan[n]
		case h.rng.IntN(2) == 0: // whatever else is wrong
			name = "process killed"
		}
		count[name]++
		if err := harms[name](ctx); err != nil && ctx.Err() == nil {
			fmt.Fprintf(out, "%s: %v\n", name, err)
		}
		if time.Since(told) > time.Minute {
			told = time.Now()
			fmt.Fprintf(out, "%s so far: %v\n", told.Format(time.TimeOnly), count)
		}
	}
	fmt.Fprintf(out, "harm done: %v\n", count)
}

// pass waits for a random time and reports whether ctx goes on.
func (h *house) pass(ctx context.Context, atMost time.Duration) bool {
	timer := time.NewTimer(time.Duration(h.rng.Int64N(int64(atMost))))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// harms are what is done, by name.
func (h *house) harms() map[string]func(context.Context) error {
	all := map[string]func(context.Context) error{
		"process killed":    h.killOne,
		"processes killed":  h.killAll,
		"database killed":   h.killDatabase,
		"database restarts": h.restartDatabase,
		"engine restarts":   h.restartEngine,
		"files full":        h.fill,
	}
	for name, m := range map[string]mode{"cut": cut, "silent": silent, "slow": slow} {
		all["database "+name] = func(ctx context.Context) error {
			return h.spoil(ctx, m, h.processes[h.rng.IntN(len(h.processes))].database)
		}
		all["telegram "+name] = func(ctx context.Context) error { return h.spoil(ctx, m, h.chat) }
		all["engine "+name] = func(ctx context.Context) error { return h.spoil(ctx, m, h.work[h.rng.IntN(len(h.work))]) }
		all["files "+name] = func(ctx context.Context) error { return h.spoil(ctx, m, h.store) }
	}
	return all
}

func (h *house) spoil(ctx context.Context, m mode, l *link) error {
	l.set(m)
	h.pass(ctx, lasting)
	l.set(well)
	return nil
}

// killOne kills one of the processes; the first one lives for ever.
func (h *house) killOne(context.Context) error {
	h.processes[1+h.rng.IntN(len(h.processes)-1)].kill()
	return nil
}

func (h *house) killAll(context.Context) error {
	for _, p := range h.processes[1:] {
		p.kill()
	}
	return nil
}

func (h *house) killDatabase(ctx context.Context) error { return h.endDatabase(ctx, syscall.SIGKILL) }

func (h *house) restartDatabase(ctx context.Context) error { return h.endDatabase(ctx, syscall.SIGINT) }

// endDatabase ends the server, and starts it again a little later.
func (h *house) endDatabase(ctx context.Context, by syscall.Signal) error {
	pid, _ := (&cluster.Cluster{Dir: filepath.Join(h.dir, "postgres")}).PID()
	if pid <= 0 {
		return fmt.Errorf("no server: %w", os.ErrProcessDone)
	}
	if err := syscall.Kill(pid, by); err != nil {
		return err
	}
	<-h.server.Done()
	h.pass(ctx, lasting/2)
	return h.server.Restart(context.WithoutCancel(ctx))
}

// restartEngine has an engine forget its queue and its history.
func (h *house) restartEngine(context.Context) error {
	h.engines[h.rng.IntN(len(h.engines))].Restart()
	return nil
}

// fill has the store answer for a while as one whose disk is full.
func (h *house) fill(ctx context.Context) error {
	h.files.Fail(func(r *http.Request) buckettest.Fault {
		if r.Method == http.MethodPut || r.Method == http.MethodPost {
			return buckettest.Fault{Status: http.StatusInsufficientStorage}
		}
		return buckettest.Fault{}
	})
	h.pass(ctx, lasting)
	h.files.Fail(nil)
	return nil
}
