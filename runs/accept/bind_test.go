package accept

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/price"
)

func field(name string, kind registry.InputType, change func(*registry.InputField)) registry.InputField {
	f := registry.InputField{Name: name, Type: kind}
	if change != nil {
		change(&f)
	}
	return f
}

func bound(t *testing.T, fields registry.InputSchema, values map[runs.Source]map[string]any) runs.Bound {
	t.Helper()
	b, err := bind(registry.Tool{ToolID: "t", DisplayName: "T", InputSchema: fields}, runs.Request{Values: values}, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const (
	imageA = "asset:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	imageB = "asset:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

func TestBindPrecedence(t *testing.T) {
	t.Parallel()
	order := []runs.Source{runs.FromArgument, runs.FromAttachment, runs.FromReply, runs.FromAnswer, runs.FromPreset, runs.FromPreference, runs.FromChat}
	schema := registry.InputSchema{field("x", registry.TypeString, func(f *registry.InputField) { f.Default = "default" })}
	t.Run("A62 each source beats all that follow", func(t *testing.T) {
		t.Parallel()
		for i := range order {
			values := map[runs.Source]map[string]any{}
			for _, source := range order[i:] {
				values[source] = map[string]any{"x": string(source)}
			}
			b := bound(t, schema, values)
			if b.Inputs["x"] != string(order[i]) || b.Sources["x"] != order[i] {
				t.Errorf("%s: got %v from %s", order[i], b.Inputs["x"], b.Sources["x"])
			}
		}
	})
	t.Run("A88 a person's default is another than a model's", func(t *testing.T) {
		t.Parallel()
		tool := registry.Tool{ToolID: "t", InputSchema: schema, HumanDefaults: map[string]any{"x": "human"}}
		for want, r := range map[string]runs.Request{
			"human": {}, "default": {Context: registry.CallContext{PlannerProvider: "demo"}}, "mine": {Values: map[runs.Source]map[string]any{runs.FromPreference: {"x": "mine"}}},
		} {
			if b, err := bind(tool, r, rand.Reader); err != nil || b.Inputs["x"] != want {
				t.Errorf("want %s, got %v, %v", want, b.Inputs, err)
			}
		}
		agents := runs.Request{Approval: runs.ApproveWrites}
		if b, err := bind(tool, agents, rand.Reader); err != nil || b.Inputs["x"] != "default" {
			t.Errorf("an agent's key gets %v, %v", b.Inputs, err)
		}
	})
	t.Run("A20 an omitted input has the default", func(t *testing.T) {
		t.Parallel()
		b := bound(t, schema, nil)
		if b.Inputs["x"] != "default" || b.Sources["x"] != runs.FromDefault {
			t.Errorf("got %+v", b)
		}
	})
	t.Run("A19 missing required inputs stop, optional ones do not", func(t *testing.T) {
		t.Parallel()
		b := bound(t, registry.InputSchema{
			field("a", registry.TypeString, func(f *registry.InputField) { f.Required = true }),
			field("b", registry.TypeString, nil),
			field("c", registry.TypeImage, func(f *registry.InputField) { f.Required = true; f.Multiple = true }),
		}, map[runs.Source]map[string]any{runs.FromArgument: {"a": "  ", "c": []any{}}})
		if len(b.Missing) != 2 || b.Missing[0].Name != "a" || b.Missing[1].Name != "c" || len(b.Inputs) != 0 {
			t.Errorf("got %+v", b)
		}
	})
}

func TestBindValues(t *testing.T) {
	t.Parallel()
	schema := registry.InputSchema{
		field("n", registry.TypeNumber, func(f *registry.InputField) { f.Max = "10" }),
		field("pics", registry.TypeImage, func(f *registry.InputField) { f.Multiple = true }),
		field("pic", registry.TypeImage, nil),
	}
	t.Run("text is parsed by type", func(t *testing.T) {
		t.Parallel()
		b := bound(t, schema, map[runs.Source]map[string]any{runs.FromArgument: {"n": "7"}})
		if b.Inputs["n"] != json.Number("7") {
			t.Errorf("got %#v", b.Inputs["n"])
		}
	})
	t.Run("D27 null is a value where the input's schema has it, and none elsewhere", func(t *testing.T) {
		t.Parallel()
		parent := field("parent", registry.TypeString, func(f *registry.InputField) { f.Schema = json.RawMessage(`{"type": ["string", "null"]}`) })
		b := bound(t, append(registry.InputSchema{parent}, schema...), map[runs.Source]map[string]any{runs.FromArgument: {"parent": nil, "n": nil}, runs.FromPreference: {"parent": "a"}})
		if value, given := b.Inputs["parent"]; !given || value != nil || b.Sources["parent"] != runs.FromArgument {
			t.Errorf("got %#v, %v", value, given)
		}
		if _, given := b.Inputs["n"]; given {
			t.Error("null is taken for a number")
		}
	})
	t.Run("an argument that does not fit is refused by name", func(t *testing.T) {
		t.Parallel()
		for name, value := range map[string]any{"n": "11", "pic": "not a file", "m": "1"} {
			_, err := bind(registry.Tool{InputSchema: schema}, runs.Request{Values: map[runs.Source]map[string]any{runs.FromArgument: {name: value}}}, rand.Reader)
			var bad *registry.Error
			if !errors.As(err, &bad) || bad.Field != name || bad.Code != registry.CodeInvalidInput {
				t.Errorf("%s: got %v", name, err)
			}
		}
	})
	t.Run("a preference that no longer fits is passed over", func(t *testing.T) {
		t.Parallel()
		b := bound(t, schema, map[runs.Source]map[string]any{runs.FromPreference: {"n": json.Number("99"), "gone": "x"}, runs.FromChat: {"n": json.Number("3")}})
		if b.Inputs["n"] != json.Number("3") || b.Sources["n"] != runs.FromChat {
			t.Errorf("got %+v", b)
		}
	})
	t.Run("media of an input that takes several are collected", func(t *testing.T) {
		t.Parallel()
		values := map[runs.Source]map[string]any{runs.FromAttachment: {"pics": imageA, "pic": imageA}, runs.FromReply: {"pics": []any{imageB}, "pic": imageB}}
		b := bound(t, schema, values)
		want := map[string]any{"pics": []any{imageA, imageB}, "pic": imageA}
		if diff := cmp.Diff(want, b.Inputs); diff != "" {
			t.Error(diff)
		}
	})
}

func TestBindSeeds(t *testing.T) {
	t.Parallel()
	schema := registry.InputSchema{field("seed", registry.TypeNumber, func(f *registry.InputField) {
		f.Seed, f.Min, f.Max, f.Default = true, "0", "18446744073709551615", json.Number("42")
	})}
	for name, values := range map[string]map[runs.Source]map[string]any{
		"absent": nil, "-1": {runs.FromArgument: {"seed": "-1"}}, "random": {runs.FromArgument: {"seed": "Random"}}, "preferred": {runs.FromPreference: {"seed": json.Number("-1")}},
	} {
		t.Run("a fresh seed is drawn: "+name, func(t *testing.T) {
			t.Parallel()
			first, second := bound(t, schema, values), bound(t, schema, values)
			if first.Sources["seed"] != runs.FromRandom || first.Inputs["seed"] == second.Inputs["seed"] {
				t.Errorf("got %v from %s, then %v", first.Inputs["seed"], first.Sources["seed"], second.Inputs["seed"])
			}
		})
	}
	t.Run("a given seed is kept to its 64th bit", func(t *testing.T) {
		t.Parallel()
		b := bound(t, schema, map[runs.Source]map[string]any{runs.FromArgument: {"seed": "18446744073709551615"}})
		if b.Inputs["seed"] != json.Number("18446744073709551615") || b.Sources["seed"] != runs.FromArgument {
			t.Errorf("got %+v", b)
		}
	})
	t.Run("drawn seeds keep to the input's range and use all of it", func(t *testing.T) {
		t.Parallel()
		highest, err := drawSeed(schema[0], bytes.NewReader(bytes.Repeat([]byte{255}, 64)))
		if err != nil || highest != "18446744073709551615" {
			t.Errorf("the highest is %s, %v", highest, err)
		}
		f := field("seed", registry.TypeNumber, func(f *registry.InputField) { f.Min, f.Max, f.Step = "-10", "9", "3" })
		seen := map[string]bool{}
		for range 200 {
			n, err := drawSeed(f, rand.Reader)
			if err != nil {
				t.Fatal(err)
			}
			seen[n.String()] = true
		}
		if diff := cmp.Diff(map[string]bool{"0": true, "3": true, "6": true, "9": true}, seen); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("without a maximum a drawn seed fits a signed 64-bit number", func(t *testing.T) {
		t.Parallel()
		n, err := drawSeed(field("seed", registry.TypeNumber, nil), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		if v, ok := new(big.Int).SetString(n.String(), 10); !ok || !v.IsInt64() || v.Sign() < 0 {
			t.Errorf("got %s", n)
		}
	})
}

func TestShape(t *testing.T) {
	t.Parallel()
	schema := registry.InputSchema{
		field("prompt", registry.TypeString, nil), field("steps", registry.TypeNumber, nil),
		field("seed", registry.TypeNumber, func(f *registry.InputField) { f.Seed = true }),
	}
	shape := func(prompt, steps, seed string) int64 {
		return price.ShapeOf(bound(t, schema, map[runs.Source]map[string]any{runs.FromArgument: {"prompt": prompt, "steps": steps, "seed": seed}}))
	}
	if shape("a", "20", "1") != shape("b", "20", "2") {
		t.Error("texts and seeds change the shape")
	}
	if shape("a", "20", "1") == shape("a", "50", "1") {
		t.Error("numbers do not change the shape")
	}
}

func TestBindWords(t *testing.T) {
	t.Parallel()
	schema := registry.InputSchema{
		field("lora", registry.TypeString, func(f *registry.InputField) {
			f.Choices = []registry.Choice{{Value: "ink.safetensors"}, {Value: "plain.safetensors"}}
			f.Words = &registry.ChoiceWords{Into: "prompt", Of: map[string]string{"ink.safetensors": "Ink Wash, paper"}}
		}),
		field("prompt", registry.TypeString, func(f *registry.InputField) { f.Required = true }),
	}
	for _, c := range []struct{ lora, prompt, want string }{
		{"ink.safetensors", "a fox", "a fox, Ink Wash, paper"},
		{"ink.safetensors", "a fox, ", "a fox, Ink Wash, paper"},
		{"ink.safetensors", "a fox, ink wash, paper, snow", "a fox, ink wash, paper, snow"},
		{"plain.safetensors", "a fox", "a fox"},
	} {
		b := bound(t, schema, map[runs.Source]map[string]any{runs.FromArgument: {"lora": c.lora, "prompt": c.prompt}})
		if b.Inputs["prompt"] != c.want || b.Sources["prompt"] != runs.FromArgument {
			t.Errorf("%s, %q: %q", c.lora, c.prompt, b.Inputs["prompt"])
		}
	}
	b := bound(t, schema, map[runs.Source]map[string]any{runs.FromArgument: {"lora": "ink.safetensors"}})
	if len(b.Missing) != 1 || b.Missing[0].Name != "prompt" {
		t.Errorf("words alone are taken for a prompt: %v", b.Inputs)
	}
}
