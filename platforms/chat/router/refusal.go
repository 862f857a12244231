package router

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// refuse tells why a tool can't be run now, if it can't.
func refuse(ctx context.Context, t *turn, tool *registry.Tool) (bool, error) {
	text, err := t.barred(ctx, tool)
	switch {
	case err != nil:
		return true, err
	case text != nil:
		text = chat.Lines(text, t.say.Text("nothing.charged"))
	case tool.Refusal(t.audience()) != nil:
		text = chat.Lines(t.unavailable(tool), t.say.Text("nothing.charged"), insteadOf(t, tool))
	default:
		return false, nil
	}
	t = t.Aside()
	_, err = t.reply(ctx, text)
	return true, err
}

// unavailable says that a tool can't be run now, and why.
func (t *turn) unavailable(tool *registry.Tool) chat.Text {
	text := t.say.Text("tool.unavailable", "tool", words.Capital(tool.DisplayName))
	if s := tool.Status; s != nil && s.Reason != "" {
		text = chat.Lines(text, chat.Plain(words.Told(t.say.Voice, "", s.Reason)))
	}
	return text
}

// insteadOf says what to do as long as a tool can't be run: use its replacement or one like it, or wait.
func insteadOf(t *turn, tool *registry.Tool) chat.Text {
	if tool.Status != nil {
		if next, ok := t.tools.ByID(tool.Status.Replacement); ok {
			return t.say.Text("tool.instead", "command", input.CommandOf(next))
		}
	}
	var similar []string
	words := strings.Join(append([]string{tool.DisplayName, tool.Category}, tool.IntentTags...), " ")
	for _, one := range t.tools.Candidates(words, tool.IntentTags, registry.SearchOptions{Audience: t.audience(), Limit: 3}) {
		similar = append(similar, input.CommandOf(one))
	}
	if len(similar) == 0 {
		return t.say.Text("tool.later")
	}
	return t.say.Text("tool.similar", "commands", strings.Join(similar, ", "))
}

// deprecation is what is to be noted with a tool that goes away, however it was started.
func (t *turn) deprecation(tool *registry.Tool) []string {
	if tool.Notice() == "" {
		return nil
	}
	text := t.say.Text("tool.deprecated", "tool", tool.DisplayName)
	if tool.Status.Reason != "" {
		text = chat.Lines(text, chat.Plain(words.Told(t.say.Voice, "", tool.Status.Reason)))
	}
	if next, ok := t.tools.ByID(tool.Status.Replacement); ok {
		text = chat.Lines(text, t.say.Text("tool.instead", "command", input.CommandOf(next)))
	}
	return []string{text.String()}
}

// hintOr tells a hint, or what is wrong with a file; other errors stay errors.
func hintOr(ctx context.Context, t *turn, hint chat.Text, err error) error {
	var large *tooLarge
	switch {
	case errors.As(err, &large):
		hint = t.say.Text("file.tooLarge", "limit", megabytes(large.limit))
	case errors.Is(err, chat.ErrGone):
		hint = t.say.Text("file.gone")
	case err != nil:
		return err
	}
	t = t.Aside()
	_, err = t.reply(ctx, hint)
	return err
}

func megabytes(n int64) string { return strconv.FormatInt(n>>20, 10) + " MB" }

// notStarted says why no run came of a draft: in place of the status message where there is one.
func notStarted(ctx context.Context, t *turn, status chat.MessageRef, d input.Draft, cause error) error {
	m, err := whyNotStarted(ctx, t, d, cause)
	if err != nil && status.IsZero() {
		return err
	}
	if err != nil {
		// One message per request, so the apology takes the place of the status message.
		code := errorCode()
		t.svc.Log.ErrorContext(ctx, "a run was not accepted", "code", code, "tool", d.Tool, "error", err)
		m.Text = chat.Lines(t.apology(code), t.say.Text("nothing.charged"))
	}
	t = t.Aside()
	if status.IsZero() {
		return t.respond(ctx, m)
	}
	if t.out.Caps.Ephemeral && t.only() != "" {
		return errors.Join(t.out.Delete(ctx, status), t.respond(ctx, m))
	}
	_, err = t.change(ctx, status, m)
	return err
}

// whyNotStarted puts into words why a run was not accepted. A cause that is no answer to the request is
// given back as the error.
func whyNotStarted(ctx context.Context, t *turn, d input.Draft, cause error) (chat.Message, error) {
	m := chat.Message{To: t.in.Chat.Place}
	var short billing.ErrInsufficient
	var bad *registry.Error
	var limit *runs.LimitError
	var quote *runs.QuoteError
	switch {
	case errors.As(cause, &quote):
		m.Text = chat.Lines(t.say.Text("start.quote", "n", int(runs.QuoteLife.Minutes())), t.say.Text("nothing.charged"))
	case errors.As(cause, &short):
		m.Text = insufficient(ctx, t, short, t.readByOthers())
	case errors.As(cause, &limit):
		m.Text = chat.Lines(chat.Plain(words.OverLimit(t.say.Voice, limit.LimitUse)), t.say.Text("nothing.charged"))
	case errors.Is(cause, runs.ErrUnknownTool):
		m.Text = t.say.Text("tool.gone")
	case errors.As(cause, &bad) && bad.Code != registry.CodeInternal:
		m.Text = refusedInput(ctx, t, d, bad)
	default:
		return m, cause
	}
	m.Text = chat.Join("\n\n", t.notes(d.Notes[d.Told:]), m.Text)
	return m, nil
}

// insufficient says what is missing, how to get more, and what is set aside for other runs: that may come back. What
// somebody has is nothing for others.
func insufficient(ctx context.Context, t *turn, short billing.ErrInsufficient, others bool) chat.Text {
	if others {
		return chat.Lines(t.say.Text("start.insufficientHere", "need", short.Need), t.say.Text("start.more"))
	}
	text := chat.Lines(t.say.Text("start.insufficient", "need", short.Need, "have", short.Have), t.say.Text("start.more"))
	balance, err := t.svc.Wallets.Balance(ctx, t.account.ID)
	if err != nil || balance.Held == 0 {
		return text
	}
	return chat.Lines(text, t.say.Text("start.held", "amount", balance.Held))
}

// refusedInput says what is wrong with a value, and how the tool is used.
func refusedInput(ctx context.Context, t *turn, d input.Draft, bad *registry.Error) chat.Text {
	text := chat.Plain(words.Told(t.say.Voice, bad.Code, bad.Message))
	tool, ok := t.tools.Resolve(d.Tool)
	if !ok || bad.Field == "" {
		return chat.Lines(text, t.say.Text("nothing.charged"))
	}
	if f, ok := tool.InputSchema.Get(bad.Field); ok {
		text = t.wrongValue(f, bad)
	}
	return chat.Lines(text, t.say.Text("nothing.charged"), t.say.Text("input.usage", "example", input.Usage(tool)))
}

// wrongValue says what is wrong with the value of an input. In groups it does not repeat what somebody
// wrote, which the registry's own words may do; and those are English.
func (t *turn) wrongValue(f registry.InputField, bad *registry.Error) chat.Text {
	if t.in.Chat.Kind != chat.ChatPrivate || t.say.Language() != i18n.Fallback {
		return t.wrongKind(f)
	}
	text := chat.Plain(words.Sentence(bad.Message))
	if !strings.Contains(bad.Message, f.Label()) {
		text = append(chat.Text{{Style: chat.StyleBold, Text: f.Label()}, {Text: ": "}}, text...)
	}
	return text
}
