package comfy_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/signalbox/signalbox/comfy/comfytest"
	"github.com/signalbox/signalbox/comfy/loader"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/registry/registrytest"
)

// problems gives the files that a partial error names.
func problems(err error) (files []string) {
	var partial *registry.PartialError
	if errors.As(err, &partial) {
		for _, p := range partial.Problems {
			files = append(files, p.Source)
		}
	}
	return files
}

func ids(tools []registry.Tool) (out []string) {
	for _, t := range tools {
		out = append(out, t.ToolID)
	}
	return out
}

func TestLoader(t *testing.T) {
	t.Parallel()
	t.Run("A40 what no engine has is unavailable with the missing names, before anybody pays", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{Without: []string{"VAEDecode"}})
		w, tool := oneTool(t, modelFlow, s)
		if tool.State() != registry.StateUnavailable || tool.Status.Reason != "no engine has the node VAEDecode, nor the model sd.safetensors" {
			t.Errorf("%+v", tool.Status)
		}
		_, err := w.provider.Submit(t.Context(), w.call(tool, map[string]any{"prompt": "x"}))
		failure(t, err, registry.CodeUnavailable, false)
	})
	t.Run("A45 it becomes active when an engine gets what was missing", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		w, tool := oneTool(t, modelFlow, s)
		if tool.State() != registry.StateUnavailable {
			t.Fatalf("%+v", tool.Status)
		}
		s.SetModels("checkpoints", "sd.safetensors")
		s.Restart()
		w.fleet.Refresh(t.Context())
		w.load(t)
		if tool := w.tools["it"]; tool.State() != registry.StateActive {
			t.Errorf("%+v", tool.Status)
		}
	})
	t.Run("before any engine has answered tools are listed, unavailable", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		f := watchFleet(s)
		flows := loader.New(loader.Config{Sources: []fs.FS{newFolder(map[string]string{"it.json": plainFlow})}, Engines: f.Fleet, Store: &registrytest.Specs{}})
		tools, err := flows.Load(t.Context())
		if err != nil || len(tools) != 1 || tools[0].State() != registry.StateUnavailable {
			t.Fatalf("%+v, %v", tools, err)
		}
		f.refresh(t)
		if tools, err = flows.Load(t.Context()); err != nil || tools[0].State() != registry.StateActive {
			t.Errorf("%+v, %v", tools[0].Status, err)
		}
	})
	t.Run("A40 a broken file leaves the others and is named", func(t *testing.T) {
		t.Parallel()
		source := newFolder(map[string]string{"good.json": plainFlow, "broken.json": `{"nodes": NaN}`, "empty.json": `{"nodes": [], "links": []}`, "readme.txt": "x", ".hidden.json": "{", ".git/x.json": "{"})
		w := newWorld(t, newFolder(nil), comfytest.New(t, comfytest.Options{}))
		flows := loader.New(loader.Config{Sources: []fs.FS{source}, Engines: w.fleet, Store: w.store})
		tools, err := flows.Load(t.Context())
		if got := problems(err); !slices.Equal(got, []string{"broken.json", "empty.json"}) {
			t.Errorf("problems of %v: %v", got, err)
		}
		if got := ids(tools); !slices.Equal(got, []string{"good"}) {
			t.Errorf("tools %v", got)
		}
	})
	t.Run("A45 a file that breaks keeps the tool it had; one that goes takes it along", func(t *testing.T) {
		t.Parallel()
		source := newFolder(map[string]string{"it.json": plainFlow})
		w := newWorld(t, source, comfytest.New(t, comfytest.Options{}))
		source.write("it.json", plainFlow[:40])
		tools, err := w.loader.Load(t.Context())
		if len(problems(err)) != 1 || !slices.Equal(ids(tools), []string{"it"}) {
			t.Errorf("%v, %v", ids(tools), err)
		}
		if p := w.poll(t, w.submit(t, w.call(tools[0], nil))); p.State != registry.RunSucceeded {
			t.Errorf("%+v", p)
		}
		source.remove("it.json")
		if tools, err = w.loader.Load(t.Context()); err != nil || len(tools) != 0 {
			t.Errorf("%v, %v", ids(tools), err)
		}
	})
	t.Run("what has not changed is not defined or stored again", func(t *testing.T) {
		t.Parallel()
		source := newFolder(map[string]string{"a.json": plainFlow, "b.json": mediaFlow})
		s := comfytest.New(t, comfytest.Options{})
		w := newWorld(t, source, s)
		for range 3 {
			w.load(t)
		}
		if n := w.store.Writes(); n != 1 {
			t.Errorf("stored %d times", n)
		}
		source.write("b.json", strings.ReplaceAll(mediaFlow, "inverted", "other"))
		w.load(t)
		if n := w.store.Writes(); n != 2 {
			t.Errorf("stored %d times after one change", n)
		}
		s.Install() // nothing new
		s.Restart()
		w.fleet.Refresh(t.Context())
		w.load(t)
		if n := w.store.Writes(); n != 2 {
			t.Errorf("stored %d times after a restart without news", n)
		}
	})
	t.Run("A44 one command in two files is told by the registry", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, newFolder(nil), comfytest.New(t, comfytest.Options{}))
		source := newFolder(map[string]string{"one/same.json": plainFlow, "two/same.json": mediaFlow})
		flows := loader.New(loader.Config{Sources: []fs.FS{source}, Engines: w.fleet, Store: w.store})
		r, err := catalog.New(catalog.Config{Loaders: []registry.Loader{flows}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Reload(t.Context()); err == nil || r.Snapshot().Len() != 1 {
			t.Errorf("%d tools, %v", r.Snapshot().Len(), err)
		}
	})
	t.Run("a later source replaces a file of the same name; a missing one is empty", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, newFolder(nil), comfytest.New(t, comfytest.Options{}))
		flows := loader.New(loader.Config{
			Sources: []fs.FS{newFolder(map[string]string{"it.json": mediaFlow}), newFolder(map[string]string{"it.json": plainFlow}), missingFolder{}},
			Engines: w.fleet, Store: w.store,
		})
		tools, err := flows.Load(t.Context())
		if err != nil || len(tools) != 1 || tools[0].InputSchema[0].Type != registry.TypeNumber {
			t.Errorf("%+v, %v", tools, err)
		}
	})
	t.Run("what is no plain file is a problem of its own", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, newFolder(nil), comfytest.New(t, comfytest.Options{}))
		source := fstest.MapFS{"good.json": {Data: []byte(plainFlow)}, "pipe.json": {Mode: fs.ModeNamedPipe}, "big.json": {Data: make([]byte, 17<<20)}}
		flows := loader.New(loader.Config{Sources: []fs.FS{source}, Engines: w.fleet, Store: w.store})
		tools, err := flows.Load(t.Context())
		if len(tools) != 1 || !slices.Equal(problems(err), []string{"big.json", "pipe.json"}) {
			t.Errorf("%v, %v", ids(tools), err)
		}
	})
	t.Run("a store that fails keeps what there is", func(t *testing.T) {
		t.Parallel()
		source := newFolder(map[string]string{"it.json": plainFlow})
		w := newWorld(t, source, comfytest.New(t, comfytest.Options{}))
		w.store.Fail(errors.New("disk full"))
		source.write("it.json", mediaFlow)
		if tools, err := w.loader.Load(t.Context()); err == nil || len(tools) != 0 { // the registry keeps the last good set
			t.Errorf("%v, %v", ids(tools), err)
		}
		w.store.Fail(nil)
		tools, err := w.loader.Load(t.Context())
		if err != nil || len(tools) != 1 || tools[0].InputSchema[0].Type == registry.TypeNumber {
			t.Errorf("%v, %v", ids(tools), err)
		}
		if _, _, err := w.store.OpenMedia(t.Context(), tools[0].Metadata["template"].(string)); err != nil {
			t.Error(err)
		}
	})
	t.Run("a thousand workflows are stored in a few writes", func(t *testing.T) {
		t.Parallel()
		files := map[string]string{}
		for i := range 1000 {
			files[fmt.Sprintf("flow%d.json", i)] = strings.ReplaceAll(plainFlow, "plain", fmt.Sprint("plain", i))
		}
		w := newWorld(t, newFolder(nil), comfytest.New(t, comfytest.Options{}))
		store := &registrytest.Specs{}
		flows := loader.New(loader.Config{Sources: []fs.FS{newFolder(files)}, Engines: w.fleet, Store: store})
		if tools, err := flows.Load(t.Context()); err != nil || len(tools) != 1000 || store.Writes() > 3 {
			t.Errorf("%d tools in %d writes, %v", len(tools), store.Writes(), err)
		}
	})
	t.Run("a second costs what the operator says, or what the GPU that ran costs", func(t *testing.T) {
		t.Parallel()
		for byMachine, want := range map[bool]registry.RateSource{false: registry.RateStatic, true: registry.RateMachine} {
			w := newWorld(t, newFolder(nil), comfytest.New(t, comfytest.Options{}))
			flows := loader.New(loader.Config{
				Sources: []fs.FS{newFolder(map[string]string{"it.json": plainFlow})}, Engines: w.fleet, Store: w.store, Rate: "0.5", ByMachine: byMachine,
			})
			tools, err := flows.Load(t.Context())
			if err != nil || tools[0].CostingModel.RateSource != want || tools[0].CostingModel.Rate != "0.5" {
				t.Errorf("%+v, %v", tools[0].CostingModel, err)
			}
		}
	})
	t.Run("findings are kept by tool", func(t *testing.T) {
		t.Parallel()
		w, _ := oneTool(t, plainFlow, comfytest.New(t, comfytest.Options{}))
		if len(w.loader.Findings()["it"]) == 0 {
			t.Error("a workflow without notes gives no finding")
		}
	})
	t.Run("the end of its context ends it", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, newFolder(nil), comfytest.New(t, comfytest.Options{}))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := w.loader.Load(ctx); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// missingFolder is a folder that does not exist.
type missingFolder struct{}

func (missingFolder) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}
