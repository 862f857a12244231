package comfy_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/comfy/comfytest"
	"github.com/signalbox/signalbox/registry"
)

// sentNode is a node of a prompt as an engine gets it.
type sentNode struct {
	Class  string                     `json:"class_type"`
	Inputs map[string]json.RawMessage `json:"inputs"`
}

func TestVariation(t *testing.T) {
	t.Parallel()
	four := strings.Replace(modelFlow, `"batch_size": 1`, `"batch_size": 4`, 1)
	// prompt runs the tool and gives what the engine was sent, by id.
	prompt := func(t *testing.T, flow string, inputs map[string]any) map[string]sentNode {
		t.Helper()
		s := comfytest.New(t, comfytest.Options{Models: models()})
		w, tool := oneTool(t, flow, s)
		if does, by := tool.FollowsWith("image"); does != registry.FollowVary || by.Role != registry.RoleOwn {
			t.Fatalf("the tool does %q with its pictures by %+v", does, by)
		}
		if inputs["own_picture"] != nil {
			inputs["own_picture"] = string(w.photoOf(t, 9))
		}
		w.run(t, tool, inputs)
		var sent struct {
			Prompt map[string]sentNode `json:"prompt"`
		}
		if err := json.Unmarshal(s.Calls("POST /prompt")[0].Body, &sent); err != nil {
			t.Fatal(err)
		}
		return sent.Prompt
	}
	// follow gives the node that an input is linked to.
	follow := func(t *testing.T, nodes map[string]sentNode, from sentNode, input, class string) sentNode {
		t.Helper()
		var link [2]any
		if err := json.Unmarshal(from.Inputs[input], &link); err != nil {
			t.Fatalf("%s of %s is %s", input, from.Class, from.Inputs[input])
		}
		n := nodes[link[0].(string)]
		if n.Class != class {
			t.Fatalf("%s of %s is linked to %s, want %s", input, from.Class, n.Class, class)
		}
		return n
	}
	t.Run("without a picture nothing changes", func(t *testing.T) {
		t.Parallel()
		nodes := prompt(t, modelFlow, map[string]any{"prompt": "a dog", "variation": json.Number("0.5")})
		follow(t, nodes, nodes["3"], "latent_image", "EmptyLatentImage")
		if got := string(nodes["3"].Inputs["denoise"]); got != "1" && got != "1.0" || len(nodes) != 7 {
			t.Errorf("denoise is %s in %d nodes", got, len(nodes))
		}
	})
	t.Run("a picture takes the place of the empty latent, and the strength says how much is painted anew", func(t *testing.T) {
		t.Parallel()
		nodes := prompt(t, modelFlow, map[string]any{"prompt": "a dog", "own_picture": true, "variation": json.Number("0.3"), "denoise": json.Number("1")})
		latent := follow(t, nodes, nodes["3"], "latent_image", "VAEEncode")
		follow(t, nodes, latent, "pixels", "LoadImage")
		follow(t, nodes, latent, "vae", "CheckpointLoaderSimple")
		if got := string(nodes["3"].Inputs["denoise"]); got != "0.3" {
			t.Errorf("denoise is %s", got)
		}
	})
	t.Run("a picture of a set becomes a set", func(t *testing.T) {
		t.Parallel()
		nodes := prompt(t, four, map[string]any{"prompt": "a dog", "own_picture": true, "batch_size": json.Number("6")})
		again := follow(t, nodes, nodes["3"], "latent_image", "RepeatLatentBatch")
		follow(t, nodes, again, "samples", "VAEEncode")
		if got := string(again.Inputs["amount"]); got != "6" {
			t.Errorf("%s pictures, want as many as the set would have had", got)
		}
	})
	t.Run("what takes a picture already, or has no core nodes for it, stays as it is", func(t *testing.T) {
		t.Parallel()
		_, media := oneTool(t, mediaFlow, comfytest.New(t, comfytest.Options{}))
		_, bare := oneTool(t, modelFlow, comfytest.New(t, comfytest.Options{Models: models(), Without: []string{"VAEEncode"}}))
		for _, tool := range []registry.Tool{media, bare} {
			if _, ok := tool.InputSchema.Get("own_picture"); ok {
				t.Errorf("the inputs are %v", tool.InputSchema)
			}
		}
	})
}
