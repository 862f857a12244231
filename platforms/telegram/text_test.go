package telegram

import (
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	t.Parallel()
	family := "👨‍👩‍👧‍👦" // one character to a person, eleven UTF-16 units
	t.Run("parts fit, lose nothing but white space, and never cut a character", func(t *testing.T) {
		t.Parallel()
		for name, text := range map[string]string{
			"words": strings.Repeat("some words here ", 900), "emoji": strings.Repeat(family, 1000),
			"one long word": strings.Repeat("x", 10000), "combining": strings.Repeat("e\u0301", 5000),
			"one giant cluster": "e" + strings.Repeat("\u0301", 9000), "short": "a", "empty": "",
		} {
			parts := Split(text, MaxText)
			joined := strings.Join(parts, "")
			for i, p := range parts {
				if n := UTF16Len(p); n > MaxText || n == 0 {
					t.Errorf("%s: part %d has %d units", name, i, n)
				}
				if name == "emoji" && len(p)%len(family) != 0 {
					t.Errorf("%s: part %d cuts a character", name, i)
				}
			}
			if strings.ReplaceAll(joined, " ", "") != strings.ReplaceAll(text, " ", "") {
				t.Errorf("%s: something was lost", name)
			}
		}
	})
	t.Run("cuts fall at the end of paragraphs, lines and words", func(t *testing.T) {
		t.Parallel()
		got := Split("first paragraph\n\nsecond one is longer", 25)
		if len(got) != 2 || got[0] != "first paragraph" {
			t.Errorf("%q", got)
		}
		if got := Split("alpha beta gamma", 12); len(got) != 2 || got[0] != "alpha beta" {
			t.Errorf("%q", got)
		}
	})
	t.Run("truncated text ends in an ellipsis within the limit", func(t *testing.T) {
		t.Parallel()
		if got := Truncate(strings.Repeat(family, 3), 23); got != family+family+"…" || UTF16Len(got) > 23 {
			t.Errorf("%q", got)
		}
		if got := Truncate("short", 5); got != "short" {
			t.Errorf("%q", got)
		}
	})
}

func FuzzSplit(f *testing.F) {
	f.Add("a b\n\nc 👍🏽", 3)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		if limit < 2 || limit > 5000 {
			t.Skip()
		}
		for _, p := range Split(text, limit) {
			if n := UTF16Len(p); n > limit {
				t.Errorf("a part of %d units, limit %d", n, limit)
			}
		}
	})
}
