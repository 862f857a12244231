package comfy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"io/fs"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"crypto/sha256"
	"encoding/hex"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/comfy"
	"github.com/signalbox/signalbox/comfy/cpu"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/workflows"
)

// memoryStore is a content-addressed store without a disk.
type memoryStore struct {
	mu    sync.Mutex
	files map[string][]byte
}

func (s *memoryStore) Put(_ context.Context, r io.Reader, name string) (registry.Media, registry.MediaInfo, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return "", registry.MediaInfo{}, err
	}
	sum := sha256.Sum256(data)
	ref := "asset:" + hex.EncodeToString(sum[:])
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.files == nil {
		s.files = map[string][]byte{}
	}
	s.files[ref] = data
	return ref, registry.MediaInfo{Name: name, Bytes: int64(len(data))}, nil
}

func (s *memoryStore) OpenMedia(_ context.Context, ref registry.Media) (io.ReadCloser, registry.MediaInfo, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	data, ok := s.files[ref]
	if !ok {
		return nil, registry.MediaInfo{}, errors.New("no such file")
	}
	return io.NopCloser(bytes.NewReader(data)), registry.MediaInfo{MIMEType: "image/png", Bytes: int64(len(data))}, nil
}

// startEngine serves a CPU engine over HTTP.
func startEngine(t *testing.T) *url.URL {
	t.Helper()
	dir := t.TempDir()
	e, err := cpu.New(cpu.Config{Input: dir + "/input", Output: dir + "/output", Temp: dir + "/temp"})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(e)
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
		server.Close()
	})
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

type world struct {
	fleet    *comfy.Fleet
	loader   *comfy.Workflows
	provider *comfy.Provider
	store    *memoryStore
	tools    map[string]registry.Tool
}

func newWorld(t *testing.T, sources []fs.FS, engines ...*url.URL) *world {
	t.Helper()
	w := &world{store: &memoryStore{}, tools: map[string]registry.Tool{}}
	w.fleet = comfy.NewFleet(engines, comfy.FleetConfig{})
	w.fleet.Refresh(t.Context())
	for _, s := range w.fleet.Status() {
		if !s.Up {
			t.Fatalf("engine %s is down: %s", s.Name, s.Error)
		}
	}
	w.loader = comfy.NewWorkflows(comfy.WorkflowsConfig{Sources: sources, Fleet: w.fleet, Store: w.store, Rate: "0.000337"})
	w.provider = comfy.NewProvider(comfy.ProviderConfig{Fleet: w.fleet, Workflows: w.loader})
	tools, err := w.loader.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		if err := registry.Validate(tool); err != nil {
			t.Errorf("%s: %v", tool.ToolID, err)
		}
		w.tools[tool.ToolID] = tool
	}
	return w
}

func (w *world) photo(t *testing.T) registry.Media {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 96, 64))
	for y := range 64 {
		for x := range 96 {
			img.Set(x, y, color.RGBA{R: uint8(2 * x), G: uint8(3 * y), B: 120, A: 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	ref, _, err := w.store.Put(t.Context(), &b, "photo.png")
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

func (w *world) run(t *testing.T, tool registry.Tool, inputs map[string]any) registry.Progress {
	t.Helper()
	id := uuid.NewString()
	ticket, err := w.provider.Submit(t.Context(), registry.Call{RunID: id, Handle: id, Tool: tool, Inputs: inputs, Media: w.store})
	if err != nil {
		t.Fatalf("submit %s: %v (%v)", tool.ToolID, err, errors.Unwrap(err))
	}
	var last registry.Progress
	fraction := 0.0
	if err := w.provider.Watch(t.Context(), ticket, func(p registry.Progress) {
		if p.HasFraction && p.Fraction < fraction {
			t.Errorf("progress fell from %v to %v", fraction, p.Fraction)
		}
		fraction = max(fraction, p.Fraction)
		last = p
	}); err != nil {
		t.Fatalf("watch %s: %v", tool.ToolID, err)
	}
	return last
}

func TestBundledWorkflowsRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []fs.FS{workflows.FS}, startEngine(t))
	t.Run("A40 fluxgeneral is listed as unavailable with the missing names", func(t *testing.T) {
		tool := w.tools["fluxgeneral"]
		if tool.State() != registry.StateUnavailable || !strings.Contains(tool.Status.Reason, "KSampler") {
			t.Errorf("status: %+v", tool.Status)
		}
		if tool.CommandName != "/fluxgeneral" {
			t.Errorf("command %q", tool.CommandName)
		}
	})
	for _, id := range []string{"wallpaper", "poster", "sticker", "beforeafter", "contactsheet", "filmlook"} {
		t.Run("A1 "+id+" runs end to end", func(t *testing.T) {
			tool, ok := w.tools[id]
			if !ok {
				t.Fatalf("not loaded; there are %v", w.tools)
			}
			if tool.State() != registry.StateActive {
				t.Fatalf("%s: %+v", id, tool.Status)
			}
			inputs := map[string]any{}
			for _, f := range tool.InputSchema {
				if f.Type == registry.TypeImage {
					inputs[f.Name] = w.photo(t)
				}
				if f.Name == "width" || f.Name == "height" {
					inputs[f.Name] = json.Number("96")
				}
			}
			p := w.run(t, tool, inputs)
			if p.State != registry.RunSucceeded || p.Result == nil {
				t.Fatalf("ended %s: %v (%v)", p.State, p.Err, errors.Unwrap(p.Err))
			}
			if len(p.Result.Outputs) != len(tool.OutputSchema) {
				t.Errorf("%d outputs, the tool declares %d", len(p.Result.Outputs), len(tool.OutputSchema))
			}
			for _, o := range p.Result.Outputs {
				r, err := o.Open(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if _, err := png.Decode(r); err != nil {
					t.Errorf("%s: %v", o.Name, err)
				}
				r.Close()
			}
			if p.Result.Usage.RunTime <= 0 {
				t.Error("no run time")
			}
		})
	}
}

func TestBrokenFileLeavesTheOthers(t *testing.T) {
	t.Parallel()
	good, err := fs.ReadFile(workflows.FS, "wallpaper.json")
	if err != nil {
		t.Fatal(err)
	}
	source := fstest.MapFS{"good.json": {Data: good}, "broken.json": {Data: []byte(`{"nodes": NaN}`)}}
	fleet := comfy.NewFleet([]*url.URL{startEngine(t)}, comfy.FleetConfig{})
	fleet.Refresh(t.Context())
	loader := comfy.NewWorkflows(comfy.WorkflowsConfig{Sources: []fs.FS{source}, Fleet: fleet, Store: &memoryStore{}})
	tools, err := loader.Load(t.Context())
	var partial *registry.PartialError
	if !errors.As(err, &partial) || len(partial.Problems) != 1 || partial.Problems[0].Source != "broken.json" {
		t.Errorf("error %v, expected one problem of broken.json", err)
	}
	if len(tools) != 1 || tools[0].ToolID == "" {
		t.Errorf("%d tools, expected the good one", len(tools))
	}
}
