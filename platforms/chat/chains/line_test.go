package chains

import (
	"slices"
	"testing"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// TestChainOf writes two runs down that were given the same words, one of several and one that is alike by its name only.
func TestChainOf(t *testing.T) {
	t.Parallel()
	schema := registry.InputSchema{{Name: "words", Type: registry.TypeString, Multiple: true}, {Name: "title", Type: registry.TypeString}, {Name: "image", Type: registry.TypeImage}}
	run := func(title string, image any, made registry.Media) runs.Run {
		return runs.Run{
			Tool: registry.Tool{ToolID: "collage", InputSchema: schema}, Outputs: []runs.Output{{Name: "picture", Media: made}},
			Inputs:  map[string]any{"words": []any{"red", "blue"}, "title": title, "image": image},
			Sources: map[string]runs.Source{"words": runs.FromArgument, "title": runs.FromArgument, "image": runs.FromReply},
		}
	}
	c := chainOf([]runs.Run{run("one", "asset:0", "asset:1"), run("two", "asset:1", "asset:2")})
	var names []string
	for _, e := range c.Exposed {
		names = append(names, e.Name)
	}
	slices.Sort(names)
	if want := []string{"image", "title", "title_2", "words", "words"}; !slices.Equal(names, want) {
		t.Errorf("the inputs are %v, want %v", names, want)
	}
}
