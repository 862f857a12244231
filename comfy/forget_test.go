package comfy_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/comfy/api"
	"github.com/signalbox/signalbox/comfy/comfytest"
	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/registry"
)

// inHistory tells whether a server still keeps a prompt.
func inHistory(t *testing.T, s *comfytest.Server, promptID string) bool {
	t.Helper()
	_, kept, err := api.New(s.URL(), nil).History(t.Context(), promptID)
	if err != nil {
		t.Fatal(err)
	}
	return kept
}

// TestForget deletes what an engine keeps of a run, however the run ended.
func TestForget(t *testing.T) {
	t.Parallel()
	forgets := func(t *testing.T, w *world, s *comfytest.Server, ticket registry.Ticket) {
		t.Helper()
		if err := w.provider.Forget(t.Context(), ticket); err != nil || inHistory(t, s, ticket.ProviderID) {
			t.Errorf("it is still there, %v", err)
		}
	}
	for name, flow := range map[string]string{
		"a run that succeeded": plainFlow,
		"a run that failed":    strings.Replace(plainFlow, `"image": ["1", 0]`, `"image": ["1", 0], "extra": ["2", 0]`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := comfytest.New(t, comfytest.Options{})
			w, tool := oneTool(t, flow, s)
			ticket, other := w.submit(t, w.call(tool, nil)), w.submit(t, w.call(tool, nil))
			w.poll(t, ticket)
			w.poll(t, other)
			forgets(t, w, s, ticket)
			forgets(t, w, s, ticket) // what is not there any more is no error
			if !inHistory(t, s, other.ProviderID) {
				t.Error("another run's history went, too")
			}
		})
	}
	t.Run("a run that is canceled: a node that does not stop at once is waited for", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		w, tool := oneTool(t, plainFlow, s)
		gate := s.Hold("EmptyImage")
		defer gate.Open()
		ticket := w.submit(t, w.call(tool, nil))
		held := gate.Next()
		s.On("POST /interrupt", comfytest.Always, comfytest.Answer(http.StatusOK, "")) // heard by nobody yet
		canceled := make(chan error, 1)
		go func() { canceled <- w.provider.Cancel(t.Context(), ticket) }()
		asked := len(s.Calls("GET /queue")) + 3
		clocktest.Until(t, "another look at the queue", func() bool { return len(s.Calls("GET /queue")) >= asked })
		select {
		case err := <-canceled:
			t.Fatalf("the cancel ended while the node was at work: %v", err)
		default:
		}
		if n := len(s.Calls("POST /interrupt")); n != 1 {
			t.Errorf("%d interrupts", n)
		}
		held.Release()
		if err := <-canceled; err != nil {
			t.Fatal(err)
		}
		if !inHistory(t, s, ticket.ProviderID) {
			t.Error("the test is wrong: the engine keeps nothing of it")
		}
		forgets(t, w, s, ticket)
	})
	t.Run("a cancel that the engine does not follow in time is one to try again", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		w, tool := oneTool(t, plainFlow, s)
		gate := s.Hold("EmptyImage")
		defer gate.Open()
		ticket := w.submit(t, w.call(tool, nil))
		gate.Next()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		s.On("POST /interrupt", 1, comfytest.Answer(http.StatusOK, ""))
		asked := len(s.Calls("GET /queue")) + 3
		go func() {
			clocktest.Until(t, "another look at the queue", func() bool { return len(s.Calls("GET /queue")) >= asked })
			cancel()
		}()
		if e := failure(t, w.provider.Cancel(ctx, ticket), registry.CodeUnavailable, true); !strings.Contains(e.Message, "still at work") {
			t.Errorf("it says %q", e.Message)
		}
	})
	t.Run("half a result that is dropped", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{Models: models()})
		both := `{"1": {"class_type": "EmptyImage", "inputs": {"width": 16, "height": 8, "batch_size": 1, "color": 255}},
			"2": {"class_type": "SaveImage", "inputs": {"images": ["1", 0], "filename_prefix": "a"}},` + strings.TrimPrefix(modelFlow, "{")
		w, tool := oneTool(t, both, s)
		s.SetModels("checkpoints")
		c := w.call(tool, map[string]any{"prompt": "x"})
		_, err := w.provider.Submit(t.Context(), c)
		failure(t, err, registry.CodeUnavailable, false)
		if s.Runs(c.Handle) != 1 || inHistory(t, s, c.Handle) {
			t.Errorf("%d runs, and it is still there", s.Runs(c.Handle))
		}
	})
	t.Run("an engine that is gone from the configuration is none of ours", func(t *testing.T) {
		t.Parallel()
		w, _ := oneTool(t, plainFlow, comfytest.New(t, comfytest.Options{}))
		if err := w.provider.Forget(t.Context(), registry.Ticket{ProviderID: "x", Endpoint: "elsewhere:1"}); err != nil {
			t.Error(err)
		}
	})
	t.Run("an engine that does not answer is told", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		w, tool := oneTool(t, plainFlow, s)
		ticket := w.submit(t, w.call(tool, nil))
		s.Down()
		if err := w.provider.Forget(t.Context(), ticket); err == nil || !strings.Contains(err.Error(), ticket.ProviderID) {
			t.Errorf("it gives %v", err)
		}
	})
}
