package comfy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox/comfy"
	"github.com/signalbox/signalbox/comfy/comfytest"
	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/registry"
)

var aPicture = []byte("\xff\xd8\xff\xe0 not quite a picture")

// modelRun starts a run that waits in its sampler.
func modelRun(t *testing.T) (s *comfytest.Server, w *world, gate *comfytest.Gate, c registry.Call) {
	t.Helper()
	s = comfytest.New(t, comfytest.Options{Models: models()})
	w, tool := oneTool(t, modelFlow, s)
	return s, w, s.Hold("KSampler"), w.call(tool, map[string]any{"prompt": "a fox"})
}

func atSampler(p registry.Progress) bool { return p.Stage == "Sampler" }

func succeeded(t *testing.T, s *seen, wait func() error) {
	t.Helper()
	if err := wait(); err != nil {
		t.Fatalf("watch: %v", err)
	}
	if p := s.last(); p.State != registry.RunSucceeded || p.Fraction != 1 || p.Result == nil || len(p.Result.Outputs) != 1 {
		t.Errorf("ended as %+v", p)
	}
}

func TestWatch(t *testing.T) {
	t.Parallel()
	t.Run("progress is real: nodes and steps, the node's title, previews", func(t *testing.T) {
		t.Parallel()
		_, w, gate, c := modelRun(t)
		ticket := w.submit(t, c)
		held := gate.Next()
		s, wait := w.watch(t, ticket)
		s.until(t, "the sampler", atSampler)
		held.Progress(1, 4)
		s.until(t, "a quarter of the sampler", func(p registry.Progress) bool { return atSampler(p) && p.Fraction > 0.25 && p.Fraction < 0.6 })
		held.Preview(2, 4, node.PreviewJPEG, aPicture)
		s.until(t, "a preview", func(p registry.Progress) bool { return bytes.Equal(p.Preview, aPicture) })
		held.Progress(3, 4)
		s.until(t, "three quarters", func(p registry.Progress) bool { return p.Fraction > 0.7 && p.Fraction < 1 })
		held.Release()
		succeeded(t, s, wait)
	})
	t.Run("a place in the queue is reported", func(t *testing.T) {
		t.Parallel()
		_, w, gate, c := modelRun(t)
		w.submit(t, c)
		held := gate.Next()
		other := w.call(c.Tool, map[string]any{"prompt": "a hen"})
		s, wait := w.watch(t, w.submit(t, other))
		s.until(t, "the place", func(p registry.Progress) bool { return p.State == registry.RunQueued && p.QueuePosition == 1 })
		gate.Open()
		held.Release()
		succeeded(t, s, wait)
	})
	t.Run("a socket that breaks is opened again, and what was missed is asked for", func(t *testing.T) {
		t.Parallel()
		server, w, gate, c := modelRun(t)
		s, wait := w.watch(t, w.submit(t, c))
		held := gate.Next()
		s.until(t, "the sampler", atSampler)
		server.CutSockets()
		clocktest.Until(t, "a step after the break", func() bool {
			held.Progress(2, 4) // lost while nobody listens
			return s.last().Fraction > 0.5
		})
		server.CutSockets()
		held.Release()
		succeeded(t, s, wait)
	})
	t.Run("the end is noticed though the socket is silent", func(t *testing.T) {
		t.Parallel()
		server, w, gate, c := modelRun(t)
		s, wait := w.watch(t, w.submit(t, c))
		gate.Next()
		server.OnFrames(comfytest.Silence)
		gate.Open()
		succeeded(t, s, wait)
	})
	t.Run("lost, repeated and swapped events do no harm", func(t *testing.T) {
		t.Parallel()
		for name, change := range map[string]func(comfytest.Frame) []comfytest.Frame{
			"no start": comfytest.Drop("execution_start", "execution_cached"), "no end": comfytest.Drop("execution_success", "executing"),
			"no states": comfytest.Drop("progress_state"), "repeated": comfytest.Repeat, "swapped": comfytest.Swap(),
		} {
			server, w, gate, c := modelRun(t)
			server.OnFrames(change)
			s, wait := w.watch(t, w.submit(t, c))
			held := gate.Next()
			held.Progress(1, 4)
			held.Progress(4, 4)
			held.Release()
			t.Log(name)
			succeeded(t, s, wait)
		}
	})
	t.Run("garbage on the socket is passed over", func(t *testing.T) {
		t.Parallel()
		server, w, gate, c := modelRun(t)
		server.OnFrames(func(f comfytest.Frame) []comfytest.Frame {
			return []comfytest.Frame{
				{Data: []byte(`{"type": "executing", "data": {"node": `)}, {Data: []byte(`[]`)}, {Data: []byte(`{"type": "progress", "data": {"value": "x", "max": {}, "node": 7}}`)},
				{Binary: true, Data: []byte{0, 0, 0, 4, 255, 255, 255, 255, 1}}, {Binary: true, Data: []byte{1}}, {Data: []byte(`{"type": "crystools.monitor", "data": {"cpu": 1}}`)}, f,
			}
		})
		s, wait := w.watch(t, w.submit(t, c))
		gate.Open()
		succeeded(t, s, wait)
	})
	t.Run("without any socket the run is watched by asking", func(t *testing.T) {
		t.Parallel()
		server, w, gate, c := modelRun(t)
		server.On("GET /ws", comfytest.Always, comfytest.Answer(http.StatusServiceUnavailable, ""))
		s, wait := w.watch(t, w.submit(t, c))
		gate.Next()
		gate.Open()
		succeeded(t, s, wait)
	})
	t.Run("an engine without sockets is left to polls after a while", func(t *testing.T) {
		t.Parallel()
		server, w, gate, c := modelRun(t)
		server.On("GET /ws", comfytest.Always, comfytest.Cut)
		ticket := w.submit(t, c)
		_, wait := w.watch(t, ticket)
		if err := wait(); err == nil {
			t.Error("a run that goes on counts as over")
		}
		gate.Open()
		if p := w.poll(t, ticket); p.State != registry.RunSucceeded {
			t.Errorf("%+v", p)
		}
	})
	t.Run("a history that comes late is waited for", func(t *testing.T) {
		t.Parallel()
		server, w, gate, c := modelRun(t)
		server.On("GET /history/", 2, comfytest.Answer(http.StatusOK, "{}"))
		s, wait := w.watch(t, w.submit(t, c))
		gate.Open()
		succeeded(t, s, wait)
	})
	t.Run("answers that break or fail are asked for again", func(t *testing.T) {
		t.Parallel()
		server, w, gate, c := modelRun(t)
		ticket := w.submit(t, c)
		for _, fault := range []comfytest.Action{comfytest.BrokenJSON, comfytest.CutMidAnswer, comfytest.Cut, comfytest.Answer(http.StatusBadGateway, "<html>")} {
			server.On("GET /queue", 1, fault)
			server.On("GET /history/", 1, fault)
		}
		s, wait := w.watch(t, ticket)
		gate.Open()
		succeeded(t, s, wait)
	})
	t.Run("a run that an engine forgot is lost", func(t *testing.T) {
		t.Parallel()
		server, w, gate, c := modelRun(t)
		ticket := w.submit(t, c)
		s, wait := w.watch(t, ticket)
		gate.Next()
		s.until(t, "the sampler", atSampler)
		server.Restart()
		if err := wait(); err == nil {
			t.Error("a lost run counts as over")
		}
		_, err := w.provider.Poll(t.Context(), ticket)
		failure(t, err, registry.CodeLost, false)
		if s.last().State.Terminal() {
			t.Errorf("reported as %+v", s.last())
		}
	})
	t.Run("the end of the context ends it at once", func(t *testing.T) {
		t.Parallel()
		_, w, gate, c := modelRun(t)
		defer gate.Open()
		ticket := w.submit(t, c)
		gate.Next()
		ctx, cancel := context.WithCancel(t.Context())
		if err := w.provider.Watch(ctx, ticket, func(registry.Progress) { cancel() }); err != context.Canceled {
			t.Error(err)
		}
	})
	t.Run("a wholly cached run ends", func(t *testing.T) {
		t.Parallel()
		_, w, gate, c := modelRun(t)
		gate.Open()
		c.Inputs["seed"] = json.Number("5")
		for range 2 {
			s, wait := w.watch(t, w.submit(t, w.call(c.Tool, c.Inputs)))
			succeeded(t, s, wait)
		}
	})
	t.Run("the time of each node is measured by class", func(t *testing.T) {
		t.Parallel()
		_, w, gate, c := modelRun(t)
		metrics := prometheus.NewRegistry()
		w.provider = comfy.NewProvider(comfy.ProviderConfig{Fleet: w.fleet, Workflows: w.loader, Metrics: metrics})
		s, wait := w.watch(t, w.submit(t, c))
		held := gate.Next()
		s.until(t, "the sampler", atSampler)
		held.Release()
		succeeded(t, s, wait)
		families, err := metrics.Gather()
		if err != nil || len(families) != 1 {
			t.Fatalf("%v, %v", families, err)
		}
		classes := map[string]uint64{}
		for _, m := range families[0].GetMetric() {
			classes[m.GetLabel()[0].GetValue()] = m.GetHistogram().GetSampleCount()
		}
		if families[0].GetName() != "signalbox_comfy_node_seconds" || classes["KSampler"] != 1 || classes["SaveImage"] != 1 {
			t.Errorf("%s %v", families[0].GetName(), classes)
		}
	})
}

// TestWatcher is about many runs on one engine.
func TestWatcher(t *testing.T) {
	t.Parallel()
	const many = 40
	t.Run("many runs share one socket and one question at a time", func(t *testing.T) {
		t.Parallel()
		server, w, gate, c := modelRun(t)
		var asked, atOnce, most atomic.Int32
		server.On("GET /queue", comfytest.Always, func(rw http.ResponseWriter, r *http.Request, next http.Handler) {
			asked.Add(1)
			if n := atOnce.Add(1); n > most.Load() {
				most.Store(n)
			}
			defer atOnce.Add(-1)
			next.ServeHTTP(rw, r)
		})
		var all []*seen
		var waits []func() error
		for range many {
			s, wait := w.watch(t, w.submit(t, w.call(c.Tool, c.Inputs)))
			all, waits = append(all, s), append(waits, wait)
		}
		for _, s := range all[1:] {
			s.until(t, "the place", func(p registry.Progress) bool { return p.State == registry.RunQueued })
		}
		if n := server.Sockets(); n != 1 {
			t.Errorf("%d sockets", n)
		}
		gate.Open()
		for i, s := range all {
			succeeded(t, s, waits[i])
		}
		if dials := len(server.Calls("GET /ws")); dials != 1 || most.Load() != 1 {
			t.Errorf("%d connections, %d questions at once", dials, most.Load())
		}
		t.Logf("%d questions for %d runs", asked.Load(), many)
	})
	t.Run("a run that does not read its news holds up no other", func(t *testing.T) {
		t.Parallel()
		_, w, gate, c := modelRun(t)
		stuck := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		var watching sync.WaitGroup
		ticket := w.submit(t, w.call(c.Tool, c.Inputs))
		reported := make(chan struct{}, 1)
		watching.Go(func() {
			_ = w.provider.Watch(ctx, ticket, func(registry.Progress) {
				select {
				case reported <- struct{}{}:
				default:
				}
				<-stuck
			})
		})
		<-reported
		s, wait := w.watch(t, w.submit(t, c))
		gate.Open()
		succeeded(t, s, wait)
		cancel()
		close(stuck)
		watching.Wait()
	})
	t.Run("who takes over a run hears its events, found by ticket or by asking", func(t *testing.T) {
		t.Parallel()
		for _, hasTicket := range []bool{true, false} {
			server, w, gate, c := modelRun(t)
			ticket := w.submit(t, c)
			held := gate.Next()
			other, tool := oneTool(t, modelFlow, server)
			if !hasTicket {
				c.Repeated, c.Tool = true, tool
				ticket = other.submit(t, c)
			}
			s, wait := other.watch(t, ticket)
			s.until(t, "the sampler, of which nobody but the socket tells", atSampler)
			held.Progress(2, 4)
			s.until(t, "half of it", func(p registry.Progress) bool { return atSampler(p) && p.Fraction > 0.06 })
			held.Release()
			succeeded(t, s, wait)
		}
	})
	t.Run("events that name no prompt, as of old servers, are about the one that runs", func(t *testing.T) {
		t.Parallel()
		server, w, gate, c := modelRun(t)
		named := regexp.MustCompile(`"prompt_id": "[^"]*", |, "prompt_id": "[^"]*"`)
		server.OnFrames(func(f comfytest.Frame) []comfytest.Frame {
			if f.Type == "progress" || f.Type == "progress_state" {
				f.Data = named.ReplaceAll(f.Data, nil)
			}
			return []comfytest.Frame{f}
		})
		other, waitOther := w.watch(t, w.submit(t, w.call(c.Tool, c.Inputs)))
		held := gate.Next()
		other.until(t, "the sampler", atSampler)
		s, wait := w.watch(t, w.submit(t, c))
		held.Progress(2, 4)
		other.until(t, "half of the sampler", func(p registry.Progress) bool { return atSampler(p) && p.Fraction > 0.5 })
		held.Release()
		succeeded(t, other, waitOther)
		held = gate.Next()
		held.Progress(1, 4)
		s.until(t, "a quarter of the sampler", func(p registry.Progress) bool { return atSampler(p) && p.Fraction >= 0.24 })
		held.Release()
		succeeded(t, s, wait)
	})
	t.Run("the caller's end is not held up by an engine that hangs", func(t *testing.T) {
		t.Parallel()
		server, w, gate, c := modelRun(t)
		defer gate.Open()
		ticket := w.submit(t, c)
		server.On("GET /queue", comfytest.Always, server.Hang)
		ctx, cancel := context.WithCancel(t.Context())
		var asking sync.WaitGroup
		for range 3 {
			asking.Go(func() {
				if _, err := w.provider.Poll(ctx, ticket); err == nil {
					t.Error("an answer of nobody")
				}
			})
		}
		clocktest.Until(t, "a question", func() bool { return len(server.Calls("GET /queue")) > 0 })
		cancel()
		asking.Wait()
	})
}
