package needs

import (
	"slices"
	"testing"

	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/comfy/objectinfo"
	"github.com/signalbox/signalbox/comfy/workflow"
)

func objectInfo(t *testing.T, text string) *objectinfo.Info {
	t.Helper()
	info, err := objectinfo.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func TestMissing(t *testing.T) {
	t.Parallel()
	const other = `"KSampler": {"input": {"required": {"sampler_name": [["euler"], {}], "denoise": ["FLOAT", {}]}}}`
	info := func(loader string) *objectinfo.Info {
		return objectInfo(t, `{`+other+`, "Loader": {"input": {"required": {`+loader+`}}}}`)
	}
	need := workflow.Requirements{Classes: []string{"KSampler", "Loader"}, Models: []workflow.Model{{Folder: "checkpoints", Name: "sd/a.safetensors"}}}
	for name, c := range map[string]struct {
		loader string
		lacks  []string
	}{
		"offered":                       {`"ckpt_name": [["b.safetensors", "sd/a.safetensors"], {}]`, nil},
		"offered in the newer form":     {`"ckpt_name": ["COMBO", {"options": ["sd/a.safetensors"]}]`, nil},
		"offered by a Windows server":   {`"ckpt_name": [["sd\\a.safetensors"], {}]`, nil},
		"not offered":                   {`"ckpt_name": [["b.safetensors"], {}]`, []string{"the model sd/a.safetensors"}},
		"no models at all":              {`"ckpt_name": [[], {}]`, []string{"the model sd/a.safetensors"}},
		"a list that the editor loads":  {`"ckpt_name": ["COMBO", {"remote": {"route": "/internal/files"}}]`, nil},
		"a plain text":                  {`"ckpt_name": ["STRING", {}]`, nil},
		"offered in a branch of a node": {`"mode": ["COMFY_DYNAMICCOMBO_V3", {"options": [{"key": "one", "inputs": {"required": {"ckpt_name": ["COMBO", {"options": ["sd/a.safetensors"]}]}}}]}]`, nil},
	} {
		if got := Missing(info(c.loader), need); !slices.Equal(got, c.lacks) {
			t.Errorf("%s: lacks %q, expected %q", name, got, c.lacks)
		}
	}
	need.Classes = []string{"KSampler", "Gone"}
	if got := Missing(info(`"ckpt_name": [[], {}]`), need); !slices.Contains(got, "the node Gone") {
		t.Errorf("lacks %q", got)
	}
	prompt := graph.Prompt{{ID: "1", Class: "Loader", Inputs: graph.Inputs{{Name: "ckpt_name", Value: "sd/a.safetensors"}, {Name: "x", Value: "a/b"}}}}
	Spell(info(`"ckpt_name": [["sd\\a.safetensors"], {}]`), prompt)
	if v, _ := prompt[0].Inputs.Get("ckpt_name"); v != `sd\a.safetensors` {
		t.Errorf("the prompt says %v, the server would not know it", v)
	}
	if v, _ := prompt[0].Inputs.Get("x"); v != "a/b" {
		t.Errorf("x became %v", v)
	}
}
