package runner

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/runstest"
	"github.com/signalbox/signalbox/users"
)

// house is a service with all that it needs, on a database of its own.
type house struct {
	*Service
	config   runs.Config
	pool     *pgxpool.Pool
	ledger   *billing.Ledger
	provider *runstest.Provider
	inbox    *inbox
}

// inbox is a platform that takes results.
type inbox struct {
	mu   sync.Mutex
	runs []runs.Run
	fail func(run runs.Run, before int) error
}

// Deliver keeps the run, unless fail says otherwise.
func (b *inbox) Deliver(_ context.Context, run runs.Run) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fail != nil {
		if err := b.fail(run, len(b.runs)); err != nil {
			b.runs = append(b.runs, run)
			return err
		}
	}
	b.runs = append(b.runs, run)
	return nil
}

func (b *inbox) got(runID string) []runs.Run {
	b.mu.Lock()
	defer b.mu.Unlock()
	var found []runs.Run
	for _, r := range b.runs {
		if r.ID == runID {
			found = append(found, r)
		}
	}
	return found
}

// perSecond is a tool at a tenth of a cent per second that makes one text.
func perSecond() registry.Tool {
	return registry.Tool{
		ToolID: "sing", Service: "choir", DisplayName: "Sing", CommandName: "/sing",
		InputSchema: registry.InputSchema{
			{Name: "song", Type: registry.TypeString, Required: true},
			{Name: "seed", Type: registry.TypeNumber, Seed: true, Integer: true, Max: "18446744073709551615"},
			{Name: "voices", Type: registry.TypeNumber, Integer: true, Min: "1", Max: "8", Default: json.Number("2")},
		},
		OutputSchema: registry.OutputSchema{{Name: "result", Type: "text"}},
		CostingModel: &registry.CostingModel{Rate: "0.001", Unit: registry.UnitSecond, RateSource: registry.RateStatic},
	}
}

func newHouse(t *testing.T, adapt func(*runs.Config), tools ...registry.Tool) *house {
	t.Helper()
	if len(tools) == 0 {
		tools = []registry.Tool{perSecond()}
	}
	catalogue, err := runstest.Registry(tools...)
	if err != nil {
		t.Fatal(err)
	}
	h := &house{pool: postgrestest.New(t), provider: &runstest.Provider{}, inbox: &inbox{}}
	h.ledger = billing.NewLedger(h.pool)
	h.config = runs.Config{
		Pool: h.pool, Registry: catalogue, Ledger: h.ledger, Users: users.New(h.pool, users.Config{}), Assets: &runstest.Assets{},
		Providers: map[string]runs.Provider{"choir": {Submitter: h.provider}}, Deliverers: map[string]runs.Deliverer{"post": h.inbox},
		Logger: testLog(), PollMin: 2 * time.Millisecond, PollMax: 10 * time.Millisecond, RetryBase: 4 * time.Millisecond,
		ReapEvery: 50 * time.Millisecond,
	}
	if adapt != nil {
		adapt(&h.config)
	}
	h.Service = h.open(t)
	return h
}

// testLog is silent unless asked for.
func testLog() *slog.Logger {
	if os.Getenv("RUNS_TEST_LOG") == "" {
		return nil
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// open makes another service on the same database, as a restart or another machine does.
func (h *house) open(t *testing.T) *Service {
	t.Helper()
	s, err := New(h.config)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (h *house) start(t *testing.T, services ...*Service) {
	t.Helper()
	if len(services) == 0 {
		services = []*Service{h.Service}
	}
	for _, s := range services {
		if err := s.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { stop(t, s) })
	}
}

func stop(t *testing.T, s *Service) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := s.Stop(ctx); err != nil {
		t.Error(err)
	}
}

func exec(t *testing.T, h *house, sql string, args ...any) {
	t.Helper()
	if _, err := h.pool.Exec(t.Context(), sql, args...); err != nil {
		t.Fatal(err)
	}
}

// user makes somebody with money.
func (h *house) user(t *testing.T, amount billing.NanoUSD) string {
	t.Helper()
	id := uuid.NewString()
	err := pgx.BeginFunc(t.Context(), h.pool, func(tx pgx.Tx) error {
		if err := h.ledger.EnsureWallet(t.Context(), tx, id); err != nil || amount == 0 {
			return err
		}
		return h.ledger.Grant(t.Context(), tx, id, amount, id, "sign-up")
	})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func sing(user string) runs.Request {
	return runs.Request{
		AccountID: user, ToolID: "sing", Origin: runs.Origin{Platform: "post"},
		Values: map[runs.Source]map[string]any{runs.FromArgument: {"song": "la"}},
	}
}

func (h *house) accept(t *testing.T, r runs.Request) runs.Run {
	t.Helper()
	run, err := h.Accept(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// acceptAfresh accepts by a process that has not read before what tools have cost.
func (h *house) acceptAfresh(t *testing.T, r runs.Request) runs.Run {
	t.Helper()
	other := *h
	other.config.Metrics = nil
	run, err := other.open(t).Accept(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func (h *house) ends(t *testing.T, runID string) runs.Run {
	t.Helper()
	var run runs.Run
	clocktest.Until(t, "the run ends", func() bool {
		var err error
		if run, err = h.Get(t.Context(), runID); err != nil {
			t.Fatal(err)
		}
		return run.Status.Final()
	})
	return run
}

func (h *house) delivered(t *testing.T, runID string) runs.Run {
	t.Helper()
	var run runs.Run
	clocktest.Until(t, "the run is delivered", func() bool {
		var err error
		if run, err = h.Get(t.Context(), runID); err != nil {
			t.Fatal(err)
		}
		return run.DeliveredAt != nil
	})
	return run
}

func (h *house) wantBalance(t *testing.T, user string, available, held billing.NanoUSD) {
	t.Helper()
	got, err := h.ledger.Balance(t.Context(), user)
	if err != nil {
		t.Fatal(err)
	}
	if want := (billing.Balance{Available: available, Held: held}); got != want {
		t.Errorf("the balance is %+v, want %+v", got, want)
	}
}

func (h *house) wantBooksBalance(t *testing.T) {
	t.Helper()
	report, err := h.ledger.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !report.OK() || report.OpenHolds != 0 {
		t.Error(report, report.OpenHolds)
	}
}

func TestRunEndToEnd(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	h.provider.OnSubmit = func(registry.Call, int) *runstest.Outcome {
		return &runstest.Outcome{Usage: registry.Usage{RunTime: 12500 * time.Millisecond}, Outputs: []registry.Output{
			runstest.Text("result", "la la"), runstest.File("score", "file", "score.txt", "do re mi"),
		}}
	}
	h.start(t)
	user := h.user(t, billing.Dollar)
	const text, target = "la\\la \"\n\ttwo", `{"chat":"a\\b\n"}`
	request := sing(user)
	request.Values[runs.FromArgument]["song"], request.Origin.Target = text, []byte(target)
	accepted := h.accept(t, request)
	if accepted.Status != runs.StatusQueued || accepted.Quote.High == 0 {
		t.Errorf("accepted as %+v", accepted)
	}
	run := h.delivered(t, accepted.ID)
	if run.Inputs["song"] != text || string(run.Origin.Target) != target || string(h.inbox.got(run.ID)[0].Origin.Target) != target {
		t.Errorf("texts came back changed: %q, %s, %s", run.Inputs["song"], run.Origin.Target, h.inbox.got(run.ID)[0].Origin.Target)
	}
	if run.Status != runs.StatusSucceeded || run.Cost != 12_500_000 || run.Receipt.Units != "12.5" || run.Receipt.RunID != run.ID {
		t.Errorf("got %s, %+v", run.Status, run.Receipt)
	}
	if len(run.Outputs) != 2 || run.Outputs[0].Text != "la la" || run.Outputs[1].Bytes != 8 || run.Outputs[1].FileName != "score.txt" {
		t.Errorf("outputs %+v", run.Outputs)
	}
	if _, _, err := h.OpenMedia(t.Context(), run.Outputs[1].Media); err != nil {
		t.Error(err)
	}
	if got := h.inbox.got(run.ID); len(got) != 1 || got[0].Status != runs.StatusSucceeded {
		t.Errorf("delivered %+v", got)
	}
	h.wantBalance(t, user, billing.Dollar-12_500_000, 0)
	h.wantBooksBalance(t)
}

func TestAcceptRefuses(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	rich, poor := h.user(t, billing.Dollar), h.user(t, 1)
	count := func() (n int) {
		if err := h.pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM runs) + (SELECT count(*) FROM run_deliveries)`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	with := func(user string, change func(*runs.Request)) runs.Request {
		r := sing(user)
		change(&r)
		return r
	}
	t.Run("A19 a missing required input is named", func(t *testing.T) {
		_, err := h.Accept(t.Context(), with(rich, func(r *runs.Request) { r.Values = nil }))
		var missing *runs.MissingInputError
		if !errors.As(err, &missing) || missing.Fields[0].Name != "song" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a value that does not fit is named", func(t *testing.T) {
		_, err := h.Accept(t.Context(), with(rich, func(r *runs.Request) { r.Values[runs.FromArgument]["voices"] = "99" }))
		var bad *registry.Error
		if !errors.As(err, &bad) || bad.Field != "voices" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("an unknown tool", func(t *testing.T) {
		if _, err := h.Accept(t.Context(), with(rich, func(r *runs.Request) { r.ToolID = "dance" })); !errors.Is(err, runs.ErrUnknownTool) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("too little credit", func(t *testing.T) {
		_, err := h.Accept(t.Context(), sing(poor))
		var short billing.ErrInsufficient
		if !errors.As(err, &short) || short.Have != 1 {
			t.Errorf("got %v", err)
		}
		h.wantBalance(t, poor, 1, 0)
	})
	t.Run("nobody's wallet", func(t *testing.T) {
		if _, err := h.Accept(t.Context(), sing(uuid.NewString())); !errors.Is(err, billing.ErrNoWallet) {
			t.Errorf("got %v", err)
		}
	})
	if n := count(); n != 0 {
		t.Errorf("%d rows were left by refused requests", n)
	}
	t.Run("a repeated request is the first run", func(t *testing.T) {
		keyed := with(rich, func(r *runs.Request) { r.IdempotencyKey = "again" })
		var ids sync.Map
		var wait sync.WaitGroup
		for range 6 {
			wait.Go(func() {
				run, err := h.Accept(t.Context(), keyed)
				if err != nil {
					t.Error(err)
				}
				ids.Store(run.ID, true)
			})
		}
		wait.Wait()
		n := 0
		ids.Range(func(any, any) bool { n++; return true })
		if n != 1 || count() != 1 {
			t.Errorf("%d runs, %d rows", n, count())
		}
	})
	t.Run("a repeated request is the first run, also when its tool is gone or says something else by now", func(t *testing.T) {
		keyed := with(rich, func(r *runs.Request) { r.IdempotencyKey = "before" })
		first, err := h.Accept(t.Context(), keyed)
		if err != nil {
			t.Fatal(err)
		}
		for name, change := range map[string]func(*runs.Request){
			"no such tool": func(r *runs.Request) { r.ToolID = "gone" },
			"no input":     func(r *runs.Request) { r.Values = nil },
		} {
			again := keyed
			change(&again)
			if run, err := h.Accept(t.Context(), again); err != nil || run.ID != first.ID {
				t.Errorf("%s: got %s, %v", name, run.ID, err)
			}
			again.IdempotencyKey = "another"
			if run, err := h.Accept(t.Context(), again); err == nil {
				t.Errorf("%s with another key: got %s", name, run.ID)
			}
		}
	})
}
