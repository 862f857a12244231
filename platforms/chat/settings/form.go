package settings

import (
	"context"
	"strconv"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/chat/start"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
)

// openSettingForm opens a dialog for an input whose value is typed, where the platform has dialogs.
func openSettingForm(ctx context.Context, t *turn.Turn, k store.Keyboard, field string) (opened bool, err error) {
	tool, ok := t.Tools.Resolve(k.State.View.Tool)
	if !ok || t.Out.Caps.Forms.Fields == 0 {
		return false, nil
	}
	f, ok := tool.InputSchema.Get(field)
	if !ok || !input.IsTyped(f) {
		return false, nil
	}
	return true, openSettingsForm(ctx, t, k, tool, f)
}

// openSettingsForm opens a dialog for some inputs of a tool, filled with their values.
func openSettingsForm(ctx context.Context, t *turn.Turn, k store.Keyboard, tool *registry.Tool, fields ...registry.InputField) error {
	preferences, err := scopeOf(t, k.State.View).read(ctx, tool)
	if err != nil {
		return err
	}
	form := chat.Form{Title: tool.DisplayName, Data: k.Data("setform")}
	for _, f := range fields {
		value, _ := settingsPage{t: t, preferences: preferences}.current(f)
		form.Fields = append(form.Fields, t.Say.FormField(f, value, false))
	}
	return t.OpenForm(ctx, form)
}

// PressAllFields opens a dialog for the typed inputs of a page of settings at once.
func PressAllFields(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	tool, ok := t.Tools.Resolve(k.State.View.Tool)
	if !ok {
		return t.Alert(ctx, "tool.gone")
	}
	fields := typedFields(t, k, tool)
	if len(fields) == 0 {
		return t.Alert(ctx, "press.tooOld")
	}
	return openSettingsForm(ctx, t, k, tool, fields...)
}

// Filled takes the values of a form into the settings; an empty one takes the default back.
func Filled(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	tool, ok := t.Tools.Resolve(k.State.View.Tool)
	if !ok {
		return t.Alert(ctx, "tool.gone")
	}
	values, bad := start.FormValues(t, tool.InputSchema)
	if bad != nil {
		return t.Answer(ctx, bad.String(), true)
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

// PressValues sets an input that takes several to what was chosen from the menu; what stands on other pages of the
// choices stays.
func PressValues(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
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
		for _, chosen := range t.In.Press.Values {
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
