package comfy_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"github.com/signalbox/signalbox/comfy"
	"github.com/signalbox/signalbox/comfy/comfytest"
	"github.com/signalbox/signalbox/comfy/loader"
	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
	"github.com/signalbox/signalbox/registry/validate"
)

// TestMain fails the package when anything is left running.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait for something that should happen soon.
const patience = 2 * time.Minute

// folder is a folder of files that a test can change while it is read.
type folder struct {
	mu    sync.Mutex
	files fstest.MapFS
}

func newFolder(files map[string]string) *folder {
	f := &folder{files: fstest.MapFS{}}
	for name, content := range files {
		f.files[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return f
}

func (f *folder) Open(name string) (fs.File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.files.Open(name)
}

func (f *folder) write(name, content string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.files[name] = &fstest.MapFile{Data: []byte(content)}
}

func (f *folder) remove(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.files, name)
}

// The workflows of the tests, in the prompt form.
const (
	plainFlow = `{
		"1": {"class_type": "EmptyImage", "inputs": {"width": 16, "height": 8, "batch_size": 1, "color": 255}, "_meta": {"title": "Paper"}},
		"2": {"class_type": "ImageInvert", "inputs": {"image": ["1", 0]}},
		"3": {"class_type": "SaveImage", "inputs": {"images": ["2", 0], "filename_prefix": "plain"}}}`
	modelFlow = `{
		"4": {"class_type": "CheckpointLoaderSimple", "inputs": {"ckpt_name": "sd.safetensors"}},
		"5": {"class_type": "EmptyLatentImage", "inputs": {"width": 64, "height": 64, "batch_size": 1}},
		"6": {"class_type": "CLIPTextEncode", "inputs": {"text": "a cat", "clip": ["4", 1]}, "_meta": {"title": "Prompt"}},
		"7": {"class_type": "CLIPTextEncode", "inputs": {"text": "ugly", "clip": ["4", 1]}},
		"3": {"class_type": "KSampler", "inputs": {"seed": 1, "steps": 4, "cfg": 7.5, "sampler_name": "euler", "scheduler": "simple", "denoise": 1.0,
			"model": ["4", 0], "positive": ["6", 0], "negative": ["7", 0], "latent_image": ["5", 0]}, "_meta": {"title": "Sampler"}},
		"8": {"class_type": "VAEDecode", "inputs": {"samples": ["3", 0], "vae": ["4", 2]}},
		"9": {"class_type": "SaveImage", "inputs": {"images": ["8", 0], "filename_prefix": "cat"}}}`
	mediaFlow = `{
		"1": {"class_type": "LoadImage", "inputs": {"image": "example.png"}},
		"2": {"class_type": "ImageInvert", "inputs": {"image": ["1", 0]}},
		"3": {"class_type": "SaveImage", "inputs": {"images": ["2", 0], "filename_prefix": "inverted"}}}`
)

// resultFlow is a workflow whose output node shows ui.
func resultFlow(t *testing.T, ui string) string {
	t.Helper()
	quoted, err := json.Marshal(ui)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`{"1": {"class_type": %q, "inputs": {"ui": %s}}}`, comfytest.ResultClass, quoted)
}

// world is a fleet of servers with a loader and a provider.
type world struct {
	fleet    *comfy.Fleet
	loader   *loader.Workflows
	provider *comfy.Provider
	store    *registrytest.Specs
	tools    map[string]registry.Tool
}

// newWorld loads the workflows of source for the given servers.
func newWorld(t *testing.T, source fs.FS, servers ...*comfytest.Server) *world {
	t.Helper()
	return newWorldBy(t, nil, source, servers...)
}

// newWorldBy is a world that speaks to its servers by client; nil: its own.
func newWorldBy(t *testing.T, client *http.Client, source fs.FS, servers ...*comfytest.Server) *world {
	t.Helper()
	var urls []*url.URL
	for _, s := range servers {
		urls = append(urls, s.URL())
	}
	fleet := comfy.NewFleet(urls, comfy.FleetConfig{HTTPClient: client, Ahead: 1000})
	fleet.Refresh(t.Context())
	return worldOf(t, fleet, source)
}

// worldOf is the world of a fleet that was refreshed.
func worldOf(t *testing.T, fleet *comfy.Fleet, source fs.FS) *world {
	t.Helper()
	w := &world{store: &registrytest.Specs{}, tools: map[string]registry.Tool{}, fleet: fleet}
	for _, s := range w.fleet.Status() {
		if !s.Up {
			t.Fatalf("engine %s is down: %s", s.Name, s.Error)
		}
	}
	w.loader = loader.New(loader.Config{Sources: []fs.FS{source}, Engines: w.fleet, Store: w.store, Rate: "0.000337"})
	w.provider = comfy.NewProvider(comfy.ProviderConfig{Fleet: w.fleet, Workflows: w.loader, ReconcileEvery: 100 * time.Millisecond})
	w.load(t)
	return w
}

// oneTool is a world of one workflow, and its tool.
func oneTool(t *testing.T, flow string, servers ...*comfytest.Server) (*world, registry.Tool) {
	t.Helper()
	w := newWorld(t, newFolder(map[string]string{"it.json": flow}), servers...)
	tool, ok := w.tools["it"]
	if !ok {
		t.Fatalf("not loaded; there are %v", w.tools)
	}
	return w, tool
}

func (w *world) load(t *testing.T) {
	t.Helper()
	tools, err := w.loader.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	clear(w.tools)
	for _, tool := range tools {
		if err := validate.Tool(tool); err != nil {
			t.Errorf("%s: %v", tool.ToolID, err)
		}
		w.tools[tool.ToolID] = tool
	}
}

func (w *world) call(tool registry.Tool, inputs map[string]any) registry.Call {
	id := uuid.NewString()
	return registry.Call{RunID: id, Handle: id, Tool: tool, Inputs: inputs, Media: w.store}
}

func (w *world) submit(t *testing.T, c registry.Call) registry.Ticket {
	t.Helper()
	ticket, err := w.provider.Submit(t.Context(), c)
	if err != nil {
		t.Fatalf("submit %s: %v (%v)", c.Tool.ToolID, err, errors.Unwrap(err))
	}
	return ticket
}

// seen is what a watcher was told.
type seen struct {
	mu     sync.Mutex
	all    []registry.Progress
	signal chan struct{}
}

func (s *seen) add(t *testing.T, p registry.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.all); n > 0 && p.HasFraction && p.Fraction < s.all[n-1].Fraction {
		t.Errorf("progress fell from %v to %v", s.all[n-1].Fraction, p.Fraction)
	}
	s.all = append(s.all, p)
	close(s.signal)
	s.signal = make(chan struct{})
}

// until waits for a report.
func (s *seen) until(t *testing.T, what string, is func(registry.Progress) bool) {
	t.Helper()
	deadline := time.After(patience)
	for {
		s.mu.Lock()
		if slices.ContainsFunc(s.all, is) {
			s.mu.Unlock()
			return
		}
		signal := s.signal
		s.mu.Unlock()
		select {
		case <-signal:
		case <-deadline:
			t.Fatalf("never reported: %s; %d reports, the last %+v", what, len(s.all), s.last())
		}
	}
}

func (s *seen) last() registry.Progress {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all) == 0 {
		return registry.Progress{}
	}
	return s.all[len(s.all)-1]
}

// watch follows a ticket in the background; wait gives how that ended.
func (w *world) watch(t *testing.T, ticket registry.Ticket) (s *seen, wait func() error) {
	t.Helper()
	s = &seen{signal: make(chan struct{})}
	ended := make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	go func() { ended <- w.provider.Watch(ctx, ticket, func(p registry.Progress) { s.add(t, p) }) }()
	return s, func() error { return <-ended }
}

// run submits and watches to the end.
func (w *world) run(t *testing.T, tool registry.Tool, inputs map[string]any) registry.Progress {
	t.Helper()
	s, wait := w.watch(t, w.submit(t, w.call(tool, inputs)))
	if err := wait(); err != nil {
		t.Fatalf("watch %s: %v", tool.ToolID, err)
	}
	return s.last()
}

// poll asks until the run is over.
func (w *world) poll(t *testing.T, ticket registry.Ticket) registry.Progress {
	t.Helper()
	var last registry.Progress
	clocktest.Until(t, "the run to end", func() bool {
		p, err := w.provider.Poll(t.Context(), ticket)
		if err != nil {
			t.Fatalf("poll: %v", err)
		}
		last = p
		return p.State.Terminal()
	})
	return last
}

// failure checks an error's code and whether it may be retried, and that it tells nothing that is not for people.
func failure(t *testing.T, err error, code registry.Code, retryable bool) *registry.Error {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, expected %s", code)
	}
	e := registry.AsError(err)
	if e.Code != code || e.Retryable != retryable {
		t.Errorf("error %v (retryable %v, cause %v), expected %s (retryable %v)", e, e.Retryable, e.Cause, code, retryable)
	}
	if strings.ContainsAny(e.Message, "/\\") || strings.Contains(e.Message, "127.0.0.1") {
		t.Errorf("the message shows more than it should: %q", e.Message)
	}
	return e
}
