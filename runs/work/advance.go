package work

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/store"
)

// Why the work on a run ends before its result is there.
var (
	errCanceled = errors.New("the run was canceled")
	errDeadline = errors.New("the run took too long")
)

const (
	submitTries   = 3  // of a submission that failed for a passing reason
	engineLosses  = 20 // attempts of a run that engines lost: it is our or their restarts that it fell to, not the run's fault
	engineDeaths  = 3  // of these, those that had begun to work: then it is likely the run that brings them down
	serviceLosses = 2  // and of one that a service lost: each of them may have to be paid there
	lateStart     = 300 * time.Millisecond
	toldAfter     = time.Second // that a service which does not work is waited for
	maxProviderID = 1000        // bytes of a provider's id of a run
	writeEvery    = time.Second // progress goes to the database no more often than this
)

// advance takes a run from where it is to its end. It is safe to repeat at any point: what was done is
// found in the row or at the provider. first says that nobody has worked on the run before; known is the run
// where it need not be read. Should another machine have canceled that since, unheard, then the first
// progress to be written, or the finish, finds out.
func (s *Worker) advance(ctx context.Context, runID string, first bool, known *store.Record) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// Registered before it is read: a cancel that comes between the two is either heard or read.
	live, leave := s.Hub.Enter(runID, cancel)
	defer leave()
	if known == nil {
		r, err := s.Store.Load(ctx, runID)
		if err != nil {
			return err
		}
		known = &r
	}
	if known.Status.Final() {
		if first { // it was ended before anything was sent
			s.stopper.stopNow(&unwanted{Record: *known, unsent: true})
		}
		return s.closer.remind(ctx, known)
	}
	if known.Waiting || known.Status == runs.StatusAwaitingConfirmation {
		return nil
	}
	w := &step{s: s, r: *known, live: live, sent: !first, seen: make(map[string]bool)}
	if w.r.StartedAt == nil {
		now := s.Now()
		w.r.StartedAt = &now
	}
	s.Hub.Begin(live, &w.r.Run)
	w.wrote = s.Config.Now().Add(lateStart - writeEvery) // runs that end sooner write no progress at all
	return w.work(ctx)
}

// work runs the attempts until one ends the run.
func (w *step) work(ctx context.Context) error {
	deadline := w.r.StartedAt.Add(w.r.Timeout)
	timed, cancel := context.WithTimeoutCause(ctx, deadline.Sub(w.s.Config.Now()), errDeadline)
	defer cancel()
	for {
		result, err := w.attempt(timed)
		if err == nil {
			err = w.keep(timed, result)
		}
		if err == nil {
			return w.succeed(ctx, result)
		}
		if over := w.over(timed, err); over != nil {
			return w.leave(ctx, over)
		}
		failure := registry.AsError(err)
		if deadly := w.isDeadly(failure); deadly || !w.mayRetry(failure) {
			w.left = w.left || failure.Code == registry.CodeGone
			if deadly {
				w.log().WarnContext(ctx, "a run is ended with which engines went down again and again", "attempt", w.r.Attempt, "error", err)
				failure = registry.Say(registry.CodeLost, said.EnginesDied, "n", engineDeaths)
			}
			return w.fail(ctx, failure)
		}
		w.log().InfoContext(ctx, "the attempt failed, another follows", "attempt", w.r.Attempt, "error", err)
		if err := w.nextAttempt(timed, failure); err != nil {
			if over := w.over(timed, err); over != nil {
				return w.leave(ctx, over)
			}
			return err
		}
	}
}

// over gives the reason when the work must end whatever the provider says: stopping, cancel, timeout, or
// trouble of our own.
func (w *step) over(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var own *ownError
	if errors.Is(err, store.ErrStopping) || errors.Is(err, store.ErrGone) || errors.Is(err, registry.ErrNoPlace) || errors.As(err, &own) {
		return err
	}
	return nil
}

// leave ends the work for a reason that over gave.
func (w *step) leave(ctx context.Context, why error) error {
	switch {
	case errors.Is(why, errDeadline):
		w.left = true
		timeout := registry.Say(registry.CodeTimeout, said.TookLonger, "time", w.r.Timeout)
		if w.r.Notice.Waits() {
			timeout = registry.Say(registry.CodeTimeout, said.EngineNever, "time", w.r.Timeout)
		}
		return w.end(ctx, runs.StatusTimedOut, timeout)
	case errors.Is(why, errCanceled):
		w.stopProvider()
		return nil
	case errors.Is(why, store.ErrGone):
		w.stopProvider()
		return w.late(context.WithoutCancel(ctx))
	case errors.Is(why, registry.ErrNoPlace):
		return w.s.giveBack(ctx, &w.r)
	}
	return why
}

func (e *ownError) Unwrap() error { return e.error }

func (w *step) call() registry.Call { return w.s.CallOf(&w.r, w.sent) }

// recovered turns a provider's panic into the run's failure: tried again it would panic again, and the hold
// would stay for ever.
func (w *step) recovered(ctx context.Context, err *error) {
	if p := recover(); p != nil {
		w.log().ErrorContext(ctx, "the provider's code panicked", "panic", p, "stack", string(debug.Stack()))
		*err = registry.Say(registry.CodeInternal, said.ServiceFailedOdd, "service", w.r.Tool.Service)
	}
}

// attempt has the provider do the work once.
func (w *step) attempt(ctx context.Context) (result *registry.Result, err error) {
	defer w.recovered(ctx, &err)
	switch provider := w.s.Config.Providers[w.r.Tool.Service]; {
	case provider.Submitter != nil:
		return w.submitAndWatch(ctx, provider.Submitter)
	case provider.Caller != nil:
		return w.callOnce(ctx, provider.Caller)
	}
	return nil, registry.Say(registry.CodeUnavailable, said.Connected, "service", w.r.Tool.Service)
}

// callOnce runs a tool that answers at once. There is nobody to ask whether a call that a crash interrupted was carried out, so
// a call that changes something and is not idempotent is marked first, and never made a second time.
func (w *step) callOnce(ctx context.Context, provider registry.Caller) (*registry.Result, error) {
	if !w.repeatable() {
		if w.r.Status != runs.StatusQueued {
			return nil, registry.Say(registry.CodeLost, said.LostCall)
		}
		w.r.Status = runs.StatusSubmitted
		if err := w.write(ctx); err != nil {
			return nil, err
		}
	}
	result, err := w.callAsking(ctx, provider)
	if err != nil {
		return nil, err
	}
	return &result, nil
}

// repeatable reports whether a result that we lose can be had again: by asking the provider for it, or by a
// call that may be made twice.
func (w *step) repeatable() bool {
	return w.s.Submits(&w.r) || w.r.Tool.Repeatable()
}

// submitAndWatch submits unless that was done, and watches until the end.
func (w *step) submitAndWatch(ctx context.Context, provider registry.Submitter) (*registry.Result, error) {
	if w.r.Ticket == nil {
		if err := w.submit(ctx, provider); err != nil {
			return nil, err
		}
	}
	w.s.Slots.sent(w.r.ID)
	defer w.s.Slots.free(w.r.Tool.Service) // while the result is still to be kept and brought
	return w.watch(ctx, provider, *w.r.Ticket)
}

// submit is repeated for passing troubles within the attempt, under the same handle: Submit finds out by itself what became of an
// earlier try. While there is only to wait, such as for an engine to be up, nothing counts as a try.
func (w *step) submit(ctx context.Context, provider registry.Submitter) error {
	if err := w.s.Failpoint("submit"); err != nil {
		return &ownError{err}
	}
	for try := 1; ; try++ {
		ticket, err := w.send(ctx, provider)
		if errors.Is(err, registry.ErrNoPlace) {
			return err
		}
		w.s.Slots.sent(w.r.ID)
		if err == nil {
			return w.submitted(ctx, ticket)
		}
		failure := registry.AsError(err)
		if failure.Wait && ctx.Err() == nil {
			if err := w.wait(ctx, failure); err != nil {
				return err
			}
			try--
			continue
		}
		w.sent = true
		if ctx.Err() != nil || !failure.Retryable || try >= max(submitTries, w.attemptsAllowed()) || w.endsWithin(failure.RetryAfter) {
			return noRetry(err, failure)
		}
		w.log().InfoContext(ctx, "submitting failed, another try follows", "try", try, "error", err)
		if failure.Code == registry.CodeUnavailable && failure.RetryAfter >= toldAfter {
			if err := w.tell(ctx, runs.NoticeSilent); err != nil {
				return err
			}
		}
		if err := w.s.Sleep(ctx, w.pause(try, failure)); err != nil {
			return err
		}
	}
}

// wait passes the time until a submission is worth another try.
func (w *step) wait(ctx context.Context, failure *registry.Error) error {
	notice := runs.NoticeWaiting
	switch {
	case failure.Waking:
		notice = runs.NoticeWaking
	case w.r.Sending != nil: // who may have it is asked first
		notice = runs.NoticeSilent
	}
	if w.r.Notice != notice {
		w.log().InfoContext(ctx, "the run waits", "error", failure, "cause", failure.Cause)
		if err := w.tell(ctx, notice); err != nil {
			return err
		}
	}
	return w.s.Sleep(ctx, max(failure.RetryAfter, w.s.Config.PollMin))
}

// send is one Submit. The work does not wait for it once it has to end; the part that stops the run at the provider does.
func (w *step) send(ctx context.Context, provider registry.Submitter) (registry.Ticket, error) {
	answer, call := make(chan submission, 1), w.call()
	got := submission{sending: w.r.Sending}
	call.Sending = w.notes(&got.sending)
	go func() {
		defer func() { answer <- got }()
		defer w.recovered(ctx, &got.err)
		got.ticket, got.err = provider.Submit(ctx, call)
	}()
	select {
	case got := <-answer:
		w.r.Sending = got.sending
		return got.ticket, got.err
	case <-ctx.Done():
		w.open = answer
		return registry.Ticket{}, context.Cause(ctx)
	}
}

// noRetry marks a failure whose retries are used up.
func noRetry(err error, failure *registry.Error) error {
	if !failure.Retryable {
		return err
	}
	final := *failure
	final.Retryable = false
	return &final
}

// submitted takes note of the ticket. One whose ProviderID is our own handle tells nothing that a
// restart would not know, so writing it can wait for the first progress worth writing; any other is
// the only way to find the run again.
func (w *step) submitted(ctx context.Context, ticket registry.Ticket) error {
	ticket.Service = cmp.Or(ticket.Service, w.r.Tool.Service)
	if id := ticket.ProviderID; len(id) > maxProviderID || !utf8.ValidString(id) || strings.Contains(id, "\x00") {
		return registry.Say(registry.CodeProvider, said.ProviderId, "n", maxProviderID)
	}
	w.r.Ticket = &ticket
	w.r.Status = runs.StatusSubmitted
	if w.r.Notice.Waits() {
		w.r.Notice = runs.NoticeNone
	}
	w.answered()
	if err := w.s.Failpoint("submitted"); err != nil {
		return &ownError{err}
	}
	if ticket.ProviderID == w.r.Handle() {
		w.dirty = true
		return nil
	}
	return w.write(ctx)
}

// attemptsAllowed is the number of attempts by the tool's policy.
func (w *step) attemptsAllowed() int {
	if policy := w.r.Tool.RetryPolicy; policy != nil && policy.MaxAttempts > 0 {
		return policy.MaxAttempts
	}
	return 1
}

// mayRetry decides whether a failed attempt is followed by another. A run that the provider has lost, as after a
// restart of it, or whose place is gone, is begun anew even without a policy: but not one that had begun and must not be repeated.
func (w *step) mayRetry(failure *registry.Error) bool {
	if failure.Code == registry.CodeGone || failure.Code == registry.CodeLost && w.r.Ticket != nil {
		if w.r.Where() == nil || w.begun() && !w.r.Tool.Repeatable() {
			return false
		}
		return w.r.Attempt < max(w.attemptsLost(), w.attemptsAllowed())
	}
	return failure.Retryable && w.r.Attempt < w.attemptsAllowed() && !w.endsWithin(failure.RetryAfter)
}

// isDeadly counts the engines that were lost while they worked on the run, and tells when that were too many to be chance. A loss of what only
// waited there says nothing of it, and neither does one that a process finds when it takes the run over: whatever ended the process before may have
// ended the engine, too.
func (w *step) isDeadly(failure *registry.Error) bool {
	if !w.ran || !w.onEngines() || failure.Code != registry.CodeLost && failure.Code != registry.CodeGone {
		return false
	}
	w.r.Deaths++
	return w.r.Deaths >= engineDeaths
}

// attemptsLost is the number of attempts of a run that its provider keeps losing.
func (w *step) attemptsLost() int {
	if w.onEngines() {
		return engineLosses
	}
	return serviceLosses
}

// onEngines tells whether the run is done by machines that take only so many at a time, and not by a service.
func (w *step) onEngines() bool {
	_, places := runs.Extra[registry.Placer](w.s.Config.Providers[w.r.Tool.Service])
	return places
}

// endsWithin tells whether the run's time is over before a provider wants to be asked again: nobody waits for that, with money held.
func (w *step) endsWithin(wait time.Duration) bool {
	return w.r.StartedAt.Add(w.r.Timeout).Sub(w.s.Config.Now()) < wait
}

// pause is the time before the next try: what the provider asks for, or the policy's time as often as there
// were tries (B82), or our own, doubling.
func (w *step) pause(try int, failure *registry.Error) time.Duration {
	if failure.Code == registry.CodeLost { // a provider that can tell this is up
		return max(failure.RetryAfter, store.Backoff(w.s.Config.PollMin, try, time.Minute))
	}
	if policy := w.r.Tool.RetryPolicy; policy != nil && policy.BackoffMs > 0 {
		own := min(time.Duration(policy.BackoffMs)*time.Millisecond*time.Duration(try), time.Minute)
		return max(failure.RetryAfter, own+rand.N(own/8+1))
	}
	return max(failure.RetryAfter, store.Backoff(w.s.Config.RetryBase, try, time.Minute))
}

// nextAttempt waits and begins anew under a fresh handle, since providers refuse or repeat what they know.
// It is written before anything is sent, so that a crash resumes the right attempt.
func (w *step) nextAttempt(ctx context.Context, failure *registry.Error) error {
	if failure.Code == registry.CodeGone {
		return w.move(ctx)
	}
	if err := w.s.Sleep(ctx, w.pause(w.r.Attempt, failure)); err != nil {
		return err
	}
	w.s.stopper.forgetAtProvider(ctx, w.r.ID, w.r.Tool.Service, w.r.Ticket)
	if failure.Code == registry.CodeLost {
		w.r.Notice = runs.NoticeLost
	}
	w.begin()
	return w.write(ctx)
}
