package results

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/agent/improve"
	"github.com/signalbox/signalbox/internal/edit"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/chat/show"
	"github.com/signalbox/signalbox/platforms/chat/start"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// prompt is what can be improved: words for an input of a tool, and the run that they were said to, if there is one.
type prompt struct {
	text  string
	tool  *registry.Tool
	input registry.InputField
	run   string
}

// ImproveCommand has a prompt rewritten: the words after the command, else those of the result that is replied to. Where no model answers
// there are styles. What comes is shown beside what was said; nothing runs.
func ImproveCommand(ctx context.Context, t *turn.Turn) error {
	p, hint, err := promptOf(ctx, t)
	if err != nil || hint != nil {
		return start.HintOr(ctx, t, hint, err)
	}
	if t.Services.Agent == nil {
		return offerStyles(ctx, t, chat.MessageRef{}, p)
	}
	ref, err := start.PostStatus(ctx, t, t.Answering(t.Say.Text("asked.thinking")))
	if err != nil && !errors.Is(err, chat.ErrUncertain) { // what may be there is not edited; the answer is a message of its own
		return fmt.Errorf("show that a prompt is improved: %w", err)
	}
	t.In.GoesOn = func(ctx context.Context) error {
		better, refused, err := t.Services.Agent.Rewrite(ctx, t, p.tool, p.input, p.text)
		switch {
		case err != nil:
			return err
		case refused != nil:
			_, err = t.Change(ctx, ref, t.Answering(refused))
			return err
		case better == "":
			return offerStyles(ctx, t, ref, p)
		}
		return showBetter(ctx, t, ref, p, better)
	}
	return nil
}

// promptOf finds what is to be improved. A hint says what is missing.
func promptOf(ctx context.Context, t *turn.Turn) (p prompt, hint chat.Text, err error) {
	words := strings.TrimSpace(t.In.Text)
	if words == "" && t.In.ReplyTo != nil {
		here, all, err := lately(ctx, t, runs.Filter{Limit: looksBack})
		if err != nil {
			return p, nil, err
		}
		run, ok, err := runRepliedTo(ctx, t, here, all)
		if err != nil {
			return p, nil, err
		}
		if ok {
			return promptOfRun(t, run)
		}
		words = strings.TrimSpace(t.In.ReplyTo.Text)
	}
	if words == "" {
		return p, t.Say.Text("improve.what"), nil
	}
	tool, words, ok, err := start.WordsTool(ctx, t, words)
	if err != nil || !ok {
		return p, t.Say.Text("improve.what"), err
	}
	field, reads := input.TextInput(tool.InputSchema)
	if !reads || words == "" {
		return p, t.Say.Text("improve.noWords", "tool", tool.DisplayName), nil
	}
	return prompt{text: words, tool: tool, input: field}, nil, nil
}

func promptOfRun(t *turn.Turn, run runs.Run) (p prompt, hint chat.Text, err error) {
	tool, ok := t.Tools.Resolve(run.Tool.ToolID)
	if !ok {
		return p, t.Say.Text("tool.gone"), nil
	}
	field, reads := input.TextInput(tool.InputSchema)
	text, _ := run.Inputs[field.Name].(string)
	if !reads || strings.TrimSpace(text) == "" {
		return p, t.Say.Text("improve.noWords", "tool", tool.DisplayName), nil
	}
	return prompt{text, tool, field, run.ID}, nil, nil
}

// promptKeyboard is about a prompt: Values are the words as they were said.
func promptKeyboard(t *turn.Turn, p prompt, better string) store.Keyboard {
	return t.Keyboard(store.KeyboardState{Run: p.run, Tool: p.tool.ToolID, Fields: []string{p.input.Name}, Values: []any{p.text}, Query: better, Asked: t.In.Message})
}

// offerStyles lets somebody choose words that are added to a prompt.
func offerStyles(ctx context.Context, t *turn.Turn, ref chat.MessageRef, p prompt) error {
	k := promptKeyboard(t, p, "")
	var buttons []chat.Button
	for i, style := range improve.Styles(t.Say.Language()) {
		buttons = append(buttons, chat.Button{Label: style.Name, Data: k.Data(fmt.Sprint("style", i))})
	}
	return place(ctx, t, ref, k, t.Say.Text("improve.styles"), show.RowsOf(buttons, 2))
}

// showBetter shows in which words a better prompt differs, and lets the person choose.
func showBetter(ctx context.Context, t *turn.Turn, ref chat.MessageRef, p prompt, better string) error {
	if better == p.text {
		_, err := t.Change(ctx, ref, t.Answering(t.Say.Text("improve.same")))
		return err
	}
	k := promptKeyboard(t, p, better)
	legend := t.Say.Text("improve.legend", "bold", chat.Text{{Style: chat.StyleNew, Text: t.Say.Line("improve.bold")}}, "gone", chat.Text{{Style: chat.StyleGone, Text: "…"}})
	text := chat.Join("\n\n", show.Difference(edit.Difference(p.text, better)).Cut(t.Out.Caps.TextLimit-legend.Len()-2), legend)
	return place(ctx, t, ref, k, text, [][]chat.Button{{
		{Label: t.Say.Line("button.useThis"), Data: k.Data("better"), Style: chat.ButtonPrimary}, {Label: t.Say.Line("button.keepMine"), Data: k.Data("mine")},
	}})
}

// place shows a message with buttons in place of another one, if there is one.
func place(ctx context.Context, t *turn.Turn, ref chat.MessageRef, k store.Keyboard, text chat.Text, rows [][]chat.Button) error {
	if err := t.Services.Store.Keyboards.Save(ctx, k); err != nil {
		return err
	}
	_, err := t.Change(ctx, ref, t.Answering(text, rows...))
	return err
}

// PressStyle shows a prompt with the chosen style.
func PressStyle(ctx context.Context, t *turn.Turn, k store.Keyboard, n int) error {
	styles := improve.Styles(t.Say.Language())
	tool, ok := t.Tools.Resolve(k.State.Tool)
	if !ok || n >= len(styles) || len(k.State.Fields) == 0 {
		return t.Alert(ctx, "press.tooOld")
	}
	if err := t.Acknowledge(ctx); err != nil {
		return err
	}
	field, _ := tool.InputSchema.Get(k.State.Fields[0])
	p := prompt{text: given(k), tool: tool, input: field, run: k.State.Run}
	return showBetter(ctx, t, t.In.Message, p, styles[n].Add(p.text))
}

// given are the words as the person had them.
func given(k store.Keyboard) string {
	if len(k.State.Values) == 0 {
		return ""
	}
	text, _ := k.State.Values[0].(string)
	return text
}

// PressBetter takes the better prompt: what it was made of a run is run with it, for words tools are offered.
func PressBetter(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	if k.State.Run == "" {
		return offerChosen(ctx, t, k, k.State.Query)
	}
	return t.WithRun(ctx, k, func(run runs.Run) error {
		tool, ok := t.Tools.Resolve(run.Tool.ToolID)
		if !ok {
			return notFollowed(ctx, t, "tool.gone")
		}
		if err := t.Note(ctx, "press.started"); err != nil {
			return err
		}
		if refused, err := start.Refuse(ctx, t, tool); refused || err != nil {
			return errors.Join(err, turn.ErrNotDone)
		}
		d := editDraft(t, run, tool)
		d.Replace(runs.FromArgument, k.State.Fields[0], k.State.Query)
		_, err := start.Proceed(ctx, t, d)
		return err
	})
}

// PressMine keeps the prompt as it was.
func PressMine(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	if k.State.Run == "" {
		return offerChosen(ctx, t, k, given(k))
	}
	if err := t.Acknowledge(ctx); err != nil {
		return err
	}
	_, err := t.Change(ctx, t.In.Message, t.Answering(t.Say.Text("improve.kept")))
	return err
}

// offerChosen shows the words that were chosen in place of the choice, and offers tools for them.
func offerChosen(ctx context.Context, t *turn.Turn, k store.Keyboard, words string) error {
	if err := t.Acknowledge(ctx); err != nil {
		return err
	}
	if _, err := t.Change(ctx, t.In.Message, t.Answering(chat.Plain(words))); err != nil {
		return err
	}
	_, err := start.OfferFor(ctx, t, words, k.State.Asked)
	return err
}
