package chat

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/runs"
)

// refuse tells why a tool can't be run now, if it can't.
func (t *turn) refuse(ctx context.Context, tool *registry.Tool) (bool, error) {
	text, err := t.barred(ctx, tool)
	switch {
	case err != nil:
		return true, err
	case text != nil:
		text = lines(text, t.say("nothing.charged"))
	case tool.Refusal(t.audience()) != nil:
		text = lines(t.unavailable(tool), t.say("nothing.charged"), t.insteadOf(tool))
	default:
		return false, nil
	}
	t.aside = true
	_, err = t.reply(ctx, text)
	return true, err
}

// unavailable says that a tool can't be run now, and why.
func (t *turn) unavailable(tool *registry.Tool) Text {
	text := t.say("tool.unavailable", "tool", capital(tool.DisplayName))
	if s := tool.Status; s != nil && s.Reason != "" {
		text = lines(text, Told(t.Voice, "", s.Text()))
	}
	return text
}

// Told says in a language the message of an error, or the reason why a tool can't be used. Words that are not the program's own
// are quoted, after what the code of the error says; an empty code says nothing. English readers are told the words as they are.
func Told(v i18n.Voice, code registry.Code, reason said.Text) Text {
	words, ours := v.Text(reason)
	if ours || v.Language() == i18n.Fallback {
		return Plain(sentence(words))
	}
	var text Text
	if key := "problem." + string(code); v.Has(key) {
		text = voice{v}.say(key)
	}
	if words != "" {
		text = lines(text, voice{v}.say("problem.words", "words", words))
	}
	return text
}

// insteadOf says what to do as long as a tool can't be run: use its replacement or one like it, or wait.
func (t *turn) insteadOf(tool *registry.Tool) Text {
	if tool.Status != nil {
		if next, ok := t.cfg.Tools.Snapshot().ByID(tool.Status.Replacement); ok {
			return t.say("tool.instead", "command", commandOf(next))
		}
	}
	var similar []string
	words := strings.Join(append([]string{tool.DisplayName, tool.Category}, tool.IntentTags...), " ")
	for _, one := range t.cfg.Tools.Snapshot().Candidates(words, tool.IntentTags, catalog.SearchOptions{Audience: t.audience(), Limit: 3}) {
		similar = append(similar, commandOf(one))
	}
	if len(similar) == 0 {
		return t.say("tool.later")
	}
	return t.say("tool.similar", "commands", strings.Join(similar, ", "))
}

// deprecation is what is to be noted with a tool that goes away, however it was started.
func (t *turn) deprecation(tool *registry.Tool) []string {
	if tool.Notice() == "" {
		return nil
	}
	text := t.say("tool.deprecated", "tool", tool.DisplayName)
	if tool.Status.Reason != "" {
		text = lines(text, Told(t.Voice, "", tool.Status.Text()))
	}
	if next, ok := t.cfg.Tools.Snapshot().ByID(tool.Status.Replacement); ok {
		text = lines(text, t.say("tool.instead", "command", commandOf(next)))
	}
	return []string{text.String()}
}

// hintOr tells a hint, or what is wrong with a file; other errors stay errors.
func (t *turn) hintOr(ctx context.Context, hint Text, err error) error {
	var large *tooLarge
	switch {
	case errors.As(err, &large):
		hint = t.say("file.tooLarge", "limit", megabytes(large.limit))
	case errors.Is(err, ErrGone):
		hint = t.say("file.gone")
	case err != nil:
		return err
	}
	t.aside = true
	_, err = t.reply(ctx, hint)
	return err
}

func megabytes(n int64) string { return strconv.FormatInt(n>>20, 10) + " MB" }

// notStarted says why no run came of a draft: in place of the status message where there is one.
func (t *turn) notStarted(ctx context.Context, status MessageRef, d draft, cause error) error {
	m, err := t.whyNotStarted(ctx, d, cause)
	if err != nil && status.IsZero() {
		return err
	}
	if err != nil {
		// One message per request, so the apology takes the place of the status message.
		code := errorCode()
		t.log.ErrorContext(ctx, "a run was not accepted", "code", code, "tool", d.Tool, "error", err)
		m.Text = lines(t.apology(code), t.say("nothing.charged"))
	}
	if t.aside = true; status.IsZero() {
		return t.respond(ctx, m)
	}
	if t.caps.Ephemeral && t.only() != "" {
		return errors.Join(t.Delete(ctx, status), t.respond(ctx, m))
	}
	_, err = t.change(ctx, status, m)
	return err
}

// whyNotStarted puts into words why a run was not accepted. A cause that is no answer to the request is
// given back as the error.
func (t *turn) whyNotStarted(ctx context.Context, d draft, cause error) (Message, error) {
	m := Message{To: t.in.Chat.Place}
	var short billing.ErrInsufficient
	var bad *registry.Error
	var limit *runs.LimitError
	var quote *runs.QuoteError
	switch {
	case errors.As(cause, &quote):
		m.Text = lines(t.say("start.quote", "n", int(runs.QuoteLife.Minutes())), t.say("nothing.charged"))
	case errors.As(cause, &short):
		m.Text = t.insufficient(ctx, short, t.readByOthers())
	case errors.As(cause, &limit):
		m.Text = lines(t.limitText("over", limit.LimitUse), t.say("nothing.charged"))
	case errors.Is(cause, runs.ErrUnknownTool):
		m.Text = t.say("tool.gone")
	case errors.As(cause, &bad) && bad.Code != registry.CodeInternal:
		m.Text = t.refusedInput(ctx, d, bad)
	default:
		return m, cause
	}
	m.Text = join("\n\n", t.notes(d.Notes[d.Told:]), m.Text)
	return m, nil
}

// insufficient says what is missing, how to get more, and what is set aside for other runs: that may come back. What
// somebody has is nothing for others.
func (t *turn) insufficient(ctx context.Context, short billing.ErrInsufficient, others bool) Text {
	if others {
		return lines(t.say("start.insufficientHere", "need", short.Need), t.say("start.more"))
	}
	text := lines(t.say("start.insufficient", "need", short.Need, "have", short.Have), t.say("start.more"))
	balance, err := t.cfg.Wallets.Balance(ctx, t.account.ID)
	if err != nil || balance.Held == 0 {
		return text
	}
	return lines(text, t.say("start.held", "amount", balance.Held))
}

// refusedInput says what is wrong with a value, and how the tool is used.
func (t *turn) refusedInput(ctx context.Context, d draft, bad *registry.Error) Text {
	text := Told(t.Voice, bad.Code, bad.Text())
	tool, ok := t.cfg.Tools.Snapshot().Resolve(d.Tool)
	if !ok || bad.Field == "" {
		return lines(text, t.say("nothing.charged"))
	}
	if f, ok := tool.InputSchema.Get(bad.Field); ok {
		text = t.wrongValue(f, bad)
	}
	return lines(text, t.say("nothing.charged"), t.say("input.usage", "example", usage(tool)))
}

// wrongValue says what is wrong with the value of an input. In groups it does not repeat what somebody
// wrote, which the registry's own words may do; and those are English.
func (t *turn) wrongValue(f registry.InputField, bad *registry.Error) Text {
	if t.in.Chat.Kind != ChatPrivate || t.Language() != i18n.Fallback {
		return t.wrongKind(f)
	}
	text := Plain(sentence(bad.Message))
	if !strings.Contains(bad.Message, f.Label()) {
		text = append(Text{{Style: StyleBold, Text: f.Label()}, {Text: ": "}}, text...)
	}
	return text
}

// sentence gives a message a capital letter and a full stop.
func sentence(s string) string {
	if s == "" {
		return s
	}
	s = capital(s)
	last, _ := utf8.DecodeLastRuneInString(s)
	switch {
	case strings.ContainsRune(".!?。！？", last):
		return s
	case unicode.Is(unicode.Han, last):
		return s + "。"
	}
	return s + "."
}

// capital makes the first letter a capital.
func capital(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return s
	}
	return string(unicode.ToUpper(first)) + s[size:]
}

// usage shows a command with its free text and up to three options.
func usage(tool *registry.Tool) string {
	parts := []string{commandOf(tool)}
	free, hasFree := freeInput(tool.InputSchema)
	if hasFree {
		parts = append(parts, "<"+strings.ToLower(free.Label())+">")
	}
	for _, f := range tool.InputSchema.Ordered() {
		if f.Type.IsMedia() || f.Advanced || hasFree && f.Name == free.Name || len(parts) > 4 {
			continue
		}
		if example := exampleOf(f); example != "" {
			parts = append(parts, optionName(f.Name)+"="+quoteIfNeeded(example))
		}
	}
	return strings.Join(parts, " ")
}

// Spell writes a tool's command with these options as somebody would type it: the free text first, files left out.
func Spell(tool *registry.Tool, options map[string]any) string {
	parts := []string{commandOf(tool)}
	free, hasFree := freeInput(tool.InputSchema)
	if text, given := options[free.Name]; hasFree && given {
		parts = append(parts, fmt.Sprint(text))
	}
	for _, f := range tool.InputSchema.Ordered() {
		if value, given := options[f.Name]; given && !f.Type.IsMedia() && (!hasFree || f.Name != free.Name) {
			parts = append(parts, optionName(f.Name)+"="+quoteIfNeeded(showValue(f, value)))
		}
	}
	return strings.Join(parts, " ")
}

func quoteIfNeeded(s string) string {
	if strings.ContainsAny(s, " \t\n\"'") || s == "" {
		return strconv.Quote(s)
	}
	return s
}
