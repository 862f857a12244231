package comfy_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/comfy"
	"github.com/signalbox/signalbox/comfy/api"
	"github.com/signalbox/signalbox/comfy/comfytest"
	"github.com/signalbox/signalbox/comfy/workflow"
	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

// watched is a fleet whose changes are counted and whose clock the test sets.
type watched struct {
	*comfy.Fleet
	changes atomic.Int32
	clock   atomic.Int64
	client  *http.Client // by which runs ask
}

func watchFleet(servers ...*comfytest.Server) *watched {
	w := &watched{}
	var urls []*url.URL
	for _, s := range servers {
		urls = append(urls, s.URL())
	}
	w.client = &http.Client{Transport: api.NewTransport()}
	w.Fleet = comfy.NewFleet(urls, comfy.FleetConfig{
		HTTPClient: w.client, OnChange: func() { w.changes.Add(1) }, Now: func() time.Time { return time.Unix(w.clock.Load(), 0) },
	})
	return w
}

// refresh tells how often OnChange was called.
func (w *watched) refresh(t *testing.T) int {
	t.Helper()
	before := w.changes.Load()
	w.clock.Add(10)
	w.Refresh(t.Context())
	return int(w.changes.Load() - before)
}

func infos(s *comfytest.Server) int { return len(s.Calls("GET /object_info")) }

func TestFleetHealth(t *testing.T) {
	t.Parallel()
	t.Run("a change is told once, and only a change", func(t *testing.T) {
		t.Parallel()
		a, b := comfytest.New(t, comfytest.Options{}), comfytest.New(t, comfytest.Options{GPU: "cuda:0 NVIDIA L4 : native"})
		f := watchFleet(a, b)
		steps := []struct {
			what    string
			do      func()
			changes int
		}{
			{"two come up", func() {}, 1},
			{"nothing", func() {}, 0},
			{"one goes down", b.Down, 1},
			{"it stays down", func() {}, 0},
			{"it comes back", b.Up, 1},
			{"a restart without news", a.Restart, 0},
			{"a model appears, unnoticed so far", func() { a.SetModels("checkpoints", "new.safetensors") }, 0},
			{"the interval has passed", func() { f.clock.Add(int64((5 * time.Minute).Seconds())) }, 1},
			{"a restart, after which somebody else's request comes first", func() {
				a.SetModels("checkpoints", "third.safetensors")
				a.Restart()
				if _, err := api.New(a.URL(), f.client).SystemStats(t.Context()); err != nil {
					t.Error(err)
				}
			}, 1},
			{"a restart with another model", func() { a.SetModels("checkpoints", "other.safetensors"); a.Restart() }, 1},
			{"another version, without news", func() { a.SetVersion("0.99.0") }, 0},
			{"both go down", func() { a.Down(); b.Down() }, 1},
		}
		for _, s := range steps {
			s.do()
			if n := f.refresh(t); n != s.changes {
				t.Errorf("%s: told %d times, expected %d", s.what, n, s.changes)
			}
		}
		for _, s := range f.Status() {
			if s.Up || s.Error == "" || s.Classes == 0 || s.CheckedAt.IsZero() || s.Version == "" {
				t.Errorf("%+v", s)
			}
		}
		b.Up()
		f.refresh(t)
		if s := f.Status()[1]; !s.Up || s.GPUs[0] != "NVIDIA L4" {
			t.Errorf("%+v", s)
		}
	})
	t.Run("declarations are read when needed, not at each look", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		f := watchFleet(s)
		for range 5 {
			f.refresh(t)
		}
		if n := infos(s); n != 1 {
			t.Errorf("read %d times", n)
		}
		s.SetVersion("0.25.0")
		f.refresh(t)
		if n := infos(s); n != 2 {
			t.Errorf("read %d times after a new version", n)
		}
	})
	t.Run("an engine that is down keeps its last declarations", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		f := watchFleet(s)
		f.refresh(t)
		need := workflow.Requirements{Classes: []string{"SaveImage"}}
		before := f.Declarations("", need)
		s.Down()
		f.refresh(t)
		if d := f.Declarations("", need); d.Info == nil || d.Hash != before.Hash || len(d.Missing) != 0 {
			t.Errorf("%+v", d)
		}
	})
	t.Run("answers that make no sense count as down", func(t *testing.T) {
		t.Parallel()
		for _, fault := range []comfytest.Action{comfytest.BrokenJSON, comfytest.Answer(http.StatusOK, "{}"), comfytest.Answer(http.StatusInternalServerError, ""), comfytest.CutMidAnswer} {
			s := comfytest.New(t, comfytest.Options{})
			f := watchFleet(s)
			s.On("GET /object_info", 1, fault)
			f.refresh(t)
			if f.Status()[0].Up {
				t.Error("up without declarations")
			}
			if f.refresh(t); !f.Status()[0].Up {
				t.Errorf("still down: %s", f.Status()[0].Error)
			}
		}
	})
	t.Run("refreshes at once tell a change once", func(t *testing.T) {
		t.Parallel()
		f := watchFleet(comfytest.New(t, comfytest.Options{}))
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() { f.Refresh(t.Context()) })
		}
		all.Wait()
		if n := f.changes.Load(); n != 1 {
			t.Errorf("told %d times", n)
		}
	})
}

// placed gives the server that a call went to.
func placed(t *testing.T, w *world, c registry.Call, servers ...*comfytest.Server) int {
	t.Helper()
	ticket := w.submit(t, c)
	for i, s := range servers {
		if ticket.Endpoint == s.URL().Host {
			return i
		}
	}
	t.Fatalf("nowhere: %+v", ticket)
	return -1
}

func TestPlacement(t *testing.T) {
	t.Parallel()
	painted := func(w *world, tool registry.Tool) registry.Call {
		return w.call(tool, map[string]any{"prompt": "a fox"})
	}
	t.Run("who has the nodes and models", func(t *testing.T) {
		t.Parallel()
		servers := []*comfytest.Server{
			comfytest.New(t, comfytest.Options{Models: models(), Without: []string{"KSampler"}}),
			comfytest.New(t, comfytest.Options{Models: map[string][]string{"checkpoints": {"another.safetensors"}}}),
			comfytest.New(t, comfytest.Options{Models: models()}),
		}
		w, tool := oneTool(t, modelFlow, servers...)
		for range 3 {
			if i := placed(t, w, painted(w, tool), servers...); i != 2 {
				t.Errorf("placed on %d", i)
			}
		}
	})
	t.Run("a Windows server gets the names in its own spelling", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{Models: map[string][]string{"checkpoints": {`sd\one.safetensors`}}})
		w, tool := oneTool(t, strings.ReplaceAll(modelFlow, "sd.safetensors", "sd/one.safetensors"), s)
		if p := w.poll(t, w.submit(t, painted(w, tool))); p.State != registry.RunSucceeded {
			t.Errorf("%+v", p)
		}
	})
	t.Run("what each engine works on and what waits there, of those that answer", func(t *testing.T) {
		t.Parallel()
		a, b := comfytest.New(t, comfytest.Options{Models: models()}), comfytest.New(t, comfytest.Options{Without: []string{"KSampler"}})
		w, tool := oneTool(t, modelFlow, a, b)
		defer a.Hold("KSampler").Open()
		first, second := w.submit(t, painted(w, tool)), w.submit(t, painted(w, tool))
		clocktest.Until(t, "the first run is worked on", func() bool { return len(w.fleet.Queues(t.Context())[0].Running) == 1 })
		queues := w.fleet.Queues(t.Context())
		if len(queues) != 2 || queues[0].Running[0] != first.ProviderID || len(queues[0].Pending) != 1 || queues[0].Pending[0] != second.ProviderID || len(queues[1].Running) != 0 {
			t.Errorf("%+v", queues)
		}
	})
	t.Run("then who has the model loaded, unless its queue is long", func(t *testing.T) {
		t.Parallel()
		a, b := comfytest.New(t, comfytest.Options{Models: models()}), comfytest.New(t, comfytest.Options{Models: models()})
		w, tool := oneTool(t, modelFlow, a, b)
		first := w.submit(t, painted(w, tool))
		w.poll(t, first)
		gates := []*comfytest.Gate{a.Hold("KSampler"), b.Hold("KSampler")}
		defer gates[0].Open()
		defer gates[1].Open()
		var order []int
		for range 8 {
			order = append(order, placed(t, w, painted(w, tool), a, b))
		}
		on := [2]int{}
		for i, server := range order {
			on[server]++
			if i < 3 && server != 0 {
				t.Errorf("run %d left the warm engine: %v", i, order)
			}
		}
		if on[0] < 3 || on[1] < 3 {
			t.Errorf("one engine stands idle: %v", order)
		}
	})
	t.Run("only who has the tags that the workflow asks for", func(t *testing.T) {
		t.Parallel()
		plain := comfytest.New(t, comfytest.Options{})
		tagged := comfytest.New(t, comfytest.Options{})
		address := *tagged.URL()
		address.Fragment = "gpu=4090&vram=24"
		fleet := comfy.NewFleet([]*url.URL{plain.URL(), &address}, comfy.FleetConfig{Ahead: 1000})
		fleet.Refresh(t.Context())
		needs := func(tags string) string {
			return `{"nodes": [{"id": 1, "type": "EmptyImage", "mode": 0, "pos": [0, 0], "outputs": [{"name": "IMAGE", "type": "IMAGE", "links": [1]}], "widgets_values": [16, 8, 1, 255]},
				{"id": 2, "type": "SaveImage", "mode": 0, "pos": [9, 0], "inputs": [{"name": "images", "type": "IMAGE", "link": 1}], "widgets_values": ["x"]},
				{"id": 3, "type": "Note", "mode": 0, "pos": [0, 9], "widgets_values": ["@tool needs ` + tags + `"]}], "links": [[1, 1, 0, 2, 0, "IMAGE"]], "version": 0.4}`
		}
		w := worldOf(t, fleet, newFolder(map[string]string{"any.json": plainFlow, "large.json": needs("gpu=4090 vram=16"), "none.json": needs("gpu=h100")}))
		for i := range 3 {
			if ticket := w.submit(t, w.call(w.tools["large"], nil)); ticket.Endpoint != address.Host {
				t.Errorf("run %d went to %s", i, ticket.Endpoint)
			}
		}
		if ticket := w.submit(t, w.call(w.tools["any"], nil)); ticket.Endpoint != plain.URL().Host {
			t.Errorf("the other one stands idle: %s", ticket.Endpoint)
		}
		if status := w.tools["none"].Status; status == nil || status.Reason != "no engine that has its nodes and models is tagged gpu=h100" {
			t.Errorf("%+v", status)
		}
		_, err := w.provider.Submit(t.Context(), w.call(w.tools["none"], nil))
		failure(t, err, registry.CodeUnavailable, false)
	})
	t.Run("an engine that is kept for a tool or a group takes no other runs", func(t *testing.T) {
		t.Parallel()
		anybody, kept := comfytest.New(t, comfytest.Options{}), comfytest.New(t, comfytest.Options{})
		group := uuid.NewString()
		address := *kept.URL()
		address.Fragment = "only=tool:mine&only=group:" + group
		fleet := comfy.NewFleet([]*url.URL{anybody.URL(), &address}, comfy.FleetConfig{Ahead: 1})
		fleet.Refresh(t.Context())
		w := worldOf(t, fleet, newFolder(map[string]string{"any.json": plainFlow, "mine.json": plainFlow}))
		gate, keptGate := anybody.Hold("EmptyImage"), kept.Hold("EmptyImage")
		defer gate.Open()
		defer keptGate.Open()
		for i, color := range []json.Number{"1", "2"} {
			ticket, err := w.provider.Submit(t.Context(), w.call(w.tools["any"], map[string]any{"color": color}))
			if i == 0 && (err != nil || ticket.Endpoint != anybody.URL().Host) || i == 1 && !errors.Is(err, registry.ErrNoPlace) {
				t.Errorf("run %d went to %q, %v", i, ticket.Endpoint, err)
			}
		}
		if w.provider.HasPlace(w.tools["any"]) || !w.provider.HasPlace(w.tools["mine"]) || !slices.Equal(w.provider.PlacesKept(w.tools["any"]), []string{group}) {
			t.Errorf("the places kept are told wrongly: %q", w.provider.PlacesKept(w.tools["any"]))
		}
		grouped := w.call(w.tools["any"], map[string]any{"color": json.Number("3")})
		grouped.Group = group
		ticket := w.submit(t, grouped)
		if ticket.Endpoint != address.Host || len(w.provider.PlacesKept(w.tools["any"])) != 0 {
			t.Errorf("the group's run went to %s", ticket.Endpoint)
		}
		keptGate.Open()
		w.poll(t, ticket)
		if ticket := w.submit(t, w.call(w.tools["mine"], map[string]any{"color": json.Number("4")})); ticket.Endpoint != address.Host {
			t.Errorf("the tool's run went to %s", ticket.Endpoint)
		}

		unable := comfytest.New(t, comfytest.Options{Without: []string{"EmptyImage"}})
		alone := comfy.NewFleet([]*url.URL{unable.URL(), &address}, comfy.FleetConfig{Ahead: 1})
		alone.Refresh(t.Context())
		w = worldOf(t, alone, newFolder(map[string]string{"any.json": plainFlow}))
		keptGate = kept.Hold("EmptyImage")
		grouped = w.call(w.tools["any"], map[string]any{"color": json.Number("5")})
		grouped.Group = group
		if before := w.provider.HasPlace(w.tools["any"]); !before {
			t.Error("there is no place while the group's engine has one")
		}
		ticket = w.submit(t, grouped)
		if w.provider.HasPlace(w.tools["any"]) || w.provider.Places() == 0 {
			t.Error("there is a place while the only engine that can run it is full, and another one has nothing to do")
		}
		keptGate.Open()
		w.poll(t, ticket)
		if !w.provider.HasPlace(w.tools["any"]) {
			t.Error("there is no place once the group's engine has one again")
		}

		alone = comfy.NewFleet([]*url.URL{&address}, comfy.FleetConfig{})
		alone.Refresh(t.Context())
		w = worldOf(t, alone, newFolder(map[string]string{"any.json": plainFlow}))
		_, err := w.provider.Submit(t.Context(), w.call(w.tools["any"], nil))
		if e := failure(t, err, registry.CodeUnavailable, false); e.Said.Key != said.EngineKept.With().Key {
			t.Errorf("who is not in the group is told %q", e.Message)
		}
		address.Fragment = "only=tool:mine"
		alone = comfy.NewFleet([]*url.URL{&address}, comfy.FleetConfig{})
		alone.Refresh(t.Context())
		w = worldOf(t, alone, newFolder(map[string]string{"any.json": plainFlow, "mine.json": plainFlow}))
		if any, mine := w.tools["any"].Status, w.tools["mine"].Status; any == nil || any.Reason != "no engine that has its nodes and models is tagged only=tool:any" || mine != nil {
			t.Errorf("the states are %+v and %+v", any, mine)
		}
	})
	t.Run("then the shortest queue", func(t *testing.T) {
		t.Parallel()
		a, b := comfytest.New(t, comfytest.Options{}), comfytest.New(t, comfytest.Options{})
		w, tool := oneTool(t, plainFlow, a, b)
		gate := a.Hold("EmptyImage")
		defer gate.Open()
		alone, same := oneTool(t, plainFlow, a)
		for range 5 {
			alone.submit(t, alone.call(same, nil))
		}
		for range 3 {
			if i := placed(t, w, w.call(tool, nil), a, b); i != 1 {
				t.Errorf("placed on %d", i)
			}
		}
	})
	t.Run("a burst spreads before any queue shows it", func(t *testing.T) {
		t.Parallel()
		a, b := comfytest.New(t, comfytest.Options{}), comfytest.New(t, comfytest.Options{})
		w, tool := oneTool(t, plainFlow, a, b)
		for _, s := range []*comfytest.Server{a, b} {
			defer s.Hold("EmptyImage").Open()
			s.On("GET /prompt", comfytest.Always, comfytest.Answer(http.StatusOK, `{"exec_info": {"queue_remaining": 0}}`))
		}
		// All are counted where they go although the queues say nothing; nothing may be lost on the way either.
		var all sync.WaitGroup
		for i := range 10 {
			all.Go(func() {
				if _, err := w.provider.Submit(t.Context(), w.call(tool, map[string]any{"color": json.Number(string(rune('0' + i)))})); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if a.Runs("") < 3 || b.Runs("") < 3 {
			t.Errorf("%d and %d", a.Runs(""), b.Runs(""))
		}
	})
	t.Run("an engine that does not tell its queue comes last", func(t *testing.T) {
		t.Parallel()
		a, b := comfytest.New(t, comfytest.Options{}), comfytest.New(t, comfytest.Options{})
		w, tool := oneTool(t, plainFlow, a, b)
		a.On("GET /prompt", comfytest.Always, comfytest.Cut)
		if i := placed(t, w, w.call(tool, nil), a, b); i != 1 {
			t.Errorf("placed on %d", i)
		}
	})
	t.Run("while those that could are down, later; never no engine has", func(t *testing.T) {
		t.Parallel()
		able, other := comfytest.New(t, comfytest.Options{Models: models()}), comfytest.New(t, comfytest.Options{})
		w, tool := oneTool(t, modelFlow, able, other)
		able.Down()
		w.fleet.Refresh(t.Context())
		_, err := w.provider.Submit(t.Context(), painted(w, tool))
		if e := failure(t, err, registry.CodeUnavailable, true); strings.Contains(e.Message, "has") || e.RetryAfter <= 0 {
			t.Errorf("%q after %s", e.Message, e.RetryAfter)
		}
		w.load(t)
		if state := w.tools["it"]; state.State() != registry.StateActive {
			t.Errorf("a short outage changes the tool: %+v", state.Status)
		}
		able.Up()
		w.fleet.Refresh(t.Context())
		w.submit(t, painted(w, tool))
		other.Down()
		able.SetModels("checkpoints")
		able.Restart()
		w.fleet.Refresh(t.Context())
		_, err = w.provider.Submit(t.Context(), painted(w, tool))
		if e := failure(t, err, registry.CodeUnavailable, false); e.Message != "no engine has the model sd.safetensors" {
			t.Errorf("an engine that is down and lacks it gives hope: %q", e.Message)
		}
	})
	t.Run("the price goes by the GPU that would take it", func(t *testing.T) {
		t.Parallel()
		w, tool := oneTool(t, modelFlow, comfytest.New(t, comfytest.Options{GPU: "cuda:0 NVIDIA T4 : native"}),
			comfytest.New(t, comfytest.Options{Models: models(), GPU: "cuda:0 NVIDIA GeForce RTX 4090 : cudaMallocAsync"}))
		c := painted(w, tool)
		if p, err := w.provider.Price(t.Context(), c); err != nil || p.Machine != "NVIDIA GeForce RTX 4090" {
			t.Errorf("%+v, %v", p, err)
		}
		if p := w.poll(t, w.submit(t, c)); p.Result == nil || p.Result.Usage.Machine != "NVIDIA GeForce RTX 4090" {
			t.Errorf("%+v", p)
		}
	})
	t.Run("an engine with a rate of its own is quoted and billed by it, the dearest is promised", func(t *testing.T) {
		t.Parallel()
		cheap, dear := comfytest.New(t, comfytest.Options{GPU: "cuda:0 NVIDIA L4 : native"}), comfytest.New(t, comfytest.Options{GPU: "cuda:0 NVIDIA L4 : native"})
		w, tool := oneTool(t, plainFlow, cheap, dear)
		tagged := *dear.URL()
		tagged.Fragment = "rate=0.0009"
		rate := func(machine string) float64 {
			text, _ := registry.OwnRate(machine)
			usd, _ := strconv.ParseFloat(text, 64)
			return usd
		}
		w.fleet = comfy.NewFleet([]*url.URL{cheap.URL(), &tagged}, comfy.FleetConfig{Rate: rate, UsualRate: "0.0003"})
		w.fleet.Refresh(t.Context())
		w.provider = comfy.NewProvider(comfy.ProviderConfig{Fleet: w.fleet, Workflows: w.loader})
		c := w.call(tool, nil)
		if p, err := w.provider.Price(t.Context(), c); err != nil || p.Machine != "NVIDIA L4 at $0.0009" {
			t.Errorf("%+v, %v", p, err)
		}
		if p := w.poll(t, w.submit(t, c)); p.Result == nil || p.Result.Usage.Machine != "NVIDIA L4 at $0.0003" {
			t.Errorf("the cheaper of two that are alike ran as %+v", p.Result)
		}
	})
	t.Run("a run that can't reach its engine goes to another", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		gone := httptest.NewServer(httputil.NewSingleHostReverseProxy(s.URL()))
		address, err := url.Parse(gone.URL)
		if err != nil {
			t.Fatal(err)
		}
		w, tool := oneTool(t, plainFlow, s)
		fleetOf := func(urls ...*url.URL) *comfy.Provider {
			w.fleet = comfy.NewFleet(urls, comfy.FleetConfig{})
			w.fleet.Refresh(t.Context())
			return comfy.NewProvider(comfy.ProviderConfig{Fleet: w.fleet, Workflows: w.loader})
		}
		both, alone := fleetOf(address, s.URL()), fleetOf(address)
		gone.Close()
		if ticket, err := both.Submit(t.Context(), w.call(tool, nil)); err != nil || ticket.Endpoint != s.URL().Host {
			t.Errorf("%+v, %v", ticket, err)
		}
		_, err = alone.Submit(t.Context(), w.call(tool, nil))
		if e := failure(t, err, registry.CodeUnavailable, true); e.RetryAfter <= 0 || w.fleet.Status()[0].Up {
			t.Errorf("%+v, %+v", e, w.fleet.Status())
		}
	})
}

// pages answers calls without a network.
type pages struct {
	mu   sync.Mutex
	text map[string]string // by path
}

func (p *pages) set(path, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text[path] = text
}

func (p *pages) RoundTrip(r *http.Request) (*http.Response, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(p.text[r.URL.Path])), Request: r}, nil
}

func TestFleetRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var changes atomic.Int32
		site := &pages{text: map[string]string{"/system_stats": `{"system": {"comfyui_version": "1"}}`, "/object_info": `{"A": {"input": {}}}`}}
		f := comfy.NewFleet([]*url.URL{{Scheme: "http", Host: "engine"}}, comfy.FleetConfig{HTTPClient: &http.Client{Transport: site}, OnChange: func() { changes.Add(1) }})
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { f.Run(ctx) })
		time.Sleep(time.Minute)
		synctest.Wait()
		if changes.Load() != 1 || !f.Status()[0].Up {
			t.Errorf("told %d times, %+v", changes.Load(), f.Status())
		}
		site.set("/object_info", `{"A": {"input": {}}, "B": {"input": {}}}`)
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if changes.Load() != 2 || f.Status()[0].Classes != 2 {
			t.Errorf("told %d times, %+v", changes.Load(), f.Status())
		}
		cancel()
		running.Wait()
	})
}

// usualWorld is a world whose fleet has as many prompts ahead as by default.
func usualWorld(t *testing.T, servers ...*comfytest.Server) (*world, registry.Tool) {
	t.Helper()
	w, tool := oneTool(t, plainFlow, servers...)
	var urls []*url.URL
	for _, s := range servers {
		urls = append(urls, s.URL())
	}
	w.fleet = comfy.NewFleet(urls, comfy.FleetConfig{})
	w.fleet.Refresh(t.Context())
	w.provider = comfy.NewProvider(comfy.ProviderConfig{Fleet: w.fleet, Workflows: w.loader, ReconcileEvery: 100 * time.Millisecond})
	return w, tool
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	full := func(t *testing.T, w *world, tool registry.Tool) {
		t.Helper()
		if _, err := w.provider.Submit(t.Context(), w.call(tool, nil)); !errors.Is(err, registry.ErrNoPlace) {
			t.Errorf("no refusal but %v", err)
		}
		if w.provider.Places() != 0 || w.provider.HasPlace(tool) {
			t.Errorf("%d places, for the tool %v", w.provider.Places(), w.provider.HasPlace(tool))
		}
	}
	t.Run("an engine has the run that it works on and one more", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		w, tool := usualWorld(t, s)
		gate := s.Hold("EmptyImage")
		first, waitFirst := w.watch(t, w.submit(t, w.call(tool, nil)))
		held := gate.Next()
		if w.provider.Places() != 1 || !w.provider.HasPlace(tool) {
			t.Errorf("%d places beside one run", w.provider.Places())
		}
		second := w.submit(t, w.call(tool, map[string]any{"color": json.Number("1")}))
		full(t, w, tool)
		held.Release()
		if err := waitFirst(); err != nil || first.last().State != registry.RunSucceeded {
			t.Errorf("%+v, %v", first.last(), err)
		}
		third := w.submit(t, w.call(tool, map[string]any{"color": json.Number("2")}))
		full(t, w, tool)
		if n := s.Runs(""); n != 3 {
			t.Errorf("%d prompts were sent", n)
		}
		if err := w.provider.Cancel(t.Context(), third); err != nil || w.provider.Places() != 1 {
			t.Errorf("%d places after a cancel, %v", w.provider.Places(), err)
		}
		gate.Open()
		if w.poll(t, second); w.provider.Places() != 2 {
			t.Errorf("%d places when nothing runs", w.provider.Places())
		}
	})
	t.Run("what others sent counts, but one of ours is always there", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		w, tool := usualWorld(t, s)
		others, same := oneTool(t, plainFlow, s)
		gate := s.Hold("EmptyImage")
		defer gate.Open()
		for i := range 3 {
			others.submit(t, others.call(same, map[string]any{"color": json.Number(string(rune('1' + i)))}))
		}
		gate.Next()
		ours, _ := w.watch(t, w.submit(t, w.call(tool, nil)))
		ours.until(t, "the place behind the others", func(p registry.Progress) bool { return p.QueuePosition == 3 })
		full(t, w, tool)
	})
	t.Run("who takes over the runs of another counts them, and forgets those that nobody follows to their end", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		before, tool := usualWorld(t, s)
		gate := s.Hold("EmptyImage")
		tickets := []registry.Ticket{before.submit(t, before.call(tool, nil)), before.submit(t, before.call(tool, map[string]any{"color": json.Number("1")}))}
		gate.Next()
		w, tool := usualWorld(t, s)
		for _, ticket := range tickets {
			if _, err := w.provider.Poll(t.Context(), ticket); err != nil {
				t.Fatal(err)
			}
		}
		full(t, w, tool)
		gate.Open()
		before.poll(t, tickets[0])
		before.poll(t, tickets[1])
		w.fleet.Refresh(t.Context())
		if n := w.provider.Places(); n != 2 {
			t.Errorf("%d places on an idle engine", n)
		}
	})
	t.Run("each engine counts for itself, and none while none is up", func(t *testing.T) {
		t.Parallel()
		a, b := comfytest.New(t, comfytest.Options{}), comfytest.New(t, comfytest.Options{})
		w, tool := usualWorld(t, a, b)
		defer a.Hold("EmptyImage").Open()
		defer b.Hold("EmptyImage").Open()
		var all sync.WaitGroup
		var refused atomic.Int32
		for i := range 10 {
			all.Go(func() {
				if _, err := w.provider.Submit(t.Context(), w.call(tool, map[string]any{"color": json.Number(string(rune('0' + i)))})); errors.Is(err, registry.ErrNoPlace) {
					refused.Add(1)
				} else if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if refused.Load() != 6 || a.Runs("") != 2 || b.Runs("") != 2 {
			t.Errorf("%d refused, %d and %d sent", refused.Load(), a.Runs(""), b.Runs(""))
		}
		full(t, w, tool)
		a.Down()
		b.Down()
		w.fleet.Refresh(t.Context())
		_, err := w.provider.Submit(t.Context(), w.call(tool, nil))
		if failure(t, err, registry.CodeUnavailable, true); !w.provider.HasPlace(tool) {
			t.Error("who can't be told so waits for nothing")
		}
	})
}
