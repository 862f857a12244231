package catalog_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/registry/registrytest"
)

func TestCompare(t *testing.T) {
	t.Parallel()
	photo := registry.InputField{Name: "photo", Type: registry.TypeImage, DisplayName: "Photo"}
	compare := func(change func(*registry.Tool)) catalog.Diff {
		before, after := mustDecode(t, registrytest.Complete), mustDecode(t, registrytest.Complete)
		change(&after)
		return catalog.Compare(catalog.NewSnapshot([]registry.Tool{before}, noon), catalog.NewSnapshot([]registry.Tool{after}, noon))
	}
	for name, c := range map[string]struct {
		change func(*registry.Tool)
		want   []string
	}{
		"nothing":                   {func(*registry.Tool) {}, nil},
		"A79 a field inside":        {func(x *registry.Tool) { x.InputSchema[1].Default = json.Number("512") }, []string{"fluxgeneral: inputSchema.width.default: 1024 -> 512"}},
		"A76 a new input":           {func(x *registry.Tool) { x.InputSchema = append(x.InputSchema, photo) }, []string{`fluxgeneral: inputSchema.photo added: {"name":"photo","type":"image","required":false,"displayName":"Photo"}`}},
		"A76 an input goes":         {func(x *registry.Tool) { x.InputSchema = x.InputSchema[:5] }, []string{`fluxgeneral: inputSchema.upscale removed, was {"name":"upscale","type":"boolean","required":false,"default":false}`}},
		"A79 price up":              {func(x *registry.Tool) { x.CostingModel.Rate = "0.0005" }, []string{"fluxgeneral: price up", "fluxgeneral: costingModel.rate: 0.000337 -> 0.0005"}},
		"A79 price down":            {func(x *registry.Tool) { x.CostingModel.Rate = "0.0001" }, []string{"fluxgeneral: price down", "fluxgeneral: costingModel.rate: 0.000337 -> 0.0001"}},
		"A79 price of another kind": {func(x *registry.Tool) { x.CostingModel.Unit = registry.UnitRequest }, []string{"fluxgeneral: price changed", `fluxgeneral: costingModel.unit: "second" -> "request"`}},
		"A80 only the status":       {func(x *registry.Tool) { x.Status.State = registry.StateActive }, []string{`fluxgeneral: status.state: "deprecated" -> "active"`}},
		"the order of inputs":       {func(x *registry.Tool) { slices.Reverse(x.InputSchema[4:]) }, []string{"fluxgeneral: inputSchema.(order): prompt, width, cfg, seed, sampler, upscale -> prompt, width, cfg, seed, upscale, sampler"}},
		"metadata":                  {func(x *registry.Tool) { x.Metadata["a"] = "y" }, []string{`fluxgeneral: metadata.a: "x" -> "y"`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := compare(c.change).Lines(); !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
	t.Run("in brief, a tool that changed is one line", func(t *testing.T) {
		t.Parallel()
		got := compare(func(x *registry.Tool) {
			x.CostingModel.Rate, x.DisplayName = "0.0005", "Other"
			x.InputSchema = append(x.InputSchema, photo)
		}).Brief()
		want := []string{"changed fluxgeneral: price up, displayName, inputSchema.photo, costingModel.rate"}
		if !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	})
	t.Run("A79 added and removed", func(t *testing.T) {
		t.Parallel()
		before := catalog.NewSnapshot([]registry.Tool{simple("a"), simple("b")}, noon)
		after := catalog.NewSnapshot([]registry.Tool{simple("b"), simple("c")}, noon)
		want := []string{"added c (Tool c)", "removed a (Tool a)"}
		if got := catalog.Compare(before, after).Lines(); !slices.Equal(got, want) {
			t.Errorf("got %q", got)
		}
		if got := catalog.Compare(nil, after); len(got.Added) != 2 {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("the catalogue's hash changes with it", func(t *testing.T) {
		t.Parallel()
		one, same := catalog.NewSnapshot([]registry.Tool{simple("a")}, noon), catalog.NewSnapshot([]registry.Tool{simple("a")}, noon)
		down := simple("a")
		down.Status = &registry.Status{State: registry.StateUnavailable, Reason: "x"}
		if one.Hash() != same.Hash() || one.Hash() == catalog.NewSnapshot([]registry.Tool{down}, noon).Hash() {
			t.Error("wrong")
		}
	})
}
