package lifetest

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/comfy"
	"github.com/signalbox/signalbox/comfy/api"
	"github.com/signalbox/signalbox/comfy/comfytest"
	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/comfy/loader"
	"github.com/signalbox/signalbox/comfy/scaling"
	"github.com/signalbox/signalbox/comfy/workflow"
	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/runstest"
)

// network is the way to the engines. A host that is cut off refuses connections while its process lives on.
type network struct {
	mu   sync.Mutex
	away map[string]bool
	open map[string][]net.Conn
}

// refuse has new connections refused.
func (n *network) refuse(s *comfytest.Server, away bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.away[s.URL().Host] = away
}

// cut has new connections refused, and breaks those that are open.
func (n *network) cut(s *comfytest.Server, away bool) {
	n.refuse(s, away)
	if !away {
		return
	}
	s.Down() // what is open breaks
	s.Up()
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, conn := range n.open[s.URL().Host] { // those that the engine had not taken yet
		_ = conn.Close()
	}
	delete(n.open, s.URL().Host)
}

func (n *network) dial(ctx context.Context, kind, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, kind, address)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.away[address] {
		_ = conn.Close()
		return nil, &net.OpError{Op: "dial", Net: kind, Err: syscall.ECONNREFUSED}
	}
	n.open[address] = append(n.open[address], conn)
	return conn, nil
}

// engines is a house with two engines and one workflow.
type engines struct {
	*house
	network *network
	fleet   *comfy.Fleet
	a, b    *comfytest.Server
	gates   map[*comfytest.Server]*comfytest.Gate
}

// paper is the workflow: its first node waits at the engines' gates.
const paper = `{"nodes": [
	{"id": 1, "type": "EmptyImage", "pos": [0, 0], "mode": 0, "inputs": [], "outputs": [{"name": "IMAGE", "type": "IMAGE", "links": [1]}], "widgets_values": [16, 8, 1, 255]},
	{"id": 2, "type": "SaveImage", "pos": [9, 0], "mode": 0, "inputs": [{"name": "images", "type": "IMAGE", "link": 1}], "outputs": [], "widgets_values": ["x"]},
	{"id": 3, "type": "Note", "pos": [0, 9], "mode": 0, "widgets_values": ["@tool id=it cost=0.01 DIRECTIVES\n@input EmptyImage.color name=color"]}],
	"links": [[1, 1, 0, 2, 0, "IMAGE"]], "version": 0.4}`

const price = billing.Dollar / 100

func openEngines(t *testing.T, directives string) *engines {
	t.Helper()
	return openSleepers(t, directives, nil)
}

// openSleepers opens a house whose engines are woken by waker; nil: by nobody.
func openSleepers(t *testing.T, directives string, waker *scaling.Waker) *engines {
	t.Helper()
	h := &engines{network: &network{away: map[string]bool{}, open: map[string][]net.Conn{}}, a: comfytest.New(t, comfytest.Options{}), b: comfytest.New(t, comfytest.Options{})}
	h.gates = map[*comfytest.Server]*comfytest.Gate{h.a: h.a.Hold("EmptyImage"), h.b: h.b.Hold("EmptyImage")}
	transport := &http.Transport{DialContext: h.network.dial}
	t.Cleanup(transport.CloseIdleConnections)
	h.house = newHouse(t, 5*time.Millisecond, func(now func() time.Time, assets *runstest.Assets) service {
		h.fleet = comfy.NewFleet(h.addresses(waker), comfy.FleetConfig{HTTPClient: &http.Client{Transport: transport}, Now: now, Waker: waker})
		h.fleet.Refresh(t.Context())
		source := fstest.MapFS{"it.json": {Data: []byte(strings.ReplaceAll(paper, "DIRECTIVES", directives))}}
		flows := loader.New(loader.Config{Sources: []fs.FS{source}, Engines: h.fleet, Store: &registrytest.Specs{}, Rate: "0.001"})
		return service{loader.Service, flows, runs.Provider{Submitter: comfy.NewProvider(comfy.ProviderConfig{Fleet: h.fleet, Workflows: flows, Now: now, ReconcileEvery: 20 * time.Millisecond})}}
	})
	return h
}

func (h *engines) addresses(waker *scaling.Waker) []*url.URL {
	a, b := *h.a.URL(), *h.b.URL()
	if waker != nil {
		a.Fragment, b.Fragment = "wake=https://pods.example/a", "wake=https://pods.example/b"
	}
	return []*url.URL{&a, &b}
}

// begin accepts runs until both engines have half of them: the first of each has begun, the rest waits.
func (h *engines) begin(t *testing.T, each int) (atA, atB []runs.Run) {
	t.Helper()
	for i := range 2 * each {
		run := h.accept(t, map[string]any{"color": i})
		clocktest.Until(t, "the run is on an engine", func() bool { return h.a.Runs(run.ID)+h.b.Runs(run.ID) == 1 })
		if h.a.Runs(run.ID) == 1 {
			atA = append(atA, run)
		} else {
			atB = append(atB, run)
		}
	}
	if len(atA) != each || len(atB) != each {
		t.Fatalf("%d and %d runs", len(atA), len(atB))
	}
	h.gates[h.a].Next()
	h.gates[h.b].Next()
	h.is(t, atA[0], runs.StatusRunning)
	for _, run := range atA[1:] {
		h.is(t, run, runs.StatusSubmitted)
	}
	return atA, atB
}

// is waits until everybody sees a run in a state.
func (h *engines) is(t *testing.T, run runs.Run, status runs.Status) {
	t.Helper()
	clocktest.Until(t, "the run is "+string(status), func() bool {
		now, err := h.runs.Get(t.Context(), run.ID)
		return err == nil && now.Status == status
	})
}

// notice is what the run's person is told.
func (h *engines) notice(t *testing.T, run runs.Run) runs.Notice {
	t.Helper()
	now, err := h.runs.Get(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	return now.Notice
}

// told waits until the run's person is told something.
func (h *engines) told(t *testing.T, run runs.Run, want runs.Notice) {
	t.Helper()
	clocktest.Until(t, "its person is told "+string(want), func() bool { return h.notice(t, run) == want })
}

// noCopies waits until nothing is left behind anywhere.
func (h *engines) noCopies(t *testing.T) {
	t.Helper()
	clocktest.Until(t, "no copy is left", func() bool {
		var left int
		err := h.pool.QueryRow(t.Context(), `SELECT count(*) FROM run_copies`).Scan(&left)
		return err == nil && left == 0
	})
}

// gone lets the time pass after which an engine that is down is gone.
func (h *engines) gone(t *testing.T) {
	t.Helper()
	clocktest.Until(t, "the engine is known to be down", func() bool {
		h.fleet.Refresh(t.Context())
		return slices.ContainsFunc(h.fleet.Status(), func(s comfy.EngineStatus) bool { return !s.Up })
	}, func() string { return fmt.Sprintf("engines are %+v", h.fleet.Status()) })
	h.clock.ahead.Add(int64(31 * time.Second))
}

func TestEnginesThatAreDown(t *testing.T) {
	t.Parallel()
	t.Run("runs of an engine that was killed go to the other one, and each is charged once", func(t *testing.T) {
		t.Parallel()
		h := openEngines(t, "")
		atA, atB := h.begin(t, 2)
		h.network.cut(h.a, true)
		h.a.Restart() // it has forgotten them
		h.gates[h.b].Open()
		for _, run := range atB {
			h.ends(t, run, "", price)
		}
		if n := h.b.Runs(""); n != len(atB) {
			t.Errorf("the other engine got %d runs before the time was over", n)
		}
		h.gone(t)
		for _, run := range atA {
			h.ends(t, run, "", price)
		}
		if n := h.notice(t, atA[0]); n != runs.NoticeAnew {
			t.Errorf("who had begun is told %q", n)
		}
		if n := h.notice(t, atA[1]); n != runs.NoticeMoved {
			t.Errorf("who waited is told %q", n)
		}
		h.network.cut(h.a, false)
		h.noCopies(t)
	})
	t.Run("an engine that comes back has its copies canceled, and what it finished counts for nothing", func(t *testing.T) {
		t.Parallel()
		for _, finished := range []bool{false, true} {
			h := openEngines(t, "")
			atA, atB := h.begin(t, 2)
			h.network.cut(h.a, true)
			h.gates[h.b].Open()
			h.gone(t)
			for _, run := range append(atA, atB...) {
				h.ends(t, run, "", price)
			}
			if finished {
				h.gates[h.a].Open()
				client := api.New(h.a.URL(), nil)
				clocktest.Until(t, "the copies are finished", func() bool { n, err := client.QueueLength(t.Context()); return err == nil && n == 0 })
			}
			h.network.cut(h.a, false)
			h.noCopies(t)
			interrupts, deletes := len(h.a.Calls("POST /interrupt")), len(h.a.Calls("POST /queue"))
			if deletes != 2 || !finished && interrupts == 0 || finished && interrupts != 0 {
				t.Errorf("finished %v: %d interrupts, %d deletions", finished, interrupts, deletes)
			}
			for _, run := range atA {
				h.ends(t, run, "", price)
			}
		}
	})
	t.Run("a run that had begun and must not be repeated ends, and costs nothing", func(t *testing.T) {
		t.Parallel()
		h := openEngines(t, "repeat=no")
		atA, atB := h.begin(t, 2)
		h.network.cut(h.a, true)
		h.gates[h.b].Open()
		h.gone(t)
		h.ends(t, atA[0], registry.CodeGone, 0)
		h.ends(t, atA[1], "", price)
		for _, run := range atB {
			h.ends(t, run, "", price)
		}
	})
	t.Run("no other engine up: the runs stay, and go on when theirs is back", func(t *testing.T) {
		t.Parallel()
		h := openEngines(t, "")
		atA, atB := h.begin(t, 1)
		h.network.cut(h.a, true)
		h.network.cut(h.b, true)
		h.gone(t)
		h.told(t, atA[0], runs.NoticeSilent)
		h.network.cut(h.a, false)
		h.network.cut(h.b, false)
		h.told(t, atA[0], runs.NoticeNone)
		h.gates[h.a].Open()
		h.gates[h.b].Open()
		for _, run := range append(atA, atB...) {
			h.ends(t, run, "", price)
		}
		if h.a.Runs("") != 1 || h.b.Runs("") != 1 {
			t.Errorf("%d and %d submissions", h.a.Runs(""), h.b.Runs(""))
		}
	})
	t.Run("an engine that goes with a finished result: it is waited for, had from the other, or made anew", func(t *testing.T) {
		t.Parallel()
		for _, c := range []struct {
			name, directives string
			other            bool // engine is up
			lost             bool // the result, when the engine is back
			atB              int
		}{
			{"it comes back", "", false, false, 0},
			{"it comes back empty", "", false, true, 0},
			{"another one can", "", true, false, 1},
			{"another one can, but must not", "repeat=no", true, false, 0},
		} {
			h := openEngines(t, c.directives)
			h.gates[h.a].Open()
			h.gates[h.b].Open()
			h.network.cut(h.b, true)
			h.fleet.Refresh(t.Context())
			asked := make(chan bool)
			defer h.a.On("GET /view", 1, func(http.ResponseWriter, *http.Request, http.Handler) {
				h.network.refuse(h.a, true)
				close(asked)
				panic(http.ErrAbortHandler)
			})()
			run := h.accept(t, nil)
			<-asked
			h.network.cut(h.a, true)
			if c.lost {
				h.a.Restart()
				h.a.On("GET /view", 1, comfytest.Answer(http.StatusNotFound, ""))
			}
			if h.network.cut(h.b, !c.other); c.other {
				h.fleet.Refresh(t.Context())
			}
			h.gone(t)
			if h.clock.ahead.Add(int64(20 * time.Second)); c.atB == 0 {
				h.told(t, run, runs.NoticeSilent)
				h.network.cut(h.a, false)
				h.fleet.Refresh(t.Context())
			}
			h.ends(t, run, "", price)
			if n := h.b.Runs(""); n != c.atB {
				t.Errorf("%s: the other engine got %d", c.name, n)
			}
		}
	})
	t.Run("an engine that gives pages or half a picture for results: another one makes it, else it fails and costs nothing", func(t *testing.T) {
		t.Parallel()
		half := comfytest.Edit(func(body []byte) []byte { return body[:len(body)/2] })
		page := func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			_, _ = io.WriteString(w, "<html>Sign in</html>")
		}
		for _, c := range []struct {
			name, directives string
			answer           comfytest.Action
			times            int
			other            bool // engine is up
			code             registry.Code
			atB              int
		}{
			{"half, once", "", half, 1, true, "", 0},
			{"half", "", half, comfytest.Always, true, "", 1},
			{"a page", "", page, comfytest.Always, true, "", 1},
			{"half, and there is no other", "", half, comfytest.Always, false, registry.CodeProvider, 0},
			{"half, and it must not be repeated", "repeat=no", half, comfytest.Always, true, registry.CodeProvider, 0},
		} {
			h := openEngines(t, c.directives)
			h.gates[h.a].Open()
			h.gates[h.b].Open()
			h.network.cut(h.b, true)
			h.fleet.Refresh(t.Context())
			h.a.On("GET /view", c.times, c.answer)
			h.a.On("GET /history/", 1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				h.network.cut(h.b, !c.other)
				h.fleet.Refresh(t.Context())
				next.ServeHTTP(w, r)
			})
			cost := price
			if c.code != "" {
				cost = 0
			}
			h.ends(t, h.accept(t, map[string]any{"color": 1}), c.code, cost)
			if a, b := h.a.Runs(""), h.b.Runs(""); a != 1 || b != c.atB {
				t.Errorf("%s: the engines got %d and %d runs", c.name, a, b)
			}
			if c.atB == 0 {
				continue
			}
			h.ends(t, h.accept(t, map[string]any{"color": 2}), "", price)
			if a, b := h.a.Runs(""), h.b.Runs(""); a != 1 || b != 2 {
				t.Errorf("%s: the next run went to the same engine: %d and %d", c.name, a, b)
			}
		}
	})
	t.Run("an engine whose disk is full: another one does it", func(t *testing.T) {
		t.Parallel()
		h := openEngines(t, "")
		h.gates[h.b].Open()
		h.network.cut(h.b, true)
		h.fleet.Refresh(t.Context())
		run := h.accept(t, nil)
		failing := h.gates[h.a].Next()
		h.network.cut(h.b, false)
		h.fleet.Refresh(t.Context())
		failing.Fail(node.Raise("builtins.OSError", "[Errno 28] No space left on device: '/srv/output/a.png'"))
		h.ends(t, run, "", price)
		if a, b := h.a.Runs(""), h.b.Runs(""); a != 1 || b != 1 {
			t.Errorf("the engines got %d and %d runs", a, b)
		}
	})
	t.Run("a run waits while no engine is up, one of them dead for good, and is sent once", func(t *testing.T) {
		t.Parallel()
		h := openEngines(t, "")
		h.gates[h.a].Open()
		h.network.cut(h.a, true)
		h.network.cut(h.b, true)
		run := h.accept(t, nil)
		h.told(t, run, runs.NoticeWaiting)
		h.is(t, run, runs.StatusQueued)
		h.clock.ahead.Add(int64(time.Minute))
		h.network.cut(h.a, false)
		h.fleet.Refresh(t.Context())
		h.ends(t, run, "", price)
		if n := h.a.Runs(""); n != 1 || h.notice(t, run) != runs.NoticeNone {
			t.Errorf("%d submissions, told %q", n, h.notice(t, run))
		}
	})
	t.Run("an engine that sleeps is woken by a run that waits, which pays for its work alone", func(t *testing.T) {
		t.Parallel()
		var called []string
		waker := &scaling.Waker{Pool: postgrestest.New(t), For: 10 * time.Minute, Send: func(_ context.Context, address string, _ scaling.Wake) error {
			called = append(called, address)
			return nil
		}}
		h := openSleepers(t, "", waker)
		h.gates[h.a].Open()
		h.ends(t, h.accept(t, map[string]any{"color": 1}), "", price)
		h.fleet.WakeWanted(t.Context())
		if len(called) != 0 {
			t.Errorf("called while they were up: %q", called)
		}
		h.network.cut(h.a, true)
		h.network.cut(h.b, true)
		h.gone(t)
		run := h.accept(t, nil)
		h.told(t, run, runs.NoticeWaking)
		h.fleet.WakeWanted(t.Context())
		h.fleet.WakeWanted(t.Context())
		if !slices.Equal(called, []string{"https://pods.example/a"}) || !h.fleet.Status()[0].Waking {
			t.Errorf("called %q, %+v", called, h.fleet.Status()[0])
		}
		anew := comfy.NewFleet(h.addresses(waker), comfy.FleetConfig{Waker: waker, HTTPClient: &http.Client{Transport: &http.Transport{DialContext: h.network.dial}}})
		anew.Refresh(t.Context())
		if d := anew.Declarations("", workflow.Requirements{Classes: []string{"EmptyImage"}}); d.Info == nil || len(d.Missing) != 0 {
			t.Errorf("after a start nobody knows what sleeps: %+v", d)
		}
		h.network.cut(h.a, false)
		h.fleet.Refresh(t.Context())
		h.ends(t, run, "", price)

		h.network.cut(h.a, true)
		h.gone(t)
		called = nil
		run = h.accept(t, map[string]any{"color": 2})
		for _, engine := range []string{"a", "b"} {
			clocktest.Until(t, engine+" is called", func() bool {
				h.fleet.WakeWanted(t.Context())
				return slices.Contains(called, "https://pods.example/"+engine)
			})
			if _, err := waker.Pool.Exec(t.Context(), `UPDATE engine_wakes SET since = since - interval '11 minutes' WHERE since > now() - interval '5 minutes'`); err != nil {
				t.Fatal(err)
			}
		}
		clocktest.Until(t, "both are given up", func() bool {
			h.fleet.WakeWanted(t.Context())
			now, err := h.runs.Get(t.Context(), run.ID)
			return err == nil && now.Status.Final()
		})
		h.ends(t, run, registry.CodeUnavailable, 0)
		if len(called) != 2 {
			t.Errorf("called %q", called)
		}
	})
	t.Run("an engine that an operator releases gives its runs to the other", func(t *testing.T) {
		t.Parallel()
		h := openEngines(t, "")
		atA, atB := h.begin(t, 2)
		h.gates[h.b].Open()
		if err := h.fleet.Order(t.Context(), h.a.URL().Host, comfy.OrderReleased); err != nil {
			t.Fatal(err)
		}
		for _, run := range append(atA, atB...) {
			h.ends(t, run, "", price)
		}
		h.noCopies(t)
		if n := len(h.a.Calls("POST /interrupt")); n == 0 || h.a.Runs("") != 2 {
			t.Errorf("%d interrupts, %d runs", n, h.a.Runs(""))
		}
	})
}
