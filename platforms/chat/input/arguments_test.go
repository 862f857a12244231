package input

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

func argumentSchema() registry.InputSchema {
	return registry.InputSchema{
		{Name: "image", Type: registry.TypeImage},
		{Name: "prompt", Type: registry.TypeString, Required: true},
		{Name: "negative prompt", Type: registry.TypeString},
		{Name: "steps", Type: registry.TypeNumber, Integer: true},
		{Name: "seed", Type: registry.TypeNumber, Integer: true, Seed: true},
		{Name: "tiled", Type: registry.TypeBoolean, DisplayName: "Seamless tile"},
		{Name: "lora", Type: registry.TypeString, Multiple: true},
	}
}

func TestParseArguments(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in     string
		text   string
		values map[string]any
	}{
		"free text only":                     {"a red bicycle", "a red bicycle", nil},
		"options anywhere":                   {"steps=20 a red seed=7 bicycle", "a red bicycle", map[string]any{"steps": "20", "seed": "7"}},
		"negative numbers":                   {"cat seed=-1 --steps -5", "cat", map[string]any{"seed": "-1", "steps": "-5"}},
		"blanks around the equals sign":      {"a cat steps = 20 seed =7 here", "a cat here", map[string]any{"steps": "20", "seed": "7"}},
		"an equals sign in a text is text":   {"two plus two = four", "two plus two = four", nil},
		"quoted values":                      {`cat negative_prompt="ugly, \"bad\" hands" steps=3`, "cat", map[string]any{"negative prompt": `ugly, "bad" hands`, "steps": "3"}},
		"typographic quotes":                 {`negative-prompt=“two words” cat`, "cat", map[string]any{"negative prompt": "two words"}},
		"case does not matter":               {"STEPS=4 cat", "cat", map[string]any{"steps": "4"}},
		"labels are names too":               {"seamless_tile=no cat", "cat", map[string]any{"tiled": "no"}},
		"a lone boolean option is yes":       {"cat --tiled under the roof", "cat under the roof", map[string]any{"tiled": "true"}},
		"a boolean option with its value":    {"cat --tiled off", "cat", map[string]any{"tiled": "off"}},
		"a dash that a phone made of two":    {"—steps 5 a bird –seed=7 —tiled", "a bird", map[string]any{"steps": "5", "seed": "7", "tiled": "true"}},
		"a dash that is a dash":              {"a bird — blue —and small, –40 degrees — steps", "a bird — blue —and small, –40 degrees — steps", nil},
		"two dashes before no name are text": {"--nosuch 5 a bird", "--nosuch 5 a bird", nil},
		"what looks like an option is text":  {"a poster with E=mc2 on it", "a poster with E=mc2 on it", nil},
		"dashes alone end the options":       {"steps=3 -- write seed=1", "write seed=1", map[string]any{"steps": "3"}},
		"lines of the text stay":             {"first\n\nsecond steps=2", "first\n\nsecond", map[string]any{"steps": "2"}},
		"a whole quoted text":                {`"a red bicycle" steps=2`, "a red bicycle", map[string]any{"steps": "2"}},
		"quotes within a text stay":          {`a sign "OPEN" and "SHUT"`, `a sign "OPEN" and "SHUT"`, nil},
		"repeated names make a list":         {"lora=a lora=b cat", "cat", map[string]any{"lora": []any{"a", "b"}}},
		"the last of repeated names counts":  {"steps=1 steps=2", "", map[string]any{"steps": "2"}},
		"a quotation that does not end":      {`negative_prompt="bad cat`, "cat", map[string]any{"negative prompt": `"bad`}},
		"an option may be empty when quoted": {`negative_prompt="" cat`, "cat", map[string]any{"negative prompt": ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var d Draft
			text, _, err := d.parse(c.in, argumentSchema())
			if err != nil {
				t.Fatal(err)
			}
			if text != c.text {
				t.Errorf("text %q, want %q", text, c.text)
			}
			if diff := cmp.Diff(c.values, d.Values[runs.FromArgument]); diff != "" {
				t.Errorf("values (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseArgumentsRefuses(t *testing.T) {
	t.Parallel()
	parse := func(in string, schema registry.InputSchema) (string, error) {
		var d Draft
		text, _, err := d.parse(in, schema)
		return text, err
	}
	_, err := parse("cat stepps=3", argumentSchema())
	var unknown *UnknownOption
	if !errors.As(err, &unknown) || unknown.Nearest != "steps" {
		t.Errorf("a mistyped option gives %v, want the hint steps", err)
	}
	for _, in := range []string{"cat foo=bar", "cat sends=1", "cat sold=9"} {
		if text, err := parse(in, argumentSchema()); err != nil || text != in {
			t.Errorf("%q gives the text %q and %v, want all of it as text", in, text, err)
		}
	}
	for in, nearest := range map[string]string{"steps=3 foo=bar": "", "--foo": "", "tilled=yes": "tiled", "step = 3 tilde=1": "tiled"} {
		if _, err := parse(in, argumentSchema()[3:6]); !errors.As(err, &unknown) || unknown.Nearest != nearest {
			t.Errorf("a tool without text gives %v for %q, want an unknown option near %q", err, in, nearest)
		}
	}
	for _, in := range []string{"cat steps=", "cat --steps", "--steps --tiled", "—steps —tiled"} {
		var missing *MissingValue
		if _, err := parse(in, argumentSchema()); !errors.As(err, &missing) {
			t.Errorf("%q gives %v, want a missing value", in, err)
		}
	}
}

func TestFreeInput(t *testing.T) {
	t.Parallel()
	text := func(name string) registry.InputField {
		return registry.InputField{Name: name, Type: registry.TypeString}
	}
	required := text("prompt")
	required.Required = true
	choice := text("style")
	choice.Choices = []registry.Choice{{Value: "oil"}}
	scale := registry.InputField{Name: "scale", Type: registry.TypeNumber, Required: true}
	for name, c := range map[string]struct {
		schema registry.InputSchema
		want   string
	}{
		"the required text":         {registry.InputSchema{text("negative"), required}, "prompt"},
		"the first optional text":   {registry.InputSchema{choice, text("title"), text("sub")}, "title"},
		"without text a number":     {registry.InputSchema{choice, scale}, "scale"},
		"nothing that can be typed": {registry.InputSchema{{Name: "image", Type: registry.TypeImage, Required: true}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if f, _ := FreeInput(c.schema); f.Name != c.want {
				t.Errorf("got %q, want %q", f.Name, c.want)
			}
		})
	}
}

func FuzzParseArguments(f *testing.F) {
	for _, s := range []string{`a b=c --d "e f" seed=-1`, `--`, `x="`, `--tiled --steps=`, "“", `a\"`} {
		f.Add(s)
	}
	schema := argumentSchema()
	f.Fuzz(func(t *testing.T, s string) {
		var d Draft
		_, _, _ = d.parse(s, schema) // must end without a panic
	})
}
