package settings

import (
	"context"
	"errors"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/chat/start"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
)

// PressSettings opens the settings of a result's tool as a message of their own.
func PressSettings(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	tool, ok := t.Tools.Resolve(k.State.Tool)
	if !ok {
		return t.Alert(ctx, "tool.gone")
	}
	if err := t.Acknowledge(ctx); err != nil {
		return err
	}
	return openSettings(ctx, t, tool)
}

// PressSetting chooses a tool from the list, or an input of a tool. A switch is turned over at once, other
// inputs are shown on a page of their own, where a value can be written.
func PressSetting(ctx context.Context, t *turn.Turn, k store.Keyboard, n int) error {
	if n < len(k.State.Tools) {
		k.State.View = store.SettingsView{Tool: k.State.Tools[n]}
		return onSettings(ctx, t, k, func(*registry.Tool, *store.SettingsView) error { return nil })
	}
	if n >= len(k.State.Fields) {
		return t.Alert(ctx, "press.tooOld")
	}
	if opened, err := openSettingForm(ctx, t, k, k.State.Fields[n]); opened || err != nil {
		return err
	}
	return onSettings(ctx, t, k, func(tool *registry.Tool, view *store.SettingsView) error {
		f, ok := tool.InputSchema.Get(k.State.Fields[n])
		if !ok {
			return nil // gone with a change of the tool: the new drawing shows what there is
		}
		if f.Type == registry.TypeBoolean && len(f.Choices) == 0 && !f.Multiple {
			return toggleSetting(ctx, t, scopeOf(t, *view), tool, f)
		}
		view.Field, view.Page = f.Name, 0
		if len(f.Choices) > 0 {
			return nil
		}
		return askSetting(ctx, t, k, *view, f)
	})
}

func toggleSetting(ctx context.Context, t *turn.Turn, settings scope, tool *registry.Tool, f registry.InputField) error {
	preferences, err := settings.read(ctx, tool)
	if err != nil {
		return err
	}
	value, ok := preferences[f.Name]
	if !ok {
		value = f.Default
	}
	return settings.set(ctx, tool, f.Name, value != true)
}

// askSetting waits for a written value. Where only replies are seen, a message of its own asks for one.
func askSetting(ctx context.Context, t *turn.Turn, k store.Keyboard, view store.SettingsView, f registry.InputField) error {
	p := store.Prompt{
		ID: store.NewID(), Platform: t.In.Platform, Chat: t.In.Chat.Chat, AccountID: t.Account.ID, MessageID: t.In.Message.ID,
		State: store.PromptState{Field: f.Name, View: &view, Message: t.In.Message, Keyboard: k.ID},
	}
	if t.In.Chat.Kind != chat.ChatPrivate && t.Out.Caps.ForceReply {
		asked, err := t.Post(ctx, chat.Message{
			To:   t.In.Chat.Place,
			Text: t.Say.Text("settings.reply", "input", f.Label()),
			Ask:  &chat.Ask{Placeholder: chat.Brief(f.Label(), 64), Person: t.In.From.ExternalID},
		})
		if err != nil {
			return err
		}
		p.MessageID, p.State.Asked = asked.ID, asked
		start.MarkAsked(ctx, t, asked)
	}
	if err := start.ReplaceQuestion(ctx, t, ""); err != nil {
		return err
	}
	return t.Services.Store.Prompts.Open(ctx, p, t.Services.AnswerWait)
}

// Answered takes a message as the value of a setting.
func Answered(ctx context.Context, t *turn.Turn, p store.Prompt) error {
	view := *p.State.View
	tool, ok := t.Tools.Resolve(view.Tool)
	if !ok {
		return start.InVain(ctx, t, p, "tool.gone")
	}
	f, ok := tool.InputSchema.Get(p.State.Field)
	if !ok {
		return start.InVain(ctx, t, p, "settings.fieldGone")
	}
	d := input.Draft{}
	hint, err := start.AnswerValue(ctx, t, &d, &registry.Tool{InputSchema: registry.InputSchema{f}}, f)
	if hint != nil || err != nil {
		return start.HintOr(ctx, t, hint, err)
	}
	for _, values := range d.Values {
		if err := scopeOf(t, view).set(ctx, tool, f.Name, values[f.Name]); err != nil {
			return err
		}
	}
	start.UnmarkAsked(ctx, t, p.State.Asked)
	if _, err := t.Services.Store.Prompts.Close(ctx, p.ID); err != nil {
		return err
	}
	if !p.State.Asked.IsZero() {
		if err := t.Out.Delete(ctx, p.State.Asked); err != nil {
			t.Services.Log.DebugContext(ctx, "an answered question stays", "error", err)
		}
	}
	return settingSaved(ctx, t, p, tool, view, f)
}

// settingSaved confirms a written value and draws the settings anew below it, so that nobody has to scroll.
func settingSaved(ctx context.Context, t *turn.Turn, p store.Prompt, tool *registry.Tool, view store.SettingsView, f registry.InputField) error {
	if err := t.Tell(ctx, "settings.saved", "input", f.Label()); err != nil {
		return err
	}
	k, err := t.Services.Store.Keyboards.Find(ctx, t.In.Platform, p.State.Keyboard)
	if errors.Is(err, store.ErrTooOld) {
		return nil
	}
	if err != nil {
		return err
	}
	view.Field = ""
	k.State.View = view
	return redrawSettings(ctx, t, k, tool, p.State.Message)
}

// PressValue sets a choice. Inputs that take several gain or lose it.
func PressValue(ctx context.Context, t *turn.Turn, k store.Keyboard, n int) error {
	if n >= len(k.State.Values) {
		return t.Alert(ctx, "press.tooOld")
	}
	return onSettings(ctx, t, k, func(tool *registry.Tool, view *store.SettingsView) error {
		f, ok := tool.InputSchema.Get(view.Field)
		if !ok {
			return nil
		}
		value := k.State.Values[n]
		if f.Multiple {
			preferences, err := scopeOf(t, *view).read(ctx, tool)
			if err != nil {
				return err
			}
			value = input.WithOrWithout(preferences[f.Name], value)
		}
		checked, bad := registry.CheckValue(f, value)
		if bad != nil {
			return nil // the choice is gone with a change of the tool
		}
		return scopeOf(t, *view).set(ctx, tool, f.Name, checked)
	})
}

// PressPage turns to a page: of tools, of inputs or of choices.
func PressPage(ctx context.Context, t *turn.Turn, k store.Keyboard, n int) error {
	if k.State.View.Tool == "" {
		if err := t.Acknowledge(ctx); err != nil {
			return err
		}
		m, err := settingsToolsPage(ctx, t, k, n)
		if err != nil {
			return err
		}
		_, err = t.Change(ctx, t.In.Message, m)
		return err
	}
	return onSettings(ctx, t, k, func(_ *registry.Tool, view *store.SettingsView) error {
		if view.Field != "" {
			view.Page = n
		} else {
			view.Fields = n
		}
		return nil
	})
}

// PressReset takes the default back: for the input shown (0) or for all (1).
func PressReset(ctx context.Context, t *turn.Turn, k store.Keyboard, all int) error {
	return onSettings(ctx, t, k, func(tool *registry.Tool, view *store.SettingsView) error {
		if all == 1 {
			return scopeOf(t, *view).resetAll(ctx, tool)
		}
		field := view.Field
		view.Field = ""
		return errors.Join(
			scopeOf(t, *view).reset(ctx, tool, field),
			closePrompt(ctx, t))
	})
}

// PressAdvanced shows or hides advanced inputs; hidden ones keep their values.
func PressAdvanced(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	return onSettings(ctx, t, k, func(_ *registry.Tool, view *store.SettingsView) error {
		view.Advanced, view.Fields = !view.Advanced, 0
		return nil
	})
}

// PressBack leads from an input of a tool to all of them.
func PressBack(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	return onSettings(ctx, t, k, func(_ *registry.Tool, view *store.SettingsView) error {
		view.Field = ""
		return closePrompt(ctx, t)
	})
}

// PressClose removes the settings.
func PressClose(ctx context.Context, t *turn.Turn, _ store.Keyboard) error {
	if err := t.Acknowledge(ctx); err != nil {
		return err
	}
	if err := closePrompt(ctx, t); err != nil {
		return err
	}
	return t.Out.Delete(ctx, t.In.Message)
}

// closePrompt ends a question for a setting's value, so that the next message is no answer to it.
func closePrompt(ctx context.Context, t *turn.Turn) error {
	p, err := t.Services.Store.Prompts.Pending(ctx, t.In.Platform, t.In.Chat.Chat, t.Account.ID)
	if errors.Is(err, store.ErrNoPrompt) || err == nil && p.State.View == nil {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = t.Services.Store.Prompts.Close(ctx, p.ID)
	return err
}
