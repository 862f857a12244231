package router

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// offer adds options to a message, see surface.offer.
func (t *turn) offer(m *chat.Message, k store.Keyboard, action, placeholder string, options []chat.MenuOption) {
	t.out.Offer(t.say, m, k, action, placeholder, options)
}

// openForm answers a press with a dialog.
func (t *turn) openForm(ctx context.Context, form chat.Form) error {
	form = t.out.FitForm(form)
	return t.acknowledged(t.out.AnswerPress(ctx, *t.in.Press, chat.PressAnswer{Form: &form}))
}

// openSettingForm opens a dialog for an input whose value is typed, where the platform has dialogs.
func openSettingForm(ctx context.Context, t *turn, k store.Keyboard, field string) (opened bool, err error) {
	tool, ok := t.tools.Resolve(k.State.View.Tool)
	if !ok || t.out.Caps.Forms.Fields == 0 {
		return false, nil
	}
	f, ok := tool.InputSchema.Get(field)
	if !ok || !input.IsTyped(f) {
		return false, nil
	}
	return true, openSettingsForm(ctx, t, k, tool, f)
}

// openSettingsForm opens a dialog for some inputs of a tool, filled with their values.
func openSettingsForm(ctx context.Context, t *turn, k store.Keyboard, tool *registry.Tool, fields ...registry.InputField) error {
	preferences, err := scopeOf(t, k.State.View).read(ctx, tool)
	if err != nil {
		return err
	}
	form := chat.Form{Title: tool.DisplayName, Data: k.Data("setform")}
	for _, f := range fields {
		value, _ := settingsPage{t: t, preferences: preferences}.current(f)
		form.Fields = append(form.Fields, t.say.FormField(f, value, false))
	}
	return t.openForm(ctx, form)
}

// typedFields are the inputs on a page of settings that one dialog can ask for.
func typedFields(t *turn, k store.Keyboard, tool *registry.Tool) []registry.InputField {
	var fields []registry.InputField
	for _, name := range k.State.Fields {
		if f, ok := tool.InputSchema.Get(name); ok && input.IsTyped(f) && len(fields) < t.out.Caps.Forms.Fields {
			fields = append(fields, f)
		}
	}
	return fields
}

// pressAllFields opens a dialog for the typed inputs of a page of settings at once.
func pressAllFields(ctx context.Context, t *turn, k store.Keyboard) error {
	tool, ok := t.tools.Resolve(k.State.View.Tool)
	if !ok {
		return t.alert(ctx, "tool.gone")
	}
	fields := typedFields(t, k, tool)
	if len(fields) == 0 {
		return t.alert(ctx, "press.tooOld")
	}
	return openSettingsForm(ctx, t, k, tool, fields...)
}

// settingsFilled takes the values of a form into the settings; an empty one takes the default back.
func settingsFilled(ctx context.Context, t *turn, k store.Keyboard) error {
	tool, ok := t.tools.Resolve(k.State.View.Tool)
	if !ok {
		return t.alert(ctx, "tool.gone")
	}
	values, bad := formValues(t, tool.InputSchema)
	if bad != nil {
		return t.answer(ctx, bad.String(), true)
	}
	return onSettings(ctx, t, k, func(tool *registry.Tool, view *store.SettingsView) error {
		settings := scopeOf(t, *view)
		for name, value := range values {
			change := func() error { return settings.set(ctx, tool, name, value) }
			if value == nil {
				change = func() error { return settings.reset(ctx, tool, name) }
			}
			if err := change(); err != nil {
				return err
			}
		}
		return nil
	})
}

// formValues reads what was filled in; nil stands for a field left empty. bad says what is wrong with the first
// value that does not fit.
func formValues(t *turn, schema registry.InputSchema) (values map[string]any, bad chat.Text) {
	values = map[string]any{}
	for _, f := range schema {
		text, ok := t.in.Options[f.Name].(string)
		if !ok {
			continue
		}
		if text = strings.TrimSpace(text); text == "" {
			values[f.Name] = nil
			continue
		}
		value, wrong := registry.ParseText(f, text)
		if wrong != nil {
			return nil, t.wrongValue(f, wrong)
		}
		values[f.Name] = value
	}
	return values, nil
}

// pressValues sets an input that takes several to what was chosen from the menu; what stands on other pages of the
// choices stays.
func pressValues(ctx context.Context, t *turn, k store.Keyboard) error {
	return onSettings(ctx, t, k, func(tool *registry.Tool, view *store.SettingsView) error {
		f, ok := tool.InputSchema.Get(view.Field)
		if !ok {
			return nil
		}
		preferences, err := scopeOf(t, *view).read(ctx, tool)
		if err != nil {
			return err
		}
		kept := []any{}
		old, _ := preferences[f.Name].([]any)
		for _, value := range old {
			if !input.IsCurrent(k.State.Values, value) {
				kept = append(kept, value)
			}
		}
		for _, chosen := range t.in.Press.Values {
			if i, err := strconv.Atoi(chosen); err == nil && i >= 0 && i < len(k.State.Values) {
				kept = append(kept, k.State.Values[i])
			}
		}
		checked, bad := registry.CheckValue(f, kept)
		if bad != nil {
			return nil // the choice is gone with a change of the tool
		}
		return scopeOf(t, *view).set(ctx, tool, f.Name, checked)
	})
}

// pressAnswer opens a dialog for the inputs that a question is about.
func pressAnswer(ctx context.Context, t *turn, k store.Keyboard) error {
	_, tool, err := openQuestion(ctx, t, k)
	if err != nil || tool == nil {
		return err
	}
	form := chat.Form{Title: tool.DisplayName, Data: k.Data("answer")}
	for _, name := range k.State.Fields {
		if f, ok := tool.InputSchema.Get(name); ok {
			form.Fields = append(form.Fields, t.say.FormField(f, nil, true))
		}
	}
	return t.openForm(ctx, form)
}

// answerFilled takes the values of a form as the answer to a question.
func answerFilled(ctx context.Context, t *turn, k store.Keyboard) error {
	p, tool, err := openQuestion(ctx, t, k)
	if err != nil || tool == nil {
		return err
	}
	values, bad := formValues(t, tool.InputSchema)
	if bad != nil {
		return t.answer(ctx, bad.String(), true)
	}
	if err := t.acknowledge(ctx); err != nil {
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
func openQuestion(ctx context.Context, t *turn, k store.Keyboard) (p store.Prompt, tool *registry.Tool, err error) {
	p, err = t.svc.Store.Prompts.Pending(ctx, t.in.platform, t.in.Chat.Chat, t.account.ID)
	if errors.Is(err, store.ErrNoPrompt) || err == nil && (p.ID != k.State.Prompt || p.State.Draft == nil) {
		return p, nil, t.alert(ctx, "press.over")
	}
	if err != nil {
		return p, nil, err
	}
	tool, ok := t.tools.Resolve(p.State.Draft.Tool)
	if !ok {
		return p, nil, t.alert(ctx, "tool.gone")
	}
	return p, tool, nil
}
