package show

import (
	"strings"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/runs"
)

// longestShown is how much of a value a summary shows, in runes.
const longestShown = 200

// summary is what somebody affirms before a run goes ahead: every value that would be used, and the personal data
// that would go out. The price stands below it.
func (v Voice) summary(run runs.Run) chat.Text {
	var said chat.Text
	if strings.Contains(run.Tool.Confirmation, " ") { // the tool's own question; other words are kinds of summaries
		said = chat.Plain(run.Tool.Confirmation)
	}
	for _, f := range run.Tool.InputSchema.Ordered() {
		value, bound := run.Inputs[f.Name]
		if !bound {
			continue
		}
		shown := chat.Brief(input.ShowValue(f, value), longestShown)
		if f.Type.IsMedia() {
			shown = string(f.Type)
		}
		said = chat.Lines(said, chat.Plain(f.Label()+": "+shown))
	}
	if personal := run.Summary().Personal; len(personal) > 0 {
		said = chat.Lines(said, v.Text("confirm.personal", "data", strings.Join(personal, ", ")))
	}
	return chat.Lines(said, v.Text("confirm.life", "n", int(runs.SummaryLife.Minutes())))
}
