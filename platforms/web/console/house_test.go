package console_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/platforms/web/console"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/registry/history"
	"github.com/signalbox/signalbox/registry/registrytest"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/runner"
	"github.com/signalbox/signalbox/runs/runstest"
	"github.com/signalbox/signalbox/test/housetest"
	"github.com/signalbox/signalbox/users"
)

// house is a small Signalbox with the console behind the web's doors: real database, a scripted provider.
type house struct {
	t        *testing.T
	pool     *pgxpool.Pool
	url      string
	loader   *registrytest.Loader
	reg      *catalog.Registry
	provider *runstest.Provider
	runs     *runner.Service
	users    *users.Store
	ledger   *billing.Ledger
	engines  []console.Engine
	findings map[string][]console.Finding
	lacks    []console.Lack
	room     int64     // bytes
	at       time.Time // what the console's clock shows; zero: it goes

	invitations *users.Invitations
	settings    *setHere
}

// setHere are two settings, of which the environment sets one.
type setHere struct {
	mu        sync.Mutex
	terms, by string
}

func (s *setHere) List() []console.Setting {
	s.mu.Lock()
	defer s.mu.Unlock()
	terms := console.Setting{Name: "terms", Group: "Texts", Title: "Terms", About: "For /terms.", Variable: "TERMS_URL", Long: true, Value: s.terms, Source: console.FromDefault}
	if s.by != "" {
		terms.Source, terms.By, terms.At = console.FromConsole, s.by, time.Now()
	}
	return []console.Setting{
		{Name: "access", Group: "Access", Title: "Who may use the tools", Variable: "ACCESS", Value: "listed", Source: console.FromEnvironment}, terms,
	}
}

func (s *setHere) Set(_ context.Context, _, value, by string) error {
	if strings.Contains(value, "bad") {
		return registry.Errorf(registry.CodeInvalidInput, "Terms: found %q, expected good ones.", value)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.terms, s.by = value, by
	return nil
}

func (s *setHere) Clear(context.Context, string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.terms, s.by = "", ""
	return nil
}

const adminToken = "operator-token-of-the-tests"

// priced gives a tool a price of half a dollar a run.
func priced(t *registry.Tool) {
	t.CostingModel = &registry.CostingModel{Rate: "0.5", Unit: registry.UnitRequest, RateSource: registry.RateStatic, Markup: "0.25"}
	t.OutputSchema = registry.OutputSchema{{Name: "result", Type: "text"}}
}

// timed gives a tool a price of a cent a second.
func timed(t *registry.Tool) {
	priced(t)
	t.CostingModel = &registry.CostingModel{Rate: "0.01", Unit: registry.UnitSecond, RateSource: registry.RateStatic}
}

func paint(t *registry.Tool) {
	priced(t)
	t.DisplayName, t.Description, t.Category = "Paint", "Paints any picture you describe.", "generate"
}

func newHouse(t *testing.T, sections ...console.Section) *house {
	t.Helper()
	pool := postgrestest.New(t)
	h := &house{t: t, pool: pool, ledger: billing.NewLedger(pool), provider: &runstest.Provider{}, room: 12 << 30, settings: &setHere{}, loader: registrytest.NewLoader("workflows", registrytest.Tool("paint", paint), registrytest.Tool("upscale", timed))}
	h.provider.OnSubmit = h.outcome
	h.users = users.New(pool, users.Config{
		OnCreate: func(ctx context.Context, tx pgx.Tx, a users.Account) error {
			return h.ledger.EnsureWallet(ctx, tx, a.ID)
		},
		OnWelcome: func(ctx context.Context, tx pgx.Tx, a users.Account) error {
			return h.ledger.Grant(ctx, tx, a.ID, 5*billing.Dollar, "signup:"+a.ID, "sign-up credit")
		},
	})
	var err error
	if h.reg, err = catalog.New(catalog.Config{Loaders: []registry.Loader{h.loader}}); err != nil {
		t.Fatal(err)
	}
	history := history.New(pool)
	if err := history.Attach(t.Context(), h.reg, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	h.reload()
	h.runs = housetest.Runs(t, runs.Config{Pool: pool, Registry: h.reg, Ledger: h.ledger, Users: h.users, Limits: h.users, Assets: &runstest.Assets{},
		Providers: map[string]runs.Provider{"fake": {Submitter: h.provider}}})
	h.invitations = users.NewInvitations(h.users, func(context.Context, pgx.Tx, string, int64, string) error { return errors.New("no credit") })
	c, err := console.New(console.Config{
		Now: func() time.Time {
			if h.at.IsZero() {
				return time.Now()
			}
			return h.at
		},
		Invitations: h.invitations, Address: func(path string) string { return "https://bot.example" + path }, Settings: h.settings,
		Registry: h.reg, Catalogue: history, Runs: h.runs, People: h.users, Ledger: h.ledger, Caller: web.Caller, CSRF: web.CSRFInput,
		Grant: func(ctx context.Context, accountID string, amount billing.NanoUSD, key, note string) error {
			return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error { return h.ledger.Grant(ctx, tx, accountID, amount, key, note) })
		},
		Engines: func(context.Context) []console.Engine { return h.engines },
		OrderEngine: func(_ context.Context, name, order string) error {
			for i := range h.engines {
				if h.engines[i].Name == name {
					h.engines[i].Order = order
				}
			}
			return nil
		},
		Findings: func() map[string][]console.Finding { return h.findings },
		Lacks:    func() []console.Lack { return h.lacks },
		Room:     func() (int64, error) { return h.room, nil },
		Sections: sections,
		Logger:   slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	page, err := web.New(web.Config{
		Registry: h.reg, Runs: h.runs, Users: h.users, Ledger: h.ledger, AdminToken: adminToken, Version: "test",
		Invitations: h.invitations,
		LinkKey:     []byte("a key for the tests that is long"), Public: &url.URL{Scheme: "http", Host: "signalbox.test"},
		Mounts: []web.Mount{
			{Path: "GET " + console.Root, Use: web.OperatorRead, Page: true, Handler: c.Handler()}, {Path: "POST " + console.Root, Use: web.OperatorChange, Page: true, Handler: c.Handler()},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(page.Handler())
	t.Cleanup(server.Close)
	h.url = server.URL
	return h
}

// outcome is how a run goes: as its prompt says.
func (h *house) outcome(call registry.Call, _ int) *runstest.Outcome {
	switch prompt := fmt.Sprint(call.Inputs["prompt"]); {
	case strings.Contains(prompt, "fail"):
		return &runstest.Outcome{Err: registry.Errorf(registry.CodeRefused, "The prompt was refused by the provider.")}
	case strings.Contains(prompt, "wait"):
		return &runstest.Outcome{Manual: true}
	}
	return &runstest.Outcome{Usage: registry.Usage{RunTime: 7 * time.Second}}
}

func (h *house) reload() {
	h.t.Helper()
	if _, err := h.reg.Reload(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
}

// person makes an account, as somebody on a chat platform would.
func (h *house) person(name string) users.Account {
	h.t.Helper()
	a, err := h.users.Identify(h.t.Context(), users.Identity{Platform: "telegram", ExternalID: "tg-" + name, Name: name})
	if err != nil {
		h.t.Fatal(err)
	}
	return a
}

// accept starts a run of a person.
func (h *house) accept(a users.Account, tool, prompt string) runs.Run {
	h.t.Helper()
	run, err := h.runs.Accept(h.t.Context(), runs.Request{AccountID: a.ID, ToolID: tool, Origin: runs.Origin{Platform: "telegram"},
		Values: map[runs.Source]map[string]any{runs.FromArgument: {"prompt": prompt}}})
	if err != nil {
		h.t.Fatal(err)
	}
	return run
}

// reaches waits until a run is in a state.
func (h *house) reaches(id string, want runs.Status) runs.Run {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), 2*time.Minute)
	defer cancel()
	states, stop := h.runs.Subscribe(id)
	defer stop()
	for {
		select {
		case run, open := <-states:
			if run.Status == want {
				return run
			}
			if !open {
				h.t.Fatalf("run %s never was %s", id, want)
			}
		case <-ctx.Done():
			h.t.Fatalf("run %s is not %s in time", id, want)
		}
	}
}

// run is a run that ended.
func (h *house) run(a users.Account, tool, prompt string, want runs.Status) runs.Run {
	h.t.Helper()
	return h.reaches(h.accept(a, tool, prompt).ID, want)
}

// visitor is a browser without scripts.
type visitor struct {
	t    *testing.T
	base string
	http *http.Client
}

func (h *house) visitor() *visitor {
	jar, err := cookiejar.New(nil)
	if err != nil {
		h.t.Fatal(err)
	}
	return &visitor{t: h.t, base: h.url, http: &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// operator is signed in with the operator's token.
func (h *house) operator() *visitor {
	h.t.Helper()
	v := h.visitor()
	status, _ := v.post("/signin", v.form("/signin", url.Values{"key": {adminToken}}))
	if status != http.StatusSeeOther {
		h.t.Fatalf("signing in as the operator: %d", status)
	}
	return v
}

// as is signed in as an account, by one of its keys.
func (h *house) as(a users.Account) *visitor {
	h.t.Helper()
	key, err := h.users.MakeKey(h.t.Context(), a.ID, users.NewKey{Label: "test"})
	if err != nil {
		h.t.Fatal(err)
	}
	v := h.visitor()
	if status, _ := v.post("/signin", v.form("/signin", url.Values{"key": {key}})); status != http.StatusSeeOther {
		h.t.Fatalf("signing in with a key: %d", status)
	}
	return v
}

func (v *visitor) do(method, path, host string, form url.Values) (int, string, http.Header) {
	v.t.Helper()
	req, err := http.NewRequestWithContext(v.t.Context(), method, v.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		v.t.Fatal(err)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if host != "" {
		req.Host = host
	}
	req.Header.Set("Accept", "text/html")
	res, err := v.http.Do(req)
	if err != nil {
		v.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return res.StatusCode, string(body), res.Header
}

func (v *visitor) get(path string) (int, string) {
	v.t.Helper()
	status, body, _ := v.do("GET", path, "", nil)
	return status, body
}

func (v *visitor) post(path string, form url.Values) (int, string) {
	v.t.Helper()
	status, body, header := v.do("POST", path, "", form)
	if status == http.StatusSeeOther {
		return status, header.Get("Location")
	}
	return status, body
}

var hiddenField = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)"`)

// form is what a browser would send from the page: its hidden fields, and what is filled in.
func (v *visitor) form(page string, filled url.Values) url.Values {
	v.t.Helper()
	_, body := v.get(page)
	form := url.Values{}
	for _, field := range hiddenField.FindAllStringSubmatch(body, -1) {
		form.Set(field[1], field[2])
	}
	maps.Copy(form, filled)
	return form
}

// confirm opens the page of a deed, sends its form and follows to the page that shows the effect.
func (v *visitor) confirm(path string, filled url.Values) (int, string) {
	v.t.Helper()
	status, answer := v.post(path, v.form(path, filled))
	if status != http.StatusSeeOther {
		return status, answer
	}
	return v.get(answer)
}

// shows fails unless the page has all the texts.
func (v *visitor) shows(path string, texts ...string) string {
	v.t.Helper()
	status, body := v.get(path)
	if status != http.StatusOK {
		v.t.Fatalf("%s: status %d: %s", path, status, body)
	}
	contains(v.t, path, body, texts...)
	return body
}

func contains(t *testing.T, what, body string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(body, text) {
			t.Errorf("%s does not say %q:\n%s", what, text, body)
		}
	}
}
