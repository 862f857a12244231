package sitemenu

import (
	"context"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/start"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
)

// PressPublish shows a thing to visitors, or takes it out of their sight. The press is the confirmation: the preview stands beside it.
func PressPublish(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	if err := t.Acknowledge(ctx); err != nil {
		return err
	}
	kind := kindOf(k.State.Site.Kind)
	one, ok, err := kind.find(ctx, t, k.State.Site.Item)
	if err == nil && ok {
		if kind.noun == "page" {
			err = publishPage(ctx, t, one)
		} else {
			to := published
			if one.Status == published {
				to = draft
			}
			_, err = use(ctx, t, kind.update, map[string]any{kind.one: kind.key(one), "status": to, "confirmed": true})
		}
	}
	if err != nil {
		return t.Refused(ctx, err)
	}
	return draws(ctx, t, k, item)
}

// publishPage publishes all sections of a page together, or takes them back: a page is what visitors see of its sections.
func publishPage(ctx context.Context, t *turn.Turn, page thing) error {
	sections, err := use(ctx, t, "getSection", map[string]any{"pageId": page.ID})
	if err != nil {
		return err
	}
	if len(sections.Items) == 0 {
		return t.Tell(ctx, "sitework.emptyPage")
	}
	to := published
	if page.Status == published {
		to = unpublished
	}
	_, err = use(ctx, t, "updatePage", map[string]any{"id": page.ID, "status": to})
	return err
}

// PressEdit opens a dialog with what can be typed or, where the platform has none, offers it by buttons.
func PressEdit(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	kind := kindOf(k.State.Site.Kind)
	if t.Out.Caps.Forms.Fields == 0 {
		return turnTo(ctx, t, k, fields)
	}
	one, ok, err := kind.find(ctx, t, k.State.Site.Item)
	if err != nil || !ok {
		return orGone(ctx, t, err)
	}
	form := chat.Form{Title: one.title(), Data: k.Data("sedited")}
	for _, name := range kind.edits {
		value := one.value(name)
		if limit := t.Out.Caps.Forms.ValueLimit; limit > 0 && chat.Plain(value).Len() > limit {
			continue // a part of it must not take the place of all
		}
		form.Fields = append(form.Fields, t.Say.FormField(kind.field(t, name), value, name == kind.name))
	}
	return t.OpenForm(ctx, form)
}

// orGone answers a press that found nothing, or why nothing can be found.
func orGone(ctx context.Context, t *turn.Turn, err error) error {
	if err == nil {
		return t.Alert(ctx, "sitework.gone")
	}
	if err := t.Acknowledge(ctx); err != nil {
		return err
	}
	return t.Refused(ctx, err)
}

// fields offers what can be typed, one by one.
func fields(ctx context.Context, t *turn.Turn, k store.Keyboard) (chat.Message, error) {
	kind := kindOf(k.State.Site.Kind)
	m := chat.Message{To: t.In.Chat.Place}
	one, _, err := kind.find(ctx, t, k.State.Site.Item)
	if err != nil {
		return m, err
	}
	m.Text = chat.Lines(about(t, one), t.Say.Text("sitework.which"))
	var options []chat.MenuOption
	for _, name := range kind.edits {
		options = append(options, chat.MenuOption{Label: kind.field(t, name).Label()})
	}
	t.Offer(&m, k, "sfield", "sitework.choose", options)
	m.Buttons = append(m.Buttons, []chat.Button{{Label: t.Say.Line("button.back"), Data: k.Data("sback")}})
	return m, t.Services.Store.Keyboards.Save(ctx, k)
}

// PressField asks for what one field is to be.
func PressField(ctx context.Context, t *turn.Turn, k store.Keyboard, n int) error {
	view := k.State.Site
	kind := kindOf(view.Kind)
	if n < 0 || n >= len(kind.edits) {
		return t.Alert(ctx, "press.tooOld")
	}
	if err := t.Acknowledge(ctx); err != nil {
		return err
	}
	one, _, err := kind.find(ctx, t, view.Item)
	if err != nil {
		return t.Refused(ctx, err)
	}
	f := kind.field(t, kind.edits[n])
	p := store.Prompt{
		ID: store.NewID(), Platform: t.In.Platform, Chat: t.In.Chat.Chat, AccountID: t.Account.ID,
		State: store.PromptState{Field: f.Name, Site: &view, Message: t.In.Message, Keyboard: k.ID},
	}
	m := chat.Message{To: t.In.Chat.Place, Text: t.Say.Text("sitework.ask", "input", f.Label())}
	if was := one.value(f.Name); was != "" {
		m.Text = chat.Lines(m.Text, chat.Text{{Style: chat.StyleQuote, Text: chat.Brief(was, 1500)}})
	}
	if t.In.Chat.Kind != chat.ChatPrivate && t.Out.Caps.ForceReply {
		m.Ask = &chat.Ask{Placeholder: chat.Brief(f.Label(), 64), Person: t.In.From.ExternalID}
	}
	return waitFor(ctx, t, p, m)
}

// waitFor asks, and keeps what the answer is for. It is open before it is asked: people are faster than platforms.
func waitFor(ctx context.Context, t *turn.Turn, p store.Prompt, m chat.Message) error {
	if err := start.ReplaceQuestion(ctx, t, ""); err != nil {
		return err
	}
	if err := t.Services.Store.Prompts.Open(ctx, p, t.Services.AnswerWait); err != nil {
		return err
	}
	asked, err := t.Post(ctx, m)
	if err != nil {
		return err
	}
	p.MessageID, p.State.Asked = asked.ID, asked
	start.MarkAsked(ctx, t, asked)
	return t.Services.Store.Prompts.Asked(ctx, p)
}

// Answered takes a message as what a field of a thing is to be, and shows the thing as it is now.
func Answered(ctx context.Context, t *turn.Turn, p store.Prompt) error {
	view := *p.State.Site
	text := strings.TrimSpace(t.In.Text)
	if text == "" {
		return t.Tell(ctx, "ask.again")
	}
	here, err := t.Site(ctx)
	if err != nil {
		return err
	}
	if t.Services.Site == nil || view.Site != here.Slug {
		return start.InVain(ctx, t, p, "sitework.gone")
	}
	kind := kindOf(view.Kind)
	if err := kind.change(ctx, t, view.Item, map[string]string{p.State.Field: text}); err != nil {
		return t.Refused(ctx, err) // it stays open: another text may do
	}
	start.UnmarkAsked(ctx, t, p.State.Asked)
	if _, err := t.Services.Store.Prompts.Close(ctx, p.ID); err != nil {
		return err
	}
	m, err := item(ctx, t, t.Keyboard(store.KeyboardState{Site: view}))
	if err != nil {
		return t.Refused(ctx, err)
	}
	m.Text = chat.Join("\n\n", t.Say.Text("sitework.saved"), m.Text)
	return t.Respond(ctx, m)
}

// Edited takes what was changed in the dialog of PressEdit; what was left as it was stays what others have made of it meanwhile.
func Edited(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	kind := kindOf(k.State.Site.Kind)
	one, ok, err := kind.find(ctx, t, k.State.Site.Item)
	if err != nil || !ok {
		return orGone(ctx, t, err)
	}
	if err := t.Acknowledge(ctx); err != nil {
		return err
	}
	values := map[string]string{}
	for _, name := range kind.edits {
		text, sent := t.In.Options[name].(string)
		if text = strings.TrimSpace(text); sent && text != strings.TrimSpace(one.value(name)) {
			values[name] = text
		}
	}
	if len(values) > 0 {
		if err := kind.change(ctx, t, kind.key(one), values); err != nil {
			return t.Refused(ctx, err)
		}
	}
	return draws(ctx, t, k, item)
}

// PressDelete shows what would be deleted, and asks.
func PressDelete(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	return turnTo(ctx, t, k, func(ctx context.Context, t *turn.Turn, k store.Keyboard) (chat.Message, error) {
		return deletion(ctx, t, k, false)
	})
}

// PressConfirmDelete deletes what was shown. What was changed since is shown anew instead.
func PressConfirmDelete(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	return turnTo(ctx, t, k, func(ctx context.Context, t *turn.Turn, k store.Keyboard) (chat.Message, error) {
		return deletion(ctx, t, k, true)
	})
}

// deletion calls the tool that deletes the thing shown, and shows its answer.
func deletion(ctx context.Context, t *turn.Turn, k store.Keyboard, confirmed bool) (chat.Message, error) {
	kind, m := kindOf(k.State.Site.Kind), chat.Message{To: t.In.Chat.Place}
	inputs := map[string]any{kind.several: []any{k.State.Site.Item}}
	if confirmed {
		inputs["confirmed"] = true
	}
	a, err := use(ctx, t, kind.remove, inputs)
	if err != nil {
		return m, err
	}
	back := chat.Button{Label: t.Say.Line("button.back"), Data: k.Data("sback")}
	names := make([]string, len(a.Items))
	for i, one := range a.Items {
		names[i] = one.title()
	}
	switch {
	case a.RequiresConfirmation:
		m.Text = t.Say.Text("sitework.delete", "names", strings.Join(names, ", "))
		if confirmed {
			m.Text = chat.Lines(t.Say.Text("sitework.changed"), m.Text)
		}
		m.Buttons = [][]chat.Button{{{Label: t.Say.Line("button.delete"), Data: k.Data("sgone"), Style: chat.ButtonDanger}, back}}
	case !a.Success:
		m.Text, m.Buttons = t.Say.Text("sitework.notDeleted"), [][]chat.Button{{back}}
		for _, one := range a.Items {
			m.Text = chat.Lines(m.Text, chat.Plain(one.Error))
		}
	default:
		back.Data = k.Data("slist" + strconv.Itoa(k.State.Site.Page))
		m.Text, m.Buttons = t.Say.Text("sitework.deleted"), [][]chat.Button{{back}}
	}
	return m, t.Services.Store.Keyboards.Save(ctx, k)
}
