package show

import (
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

const (
	longestShown = 200 // runes of a value in a summary
	mostTouched  = 20  // titles of what a call would change
)

// summary is what somebody affirms before a run goes ahead: what the call would do, as far as its provider can tell, every value that
// would be used, and the personal data that would go out. The price stands below it.
func (v Voice) summary(run runs.Run) chat.Text {
	return chat.Lines(v.would(run), v.Text("confirm.life", "n", int(runs.SummaryLife.Minutes())))
}

// Proposal is one of several runs that somebody affirms together: its tool, what the call would do, and its price. One of several steps has
// them in place of its tool.
func (v Voice) Proposal(run runs.Run) chat.Text {
	if run.Preview != nil && len(run.Preview.Parts) > 0 {
		return chat.Join("\n\n", v.would(run), v.Text("asked.total", "price", v.Between(run.Quote.Low, run.Quote.High)))
	}
	return chat.Lines(chat.Text{{Style: chat.StyleBold, Text: v.Read(run).Tool.DisplayName}}, v.would(run), v.Price(run.Tool, run.Quote))
}

// would is what a call would do.
func (v Voice) would(run runs.Run) chat.Text {
	run = v.Read(run)
	var said chat.Text
	if strings.Contains(run.Tool.Confirmation, " ") { // the tool's own question; other words are kinds of summaries
		said = chat.Plain(run.Tool.Confirmation)
	}
	if run.Preview != nil && len(run.Preview.Parts) > 0 {
		return chat.Join("\n\n", said, v.steps(run.Preview.Parts))
	}
	if run.Preview != nil {
		said = chat.Lines(said, v.preview(*run.Preview))
	}
	if run.Preview != nil && len(run.Preview.Changes) > 0 {
		said = chat.Lines(said, v.changes(run.Tool, *run.Preview)) // in place of the inputs, of which some would change nothing
	} else {
		said = chat.Lines(said, given(run))
	}
	if personal := run.Summary().Personal; len(personal) > 0 {
		said = chat.Lines(said, v.Text("confirm.personal", "data", strings.Join(personal, ", ")))
	}
	return said
}

// given tells each value that would be used.
func given(run runs.Run) (said chat.Text) {
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
	return said
}

// preview tells what a call would do: its provider's line and the titles of what would change.
func (v Voice) preview(p registry.Preview) chat.Text {
	said := chat.Plain(chat.Brief(words.Asked(v.Voice, p), longestShown))
	for _, touched := range p.Touches[:min(len(p.Touches), mostTouched)] {
		said = chat.Lines(said, chat.Plain("• "+chat.Brief(touched.Label(), longestShown)))
	}
	if more := len(p.Touches) - mostTouched; more > 0 {
		said = chat.Lines(said, v.Text("confirm.more", "n", more))
	}
	return said
}

// steps tell the parts of a call, each with what it is given and its price.
func (v Voice) steps(parts []registry.Part) chat.Text {
	var said chat.Text
	for i, part := range parts {
		one := chat.Text{{Text: strconv.Itoa(i+1) + ". "}, {Style: chat.StyleBold, Text: part.Name}}
		for _, in := range part.Inputs {
			one = chat.Lines(one, chat.Plain(in.Label+": "+chat.Brief(words.PartValue(v.Voice, in), longestShown)))
		}
		said = chat.Join("\n\n", said, chat.Lines(one, chat.Plain(words.PartPrice(v.Voice, part))))
	}
	return said
}
