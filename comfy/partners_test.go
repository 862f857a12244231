package comfy_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/comfy/comfytest"
	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/registry"
)

const pricedFlow = `{
	"1": {"class_type": "PartnerImage", "inputs": {"prompt": "a fox", "n": 1}},
	"2": {"class_type": "SaveImage", "inputs": {"images": ["1", 0], "filename_prefix": "fox"}}}`

// priced is a world with one workflow that calls a partner's node of this price.
func priced(t *testing.T, expression string) (*world, registry.Tool) {
	t.Helper()
	s := comfytest.New(t, comfytest.Options{Nodes: []node.Node{partner(expression)}})
	w := newWorld(t, newFolder(map[string]string{"priced.json": pricedFlow}), s)
	return w, w.tools["priced"]
}

// TestPartnersPrice proves that what partners' nodes take is told before the run, and charged after it.
func TestPartnersPrice(t *testing.T) {
	t.Parallel()
	t.Run("it is told for the inputs of the call, and charged once", func(t *testing.T) {
		t.Parallel()
		w, tool := priced(t, `{"type": "usd", "usd": 0.04 * widgets.n}`)
		if !tool.CostingModel.Fees {
			t.Fatalf("%+v", tool.InputSchema)
		}
		call := w.call(tool, map[string]any{"prompt": "a fox"})
		price, err := w.provider.Price(t.Context(), call)
		if err != nil || price.FeesUSD != "0.040000000" {
			t.Fatalf("%+v, %v", price, err)
		}
		if more, err := w.provider.Price(t.Context(), w.call(tool, map[string]any{"prompt": "a fox", "n": json.Number("3")})); err != nil || more.FeesUSD != "0.120000000" {
			t.Errorf("three of them: %+v, %v", more, err)
		}
		done := w.run(t, tool, call.Inputs)
		if done.Result == nil || done.Result.Usage.FeesUSD != price.FeesUSD {
			t.Fatalf("%+v", done)
		}
		again := w.run(t, tool, call.Inputs)
		if again.Result == nil || again.Result.Usage.FeesUSD != "0.000000000" {
			t.Errorf("the server had the result still, and the partner is paid again: %+v", again.Result)
		}
	})
	for name, expression := range map[string]string{
		"by the second": `{"type": "usd", "usd": 0.04, "format": {"suffix": "/second"}}`,
		"no expression": `{"type": `,
		"no badge":      "",
		"without end":   strings.Repeat(" ", 40<<10) + `{"type": "usd", "usd": 0.04}`,
	} {
		t.Run("a price that can't be told is none: "+name, func(t *testing.T) {
			t.Parallel()
			w, tool := priced(t, expression)
			call := w.call(tool, map[string]any{"prompt": "a fox"})
			if price, err := w.provider.Price(t.Context(), call); err != nil || price.FeesUSD != "" {
				t.Errorf("%+v, %v", price, err)
			}
			if done := w.run(t, tool, call.Inputs); done.Result == nil || done.Result.Usage.FeesUSD != "" {
				t.Errorf("%+v", done)
			}
		})
	}
}
