package router

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// statusMessage shows where a run stands: tool, stage, place in the queue, percentage if one is known,
// price, and a button to cancel.
func (v voice) statusMessage(run runs.Run, k store.Keyboard, notes []string) chat.Message {
	text := chat.Lines(
		chat.Text{{Style: chat.StyleBold, Text: run.Tool.DisplayName}},
		v.stage(run),
		v.notice(run),
		v.price(run.Quote),
	)
	cancel := "button.cancel"
	if run.Quote.BillCanceled && run.Status == runs.StatusRunning {
		cancel = "button.cancelPaid"
	}
	buttons := []chat.Button{{Label: v.Line(cancel), Data: k.Data("stop")}}
	if run.Status == runs.StatusAwaitingConfirmation {
		confirm := chat.Button{Label: v.Line("button.confirm"), Data: k.Data("confirm"), Style: chat.ButtonPrimary}
		buttons = append([]chat.Button{confirm}, buttons...)
		text = chat.Lines(text, v.summary(run))
	}
	return chat.Message{Text: chat.Join("\n\n", chat.Plain(strings.Join(notes, "\n")), text), Buttons: [][]chat.Button{buttons}}
}

func (v voice) stage(run runs.Run) chat.Text {
	switch {
	case run.Status == runs.StatusAwaitingConfirmation:
		return v.Text("status.confirm")
	case run.Status == runs.StatusQueued && run.QueuePosition > 0, run.Status == runs.StatusSubmitted && run.QueuePosition > 0:
		return v.Text("status.place", "n", run.QueuePosition)
	case run.Status == runs.StatusQueued:
		return v.Text("status.queued")
	case run.Status == runs.StatusSubmitted:
		return v.Text("status.submitted")
	}
	if run.Question != nil {
		return v.Text("status.asks")
	}
	text := v.Text("status.running")
	if run.Stage != "" {
		text = chat.Plain(chat.Brief(run.Stage, 80))
	}
	if run.Fraction != nil {
		text = append(text, chat.Segment{Text: " · " + percent(*run.Fraction)})
	}
	if rest := v.Rest(run.Rest(time.Now())); rest != "" {
		text = append(text, chat.Segment{Text: " · " + rest})
	}
	return text
}

// notice tells what became of the engine that a run was on, or is to go to.
func (v voice) notice(run runs.Run) chat.Text {
	if run.Notice == runs.NoticeNone {
		return nil
	}
	return v.Text("status.notice." + string(run.Notice))
}

// percent rounds down: nothing is at 100 % before it is over.
func percent(fraction float64) string {
	return strconv.Itoa(int(100*min(max(fraction, 0), 1))) + " %"
}

// price tells a quote, and what canceling costs where it does. One that says nothing, not even that it is free, gives no text.
func (v voice) price(q billing.Quote) chat.Text {
	if q.BillCanceled {
		q.BillCanceled = false
		return chat.Lines(v.price(q), v.Text("price.canceled"))
	}
	switch {
	case q.Source == "":
		return nil
	case q.High == 0:
		return v.Text("price.free")
	case q.Low == q.High:
		return v.Text("price.exact", "price", q.High)
	}
	text := v.Text("price.range", "low", q.Low, "high", q.High)
	if q.Basis != "" && v.Language() == i18n.Fallback { // said in English
		text = append(text, chat.Segment{Text: " (" + q.Basis + ")"})
	}
	return text
}

// follow keeps a run's status message up to date until the run is over or the Router stops; the result
// itself is the Deliverer's.
//
// shown is the text the message has, or "" where that is not known.
func (r *Router) follow(ctx context.Context, run runs.Run, where store.Target, k store.Keyboard, shown string) {
	f := &follower{
		r: r, out: r.desk.surfaces[run.Origin.Platform], say: r.desk.voiceFor(where.Language),
		run: run, where: where, keyboard: k, shown: shown,
	}
	if _, followed := r.following.LoadOrStore(run.ID, true); followed || f.out == nil {
		return
	}
	r.wg.Go(func() {
		defer r.following.Delete(run.ID)
		f.watch(ctx)
	})
}

// resume follows a run again after a restart.
func (r *Router) resume(ctx context.Context, run runs.Run) {
	if len(run.Origin.Target) == 0 {
		return // asked for on a page, which shows it by itself
	}
	where, err := store.TargetOf(run)
	if err != nil {
		r.log.WarnContext(ctx, "a run is not followed", "run", run.ID, "error", err)
		return
	}
	k := store.Keyboard{ID: store.NewID(), Platform: run.Origin.Platform, AccountID: run.AccountID, State: store.KeyboardState{Run: run.ID, Tool: run.Tool.ToolID}}
	if err := r.desk.store.Keyboards.Save(ctx, k); err != nil {
		r.log.WarnContext(ctx, "the buttons of a status message won't work", "run", run.ID, "error", err)
	}
	r.follow(ctx, run, where, k, "")
}

// activeRuns lists the runs of our platforms that are not over.
func (r *Router) activeRuns(ctx context.Context) ([]runs.Run, error) {
	var active []runs.Run
	for _, platform := range r.desk.platforms() {
		for _, status := range openStatuses() {
			filter := runs.Filter{Platform: platform, Status: status, Limit: 200}
			for {
				page, err := r.cfg.Runs.List(ctx, filter)
				if err != nil {
					return nil, fmt.Errorf("list the runs to follow: %w", err)
				}
				active = append(active, page...)
				if len(page) < filter.Limit {
					break
				}
				filter.Before = page[len(page)-1].ID
			}
		}
	}
	return active, nil
}

// follower edits one run's status message.
type follower struct {
	r        *Router
	out      *surface
	say      voice
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
	changes, unsubscribe := f.r.cfg.Runs.Subscribe(f.run.ID)
	defer unsubscribe()
	f.next = time.Now().Add(f.interval())
	// A change between the acceptance and the subscription would be missed.
	if now, err := f.r.cfg.Runs.Get(ctx, f.run.ID); err == nil {
		f.run = now
	}
	working := time.NewTicker(max(time.Second, f.out.caps.WorkingFor-time.Second))
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

func (f *follower) interval() time.Duration { return f.out.caps.ProgressInterval(f.where.Chat.Kind) }

func (f *follower) sign(ctx context.Context) {
	if f.run.Status == runs.StatusRunning && f.out.caps.WorkingFor > 0 {
		if err := f.out.Working(ctx, f.where.Chat.Place, activityOf(f.run.Tool)); err != nil {
			f.r.log.DebugContext(ctx, "no sign of work", "run", f.run.ID, "error", err)
		}
	}
}

// activityOf is the sign that fits what a tool makes.
func activityOf(tool registry.Tool) chat.Activity {
	if len(tool.OutputSchema) == 0 {
		return chat.ActivityTyping
	}
	switch tool.OutputSchema[0].Type {
	case "image":
		return chat.ActivityPhoto
	case "video":
		return chat.ActivityVideo
	case "audio":
		return chat.ActivityAudio
	case "file":
		return chat.ActivityDocument
	}
	return chat.ActivityTyping
}

// show edits the message if its text has changed. It gives false when there is no use in going on.
func (f *follower) show(ctx context.Context) bool {
	m := f.say.statusMessage(f.run, f.keyboard, f.where.Notes)
	text := m.Text.String()
	if text == f.shown || !f.out.caps.Edit || f.where.Status.IsZero() {
		return true
	}
	unlock := f.r.desk.live.lock(f.run.ID)
	defer unlock()
	if begun, err := f.r.desk.store.Deliveries.Begun(ctx, f.run.ID); begun || err != nil {
		return !begun && ctx.Err() == nil
	}
	m.To, m.Droppable = f.where.Chat.Place, true
	_, err := f.out.Edit(ctx, f.where.Status, f.out.fit(m))
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
		f.r.log.DebugContext(ctx, "progress was not shown", "run", f.run.ID, "error", err)
	}
	return true
}
