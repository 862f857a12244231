package start

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/chat/show"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/runs"
)

// Refuse tells why a tool can't be run now, if it can't.
func Refuse(ctx context.Context, t *turn.Turn, tool *registry.Tool) (bool, error) {
	text, err := t.Barred(ctx, tool)
	switch {
	case err != nil:
		return true, err
	case text != nil:
		text = chat.Lines(text, t.Say.Text("nothing.charged"))
	case tool.Refusal(t.Audience()) != nil:
		text = chat.Lines(t.Unavailable(tool), t.Say.Text("nothing.charged"), insteadOf(t, tool))
	default:
		return false, nil
	}
	t = t.Aside()
	_, err = t.Reply(ctx, text)
	return true, err
}

// insteadOf says what to do as long as a tool can't be run: use its replacement or one like it, or wait.
func insteadOf(t *turn.Turn, tool *registry.Tool) chat.Text {
	if tool.Status != nil {
		if next, ok := t.Tools.ByID(tool.Status.Replacement); ok {
			return t.Say.Text("tool.instead", "command", input.CommandOf(next))
		}
	}
	var similar []string
	words := strings.Join(append([]string{tool.DisplayName, tool.Category}, tool.IntentTags...), " ")
	for _, one := range t.Tools.Candidates(words, tool.IntentTags, catalog.SearchOptions{People: true, Audience: t.Audience(), Limit: 3}) {
		similar = append(similar, input.CommandOf(one))
	}
	if len(similar) == 0 {
		return t.Say.Text("tool.later")
	}
	return t.Say.Text("tool.similar", "commands", strings.Join(similar, ", "))
}

// HintOr tells a hint, or what is wrong with a file; other errors stay errors.
func HintOr(ctx context.Context, t *turn.Turn, hint chat.Text, err error) error {
	if wrong := FileHint(t, err); wrong != nil {
		hint, err = wrong, nil
	}
	if err != nil {
		return err
	}
	t = t.Aside()
	_, err = t.Reply(ctx, hint)
	return err
}

// FileHint says what is wrong with a file that could not be kept; nil: it was something else.
func FileHint(t *turn.Turn, err error) chat.Text {
	var large *tooLarge
	switch {
	case errors.As(err, &large):
		return t.Say.Text("file.tooLarge", "limit", megabytes(large.limit))
	case errors.Is(err, chat.ErrGone):
		return t.Say.Text("file.gone")
	}
	return nil
}

func megabytes(n int64) string { return strconv.FormatInt(n>>20, 10) + " MB" }

// NotStarted says why a draft did not become a run: in place of the status message where there is one.
func NotStarted(ctx context.Context, t *turn.Turn, status chat.MessageRef, d input.Draft, cause error) error {
	m, err := whyNotStarted(ctx, t, d, cause)
	if err != nil && status.IsZero() {
		return err
	}
	if err != nil {
		// One message per request, so the apology takes the place of the status message.
		code := turn.ErrorCode()
		t.Services.Log.ErrorContext(ctx, "a run was not accepted", "code", code, "tool", d.ToolID, "error", err)
		m.Text = chat.Lines(t.Apology(code), t.Say.Text("nothing.charged"))
	}
	if !status.IsZero() && t.In.Chat.Inline != nil {
		_, err = t.Change(ctx, status, m)
		return err
	}
	t = t.Aside()
	if status.IsZero() {
		return t.Respond(ctx, m)
	}
	if t.Out.Caps.Ephemeral && t.Only() != "" {
		return errors.Join(t.Out.Delete(ctx, status), t.Respond(ctx, m))
	}
	_, err = t.Change(ctx, status, m)
	return err
}

// whyNotStarted puts into words why a run was not accepted. A cause that is no answer to the request is
// given back as the error.
func whyNotStarted(ctx context.Context, t *turn.Turn, d input.Draft, cause error) (chat.Message, error) {
	m := chat.Message{To: t.In.Chat.Place}
	var bad *registry.Error
	var quote *runs.QuoteError
	m.Text = NoRoom(ctx, t, cause)
	switch {
	case m.Text != nil:
	case errors.As(cause, &quote):
		m.Text = chat.Lines(t.Say.Text("start.quote", "n", int(runs.QuoteLife.Minutes())), t.Say.Text("nothing.charged"))
	case errors.Is(cause, runs.ErrUnknownTool):
		m.Text = t.Say.Text("tool.gone")
	case errors.As(cause, &bad) && bad.Code != registry.CodeInternal:
		m.Text = refusedInput(ctx, t, d, bad)
	default:
		return m, cause
	}
	m.Text = chat.Join("\n\n", chat.Plain(strings.Join(d.Notes[d.Told:], "\n")), m.Text)
	return m, nil
}

// NoRoom says that there is too little credit, or which limit is in the way; nil: it was something else.
func NoRoom(ctx context.Context, t *turn.Turn, cause error) chat.Text {
	var short billing.ErrInsufficient
	var limit *runs.LimitError
	switch {
	case errors.As(cause, &short):
		return Insufficient(ctx, t, short, t.ReadByOthers())
	case errors.As(cause, &limit):
		return chat.Lines(t.Say.Text(words.OverKey(limit.LimitUse)), show.Styled(words.Limit(t.Say.Voice, limit.LimitUse)), t.Say.Text("nothing.charged"))
	}
	return nil
}

// Insufficient says what is missing, how to get more, and what is set aside for other runs: that may come back. What
// somebody has is nothing for others.
func Insufficient(ctx context.Context, t *turn.Turn, short billing.ErrInsufficient, others bool) chat.Text {
	if others {
		return chat.Lines(t.Say.Text("start.insufficientHere", "need", t.Say.AtMost(short.Need)), t.Say.Text("start.more"))
	}
	if short.Owed > 0 {
		return t.Say.Text("pay.owed", "amount", short.Owed)
	}
	need, have := t.Say.Apart(short.Need, short.Have)
	text := chat.Lines(t.Say.Text("start.insufficient", "need", need, "have", have), t.Say.Text("start.more"))
	balance, err := t.Services.Wallets.Balance(ctx, t.Account.ID)
	if err != nil || balance.Held == 0 {
		return text
	}
	return chat.Lines(text, t.Say.Text("start.held", "amount", balance.Held))
}

// refusedInput says what is wrong with a value, and how the tool is used.
func refusedInput(ctx context.Context, t *turn.Turn, d input.Draft, bad *registry.Error) chat.Text {
	text := chat.Plain(words.Told(t.Say.Voice, bad.Code, bad.Text()))
	tool, ok := t.Tools.Resolve(d.ToolID)
	if !ok || bad.Field == "" {
		return chat.Lines(text, t.Say.Text("nothing.charged"))
	}
	if f, ok := tool.InputSchema.Get(bad.Field); ok {
		text = t.WrongValue(f, bad)
	}
	return chat.Lines(text, t.Say.Text("nothing.charged"), t.Say.Text("input.usage", "example", input.Usage(tool)))
}

// What somebody sent and a tool has no use for was meant to change the result. So such a request does not run: it would cost
// something and give something else. The answer says what did not fit and what would.

// unknownOption answers an option that the tool does not have.
func unknownOption(t *turn.Turn, tool *registry.Tool, e *input.UnknownOption) chat.Text {
	text := t.Say.Text("option.unknown", "tool", tool.DisplayName, "option", e.Name)
	if f, ok := input.FieldNamed(tool.InputSchema, e.Nearest); ok {
		text = chat.Lines(text, t.Say.Text("option.near", "nearest", input.OptionName(f.Name), "example", input.OptionExample(f)))
	}
	return chat.Lines(text, optionList(t, tool))
}

// leftOverText answers text that no input takes. In groups it does not repeat it.
func leftOverText(t *turn.Turn, tool *registry.Tool, left string) chat.Text {
	text := t.Say.Text("left.textHere", "tool", tool.DisplayName)
	if t.In.Chat.Kind == chat.ChatPrivate {
		text = t.Say.Text("left.text", "tool", tool.DisplayName, "text", chat.Brief(left, 60))
	}
	if free, ok := input.FreeInput(tool.InputSchema); ok { // so it has a value already
		return t.Say.Text("left.given", "input", free.Label())
	}
	for word := range strings.FieldsSeq(left) {
		name := input.MistakenFor(tool.InputSchema, word)
		if f, ok := input.FieldNamed(tool.InputSchema, chat.FirstNonEmpty(name, word)); ok {
			text = chat.Lines(text, t.Say.Text("option.near", "nearest", input.OptionName(f.Name), "example", input.OptionExample(f)))
			break
		}
	}
	if len(t.In.Attachments) == 0 {
		text = chat.Lines(text, takesFiles(t, tool))
	}
	return chat.Lines(text, optionList(t, tool))
}

// takesFiles says which files a tool takes; nil: none.
func takesFiles(t *turn.Turn, tool *registry.Tool) (text chat.Text) {
	for _, f := range tool.InputSchema.Ordered() {
		if f.Type.IsMedia() {
			text = chat.Lines(text, t.Say.Text("left.takes", "input", f.Label(), "want", words.Fitting(t.Say.Voice, f)))
		}
	}
	return text
}

// leftOverFiles answers files, as of an album, of which not all have an input that takes them; nil when they have.
func leftOverFiles(t *turn.Turn, d *input.Draft, tool *registry.Tool, files []chat.Attachment) chat.Text {
	_, rest := input.Assign(tool.InputSchema, files, d.Has)
	if len(rest) == 0 {
		return nil
	}
	takes := takesFiles(t, tool)
	if takes == nil {
		takes = t.Say.Text("left.noFiles")
	}
	taken := len(files) - len(rest)
	if taken == 0 {
		return chat.Lines(t.Say.Text("left.none", "tool", tool.DisplayName), takes)
	}
	text := chat.Lines(t.Say.Text("left.files", "tool", tool.DisplayName, "most", taken, "all", len(files)), takes)
	if taken == 1 && t.Services.Missions != nil && tool.CommandName != "" {
		text = chat.Lines(text, t.Say.Text("left.each", "command", "/batch "+strings.TrimPrefix(tool.CommandName, "/")))
	}
	return text
}

// optionList shows the options that can be typed for a tool, each as it is written.
func optionList(t *turn.Turn, tool *registry.Tool) chat.Text {
	var options []string
	for _, f := range tool.InputSchema.Ordered() {
		if !f.Type.IsMedia() {
			options = append(options, input.OptionExample(f))
		}
	}
	if len(options) == 0 {
		return t.Say.Text("option.none", "tool", tool.DisplayName, "command", input.CommandOf(tool))
	}
	if len(options) > optionsShown {
		options = append(options[:optionsShown], "…")
	}
	return t.Say.Text("option.list", "options", strings.Join(options, ", "))
}

// optionsShown is how many options an answer lists; all of them stand in the tool's help and settings.
const optionsShown = 16
