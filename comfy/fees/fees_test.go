package fees

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/comfy/graph/graphtest"
	"github.com/signalbox/signalbox/comfy/objectinfo"
)

// TestAgainstTheReference holds the price of each partner node of a real server against what the reference implementation of JSONata (npm jsonata 2)
// gives for the same values: a number, or null where that is no price of a whole run.
func TestAgainstTheReference(t *testing.T) {
	t.Parallel()
	info := graphtest.ObjectInfo(t)
	data, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var reference map[string][]struct {
		On  map[string]any `json:"on"`
		USD *float64       `json:"usd"`
	}
	if err := json.Unmarshal(data, &reference); err != nil {
		t.Fatal(err)
	}
	var badges Badges
	told := 0
	for _, name := range info.Classes() {
		class, _ := info.Class(name)
		if class.Price == nil {
			continue
		}
		if len(reference[name]) == 0 {
			t.Errorf("%s has no reference", name)
		}
		priced := false
		for _, c := range reference[name] {
			given, err := badges.evaluate(class.Price.Expression, c.On)
			var price json.Number
			if err == nil {
				price, err = amount(given)
			}
			switch got, _ := price.Float64(); {
			case c.USD == nil && err == nil:
				t.Errorf("%s on %v costs %s, and there is no price", name, c.On, price)
			case c.USD != nil && (err != nil || math.Abs(got-*c.USD) > 1e-9):
				t.Errorf("%s on %v costs %q (%v), expected %v", name, c.On, price, err, *c.USD)
			}
			priced = priced || c.USD != nil
		}
		if priced {
			told++
		}
	}
	if told < 160 {
		t.Errorf("only %d classes have a price", told)
	}
}

// declared is object_info with one partner's class of this price, one that is none of ComfyUI's own, a source of lists and an output.
func declared(t *testing.T, expression string) *objectinfo.Info {
	t.Helper()
	badge, err := json.Marshal(map[string]any{"engine": "jsonata", "expr": expression, "depends_on": map[string]any{
		"widgets": []any{map[string]any{"name": "model", "type": "COMBO"}, map[string]any{"name": "seconds", "type": "INT"}, map[string]any{"name": "sound", "type": "BOOLEAN"}},
		"inputs":  []any{"image"}, "input_groups": []any{"more"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	info, err := objectinfo.Parse(fmt.Appendf(nil, `{
		"Paid": {"input": {"required": {}}, "output": ["IMAGE"], "api_node": true, "python_module": "comfy_api_nodes.nodes_x", "price_badge": %s},
		"Foreign": {"input": {"required": {}}, "output": ["IMAGE"], "api_node": true, "python_module": "custom_nodes.x", "price_badge": %[1]s},
		"Unpriced": {"input": {"required": {}}, "output": ["IMAGE"], "api_node": true, "python_module": "comfy_api_nodes.nodes_x", "price_badge": null},
		"OtherLanguage": {"input": {"required": {}}, "output": ["IMAGE"], "api_node": true, "python_module": "comfy_api_nodes.nodes_x", "price_badge": {"engine": "cel", "expr": "1"}},
		"Many": {"input": {"required": {}}, "output": ["IMAGE"], "output_is_list": [true]},
		"Plain": {"input": {"required": {}}, "output": ["IMAGE"], "output_is_list": [false]},
		"Save": {"input": {"required": {}}, "output": [], "output_node": true}}`, badge))
	if err != nil {
		t.Fatal(err)
	}
	return info
}

const flat = `{"type": "usd", "usd": 0.06}`

func TestOf(t *testing.T) {
	t.Parallel()
	const save = `, "9": {"class_type": "Save", "inputs": {"images": ["1", 0]}}}`
	for name, c := range map[string]struct{ expression, prompt, want, err string }{
		"one price": {flat, `{"1": {"class_type": "Paid", "inputs": {}}` + save, `{"1":0.06}`, ""},
		"widgets as the editor gives them": {`{"type": "usd", "usd": widgets.seconds * (widgets.model = "fast one" ? 0.1 : 1) * (widgets.sound ? 2 : 1)}`,
			`{"1": {"class_type": "Paid", "inputs": {"model": " Fast One", "seconds": 5, "sound": true}}` + save, `{"1":1}`, ""},
		"what is connected": {`{"type": "usd", "usd": (inputs.image.connected ? 1 : 0) + 10 * inputGroups.more}`,
			`{"1": {"class_type": "Paid", "inputs": {"image": ["2", 0], "more.a": ["2", 0], "more.b": ["2", 0], "moreover": ["2", 0]}}, "2": {"class_type": "Plain", "inputs": {}}` + save, `{"1":21}`, ""},
		"the upper end of a range":              {`{"type": "range_usd", "min_usd": 0.01, "max_usd": 0.1, "format": {"approximate": true}}`, `{"1": {"class_type": "Paid", "inputs": {}}` + save, `{"1":0.1}`, ""},
		"a node that nothing needs":             {flat, `{"1": {"class_type": "Plain", "inputs": {}}, "5": {"class_type": "Paid", "inputs": {}}` + save, `{}`, ""},
		"one of a node pack":                    {flat, `{"1": {"class_type": "Foreign", "inputs": {}}` + save, "", "none of ComfyUI's own"},
		"none declared":                         {flat, `{"1": {"class_type": "Unpriced", "inputs": {}}` + save, "", "declares none"},
		"another language":                      {flat, `{"1": {"class_type": "OtherLanguage", "inputs": {}}` + save, "", "declares none"},
		"one of two is not known":               {flat, `{"1": {"class_type": "Paid", "inputs": {"image": ["2", 0]}}, "2": {"class_type": "Unpriced", "inputs": {}}` + save, "", "node 2"},
		"a value that another node gives":       {flat, `{"1": {"class_type": "Paid", "inputs": {"seconds": ["2", 0]}}, "2": {"class_type": "Plain", "inputs": {}}` + save, "", "another node gives"},
		"a text for a number":                   {flat, `{"1": {"class_type": "Paid", "inputs": {"seconds": "long"}}` + save, "", "no number"},
		"a list of runs":                        {flat, `{"1": {"class_type": "Paid", "inputs": {"image": ["2", 0]}}, "2": {"class_type": "Plain", "inputs": {"image": ["3", 0]}}, "3": {"class_type": "Many", "inputs": {}}` + save, "", "more than once"},
		"links in a circle":                     {flat, `{"1": {"class_type": "Paid", "inputs": {"image": ["2", 0]}}, "2": {"class_type": "Plain", "inputs": {"image": ["1", 0]}}` + save, `{"1":0.06}`, ""},
		"by tokens":                             {`{"type": "list_usd", "usd": [0.1, 0.2], "format": {"suffix": " per 1K tokens"}}`, `{"1": {"class_type": "Paid", "inputs": {}}` + save, "", "no price of a run"},
		"by pictures":                           {`{"type": "usd", "usd": 0.1, "format": {"suffix": " x images/Run"}}`, `{"1": {"class_type": "Paid", "inputs": {}}` + save, "", "no price of a run"},
		"in words":                              {`{"type": "text", "text": "Token-based"}`, `{"1": {"class_type": "Paid", "inputs": {}}` + save, "", "no price of a run"},
		"a price that a missing widget decides": {`{"type": "usd", "usd": widgets.seconds * 0.1}`, `{"1": {"class_type": "Paid", "inputs": {}}` + save, "", "node 1"},
		"a price for what is not in the table":  {`{"type": "usd", "usd": $lookup({"a": 1}, widgets.model)}`, `{"1": {"class_type": "Paid", "inputs": {"model": "b"}}` + save, "", "no price of a run"},
		"less than nothing":                     {`{"type": "usd", "usd": -1}`, `{"1": {"class_type": "Paid", "inputs": {}}` + save, "", "0 to 1000"},
		"beyond belief":                         {`{"type": "usd", "usd": 5000}`, `{"1": {"class_type": "Paid", "inputs": {}}` + save, "", "0 to 1000"},
		"divided by nothing":                    {`{"type": "usd", "usd": 1 / 0}`, `{"1": {"class_type": "Paid", "inputs": {}}` + save, "", "node 1"},
		"no expression":                         {`{"type": `, `{"1": {"class_type": "Paid", "inputs": {}}` + save, "", "is none"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var prompt graph.Prompt
			if err := json.Unmarshal([]byte(c.prompt), &prompt); err != nil {
				t.Fatal(err)
			}
			var badges Badges
			prices, err := badges.Of(declared(t, c.expression), prompt)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("%v, %v; expected an error with %q", prices, err, c.err)
				}
				return
			}
			if got, _ := json.Marshal(prices); err != nil || string(got) != c.want {
				t.Errorf("%s, %v; expected %s", got, err, c.want)
			}
		})
	}
}

func TestBadgesAtOnce(t *testing.T) {
	t.Parallel()
	info, prompt := declared(t, `($x := $max([widgets.seconds, 1]); {"type": "usd", "usd": $x * 0.5})`), graph.Prompt{}
	if err := json.Unmarshal([]byte(`{"1": {"class_type": "Paid", "inputs": {"seconds": 4}}, "9": {"class_type": "Save", "inputs": {"images": ["1", 0]}}}`), &prompt); err != nil {
		t.Fatal(err)
	}
	var badges Badges
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for range 50 {
				if prices, err := badges.Of(info, prompt); err != nil || prices["1"] != "2" {
					t.Errorf("%v, %v", prices, err)
				}
			}
		})
	}
	all.Wait()
}
