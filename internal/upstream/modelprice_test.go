package upstream_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/registry"
)

func picture(width, height int) registry.Output {
	return registry.Output{Type: "image", Info: registry.MediaInfo{Width: width, Height: height}}
}

func TestAModelWithoutAPriceIsNotSold(t *testing.T) {
	t.Parallel()
	tool := upstream.ModelTool{Service: "s", Model: "a/b"}.Tool()
	if tool.State() != registry.StateUnavailable || !strings.Contains(tool.Status.Reason, "MODEL_PRICES_FILE") || tool.CostingModel != nil {
		t.Errorf("%+v", tool)
	}
}

// TestModelPrices has models priced by what models are priced by: before the run by its inputs, after it by what was made.
func TestModelPrices(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		price       upstream.ModelPrice
		inputs      map[string]any
		outputs     []registry.Output
		counted     string // by the service
		quote, cost string
	}{
		"a run":                         {upstream.ModelPrice{USD: "0.3", Per: upstream.PerRun}, map[string]any{"num_images": json.Number("4")}, nil, "", "0.300000000", "0.300000000"},
		"images":                        {upstream.ModelPrice{USD: "0.025", Per: upstream.PerImage}, map[string]any{"num_outputs": json.Number("4")}, []registry.Output{picture(0, 0), picture(0, 0), {Type: "text"}}, "", "0.100000000", "0.050000000"},
		"megapixels of a named size":    {upstream.ModelPrice{USD: "0.01", Per: upstream.PerMegapixel}, map[string]any{"image_size": "square"}, []registry.Output{picture(1000, 2000)}, "", "0.002621440", "0.020000000"},
		"megapixels of sizes":           {upstream.ModelPrice{USD: "0.01", Per: upstream.PerMegapixel}, map[string]any{"width": json.Number("1000"), "height": json.Number("1000"), "n": json.Number("3")}, []registry.Output{picture(0, 0)}, "", "0.030000000", "0.030000000"},
		"seconds of video":              {upstream.ModelPrice{USD: "0.5", Per: upstream.PerSecond}, map[string]any{"duration": "8s"}, []registry.Output{{Type: "video"}}, "", "4.000000000", "4.000000000"},
		"seconds that no input names":   {upstream.ModelPrice{USD: "0.5", Per: upstream.PerSecond, Seconds: "6"}, nil, nil, "", "3.000000000", "3.000000000"},
		"what the service counts":       {upstream.ModelPrice{USD: "0.03", Per: upstream.PerSecond}, map[string]any{"duration": json.Number("3")}, nil, "3.008", "0.090000000", "0.090240000"},
		"hardware: the time of the run": {upstream.ModelPrice{USD: "0.001", Per: upstream.PerHardwareSecond}, nil, nil, "7", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			call := registry.Call{RunID: "r", Inputs: c.inputs, Tool: upstream.ModelTool{Service: "s", Model: "a/b", Price: c.price}.Tool()}
			if got := upstream.ModelQuote(call); got.CostUSD != c.quote {
				t.Errorf("the quote is %q, want %q", got.CostUSD, c.quote)
			}
			ticket := registry.Ticket{}
			if err := upstream.KeepModelPrice(call, &ticket); err != nil {
				t.Fatal(err)
			}
			if got := upstream.ModelUsage(ticket, c.outputs, c.counted, registry.Usage{}); got.CostUSD != c.cost {
				t.Errorf("it cost %q, want %q", got.CostUSD, c.cost)
			}
		})
	}
	t.Run("the list that comes with the program is right, and a wrong one is refused", func(t *testing.T) {
		t.Parallel()
		if list, err := upstream.DefaultModelPrices(); err != nil || list.AsOf == "" {
			t.Errorf("got %+v, %v", list, err)
		}
		for wrong, says := range map[string]string{
			`{"usd": 1, "per": "cat"}`: "per", `{"usd": -1, "per": "run"}`: "usd", `{"usd": 1, "per": "second", "seconds": 0}`: "seconds",
		} {
			if _, err := upstream.ParseModelPrices([]byte(`{"services": {"fal": {"a/b": ` + wrong + `}}}`)); err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "a/b") {
				t.Errorf("%s: %v", wrong, err)
			}
		}
	})
}
