package show

import (
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// StatusMessage shows where a run stands: tool, stage, place in the queue, percentage if one is known,
// price, and a button to cancel.
func (v Voice) StatusMessage(run runs.Run, k store.Keyboard, notes []string) chat.Message {
	run = v.Read(run)
	text := chat.Lines(
		chat.Text{{Style: chat.StyleBold, Text: run.Tool.DisplayName}},
		v.Stage(run),
		v.notice(run),
		v.Price(run.Tool, run.Quote),
		v.payer(run),
	)
	cancel := "button.cancel"
	if run.Quote.BillCanceled && run.Status == runs.StatusRunning {
		cancel = "button.cancelPaid"
	}
	buttons := []chat.Button{{Label: v.Line(cancel), Data: k.Data("stop")}}
	if run.Status == runs.StatusAwaitingConfirmation {
		confirm := chat.Button{Label: v.Line("button.confirm"), Data: k.Data("confirm"), Style: chat.ButtonPrimary}
		buttons = append([]chat.Button{confirm}, buttons...)
		text = chat.Lines(text, v.summary(run))
	}
	return chat.Message{Text: chat.Join("\n\n", chat.Plain(strings.Join(notes, "\n")), text), Buttons: [][]chat.Button{buttons}}
}

// Stage says where a run stands: its place in the queue, or how far it is.
func (v Voice) Stage(run runs.Run) chat.Text {
	switch {
	case run.Status == runs.StatusAwaitingConfirmation:
		return v.Text("status.confirm")
	case run.Status == runs.StatusQueued && run.QueuePosition > 0, run.Status == runs.StatusSubmitted && run.QueuePosition > 0:
		return v.Text("status.place", "n", run.QueuePosition)
	case run.Status == runs.StatusQueued:
		return v.Text("status.queued")
	case run.Status == runs.StatusSubmitted:
		return v.Text("status.submitted")
	}
	if run.Question != nil {
		return v.Text("status.asks")
	}
	text := v.Text("status.running")
	if run.Stage != "" {
		text = chat.Plain(chat.Brief(words.Stage(v.Voice, run.Stage), 80))
	}
	if run.Fraction != nil {
		text = append(text, chat.Segment{Text: " · " + percent(*run.Fraction)})
	}
	if rest := v.Rest(run.Rest(time.Now())); rest != "" {
		text = append(text, chat.Segment{Text: " · " + rest})
	}
	return text
}

// notice tells what became of the engine that a run was on, or is to go to.
func (v Voice) notice(run runs.Run) chat.Text {
	if run.Notice == runs.NoticeNone {
		return nil
	}
	return v.Text("status.notice." + string(run.Notice))
}

// percent rounds down: nothing is at 100 % before it is over.
func percent(fraction float64) string {
	return strconv.Itoa(int(100*min(max(fraction, 0), 1))) + " %"
}

// Price tells a quote for a tool, with how many a dollar buys where one is less than a cent, and what canceling costs where it does. One that says nothing, not even that it is free, gives no text.
func (v Voice) Price(tool registry.Tool, q billing.Quote) chat.Text {
	if q.BillCanceled {
		q.BillCanceled = false
		return chat.Lines(v.Price(tool, q), v.Text("price.canceled"))
	}
	switch {
	case q.Source == "":
		return nil
	case q.High == 0:
		return v.Text("price.free")
	}
	text := v.Text("price.exact", "price", v.Between(q.Low, q.High))
	if many := v.ForADollar(q.High, words.Makes(tool)); many != "" {
		text = append(text, chat.Segment{Text: " · " + many})
	}
	if !q.Exact() && q.Basis != "" && v.Language() == i18n.Fallback { // said in English
		text = append(text, chat.Segment{Text: " (" + q.Basis + ")"})
	}
	switch {
	case q.FeesUnknown:
		text = chat.Lines(text, v.Text("price.feesUnknown"))
	case q.Fees > 0:
		text = chat.Lines(text, v.Text("price.fees", "amount", v.Amount(q.Fees)))
	}
	if q.Share > 0 {
		text = chat.Lines(text, v.Text("price.share", "amount", v.Amount(q.Share)))
	}
	return text
}

// payer says who pays for a run in a group that has a wallet.
func (v Voice) payer(run runs.Run) chat.Text {
	if run.Quote.High == 0 {
		return nil
	}
	return v.Payer(run.Group, run.Payer)
}

// Payer says who pays for what is asked for in a group: its wallet, its party, or, where there is no payer, the member. Without a group there
// is nothing to say.
func (v Voice) Payer(group, payer string) chat.Text {
	switch {
	case group == "":
		return nil
	case payer == "":
		return v.Text("payer.member")
	case payer == group:
		return v.Text("payer.group")
	}
	return v.Text("payer.party")
}

// ActivityOf is the sign that fits what a tool makes.
func ActivityOf(tool registry.Tool) chat.Activity {
	if len(tool.OutputSchema) == 0 {
		return chat.ActivityTyping
	}
	switch tool.OutputSchema[0].Type {
	case "image":
		return chat.ActivityPhoto
	case "video":
		return chat.ActivityVideo
	case "audio":
		return chat.ActivityAudio
	case "file":
		return chat.ActivityDocument
	}
	return chat.ActivityTyping
}

// CostOf says in short what a run cost; Receipt has the exact figure.
func (v Voice) CostOf(run runs.Run) string {
	if run.Cost == 0 {
		return v.Line("cost.none")
	}
	return v.Amount(run.Cost)
}

// Paid is the receipt of a run that has a result, how one ended that has none, the price of one that is not over.
func (v Voice) Paid(run runs.Run, in chat.ChatKind) chat.Text {
	switch {
	case run.Status == runs.StatusSucceeded:
		return v.Receipt(run)
	case run.Status.Final():
		return v.ending(run, in)
	}
	return v.Price(run.Tool, run.Quote)
}
