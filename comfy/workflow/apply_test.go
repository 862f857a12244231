package workflow

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/comfy/binding"
	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/comfy/graph/graphtest"
	"github.com/signalbox/signalbox/registry"
)

func TestApply(t *testing.T) {
	t.Parallel()
	d := define(t, graphtest.Sampling().String(), graphtest.Mini(t))
	get := func(t *testing.T, p graph.Prompt, node, input string) any {
		t.Helper()
		v, _ := p.Node(node).Inputs.Get(input)
		return v
	}
	t.Run("values land in their places and the stored prompt stays pristine", func(t *testing.T) {
		t.Parallel()
		before := string(d.Binding.Prompt)
		a, err := d.Binding.Apply(map[string]any{"prompt": "{a|b} // no comment", "seed": json.Number("18446744073709551615"), "cfg": json.Number("7.25"), "steps": "12", "sampler": "LCM"}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := []any{get(t, a.Prompt, "2", "text"), get(t, a.Prompt, "5", "seed"), get(t, a.Prompt, "5", "cfg"), get(t, a.Prompt, "5", "steps"), get(t, a.Prompt, "5", "sampler_name"), get(t, a.Prompt, "4", "width")}
		want := []any{"{a|b} // no comment", json.Number("18446744073709551615"), json.Number("7.25"), json.Number("12"), "lcm", json.Number("640")}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if len(a.Seeds) != 0 || string(d.Binding.Prompt) != before {
			t.Errorf("seeds %v, prompt changed %v", a.Seeds, string(d.Binding.Prompt) != before)
		}
	})
	t.Run("a seed that is absent, -1 or random is drawn and told", func(t *testing.T) {
		t.Parallel()
		for _, v := range []any{nil, json.Number("-1"), "random"} {
			a, err := d.Binding.Apply(map[string]any{"prompt": "x", "seed": v}, nil, func(n int64) int64 { return n - 1 })
			if err != nil {
				t.Fatal(err)
			}
			want := json.Number("1125899906842623") // 2^50-1
			if a.Seeds["seed"] != want || get(t, a.Prompt, "5", "seed") != any(want) {
				t.Errorf("%v: told %v, written %v", v, a.Seeds, get(t, a.Prompt, "5", "seed"))
			}
		}
	})
	t.Run("A18 A19 what does not fit is refused by name", func(t *testing.T) {
		t.Parallel()
		for name, values := range map[string]map[string]any{
			"steps":   {"prompt": "x", "steps": json.Number("1000")},
			"sampler": {"prompt": "x", "sampler": "magic"},
			"width":   {"prompt": "x", "width": json.Number("1.5")},
		} {
			_, err := d.Binding.Apply(values, nil, nil)
			var e *registry.Error
			if !errors.As(err, &e) || e.Field != name || e.Code != registry.CodeInvalidInput {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
	t.Run("the binding survives JSON", func(t *testing.T) {
		t.Parallel()
		raw, err := json.Marshal(d.Binding)
		if err != nil {
			t.Fatal(err)
		}
		var again binding.Binding
		if err := json.Unmarshal(raw, &again); err != nil {
			t.Fatal(err)
		}
		a, err := again.Apply(map[string]any{"prompt": "x"}, nil, nil)
		if err != nil || get(t, a.Prompt, "2", "text") != any("x") {
			t.Errorf("%v", err)
		}
	})
}
