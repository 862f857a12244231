package show

import (
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/runs"
)

// Shareable offers the files of a person's run, to be sent to any chat, if its words contain these. What is for adults is not
// offered, since nobody knows who reads that chat.
func (d *Deliverer) Shareable(on *Platform, v Voice, run runs.Run, words string) []chat.InlineOffer {
	run = v.Read(run)
	prompt := PromptOf(run)
	said := strings.ToLower(run.Tool.DisplayName + " " + prompt)
	if input.IsAdult(&run.Tool) || !strings.Contains(said, strings.ToLower(strings.TrimSpace(words))) {
		return nil
	}
	var offers []chat.InlineOffer
	for i, o := range run.Outputs {
		if o.Media == "" || o.Deleted {
			continue
		}
		kind := kindOf(o.Type, o.MIMEType, run.Tool.Delivery[on.Platform()])
		offers = append(offers, chat.InlineOffer{
			ID: run.ID + "." + strconv.Itoa(i), Title: run.Tool.DisplayName, Description: chat.Brief(prompt, 100), URL: d.link(run, i),
			Message: chat.Message{Media: []chat.Media{d.file(on, run, i, kind)}},
		})
	}
	return offers
}
