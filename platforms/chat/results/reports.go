package results

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/moderation"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/show"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/runs"
)

// ReportCommand reports the result that it replies to, or was used on: for the reason that is given in words, else for one that is asked for.
func ReportCommand(ctx context.Context, t *turn.Turn) error {
	if t.In.ReplyTo == nil {
		return t.Tell(ctx, "report.how")
	}
	ref := t.In.ReplyTo.Ref
	ref.Chat = t.In.Chat.Chat
	runID, err := t.Services.Store.Deliveries.RunShownIn(ctx, t.In.Platform, ref)
	if err != nil {
		return err
	}
	if runID == "" {
		return t.Tell(ctx, "report.nothing")
	}
	if words := strings.TrimSpace(t.In.Text); words != "" {
		return report(ctx, t, runID, moderation.Other, words)
	}
	k := t.Keyboard(store.KeyboardState{Runs: []string{runID}})
	if err := t.Services.Store.Keyboards.Save(ctx, k); err != nil {
		return err
	}
	var reasons []chat.Button
	for i, reason := range moderation.Reasons {
		reasons = append(reasons, chat.Button{Label: t.Say.Line("report.reason." + string(reason)), Data: k.Data("rep" + strconv.Itoa(i))})
	}
	_, err = t.Reply(ctx, t.Say.Text("report.why"), show.RowsOf(reasons, 2)...)
	return err
}

// PressReason reports a result for the n-th reason.
func PressReason(ctx context.Context, t *turn.Turn, k store.Keyboard, n int) error {
	if n >= len(moderation.Reasons) || len(k.State.Runs) == 0 || t.Services.Moderation == nil {
		return t.Alert(ctx, "press.tooOld")
	}
	if err := t.Acknowledge(ctx); err != nil {
		return err
	}
	return report(ctx, t.Aside(), k.State.Runs[0], moderation.Reasons[n], "")
}

func report(ctx context.Context, t *turn.Turn, runID string, reason moderation.Reason, words string) error {
	err := t.Services.Moderation.Report(ctx, moderation.Report{RunID: runID, By: t.Account.ID, Where: placeOf(t), Reason: reason, Words: words})
	if errors.Is(err, runs.ErrNotFound) {
		return t.Tell(ctx, "report.nothing")
	}
	return toldOr(ctx, t, err, "report.thanks")
}

// toldOr tells why something is refused, or that it is done.
func toldOr(ctx context.Context, t *turn.Turn, err error, done string) error {
	if err != nil {
		return t.Refused(ctx, err)
	}
	return t.Tell(ctx, done)
}

// placeOf is the chat of a turn as reports name it.
func placeOf(t *turn.Turn) moderation.Place {
	return moderation.Place{Platform: t.In.Platform, Chat: t.In.Chat.Chat}
}

// ReportsCommand shows those who run a chat the first result that was reported in it.
func ReportsCommand(ctx context.Context, t *turn.Turn) error {
	cases, err := t.Services.Moderation.Cases(ctx, placeOf(t), 1)
	if err != nil {
		return err
	}
	if len(cases) == 0 {
		return t.Tell(ctx, "report.none")
	}
	c := cases[0]
	name := c.ToolID
	if tool, ok := t.Tools.Resolve(c.ToolID); ok {
		name = tool.DisplayName
	}
	var said []string
	for _, reason := range c.Reasons {
		said = append(said, t.Say.Line("report.reason."+reason))
	}
	text := t.Say.Text("report.case", "tool", name, "n", strconv.Itoa(c.Reports), "reasons", strings.Join(said, ", "))
	for _, words := range c.Words {
		text = chat.Lines(text, chat.Plain("• "+chat.Brief(words, wordsShown)))
	}
	k := t.Keyboard(store.KeyboardState{Runs: []string{c.RunID}})
	if err := t.Services.Store.Keyboards.Save(ctx, k); err != nil {
		return err
	}
	_, err = t.Reply(ctx, text, []chat.Button{
		{Label: t.Say.Line("button.removeHere"), Data: k.Data("repgone"), Style: chat.ButtonDanger},
		{Label: t.Say.Line("button.dismiss"), Data: k.Data("repfine")},
	})
	return err
}

// wordsShown is how much of what somebody says in a report is shown.
const wordsShown = 200

// PressRemoveHere takes a reported result out of the chat.
func PressRemoveHere(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	return decide(ctx, t, k, "report.removedHere", func(d moderation.Decision) error { return t.Services.Moderation.RemoveHere(ctx, d) })
}

// PressDismiss closes the reports of a result in the chat.
func PressDismiss(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	return decide(ctx, t, k, "report.dismissed", func(d moderation.Decision) error { return t.Services.Moderation.Dismiss(ctx, d) })
}

func decide(ctx context.Context, t *turn.Turn, k store.Keyboard, done string, do func(moderation.Decision) error) error {
	if t.Services.Moderation == nil || len(k.State.Runs) == 0 {
		return t.Alert(ctx, "press.tooOld")
	}
	if !t.RunsHere(ctx) {
		return t.Alert(ctx, "place.adminsOnly")
	}
	if err := t.Acknowledge(ctx); err != nil {
		return err
	}
	return toldOr(ctx, t.Aside(), do(moderation.Decision{RunID: k.State.Runs[0], By: t.Account.ID, Here: placeOf(t)}), done)
}

// AppealCommand objects to what counts against the person.
func AppealCommand(ctx context.Context, t *turn.Turn) error {
	return toldOr(ctx, t, t.Services.Moderation.Appeal(ctx, t.Account.ID, t.In.Text), "appeal.sent")
}

// hiddenHere reports whether a result was taken down, and so may not be shown in a chat that others read; who asks was told.
func hiddenHere(ctx context.Context, t *turn.Turn, run runs.Run) (bool, error) {
	if t.Services.Moderation == nil || t.In.Chat.Kind == chat.ChatPrivate {
		return false, nil
	}
	down, err := t.Services.Moderation.TakenDown(ctx, run.ID)
	if err != nil || !down {
		return false, err
	}
	return true, t.Aside().Tell(ctx, "report.hidden")
}
