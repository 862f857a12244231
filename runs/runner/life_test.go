package runner

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/runstest"
	"github.com/signalbox/signalbox/runs/work"
)

// manual makes the provider's runs go on until the test ends them.
func manual(registry.Call, int) *runstest.Outcome { return &runstest.Outcome{Manual: true} }

func (h *house) submitted(t *testing.T, handle string) {
	t.Helper()
	clocktest.Until(t, "the run is submitted", func() bool { return slices.Contains(h.provider.Handles(), handle) })
}

// enoughToSubmit is the timeout, in milliseconds, of runs that are to be submitted and then take too long: a busy machine takes a moment for the former.
const enoughToSubmit = 2000

// free wants that a run cost nothing, says why, and that its money is back.
func (h *house) free(t *testing.T, run runs.Run, reason string) {
	t.Helper()
	if run.Cost != 0 || run.Receipt == nil || run.Receipt.Reason != reason || run.Receipt.RunID != run.ID {
		t.Errorf("cost %s, receipt %+v, want nothing because of %s", run.Cost, run.Receipt, reason)
	}
	h.wantBalance(t, run.AccountID, billing.Dollar, 0)
	h.wantBooksBalance(t)
}

func TestFailure(t *testing.T) {
	t.Parallel()
	t.Run("A26 a failed run costs nothing and says so", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, nil)
		h.provider.OnSubmit = func(registry.Call, int) *runstest.Outcome {
			return &runstest.Outcome{Err: registry.Errorf(registry.CodeProvider, "out of voice"), Usage: registry.Usage{RunTime: time.Hour}}
		}
		h.start(t)
		run := h.delivered(t, h.accept(t, sing(h.user(t, billing.Dollar))).ID)
		if run.Status != runs.StatusFailed || run.Error == nil || run.Error.Message != "out of voice" {
			t.Errorf("got %s, %+v", run.Status, run.Error)
		}
		h.free(t, run, billing.ReasonFailed)
	})
	t.Run("a failure keeps its sentence, which programs are not told", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, nil)
		h.provider.OnSubmit = func(registry.Call, int) *runstest.Outcome {
			return &runstest.Outcome{Err: registry.Say(registry.CodeProvider, said.ServiceFailedWhy, "service", "The choir", "words", "no\x00 air"), Usage: registry.Usage{RunTime: time.Hour}}
		}
		h.start(t)
		run := h.delivered(t, h.accept(t, sing(h.user(t, billing.Dollar))).ID)
		if text := run.Error.Text(); !text.Known() || text.String() != "The choir failed: no air" || run.Error.Message != text.String() {
			t.Errorf("stored %+v", run.Error)
		}
		if body, err := json.Marshal(run.Error); err != nil || strings.Contains(string(body), "said") {
			t.Errorf("programs get %s, %v", body, err)
		}
	})
	t.Run("A11 a result that lacks a declared output fails as invalid_output and costs nothing", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, nil)
		h.provider.OnSubmit = func(registry.Call, int) *runstest.Outcome {
			return &runstest.Outcome{Outputs: []registry.Output{runstest.Text("noise", "")}, Usage: registry.Usage{RunTime: time.Hour}}
		}
		h.start(t)
		run := h.ends(t, h.accept(t, sing(h.user(t, billing.Dollar))).ID)
		if run.Status != runs.StatusFailed || run.Error.Code != string(registry.CodeBadOutput) {
			t.Errorf("got %s, %+v", run.Status, run.Error)
		}
		h.free(t, run, billing.ReasonFailed)
	})
	t.Run("a run that takes too long ends, is stopped at the provider and costs nothing", func(t *testing.T) {
		t.Parallel()
		tool := perSecond()
		tool.TimeoutMs = enoughToSubmit
		h := newHouse(t, nil, tool)
		h.provider.OnSubmit = manual
		h.start(t)
		run := h.delivered(t, h.accept(t, sing(h.user(t, billing.Dollar))).ID)
		if run.Status != runs.StatusTimedOut || run.Error.Code != string(registry.CodeTimeout) || h.provider.Cancels(run.ID) == 0 {
			t.Errorf("got %s, %+v, %d cancels", run.Status, run.Error, h.provider.Cancels(run.ID))
		}
		h.free(t, run, billing.ReasonTimedOut)
	})
	t.Run("never more than was promised is taken", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, nil)
		h.provider.OnSubmit = func(registry.Call, int) *runstest.Outcome {
			return &runstest.Outcome{Usage: registry.Usage{RunTime: time.Hour}}
		}
		h.start(t)
		user := h.user(t, billing.Dollar)
		run := h.ends(t, h.accept(t, sing(user)).ID)
		if run.Cost != run.Quote.High || run.Receipt.Full != 3_600_000_000 {
			t.Errorf("cost %s of a promised %s, %+v", run.Cost, run.Quote.High, run.Receipt)
		}
		h.wantBalance(t, user, billing.Dollar-run.Quote.High, 0)
		h.wantBooksBalance(t)
	})
}

func TestRetries(t *testing.T) {
	t.Parallel()
	passing := &registry.Error{Code: registry.CodeUnavailable, Message: "come back later", Retryable: true}
	t.Run("a failed attempt is followed by one under a fresh handle, as the policy says", func(t *testing.T) {
		t.Parallel()
		tool := perSecond()
		tool.RetryPolicy = &registry.RetryPolicy{MaxAttempts: 3, BackoffMs: 1}
		h := newHouse(t, nil, tool)
		h.provider.OnSubmit = func(_ registry.Call, before int) *runstest.Outcome {
			if before < 2 {
				return &runstest.Outcome{Err: passing}
			}
			return nil
		}
		h.start(t)
		run := h.ends(t, h.accept(t, sing(h.user(t, billing.Dollar))).ID)
		handles := h.provider.Handles()
		if run.Status != runs.StatusSucceeded || len(handles) != 3 || handles[0] != run.ID || len(slices.Compact(slices.Sorted(slices.Values(handles)))) != 3 {
			t.Errorf("got %s with the handles %v", run.Status, handles)
		}
	})
	t.Run("attempts are bounded", func(t *testing.T) {
		t.Parallel()
		tool := perSecond()
		tool.RetryPolicy = &registry.RetryPolicy{MaxAttempts: 2, BackoffMs: 1}
		h := newHouse(t, nil, tool)
		h.provider.OnSubmit = func(registry.Call, int) *runstest.Outcome { return &runstest.Outcome{Err: passing} }
		h.start(t)
		run := h.ends(t, h.accept(t, sing(h.user(t, billing.Dollar))).ID)
		if run.Status != runs.StatusFailed || len(h.provider.Handles()) != 2 {
			t.Errorf("got %s after %d attempts", run.Status, len(h.provider.Handles()))
		}
		h.free(t, run, billing.ReasonFailed)
	})
	t.Run("a submission that did not get through is tried again under the same handle", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, nil)
		var mu sync.Mutex
		var tried []string
		h.provider.OnSubmit = func(c registry.Call, _ int) *runstest.Outcome {
			mu.Lock()
			defer mu.Unlock()
			if tried = append(tried, c.RunID); len(tried) < 3 {
				return &runstest.Outcome{SubmitErr: passing}
			}
			return nil
		}
		h.start(t)
		run := h.ends(t, h.accept(t, sing(h.user(t, billing.Dollar))).ID)
		if run.Status != runs.StatusSucceeded || !slices.Equal(tried, []string{run.ID, run.ID, run.ID}) {
			t.Errorf("got %s, tried %v", run.Status, tried)
		}
	})
	t.Run("who waits for a service that does not work is told so at once", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, nil)
		down := &registry.Error{Code: registry.CodeUnavailable, Message: "it does not work", Retryable: true, RetryAfter: 20 * time.Second}
		h.provider.OnSubmit = func(registry.Call, int) *runstest.Outcome { return &runstest.Outcome{SubmitErr: down} }
		h.start(t)
		user := h.user(t, billing.Dollar)
		run := h.accept(t, sing(user))
		clocktest.Until(t, "its owner is told", func() bool {
			now, err := h.Get(t.Context(), run.ID)
			return err == nil && now.Notice == runs.NoticeSilent
		})
		if _, err := h.Cancel(t.Context(), run.ID, user); err != nil {
			t.Error(err)
		}
		h.free(t, h.ends(t, run.ID), billing.ReasonCanceled)
	})
	t.Run("a service that wants to be asked again after the run's time is not waited for", func(t *testing.T) {
		t.Parallel()
		tool := perSecond()
		tool.RetryPolicy = &registry.RetryPolicy{MaxAttempts: 3}
		h := newHouse(t, nil, tool)
		busy := &registry.Error{Code: registry.CodeRateLimited, Message: "it has too much to do", Retryable: true, RetryAfter: 24 * time.Hour}
		var sent atomic.Int32
		h.provider.OnSubmit = func(registry.Call, int) *runstest.Outcome {
			if sent.Add(1) == 1 {
				return &runstest.Outcome{SubmitErr: busy}
			}
			return &runstest.Outcome{Err: busy}
		}
		h.start(t)
		user := h.user(t, billing.Dollar)
		for range 2 { // refused when it is sent, and failed afterwards
			run := h.ends(t, h.accept(t, sing(user)).ID)
			if run.Status != runs.StatusFailed || run.Error.Message != busy.Message {
				t.Errorf("got %s, %+v", run.Status, run.Error)
			}
			h.free(t, run, billing.ReasonFailed)
		}
		if sent.Load() != 2 {
			t.Errorf("sent %d times", sent.Load())
		}
	})
	t.Run("a run that the provider lost is begun anew", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, nil)
		h.provider.OnSubmit = func(_ registry.Call, before int) *runstest.Outcome { return &runstest.Outcome{Forget: before == 0} }
		h.start(t)
		run := h.ends(t, h.accept(t, sing(h.user(t, billing.Dollar))).ID)
		if run.Status != runs.StatusSucceeded || len(h.provider.Handles()) != 2 {
			t.Errorf("got %s, %+v after %v", run.Status, run.Error, h.provider.Handles())
		}
	})
	t.Run("a service that loses a run again and again is paid for two of them", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, nil)
		h.provider.OnSubmit = func(registry.Call, int) *runstest.Outcome { return &runstest.Outcome{Forget: true} }
		h.start(t)
		run := h.ends(t, h.accept(t, sing(h.user(t, billing.Dollar))).ID)
		if run.Status != runs.StatusFailed || run.Error.Code != string(registry.CodeLost) || len(h.provider.Handles()) != 2 || run.Notice != runs.NoticeLost {
			t.Errorf("got %s, %+v, %q after %v", run.Status, run.Error, run.Notice, h.provider.Handles())
		}
		h.free(t, run, billing.ReasonFailed)
	})
	t.Run("a run that engines lose is begun anew where it waited there, and ended when they went down with it three times", func(t *testing.T) {
		t.Parallel()
		const waits, attempts = 4, 7
		tool, engines := perSecond(), &manyPlaces{}
		tool.Idempotent = true
		engines.OnSubmit = func(registry.Call, int) *runstest.Outcome { return &runstest.Outcome{Manual: true} }
		h := newHouse(t, func(c *runs.Config) { c.Providers = map[string]runs.Provider{"choir": {Submitter: engines}} }, tool)
		h.start(t)
		id := h.accept(t, sing(h.user(t, billing.Dollar))).ID
		for attempt := 1; attempt <= attempts; attempt++ {
			clocktest.Until(t, "it is sent", func() bool { return len(engines.Handles()) == attempt })
			handle := engines.Handles()[attempt-1]
			if attempt > waits {
				engines.Report(handle, registry.Progress{State: registry.RunRunning})
				clocktest.Until(t, "it runs", func() bool { run, err := h.Get(t.Context(), id); return err == nil && run.Status == runs.StatusRunning })
			}
			engines.Lose(handle)
		}
		run := h.ends(t, id)
		if run.Status != runs.StatusFailed || run.Error.Code != string(registry.CodeLost) || !strings.Contains(run.Error.Message, "3 engines went down") || len(engines.Handles()) != attempts {
			t.Errorf("got %s, %+v after %d attempts", run.Status, run.Error, len(engines.Handles()))
		}
		h.free(t, run, billing.ReasonFailed)
	})
	t.Run("what will not pass is not tried again", func(t *testing.T) {
		t.Parallel()
		tool := perSecond()
		tool.RetryPolicy = &registry.RetryPolicy{MaxAttempts: 3}
		h := newHouse(t, nil, tool)
		h.provider.OnSubmit = func(registry.Call, int) *runstest.Outcome {
			return &runstest.Outcome{Err: registry.Errorf(registry.CodeRefused, "not that song")}
		}
		h.start(t)
		run := h.ends(t, h.accept(t, sing(h.user(t, billing.Dollar))).ID)
		if run.Error.Code != string(registry.CodeRefused) || len(h.provider.Handles()) != 1 {
			t.Errorf("got %+v after %d attempts", run.Error, len(h.provider.Handles()))
		}
	})
}

// manyPlaces are engines that take what comes.
type manyPlaces struct{ runstest.Provider }

func (*manyPlaces) Places() int                       { return 100 }
func (*manyPlaces) HasPlace(registry.Tool) bool       { return true }
func (*manyPlaces) PlacesKept(registry.Tool) []string { return nil }

func TestCancel(t *testing.T) {
	t.Parallel()
	t.Run("while queued", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, nil)
		user := h.user(t, billing.Dollar)
		accepted := h.accept(t, sing(user))
		for range 2 {
			run, err := h.Cancel(t.Context(), accepted.ID, user)
			if err != nil || run.Status != runs.StatusCanceled {
				t.Fatalf("got %s, %v", run.Status, err)
			}
			h.free(t, run, billing.ReasonCanceled)
		}
		h.start(t)
		h.delivered(t, accepted.ID)
		if handles := h.provider.Handles(); len(handles) != 0 {
			t.Errorf("a canceled run was submitted: %v", handles)
		}
	})
	t.Run("while running, here and on another machine", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, nil)
		h.provider.OnSubmit = manual
		h.start(t)
		other := h.open(t)
		defer stop(t, other)
		for _, canceler := range []*Service{h.Service, other} {
			user := h.user(t, billing.Dollar)
			accepted := h.accept(t, sing(user))
			h.submitted(t, accepted.ID)
			run, err := canceler.Cancel(t.Context(), accepted.ID, user)
			if err != nil || run.Status != runs.StatusCanceled {
				t.Fatalf("got %s, %v", run.Status, err)
			}
			clocktest.Until(t, "the provider is told", func() bool { return h.provider.Cancels(run.ID) > 0 })
			h.free(t, h.delivered(t, run.ID), billing.ReasonCanceled)
		}
	})
	t.Run("somebody else's run is not found", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, nil)
		run := h.accept(t, sing(h.user(t, billing.Dollar)))
		if _, err := h.Cancel(t.Context(), run.ID, h.user(t, 0)); !errors.Is(err, runs.ErrNotFound) {
			t.Errorf("got %v", err)
		}
		if _, err := h.Cancel(t.Context(), run.ID, ""); err != nil {
			t.Errorf("an operator: %v", err)
		}
	})
	t.Run("at the moment the result arrives: one of the two, and the money moves once", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, nil)
		h.provider.OnSubmit = manual
		h.start(t)
		for range 20 {
			user := h.user(t, billing.Dollar)
			accepted := h.accept(t, sing(user))
			h.submitted(t, accepted.ID)
			var wait sync.WaitGroup
			wait.Go(func() { h.provider.Finish(accepted.ID, registry.Usage{RunTime: time.Second}) })
			wait.Go(func() {
				if _, err := h.Cancel(t.Context(), accepted.ID, user); err != nil {
					t.Error(err)
				}
			})
			wait.Wait()
			run := h.delivered(t, accepted.ID)
			if run.Status != runs.StatusCanceled && run.Status != runs.StatusSucceeded {
				t.Errorf("got %s", run.Status)
			}
			h.wantBalance(t, user, billing.Dollar-run.Cost, 0)
		}
		h.wantBooksBalance(t)
	})
}

// total adds up a counter over its labels.
func total(t *testing.T, metrics *prometheus.Registry, name string) (sum float64) {
	t.Helper()
	families, err := metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			if family.GetName() == name {
				sum += metric.GetCounter().GetValue()
			}
		}
	}
	return sum
}

func TestWatch(t *testing.T) {
	t.Parallel()
	metrics, elsewhereMetrics := prometheus.NewRegistry(), prometheus.NewRegistry()
	h := newHouse(t, func(c *runs.Config) { c.Metrics = metrics })
	h.provider.OnSubmit = manual
	h.start(t)
	h.config.Metrics = elsewhereMetrics
	other := h.open(t)
	h.start(t, other)
	run := h.accept(t, sing(h.user(t, billing.Dollar)))
	states, cancel := h.Subscribe(run.ID)
	defer cancel()
	elsewhere, cancelElsewhere := other.Subscribe(run.ID)
	defer cancelElsewhere()
	h.submitted(t, run.ID)
	until := func(t *testing.T, states <-chan runs.Run, what string, holds func(runs.Run) bool) {
		t.Helper()
		timeout := time.After(2 * time.Minute)
		for {
			select {
			case state, ok := <-states:
				if !ok {
					t.Fatalf("the channel was closed before %s", what)
				}
				if holds(state) {
					return
				}
			case <-timeout:
				t.Fatalf("waited in vain for %s", what)
			}
		}
	}
	both := []<-chan runs.Run{states, elsewhere}

	h.provider.Report(run.ID, registry.Progress{State: registry.RunQueued, QueuePosition: 4})
	for _, states := range both {
		until(t, states, "the place in the queue", func(r runs.Run) bool { return r.QueuePosition == 4 && r.Status == runs.StatusSubmitted })
	}
	h.provider.Report(run.ID, registry.Progress{State: registry.RunRunning, Unknown: "tuning"})
	for _, states := range both {
		until(t, states, "a state nobody knows is running", func(r runs.Run) bool { return r.Status == runs.StatusRunning && r.Fraction == nil })
	}
	h.provider.Report(run.ID, registry.Progress{State: registry.RunRunning, HasFraction: true, Fraction: 0.5, Stage: "chor\x00us\xff", Preview: []byte("png")})
	for _, states := range both {
		until(t, states, "the percentage", func(r runs.Run) bool { return r.Fraction != nil && *r.Fraction == 0.5 && r.Stage == "chorus" })
	}
	if preview := append(h.PreviewOf(run.ID), other.PreviewOf(run.ID)...); string(preview) != "png" {
		t.Errorf("the preview is %q", preview)
	}
	const name = "signalbox_runs_unknown_states_total"
	if unknown := total(t, metrics, name) + total(t, elsewhereMetrics, name); unknown != 1 {
		t.Errorf("%v unknown states were counted", unknown)
	}
	h.provider.Finish(run.ID, registry.Usage{RunTime: time.Second})
	for _, states := range both {
		until(t, states, "the end", func(r runs.Run) bool { return r.Status == runs.StatusSucceeded })
		if state, open := <-states; open {
			t.Errorf("after the end came %+v", state)
		}
	}
	late, cancelLate := h.Subscribe(run.ID)
	defer cancelLate()
	until(t, late, "the end again", func(r runs.Run) bool { return r.Status == runs.StatusSucceeded })
}

func TestConfirm(t *testing.T) {
	t.Parallel()
	tool := perSecond()
	tool.Confirmation = "It will be loud. Go ahead?"
	h := newHouse(t, nil, tool)
	h.start(t)
	user := h.user(t, billing.Dollar)
	run := h.accept(t, sing(user))
	if run.Status != runs.StatusAwaitingConfirmation {
		t.Fatalf("got %s", run.Status)
	}
	h.wantBalance(t, user, billing.Dollar, 0)
	if _, err := h.Confirm(t.Context(), run.ID, h.user(t, 0)); !errors.Is(err, runs.ErrNotFound) {
		t.Errorf("somebody else: %v", err)
	}
	for range 2 {
		if _, err := h.Confirm(t.Context(), run.ID, user); err != nil {
			t.Fatal(err)
		}
	}
	if run := h.ends(t, run.ID); run.Status != runs.StatusSucceeded {
		t.Errorf("got %s", run.Status)
	}
	poor := h.user(t, 1)
	waiting := h.accept(t, sing(poor))
	var short billing.ErrInsufficient
	if _, err := h.Confirm(t.Context(), waiting.ID, poor); !errors.As(err, &short) {
		t.Errorf("got %v", err)
	}
	if run, err := h.Cancel(t.Context(), waiting.ID, poor); err != nil || run.Status != runs.StatusCanceled {
		t.Errorf("got %s, %v", run.Status, err)
	}
}

func TestPerAccount(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(c *runs.Config) { c.PerAccount = 2 })
	h.provider.OnSubmit = manual
	h.start(t)
	user, other := h.user(t, billing.Dollar), h.user(t, billing.Dollar)
	var ids []string
	for range 5 {
		ids = append(ids, h.accept(t, sing(user)).ID)
	}
	quick := h.accept(t, sing(other)).ID
	h.submitted(t, quick)
	for i := range ids {
		h.submitted(t, ids[i])
		var under int
		err := h.pool.QueryRow(t.Context(), `SELECT count(*) FROM runs WHERE account_id = $1 AND ended_at IS NULL AND NOT waiting`, user).Scan(&under)
		if err != nil || under > 2 {
			t.Errorf("%d runs of one account are under way, %v", under, err)
		}
		h.provider.Finish(ids[i], registry.Usage{})
		h.ends(t, ids[i])
	}
	h.provider.Finish(quick, registry.Usage{})
	h.ends(t, quick)
	h.wantBooksBalance(t)
}

func TestDelivery(t *testing.T) {
	t.Parallel()
	t.Run("is tried again until it works, and waits when asked to", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, nil)
		h.inbox.fail = func(_ runs.Run, before int) error {
			switch before {
			case 0:
				return errors.New("the line is dead")
			case 1:
				return &registry.Error{Code: registry.CodeRateLimited, Retryable: true, RetryAfter: time.Millisecond}
			}
			return nil
		}
		h.start(t)
		run := h.delivered(t, h.accept(t, sing(h.user(t, billing.Dollar))).ID)
		if got := h.inbox.got(run.ID); len(got) != 3 {
			t.Errorf("%d deliveries", len(got))
		}
	})
	t.Run("what cannot be delivered is kept and offered later", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, nil)
		h.inbox.fail = func(_ runs.Run, before int) error {
			if before == 0 {
				return runs.ErrUndeliverable
			}
			return nil
		}
		h.start(t)
		user := h.user(t, billing.Dollar)
		run := h.ends(t, h.accept(t, sing(user)).ID)
		var kept []runs.Run
		clocktest.Until(t, "the delivery was tried", func() (done bool) {
			var err error
			if kept, err = h.List(t.Context(), runs.Filter{AccountID: user, Undelivered: true}); err != nil {
				t.Fatal(err)
			}
			return len(kept) > 0
		})
		if len(kept) != 1 || kept[0].ID != run.ID {
			t.Fatalf("got %v", kept)
		}
		clocktest.Until(t, "it is delivered at the next contact", func() bool {
			if err := h.Redeliver(t.Context(), run.ID); err != nil {
				t.Fatal(err)
			}
			again, err := h.Get(t.Context(), run.ID)
			return err == nil && again.DeliveredAt != nil
		})
		if kept, err := h.List(t.Context(), runs.Filter{AccountID: user, Undelivered: true}); err != nil || len(kept) != 0 {
			t.Errorf("got %v, %v", kept, err)
		}
	})
	t.Run("a delivery that fails holds up no other, and is given up after its tries", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, func(c *runs.Config) { c.Deliveries = 1 })
		var dead atomic.Value
		h.inbox.fail = func(run runs.Run, _ int) error {
			if run.AccountID == dead.Load() {
				return errors.New("the line is dead")
			}
			return nil
		}
		h.start(t)
		lost, user := h.user(t, billing.Dollar), h.user(t, billing.Dollar)
		dead.Store(lost)
		run := h.ends(t, h.accept(t, sing(lost)).ID)
		clocktest.Until(t, "it is tried again", func() bool { return len(h.inbox.got(run.ID)) > 2 })
		h.delivered(t, h.accept(t, sing(user)).ID)
		exec(t, h, `UPDATE run_deliveries SET tries = $1, next_at = now() WHERE claimed_by IS NULL`, work.DeliverTries-1)
		clocktest.Until(t, "it is given up", func() bool {
			exec(t, h, `UPDATE run_deliveries SET tries = $1, next_at = now() WHERE claimed_by IS NULL`, work.DeliverTries-1)
			var n int
			err := h.pool.QueryRow(t.Context(), `SELECT count(*) FROM run_deliveries`).Scan(&n)
			return err == nil && n == 0
		})
		if kept, err := h.List(t.Context(), runs.Filter{AccountID: lost, Undelivered: true}); err != nil || len(kept) != 1 {
			t.Errorf("%d results are kept, %v", len(kept), err)
		}
	})
	t.Run("a delivery of the queue that its process did not live to bring is another's at once", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, nil)
		run := h.accept(t, sing(h.user(t, billing.Dollar)))
		exec(t, h, `UPDATE runs SET status = 'failed', ended_at = now(), receipt = '{}'`)
		exec(t, h, `INSERT INTO run_deliveries (run_id, since, next_at, claimed_by) VALUES ($1, now(), now() + interval '5 minutes', 'gone')`, run.ID)
		exec(t, h, `INSERT INTO run_workers (id) VALUES ('gone')`)
		h.start(t)
		h.delivered(t, run.ID)
	})
	t.Run("a platform that fetches is not delivered to", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, nil)
		h.start(t)
		user := h.user(t, billing.Dollar)
		r := sing(user)
		r.Origin.Platform = "api"
		h.ends(t, h.accept(t, r).ID)
		if kept, err := h.List(t.Context(), runs.Filter{AccountID: user, Undelivered: true}); err != nil || len(kept) != 0 {
			t.Errorf("got %v, %v", kept, err)
		}
	})
}

func TestList(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	user := h.user(t, billing.Dollar)
	var ids []string
	for range 3 {
		ids = append(ids, h.accept(t, sing(user)).ID)
	}
	h.accept(t, sing(h.user(t, billing.Dollar)))
	page, err := h.List(t.Context(), runs.Filter{AccountID: user, Limit: 2})
	if err != nil || len(page) != 2 || page[0].ID != ids[2] || page[1].ID != ids[1] {
		t.Fatalf("got %v, %v", page, err)
	}
	page, err = h.List(t.Context(), runs.Filter{AccountID: user, Before: page[1].ID, Status: runs.StatusQueued, ToolID: "sing", Platform: "post"})
	if err != nil || len(page) != 1 || page[0].ID != ids[0] || page[0].Tool.ToolID != "sing" {
		t.Errorf("got %v, %v", page, err)
	}
	if all, err := h.List(t.Context(), runs.Filter{Platform: "post"}); err != nil || len(all) != 4 {
		t.Errorf("of a platform, none of them over: got %v, %v", all, err)
	}
	for _, id := range []string{"", "x", "00000000-0000-7000-8000-000000000000"} {
		if _, err := h.Get(t.Context(), id); !errors.Is(err, runs.ErrNotFound) {
			t.Errorf("%q: %v", id, err)
		}
	}
}

func TestQuoteLearns(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	h.provider.OnSubmit = func(registry.Call, int) *runstest.Outcome {
		return &runstest.Outcome{Usage: registry.Usage{RunTime: 10 * time.Second}}
	}
	h.start(t)
	user := h.user(t, billing.Dollar)
	first := h.accept(t, sing(user))
	if first.Quote.Basis != "first run: an estimate" {
		t.Errorf("got %+v", first.Quote)
	}
	h.ends(t, first.ID)
	// Another machine, whose memory is empty.
	other := h.open(t)
	defer stop(t, other)
	b, err := other.Bind(t.Context(), sing(user))
	if err != nil {
		t.Fatal(err)
	}
	quote, err := other.Quote(t.Context(), b)
	if err != nil || quote.Low != 5_000_000 || quote.High != 20_000_000 || quote.Basis != "learned from one run" {
		t.Errorf("got %+v, %v", quote, err)
	}
}

func TestARunKeepsItsToolAsItWasAccepted(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	run := h.accept(t, sing(h.user(t, billing.Dollar)))
	dearer := perSecond()
	dearer.CostingModel.Rate = "1"
	catalogue, err := runstest.Registry(dearer)
	if err != nil {
		t.Fatal(err)
	}
	h.provider.OnSubmit = func(registry.Call, int) *runstest.Outcome {
		return &runstest.Outcome{Usage: registry.Usage{RunTime: time.Second}}
	}
	h.config.Registry = catalogue
	restarted := h.open(t)
	h.start(t, restarted)
	t.Run("A79 an old run shows the version and the price it was accepted with", func(t *testing.T) {
		ended := h.ends(t, run.ID)
		if ended.Cost != 1_000_000 || ended.Tool.Version != run.Tool.Version || ended.Tool.CostingModel.Rate != "0.001" {
			t.Errorf("cost %s, tool %+v", ended.Cost, ended.Tool.CostingModel)
		}
	})
}
