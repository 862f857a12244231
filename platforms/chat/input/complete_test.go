package input

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/registry"
)

func TestOffers(t *testing.T) {
	t.Parallel()
	texts := func(choices []registry.Choice) []string {
		all := []string{}
		for _, c := range choices {
			all = append(all, c.Text())
		}
		return all
	}
	n := func(s string) json.Number { return json.Number(s) }
	width := registry.InputField{Name: "width", Type: registry.TypeNumber, Integer: true, Min: "64", Max: "2048", Step: "8"}
	sampler := registry.InputField{Name: "sampler", Type: registry.TypeString, Choices: []registry.Choice{{Value: "euler"}, {Value: "dpmpp_2m", Label: "DPM++ 2M"}, {Value: "Euler"}}}
	flag, photo := registry.InputField{Name: "hd", Type: registry.TypeBoolean}, registry.InputField{Name: "photo", Type: registry.TypeImage}
	for name, c := range map[string]struct {
		field  registry.InputField
		typed  string
		recent []any
		want   []string
	}{
		"A71 choices, those that begin so first": {sampler, "e", nil, []string{"euler", "Euler"}},
		"A71 choices by a part of the label":     {sampler, "2m", nil, []string{"DPM++ 2M"}},
		"A71 recent values that are still valid": {width, "5", []any{"512", n("99999"), n("512"), "576"}, []string{"512", "576"}},
		"A71 yes and no":                         {flag, "", nil, []string{"yes", "no"}},
		"A71 nothing for files":                  {photo, "", []any{"asset:" + strings.Repeat("0a", 32)}, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := texts(offers(c.field, c.typed, c.recent, 25)); !slices.Equal(got, c.want) {
				t.Errorf("got %q", got)
			}
		})
	}
	t.Run("A71 no more than the platform takes", func(t *testing.T) {
		t.Parallel()
		if got := offers(sampler, "", nil, 2); len(got) != 2 {
			t.Errorf("got %v", got)
		}
	})
}
