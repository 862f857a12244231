package show

import (
	"testing"

	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/runs"
)

// TestFollowUpsStandInRows shows what changes a drawing where it stands in one row, and its files in the next.
func TestFollowUpsStandInRows(t *testing.T) {
	t.Parallel()
	card := `{"title": "Poster", "actions": [
		{"label": "Undo", "tool": "draw", "inputs": {"text": "undo"}, "inPlace": true}, {"label": "Another one", "tool": "draw", "inputs": {"text": "again"}, "inPlace": true},
		{"label": "SVG", "tool": "draw", "inputs": {"text": "svg"}}, {"label": "PNG", "tool": "draw", "inputs": {"text": "png"}}, {"label": "PDF", "tool": "draw", "inputs": {"text": "pdf"}}]}`
	rows := followUpButtons(runs.Run{Outputs: []runs.Output{{Name: "next", Type: "text", Text: card}}}, store.Keyboard{})
	want := [][]string{{"Undo", "Another one"}, {"SVG", "PNG", "PDF"}}
	if len(rows) != len(want) {
		t.Fatalf("there are %d rows, want %d: %+v", len(rows), len(want), rows)
	}
	for i, row := range rows {
		for n, b := range row {
			if len(row) != len(want[i]) || b.Label != want[i][n] {
				t.Errorf("row %d is %+v, want %v", i, row, want[i])
			}
		}
	}
}
