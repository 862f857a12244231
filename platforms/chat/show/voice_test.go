package show

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/platforms/chat"
)

func TestSayNeverReadsValuesAsMarkup(t *testing.T) {
	t.Parallel()
	got := english(t).Text("tools.title", "n", chat.Text{{Style: chat.StyleItalic, Text: "*many* {n}"}})
	want := chat.Text{{Style: chat.StyleBold, Text: "Tools"}, {Text: " ("}, {Style: chat.StyleItalic, Text: "*many* {n}"}, {Text: ")"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
