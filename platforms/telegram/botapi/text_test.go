package botapi

import (
	"strings"
	"testing"
)

func TestTruncate(t *testing.T) {
	t.Parallel()
	family := "👨‍👩‍👧‍👦" // one character to a person, eleven UTF-16 units
	for name, test := range map[string]struct {
		text  string
		limit int
		want  string
	}{
		"what fits stays":                      {"short", 5, "short"},
		"what is cut ends in an ellipsis":      {"a word too many", 8, "a word…"},
		"no character is cut":                  {strings.Repeat(family, 3), 23, family + family + "…"},
		"one giant character is cut after all": {"e" + strings.Repeat("\u0301", 9), 4, "e\u0301\u0301…"},
		"nothing is nothing":                   {"", 5, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Truncate(test.text, test.limit); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func FuzzTruncate(f *testing.F) {
	f.Add("a b\n\nc 👍🏽", 3)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		if limit < 2 || limit > 5000 {
			t.Skip()
		}
		if n := utf16Len(Truncate(text, limit)); n > limit {
			t.Errorf("%d units, limit %d", n, limit)
		}
	})
}
