package show

import (
	"fmt"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

func TestSummaryOfAPreview(t *testing.T) {
	t.Parallel()
	run := runs.Run{Preview: &registry.Preview{Message: "Delete 23 posts?"}}
	for i := range 23 {
		run.Preview.Touches = append(run.Preview.Touches, registry.Touch{Kind: "post", ID: fmt.Sprint(i), Title: fmt.Sprint("Post ", i)})
	}
	run.Preview.Touches[1].Title = ""
	t.Run("D96 a card says what would change before it does", func(t *testing.T) {
		t.Parallel()
		said := english(t).summary(run).String()
		if !strings.HasPrefix(said, "Delete 23 posts?\n• Post 0\n• post 1\n• Post 2\n") || !strings.Contains(said, "• Post 19\n… and 3 more\n") {
			t.Errorf("it says %q", said)
		}
	})
	t.Run("without a preview nothing is said of one", func(t *testing.T) {
		t.Parallel()
		if said := english(t).summary(runs.Run{}).String(); strings.Contains(said, "•") {
			t.Errorf("it says %q", said)
		}
	})
}
