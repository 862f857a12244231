package runs_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

func TestDataOfSeveralOutputs(t *testing.T) {
	t.Parallel()
	tool := registry.Tool{OutputSchema: registry.OutputSchema{
		{Name: "results", Type: "text", Schema: json.RawMessage(`{"type":"array"}`)}, {Name: "hint", Type: "text"},
	}}
	for text, want := range map[string]any{
		`[{"title":"Boards"}]`: []any{map[string]any{"title": "Boards"}},
		`{"no":"list"}`:        `{"no":"list"}`,
		`no JSON`:              `no JSON`,
	} {
		run := runs.Run{Tool: tool, Outputs: []runs.Output{{Name: "results", Type: "text", Text: text}, {Name: "hint", Type: "text", Text: "[1]"}}}
		got := run.DataOf(func(runs.Output) any { return nil })
		if expected := map[string][]any{"results": {want}, "hint": {"[1]"}}; !reflect.DeepEqual(got, expected) {
			t.Errorf("%s: got %v, expected %v", text, got, expected)
		}
	}
}
