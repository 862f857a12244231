package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// toolCommand starts a tool with what came after its command, with files, and with what is replied to.
func (t *turn) toolCommand(ctx context.Context, tool *registry.Tool, typed string) error {
	if refused, err := t.refuse(ctx, tool); refused || err != nil {
		return err
	}
	t.anew = true
	d := t.newDraft(tool)
	if hint, err := t.read(ctx, &d, tool, typed); hint != nil || err != nil {
		return t.hintOr(ctx, hint, err)
	}
	hint, err := t.attached(ctx, &d, tool)
	if hint != nil || err != nil {
		return t.hintOr(ctx, hint, err)
	}
	if err := t.repliedTo(ctx, &d, tool); err != nil {
		return t.hintOr(ctx, nil, err)
	}
	return t.proceed(ctx, d)
}

// proceed takes a draft as far as it goes: to a question about what is missing, or to a run.
func (t *turn) proceed(ctx context.Context, d draft) error {
	values, err := t.withChatValues(ctx, d)
	if err != nil {
		return err
	}
	request := runs.Request{
		AccountID: t.account.ID, ToolID: d.Tool, Values: values, Parent: d.Parent, IdempotencyKey: d.Key,
		Origin: runs.Origin{Platform: t.in.platform}, Audience: t.audience(), Context: t.callContext(), Quote: t.in.Quote,
	}
	request.Approval = d.Approval
	bound, err := t.cfg.Runs.Bind(ctx, request)
	if err != nil {
		return t.notStarted(ctx, MessageRef{}, d, err)
	}
	if len(bound.Missing) > 0 {
		return t.ask(ctx, d, &bound.Tool, primaryFirst(&bound.Tool, bound.Missing))
	}
	if f, ok := unsaid(bound, d); ok {
		return t.ask(ctx, d, &bound.Tool, []registry.InputField{f})
	}
	quote, err := t.cfg.Runs.Quote(ctx, bound)
	var stale *runs.QuoteError
	if errors.As(err, &stale) {
		return t.notStarted(ctx, MessageRef{}, d, err)
	}
	if err != nil {
		t.log.WarnContext(ctx, "no quote for a run", "tool", d.Tool, "error", err)
	}
	return t.accept(ctx, d, bound, quote)
}

// unsaid gives the text that a tool is mainly fed with where a person sent neither words nor a file for it. The words that
// the tool has of its own go with a picture; alone they would spend money on what nobody asked for.
func unsaid(bound runs.Bound, d draft) (registry.InputField, bool) {
	if bound.Tool.Hints().PrimaryInput != "text" || d.Parent != "" || d.Approval != runs.ApproveNothing || len(d.Values[runs.FromAttachment])+len(d.Values[runs.FromReply]) > 0 {
		return registry.InputField{}, false
	}
	for _, f := range bound.Tool.InputSchema.Ordered() {
		if f.Type == registry.TypeString && len(f.Choices) == 0 && !f.Advanced {
			return f, f.Multiline && f.Default != nil && f.Default != "" && bound.Sources[f.Name] == runs.FromDefault
		}
	}
	return registry.InputField{}, false
}

// callContext says for whom and where a run is asked for, as far as the platform tells.
func (t *turn) callContext() registry.CallContext {
	return registry.CallContext{
		SessionID: t.conversation(), Region: cmp.Or(t.in.Region, registry.RegionOf(t.in.From.Language)), DeviceKind: t.in.DeviceKind, Shared: t.in.Chat.Kind != ChatPrivate,
	}
}

// conversation names the place where people speak, among those of all platforms.
func (t *turn) conversation() string {
	name := t.in.platform + ":" + t.in.Chat.Chat
	if t.in.Chat.Topic != "" {
		name += ":" + t.in.Chat.Topic
	}
	return name
}

// accept shows the status message and asks for the run. The message comes first, so that the run knows
// from its first moment where its state is shown.
func (t *turn) accept(ctx context.Context, d draft, bound runs.Bound, quote billing.Quote) error {
	buttons := t.keyboard(keyboardState{Tool: d.Tool})
	pending := runs.Run{Tool: bound.Tool, Status: firstStatus(bound, quote), Inputs: bound.Inputs, Sources: bound.Sources, Quote: quote}
	first := t.statusMessage(pending, buttons, d.Notes)
	first.To, first.ReplyTo = t.in.Chat.Place, d.Request
	status, err := t.postStatus(ctx, first)
	// Without it the run is as good: the result is a message of its own. Only who has to confirm needs its buttons.
	if errors.Is(err, ErrUncertain) && !bound.Asks(quote) && ctx.Err() == nil {
		t.log.WarnContext(ctx, "a run has no status message", "tool", d.Tool, "error", err)
		status, err = MessageRef{}, nil
	}
	if err != nil {
		return fmt.Errorf("show the status of a run: %w", err)
	}
	where := target{Chat: t.in.Chat, Request: d.Request, Status: status, Language: t.language(), Person: t.in.From.ExternalID, Notes: d.Notes}
	bound.Request.Origin.Target = where.encode()
	run, err := t.cfg.Runs.AcceptBound(ctx, bound)
	if err != nil && ctx.Err() != nil {
		return err // taken up again at the next start, with this status message
	}
	if err != nil {
		return t.notStarted(ctx, status, d, err)
	}
	t.led = true
	// Not before: a command that is refused leaves open what was asked.
	if t.anew {
		if err := t.giveUp(ctx); err != nil {
			t.log.WarnContext(ctx, "a question stays open", "error", err)
		}
	}
	if kept, err := targetOf(run); err == nil && kept.Status.ID != status.ID {
		// The request was accepted before, and its state is shown there.
		if status.IsZero() {
			return nil
		}
		return t.Delete(ctx, status)
	}
	buttons.state.Run = run.ID
	if err := t.keyboards.save(ctx, buttons); err != nil {
		t.log.WarnContext(ctx, "the buttons of a status message won't work", "run", run.ID, "error", err)
	}
	if err := t.uses.count(ctx, run.Tool.ToolID); err != nil {
		t.log.WarnContext(ctx, "the use of a tool was not counted", "error", err)
	}
	t.recents.used(t.in.From, run)
	t.warn(ctx, run)
	t.follow(ctx, run, where, buttons, first.Text.String())
	return nil
}

// postStatus posts a status message. One that was posted before a crash is used again, as it is: by now it may
// show the result.
func (t *turn) postStatus(ctx context.Context, m Message) (MessageRef, error) {
	if !t.in.answer.IsZero() {
		return t.in.answer, nil
	}
	ref, err := t.post(ctx, m)
	if err != nil {
		return ref, err
	}
	t.in.answer = ref
	return ref, t.inbox.answered(context.WithoutCancel(ctx), t.in, ref)
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

// primaryFirst puts the kind of input the tool is mainly fed with (A36) before others.
func primaryFirst(tool *registry.Tool, missing []registry.InputField) []registry.InputField {
	primary := tool.Hints().PrimaryInput
	isPrimary := func(f registry.InputField) bool {
		return string(f.Type) == primary || primary == "text" && f.Type == registry.TypeString
	}
	sorted := slices.Clone(missing)
	slices.SortStableFunc(sorted, func(a, b registry.InputField) int {
		switch {
		case isPrimary(a) == isPrimary(b):
			return 0
		case isPrimary(a):
			return -1
		}
		return 1
	})
	return sorted
}

func (t *turn) notes(notes []string) Text {
	return Plain(strings.Join(notes, "\n"))
}

// sign shows that the bot is at work, without making anybody wait for it.
func (t *turn) sign(ctx context.Context, what Activity) {
	t.wg.Go(func() {
		if err := t.Working(ctx, t.in.Chat.Place, what); err != nil {
			t.log.DebugContext(ctx, "no sign of work", "error", err)
		}
	})
}

// isForTool tells whether a message starts a tool. The bot's own commands are answered as quickly as a sign.
func (t *turn) isForTool() bool {
	if t.in.Kind != KindMessage || t.in.Command == "" {
		return false
	}
	_, ok := t.cfg.Tools.Snapshot().ByCommand(t.in.Command)
	return ok || strings.EqualFold(t.in.Command, "run")
}
