package show

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// Watched is what Progress needs of the runs service.
type Watched interface {
	Get(ctx context.Context, runID string) (runs.Run, error)
	Subscribe(runID string) (<-chan runs.Run, func())
}

// Progress keeps the status messages of runs up to date until the runs are over; the results themselves are the
// Deliverer's.
type Progress struct {
	deliverer *Deliverer
	runs      Watched
	followed  sync.Map // ids of the runs whose status messages are kept up to date
	wg        sync.WaitGroup
}

// NewProgress makes a Progress beside a Deliverer.
func NewProgress(d *Deliverer, watched Watched) *Progress {
	return &Progress{deliverer: d, runs: watched}
}

// Follow keeps a run's status message up to date until the run is over or ctx ends. shown is the text the message has, or "" where that is not known.
func (p *Progress) Follow(ctx context.Context, run runs.Run, where store.Target, k store.Keyboard, shown string) {
	f := &follower{
		p: p, out: p.deliverer.Platform(run.Origin.Platform), say: p.deliverer.Voice(where.Language),
		run: run, where: where, keyboard: k, shown: shown,
	}
	if _, before := p.followed.LoadOrStore(run.ID, true); before || f.out == nil {
		return
	}
	p.wg.Go(func() {
		defer p.followed.Delete(run.ID)
		f.watch(ctx)
	})
}

// Resume follows a run again after a restart.
func (p *Progress) Resume(ctx context.Context, run runs.Run) {
	if len(run.Origin.Target) == 0 {
		return // asked for on a page, which shows it by itself
	}
	where, err := store.TargetOf(run)
	if err != nil {
		p.deliverer.log.WarnContext(ctx, "a run is not followed", "run", run.ID, "error", err)
		return
	}
	k := store.Keyboard{ID: store.NewID(), Platform: run.Origin.Platform, AccountID: run.AccountID, State: store.KeyboardState{Run: run.ID, Tool: run.Tool.ToolID}}
	if err := p.deliverer.store.Keyboards.Save(ctx, k); err != nil {
		p.deliverer.log.WarnContext(ctx, "the buttons of a status message won't work", "run", run.ID, "error", err)
	}
	p.Follow(ctx, run, where, k, "")
}

// Wait waits until nothing is followed any more, after the contexts of all that is have ended.
func (p *Progress) Wait() { p.wg.Wait() }

// follower edits one run's status message.
type follower struct {
	p        *Progress
	out      *Platform
	say      Voice
	run      runs.Run
	where    store.Target
	keyboard store.Keyboard
	shown    string    // the text the message has now
	next     time.Time // no edit before
	refused  bool      // the last edit was refused as too many: to be made up for
}

// atOnce is how soon a status message says that the run is at work: a run that takes less needs no word of it.
const atOnce = 400 * time.Millisecond

// watch waits for changes and shows the latest at each interval; what came in between is skipped.
func (f *follower) watch(ctx context.Context) {
	changes, unsubscribe := f.p.runs.Subscribe(f.run.ID)
	defer unsubscribe()
	f.next = time.Now().Add(f.interval())
	// A change between the acceptance and the subscription would be missed.
	if now, err := f.p.runs.Get(ctx, f.run.ID); err == nil {
		f.run = now
	}
	working := time.NewTicker(max(time.Second, f.out.Caps.WorkingFor-time.Second))
	defer working.Stop()
	due := time.NewTimer(time.Until(f.next))
	defer due.Stop()
	for !f.run.Status.Final() {
		select {
		case <-ctx.Done():
			return
		case run, ok := <-changes:
			if !ok {
				return
			}
			if run.Status == runs.StatusRunning && f.run.Status != runs.StatusRunning && !f.refused {
				f.next = time.Now().Add(min(time.Until(f.next), atOnce)) // nobody should think that it still waits
			}
			f.run = run
			due.Reset(time.Until(f.next))
		case <-due.C:
			if !f.show(ctx) {
				return
			}
			if f.refused {
				due.Reset(time.Until(f.next))
			}
		case <-working.C:
			f.sign(ctx)
		}
	}
}

func (f *follower) interval() time.Duration { return f.out.Caps.ProgressInterval(f.where.Chat.Kind) }

func (f *follower) sign(ctx context.Context) {
	if f.run.Status == runs.StatusRunning && f.out.Caps.WorkingFor > 0 {
		if err := f.out.Working(ctx, f.where.Chat.Place, ActivityOf(f.run.Tool)); err != nil {
			f.p.deliverer.log.DebugContext(ctx, "no sign of work", "run", f.run.ID, "error", err)
		}
	}
}

// show edits the message if its text has changed. It gives false when there is no use in going on.
func (f *follower) show(ctx context.Context) bool {
	m := f.say.StatusMessage(f.run, f.keyboard, f.where.Notes)
	text := m.Text.String()
	if text == f.shown || !f.out.Caps.Edit || f.where.Status.IsZero() {
		return true
	}
	unlock := f.p.deliverer.live.lock(f.run.ID)
	defer unlock()
	if begun, err := f.p.deliverer.store.Deliveries.Begun(ctx, f.run.ID); begun || err != nil {
		return !begun && ctx.Err() == nil
	}
	m.To, m.Droppable = f.where.Chat.Place, true
	_, err := f.out.Edit(ctx, f.where.Status, f.out.Fit(m))
	f.next = time.Now().Add(f.interval())
	var refused *registry.Error
	f.refused = false
	switch {
	case err == nil:
		f.shown = text
	case errors.Is(err, chat.ErrGone), errors.Is(err, chat.ErrUnreachable):
		return false // the result will find its own way
	case errors.As(err, &refused) && refused.RetryAfter > 0:
		f.next, f.refused = time.Now().Add(max(refused.RetryAfter, f.interval())), true
	default:
		f.p.deliverer.log.DebugContext(ctx, "progress was not shown", "run", f.run.ID, "error", err)
	}
	return true
}
