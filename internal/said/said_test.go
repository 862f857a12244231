package said_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/said"
)

func TestText(t *testing.T) {
	t.Parallel()
	inner := said.EngineLacks.With("kind", said.Models, "names", "a {kind} b")
	text := said.UnavailableInstead.With("tool", "Painter", "reason", inner, "other", 7)
	const want = "Painter is unavailable: no engine has the models a {kind} b; use 7 instead"
	if text.String() != want {
		t.Errorf("%q, want %q", text, want)
	}
	raw, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	var back said.Text
	if err := json.Unmarshal(raw, &back); err != nil || back.String() != want || !back.Known() {
		t.Errorf("%s became %q, %v", raw, back, err)
	}
	if got := text.Map(strings.ToUpper).String(); got != "PAINTER is unavailable: no engine has the models A {KIND} B; use 7 instead" {
		t.Errorf("mapped to %q", got)
	}
	if text.String() != want {
		t.Errorf("Map changed the text itself: %q", text)
	}
	if words := (said.Text{Words: "somebody else's {x}"}); words.Known() || words.String() != "somebody else's {x}" {
		t.Errorf("%q", words)
	}
}

func TestFill(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "no place": "no place", "{a}": "1", "{a}{a} {b}": "11 {b}", "{": "{", "a}b": "a}b", "{a": "{a", "{a} {a": "1 {a",
	} {
		if got := said.Fill(text, func(name string) (string, bool) { return "1", name == "a" }); got != want {
			t.Errorf("%q filled is %q, want %q", text, got, want)
		}
	}
}
