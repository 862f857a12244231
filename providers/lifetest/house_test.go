package lifetest

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
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
	"github.com/signalbox/signalbox/runs/runner"
	"github.com/signalbox/signalbox/runs/runstest"
	"github.com/signalbox/signalbox/test/housetest"
	"github.com/signalbox/signalbox/webhooks"
)

// clock is the time, and what a test adds to it.
type clock struct {
	ahead   atomic.Int64
	stopped atomic.Pointer[time.Time]
}

func (c *clock) Now() time.Time {
	if at := c.stopped.Load(); at != nil {
		return *at
	}
	return time.Now().Add(time.Duration(c.ahead.Load()))
}

// stop lets no time pass until the clock goes on.
func (c *clock) stop() (goOn func()) {
	now := c.Now()
	c.stopped.Store(&now)
	return func() { c.stopped.Store(nil) }
}

// service is where a tool comes from and who runs it.
type service struct {
	name     string
	loader   registry.Loader
	provider runs.Provider
}

// house is the program's part between one service and a wallet: runs, money and the inbox.
type house struct {
	service
	clock  *clock
	pool   *pgxpool.Pool
	runs   *runner.Service
	ledger *billing.Ledger
	tool   registry.Tool
}

// newHouse opens a house for the service that open makes. Its runs are polled as often as poll says.
func newHouse(t *testing.T, poll time.Duration, open func(now func() time.Time, assets *runstest.Assets) service) *house {
	t.Helper()
	h := &house{clock: &clock{}, pool: postgrestest.New(t)}
	assets := &runstest.Assets{}
	h.service = open(h.clock.Now, assets)
	tools, err := h.loader.Load(t.Context())
	if err != nil || len(tools) == 0 {
		t.Fatalf("%s has %d tools: %v", h.name, len(tools), err)
	}
	h.tool = tools[0]
	catalogue, err := runstest.Registry(tools...)
	if err != nil {
		t.Fatal(err)
	}
	var inbox *webhooks.Inbox
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { inbox.ServeHTTP(w, r) }))
	t.Cleanup(site.Close)
	verifier, signs := runs.Extra[registry.CallbackVerifier](h.provider)
	var signing []string
	if signs {
		signing = []string{h.name}
	}
	addresses, err := webhooks.NewAddresses(site.URL, make([]byte, 32), signing, h.clock.Now)
	if err != nil {
		t.Fatal(err)
	}
	h.ledger = billing.NewLedger(h.pool)
	h.runs, err = runner.New(runs.Config{
		Pool: h.pool, Registry: catalogue, Ledger: h.ledger, Assets: assets, Providers: map[string]runs.Provider{h.name: h.provider},
		RateCard: billing.DefaultRateCard(), PollMin: poll, PollMax: poll, RetryBase: time.Millisecond, CallbackURL: addresses.Of,
	})
	if err != nil {
		t.Fatal(err)
	}
	inbox, err = webhooks.NewInbox(webhooks.InboxConfig{
		Pool: h.pool, Addresses: addresses, Now: h.clock.Now, Poll: 20 * time.Millisecond, Callback: h.callback,
		Sources:  map[string]webhooks.Source{h.name: {Verifier: verifier}},
		Strategy: func(string) (registry.WebhookConfig, bool) { return strategyOf(h.tool) },
	})
	if err != nil {
		t.Fatal(err)
	}
	housetest.Begin(t, h.runs)
	housetest.Begin(t, inbox)
	return h
}

func strategyOf(tool registry.Tool) (registry.WebhookConfig, bool) {
	if tool.WebhookStrategy == nil {
		return registry.WebhookConfig{}, false
	}
	return *tool.WebhookStrategy, true
}

func (h *house) callback(ctx context.Context, service, runID, providerID string) (bool, error) {
	err := h.runs.Callback(ctx, service, runID, providerID)
	if errors.Is(err, runs.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// purse is what everybody begins with.
const purse = 10 * billing.Dollar

// accept begins a run for somebody new.
func (h *house) accept(t *testing.T, inputs map[string]any) runs.Run {
	t.Helper()
	account := uuid.NewString()
	err := pgx.BeginFunc(t.Context(), h.pool, func(tx pgx.Tx) error {
		if err := h.ledger.EnsureWallet(t.Context(), tx, account); err != nil {
			return err
		}
		return h.ledger.Grant(t.Context(), tx, account, purse, account, "sign-up")
	})
	if err != nil {
		t.Fatal(err)
	}
	run, err := h.runs.Accept(t.Context(), runs.Request{AccountID: account, ToolID: h.tool.ToolID, Values: map[runs.Source]map[string]any{runs.FromArgument: inputs}, Origin: runs.Origin{Platform: "api"}})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// ends waits for the end of a run and until all reports of it are worked on, and checks what it became and cost. code is
// that of its error; empty where it has to succeed.
func (h *house) ends(t *testing.T, run runs.Run, code registry.Code, price billing.NanoUSD) {
	t.Helper()
	// Asked of the database: who subscribes to a run makes it look at its provider, which a report has to do here.
	clocktest.Until(t, "the run ends", func() bool {
		now, err := h.runs.Get(t.Context(), run.ID)
		return err == nil && now.Status.Final()
	})
	clocktest.Until(t, "all reports are worked on", func() bool {
		left, err := webhooks.Events(t.Context(), h.pool, webhooks.EventsQuery{Status: webhooks.StatusStored})
		return err == nil && len(left) == 0
	})
	now, err := h.runs.Get(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	if succeeded := now.Status == runs.StatusSucceeded; succeeded != (code == "") || succeeded != (len(now.Outputs) > 0) || !succeeded && now.Error.Code != string(code) {
		t.Errorf("it is %s with %d outputs (%+v), expected %q", now.Status, len(now.Outputs), now.Error, code)
	}
	balance, err := h.ledger.Balance(t.Context(), run.AccountID)
	if want := (billing.Balance{Available: purse - price}); err != nil || balance != want {
		t.Errorf("the wallet has %+v, expected %+v (%v)", balance, want, err)
	}
}

// bound are inputs with a tool's defaults, as runs binds them.
func bound(tool registry.Tool, inputs map[string]any) map[string]any {
	all := map[string]any{}
	for _, f := range tool.InputSchema {
		if f.Default != nil {
			all[f.Name] = f.Default
		}
	}
	maps.Copy(all, inputs)
	return all
}
