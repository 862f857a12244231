package chat

import (
	"strings"

	"github.com/signalbox/signalbox/runs"
)

// longestShown is how much of a value a summary shows, in runes.
const longestShown = 200

// summary is what somebody affirms before a run goes ahead: every value that would be used, and the personal data
// that would go out. The price stands below it.
func (v voice) summary(run runs.Run) Text {
	var said Text
	if strings.Contains(run.Tool.Confirmation, " ") { // the tool's own question; other words are kinds of summaries
		said = Plain(run.Tool.Confirmation)
	}
	for _, f := range run.Tool.InputSchema.Ordered() {
		value, bound := run.Inputs[f.Name]
		if !bound {
			continue
		}
		shown := brief(showValue(f, value), longestShown)
		if f.Type.IsMedia() {
			shown = string(f.Type)
		}
		said = lines(said, Plain(f.Label()+": "+shown))
	}
	if personal := run.Summary().Personal; len(personal) > 0 {
		said = lines(said, v.say("confirm.personal", "data", strings.Join(personal, ", ")))
	}
	return lines(said, v.say("confirm.life", "n", int(runs.SummaryLife.Minutes())))
}
