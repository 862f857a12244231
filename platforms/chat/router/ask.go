package router

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// askInput asks for the first of a draft's missing inputs and keeps the draft until the answer comes.
func askInput(ctx context.Context, t *turn, d input.Draft, tool *registry.Tool, missing []registry.InputField) (outcome, error) {
	f := missing[0]
	notes := t.notes(d.Notes[d.Told:])
	d.Told = len(d.Notes)
	p := store.Prompt{
		ID: store.NewID(), Platform: t.in.platform, Chat: t.in.Chat.Chat, AccountID: t.account.ID,
		State: store.PromptState{Field: f.Name, Draft: &d},
	}
	buttons := t.keyboard(store.KeyboardState{Prompt: p.ID, Tool: d.Tool, Values: t.out.ShownChoices(f), Fields: t.out.TypedTogether(missing)})
	m := t.answering(chat.Join("\n\n", notes, questionText(t, tool, f)))
	askFor(t, &m, f, buttons)
	if len(m.Buttons) > 0 || len(m.Menus) > 0 {
		if err := t.svc.Store.Keyboards.Save(ctx, buttons); err != nil {
			return nothing, err
		}
	}
	p.State.Buttons = len(m.Buttons) > 0 || len(m.Menus) > 0
	if err := replaceQuestion(ctx, t, d.Answers); err != nil {
		return nothing, err
	}
	// Open before it is asked: buttons can be pressed faster than we write.
	if err := t.svc.Store.Prompts.Open(ctx, p, t.svc.AnswerWait); err != nil {
		return nothing, err
	}
	asked, err := t.post(ctx, m)
	if err != nil {
		return nothing, fmt.Errorf("ask for %s: %w", f.Name, err)
	}
	p.MessageID, p.State.Asked = asked.ID, asked
	markAsked(ctx, t, asked)
	return began, t.svc.Store.Prompts.Asked(ctx, p)
}

// markAsked remembers a question in a group, where people choose which one they answer by replying to it.
func markAsked(ctx context.Context, t *turn, asked chat.MessageRef) {
	if t.in.Chat.Kind == chat.ChatPrivate || asked.IsZero() {
		return
	}
	if err := t.svc.Store.Marks.Set(ctx, store.MarkAsked, t.in.platform, t.in.Chat.Chat, asked.ID, t.account.ID, nil); err != nil {
		t.svc.Log.WarnContext(ctx, "who answers a question too late is not told", "error", err)
	}
}

// unmarkAsked forgets a question that was answered: what is said to it afterwards is no answer.
func unmarkAsked(ctx context.Context, t *turn, asked chat.MessageRef) {
	if t.in.Chat.Kind == chat.ChatPrivate || asked.IsZero() {
		return
	}
	if err := t.svc.Store.Marks.Clear(ctx, t.in.platform, t.in.Chat.Chat, asked.ID); err != nil {
		t.svc.Log.WarnContext(ctx, "an answered question looks like one that is over", "error", err)
	}
}

// replaceQuestion shows that the question before is over, because another takes its place; answered is the id of one that
// was answered.
func replaceQuestion(ctx context.Context, t *turn, answered string) error {
	p, _, err := t.svc.Store.Prompts.Last(ctx, t.in.platform, t.in.Chat.Chat, t.account.ID)
	if errors.Is(err, store.ErrNoPrompt) || err == nil && p.ID == answered {
		return nil
	}
	if err == nil {
		showOver(ctx, t, p)
	}
	return err
}

// giveUpQuestion ends what a person was asked before, since what they began instead is under way.
func giveUpQuestion(ctx context.Context, t *turn) error {
	p, _, err := t.svc.Store.Prompts.Last(ctx, t.in.platform, t.in.Chat.Chat, t.account.ID)
	if errors.Is(err, store.ErrNoPrompt) {
		return nil
	}
	if err == nil {
		_, err = t.svc.Store.Prompts.Close(ctx, p.ID)
	}
	if err == nil {
		showOver(ctx, t, p)
	}
	return err
}

// showOver shows in place of a question that it waits for no answer any more. Nobody waits for that. A question without
// buttons stays as it is: where it opened the reply field it can't be changed, and who replies to it is told.
func showOver(ctx context.Context, t *turn, p store.Prompt) {
	over := t.out.Fit(chat.Message{To: p.State.Asked.Place, Text: t.say.Text("ask.over")})
	show := func() error {
		_, err := t.out.Edit(ctx, p.State.Asked, over)
		return err
	}
	switch {
	case p.State.Asked.IsZero():
		return
	case p.State.View != nil:
		show = func() error { return t.out.Delete(ctx, p.State.Asked) }
	case !p.State.Buttons || !t.out.Caps.Edit:
		return
	}
	t.svc.Go(func() {
		if err := show(); err != nil {
			t.svc.Log.DebugContext(ctx, "a question that is over looks as if it were open", "error", err)
		}
	})
}

// askFor adds choices and Cancel to a question, or opens the reply field where the answer must be a reply:
// in groups, where bots may see nothing else. There /cancel takes the place of the button on platforms
// that can't show both.
func askFor(t *turn, m *chat.Message, f registry.InputField, buttons store.Keyboard) {
	t.offer(m, buttons, "c", "menu.value", t.out.ChoiceOptions(t.say, f))
	if len(buttons.State.Fields) > 0 {
		m.Buttons = append(m.Buttons, []chat.Button{{Label: t.say.Line("button.answer"), Data: buttons.Data("form"), Style: chat.ButtonPrimary}})
	}
	answerable := len(m.Buttons) > 0 || len(m.Menus) > 0 // without a message of one's own
	if t.in.Chat.Kind != chat.ChatPrivate {
		m.ReplyTo = t.in.Message
		if t.in.Press != nil {
			m.ReplyTo = chat.MessageRef{}
		}
		if answerable {
			m.OnlyFor = t.in.From.ExternalID
		}
		if t.out.Caps.ForceReply && !answerable {
			m.Ask = &chat.Ask{Placeholder: chat.Brief(f.Label(), 64), Person: t.in.From.ExternalID}
		}
	}
	if m.Ask != nil && !t.out.Caps.AskButtons {
		m.Text = chat.Lines(m.Text, t.say.Text("ask.cancelCommand"))
		return
	}
	cancel := chat.Button{Label: t.say.Line("button.cancel"), Data: buttons.Data("no")}
	if n := len(m.Buttons); n > 0 && len(buttons.State.Fields) > 0 {
		m.Buttons[n-1] = append(m.Buttons[n-1], cancel)
		return
	}
	m.Buttons = append(m.Buttons, []chat.Button{cancel})
}

// questionText asks for an input: what it is, what is allowed, an example.
func questionText(t *turn, tool *registry.Tool, f registry.InputField) chat.Text {
	text := t.say.Text("ask.input", "tool", tool.DisplayName, "input", f.Label())
	if f.Description != "" {
		text = chat.Lines(text, chat.Plain(chat.Brief(f.Description, 300)))
	}
	text = chat.Lines(text, chat.Plain(words.Wanted(t.say.Voice, f)))
	if example := input.ExampleOf(f); example != "" && len(f.Choices) == 0 && f.Type != registry.TypeBoolean {
		text = chat.Lines(text, t.say.Text("ask.example", "example", chat.Brief(example, 200)))
	}
	return text
}

// answerPrompt takes a message as the answer to an open question, if it is one.
func answerPrompt(ctx context.Context, t *turn) (bool, error) {
	p, err := t.svc.Store.Prompts.Pending(ctx, t.in.platform, t.in.Chat.Chat, t.account.ID)
	open := err == nil
	if err != nil && !errors.Is(err, store.ErrNoPrompt) {
		return false, err
	}
	if t.in.Chat.Kind != chat.ChatPrivate && (!open || t.in.ReplyTo == nil || t.in.ReplyTo.Ref.ID != p.MessageID) {
		return answeredLate(ctx, t)
	}
	if !open {
		return false, nil
	}
	if p.State.View != nil {
		return true, settingAnswered(ctx, t, p)
	}
	if p.State.Draft == nil {
		return false, nil
	}
	return true, inputAnswered(ctx, t, p, *p.State.Draft)
}

// answeredLate tells who replies in a group to what they were asked before that the question is over. What is said
// otherwise is not said to us.
func answeredLate(ctx context.Context, t *turn) (bool, error) {
	if t.in.ReplyTo == nil || !t.in.ReplyTo.Own {
		return false, nil
	}
	whom, _, err := t.svc.Store.Marks.Of(ctx, store.MarkAsked, t.in.platform, t.in.Chat.Chat, t.in.ReplyTo.Ref.ID)
	if err != nil || whom != t.account.ID {
		return false, err
	}
	t = t.Aside()
	return true, t.tell(ctx, "ask.over")
}

// inputAnswered puts an answer into the draft it was asked for and goes on. The question stays open when
// the answer does not fit.
func inputAnswered(ctx context.Context, t *turn, p store.Prompt, d input.Draft) error {
	tool, ok := t.tools.Resolve(d.Tool)
	if !ok {
		return inVain(ctx, t, p, "tool.gone")
	}
	f, ok := tool.InputSchema.Get(p.State.Field)
	if !ok {
		_, err := proceed(ctx, t, d) // the tool has changed meanwhile
		return err
	}
	t.sign(ctx, chat.ActivityTyping)
	if hint, err := captionRead(ctx, t, &d, tool, f); hint != nil || err != nil {
		return hintOr(ctx, t, hint, err)
	}
	hint, err := answerValue(ctx, t, &d, tool, f)
	if hint != nil || err != nil {
		return hintOr(ctx, t, hint, err)
	}
	return continueDraft(ctx, t, p, d)
}

// inVain ends a question whose answer is of no use any more, and says why.
func inVain(ctx context.Context, t *turn, p store.Prompt, key string) error {
	if _, err := t.svc.Store.Prompts.Close(ctx, p.ID); err != nil {
		return err
	}
	return t.tell(ctx, key)
}

// continueDraft goes on with a draft whose question was answered.
func continueDraft(ctx context.Context, t *turn, p store.Prompt, d input.Draft) error {
	if !p.State.Asked.IsZero() {
		if err := t.out.EditButtons(ctx, p.State.Asked, nil); err != nil && !errors.Is(err, chat.ErrGone) {
			t.svc.Log.DebugContext(ctx, "the buttons of an answered question stay", "error", err)
		}
	}
	d.Answers = p.ID
	if _, err := proceed(ctx, t, d); err != nil {
		return err
	}
	unmarkAsked(ctx, t, p.State.Asked)
	_, err := t.svc.Store.Prompts.Close(ctx, p.ID)
	return err
}

// answerValue reads the answer: files for inputs that take files, text for others. A hint says what was
// wanted instead.
func answerValue(ctx context.Context, t *turn, d *input.Draft, tool *registry.Tool, f registry.InputField) (hint chat.Text, err error) {
	if f.Type.IsMedia() {
		return answerFiles(ctx, t, d, tool, f)
	}
	text := strings.TrimSpace(t.in.Text)
	if text == "" {
		return t.wrongKind(f), nil
	}
	value, bad := registry.ParseText(f, text)
	if bad != nil {
		return chat.Lines(t.wrongValue(f, bad), t.say.Text("ask.again")), nil
	}
	d.Set(runs.FromAnswer, f.Name, value)
	return nil, nil
}

func answerFiles(ctx context.Context, t *turn, d *input.Draft, tool *registry.Tool, f registry.InputField) (hint chat.Text, err error) {
	files := t.in.Attachments
	if len(files) == 0 && registry.IsMediaRef(strings.TrimSpace(t.in.Text)) && !strings.HasPrefix(t.in.Text, "asset:") {
		d.Set(runs.FromAnswer, f.Name, strings.TrimSpace(t.in.Text))
		return nil, nil
	}
	only := registry.InputSchema{f}
	mine, rest := input.Assign(only, files, nil)
	if len(mine[f.Name]) == 0 {
		return t.wrongKind(f), nil
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

// captionRead reads the caption of files that were sent for an input like what follows a command: whoever writes
// something under a picture means the whole request, as with the command in the caption. What is written as the
// answer itself is never taken apart. A hint says what the tool has no use for.
func captionRead(ctx context.Context, t *turn, d *input.Draft, tool *registry.Tool, f registry.InputField) (hint chat.Text, err error) {
	if !f.Type.IsMedia() || len(t.in.Attachments) == 0 {
		return nil, nil
	}
	if !tool.Hints().SupportsFileCaption {
		captionUnread(t, d, tool, t.in.Text)
	} else {
		hint, err = readText(ctx, t, d, tool, t.in.Text)
	}
	if hint == nil && err == nil {
		hint = leftOverFiles(t, d, tool, t.in.Attachments)
	}
	if hint != nil {
		hint = chat.Lines(hint, t.say.Text("ask.again"))
	}
	return hint, err
}

// wrongKind says that a value does not fit an input, and what would.
func (t *turn) wrongKind(f registry.InputField) chat.Text {
	return chat.Lines(t.say.Text("ask.wrongKind", "input", f.Label()), chat.Plain(words.Wanted(t.say.Voice, f)))
}

// pressChoice answers a question by one of its buttons.
func pressChoice(ctx context.Context, t *turn, k store.Keyboard, n int) error {
	p, tool, err := openQuestion(ctx, t, k)
	if err != nil || tool == nil {
		return err
	}
	if n >= len(k.State.Values) {
		return t.alert(ctx, "press.tooOld")
	}
	if err := t.acknowledge(ctx); err != nil {
		return err
	}
	d := *p.State.Draft
	d.Set(runs.FromAnswer, p.State.Field, k.State.Values[n])
	return continueDraft(ctx, t, p, d)
}

// pressCancelPrompt ends a question.
func pressCancelPrompt(ctx context.Context, t *turn, k store.Keyboard) error {
	if err := t.acknowledge(ctx); err != nil {
		return err
	}
	if _, err := t.svc.Store.Prompts.Close(ctx, k.State.Prompt); err != nil {
		return err
	}
	_, err := t.change(ctx, t.in.Message, chat.Message{To: t.in.Chat.Place, Text: t.say.Text("ask.canceled")})
	return err
}
