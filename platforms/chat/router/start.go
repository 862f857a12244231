package router

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// toolCommand starts a tool with what came after its command, with files, and with what is replied to.
func toolCommand(ctx context.Context, t *turn, tool *registry.Tool, typed string) (outcome, error) {
	if refused, err := refuse(ctx, t, tool); refused || err != nil {
		return nothing, err
	}
	d := newDraft(t, tool)
	d.Anew = true
	if hint, err := readText(ctx, t, &d, tool, typed); hint != nil || err != nil {
		return nothing, hintOr(ctx, t, hint, err)
	}
	hint, err := attachFiles(ctx, t, &d, tool)
	if hint != nil || err != nil {
		return nothing, hintOr(ctx, t, hint, err)
	}
	if err := takeReply(ctx, t, &d, tool); err != nil {
		return nothing, hintOr(ctx, t, nil, err)
	}
	return proceed(ctx, t, d)
}

// proceed takes a draft as far as it goes: to a question about what is missing, or to a run.
func proceed(ctx context.Context, t *turn, d input.Draft) (outcome, error) {
	values, err := withChatValues(ctx, t, d)
	if err != nil {
		return nothing, err
	}
	request := runs.Request{
		AccountID: t.account.ID, ToolID: d.Tool, Values: values, Parent: d.Parent, IdempotencyKey: d.Key,
		Origin: runs.Origin{Platform: t.in.platform}, Audience: t.audience(), Context: callContext(t), Quote: t.in.Quote,
	}
	request.Approval = d.Approval
	bound, err := t.svc.Runs.Bind(ctx, request)
	if err != nil {
		return nothing, notStarted(ctx, t, chat.MessageRef{}, d, err)
	}
	if len(bound.Missing) > 0 {
		return askInput(ctx, t, d, &bound.Tool, input.PrimaryFirst(&bound.Tool, bound.Missing))
	}
	if f, ok := input.Unsaid(bound, d); ok {
		return askInput(ctx, t, d, &bound.Tool, []registry.InputField{f})
	}
	quote, err := t.svc.Runs.Quote(ctx, bound)
	var stale *runs.QuoteError
	if errors.As(err, &stale) {
		return nothing, notStarted(ctx, t, chat.MessageRef{}, d, err)
	}
	if err != nil {
		t.svc.Log.WarnContext(ctx, "no quote for a run", "tool", d.Tool, "error", err)
	}
	return acceptRun(ctx, t, d, bound, quote)
}

// callContext says for whom and where a run is asked for, as far as the platform tells.
func callContext(t *turn) registry.CallContext {
	return registry.CallContext{
		SessionID: conversation(t), Region: cmp.Or(t.in.Region, registry.RegionOf(t.in.From.Language)), DeviceKind: t.in.DeviceKind,
	}
}

// conversation names the place where people speak, among those of all platforms.
func conversation(t *turn) string {
	name := t.in.platform + ":" + t.in.Chat.Chat
	if t.in.Chat.Topic != "" {
		name += ":" + t.in.Chat.Topic
	}
	return name
}

// acceptRun shows the status message and asks for the run. The message comes first, so that the run knows
// from its first moment where its state is shown.
func acceptRun(ctx context.Context, t *turn, d input.Draft, bound runs.Bound, quote billing.Quote) (outcome, error) {
	buttons := t.keyboard(store.KeyboardState{Tool: d.Tool})
	pending := runs.Run{Tool: bound.Tool, Status: firstStatus(bound, quote), Inputs: bound.Inputs, Sources: bound.Sources, Quote: quote}
	first := t.say.StatusMessage(pending, buttons, d.Notes)
	first.To, first.ReplyTo = t.in.Chat.Place, d.Request
	status, err := postStatus(ctx, t, first)
	// Without it the run is as good: the result is a message of its own. Only who has to confirm needs its buttons.
	if errors.Is(err, chat.ErrUncertain) && !bound.Asks(quote) && ctx.Err() == nil {
		t.svc.Log.WarnContext(ctx, "a run has no status message", "tool", d.Tool, "error", err)
		status, err = chat.MessageRef{}, nil
	}
	if err != nil {
		return nothing, fmt.Errorf("show the status of a run: %w", err)
	}
	where := store.Target{Chat: t.in.Chat, Request: d.Request, Status: status, Language: t.language(), Person: t.in.From.ExternalID, Notes: d.Notes}
	bound.Request.Origin.Target = where.Encode()
	run, err := t.svc.Runs.AcceptBound(ctx, bound)
	if err != nil && ctx.Err() != nil {
		return nothing, err // taken up again at the next start, with this status message
	}
	if err != nil {
		return nothing, notStarted(ctx, t, status, d, err)
	}
	// Not before: a command that is refused leaves open what was asked.
	if d.Anew {
		if err := giveUpQuestion(ctx, t); err != nil {
			t.svc.Log.WarnContext(ctx, "a question stays open", "error", err)
		}
	}
	if kept, err := store.TargetOf(run); err == nil && kept.Status.ID != status.ID {
		// The request was accepted before, and its state is shown there.
		if status.IsZero() {
			return began, nil
		}
		return began, t.out.Delete(ctx, status)
	}
	buttons.State.Run = run.ID
	if err := t.svc.Store.Keyboards.Save(ctx, buttons); err != nil {
		t.svc.Log.WarnContext(ctx, "the buttons of a status message won't work", "run", run.ID, "error", err)
	}
	if err := t.svc.Store.Uses.Count(ctx, run.Tool.ToolID); err != nil {
		t.svc.Log.WarnContext(ctx, "the use of a tool was not counted", "error", err)
	}
	t.svc.Recents.Note(t.in.From, run)
	warnOfLimits(ctx, t, run)
	t.svc.Progress.Follow(ctx, run, where, buttons, first.Text.String())
	return began, nil
}

// postStatus posts a status message. One that was posted before a crash is used again, as it is: by now it may
// show the result.
func postStatus(ctx context.Context, t *turn, m chat.Message) (chat.MessageRef, error) {
	if !t.in.answer.IsZero() {
		return t.in.answer, nil
	}
	ref, err := t.post(ctx, m)
	if err != nil {
		return ref, err
	}
	t.in.answer = ref
	return ref, t.svc.Answered(context.WithoutCancel(ctx), t.in, ref)
}

// firstStatus is the state a run begins in.
func firstStatus(bound runs.Bound, quote billing.Quote) runs.Status {
	if bound.Asks(quote) {
		return runs.StatusAwaitingConfirmation
	}
	return runs.StatusQueued
}

// language is the language this person is answered in.
func (t *turn) language() string {
	if t.account.Language != "" {
		return t.account.Language
	}
	return t.in.From.Language
}

func (t *turn) notes(notes []string) chat.Text {
	return chat.Plain(strings.Join(notes, "\n"))
}

// sign shows that the bot is at work, without making anybody wait for it.
func (t *turn) sign(ctx context.Context, what chat.Activity) {
	t.svc.Go(func() {
		if err := t.out.Working(ctx, t.in.Chat.Place, what); err != nil {
			t.svc.Log.DebugContext(ctx, "no sign of work", "error", err)
		}
	})
}

// isForTool tells whether a message starts a tool. The bot's own commands are answered as quickly as a sign.
func (t *turn) isForTool() bool {
	if t.in.Kind != chat.KindMessage || t.in.Command == "" {
		return false
	}
	_, ok := t.tools.ByCommand(t.in.Command)
	return ok || strings.EqualFold(t.in.Command, "run")
}
