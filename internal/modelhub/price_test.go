package modelhub_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/modelhub"
	"github.com/signalbox/signalbox/registry"
)

func picture(width, height int) registry.Output {
	return registry.Output{Type: "image", Info: registry.MediaInfo{Width: width, Height: height}}
}

func TestAModelWithoutAPriceIsNotSold(t *testing.T) {
	t.Parallel()
	tool := modelhub.Model{Service: "s", ID: "a/b"}.Tool()
	if tool.State() != registry.StateUnavailable || !strings.Contains(tool.Status.Reason, "MODEL_PRICES_FILE") || tool.CostingModel != nil {
		t.Errorf("%+v", tool)
	}
}

// TestPrices has models priced by what models are priced by: before the run by its inputs, after it by what was made.
func TestPrices(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		price       modelhub.Price
		inputs      map[string]any
		outputs     []registry.Output
		counted     string // by the service
		quote, cost string
	}{
		"a run":                         {modelhub.Price{USD: "0.3", Per: modelhub.PerRun}, map[string]any{"num_images": json.Number("4")}, nil, "", "0.300000000", "0.300000000"},
		"images":                        {modelhub.Price{USD: "0.025", Per: modelhub.PerImage}, map[string]any{"num_outputs": json.Number("4")}, []registry.Output{picture(0, 0), picture(0, 0), {Type: "text"}}, "", "0.100000000", "0.050000000"},
		"megapixels of a named size":    {modelhub.Price{USD: "0.01", Per: modelhub.PerMegapixel}, map[string]any{"image_size": "square"}, []registry.Output{picture(1000, 2000)}, "", "0.002621440", "0.020000000"},
		"megapixels of sizes":           {modelhub.Price{USD: "0.01", Per: modelhub.PerMegapixel}, map[string]any{"width": json.Number("1000"), "height": json.Number("1000"), "n": json.Number("3")}, []registry.Output{picture(0, 0)}, "", "0.030000000", "0.030000000"},
		"seconds of video":              {modelhub.Price{USD: "0.5", Per: modelhub.PerSecond}, map[string]any{"duration": "8s"}, []registry.Output{{Type: "video"}}, "", "4.000000000", "4.000000000"},
		"seconds that no input names":   {modelhub.Price{USD: "0.5", Per: modelhub.PerSecond, Seconds: "6"}, nil, nil, "", "3.000000000", "3.000000000"},
		"what the service counts":       {modelhub.Price{USD: "0.03", Per: modelhub.PerSecond}, map[string]any{"duration": json.Number("3")}, nil, "3.008", "0.090000000", "0.090240000"},
		"hardware: the time of the run": {modelhub.Price{USD: "0.001", Per: modelhub.PerHardwareSecond}, nil, nil, "7", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			call := registry.Call{RunID: "r", Inputs: c.inputs, Tool: modelhub.Model{Service: "s", ID: "a/b", Price: c.price}.Tool()}
			if got := modelhub.Quote(call); got.CostUSD != c.quote {
				t.Errorf("the quote is %q, want %q", got.CostUSD, c.quote)
			}
			ticket := registry.Ticket{}
			if err := modelhub.KeepPrice(call, &ticket); err != nil {
				t.Fatal(err)
			}
			if got := modelhub.Usage(ticket, c.outputs, c.counted, registry.Usage{}); got.CostUSD != c.cost {
				t.Errorf("it cost %q, want %q", got.CostUSD, c.cost)
			}
		})
	}
	t.Run("the list that comes with the program is right, and a wrong one is refused", func(t *testing.T) {
		t.Parallel()
		if list, err := modelhub.DefaultPrices(); err != nil || list.AsOf == "" {
			t.Errorf("got %+v, %v", list, err)
		}
		for wrong, says := range map[string]string{
			`{"usd": 1, "per": "cat"}`: "per", `{"usd": -1, "per": "run"}`: "usd", `{"usd": 1, "per": "second", "seconds": 0}`: "seconds",
		} {
			if _, err := modelhub.ParsePrices([]byte(`{"services": {"fal": {"a/b": ` + wrong + `}}}`)); err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "a/b") {
				t.Errorf("%s: %v", wrong, err)
			}
		}
	})
}
