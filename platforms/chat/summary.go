package chat

import (
	"strings"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

const (
	longestShown = 200 // runes of a value in a summary
	mostTouched  = 20  // titles of what a call would change
)

// summary is what somebody affirms before a run goes ahead: what the call would do, as far as its provider can tell, every value that
// would be used, and the personal data that would go out. The price stands below it.
func (v voice) summary(run runs.Run) Text {
	var said Text
	if strings.Contains(run.Tool.Confirmation, " ") { // the tool's own question; other words are kinds of summaries
		said = Plain(run.Tool.Confirmation)
	}
	if run.Preview != nil {
		said = lines(said, v.preview(*run.Preview))
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

// preview tells what a call would do: its provider's line and the titles of what would change.
func (v voice) preview(p registry.Preview) Text {
	said := Plain(brief(p.Message, longestShown))
	for _, touched := range p.Touches[:min(len(p.Touches), mostTouched)] {
		said = lines(said, Plain("• "+brief(touched.Label(), longestShown)))
	}
	if more := len(p.Touches) - mostTouched; more > 0 {
		said = lines(said, v.say("confirm.more", "n", more))
	}
	return said
}
