package registry_test

import (
	"encoding/json"
	"testing"

	"github.com/signalbox/signalbox/registry"
)

func TestDeparting(t *testing.T) {
	t.Parallel()
	denoise := registry.InputField{Name: "denoise", Type: registry.TypeNumber, Min: "0", Max: "1", Step: "0.01"}
	percent := registry.InputField{Name: "amount", Type: registry.TypeNumber, Integer: true, Min: "10", Max: "100"}
	for _, c := range []struct {
		field registry.InputField
		was   any
		how   registry.Distance
		want  string
	}{
		{denoise, nil, registry.AsFar, "0.5"}, {denoise, nil, registry.Weaker, "0.3"}, {denoise, nil, registry.Stronger, "0.7"},
		{denoise, json.Number("0.3"), registry.Weaker, "0.18"}, {denoise, json.Number("0.7"), registry.Stronger, "0.82"}, {denoise, json.Number("1"), registry.Stronger, "1"},
		{percent, json.Number("60"), registry.Weaker, "40"}, {percent, nil, registry.AsFar, "55"}, {registry.InputField{Type: registry.TypeNumber}, json.Number("8"), registry.AsFar, "8"},
	} {
		if got := c.field.Departing(c.was, c.how); string(got) != c.want {
			t.Errorf("%s from %v, %d: %s, want %s", c.field.Name, c.was, c.how, got, c.want)
		}
	}
}
