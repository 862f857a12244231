package edit_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/internal/edit"
)

func TestDifference(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ old, text, want string }{
		"words change":        {"a red bicycle", "a blue bicycle", "[{same a } {gone red } {new blue } {same bicycle}]"},
		"words are added":     {"a bicycle", "a bicycle, photograph", "[{same a } {gone bicycle} {new bicycle, photograph}]"},
		"the same":            {"a bicycle", "a bicycle", "[{same a bicycle}]"},
		"nothing was there":   {"", "a bicycle", "[{new a bicycle}]"},
		"a word is put in":    {"one two three", "one 2 two three", "[{same one } {new 2 } {same two three}]"},
		"signs without space": {"红色自行车", "蓝色自行车", "[{gone 红} {new 蓝} {same 色自行车}]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := fmt.Sprint(edit.Difference(c.old, c.text)); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[abc \n红]{0,30}`)
		old, now := text.Draw(t, "old"), text.Draw(t, "new")
		var was, is strings.Builder
		for _, p := range edit.Difference(old, now) {
			if p.Kind != edit.New {
				was.WriteString(p.Text)
			}
			if p.Kind != edit.Gone {
				is.WriteString(p.Text)
			}
		}
		if was.String() != old || is.String() != now {
			t.Fatalf("the pieces make %q and %q", was.String(), is.String())
		}
	})
}

func TestDifferenceOfLongTexts(t *testing.T) {
	t.Parallel()
	lines := func(n int, line string) string { return strings.Repeat(line+"\n", n) }
	long := lines(1500, "some words of it")
	t.Run("a change in a long text is told by its words", func(t *testing.T) {
		t.Parallel()
		if got := fmt.Sprint(edit.Brief(edit.Difference(long+"a red bicycle\n"+long, long+"a blue bicycle\n"+long), 500)); !strings.Contains(got, "{gone red } {new blue }") || len(got) > 300 {
			t.Errorf("it is %s", got)
		}
	})
	t.Run("changes far from each other are told by lines", func(t *testing.T) {
		t.Parallel()
		got := edit.Difference("first\n"+long+"last\n", "1st\n"+long+"last one\n")
		if len(got) != 5 || got[2].Text != long || got[3].Text != "last\n" || got[4].Text != "last one\n" {
			t.Errorf("it is %.300q", fmt.Sprint(got))
		}
	})
	t.Run("of a text that is new as a whole both beginnings are shown", func(t *testing.T) {
		t.Parallel()
		got := edit.Brief(edit.Difference(lines(5000, "old"), lines(5000, "new")), 90)
		if len(got) != 2 || !strings.HasPrefix(got[0].Text, "old\n") || !strings.HasPrefix(got[1].Text, "new\n") || len(got[0].Text)+len(got[1].Text) > 100 {
			t.Errorf("it is %q", got)
		}
	})
	t.Run("many changes are cut where the room ends", func(t *testing.T) {
		t.Parallel()
		var old, text strings.Builder
		for i := range 300 {
			fmt.Fprintf(&old, "same %d ", i)
			fmt.Fprintf(&text, "same %d! ", i)
		}
		got := edit.Brief(edit.Difference(old.String(), text.String()), 100)
		size := 0
		for _, p := range got {
			size += len(p.Text)
		}
		if size > 110 || !strings.HasSuffix(got[len(got)-1].Text, "…") {
			t.Errorf("%d characters, ending in %q", size, got[len(got)-1].Text)
		}
	})
}
