package show

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/edit"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/platforms/chat"
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
	t.Run("D96 in the reader's language", func(t *testing.T) {
		t.Parallel()
		run := runs.Run{Preview: &registry.Preview{Message: "Delete 5 posts?", Said: said.SiteDeletePosts.With("n", 5)}}
		c, err := i18n.Load()
		if err != nil {
			t.Fatal(err)
		}
		if said := (Voice{c.Voice("ru")}).summary(run).String(); !strings.HasPrefix(said, "Удалить 5 записей?") {
			t.Errorf("it says %q", said)
		}
	})
	t.Run("what would change stands in place of the inputs, with a link to how it would be", func(t *testing.T) {
		t.Parallel()
		run := runs.Run{
			Tool:   registry.Tool{InputSchema: registry.InputSchema{{Name: "slug", Type: registry.TypeString}, {Name: "content", Type: registry.TypeString, DisplayName: "Text"}}},
			Inputs: map[string]any{"slug": "mugs", "content": "{}"},
			Preview: &registry.Preview{
				Touches: []registry.Touch{{Kind: "post", ID: "7", Title: "Mugs"}}, Untold: 2, Link: "https://bot.example/site/preview/entry/7",
				Changes: []registry.Change{{Field: "content.body", Pieces: []edit.Piece{{Kind: edit.Same, Text: "… a "}, {Kind: edit.Gone, Text: "red "}, {Kind: edit.New, Text: "blue "}, {Kind: edit.Same, Text: "mug"}}}, {Field: "status", Pieces: []edit.Piece{{Kind: edit.Gone, Text: "draft"}, {Kind: edit.New, Text: "published"}}}},
			},
		}
		said := english(t).summary(run)
		if want := "• Mugs\nText › body: … a red blue mug\nstatus: draft published\n… and 2 more\nSee how it would look\n"; !strings.HasPrefix(said.String(), want) {
			t.Errorf("it says %q", said.String())
		}
		for style, want := range map[chat.Style]string{chat.StyleGone: "red", chat.StyleNew: "blue"} {
			if i := slices.IndexFunc(said, func(s chat.Segment) bool { return s.Style == style }); i < 0 || said[i].Text != want {
				t.Errorf("%s is not %s in %v", want, style, said)
			}
		}
		if last := slices.IndexFunc(said, func(s chat.Segment) bool { return s.Style == chat.StyleLink }); last < 0 || said[last].URL != run.Preview.Link {
			t.Errorf("no link in %v", said)
		}
	})
	t.Run("without a preview nothing is said of one", func(t *testing.T) {
		t.Parallel()
		if said := english(t).summary(runs.Run{}).String(); strings.Contains(said, "•") {
			t.Errorf("it says %q", said)
		}
	})
}
