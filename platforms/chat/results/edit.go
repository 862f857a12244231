package results

import (
	"context"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/chat/start"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// PressEdit opens what a run was made of, to be changed: a dialog of what is typed or, where the platform has none, a
// question with the words as they were.
func PressEdit(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	return t.WithRun(ctx, k, func(run runs.Run) error {
		tool, ok := t.Tools.Resolve(run.Tool.ToolID)
		if !ok {
			return t.Alert(ctx, "tool.gone")
		}
		text, ok := input.TextInput(tool.InputSchema)
		if !ok {
			return t.Alert(ctx, "press.tooOld")
		}
		if t.Out.Caps.Forms.Fields > 0 {
			return t.OpenForm(ctx, editForm(t, k, run, tool, text))
		}
		if err := t.Acknowledge(ctx); err != nil {
			return err
		}
		if refused, err := start.Refuse(ctx, t, tool); refused || err != nil {
			return err
		}
		was, _ := run.Inputs[text.Name].(string)
		return start.AskAnew(ctx, t, editDraft(t, run, tool), tool, text, was)
	})
}

// editForm has the text first, then what else is typed, as far as there is room.
func editForm(t *turn.Turn, k store.Keyboard, run runs.Run, tool *registry.Tool, text registry.InputField) chat.Form {
	form := chat.Form{Title: tool.DisplayName, Data: k.Data("edited")}
	fields := []registry.InputField{text}
	for _, f := range tool.InputSchema.Ordered() {
		if f.Name != text.Name && input.IsTyped(f) && !f.Seed && !f.Advanced {
			fields = append(fields, f)
		}
	}
	for _, f := range fields[:min(len(fields), t.Out.Caps.Forms.Fields)] {
		form.Fields = append(form.Fields, t.Say.FormField(f, run.Inputs[f.Name], f.Required))
	}
	return form
}

// Edited runs what was changed in the dialog of PressEdit. What was left as it was keeps where it came from.
func Edited(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	return t.WithRun(ctx, k, func(run runs.Run) error {
		tool, ok := t.Tools.Resolve(run.Tool.ToolID)
		if !ok {
			return t.Alert(ctx, "tool.gone")
		}
		values, bad := start.FormValues(t, tool.InputSchema)
		if bad != nil {
			return t.Answer(ctx, bad.String(), true)
		}
		if err := t.Note(ctx, "press.started"); err != nil {
			return err
		}
		if refused, err := start.Refuse(ctx, t, tool); refused || err != nil {
			return err
		}
		d := editDraft(t, run, tool)
		for name, value := range values {
			f, _ := tool.InputSchema.Get(name)
			switch {
			case value == nil:
				d.Drop(name)
			case input.ShowValue(f, value) != input.ShowValue(f, run.Inputs[name]):
				d.Replace(runs.FromArgument, name, value)
			}
		}
		_, err := start.Proceed(ctx, t, d)
		return err
	})
}

// editDraft is a run once more, to be changed: a seed that somebody chose stays, one that was drawn is drawn anew.
func editDraft(t *turn.Turn, run runs.Run, tool *registry.Tool) input.Draft {
	d := input.Repeat(run, start.RequestOf(t, run), pressKey(t))
	d.Notes = t.Deprecation(tool)
	input.RedrawSeeds(&d, run)
	d.DropLost(tool.InputSchema)
	return d
}
