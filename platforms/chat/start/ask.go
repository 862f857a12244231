package start

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/registry"
)

// askInput asks for the first of a draft's missing inputs and keeps the draft until the answer comes.
func askInput(ctx context.Context, t *turn.Turn, d input.Draft, tool *registry.Tool, missing []registry.InputField) (turn.Outcome, error) {
	tool, missing = tool.In(t.Say.Language()), slices.Clone(missing)
	for i, f := range missing {
		if read, ok := tool.InputSchema.Get(f.Name); ok {
			missing[i] = read
		}
	}
	f := missing[0]
	about := store.KeyboardState{Values: t.Out.ShownChoices(f), Fields: t.Out.TypedTogether(missing)}
	return ask(ctx, t, d, f, questionText(t, tool, f), about, func(m *chat.Message, k store.Keyboard) { askFor(t, m, f, k) })
}

// ask asks about an input of a draft and keeps the draft until the answer comes; draw adds what the question is answered by.
func ask(ctx context.Context, t *turn.Turn, d input.Draft, f registry.InputField, text chat.Text, about store.KeyboardState, draw func(*chat.Message, store.Keyboard)) (turn.Outcome, error) {
	notes := chat.Plain(strings.Join(d.Notes[d.Told:], "\n"))
	d.Told = len(d.Notes)
	p := store.Prompt{
		ID: store.NewID(), Platform: t.In.Platform, Chat: t.In.Chat.Chat, AccountID: t.Account.ID,
		State: store.PromptState{Field: f.Name, Draft: &d},
	}
	about.Prompt, about.Tool = p.ID, d.ToolID
	buttons := t.Keyboard(about)
	m := t.Answering(chat.Join("\n\n", notes, text))
	draw(&m, buttons)
	if len(m.Buttons) > 0 || len(m.Menus) > 0 {
		if err := t.Services.Store.Keyboards.Save(ctx, buttons); err != nil {
			return turn.Nothing, err
		}
	}
	p.State.Buttons = len(m.Buttons) > 0 || len(m.Menus) > 0
	if err := ReplaceQuestion(ctx, t, d.Answers); err != nil {
		return turn.Nothing, err
	}
	// Open before it is asked: buttons can be pressed faster than we write.
	if err := t.Services.Store.Prompts.Open(ctx, p, t.Services.AnswerWait); err != nil {
		return turn.Nothing, err
	}
	asked, err := t.Post(ctx, m)
	if len(m.Media) > 0 && (errors.Is(err, chat.ErrNoRight) || errors.Is(err, chat.ErrTooLarge)) { // words are enough to ask
		m.Media = nil
		asked, err = t.Post(ctx, m)
	}
	if err != nil {
		return turn.Nothing, fmt.Errorf("ask for %s: %w", f.Name, err)
	}
	p.MessageID, p.State.Asked = asked.ID, asked
	MarkAsked(ctx, t, asked)
	return turn.Began, t.Services.Store.Prompts.Asked(ctx, p)
}

// MarkAsked remembers a question in a group, where people choose which one they answer by replying to it.
func MarkAsked(ctx context.Context, t *turn.Turn, asked chat.MessageRef) {
	if t.In.Chat.Kind == chat.ChatPrivate || asked.IsZero() {
		return
	}
	if err := t.Services.Store.Marks.Set(ctx, store.MarkAsked, t.In.Platform, t.In.Chat.Chat, asked.ID, t.Account.ID, nil); err != nil {
		t.Services.Log.WarnContext(ctx, "who answers a question too late is not told", "error", err)
	}
}

// UnmarkAsked forgets a question that was answered: what is said to it afterwards is no answer.
func UnmarkAsked(ctx context.Context, t *turn.Turn, asked chat.MessageRef) {
	if t.In.Chat.Kind == chat.ChatPrivate || asked.IsZero() {
		return
	}
	if err := t.Services.Store.Marks.Clear(ctx, t.In.Platform, t.In.Chat.Chat, asked.ID); err != nil {
		t.Services.Log.WarnContext(ctx, "an answered question looks like one that is over", "error", err)
	}
}

// ReplaceQuestion shows that the question before is over, because another takes its place; answered is the id of one that
// was answered.
func ReplaceQuestion(ctx context.Context, t *turn.Turn, answered string) error {
	p, _, err := t.Services.Store.Prompts.Last(ctx, t.In.Platform, t.In.Chat.Chat, t.Account.ID)
	if errors.Is(err, store.ErrNoPrompt) || err == nil && p.ID == answered {
		return nil
	}
	if err == nil {
		ShowOver(ctx, t, p)
	}
	return err
}

// Begin notes in a draft which question is open when a command begins it: that is over once its run is under way.
func Begin(ctx context.Context, t *turn.Turn, d *input.Draft) error {
	p, _, err := t.Services.Store.Prompts.Last(ctx, t.In.Platform, t.In.Chat.Chat, t.Account.ID)
	if errors.Is(err, store.ErrNoPrompt) {
		return nil
	}
	d.Before = p.ID
	return err
}

// giveUpQuestion ends what a person was asked before a command, since what they began instead is under way. What a press has asked
// meanwhile stays open.
func giveUpQuestion(ctx context.Context, t *turn.Turn, before string) error {
	p, _, err := t.Services.Store.Prompts.Last(ctx, t.In.Platform, t.In.Chat.Chat, t.Account.ID)
	if errors.Is(err, store.ErrNoPrompt) || err == nil && p.ID != before {
		return nil
	}
	if err == nil {
		_, err = t.Services.Store.Prompts.Close(ctx, p.ID)
	}
	if err == nil {
		ShowOver(ctx, t, p)
	}
	return err
}

// ShowOver shows in place of a question that it waits for no answer any more. Nobody waits for that. A question without
// buttons stays as it is: where it opened the reply field it can't be changed, and who replies to it is told.
func ShowOver(ctx context.Context, t *turn.Turn, p store.Prompt) {
	over := t.Out.Fit(chat.Message{To: p.State.Asked.Place, Text: t.Say.Text("ask.over")})
	show := func() error {
		_, err := t.Out.Edit(ctx, p.State.Asked, over)
		return err
	}
	switch {
	case p.State.Asked.IsZero():
		return
	case p.State.View != nil:
		show = func() error { return t.Out.Delete(ctx, p.State.Asked) }
	case !p.State.Buttons || !t.Out.Caps.Edit:
		return
	}
	t.Services.Go(func() {
		if err := show(); err != nil {
			t.Services.Log.DebugContext(ctx, "a question that is over looks as if it were open", "error", err)
		}
	})
}

// askFor adds choices and Cancel to a question, or opens the reply field where the answer must be a reply:
// in groups, where bots may see nothing else. There /cancel takes the place of the button on platforms
// that can't show both.
func askFor(t *turn.Turn, m *chat.Message, f registry.InputField, buttons store.Keyboard) {
	t.Offer(m, buttons, "c", "menu.value", t.Out.ChoiceOptions(t.Say, f))
	if len(buttons.State.Fields) > 0 {
		m.Buttons = append(m.Buttons, []chat.Button{{Label: t.Say.Line("button.answer"), Data: buttons.Data("form"), Style: chat.ButtonPrimary}})
	}
	answerable := len(m.Buttons) > 0 || len(m.Menus) > 0 // without a message of one's own
	if t.In.Chat.Kind != chat.ChatPrivate {
		m.ReplyTo = t.In.Message
		if t.In.Press != nil {
			m.ReplyTo = chat.MessageRef{}
		}
		if answerable {
			m.OnlyFor = t.In.From.ExternalID
		}
		if t.Out.Caps.ForceReply && !answerable {
			m.Ask = &chat.Ask{Placeholder: chat.Brief(f.Label(), 64), Person: t.In.From.ExternalID}
		}
	}
	if m.Ask != nil && !t.Out.Caps.AskButtons {
		m.Text = chat.Lines(m.Text, t.Say.Text("ask.cancelCommand"))
		return
	}
	cancel := chat.Button{Label: t.Say.Line("button.cancel"), Data: buttons.Data("no")}
	if n := len(m.Buttons); n > 0 && len(buttons.State.Fields) > 0 {
		m.Buttons[n-1] = append(m.Buttons[n-1], cancel)
		return
	}
	m.Buttons = append(m.Buttons, []chat.Button{cancel})
}

// questionText asks for an input: what it is, what is allowed, an example.
func questionText(t *turn.Turn, tool *registry.Tool, f registry.InputField) chat.Text {
	text := t.Say.Text("ask.input", "tool", tool.DisplayName, "input", f.Label())
	if f.Description != "" {
		text = chat.Lines(text, chat.Plain(chat.Brief(f.Description, 300)))
	}
	text = chat.Lines(text, chat.Plain(words.Wanted(t.Say.Voice, f)))
	if example := input.ExampleOf(f); example != "" && len(f.Choices) == 0 && f.Type != registry.TypeBoolean {
		text = chat.Lines(text, t.Say.Text("ask.example", "example", chat.Brief(example, 200)))
	}
	return text
}
