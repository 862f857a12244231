package show

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

func TestSayNeverReadsValuesAsMarkup(t *testing.T) {
	t.Parallel()
	got := english(t).Text("tools.title", "n", chat.Text{{Style: chat.StyleItalic, Text: "*many* {n}"}})
	want := chat.Text{{Style: chat.StyleBold, Text: "Tools"}, {Text: " ("}, {Style: chat.StyleItalic, Text: "*many* {n}"}, {Text: ")"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A group is not told a prompt again, but what happened it is told.
func TestFailuresInGroupsSayWhatHappened(t *testing.T) {
	t.Parallel()
	tool := registry.Tool{InputSchema: registry.InputSchema{{Name: "text", Type: registry.TypeString}}}
	for want, told := range map[string]said.Text{
		"There is nothing to undo": said.DrawNoUndo.With(),
		"":                         said.EngineFailsFor.With("node", "Text", "words", "can't undo"),
	} {
		run := runs.Run{Tool: tool, Status: runs.StatusFailed, Inputs: map[string]any{"text": "undo"}, Error: &runs.Failure{Code: "invalid_input", Message: told.String(), Said: &told}}
		if got := english(t).ending(run, chat.ChatGroup).String(); !strings.Contains(got, want) || want == "" && strings.Contains(got, "undo") {
			t.Errorf("a group reads %q, want %q", got, want)
		}
	}
}
