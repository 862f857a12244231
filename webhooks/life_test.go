package webhooks

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/runner"
	"github.com/signalbox/signalbox/runs/runstest"
	"github.com/signalbox/signalbox/test/housetest"
)

// life is an inbox before a real runs service, whose provider is polled hardly ever: callbacks bring the news.
type life struct {
	*house
	runs     *runner.Service
	provider *runstest.Provider
	ledger   *billing.Ledger
}

func newLife(t *testing.T, poll, timeout time.Duration) *life {
	t.Helper()
	l := &life{provider: &runstest.Provider{OnSubmit: func(registry.Call, int) *runstest.Outcome { return &runstest.Outcome{Manual: true} }}}
	l.house = newHouse(t, func(c *InboxConfig) {
		c.Callback = func(ctx context.Context, service, runID, providerID string) (bool, error) {
			err := l.runs.Callback(ctx, service, runID, providerID)
			return err == nil, notFoundIsNone(err)
		}
	})
	l.clock.Advance(time.Since(l.clock.Now())) // runs keep to the real time
	catalogue, err := runstest.Registry(registry.Tool{
		ToolID: "sing", Service: "open", DisplayName: "Sing", CommandName: "/sing", InputSchema: registry.InputSchema{}, Execution: registry.Execution{TimeoutMs: timeout.Milliseconds()},
		OutputSchema: registry.OutputSchema{{Name: "result", Type: "text"}},
		CostingModel: &registry.CostingModel{Rate: "0.25", Unit: registry.UnitRequest, RateSource: registry.RateStatic},
	})
	if err != nil {
		t.Fatal(err)
	}
	l.ledger = billing.NewLedger(l.pool)
	l.runs = housetest.Runs(t, runs.Config{
		Pool: l.pool, Registry: catalogue, Ledger: l.ledger, Assets: &runstest.Assets{}, Providers: map[string]runs.Provider{"open": {Submitter: l.provider}},
		PollMin: poll, PollMax: poll, RetryBase: time.Millisecond, CallbackURL: l.cfg.Addresses.Of,
	})
	l.start(t)
	return l
}

func notFoundIsNone(err error) error {
	if errors.Is(err, runs.ErrNotFound) {
		return nil
	}
	return err
}

// accept begins a run for somebody who has a dollar, and waits until the provider has it.
func (l *life) accept(t *testing.T) runs.Run {
	t.Helper()
	account := uuid.NewString()
	err := pgx.BeginFunc(t.Context(), l.pool, func(tx pgx.Tx) error {
		if err := l.ledger.EnsureWallet(t.Context(), tx, account); err != nil {
			return err
		}
		return l.ledger.Grant(t.Context(), tx, account, billing.Dollar, account, "sign-up")
	})
	if err != nil {
		t.Fatal(err)
	}
	run, err := l.runs.Accept(t.Context(), runs.Request{AccountID: account, ToolID: "sing", Origin: runs.Origin{Platform: "api"}})
	if err != nil {
		t.Fatal(err)
	}
	clocktest.Until(t, "the provider has it", func() bool { _, ok := l.provider.CallOf(run.ID); return ok })
	return run
}

// report sends a callback to the address that the provider was given.
func (l *life) report(t *testing.T, run runs.Run, body string) {
	t.Helper()
	call, _ := l.provider.CallOf(run.ID)
	l.want(t, http.StatusOK, strings.TrimPrefix(call.CallbackURL, "https://bot.example"), body)
}

func (l *life) ends(t *testing.T, run runs.Run, status runs.Status, left billing.NanoUSD) {
	t.Helper()
	clocktest.Until(t, "the run ends", func() bool {
		var err error
		run, err = l.runs.Get(t.Context(), run.ID)
		return err == nil && run.Status.Final()
	})
	if run.Status != status {
		t.Errorf("it is %s, want %s: %+v", run.Status, status, run.Error)
	}
	balance, err := l.ledger.Balance(t.Context(), run.AccountID)
	if want := (billing.Balance{Available: left}); err != nil || balance != want {
		t.Errorf("the balance is %+v, want %+v (%v)", balance, want, err)
	}
}

func TestLife(t *testing.T) {
	t.Parallel()
	t.Run("W13 A33 callbacks out of order move a run forward only", func(t *testing.T) {
		t.Parallel()
		l := newLife(t, time.Hour, 0)
		run := l.accept(t)
		l.provider.Finish(run.ID, registry.Usage{})
		l.report(t, run, `{"status":"success"}`)
		// The watch may have begun after that callback, so another follows, as providers send several.
		l.report(t, run, `{"status":"success","progress":1}`)
		l.ends(t, run, runs.StatusSucceeded, billing.Dollar*3/4)
		for _, late := range []string{`{"status":"running"}`, `{"status":"queued"}`, `{"status":"failed"}`, `{"status":"success"}`} {
			l.report(t, run, late)
		}
		clocktest.Until(t, "all are done", func() bool { return len(l.events(t, StatusStored)) == 0 })
		l.ends(t, run, runs.StatusSucceeded, billing.Dollar*3/4)
	})
	t.Run("W16 A32 what a callback says is asked of the provider, whose word counts", func(t *testing.T) {
		t.Parallel()
		l := newLife(t, time.Hour, 0)
		run := l.accept(t)
		l.report(t, run, `{"status":"success"}`)
		clocktest.Until(t, "it was asked", func() bool { return len(l.events(t, StatusDone)) == 1 })
		if now, err := l.runs.Get(t.Context(), run.ID); err != nil || now.Status.Final() {
			t.Fatalf("a mere callback ended the run as %s (%v)", now.Status, err)
		}
		l.provider.Report(run.ID, registry.Progress{State: registry.RunFailed, Err: registry.Errorf(registry.CodeProvider, "it broke")})
		l.report(t, run, `{"status":"success","progress":1}`)
		l.ends(t, run, runs.StatusFailed, billing.Dollar)
	})
	t.Run("W17 without any callback a run is found to be over all the same", func(t *testing.T) {
		t.Parallel()
		l := newLife(t, 5*time.Millisecond, 0)
		run := l.accept(t)
		l.provider.Finish(run.ID, registry.Usage{})
		l.ends(t, run, runs.StatusSucceeded, billing.Dollar*3/4)
	})
	t.Run("W17 a run that nobody reports on times out, and its hold is released once", func(t *testing.T) {
		t.Parallel()
		l := newLife(t, time.Hour, 2*time.Second) // in which it is submitted on a busy machine, too
		run := l.accept(t)
		l.ends(t, run, runs.StatusTimedOut, billing.Dollar)
		l.report(t, run, `{"status":"success"}`)
		clocktest.Until(t, "the late callback is done", func() bool { return len(l.events(t, StatusDone)) == 1 })
		l.ends(t, run, runs.StatusTimedOut, billing.Dollar)
		report, err := l.ledger.Check(t.Context())
		if err != nil || !report.OK() || report.OpenHolds != 0 {
			t.Errorf("%v %v", report, err)
		}
	})
	t.Run("W18 a result whose address leads inside is not fetched, and costs nothing", func(t *testing.T) {
		t.Parallel()
		inner := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was asked") }))
		t.Cleanup(inner.Close)
		l := newLife(t, time.Hour, 0)
		run := l.accept(t)
		l.provider.Finish(run.ID, registry.Usage{}, upstream.File(outbound.NewClient(nil), "result", "text", inner.URL+"/latest/meta-data", registry.MediaInfo{Name: "x"}))
		l.report(t, run, `{"status":"success"}`)
		l.report(t, run, `{"status":"success","progress":1}`)
		l.ends(t, run, runs.StatusFailed, billing.Dollar)
		if upstream.MaxFile != 256<<20 {
			t.Errorf("files of %d bytes are fetched", upstream.MaxFile)
		}
	})
}
