// Package work takes runs from the queue to their ends: it claims them, has their providers do them, watches and stops them, stores their
// results, ends and delivers them, and looks after what processes that died have left.
package work

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/claims"
	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/locks"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs/store"
)

// Start begins to work on runs, ours and those that a process which is gone left behind. ctx is for
// starting only.
func (s *Worker) Start(ctx context.Context) error {
	if err := s.BeginStart(); err != nil {
		return err
	}
	// The sign of life comes first: without it others would take what is claimed here for orphans.
	if err := s.process.Begin(ctx); err != nil {
		return fmt.Errorf("start the runs' workers: %w", err)
	}
	s.Spawn(func() { s.process.Keep(s.Base) })
	s.Spawn(s.Hub.TellOthers)
	s.Spawn(func() {
		defer close(s.queuesIdle)
		var all sync.WaitGroup
		for _, q := range s.queues() {
			all.Go(func() { q.Run(s.Working, s.Stopping) })
		}
		all.Wait()
	})
	s.Slots.start()
	s.Spawn(s.claimFree)
	s.Spawn(s.housekeeping)
	s.Spawn(s.checkBooks)
	return nil
}

// Stop ends the work in two steps: no run is taken any more, those that wait for a provider are let go,
// those in the middle of a step end it; what has not ended after the time of Config.SoftStop, or when ctx ends, is
// cancelled. All that is not over goes back to the queue and resumes elsewhere, or here at the next start.
func (s *Worker) Stop(ctx context.Context) error {
	first, started := s.BeginStop()
	if !first {
		return nil
	}
	var err error
	if started {
		err = s.stopWorkers(ctx)
	}
	s.Close()
	return errs.Wrap(err, "stop the runs' workers")
}

// stopWorkers ends the work on runs and queues and gives up what was claimed.
func (s *Worker) stopWorkers(ctx context.Context) error {
	err := s.endWork(ctx)
	inOrder := err == nil // nobody is left here who could write
	// Half of the time that is left; the rest is for what stops after the runs.
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), max(StopTimeout, timeLeft(ctx)/2))
	defer cancel()
	return errors.Join(err, s.process.End(last, inOrder))
}

// timeLeft is how long ctx still has, if that is limited.
func timeLeft(ctx context.Context) time.Duration {
	deadline, limited := ctx.Deadline()
	if !limited || ctx.Err() != nil {
		return 0
	}
	return time.Until(deadline)
}

const rereadEvery = 2 * time.Second

// hear takes in a notification.
func (s *Worker) hear(payload string) {
	sender, list, ok := strings.Cut(payload, ":")
	switch {
	case !ok || sender == s.Instance:
	case sender == "" && list == store.Deliveries:
		s.closer.deliveries.Look()
	case sender == "":
		s.Slots.Look()
	default:
		s.Hub.Refresh(s.Hub.Interesting(strings.Split(list, ",")))
	}
}

// NewWorker makes a Worker with the parts that a Closer has.
func NewWorker(e *store.Env, c *Closer) (*Worker, error) {
	s := &Worker{
		Env: e, Store: c.store, Hub: c.hub, Pricer: c.pricer, Writer: c.writer, stopper: c.stopper, closer: c,
		Slots: newSlots(e.Config.Workers), queuesIdle: make(chan struct{}), full: make(map[string]map[string]registry.Tool),
	}
	s.process = claims.NewProcess(claims.ProcessConfig{
		Pool: e.Config.Pool, Log: e.Log, ID: e.Instance, Table: "run_workers", Lock: locks.Worker,
		Channel: store.Channel, Heard: s.hear, Again: func(context.Context) { s.Hub.Refresh(s.Hub.WatchedElsewhere()) }, Release: s.release,
	})
	return s, e.Config.Metrics.Register(slotsCollector{s.Slots})
}
