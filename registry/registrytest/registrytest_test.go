package registrytest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/registry/registrytest"
)

func TestLoaders(t *testing.T) {
	t.Parallel()
	t.Run("fake", func(t *testing.T) {
		t.Parallel()
		registrytest.TestLoader(t, func(*testing.T) registrytest.LoaderSetup {
			l := registrytest.NewLoader("fake")
			fresh := func() { l.Set(registrytest.Tool("b"), registrytest.Tool("a")) }
			fresh()
			return registrytest.LoaderSetup{
				Loader: rereading{l}, Break: func() { l.Fail(errors.New("down")) }, Mend: fresh,
			}
		})
	})
	t.Run("files", func(t *testing.T) {
		t.Parallel()
		registrytest.TestLoader(t, func(t *testing.T) registrytest.LoaderSetup {
			dir := t.TempDir()
			text, err := registry.Encode(registrytest.Tool("a"))
			if err != nil {
				t.Fatal(err)
			}
			put := func(text []byte) {
				if err := os.WriteFile(filepath.Join(dir, "a.json"), text, 0o600); err != nil {
					t.Error(err)
				}
			}
			put(text)
			return registrytest.LoaderSetup{
				Loader: catalog.NewFileLoader("files", dir), Break: func() { put([]byte("{")) }, Mend: func() { put(text) },
			}
		})
	})
	t.Run("flash", func(t *testing.T) {
		t.Parallel()
		registrytest.TestLoader(t, func(t *testing.T) registrytest.LoaderSetup {
			dir := t.TempDir()
			s := registrytest.Snapshot(t, registrytest.Tool("a"), registrytest.Tool("b"))
			flash := func() {
				if err := catalog.Flash(dir, s, catalog.FlashMeta{Now: time.Now()}); err != nil {
					t.Error(err)
				}
			}
			flash()
			path := filepath.Join(dir, catalog.FlashFile)
			return registrytest.LoaderSetup{Loader: catalog.NewFlashLoader("flash", path), Break: func() { _ = os.Remove(path) }, Mend: flash}
		})
	})
}

// rereading gives private copies, as a loader that reads a source does.
type rereading struct{ *registrytest.Loader }

func (l rereading) Load(ctx context.Context) ([]registry.Tool, error) {
	tools, err := l.Loader.Load(ctx)
	for i := range tools {
		tools[i] = tools[i].Clone()
	}
	return tools, err
}

func TestServiceConforms(t *testing.T) {
	t.Parallel()
	registrytest.TestSubmitter(t, func(*testing.T) registrytest.SubmitterSetup {
		s := registrytest.NewService("fake")
		var calls atomic.Int32
		return registrytest.SubmitterSetup{
			Submitter: s,
			Call: func() registry.Call {
				id := fmt.Sprint("run-", calls.Add(1))
				return registry.Call{RunID: id, Handle: "handle-" + id, Tool: registrytest.Tool("a")}
			},
			Finish: func(ticket registry.Ticket) {
				_ = s.Succeed(ticket.ProviderID, registry.Usage{}, registrytest.File("image", "image", registry.MediaInfo{}, []byte("x")))
			},
			Received: func() int { return len(s.Calls()) },
		}
	})
}

func TestServiceFaults(t *testing.T) {
	t.Parallel()
	call := registry.Call{RunID: "r", Tool: registrytest.Tool("a"), Inputs: map[string]any{"prompt": "hello"}}
	t.Run("an answer that is lost after the effect", func(t *testing.T) {
		t.Parallel()
		s := registrytest.NewService("fake")
		s.FailNext(registrytest.OpSubmit, registrytest.Fault{AfterEffect: true})
		if _, err := s.Submit(t.Context(), call); err == nil || len(s.Calls()) != 1 {
			t.Errorf("got %v with %d runs", err, len(s.Calls()))
		}
		if ticket, err := s.Submit(t.Context(), call); err != nil || ticket.ProviderID != "r" || len(s.Calls()) != 1 || s.Submissions() != 2 {
			t.Errorf("got %v, %v", ticket, err)
		}
	})
	t.Run("a refusal without effect", func(t *testing.T) {
		t.Parallel()
		s := registrytest.NewService("fake")
		s.FailNext(registrytest.OpSubmit, registrytest.Fault{Err: registry.Errorf(registry.CodeRateLimited, "slow down")})
		if _, err := s.Submit(t.Context(), call); registry.AsError(err).Code != registry.CodeRateLimited || len(s.Calls()) != 0 {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a stall ends with the context or the gate", func(t *testing.T) {
		t.Parallel()
		s := registrytest.NewService("fake")
		gate := make(chan struct{})
		s.FailNext(registrytest.OpSubmit, registrytest.Fault{Until: gate}, registrytest.Fault{Until: gate})
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := s.Submit(ctx, call); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		close(gate)
		if _, err := s.Submit(t.Context(), call); err != nil {
			t.Errorf("got %v", err)
		}
	})
	t.Run("answers at once and waits for submissions", func(t *testing.T) {
		t.Parallel()
		s := registrytest.NewService("fake")
		s.Answer(func(c registry.Call) (registry.Result, *registry.Error) {
			return registry.Result{Outputs: []registry.Output{registrytest.Text("t", "done")}}, nil
		})
		go func() { _, _ = s.Submit(context.Background(), call) }()
		if err := s.WaitFor(t.Context(), func() bool { return s.Submissions() == 1 }); err != nil {
			t.Fatal(err)
		}
		p, err := s.Poll(t.Context(), registry.Ticket{ProviderID: "r"})
		if err != nil || p.State != registry.RunSucceeded || p.Result.Outputs[0].Text != "done" {
			t.Errorf("got %+v, %v", p, err)
		}
	})
	t.Run("a cancelled run stays so", func(t *testing.T) {
		t.Parallel()
		s := registrytest.NewService("fake")
		ticket, err := s.Submit(t.Context(), call)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Cancel(t.Context(), ticket); err != nil || !s.Canceled("r") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a loader that stalls or panics", func(t *testing.T) {
		t.Parallel()
		l := registrytest.NewLoader("x", registrytest.Tool("a"))
		release := l.Stall()
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := l.Load(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		release()
		if tools, err := l.Load(t.Context()); err != nil || len(tools) != 1 || l.Loads() != 2 {
			t.Errorf("got %v, %v", tools, err)
		}
		l.Panic("boom")
		r, err := catalog.New(catalog.Config{Loaders: []registry.Loader{l}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Reload(t.Context()); err == nil {
			t.Error("no error")
		}
	})
}
