package comfy

import (
	"context"
	"errors"
	"net/http/httptrace"
	"slices"
	"sync"
	"time"

	"github.com/signalbox/signalbox/comfy/api"
	"github.com/signalbox/signalbox/comfy/objectinfo"
)

// Run keeps the fleet's knowledge fresh until ctx ends.
func (f *Fleet) Run(ctx context.Context) {
	defer f.cfg.HTTPClient.CloseIdleConnections()
	var wg sync.WaitGroup
	wg.Go(func() { every(ctx, healthInterval, f.Refresh) })
	wg.Go(func() { every(ctx, countInterval, f.countWaiting) }) // beside it, since a server that does not answer holds a round up
	wg.Go(func() { every(ctx, wakeInterval, f.WakeWanted) })
	wg.Wait()
}

// every does something at an interval until ctx ends.
func every(ctx context.Context, interval time.Duration, do func(context.Context)) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			do(ctx)
		}
	}
}

// Refresh probes all engines at once and calls OnChange, once, when anything changed that matters to tools.
func (f *Fleet) Refresh(ctx context.Context) {
	f.refreshes.Lock()
	defer f.refreshes.Unlock()
	f.readOrders(ctx)
	var wg sync.WaitGroup
	changed := make([]bool, len(f.engines))
	for i, e := range f.engines {
		wg.Go(func() { changed[i] = f.probe(ctx, e) })
	}
	wg.Wait()
	news := slices.Contains(changed, true)
	if news {
		f.triggers.Retry()
	}
	news = f.triggers.Read(ctx, f.cfg.Logger, f.loraMetadata) || news
	if news && f.cfg.OnChange != nil && ctx.Err() == nil {
		f.cfg.OnChange()
	}
}

// loraMetadata asks one engine after the other what the file of a LoRA says about itself, since not all have every file. It is empty where all of
// them have none.
func (f *Fleet) loraMetadata(ctx context.Context, file string) (api.Metadata, error) {
	var failed error
	for _, e := range f.servers() {
		if !e.knowledge().up() {
			continue
		}
		meta, err := e.Client.ModelMetadata(ctx, "loras", file)
		if len(meta) > 0 {
			return meta, nil
		}
		failed = errors.Join(failed, err)
	}
	return nil, failed
}

// probe asks one engine how it is and what it has.
func (f *Fleet) probe(ctx context.Context, e *Engine) (changed bool) {
	before := e.knowledge()
	next := before
	next.checked = f.cfg.Now()
	taken, idle := e.taken(), false
	if e.endpoint != nil {
		idle = e.endpoint.probe(ctx, &next)
	} else {
		f.askServer(ctx, e.probes, before, &next)
	}
	if ctx.Err() != nil {
		return false
	}
	f.seeSleeper(ctx, e, before, &next)
	e.mu.Lock()
	switch {
	case next.err == nil:
		next.downSince = time.Time{}
	case e.known.err != nil:
		next.downSince = e.known.downSince
	default:
		next.downSince = next.checked
	}
	e.known = next
	if idle {
		e.drop(taken...) // jobs whose end was seen by another process, or by nobody
	}
	busy := len(e.ours) > 0
	e.checkMemory(next.stats, busy)
	e.mu.Unlock()
	if busy && next.err == nil && e.endpoint == nil {
		_, _ = e.queue(ctx) // in case nobody watches any more what was sent there
	}
	f.logTransition(e, before, next)
	return before.checked.IsZero() || (before.err == nil) != (next.err == nil) || before.infoHash != next.infoHash
}

// askServer asks how a server is and, when it is time, it may have been restarted, or a model has come that tools wait for, what it has.
func (f *Fleet) askServer(ctx context.Context, c *api.Client, before knowledge, next *knowledge) {
	stats, fresh, err := probeStats(ctx, c)
	stale := fresh || !before.up() || stats.Version != before.stats.Version || next.checked.Sub(before.infoAt) >= infoInterval
	if err == nil && !stale {
		next.arrived, stale = f.wanted.arrivedAt(ctx, c, before)
	}
	if next.err = err; err == nil {
		next.stats = stats
	}
	if err == nil && stale {
		next.info, next.infoHash, next.err = readInfo(ctx, c, before)
		next.infoAt = next.checked
	}
}

// probeStats also tells whether the connection is a new one. A server that was restarted has closed the old one, and
// may have other nodes since.
func probeStats(ctx context.Context, c *api.Client) (stats api.SystemStats, fresh bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) { fresh = !i.Reused }})
	stats, err = c.SystemStats(ctx)
	return stats, fresh, err
}

// readInfo reads the declarations; on an error the ones from before stay.
func readInfo(ctx context.Context, c *api.Client, before knowledge) (*objectinfo.Info, string, error) {
	ctx, cancel := context.WithTimeout(ctx, infoTimeout)
	defer cancel()
	info, hash, err := c.ObjectInfo(ctx)
	if err != nil {
		return before.info, before.infoHash, err
	}
	return info, hash, nil
}

// lose counts an engine as down until the next probe, since a run could not reach it.
func (f *Fleet) lose(e *Engine, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.known.err == nil && !errors.Is(err, context.Canceled) {
		e.known.err, e.known.downSince = err, f.cfg.Now()
		f.cfg.Logger.Warn("engine is down", "engine", e.Name, "error", err)
	}
}

// lookAgain reads the declarations of an engine that have changed, unless that was done since they were read at a moment.
func (f *Fleet) lookAgain(ctx context.Context, e *Engine, readAt time.Time) {
	f.refreshes.Lock()
	defer f.refreshes.Unlock()
	e.mu.Lock()
	fresh := !e.known.infoAt.Equal(readAt)
	if !fresh {
		e.known.infoAt = time.Time{} // should it not answer now, the next probe asks
	}
	e.mu.Unlock()
	if !fresh && f.probe(ctx, e) && f.cfg.OnChange != nil {
		f.cfg.OnChange()
	}
}

// askAgain reads the declarations of all servers that are up, but for those that were read in the last seconds.
func (f *Fleet) askAgain(ctx context.Context) {
	var wg sync.WaitGroup
	for _, e := range f.servers() {
		if k := e.knowledge(); k.up() && f.cfg.Now().Sub(k.infoAt) >= askAgainAfter {
			wg.Go(func() { f.lookAgain(ctx, e, k.infoAt) })
		}
	}
	wg.Wait()
}

func (f *Fleet) logTransition(e *Engine, before, next knowledge) {
	switch {
	case next.err != nil && (before.err == nil || before.checked.IsZero()):
		f.cfg.Logger.Warn("engine is down", "engine", e.Name, "error", next.err)
	case next.err == nil && (before.err != nil || before.checked.IsZero()):
		f.cfg.Logger.Info("engine is up", "engine", e.Name, "version", next.stats.Version, "classes", next.info.Len())
	}
}
