package registry_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/validate"
)

const foreign = `{"type":"object","additionalProperties":false,"required":["query","tags"],"$defs":{"tag":{"enum":["red","blue"]}},
	"properties":{
		"query":{"type":"string","description":"What to look for","title":"Query"},
		"limit":{"type":"integer","minimum":1,"maximum":50,"default":10},
		"sort":{"type":"string","enum":["new","old"]},
		"exact":{"type":"boolean"},
		"tags":{"type":"array","items":{"$ref":"#/$defs/tag"}},
		"code":{"type":"string","pattern":"^[A-Z]+$"}}}`

func TestSchemaInputs(t *testing.T) {
	t.Parallel()
	inputs, err := registry.SchemaInputs(json.RawMessage(foreign))
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Tool(registry.Tool{ToolID: "x", Service: "s", DisplayName: "X", InputSchema: inputs}); err != nil {
		t.Fatal(err)
	}
	t.Run("inputs stand in the order of the properties, required as the object says", func(t *testing.T) {
		t.Parallel()
		var names []string
		for _, f := range inputs {
			name := f.Name
			if f.Required {
				name += "!"
			}
			names = append(names, name)
		}
		if got := strings.Join(names, " "); got != "query! limit sort exact tags! code" {
			t.Errorf("got %s", got)
		}
	})
	t.Run("B7 type, enum, items, ranges and patterns are judged, with the path", func(t *testing.T) {
		t.Parallel()
		for _, c := range []struct {
			field string
			value any
			wrong string
		}{
			{"query", json.Number("5"), "text"},
			{"limit", json.Number("51"), "50"},
			{"limit", json.Number("1.5"), "whole"},
			{"sort", "best", "new"},
			{"tags", []any{"red", "green"}, "green"},
			{"tags", []any{"red", "blue"}, ""},
			{"code", "abc", "pattern"},
			{"exact", true, ""},
		} {
			f, _ := inputs.Get(c.field)
			_, err := registry.CheckValue(f, c.value)
			if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%s = %v: %v, expected it to tell of %q", c.field, c.value, err, c.wrong)
			}
		}
	})
	t.Run("what is no object is refused", func(t *testing.T) {
		t.Parallel()
		for _, raw := range []string{`{"type":"string"}`, `[]`, `{}`, `{`} {
			if _, err := registry.SchemaInputs(json.RawMessage(raw)); err == nil {
				t.Errorf("%s is taken", raw)
			}
		}
	})
	t.Run("a schema from elsewhere is refused, and a value is judged as a whole", func(t *testing.T) {
		t.Parallel()
		if _, err := registry.ParseSchema(json.RawMessage(`{"$ref":"https://example.com/x.json"}`)); err == nil {
			t.Error("a reference to another document is taken")
		}
		schema, err := registry.ParseSchema(json.RawMessage(foreign))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Check(map[string]any{"query": "x", "tags": []any{}, "more": true}); err == nil || !strings.Contains(err.Error(), "more") {
			t.Errorf("an unknown member: %v", err)
		}
	})
}

// TestSchemasOfOthers reads schemas as the libraries of others write them.
func TestSchemasOfOthers(t *testing.T) {
	t.Parallel()
	inputs, err := registry.SchemaInputs(json.RawMessage(`{"allOf":[{"$ref":"#/$defs/Base"},{"type":"object","properties":{
		"limit":{"anyOf":[{"type":"integer","exclusiveMinimum":0,"maximum":50},{"type":"null"}],"default":null,"title":"Limit"},
		"mode":{"allOf":[{"$ref":"#/$defs/Mode"}],"default":"fast"},
		"note":{"type":["string","null"],"maxLength":2000},
		"ids":{"type":"array","items":{"type":"string","minLength":2},"minItems":1,"maxItems":3},
		"sizes":{"type":"array","items":{"type":"number"},"uniqueItems":false},
		"colours":{"type":"array","items":{"oneOf":[{"const":"#f00","title":"Red"},{"const":"#0f0","title":"Green"}]}},
		"same":{"$ref":"#/allOf/1/properties/where"},
		"where":{"type":"object","properties":{"in":{"type":"string"}}},
		"kind":{"const":"user"},
		"free":{}}}],
		"$defs":{"Base":{"type":"object","properties":{"query":{"type":"string","minLength":1,"x-order":0}},"required":["query"]},"Mode":{"type":"string","enum":["fast","slow"]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Tool(registry.Tool{ToolID: "x", Service: "s", DisplayName: "X", InputSchema: inputs}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, kind string
		bare       bool // whether the input says it all by itself
		typed      string
		want       string // as JSON; empty: it is refused
	}{
		{"query", "string", true, "lakes", `"lakes"`},
		{"limit", "number", true, "50", `50`},
		{"limit", "number", true, "0", ""},
		{"mode", "string", true, "Slow", `"slow"`},
		{"note", "string", false, "soon", `"soon"`},
		{"ids", "string", false, "ab\ncd", `["ab","cd"]`},
		{"ids", "string", false, "a", ""},
		{"ids", "string", false, "aa\nbb\ncc\ndd", ""},
		{"sizes", "number", true, "1, 2.5", `[1,2.5]`},
		{"sizes", "number", true, "[3]", `[3]`},
		{"colours", "string", true, "Red", `["#f00"]`},
		{"same", "string", false, `{"in":"Bern"}`, `{"in":"Bern"}`},
		{"same", "string", false, `{"in":5}`, ""},
		{"kind", "string", true, "user", `"user"`},
		{"free", "string", false, "as it is", `"as it is"`},
	} {
		f, there := inputs.Get(c.name)
		if !there || string(f.Type) != c.kind || (len(f.Schema) == 0) != c.bare {
			t.Errorf("%s is %+v", c.name, f)
		}
		value, refused := registry.ParseText(f, c.typed)
		raw, err := json.Marshal(value)
		if (refused == nil) != (c.want != "") || refused == nil && (err != nil || string(raw) != c.want) {
			t.Errorf("%s, typed %q: %s, %v, want %s", c.name, c.typed, raw, refused, c.want)
		}
	}
	if f, _ := inputs.Get("note"); !f.IsText() || !f.Multiline || !f.TakesNull() {
		t.Errorf("a text that may be null is %+v", f)
	}
	whole, err := inputs.JSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	schema, err := registry.ParseSchema(whole)
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Check(map[string]any{"query": "x", "ids": []any{"ab"}, "note": nil}); err != nil {
		t.Errorf("what is told of them: %v\n%s", err, whole)
	}
	if err := schema.Check(map[string]any{"query": "x", "ids": []any{"ab", "cd", "ef", "gh"}}); err == nil {
		t.Error("a list that is too long fits what is told of it")
	}
}

// TestSchemasThatLeadBack reads schemas that name themselves: whoever wrote them must not cost us more than themselves.
func TestSchemasThatLeadBack(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"array","items":{"$ref":"#/$defs/A"}}}}`,
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"$ref":"#/$defs/A"}}}`,
		`{"type":"object","properties":{"a":{"$ref":"#"},"b":{"anyOf":[{"$ref":"#/properties/b"},{"type":"null"}]}}}`,
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"object","properties":{"x":{"$ref":"#/$defs/A"},"y":{"$ref":"#/$defs/A"}}}}}`,
		`{"type":"object","properties":{"a":{}},"allOf":[` + strings.Repeat(`{"$ref":"#"},`, 30) + `{"$ref":"#"}]}`,
	} {
		inputs, err := registry.SchemaInputs(json.RawMessage(raw))
		if err != nil || len(inputs) == 0 {
			t.Errorf("%.80s: %v, %v", raw, inputs, err)
			continue
		}
		if err := validate.Tool(registry.Tool{ToolID: "x", Service: "s", DisplayName: "X", InputSchema: inputs[:1]}); err != nil {
			t.Errorf("%.80s: %v", raw, err)
		}
	}
}

func TestCanonicalJSON(t *testing.T) {
	t.Parallel()
	t.Run("B83 the order of keys does not matter, any value does", func(t *testing.T) {
		t.Parallel()
		forms := map[string]bool{}
		for _, raw := range []string{`{"a":1,"b":{"c":2,"d":3}}`, `{"b":{"d":3,"c":2},"a":1}`} {
			got, err := registry.CanonicalJSON(json.RawMessage(raw))
			if err != nil {
				t.Fatal(err)
			}
			forms[string(got)] = true
		}
		other, _ := registry.CanonicalJSON(map[string]any{"a": json.Number("1.0"), "b": "<&>"})
		if len(forms) != 1 || string(other) != `{"a":1.0,"b":"<&>"}` {
			t.Errorf("got %v and %s", forms, other)
		}
	})
}
