package workflow

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/comfy/graph/graphtest"
	"github.com/signalbox/signalbox/comfy/objectinfo"
)

func TestLint(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ code, text string }{
		{"no-note", new(graphtest.Graph).Node("1", "LoadImage", `["a.png"]`, "").String()},
		{"unknown-node", new(graphtest.Graph).Node("1", "Strange", `[]`, "").String()},
		{"absolute-path", new(graphtest.Graph).Node("1", "PrimitiveString", `["/home/ann/x.png"]`, "").String()},
		{"absolute-path", new(graphtest.Graph).Node("1", "PrimitiveString", `["C:\\Users\\x.png"]`, "").String()},
		{"api-node", new(graphtest.Graph).Node("1", "Paid", `["a cat", ""]`, "").String()},
		{"missing-model", new(graphtest.Graph).Node("1", "Model", `["gone.safetensors"]`, "").String()},
		{"value-not-in-list", new(graphtest.Graph).Node("1", "Sampler", `[1, "fixed", 20, 8, "gone", 1]`, "").String()},
		{"default-out-of-range", strings.Replace(graphtest.Sampling().String(), "[640, 480]", "[9000, 480]", 1)},
		{"unknown-directive", graphtest.Sampling("@tol id=x").String()},
		{"group-node-unsupported", new(graphtest.Graph).Node("1", "workflow>Gone", `[]`, "").String()},
		{"unknown-subgraph", new(graphtest.Graph).Node("1", "11111111-1111-1111-1111-111111111111", `[]`, "").String()},
		{"secret-in-note", graphtest.Sampling("key: hf_abcdefghijklmnopqrstuvwxyz").String()},
	} {
		t.Run(c.code, func(t *testing.T) {
			t.Parallel()
			d := define(t, c.text, graphtest.Mini(t))
			if !hasCode(d, c.code) {
				t.Errorf("findings %v", d.Findings)
			}
			for _, f := range d.Findings {
				if f.Message == "" || f.Advice == "" || strings.ContainsAny(f.Message+f.Advice, "\n\x00") {
					t.Errorf("finding %+v", f)
				}
			}
		})
	}
	t.Run("a good workflow has no findings", func(t *testing.T) {
		t.Parallel()
		if d := define(t, graphtest.Sampling("Draws a cat.").String(), graphtest.Mini(t)); len(d.Findings) != 0 {
			t.Errorf("%v", d.Findings)
		}
	})
}

func TestSecretsStayInside(t *testing.T) {
	t.Parallel()
	const key = "sk-abcdefghijklmnopqrstuvwxyz012345"
	b := new(graphtest.Graph)
	b.Link(1, "1", 0, "2", "images", "IMAGE")
	b.Node("1", "Paid", `["draw with `+key+`", "`+key+`"]`, "").Node("2", "SaveImage", `["x"]`, "").Node("3", graph.DeployPrefix+"Text", `["what", "`+key+`"]`, "").Node("4", "Note", `["use `+key+`"]`, "")
	d := define(t, b.String(), graphtest.Mini(t))
	if !hasCode(d, "secret-in-widget") {
		t.Errorf("findings %v", graphtest.Codes(d.Findings))
	}
	tool, err := json.Marshal(d.Tool)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(tool), key) {
		t.Errorf("the tool holds the key: %s", tool)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"fluxgeneral.json": "fluxgeneral /fluxgeneral", "dir/Flux General.ui.json": "flux-general /flux_general", `C:\x\A & B.api.json`: "a-b /a_b",
		"größe.json": "gr-e /gr_e", "日本.json": "workflow-eba5ad3b /workflow_eba5ad3b",
		"a-very-long-name-of-a-workflow-that-goes-on.json": "a-very-long-name-of-a-workflow-that-goes-on /a_very_long_name_of_a_wor_b6519b",
	} {
		id := ToolID(file)
		if got := id + " " + CommandName(id); got != want {
			t.Errorf("%s gives %s, want %s", file, got, want)
		}
	}
}

func TestEveryMissingModelIsNamed(t *testing.T) {
	t.Parallel()
	info, err := objectinfo.Parse([]byte(`{
 "Two": {"input": {"required": {"clip_name1": [["other.safetensors"]], "clip_name2": [["other.safetensors"]]}}, "output": ["CLIP"], "name": "Two"},
 "VAELoader": {"input": {"required": {"vae_name": ["COMBO", {"options": []}]}}, "output": ["VAE"], "name": "VAELoader"},
 "UNETLoader": {"input": {"required": {"unet_name": [[]]}}, "output": ["MODEL"], "name": "UNETLoader"},
 "End": {"input": {"required": {"clip": ["CLIP"], "vae": ["VAE"], "model": ["MODEL"]}}, "output": [], "output_node": true, "name": "End"}}`))
	if err != nil {
		t.Fatal(err)
	}
	d := define(t, `{"1": {"class_type": "Two", "inputs": {"clip_name1": "t5.safetensors", "clip_name2": "l.safetensors"}}, "2": {"class_type": "VAELoader", "inputs": {"vae_name": "ae.safetensors"}},
 "3": {"class_type": "UNETLoader", "inputs": {"unet_name": "flux.safetensors"}}, "4": {"class_type": "End", "inputs": {"clip": ["1", 0], "vae": ["2", 0], "model": ["3", 0]}}}`, info)
	var said []string
	for _, f := range d.Findings {
		if f.Code == "missing-model" {
			said = append(said, f.Message)
		}
	}
	for _, model := range []string{"t5.safetensors", "l.safetensors", "ae.safetensors", "flux.safetensors"} {
		if !strings.Contains(strings.Join(said, "\n"), `"`+model+`"`) {
			t.Errorf("%s is not named in %q", model, said)
		}
	}
}

func TestUnlinkedSocketsAreErrors(t *testing.T) {
	t.Parallel()
	text := new(graphtest.Graph).Link(1, "1", 0, "2", "image1", "IMAGE").Link(2, "2", 0, "3", "images", "IMAGE").
		Node("1", "LoadImage", `["a.png", "image"]`, "").Node("2", "Mix", `[]`, "").Node("3", "SaveImage", `["x"]`, "").
		Node("4", "SaveImage", `["y"]`, `"inputs": [{"name": "images", "type": "IMAGE", "link": null}],`).String()
	var found []string
	for _, f := range define(t, text, graphtest.Mini(t)).Findings {
		if f.Severity == graph.SeverityError {
			found = append(found, f.Node+": "+f.Message)
		}
	}
	all := strings.Join(found, "\n")
	for _, want := range []string{`2: nothing is linked to "image2" of node 2, "Mix"`, `2: nothing is linked to "mask" of node 2`, `4: nothing is linked to "images" of node 4, "SaveImage"`} {
		if !strings.Contains(all, want) {
			t.Errorf("no error %q in\n%s", want, all)
		}
	}
	alone := new(graphtest.Graph).Node("4", "SaveImage", `["y"]`, `"inputs": [{"name": "images", "type": "IMAGE", "link": null}],`).String()
	for _, f := range define(t, alone, graphtest.Mini(t)).Findings {
		if f.Code == "no-output" && strings.Contains(f.Advice, "add a node") {
			t.Errorf("an unlinked saver is told to add a saver: %+v", f)
		}
	}
}
