package work

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/store"
)

const (
	pollTimeout  = 30 * time.Second // of one poll
	pollBeside   = 15 * time.Second // between two polls beside a stream that works
	pollSilent   = 3                // in a row that were not answered, after which the person is told
	pollFailures = 10               // in a row, of a kind that may pass but should not take so long
)

// watching is the watch over one submitted run.
type watching struct {
	*step
	provider  registry.Submitter
	ticket    registry.Ticket
	reports   chan registry.Progress // from the provider's stream
	broken    chan error             // the stream ended
	streams   bool
	interval  time.Duration
	lost      int // polls in a row that found nothing
	lostSince time.Time
	failed    int // polls in a row that failed
	silent    int // polls in a row that were not answered
}

// watch follows a submitted run to its end: by the provider's stream where it has one, with a poll now and
// then as the safety net, else by polls that grow rarer. A callback makes it poll at once. What the provider reports in a
// word that we don't know counts as still running.
func (w *step) watch(ctx context.Context, provider registry.Submitter, ticket registry.Ticket) (*registry.Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	v := &watching{
		step: w, provider: provider, ticket: ticket, interval: w.s.Config.PollMin,
		reports: make(chan registry.Progress), broken: make(chan error, 1),
	}
	// The first poll tells whether the run is over already: an engine may answer at once, and after a
	// restart of ours it often has.
	if result, err, over := v.poll(ctx); over {
		return result, err
	}
	v.stream(ctx)
	timer := time.NewTimer(v.next())
	defer timer.Stop()
	for {
		var result *registry.Result
		var err error
		var over bool
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-w.s.Stopping:
			return nil, errors.Join(store.ErrStopping, v.flush(context.WithoutCancel(ctx)))
		case progress := <-v.reports:
			result, err, over = v.take(ctx, progress)
		case broken := <-v.broken:
			v.streams = false
			if broken != nil {
				w.log().InfoContext(ctx, "the provider's stream broke, polling instead", "error", broken)
			}
			result, err, over = v.poll(ctx)
		case <-w.live.Nudge:
			result, err, over = v.poll(ctx)
		case <-timer.C:
			result, err, over = v.tick(ctx)
		}
		if over {
			return result, err
		}
		timer.Reset(v.next())
	}
}

// stream starts the provider's own stream, where it has one.
func (v *watching) stream(ctx context.Context) {
	progresser, ok := v.provider.(registry.Progresser)
	if !ok {
		return
	}
	v.streams = true
	v.s.Spawn(func() {
		var err error
		defer func() {
			if p := recover(); p != nil { // this goroutine guards itself
				err = fmt.Errorf("the provider's watch panicked: %v", p)
			}
			v.broken <- err
		}()
		err = progresser.Watch(ctx, v.ticket, func(p registry.Progress) {
			select {
			case v.reports <- p:
			case <-ctx.Done():
			}
		})
	})
}

// next is the time until something must be done unasked: a poll, or writing down progress.
func (v *watching) next() time.Duration {
	wait := v.interval
	if v.streams && v.silent == 0 && v.lost == 0 {
		wait = max(wait, pollBeside)
	}
	if v.dirty {
		wait = min(wait, max(0, writeEvery-v.s.Config.Now().Sub(v.wrote)))
	}
	return wait
}

// tick does what the timer was for.
func (v *watching) tick(ctx context.Context) (*registry.Result, error, bool) {
	if v.dirty && v.s.Config.Now().Sub(v.wrote) >= writeEvery {
		if err := v.write(ctx); err != nil {
			return nil, err, true
		}
	}
	v.interval = min(v.interval*3/2, v.s.Config.PollMax)
	return v.poll(ctx)
}

// flush writes down what is known before the work is given back.
func (v *watching) flush(ctx context.Context) error {
	if !v.dirty {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, writeEvery)
	defer cancel()
	return v.write(ctx)
}

// poll asks the provider once. over tells that the run ended, one way or another.
func (v *watching) poll(ctx context.Context) (result *registry.Result, err error, over bool) {
	asking, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	progress, err := v.provider.Poll(asking, v.ticket)
	if err == nil && progress.State == registry.RunSucceeded && progress.Result == nil {
		return nil, registry.Say(registry.CodeBadOutput, said.ResultNone), true
	}
	if err == nil {
		v.lost, v.failed = 0, 0
		return v.take(ctx, progress)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx), true
	}
	failure := registry.AsError(err)
	switch {
	case failure.Code == registry.CodeGone:
		return nil, err, true
	case failure.Code == registry.CodeLost:
		return nil, err, v.isLost()
	case asking.Err() != nil, failure.Retryable, failure.Code == registry.CodeUnavailable, failure.Code == registry.CodeTimeout, failure.Code == registry.CodeRateLimited:
		v.interval = max(v.interval, failure.RetryAfter)
		v.log().DebugContext(ctx, "polling failed", "error", err)
		err := v.unanswered(ctx, failure, asking.Err() != nil)
		return nil, err, err != nil
	}
	v.failed++
	v.log().WarnContext(ctx, "polling failed", "error", err)
	v.left = v.failed >= pollFailures || failure.Code == registry.CodeUnauthorized || failure.Code == registry.CodeRefused
	return nil, err, v.left
}

// isLost counts a poll that found nothing, and tells whether that is believed. An engine has a run in neither of two places for a moment: only
// twice is lost. A service may know a job that it has just taken on some of its machines only, and takes money for another one: it is asked for
// as long as lies between two polls at most.
func (v *watching) isLost() bool {
	if v.lost++; v.lost == 1 {
		v.lostSince, v.interval = v.s.Config.Now(), v.s.Config.PollMin
	}
	return v.lost >= 2 && (v.onEngines() || v.s.Config.Now().Sub(v.lostSince) >= v.s.Config.PollMax)
}

// unanswered counts a poll that was not answered, and tells the person of several, or of one that took all its time.
func (v *watching) unanswered(ctx context.Context, failure *registry.Error, late bool) error {
	if failure.Code == registry.CodeRateLimited {
		return nil
	}
	if v.silent++; v.silent < pollSilent && !late || v.r.Notice == runs.NoticeSilent {
		return nil
	}
	v.log().WarnContext(ctx, "who has the run does not answer and is waited for", "error", failure, "cause", failure.Cause)
	return v.tell(ctx, runs.NoticeSilent)
}

// take takes over a state that the provider reports.
func (v *watching) take(ctx context.Context, p registry.Progress) (*registry.Result, error, bool) {
	v.silent = 0
	v.answered()
	switch p.State {
	case registry.RunSucceeded:
		if p.Result == nil { // the stream told of the end, the poll brings what came out
			return v.poll(ctx)
		}
		return p.Result, nil, true
	case registry.RunFailed:
		if p.Err == nil {
			return nil, registry.Say(registry.CodeProvider, said.ServiceWhyless), true
		}
		return nil, p.Err, true
	case registry.RunCanceled:
		return nil, registry.Say(registry.CodeCanceled, said.CanceledAt), true
	}
	v.note(ctx, p)
	return nil, nil, false
}

// note keeps progress and publishes it; it is written down later, see next.
func (v *watching) note(ctx context.Context, p registry.Progress) {
	if p.Unknown != "" && !v.seen[p.Unknown] {
		v.seen[p.Unknown] = true
		v.log().WarnContext(ctx, "the provider reports a state that is not known: taken for running", "state", p.Unknown)
		v.s.Metrics.Unknown.WithLabelValues(v.r.Tool.Service).Inc()
	}
	before := v.r.Run
	if p.State == registry.RunRunning && p.Stage == "" && !p.HasFraction && before.Status == runs.StatusRunning {
		// A poll beside a stream often knows only that the run goes on. It takes nothing back.
		p.Stage = before.Stage
		if before.Fraction != nil {
			p.Fraction, p.HasFraction = *before.Fraction, true
		}
		if before.ExpectedAt != nil {
			p.Rest = before.ExpectedAt.Sub(v.s.Now())
		}
	}
	v.ran = p.State != registry.RunQueued
	v.progress(p)
	if v.s.Config.Check != nil {
		p.Preview = nil // nobody has looked at it
	}
	if same := sameProgress(before, v.r.Run); same && p.Preview == nil {
		return
	} else if !same {
		v.dirty = true
	}
	v.s.Hub.SetLive(v.live, v.r.Run, p.Preview)
}

// progress takes over what a provider says of how far it is.
func (w *step) progress(p registry.Progress) {
	w.r.Status = runs.StatusRunning
	if p.State == registry.RunQueued {
		w.r.Status = runs.StatusSubmitted
	}
	w.r.Stage, w.r.QueuePosition, w.r.Fraction = cleanText(p.Stage), max(p.QueuePosition, 0), nil
	if p.HasFraction && !math.IsNaN(p.Fraction) {
		fraction := min(max(p.Fraction, 0), 1)
		w.r.Fraction = &fraction
	}
	w.r.ExpectedAt = w.expected(p.Rest)
}

// expected is when a run with this rest will be over. A time that hardly moves stays as it is, so that it is no news.
func (w *step) expected(rest time.Duration) *time.Time {
	if rest <= 0 || w.r.Status != runs.StatusRunning {
		return nil
	}
	at := w.s.Now().Add(rest)
	if known := w.r.ExpectedAt; known != nil && at.Sub(*known).Abs() < time.Second {
		return known
	}
	return &at
}

func sameProgress(a, b runs.Run) bool {
	return a.ExpectedAt == b.ExpectedAt && a.Status == b.Status && a.Stage == b.Stage && a.Notice == b.Notice && a.QueuePosition == b.QueuePosition &&
		(a.Fraction == nil) == (b.Fraction == nil) && (a.Fraction == nil || *a.Fraction == *b.Fraction)
}
