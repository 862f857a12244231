package mcp

import (
	"encoding/json"
	"strings"
	"testing"
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
	{"name":"price","type":"string","required":false,"schema":{"type":"number","exclusiveMinimum":0}},
	{"name":"gift","type":"boolean","required":false,"default":true},
	{"name":"day","type":"string","required":false,"schema":{"type":"string","format":"date"}}
]`

func TestQuestionFields(t *testing.T) {
	t.Parallel()
	fields, err := questionFields(json.RawMessage(everyForm))
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
	if _, err := questionFields(json.RawMessage(`{"type":"array"}`)); err == nil || !strings.Contains(err.Error(), "object") {
		t.Errorf("what is no flat object: %v", err)
	}
}
