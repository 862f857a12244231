package improve_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/agent/improve"
)

func TestDifference(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ old, text, want string }{
		"words change":        {"a red bicycle", "a blue bicycle", "[{same a } {gone red } {new blue } {same bicycle}]"},
		"words are added":     {"a bicycle", "a bicycle, photograph", "[{same a } {gone bicycle} {new bicycle, photograph}]"},
		"the same":            {"a bicycle", "a bicycle", "[{same a bicycle}]"},
		"nothing was there":   {"", "a bicycle", "[{new a bicycle}]"},
		"signs without space": {"红色自行车", "蓝色自行车", "[{gone 红} {new 蓝} {same 色自行车}]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := fmt.Sprint(improve.Difference(c.old, c.text)); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[abc \n红]{0,30}`)
		old, now := text.Draw(t, "old"), text.Draw(t, "new")
		var was, is strings.Builder
		for _, p := range improve.Difference(old, now) {
			if p.Kind != improve.New {
				was.WriteString(p.Text)
			}
			if p.Kind != improve.Gone {
				is.WriteString(p.Text)
			}
		}
		if was.String() != old || is.String() != now {
			t.Fatalf("the pieces make %q and %q", was.String(), is.String())
		}
	})
}

func TestStyles(t *testing.T) {
	t.Parallel()
	english := improve.Styles("en")
	for _, language := range []string{"de", "es", "ru", "zh"} {
		for i, s := range improve.Styles(language) {
			if s.Name == "" || s.Words == english[i].Words || s.ID != english[i].ID {
				t.Errorf("%s: %+v", language, s)
			}
		}
	}
	photo := english[0]
	if got := photo.Add("a bicycle. "); got != "a bicycle, "+photo.Words {
		t.Errorf("got %q", got)
	}
	if got := photo.Add(photo.Add("a bicycle")); got != photo.Add("a bicycle") {
		t.Errorf("twice in a style: %q", got)
	}
	if got := improve.Styles("fr")[0]; got != photo {
		t.Errorf("a language without texts: %+v", got)
	}
}
