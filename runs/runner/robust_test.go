package runner

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/runstest"
	"github.com/signalbox/signalbox/runs/work"
	"github.com/signalbox/signalbox/runs/write"
)

// soon is until with a short deadline, for what hangs if it fails.
func soon(t *testing.T, what string, holds func() bool) bool {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Errorf("waited in vain until %s", what)
			return false
		}
	}
	return true
}

func (h *house) endsSoon(t *testing.T, id string) (run runs.Run) {
	t.Helper()
	soon(t, "the run ends", func() bool {
		run, _ = h.Get(t.Context(), id)
		return run.Status.Final()
	})
	return run
}

func TestHostileProviders(t *testing.T) {
	t.Parallel()
	t.Run("one that panics fails the run, which costs nothing", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, nil)
		h.provider.OnSubmit = func(registry.Call, int) *runstest.Outcome { panic("boom") }
		h.start(t)
		user := h.user(t, billing.Dollar)
		run := h.endsSoon(t, h.accept(t, sing(user)).ID)
		if run.Status != runs.StatusFailed {
			t.Errorf("got %s", run.Status)
		}
		h.wantBalance(t, user, billing.Dollar, 0)
	})
	t.Run("an output that panics", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, nil)
		h.provider.OnSubmit = func(registry.Call, int) *runstest.Outcome {
			return &runstest.Outcome{Outputs: []registry.Output{runstest.Text("result", "x"), {Name: "pic", Type: "image", Open: func(context.Context) (io.ReadCloser, error) { panic("boom") }}}}
		}
		h.start(t)
		user := h.user(t, billing.Dollar)
		run := h.endsSoon(t, h.accept(t, sing(user)).ID)
		if run.Status != runs.StatusFailed {
			t.Errorf("got %s", run.Status)
		}
		h.wantBalance(t, user, billing.Dollar, 0)
	})
	for name, id := range map[string]string{"NUL": "a\x00b", "not UTF-8": "a\xffb", "endless": string(randomText(9000))} {
		t.Run("an id that can't be kept: "+name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, nil)
			h.provider.ID = func(string) string { return id }
			h.start(t)
			user := h.user(t, billing.Dollar)
			run := h.endsSoon(t, h.accept(t, sing(user)).ID)
			if !run.Status.Final() {
				t.Errorf("got %s", run.Status)
			}
			if b, _ := h.ledger.Balance(t.Context(), user); b.Held != 0 {
				t.Errorf("held %s", b.Held)
			}
		})
	}
	nul, long := "a\x00b\xff", strings.Repeat("ж", 100_000)
	for name, text := range map[string]string{"NUL": nul, "long": long} {
		t.Run("texts everywhere: "+name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, nil)
			h.provider.OnSubmit = func(registry.Call, int) *runstest.Outcome {
				return &runstest.Outcome{Outputs: []registry.Output{runstest.Text("result", text), runstest.File(text, "file", text, "")}, Usage: registry.Usage{Machine: text, RunTime: time.Second}}
			}
			h.start(t)
			user := h.user(t, billing.Dollar)
			run := h.endsSoon(t, h.accept(t, sing(user)).ID)
			if run.Status != runs.StatusSucceeded || len(run.Receipt.Machine) > 1000 {
				t.Errorf("got %s, machine of %d bytes", run.Status, len(run.Receipt.Machine))
			}
		})
	}
	for name, usage := range map[string]registry.Usage{
		"negative time": {RunTime: -time.Hour}, "negative tokens": {Tokens: -5}, "NaN": {CostUSD: "NaN"}, "negative cost": {CostUSD: "-3"},
		"huge": {CostUSD: "1e30", Tokens: 1<<63 - 1, RunTime: 1<<63 - 1}, "nearly huge": {CostUSD: "9223372036", Tokens: 1 << 62},
	} {
		for _, model := range []registry.CostingModel{
			{Rate: "0.001", Unit: registry.UnitSecond, RateSource: registry.RateStatic},
			{Rate: "0.000001", Unit: registry.UnitToken, RateSource: registry.RateStatic},
			{Rate: "0.01", Unit: registry.UnitRequest, RateSource: registry.RateAPI},
		} {
			t.Run("usage "+name+" by "+string(model.Unit), func(t *testing.T) {
				t.Parallel()
				tool := perSecond()
				tool.CostingModel = &model
				h := newHouse(t, nil, tool)
				h.provider.OnSubmit = func(registry.Call, int) *runstest.Outcome { return &runstest.Outcome{Usage: usage} }
				h.start(t)
				user := h.user(t, 10*billing.Dollar) // what took long once may take long again, up to its timeout
				for range 3 {
					run := h.endsSoon(t, h.accept(t, sing(user)).ID)
					if run.Status != runs.StatusSucceeded || run.Cost > run.Quote.High || run.Cost < 0 {
						t.Errorf("got %s, %+v", run.Status, run.Receipt)
					}
				}
				if err := h.ledger.RollUp(t.Context()); err != nil {
					t.Error(err)
				}
				h.wantBooksBalance(t)
			})
		}
	}
}

func randomText(n int) []byte {
	var b []byte
	for len(b) < n {
		b = append(b, uuid.NewString()...)
	}
	return b[:n]
}

func TestIdempotencyKeys(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	user := h.user(t, billing.Dollar)
	for name, key := range map[string]string{"NUL": "a\x00b", "not UTF-8": "a\xff", "endless": string(randomText(9000))} {
		t.Run("that can't be kept are refused as input: "+name, func(t *testing.T) {
			r := sing(user)
			r.IdempotencyKey = key
			_, err := h.Accept(t.Context(), r)
			var bad *registry.Error
			if !errors.As(err, &bad) || bad.Code != registry.CodeInvalidInput {
				t.Errorf("got %.200v", err)
			}
		})
	}
	t.Run("of two accounts have nothing to do with each other", func(t *testing.T) {
		one, two := sing(user), sing(h.user(t, billing.Dollar))
		one.IdempotencyKey, two.IdempotencyKey = "k", "k"
		if a, b := h.accept(t, one), h.accept(t, two); a.ID == b.ID {
			t.Error("one run for two accounts")
		}
	})
}

func TestARunThatIsTakenOverIsNotSubmittedBlindly(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	h.provider.OnSubmit = manual
	first := h.mortal(t, "first")
	first.diesAt("submitted", 1)
	if err := first.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	run := h.accept(t, sing(h.user(t, billing.Dollar)))
	<-first.gone
	h.start(t)
	clocktest.Until(t, "somebody works on it", func() bool {
		r, _ := h.Get(t.Context(), run.ID)
		return r.Status != runs.StatusQueued
	})
	h.provider.Finish(run.ID, registry.Usage{RunTime: time.Second})
	if run := h.ends(t, run.ID); run.Status != runs.StatusSucceeded {
		t.Errorf("got %s, %+v", run.Status, run.Error)
	}
}

func TestConfirmKeepsTheLimit(t *testing.T) {
	t.Parallel()
	tool := perSecond()
	tool.Confirmation = "Sure?"
	h := newHouse(t, func(c *runs.Config) { c.PerAccount = 1 }, tool)
	h.provider.OnSubmit = manual
	h.start(t)
	user := h.user(t, billing.Dollar)
	var ids []string
	for range 3 {
		ids = append(ids, h.accept(t, sing(user)).ID)
		if _, err := h.Confirm(t.Context(), ids[len(ids)-1], user); err != nil {
			t.Fatal(err)
		}
	}
	var under int
	if err := h.pool.QueryRow(t.Context(), `SELECT count(*) FROM runs WHERE ended_at IS NULL AND NOT waiting`).Scan(&under); err != nil || under != 1 {
		t.Errorf("%d under way, %v", under, err)
	}
	for _, id := range ids {
		h.submitted(t, id)
		h.provider.Finish(id, registry.Usage{})
		h.ends(t, id)
	}
}

func TestSubscribeToNonsense(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	h.start(t)
	states, cancel := h.Subscribe("nonsense")
	defer cancel()
	select {
	case _, open := <-states:
		if open {
			t.Error("a state of nonsense")
		}
	case <-time.After(time.Minute):
		t.Error("nothing is ever told")
	}
	if ids := h.Hub.WatchedElsewhere(); len(ids) != 0 {
		t.Errorf("watched: %v", ids)
	}
}

type fullDisk struct {
	runstest.Assets
	full  atomic.Bool
	tries atomic.Int32
}

func (d *fullDisk) Keep(ctx context.Context, r io.Reader, meta assets.Meta) (registry.Media, registry.MediaInfo, error) {
	d.tries.Add(1)
	if d.full.Load() {
		_, _ = io.CopyN(io.Discard, r, 2)
		return "", registry.MediaInfo{}, errors.New("no space left on device")
	}
	return d.Assets.Keep(ctx, r, meta)
}

func TestAFullDiskLosesNoResult(t *testing.T) {
	t.Parallel()
	disk := &fullDisk{}
	disk.full.Store(true)
	h := newHouse(t, func(c *runs.Config) { c.Assets = disk })
	h.provider.OnSubmit = func(registry.Call, int) *runstest.Outcome {
		return &runstest.Outcome{Outputs: []registry.Output{runstest.Text("result", "x"), runstest.File("pic", "image", "a.png", "pixels")}}
	}
	h.start(t)
	run := h.accept(t, sing(h.user(t, billing.Dollar)))
	clocktest.Until(t, "it was tried, and tried again", func() bool { return disk.tries.Load() > 2*work.FetchTries })
	disk.full.Store(false)
	if run := h.ends(t, run.ID); run.Status != runs.StatusSucceeded {
		t.Errorf("got %s, %+v", run.Status, run.Error)
	}
}

// tight takes no file at all.
type tight struct {
	runs.Assets
	tries atomic.Int32
}

func (s *tight) Keep(context.Context, io.Reader, assets.Meta) (registry.Media, registry.MediaInfo, error) {
	s.tries.Add(1)
	return "", registry.MediaInfo{}, assets.ErrTooLarge
}

func TestAResultThatIsTooLargeIsFetchedOnceAndCostsNothing(t *testing.T) {
	t.Parallel()
	store := &tight{}
	h := newHouse(t, func(c *runs.Config) { c.Assets = store })
	h.provider.OnSubmit = func(registry.Call, int) *runstest.Outcome {
		return &runstest.Outcome{Outputs: []registry.Output{runstest.Text("result", "x"), runstest.File("pic", "image", "a.png", "pixels")}}
	}
	h.start(t)
	run := h.ends(t, h.accept(t, sing(h.user(t, billing.Dollar))).ID)
	if run.Status != runs.StatusFailed || !strings.Contains(run.Error.Message, "the result pic is larger than") || store.tries.Load() != 1 {
		t.Errorf("got %s, %+v after %d tries", run.Status, run.Error, store.tries.Load())
	}
	h.free(t, run, billing.ReasonFailed)
}

func TestAnEngineThatIsAwayForAWhileLosesNoResult(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	picture := runstest.File("pic", "image", "a.png", "pixels")
	there, tries := picture.Open, 0
	picture.Open = func(ctx context.Context) (io.ReadCloser, error) {
		if tries++; tries == 1 {
			return io.NopCloser(strings.NewReader("")), nil
		}
		if tries <= work.FetchTries {
			return nil, registry.Errorf(registry.CodeBadOutput, "connection refused").Again()
		}
		if tries == work.FetchTries+1 {
			return io.NopCloser(strings.NewReader("<html>Sign in</html>")), nil
		}
		if tries == work.FetchTries+2 {
			return io.NopCloser(strings.NewReader("PK\x03\x04an archive")), nil
		}
		return there(ctx)
	}
	h.provider.OnSubmit = func(registry.Call, int) *runstest.Outcome {
		return &runstest.Outcome{Outputs: []registry.Output{runstest.Text("result", "x"), picture}}
	}
	h.start(t)
	run := h.accept(t, sing(h.user(t, billing.Dollar)))
	if run := h.ends(t, run.ID); run.Status != runs.StatusSucceeded || run.Attempt != 1 || run.Outputs[1].Bytes != int64(len("pixels")) {
		t.Errorf("got %s in attempt %d, %+v", run.Status, run.Attempt, run.Error)
	}
}

func TestACommitWhoseAnswerIsLost(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	user := h.user(t, billing.Dollar)
	h.Writes.Flush = func(ctx context.Context, w []*write.Write) error {
		if err := h.FlushWrites(ctx, w); err != nil {
			return err
		}
		if w[0].Accept != nil {
			return errors.New("connection reset by peer")
		}
		return nil
	}
	run, err := h.Accept(t.Context(), sing(user))
	if err != nil {
		t.Fatalf("told that nothing was accepted, while it was: %v", err)
	}
	if _, err := h.Get(t.Context(), run.ID); err != nil {
		t.Error(err)
	}
}

func TestACallsResultSurvivesADatabaseThatIsAway(t *testing.T) {
	t.Parallel()
	c := &caller{usage: registry.Usage{RunTime: time.Second}}
	h := newHouse(t, func(config *runs.Config) { config.Providers = map[string]runs.Provider{"choir": {Caller: c}} })
	user := h.user(t, billing.Dollar)
	var failed atomic.Int32
	h.Writes.Flush = func(ctx context.Context, w []*write.Write) error {
		if w[0].Finish != nil && failed.Add(1) <= 3 {
			return errors.New("the database is away")
		}
		return h.FlushWrites(ctx, w)
	}
	h.start(t)
	if run := h.ends(t, h.accept(t, sing(user)).ID); run.Status != runs.StatusSucceeded || c.calls.Load() != 1 {
		t.Errorf("got %s after %d calls: %+v", run.Status, c.calls.Load(), run.Error)
	}
}

func TestLossesOfFreeQuotesAreBooked(t *testing.T) {
	t.Parallel()
	tool := perSecond()
	tool.CostingModel = &registry.CostingModel{Rate: "0", Unit: registry.UnitRequest, RateSource: registry.RateAPI}
	h := newHouse(t, nil, tool)
	h.provider.OnSubmit = func(registry.Call, int) *runstest.Outcome {
		return &runstest.Outcome{Usage: registry.Usage{CostUSD: "0.25"}}
	}
	h.start(t)
	user := h.user(t, billing.Dollar)
	run := h.ends(t, h.accept(t, sing(user)).ID)
	if run.Cost != 0 || run.Receipt.Full != 250_000_000 {
		t.Errorf("receipt %+v", run.Receipt)
	}
	h.wantBalance(t, user, billing.Dollar, 0)
	var lost int64
	err := h.pool.QueryRow(t.Context(), `SELECT coalesce(sum(e.amount), 0) FROM ledger_entries e JOIN ledger_transfers t ON t.id = e.transfer_id WHERE t.run_id = $1 AND e.account_id = 3`, run.ID).Scan(&lost)
	if err != nil || lost != -250_000_000 {
		t.Errorf("lost %d, %v", lost, err)
	}
	h.wantBooksBalance(t)
}

func TestPricesOfProvidersAreLearned(t *testing.T) {
	t.Parallel()
	tool := perSecond()
	tool.CostingModel = &registry.CostingModel{Rate: "0.001", Unit: registry.UnitSecond, RateSource: registry.RateAPI}
	h := newHouse(t, nil, tool)
	h.provider.OnSubmit = func(registry.Call, int) *runstest.Outcome {
		return &runstest.Outcome{Usage: registry.Usage{CostUSD: "0.02"}}
	}
	h.start(t)
	user := h.user(t, billing.Dollar)
	h.ends(t, h.accept(t, sing(user)).ID)
	if q := h.acceptAfresh(t, sing(user)).Quote; !strings.Contains(q.Basis, "learned") {
		t.Errorf("quote %+v", q)
	}
}

func TestOneUnreadableRunHidesNoOther(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	user := h.user(t, billing.Dollar)
	bad, good := h.accept(t, sing(user)), h.accept(t, sing(user))
	for _, sql := range []string{
		`INSERT INTO run_tools (tool_id, version, definition) SELECT tool_id, 'old', '{"toolId":"sing","wasAllowedOnce":1}' FROM run_tools`,
		`UPDATE runs SET tool_version = 'old', started_at = created_at - interval '1 day' WHERE id = '` + bad.ID + `'`,
	} {
		if _, err := h.pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	list, err := h.List(t.Context(), runs.Filter{AccountID: user})
	if err != nil || len(list) != 2 {
		t.Errorf("%d runs, %v", len(list), err)
	}
	h.start(t)
	h.ends(t, good.ID)
	h.endsSoon(t, bad.ID)
	h.wantBooksBalance(t)
}

func TestRunsAndBooksAreCompared(t *testing.T) {
	t.Parallel()
	for name, sql := range map[string]string{
		"a run's row is gone":      `DELETE FROM runs WHERE ended_at IS NULL`,
		"a run's cost was changed": `UPDATE runs SET cost = cost + 1 WHERE status = 'succeeded'`,
		"a hold is gone":           `ALTER TABLE ledger_transfers DISABLE TRIGGER ALL; UPDATE ledger_accounts SET balance = CASE kind WHEN 'hold' THEN 0 ELSE balance + (SELECT promised FROM runs WHERE ended_at IS NULL) END WHERE owner IS NOT NULL; DELETE FROM ledger_transfers WHERE id = (SELECT max(id) FROM ledger_transfers WHERE kind = 'hold')`,
		"a run was opened again":   `UPDATE runs SET status = 'running', ended_at = NULL, receipt = NULL, cost = 0, delivered_at = NULL WHERE status = 'succeeded'`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			metrics := prometheus.NewRegistry()
			h := newHouse(t, func(c *runs.Config) { c.Metrics = metrics })
			h.provider.OnSubmit = oneSecond
			user := h.user(t, billing.Dollar)
			h.config.Metrics = nil
			one := h.open(t)
			if err := one.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			h.delivered(t, h.accept(t, sing(user)).ID)
			stop(t, one)
			h.accept(t, sing(user))
			if _, err := h.pool.Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
			if err := h.CheckLedger(t.Context()); err != nil {
				t.Fatal(err)
			}
			if ledgerProblems(t, metrics) == 0 {
				t.Error("not found")
			}
		})
	}
}

func ledgerProblems(t *testing.T, metrics *prometheus.Registry) (found float64) {
	t.Helper()
	families, err := metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "signalbox_ledger_problems" {
			found = f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	return found
}

func TestStopIsNotHeldUpByAProvider(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	p := &stubborn{}
	s := h.config
	s.Providers = map[string]runs.Provider{"choir": {Submitter: p}}
	svc, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := svc.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	user := h.user(t, billing.Dollar)
	run, err := svc.Accept(t.Context(), sing(user))
	if err != nil {
		t.Fatal(err)
	}
	clocktest.Until(t, "submitted", func() bool { r, _ := svc.Get(t.Context(), run.ID); return r.Status == runs.StatusRunning })
	if _, err := svc.Cancel(t.Context(), run.ID, user); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	_ = svc.Stop(ctx)
	if took := time.Since(begun); took > 8*time.Second {
		t.Errorf("took %s", took)
	}
}

type stubborn struct{}

func (*stubborn) Submit(_ context.Context, c registry.Call) (registry.Ticket, error) {
	return registry.Ticket{RunID: c.RunID, Service: "choir", ProviderID: c.Handle}, nil
}

func (*stubborn) Poll(context.Context, registry.Ticket) (registry.Progress, error) {
	return registry.Progress{State: registry.RunRunning}, nil
}

func (*stubborn) Cancel(ctx context.Context, _ registry.Ticket) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestCommitThatFails(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	_, err := h.config.Pool.Exec(t.Context(), `
		CREATE FUNCTION refuse_at_the_end() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not today'; END $$;
		CREATE CONSTRAINT TRIGGER refuse_at_the_end AFTER INSERT ON runs DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse_at_the_end()`)
	if err != nil {
		t.Fatal(err)
	}
	user := h.user(t, billing.Dollar)
	if run, err := h.Accept(t.Context(), sing(user)); err == nil || !strings.Contains(err.Error(), "not today") {
		t.Errorf("accepted %s, %v", run.ID, err)
	}
	h.wantBalance(t, user, billing.Dollar, 0)
	if _, err := h.config.Pool.Exec(t.Context(), `DROP TRIGGER refuse_at_the_end ON runs`); err != nil {
		t.Fatal(err)
	}
	h.accept(t, sing(user)) // the connections are fit for use
}
