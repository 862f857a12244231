package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/validate"
)

// everyForm is a schema with a field of each kind that a service may ask for.
const everyForm = `{"type":"object","required":["name","size"],"properties":{
	"name":{"type":"string","title":"Your name","minLength":2},
	"mail":{"type":"string","format":"email"},
	"size":{"type":"string","enum":["s","l"],"enumNames":["Small","Large"]},
	"colour":{"type":"string","oneOf":[{"const":"#f00","title":"Red"},{"const":"#0f0","title":"Green"}]},
	"toppings":{"type":"array","maxItems":1,"items":{"type":"string","enum":["olives","onions"]}},
	"sauces":{"type":"array","items":{"anyOf":[{"const":"a","title":"Aioli"},{"const":"b","title":"Barbecue"}]}},
	"count":{"type":"integer","minimum":1,"maximum":9},
	"price":{"type":"number","exclusiveMinimum":0},
	"gift":{"type":"boolean","default":true},
	"day":{"type":"string","format":"date"}}}`

// everyDrawn is what is drawn from it.
const everyDrawn = `[
	{"name":"name","type":"string","required":true,"displayName":"Your name","schema":{"type":"string","title":"Your name","minLength":2}},
	{"name":"mail","type":"string","required":false,"schema":{"type":"string","format":"email"}},
	{"name":"size","type":"string","required":true,"choices":[{"value":"s","label":"Small"},{"value":"l","label":"Large"}]},
	{"name":"colour","type":"string","required":false,"choices":[{"value":"#f00","label":"Red"},{"value":"#0f0","label":"Green"}]},
	{"name":"toppings","type":"string","required":false,"choices":["olives","onions"],"multiple":true,"schema":{"type":"array","maxItems":1,"items":{"type":"string","enum":["olives","onions"]}}},
	{"name":"sauces","type":"string","required":false,"choices":[{"value":"a","label":"Aioli"},{"value":"b","label":"Barbecue"}],"multiple":true},
	{"name":"count","type":"number","required":false,"min":1,"max":9,"integer":true},
	{"name":"price","type":"number","required":false,"schema":{"type":"number","exclusiveMinimum":0}},
	{"name":"gift","type":"boolean","required":false,"default":true},
	{"name":"day","type":"string","required":false,"schema":{"type":"string","format":"date"}}
]`

func TestQuestionFields(t *testing.T) {
	t.Parallel()
	fields, err := registry.SchemaInputs(json.RawMessage(everyForm))
	if err != nil {
		t.Fatal(err)
	}
	var drawn strings.Builder
	for i, f := range fields {
		raw, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		drawn.WriteString([]string{"[\n\t", ",\n\t"}[min(i, 1)] + string(raw))
	}
	if got := drawn.String() + "\n]"; got != everyDrawn {
		t.Errorf("got %s\nwant %s", got, everyDrawn)
	}
	if _, err := registry.SchemaInputs(json.RawMessage(`{"type":"array"}`)); err == nil || !strings.Contains(err.Error(), "object") {
		t.Errorf("what is no flat object: %v", err)
	}
}

// foreignTools are tools as servers of others list them, and what becomes of them.
var foreignTools = []struct{ name, schema, drawn string }{
	{"browser_click", `{"type":"object","properties":{"zeta":{"type":"string"},"alpha":{"type":"string"},"button":{"type":"string","enum":["left","right"],"default":"middle"}},"required":["alpha"]}`,
		`/play_browser_click alpha! zeta button[left right]`},
	{"play_shot", `{"type":"object","properties":{"full":{"type":"boolean","default":"true"},"mask":{"type":"array","items":{"type":"string"}}}}`,
		`/play_shot full:boolean=true mask*`},
	{"ask", `{"type":"object","properties":{"params":{"$ref":"#/$defs/Ask"}},"required":["params"],"$defs":{"Ask":{"type":"object","required":["q"],"properties":{"q":{"type":"string"},"k":{"anyOf":[{"type":"integer"},{"type":"null"}],"default":null}}}}}`,
		`/play_ask (params) q! k:number`},
	{"add_comment_to_pending_review", `{"type":"object","properties":{"side":{"enum":["LEFT","RIGHT"]},"line":{"type":"number","minimum":"one"},"seen":{"type":"array","items":{"$ref":"#/properties/side"}}}}`,
		`/add_comment_to_pending_review side[LEFT RIGHT] line:number seen[LEFT RIGHT]*`},
	{"Wetter heute", `{}`, `/play_wetter_heute`},
	{"odd", `{"type":"object","properties":{"pattern":{"type":"string","pattern":"(?<=a)b"}}}`, `/play_odd pattern{}`},
	{"either", `{"type":"object","oneOf":[{"properties":{"id":{"type":"string"},"by":{"type":"string"}},"required":["id","by"]},{"properties":{"name":{"type":"string"},"by":{"type":"string"}},"required":["name","by"]}]}`,
		`/play_either by! id name`},
}

func TestForeignTools(t *testing.T) {
	t.Parallel()
	for _, c := range foreignTools {
		tool, err := define("play", serverConfig{}, &sdk.Tool{Name: c.name}, json.RawMessage(c.schema))
		if err == nil {
			err = validate.Tool(tool)
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		got := tool.CommandName
		if wrapped, is := tool.Metadata[wrappedKey]; is {
			got += fmt.Sprintf(" (%s)", wrapped)
		}
		for _, f := range tool.InputSchema {
			got += " " + f.Name + map[bool]string{true: "!"}[f.Required] + map[bool]string{true: ":" + string(f.Type)}[f.Type != registry.TypeString]
			if len(f.Choices) > 0 {
				var texts []string
				for _, one := range f.Choices {
					texts = append(texts, one.Text())
				}
				got += fmt.Sprint(texts)
			}
			if f.Default != nil {
				got += fmt.Sprint("=", f.Default)
			}
			got += map[bool]string{true: "*"}[f.Multiple] + map[bool]string{true: string(f.Schema)}[len(f.Schema) > 0]
		}
		if got != c.drawn {
			t.Errorf("%s: got %s, want %s", c.name, got, c.drawn)
		}
	}
	for shape, want := range map[string]bool{
		`{"type":"object","properties":{"result":{"type":"string"}},"required":["result"]}`: true,
		`{"type":"object","properties":{"result":{"type":"number"}},"required":["result"]}`: false,
		`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}`:      false,
	} {
		if got := oneText([]byte(shape)); got != want {
			t.Errorf("%s is one text: %v", shape, got)
		}
	}
}

func TestArgumentsAreWrapped(t *testing.T) {
	t.Parallel()
	got := argumentsOf(registry.Call{Tool: registry.Tool{Metadata: map[string]any{wrappedKey: "params"}}, Inputs: map[string]any{"q": "x"}})
	if raw, err := json.Marshal(got); err != nil || string(raw) != `{"params":{"q":"x"}}` {
		t.Errorf("%s: %v", raw, err)
	}
}
