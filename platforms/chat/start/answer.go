package start

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// InputAnswered puts an answer into the draft it was asked for and goes on. The question stays open when
// the answer does not fit.
func InputAnswered(ctx context.Context, t *turn.Turn, p store.Prompt, d input.Draft) error {
	tool, ok := t.Tools.Resolve(d.ToolID)
	if !ok {
		return InVain(ctx, t, p, "tool.gone")
	}
	f, ok := tool.InputSchema.Get(p.State.Field)
	if !ok {
		_, err := Proceed(ctx, t, d) // the tool has changed meanwhile
		return err
	}
	if n, err := strconv.Atoi(strings.TrimSpace(t.In.Text)); err == nil && n > 0 && d.Choose(f.Name, n) {
		return continueDraft(ctx, t, p, d)
	}
	t.Working(ctx, chat.ActivityTyping)
	if hint, err := captionRead(ctx, t, &d, tool, f); hint != nil || err != nil {
		return HintOr(ctx, t, hint, err)
	}
	hint, err := AnswerValue(ctx, t, &d, tool, f)
	if hint != nil || err != nil {
		return HintOr(ctx, t, hint, err)
	}
	return continueDraft(ctx, t, p, d)
}

// InVain ends a question whose answer is of no use any more, and says why.
func InVain(ctx context.Context, t *turn.Turn, p store.Prompt, key string) error {
	if _, err := t.Services.Store.Prompts.Close(ctx, p.ID); err != nil {
		return err
	}
	return t.Tell(ctx, key)
}

// continueDraft goes on with a draft whose question was answered.
func continueDraft(ctx context.Context, t *turn.Turn, p store.Prompt, d input.Draft) error {
	if !p.State.Asked.IsZero() {
		if err := t.Out.EditButtons(ctx, p.State.Asked, nil); err != nil && !errors.Is(err, chat.ErrGone) {
			t.Services.Log.DebugContext(ctx, "the buttons of an answered question stay", "error", err)
		}
	}
	d.Answers = p.ID
	if _, err := Proceed(ctx, t, d); err != nil {
		return err
	}
	UnmarkAsked(ctx, t, p.State.Asked)
	_, err := t.Services.Store.Prompts.Close(ctx, p.ID)
	return err
}

// AnswerValue reads the answer: files for inputs that take files, text for others. A hint says what was
// wanted instead.
func AnswerValue(ctx context.Context, t *turn.Turn, d *input.Draft, tool *registry.Tool, f registry.InputField) (hint chat.Text, err error) {
	if f.Type.IsMedia() {
		return answerFiles(ctx, t, d, tool, f)
	}
	text := strings.TrimSpace(t.In.Text)
	if text == "" {
		return t.WrongKind(f), nil
	}
	value, bad := registry.ParseText(f, text)
	if bad != nil {
		return chat.Lines(t.WrongValue(f, bad), t.Say.Text("ask.again")), nil
	}
	d.Set(runs.FromAnswer, f.Name, value)
	return nil, nil
}

func answerFiles(ctx context.Context, t *turn.Turn, d *input.Draft, tool *registry.Tool, f registry.InputField) (hint chat.Text, err error) {
	files := t.In.Attachments
	if text := strings.TrimSpace(t.In.Text); len(files) == 0 && registry.IsMediaRef(text) && !input.NamesStored(f, text) {
		d.Set(runs.FromAnswer, f.Name, text)
		return nil, nil
	}
	only := registry.InputSchema{f}
	mine, rest := input.Assign(only, files, nil)
	if len(mine[f.Name]) == 0 {
		return t.WrongKind(f), nil
	}
	if err := takeFiles(ctx, t, d, runs.FromAnswer, f, mine[f.Name]); err != nil {
		return nil, err
	}
	if len(rest) > 0 {
		if err := assignFiles(ctx, t, d, runs.FromAnswer, tool, rest); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// captionRead reads the caption of files that were sent for an input like what follows a command: anyone who writes
// something under a picture means the whole request, as with the command in the caption. What is written as the
// answer itself is never taken apart. A hint says what the tool has no use for.
func captionRead(ctx context.Context, t *turn.Turn, d *input.Draft, tool *registry.Tool, f registry.InputField) (hint chat.Text, err error) {
	if !f.Type.IsMedia() || len(t.In.Attachments) == 0 {
		return nil, nil
	}
	if !tool.Hints().SupportsFileCaption {
		captionUnread(t, d, tool, t.In.Text)
	} else {
		hint, err = ReadText(ctx, t, d, tool, t.In.Text)
	}
	if hint == nil && err == nil {
		hint = leftOverFiles(t, d, tool, t.In.Attachments)
	}
	if hint != nil {
		hint = chat.Lines(hint, t.Say.Text("ask.again"))
	}
	return hint, err
}

// PressChoice answers a question by one of its buttons.
func PressChoice(ctx context.Context, t *turn.Turn, k store.Keyboard, n int) error {
	p, tool, err := openQuestion(ctx, t, k)
	if err != nil || tool == nil {
		return err
	}
	if n >= len(k.State.Values) {
		return t.Alert(ctx, "press.tooOld")
	}
	if err := t.Acknowledge(ctx); err != nil {
		return err
	}
	d := *p.State.Draft
	d.Set(runs.FromAnswer, p.State.Field, k.State.Values[n])
	return continueDraft(ctx, t, p, d)
}

// PressCancelPrompt ends a question.
func PressCancelPrompt(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	if err := t.Acknowledge(ctx); err != nil {
		return err
	}
	if _, err := t.Services.Store.Prompts.Close(ctx, k.State.Prompt); err != nil {
		return err
	}
	_, err := t.Change(ctx, t.In.Message, chat.Message{To: t.In.Chat.Place, Text: t.Say.Text("ask.canceled")})
	return err
}

// PressAnswer opens a dialog for the inputs that a question is about.
func PressAnswer(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	_, tool, err := openQuestion(ctx, t, k)
	if err != nil || tool == nil {
		return err
	}
	form := chat.Form{Title: tool.DisplayName, Data: k.Data("answer")}
	for _, name := range k.State.Fields {
		if f, ok := tool.InputSchema.Get(name); ok {
			form.Fields = append(form.Fields, t.Say.FormField(f, nil, true))
		}
	}
	return t.OpenForm(ctx, form)
}

// AnswerFilled takes the values of a form as the answer to a question.
func AnswerFilled(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	p, tool, err := openQuestion(ctx, t, k)
	if err != nil || tool == nil {
		return err
	}
	values, bad := FormValues(t, tool.InputSchema)
	if bad != nil {
		return t.Answer(ctx, bad.String(), true)
	}
	if err := t.Acknowledge(ctx); err != nil {
		return err
	}
	d := *p.State.Draft
	for name, value := range values {
		if value != nil {
			d.Set(runs.FromAnswer, name, value)
		}
	}
	return continueDraft(ctx, t, p, d)
}

// openQuestion gives the question that buttons belong to, and its tool; the tool is nil where the question is over,
// which the person was then told.
func openQuestion(ctx context.Context, t *turn.Turn, k store.Keyboard) (p store.Prompt, tool *registry.Tool, err error) {
	p, err = t.Services.Store.Prompts.Pending(ctx, t.In.Platform, t.In.Chat.Chat, t.Account.ID)
	if errors.Is(err, store.ErrNoPrompt) || err == nil && (p.ID != k.State.Prompt || p.State.Draft == nil) {
		return p, nil, t.Alert(ctx, "press.over")
	}
	if err != nil {
		return p, nil, err
	}
	tool, ok := t.Tools.Resolve(p.State.Draft.ToolID)
	if !ok {
		return p, nil, t.Alert(ctx, "tool.gone")
	}
	return p, tool, nil
}

// FormValues reads what was filled in; nil stands for a field left empty. What no form asks for, such as a file, is passed over: who names a stored
// one does not get it by that. bad says what is wrong with the first value that does not fit.
func FormValues(t *turn.Turn, schema registry.InputSchema) (values map[string]any, bad chat.Text) {
	values = map[string]any{}
	for _, f := range schema {
		text, ok := t.In.Options[f.Name].(string)
		if !ok || !input.IsTyped(f) {
			continue
		}
		if text = strings.TrimSpace(text); text == "" {
			values[f.Name] = nil
			continue
		}
		value, wrong := registry.ParseText(f, text)
		if wrong != nil {
			return nil, t.WrongValue(f, wrong)
		}
		values[f.Name] = value
	}
	return values, nil
}
