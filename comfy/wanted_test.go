package comfy_test

import (
	"testing"

	"github.com/signalbox/signalbox/comfy"
	"github.com/signalbox/signalbox/comfy/comfytest"
	"github.com/signalbox/signalbox/registry"
)

func TestAModelThatIsWaitedFor(t *testing.T) {
	t.Parallel()
	t.Run("a file that has come is noticed at the next look, and its tool can be run", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		w, tool := oneTool(t, modelFlow, s)
		if tool.State() != registry.StateUnavailable {
			t.Fatal("the test is wrong: nothing is missing")
		}
		asked := infos(s)
		w.fleet.Refresh(t.Context())
		if infos(s) != asked {
			t.Error("all declarations are read though no file has come")
		}
		s.SetModels("checkpoints", models()["checkpoints"]...)
		w.fleet.Refresh(t.Context())
		w.load(t)
		if now := w.tools["it"]; now.State() != registry.StateActive {
			t.Fatalf("it is %+v", now.Status)
		}
		w.submit(t, w.call(w.tools["it"], map[string]any{"prompt": "a fox"}))
	})
	t.Run("a file that no node takes has the declarations read once", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		w, _ := oneTool(t, modelFlow, s)
		s.On("GET /models/checkpoints", comfytest.Always, comfytest.Answer(200, `["`+models()["checkpoints"][0]+`"]`))
		asked := infos(s)
		for range 3 {
			w.fleet.Refresh(t.Context())
		}
		if n := infos(s) - asked; n != 1 {
			t.Errorf("they were read %d times", n)
		}
	})
	t.Run("a run that no engine has the model for asks at once, and not again within seconds", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{Models: models()})
		w, tool := oneTool(t, modelFlow, s)
		c := w.call(tool, map[string]any{"prompt": "a fox"})
		s.SetModels("checkpoints")
		f := watchFleet(s)
		f.refresh(t)
		w.fleet = f.Fleet
		w.provider = comfy.NewProvider(comfy.ProviderConfig{Fleet: w.fleet, Workflows: w.loader})
		s.SetModels("checkpoints", models()["checkpoints"]...)
		asked := infos(s)
		_, err := w.provider.Submit(t.Context(), c)
		failure(t, err, registry.CodeUnavailable, false)
		if infos(s) != asked {
			t.Error("it is asked again within seconds")
		}
		f.clock.Add(6)
		w.submit(t, c)
	})
	t.Run("a socket that broke has the declarations read at the next look", func(t *testing.T) {
		t.Parallel()
		server, w, gate, c := modelRun(t)
		s, wait := w.watch(t, w.submit(t, c))
		gate.Next()
		s.until(t, "the sampler", atSampler)
		asked := infos(server)
		server.CutSockets()
		gate.Open()
		succeeded(t, s, wait)
		w.fleet.Refresh(t.Context())
		if infos(server) != asked+1 {
			t.Error("nobody asks what the engine has now")
		}
	})
}
