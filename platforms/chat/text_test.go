package chat

import (
	"testing"
)

func TestFirstSentence(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"Paints a picture. Write one sentence.":       "Paints a picture.",
		"Takes pictures, e.g. photos, in v1.5. Then!": "Takes pictures, e.g. photos, in v1.5. Then!",
		"Makes\nwallpapers\n\nFor walls.":             "Makes wallpapers",
		"Really? Yes.":                                "Really?",
		"":                                            "",
	} {
		if got := FirstSentence(in); got != want {
			t.Errorf("%q begins with %q, want %q", in, got, want)
		}
	}
}

func TestInWords(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"Paints pictures, of what you say": "Paints pictures…",
		"Paints of what":                   "Paints of what",
		"Donaudampfschifffahrtsgesell":     "Donaudampfschifffa…",
	} {
		if got := InWords(in, 19); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

func TestShorten(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in    string
		limit int
		want  string
	}{
		{"short", 10, "short"},
		{"exactly10!", 10, "exactly10!"},
		{"one two three", 8, "one two…"},
		{"👍🏽👍🏽👍🏽", 9, "👍🏽👍🏽…"}, // four units each: never cut through one
		{"abc", 0, ""},
	} {
		if got := Shorten(c.in, c.limit); got != c.want || Length(got) > max(c.limit, 0) {
			t.Errorf("shorten(%q, %d) = %q, want %q", c.in, c.limit, got, c.want)
		}
	}
}

func TestTextCutKeepsStyles(t *testing.T) {
	t.Parallel()
	text := Text{{Text: "one "}, {Style: StyleBold, Text: "two three"}, {Text: " four"}}
	got := text.Cut(9)
	if got.String() != "one two…" || got[1].Style != StyleBold {
		t.Errorf("got %+v", got)
	}
	if whole := text.Cut(100); len(whole) != 3 {
		t.Errorf("a text that fits was changed: %+v", whole)
	}
}
