package comfy

import (
	"context"
	"sync"
	"time"

	"github.com/signalbox/signalbox/comfy/api"
	"github.com/signalbox/signalbox/comfy/placement"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

const (
	wakeInterval = 2 * time.Second  // between two looks for engines that are to be woken
	wantedFor    = 10 * time.Second // since a run asked last: one that waits asks each waitPause
	surelyDown   = healthInterval   // an engine that was down for less may only have been out of reach for a moment
)

// orWake is for a run that no engine takes now: it wants the first engine that sleeps, could take it and was not given up. none is the error where there is none.
func (f *Fleet) orWake(j placement.Job, none error) error {
	if f.cfg.Waker == nil {
		return none
	}
	now, gaveUp, others := f.cfg.Now(), false, false
	for _, e := range f.engines {
		if e.ordered() != OrderNone || !e.mayDo(j) {
			continue
		}
		switch e.want(now) {
		case sleeping:
			out := registry.Say(registry.CodeUnavailable, said.EngineWakes)
			out.Retryable, out.RetryAfter, out.Wait, out.Waking = true, waitPause, true, true
			return out
		case givenUp:
			gaveUp = true
		default:
			others = true
		}
	}
	if gaveUp && !others {
		return registry.Say(registry.CodeUnavailable, said.EngineAsleep)
	}
	return none
}

// mayDo tells whether an engine takes a run once it is up, as far as is known.
func (e *Engine) mayDo(j placement.Job) bool {
	info := e.knowledge().info
	return e.tags.Serves(j.Tool, j.Group) && (info == nil || len(e.lacks(info, j.Tool, j.Need)) == 0)
}

type sleep int

const (
	notAsleep sleep = iota // or nobody can wake it
	sleeping
	givenUp
)

// want notes that a run waits for an engine that sleeps, and tells whether it does.
func (e *Engine) want(now time.Time) sleep {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.tags.Wake == "" || e.known.err == nil || now.Sub(e.known.downSince) < surelyDown:
		return notAsleep
	case now.Before(e.tiredUntil):
		return givenUp
	}
	e.wanted = now
	return sleeping
}

// WakeWanted has all engines woken that runs wait for. Run does it all the time.
func (f *Fleet) WakeWanted(ctx context.Context) {
	var wg sync.WaitGroup
	for _, e := range f.engines {
		if f.cfg.Waker != nil && e.isWanted(f.cfg.Now()) {
			wg.Go(func() { f.wakeUp(ctx, e) })
		}
	}
	wg.Wait()
}

func (e *Engine) isWanted(now time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.known.err != nil && !e.wanted.IsZero() && now.Sub(e.wanted) < wantedFor
}

func (f *Fleet) wakeUp(ctx context.Context, e *Engine) {
	tired, err := f.cfg.Waker.Wake(ctx, e.Name, e.tags.Wake)
	if err != nil && ctx.Err() == nil {
		f.cfg.Logger.Warn("an engine could not be woken yet", "engine", e.Name, "error", err)
	}
	if tired > 0 {
		f.cfg.Logger.Warn("an engine did not wake and is given up", "engine", e.Name, "for", tired)
		e.mu.Lock()
		e.tiredUntil = f.cfg.Now().Add(tired)
		e.mu.Unlock()
	}
}

// seeSleeper remembers what an engine that may sleep has, and takes note that it is up.
func (f *Fleet) seeSleeper(ctx context.Context, e *Engine, before knowledge, next *knowledge) {
	if f.cfg.Waker == nil || e.tags.Wake == "" {
		return
	}
	var err error
	switch {
	case next.err == nil && next.infoHash != before.infoHash:
		var data []byte
		if data, err = e.Client.Declarations(ctx); err == nil {
			err = f.cfg.Waker.Keep(ctx, e.Name, data)
		}
	case next.err != nil && next.info == nil:
		var data []byte
		if data, err = f.cfg.Waker.Kept(ctx, e.Name); err == nil && data != nil {
			next.info, next.infoHash, err = api.ParseDeclarations(data)
		}
	}
	if err == nil && next.err == nil && !before.up() {
		err = f.cfg.Waker.Awake(ctx, e.Name)
	}
	if err != nil && ctx.Err() == nil {
		f.cfg.Logger.Warn("what is known of an engine that may sleep is not up to date", "engine", e.Name, "error", err)
	}
}

// asleep tells for operators whether somebody can wake an engine that is down, and whether that is under way.
func (e *Engine) asleep(now time.Time) (wakes, waking bool) {
	wanted := e.isWanted(now)
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.tags.Wake != "", wanted && !now.Before(e.tiredUntil)
}
