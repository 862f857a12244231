package cpu_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/comfy/cpu"
	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/comfy/cpu/nodes"
)

// sources give values of each type to the node under test, some of them awkward.
var sources = map[string][]string{
	"IMAGE": {
		`{"class_type": "EmptyImage", "inputs": {"width": 7, "height": 5, "batch_size": 2, "color": 8421504}}`,
		`{"class_type": "EmptyImage", "inputs": {"width": 1, "height": 1, "batch_size": 1, "color": 0}}`,
		`{"class_type": "LoadImage", "inputs": {"image": "alpha31x17.png"}}`,
	},
	"MASK": {
		`{"class_type": "SolidMask", "inputs": {"value": 0.5, "width": 7, "height": 5}}`,
		`{"class_type": "SolidMask", "inputs": {"value": 1.0, "width": 1, "height": 1}}`,
		`{"class_type": "SolidMask", "inputs": {"value": 0.0, "width": 40, "height": 3}}`,
	},
	"AUDIO": {
		`{"class_type": "EmptyAudio", "inputs": {"duration": 0.01, "sample_rate": 8000, "channels": 2}}`,
		`{"class_type": "EmptyAudio", "inputs": {"duration": 0.0, "sample_rate": 1, "channels": 1}}`,
		`{"class_type": "LoadAudio", "inputs": {"audio": "tone_m8k.wav"}}`,
	},
	"STRING":       {`{"class_type": "PrimitiveString", "inputs": {"value": "Añ b"}}`},
	"BOUNDING_BOX": {`{"class_type": "PrimitiveBoundingBox", "inputs": {"x": 2, "y": 30, "width": 9, "height": 1}}`},
	"LATENT":       {`{"class_type": "EmptyLatentImage", "inputs": {"width": 16, "height": 16, "batch_size": 1}}`},
	"*":            {`{"class_type": "PrimitiveFloat", "inputs": {"value": -1.5}}`},
}

// sweep makes prompts for one class: every input at its default, then each at its bounds and options in turn.
type sweep struct {
	spec    node.Spec
	variant int // which source
}

// fill sets the inputs to their defaults, and adds nodes for those that must be linked.
func (s *sweep) fill(inputs []node.Input, prefix string, values, prompt map[string]any) {
	for _, in := range inputs {
		name := prefix + in.Name
		switch in.Type {
		case node.TypeDynamicCombo:
			values[name] = in.Choices[0].Key
			s.fill(in.Choices[0].Required, name+".", values, prompt)
		case node.TypeAutogrow:
			member := in.Template.Input
			member.Name = in.Template.Members()[0]
			s.fill([]node.Input{member}, name+".", values, prompt)
		default:
			values[name] = s.value(in, name, prompt)
		}
	}
}

func (s *sweep) value(in node.Input, name string, prompt map[string]any) any {
	if d, ok := in.Attrs["default"]; ok && in.Type != "BOUNDING_BOX" {
		return d
	}
	typ, _, _ := strings.Cut(in.Type, ",")
	if in.Type == node.TypeMatch {
		template, _ := in.Attrs["template"].(map[string]any)
		typ, _, _ = strings.Cut(fmt.Sprint(template["allowed_types"]), ",")
	}
	switch typ {
	case "INT", "FLOAT":
		return 1
	case "BOOLEAN":
		return true
	case node.TypeCombo:
		if len(in.Options) > 0 {
			return in.Options[0]
		}
		return "set1"
	}
	list := sources[typ]
	if list == nil {
		return "?"
	}
	id := "src " + name
	prompt[id] = json.RawMessage(list[s.variant%len(list)])
	return []any{id, 0}
}

// cases gives all prompts of the class.
func (s *sweep) cases() []map[string]any {
	var out []map[string]any
	add := func(change func(values map[string]any, prompt map[string]any)) {
		prompt, values := map[string]any{}, map[string]any{}
		s.fill(s.spec.Required, "", values, prompt)
		if s.variant == 1 {
			s.fill(s.spec.Optional, "", values, prompt)
		}
		if change != nil {
			change(values, prompt)
		}
		prompt["x"] = map[string]any{"class_type": s.spec.Class, "inputs": values}
		if !s.spec.OutputNode {
			prompt["show"] = map[string]any{"class_type": "PreviewAny", "inputs": map[string]any{"source": []any{"x", 0}}}
		}
		out = append(out, prompt)
	}
	add(nil)
	vary := func(inputs []node.Input) {
		for _, in := range inputs {
			name := in.Name
			for _, v := range []any{in.Attrs["min"], in.Attrs["max"]} {
				if v != nil {
					add(func(values, _ map[string]any) { values[name] = v })
				}
			}
			for _, option := range in.Options {
				add(func(values, _ map[string]any) { values[name] = option })
			}
			for _, choice := range in.Choices {
				add(func(values, prompt map[string]any) {
					values[name] = choice.Key
					s.fill(choice.Required, name+".", values, prompt)
				})
			}
		}
	}
	vary(s.spec.Required)
	vary(s.spec.Optional)
	return out
}

// TestNoNodePanics runs every class at the edges of what it declares, with pictures, masks and sounds of awkward sizes.
func TestNoNodePanics(t *testing.T) {
	t.Parallel()
	bell := &alarm{Handler: slog.DiscardHandler, least: slog.LevelWarn}
	srv := newServer(t, cpu.Config{MaxPixels: 1 << 16, MaxMemory: 1 << 24, Logger: slog.New(bell)})
	copyTree(t, filepath.Join(shared(t, "corpus", "golden", "inputs")), srv.input)
	ran := 0
	for _, n := range nodes.All() {
		for variant := range 3 {
			s := &sweep{spec: n.Spec, variant: variant}
			for _, prompt := range s.cases() {
				body, err := json.Marshal(map[string]any{"prompt": prompt})
				if err != nil {
					t.Fatalf("%s: %s", n.Spec.Class, err)
				}
				answer := srv.do(t, "POST", "/prompt", nil, body)
				if answer.status != 200 {
					continue // some values do not pass validation together
				}
				ran++
				srv.finished(t, answer.json(t).(map[string]any)["prompt_id"].(string))
				bell.mu.Lock()
				if bell.text != "" {
					t.Errorf("%s: %s\n%.1500s", n.Spec.Class, body, bell.text)
					bell.text = ""
				}
				bell.mu.Unlock()
			}
		}
	}
	t.Logf("%d runs", ran)
	if ran < 1000 {
		t.Errorf("only %d runs were accepted", ran)
	}
}
