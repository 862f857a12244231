package workflow

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/comfy/graph/graphtest"
	"github.com/signalbox/signalbox/internal/ordered"
)

func TestPlaceholdersOfOtherPrograms(t *testing.T) {
	t.Parallel()
	const text = `{"input": {"workflow": {
		"1": {"class_type": "Model", "inputs": {"ckpt_name": "a.safetensors"}},
		"2": {"class_type": "Encode", "inputs": {"text": "{{positive_prompt}}", "clip": ["1", 1]}},
		"3": {"class_type": "Encode", "inputs": {"text": "${NEGATIVE}", "clip": ["1", 1]}},
		"4": {"class_type": "Latent", "inputs": {"width": "{{ width }}", "height": 640}},
		"5": {"class_type": "Sampler", "inputs": {"seed": "{{seed}}", "steps": "%steps%", "cfg": "7.5", "sampler_name": "heun", "denoise": 1, "model": ["1", 0], "positive": ["2", 0], "negative": ["3", 0], "latent_image": ["4", 0]}},
		"6": {"class_type": "Decode", "inputs": {"samples": ["5", 0], "vae": ["1", 2]}},
		"7": {"class_type": "SaveImage", "inputs": {"images": ["6", 0], "filename_prefix": "%year%"}}}}}`
	d := define(t, text, graphtest.Mini(t))
	checkTool(t, d)
	got := map[string]any{}
	for _, f := range d.Tool.InputSchema {
		if !f.Advanced {
			got[f.Name] = f.Default
		}
	}
	want := map[string]any{"prompt": nil, "negative_prompt": "", "seed": json.Number("-1"), "steps": json.Number("20"), "cfg": nil, "width": json.Number("512"), "height": json.Number("640")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !hasCode(d, "placeholder") || d.Tool.Metadata["example"] != nil {
		t.Errorf("findings %v, example %v", graphtest.Codes(d.Findings), d.Tool.Metadata["example"])
	}
	a, err := d.Binding.Apply(map[string]any{"prompt": "a cat"}, nil, func(int64) int64 { return 4 })
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]any{}
	for _, n := range a.Prompt {
		for _, in := range n.Inputs {
			if _, link := in.Value.(graph.Ref); !link {
				values[n.ID+"."+in.Name] = ordered.Plain(in.Value)
			}
		}
	}
	if diff := cmp.Diff(map[string]any{"1.ckpt_name": "a.safetensors", "2.text": "a cat", "3.text": "", "4.width": json.Number("512"), "4.height": json.Number("640"), "5.seed": json.Number("4"), "5.steps": json.Number("20"),
		"5.cfg": "7.5", "5.sampler_name": "heun", "5.denoise": json.Number("1"), "7.filename_prefix": "%year%"}, values); diff != "" {
		t.Error(diff)
	}
	p, _, err := graph.Convert(graphtest.Parse(t, text), graphtest.Mini(t))
	if v, _ := p.Node("5").Inputs.Get("steps"); err != nil || v != any("%steps%") {
		t.Errorf("a prompt is converted into a copy, steps are %v, %v", v, err)
	}
}
