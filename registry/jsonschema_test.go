package registry_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/signalbox/signalbox/registry"
)

func TestJSONSchema(t *testing.T) {
	t.Parallel()
	inputs := registry.InputSchema{width, ratio, seed, flag, text, sampler, factor, photo, nested, many}
	raw, err := inputs.JSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("inputs.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("inputs.json")
	if err != nil {
		t.Fatal(err)
	}

	t.Run("A61 its members stand in the order of the inputs", func(t *testing.T) {
		t.Parallel()
		at := -1
		for _, f := range inputs {
			next := bytes.Index(raw, []byte(`"`+f.Name+`":{`))
			if next <= at {
				t.Errorf("%s is out of order:\n%s", f.Name, raw)
			}
			at = next
		}
		for _, want := range []string{`"maximum":18446744073709551615`, `"title":"Photo"`, `"enum":["euler","dpmpp_2m","Euler"]`, `"required":["prompt","pics"]`} {
			if !bytes.Contains(raw, []byte(want)) {
				t.Errorf("lacks %s:\n%s", want, raw)
			}
		}
	})

	good := map[string]any{"prompt": "x", "pics": []any{asset}}
	for name, c := range map[string]struct {
		input string
		value any
		fits  bool
	}{
		"number":                 {"width", n("1024"), true},
		"too small":              {"width", n("8"), false},
		"the default beside it":  {"width", n("1023"), true},
		"fraction":               {"width", n("100.5"), false},
		"exact steps":            {"cfg", n("0.3"), true},
		"beside the steps":       {"cfg", n("0.35"), false},
		"64-bit seed":            {"seed", n("18446744073709551615"), true},
		"seed beyond":            {"seed", n("18446744073709551616"), false},
		"random seed":            {"seed", n("-1"), true},
		"flag":                   {"hd", true, true},
		"number for a flag":      {"hd", n("1"), false},
		"empty where required":   {"prompt", "", false},
		"choice":                 {"sampler", "dpmpp_2m", true},
		"no choice":              {"sampler", "heun", false},
		"choice of numbers":      {"factor", n("4"), true},
		"file":                   {"photo", asset, true},
		"file by name":           {"photo", "cat.png", false},
		"nested":                 {"options", map[string]any{"n": n("1")}, true},
		"nested of another kind": {"options", map[string]any{"n": "x"}, false},
		"several":                {"pics", []any{asset, "https://example.org/a.png"}, true},
		"none of several":        {"pics", []any{}, false},
	} {
		t.Run("A57 A61 CheckValue and the schema agree: "+name, func(t *testing.T) {
			t.Parallel()
			field, _ := inputs.Get(c.input)
			_, refusal := registry.CheckValue(field, c.value)
			all := map[string]any{c.input: c.value}
			for k, v := range good {
				if k != c.input {
					all[k] = v
				}
			}
			err := schema.Validate(all)
			if (refusal == nil) != c.fits || (err == nil) != c.fits {
				t.Errorf("CheckValue: %v; schema: %v; want fits %v", refusal, err, c.fits)
			}
		})
	}
	t.Run("a missing or foreign input does not fit", func(t *testing.T) {
		t.Parallel()
		if schema.Validate(map[string]any{"prompt": "x"}) == nil || schema.Validate(map[string]any{"prompt": "x", "pics": []any{asset}, "colour": "red"}) == nil {
			t.Error("it does")
		}
	})
	t.Run("A10 no inputs", func(t *testing.T) {
		t.Parallel()
		raw, err := registry.InputSchema{}.JSONSchema()
		if err != nil || !strings.Contains(string(raw), `"properties":{},"required":[]`) {
			t.Errorf("got %s, %v", raw, err)
		}
	})
}

func FuzzParseText(f *testing.F) {
	fields := []registry.InputField{width, ratio, seed, flag, text, sampler, factor, photo, nested, many}
	for i, typed := range []string{"1024", "3.5", "random", "yes", "a cat", "DPM++ 2m", "4", asset, `{"n":1}`, asset + "," + asset} {
		f.Add(uint8(i), typed)
	}
	f.Fuzz(func(t *testing.T, which uint8, typed string) {
		field := fields[int(which)%len(fields)]
		value, refusal := registry.ParseText(field, typed)
		if refusal != nil {
			return
		}
		again, refusal := registry.CheckValue(field, value)
		if refusal != nil {
			t.Fatalf("%s takes %q as %v but not that: %v", field.Name, typed, value, refusal)
		}
		if !equalJSON(t, value, again) {
			t.Fatalf("%s makes of %q first %v, then %v", field.Name, typed, value, again)
		}
	})
}

func equalJSON(t *testing.T, a, b any) bool {
	t.Helper()
	one, two := simple("x"), simple("x")
	one.Metadata, two.Metadata = map[string]any{"v": a}, map[string]any{"v": b}
	return mustEncode(t, one) == mustEncode(t, two)
}
