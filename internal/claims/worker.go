package claims

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/errs"
)

// WorkerConfig is what a Worker works with. All but Channel, Heard, Tidy and BreakOff are needed.
type WorkerConfig struct {
	Queue QueueConfig // without its Process
	// Processes is the table of processes that work on the queue, Lock the advisory lock of one. Channel is where they tell each other of
	// news, and Heard gets it; see ProcessConfig. Without one, others see after at most two seconds what came into the queue.
	Processes, Lock, Channel string
	Heard                    func(payload string)
	LookEvery                time.Duration // how often processes that are gone are looked for
	// Tidy is done as often, for what else passes with time.
	Tidy func(ctx context.Context) error
	// BreakOff has Stop cut off what is under way, which is begun anew elsewhere, rather than wait for it.
	BreakOff bool
}

// Worker is one process of those that work on a Queue.
type Worker struct {
	*Queue
	cfg     WorkerConfig
	log     *slog.Logger
	process *Process

	stopping chan struct{}
	idle     chan struct{}      // closed when nothing is under work here any more
	end      context.CancelFunc // of all background work; nil: not started
	work     sync.WaitGroup
}

// NewWorker makes a Worker. Its Queue takes what waits; Start lets it be worked on here.
func NewWorker(cfg WorkerConfig) *Worker {
	cfg.Queue.Process = uuid.NewString()
	w := &Worker{Queue: NewQueue(cfg.Queue), cfg: cfg, log: cfg.Queue.Log, stopping: make(chan struct{}), idle: make(chan struct{})}
	w.process = NewProcess(ProcessConfig{
		Pool: cfg.Queue.Pool, Log: w.log, ID: cfg.Queue.Process, Table: cfg.Processes, Lock: cfg.Lock, Channel: cfg.Channel,
		Heard: cfg.Heard, Again: func(context.Context) { w.Look() },
		Release: func(ctx context.Context, tx pgx.Tx, id string, _ time.Time) (int64, error) {
			return w.Release(ctx, tx, id)
		},
	})
	return w
}

// Start begins to work on what waits, also on what a process that is gone left behind. ctx is for starting only.
func (w *Worker) Start(ctx context.Context) error {
	if err := w.process.Begin(ctx); err != nil {
		return fmt.Errorf("start to work on %s: %w", w.cfg.Queue.Table, err)
	}
	working, end := context.WithCancel(context.Background())
	w.end = end
	w.work.Go(func() { w.process.Keep(working) })
	w.work.Go(func() {
		defer close(w.idle)
		w.Run(working, w.stopping)
	})
	w.work.Go(func() { w.lookAfter(working) })
	return nil
}

// Stop lets what is under way come to its end, unless BreakOff is set or ctx ends, gives it back and waits. What was cut off is begun anew
// elsewhere, or here at the next start.
func (w *Worker) Stop(ctx context.Context) error {
	if w.end == nil {
		return nil
	}
	close(w.stopping)
	if w.cfg.BreakOff {
		w.end()
	}
	inOrder := true
	select {
	case <-w.idle:
	case <-ctx.Done():
		inOrder = false
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	err := w.process.End(last, inOrder)
	w.end()
	w.work.Wait()
	return errs.Wrap(err, "stop to work on %s", w.cfg.Queue.Table)
}

// Go does something beside the queue, which Stop waits for.
func (w *Worker) Go(f func()) { w.work.Go(f) }

// Stopping is closed when Stop begins: what takes long is to end where it can.
func (w *Worker) Stopping() <-chan struct{} { return w.stopping }

// lookAfter takes over what processes that are gone had claimed.
func (w *Worker) lookAfter(ctx context.Context) {
	tick := time.NewTicker(w.cfg.LookEvery)
	defer tick.Stop()
	for {
		died, err := w.process.TakeOver(ctx)
		for _, d := range died {
			w.log.InfoContext(ctx, "took over from a process that is gone", "process", d.ID, "claims", d.Freed)
			w.Look()
		}
		if w.cfg.Tidy != nil {
			err = errors.Join(err, w.cfg.Tidy(ctx))
		}
		if err != nil && ctx.Err() == nil {
			w.log.WarnContext(ctx, "looking after what waits failed, another try follows", "table", w.cfg.Queue.Table, "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-w.stopping:
			return
		case <-tick.C:
		}
	}
}
