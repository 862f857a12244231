package runner

import (
	"testing"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/runs"
)

// TestAwkwardTexts guards against reading JSON through a type that takes backslashes for its own.
func TestAwkwardTexts(t *testing.T) {
	t.Parallel()
	for _, song := range []string{"two\nlines", `she said "la"`, `C:\new\x41 \\ end\`, "\u202eright to left \u00e9 🎵", "<b>&amp;</b>", "a\tb\r\n"} {
		h := newHouse(t, nil)
		h.start(t)
		r := sing(h.user(t, billing.Dollar))
		r.Values[runs.FromArgument]["song"] = song
		run := h.ends(t, h.accept(t, r).ID)
		if run.Status != runs.StatusSucceeded || run.Inputs["song"] != song {
			t.Errorf("%q came back as %q, %s", song, run.Inputs["song"], run.Status)
		}
	}
}
