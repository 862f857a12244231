package missions

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
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
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/registry/registrytest"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/runner"
	"github.com/signalbox/signalbox/runs/runstest"
	"github.com/signalbox/signalbox/users"
)

const cent = billing.Dollar / 100

// agency is a service that makes bookings and takes them back, as strict as a real one: a handle counts once, a booking is canceled once.
type agency struct {
	// answer decides about a call before it is carried out; nil: it is.
	answer func(c registry.Call, before int) error
	// after decides about the answer of a call that was carried out; nil: it is told.
	after func(c registry.Call) error
	block map[string]chan struct{} // calls of a tool wait for it to be closed

	mu       sync.Mutex
	calls    []string               // tools, in order
	at       map[string][]time.Time // of calls, by tool
	byHandle map[string]string      // bookings
	canceled map[string]int         // effective cancellations, by booking
	inputs   map[string][]map[string]any
}

// Call books, cancels, paints or looks.
func (a *agency) Call(ctx context.Context, c registry.Call) (registry.Result, error) {
	if wait := a.block[c.Tool.ToolID]; wait != nil {
		select {
		case <-wait:
		case <-ctx.Done():
			return registry.Result{}, ctx.Err()
		}
	}
	a.mu.Lock()
	before := len(a.at[c.Tool.ToolID])
	a.calls = append(a.calls, c.Tool.ToolID)
	if a.at == nil {
		a.at, a.byHandle, a.canceled, a.inputs = map[string][]time.Time{}, map[string]string{}, map[string]int{}, map[string][]map[string]any{}
	}
	a.at[c.Tool.ToolID] = append(a.at[c.Tool.ToolID], time.Now())
	a.inputs[c.Tool.ToolID] = append(a.inputs[c.Tool.ToolID], c.Inputs)
	a.mu.Unlock()
	if a.answer != nil {
		if err := a.answer(c, before); err != nil {
			return registry.Result{}, err
		}
	}
	text, err := a.carryOut(c)
	if err == nil && a.after != nil {
		err = a.after(c)
	}
	if err != nil {
		return registry.Result{}, err
	}
	out := registry.Output{Name: c.Tool.OutputSchema[0].Name, Type: c.Tool.OutputSchema[0].Type, Text: text}
	if out.Type != "text" {
		out.Text, out.Info = "", registry.MediaInfo{Name: "picture.png", MIMEType: "image/png"}
		out.Open = func(context.Context) (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x00IEND\xaeB`\x82" + text))), nil
		}
	}
	return registry.Result{Outputs: []registry.Output{out}}, nil
}

func (a *agency) carryOut(c registry.Call) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, cancels := strings.CutPrefix(c.Tool.ToolID, "cancel_"); !cancels {
		if a.byHandle[c.Handle] == "" {
			a.byHandle[c.Handle] = fmt.Sprintf("%s-%d", c.Tool.ToolID, len(a.byHandle)+1)
		}
		return fmt.Sprintf(`{"booking":{"id":%q,"price":"12.50"}}`, a.byHandle[c.Handle]), nil
	}
	id, _ := c.Inputs["booking_id"].(string)
	switch {
	case !slices.Contains(slices.Collect(maps.Values(a.byHandle)), id):
		return "", status(404)
	case a.byHandle[c.Handle] == "canceled "+id:
	case a.canceled[id] > 0:
		return "", status(409)
	default:
		a.canceled[id]++
		a.byHandle[c.Handle] = "canceled " + id
	}
	return `{"status":"canceled"}`, nil
}

// status is the refusal of a service that is spoken to over HTTP.
func status(code int) error {
	return registry.Errorf(registry.CodeInvalidInput, "the agency says %d", code).Because(&registry.StatusError{Status: code})
}

func (a *agency) called() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.calls)
}

// cancellations are the bookings that were taken back and how often that had an effect; each booking that was made and is still there has 0.
func (a *agency) cancellations() map[string]int {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := maps.Clone(a.canceled)
	for _, id := range a.byHandle {
		if !strings.HasPrefix(id, "canceled ") {
			all[id] += 0
		}
	}
	return all
}

// tool is a tool of the agency at a cent that answers with a text.
func tool(id string, adapt ...func(*registry.Tool)) registry.Tool {
	t := registry.Tool{
		ToolID: id, Service: "agency", DisplayName: strings.ToUpper(id[:1]) + id[1:],
		InputSchema:  registry.InputSchema{{Name: "where", Type: registry.TypeString, Default: "Lisbon"}, {Name: "after", Type: registry.TypeString}},
		OutputSchema: registry.OutputSchema{{Name: "result", Type: "text"}},
		CostingModel: &registry.CostingModel{Rate: "0.01", Unit: registry.UnitRequest, RateSource: registry.RateStatic},
		Execution:    registry.Execution{Capability: registry.CapabilityWrite, Idempotent: true},
	}
	for _, f := range adapt {
		f(&t)
	}
	return t
}

// books is a booking that can be taken back by its cancel tool.
func books(how map[string]any) func(*registry.Tool) {
	return func(t *registry.Tool) {
		t.Cancels, t.Confirmation = "cancel_"+t.ToolID, "structured-booking"
		of := map[string]any{"reversibility": "compensating", "inputs": map[string]any{"booking_id": "{{outputs.booking.id}}"}}
		maps.Copy(of, how)
		t.Metadata = map[string]any{"compensation": of}
	}
}

// cancels is a tool that takes bookings back.
func cancels(id, kind string) registry.Tool {
	return tool("cancel_"+id, func(t *registry.Tool) {
		t.CancelFor, t.CostingModel = id, nil
		t.InputSchema = registry.InputSchema{{Name: "booking_id", Type: registry.TypeString, Required: true}}
		t.Metadata = map[string]any{"compensation": map[string]any{"kind": kind}}
	})
}

func image(t *registry.Tool) {
	t.OutputSchema = registry.OutputSchema{{Name: "image", Type: "image"}}
	t.InputSchema = append(t.InputSchema, registry.InputField{Name: "image", Type: registry.TypeImage})
}

// travel are tools of all sorts.
func travel() []registry.Tool {
	return []registry.Tool{
		tool("flight", books(nil)), cancels("flight", "perfect"), tool("hotel", books(nil)), cancels("hotel", "perfect"), tool("car", books(nil)), cancels("car", "best-effort"),
		tool("ferry", books(map[string]any{"inputs": map[string]any{"booking_id": "{{outputs.ticket.number}}"}})), cancels("ferry", "perfect"),
		tool("train", books(map[string]any{"windowSeconds": "3600"})), cancels("train", "perfect"),
		tool("visa", func(t *registry.Tool) {
			t.InputSchema = append(t.InputSchema, registry.InputField{Name: "passport", Type: registry.TypeString})
			t.PIIRequired = []string{"passport"}
		}),
		tool("publish"), tool("look", func(t *registry.Tool) {
			t.Capability, t.CostingModel, t.CommandName = registry.CapabilityRead, nil, "/look"
		}),
		tool("send", func(t *registry.Tool) {
			t.Capability, t.Reaches = registry.CapabilityRead, []string{"where"}
		}),
		tool("paint", image), tool("frame", image), tool("jet", func(t *registry.Tool) { t.CostingModel.Rate = "2" }),
	}
}

// process is what one process has of the house, over a pool of its own.
type process struct {
	*Service
	runs *runner.Service
	pool *pgxpool.Pool
}

// house is a database with an agency, and processes that work on it.
type house struct {
	*process
	t       *testing.T
	agency  *agency
	pool    *pgxpool.Pool
	ledger  *billing.Ledger
	tools   *catalog.Registry
	loader  *registrytest.Loader // of the tools, in a house with chains
	adapt   func(*Config)
	may     func(toolID string) error
	later   atomic.Int64 // by so many nanoseconds the clock of missions is ahead
	told    []Mission
	waits   []Leg // that the owner was told to wait for their word
	telling sync.Mutex
}

func newHouse(t *testing.T, tools ...registry.Tool) *house {
	t.Helper()
	if len(tools) == 0 {
		tools = travel()
	}
	known, err := runstest.Registry(tools...)
	if err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, agency: &agency{}, pool: postgrestest.New(t), tools: known}
	h.ledger = billing.NewLedger(h.pool)
	return h
}

// open makes a process.
func (h *house) open(pool *pgxpool.Pool) *process {
	h.t.Helper()
	ledger := billing.NewLedger(pool)
	p := &process{pool: pool}
	providers := map[string]runs.Provider{
		"agency":     {Caller: h.agency},
		ChainService: {Submitter: NewChains(pool, func() *Service { return p.Service })},
	}
	assets := &runstest.Assets{}
	var err error
	p.runs, err = runner.New(runs.Config{
		Pool: pool, Registry: h.tools, Ledger: ledger, Users: users.New(pool, users.Config{}), Assets: assets, Providers: providers,
		PollMin: 2 * time.Millisecond, PollMax: 10 * time.Millisecond, RetryBase: 4 * time.Millisecond, ReapEvery: 50 * time.Millisecond, SoftStop: 50 * time.Millisecond,
	})
	if err != nil {
		h.t.Fatal(err)
	}
	config := Config{
		Pool: pool, Registry: h.tools, Runs: p.runs, Ledger: ledger, Providers: providers, Media: assets, Poll: 5 * time.Millisecond, LookEvery: 50 * time.Millisecond,
		Now: func() time.Time { return time.Now().Add(time.Duration(h.later.Load())) },
		May: func(_ context.Context, _, toolID, _ string) (registry.Audience, error) {
			if h.may != nil {
				return registry.Everyone, h.may(toolID)
			}
			return registry.Everyone, nil
		},
		Tell: func(_ context.Context, m Mission, waits *Leg) error {
			h.telling.Lock()
			defer h.telling.Unlock()
			if waits != nil {
				h.waits = append(h.waits, *waits)
			} else {
				h.told = append(h.told, m)
			}
			return nil
		},
	}
	if h.adapt != nil {
		h.adapt(&config)
	}
	if p.Service, err = New(config); err != nil {
		h.t.Fatal(err)
	}
	return p
}

// start begins to work, in a process of its own, until the test ends.
func (h *house) start() *house {
	h.t.Helper()
	h.process = h.open(h.pool)
	if err := h.runs.Start(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
	if err := h.Start(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
	p := h.process
	h.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := p.Stop(ctx); err != nil {
			h.t.Error(err)
		}
		if err := p.runs.Stop(ctx); err != nil {
			h.t.Error(err)
		}
	})
	return h
}

// user makes somebody with a dollar.
func (h *house) user() string {
	h.t.Helper()
	id := uuid.NewString()
	err := pgx.BeginFunc(h.t.Context(), h.pool, func(tx pgx.Tx) error {
		if err := h.ledger.EnsureWallet(h.t.Context(), tx, id); err != nil {
			return err
		}
		return h.ledger.Grant(h.t.Context(), tx, id, billing.Dollar, id, "sign-up")
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return id
}

// trip is a draft of the tools, one after the other.
func trip(tools ...string) Draft {
	d := Draft{Title: "A trip", Currency: "EUR", EscalationURL: "https://agency.example/help"}
	for i, id := range tools {
		d.Legs = append(d.Legs, DraftLeg{Tool: id, Order: i + 1, Inputs: map[string]any{}})
	}
	return d
}

func (h *house) plan(user string, d Draft) Mission {
	h.t.Helper()
	m, err := h.Plan(h.t.Context(), user, "", d)
	if err != nil {
		h.t.Fatal(err)
	}
	return m
}

// goes plans and confirms a mission.
func (h *house) goes(user string, d Draft) Mission {
	h.t.Helper()
	m := h.plan(user, d)
	m, err := h.Confirm(h.t.Context(), m.ID, user, m.Hash)
	if err != nil {
		h.t.Fatal(err)
	}
	return m
}

// until waits for a mission to be as is wanted.
func (h *house) until(m Mission, what string, holds func(Mission) bool) Mission {
	h.t.Helper()
	var now Mission
	clocktest.Until(h.t, what, func() bool {
		var err error
		if now, err = get(h.t.Context(), h.pool, m.ID, "", ""); err != nil {
			h.t.Fatal(err)
		}
		return holds(now)
	}, func() string {
		return fmt.Sprintf("it is %s, the agency was called for %v", now.Status, h.agency.called())
	})
	return now
}

// begun waits until the service may know of a leg.
func (h *house) begun(m Mission, leg int) {
	h.t.Helper()
	h.until(m, fmt.Sprintf("leg %d is under way", leg+1), func(m Mission) bool {
		begun, err := h.runs.Begun(h.t.Context(), m.Legs[leg].Progress.RunID)
		return err == nil && begun
	})
}

// ends wants a mission to end as a status.
func (h *house) ends(m Mission, want Status) Mission {
	h.t.Helper()
	m = h.until(m, "it is over", func(m Mission) bool { return m.Status.Final() })
	if m.Status != want {
		h.t.Errorf("the mission is %s, want %s; the agency was called for %v, %+v", m.Status, want, h.agency.called(), m.Legs)
	}
	return m
}

// wantBalance wants the wallet to have so much, nothing to be held, and the books to balance.
func (h *house) wantBalance(user string, want billing.NanoUSD) {
	h.t.Helper()
	got, err := h.ledger.Balance(h.t.Context(), user)
	if err != nil || got.Available != want || got.Held != 0 {
		h.t.Errorf("the balance is %+v, %v; want %s", got, err, want)
	}
	report, err := h.ledger.Check(h.t.Context())
	if err != nil || !report.OK() {
		h.t.Error(report, err)
	}
}

// tells waits for the owner to be told that a mission is over, and gives it.
func (h *house) tells() Mission {
	h.t.Helper()
	var told []Mission
	clocktest.Until(h.t, "somebody is told of the end", func() bool {
		h.telling.Lock()
		defer h.telling.Unlock()
		told = slices.Clone(h.told)
		return len(told) > 0
	})
	return told[0]
}

func (h *house) wantCalls(want ...string) {
	h.t.Helper()
	if got := h.agency.called(); !slices.Equal(got, want) {
		h.t.Errorf("the agency was called for %v, want %v", got, want)
	}
}

// failing lets calls of a tool be refused.
func failing(id string, err error) func(registry.Call, int) error {
	return func(c registry.Call, _ int) error {
		if c.Tool.ToolID == id {
			return err
		}
		return nil
	}
}

var soldOut = registry.Errorf(registry.CodeRefused, "sold out")
