package settings

import (
	"context"
	"strings"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/start"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// Command shows the settings of a tool, or the tools to choose from. Options after the tool's name are kept first.
func Command(ctx context.Context, t *turn.Turn) error {
	words := strings.TrimSpace(t.In.Text)
	if words == "" {
		return settingsTools(ctx, t)
	}
	tool, typed, ok := t.FindToolIn(words)
	if ok && typed != "" {
		if hint, err := setTyped(ctx, t, tool, typed); hint != nil || err != nil {
			return start.HintOr(ctx, t.Aside(), hint, err)
		}
	}
	if !ok {
		if found := t.Search(ctx, words, 1); len(found) > 0 {
			tool, ok = found[0], true
		}
	}
	if !ok {
		return t.NothingFound(ctx, words)
	}
	return openSettings(ctx, t, tool)
}

// setTyped keeps what was typed as settings of the person, all of it or nothing.
func setTyped(ctx context.Context, t *turn.Turn, tool *registry.Tool, typed string) (hint chat.Text, err error) {
	values, hint := start.Options(t, tool, typed)
	if hint != nil {
		return hint, nil
	}
	for _, f := range tool.InputSchema.Ordered() {
		if value, given := values[f.Name]; given {
			if err := (scope{t: t}).set(ctx, tool, f.Name, value); err != nil {
				return nil, err
			}
		}
	}
	return nil, nil
}

// settingsTools lists tools to choose one from.
func settingsTools(ctx context.Context, t *turn.Turn) error {
	k := t.Keyboard(store.KeyboardState{})
	m, err := settingsToolsPage(ctx, t, k, 0)
	if err != nil {
		return err
	}
	return t.Respond(ctx, m)
}

func settingsToolsPage(ctx context.Context, t *turn.Turn, k store.Keyboard, page int) (chat.Message, error) {
	m := chat.Message{To: t.In.Chat.Place, Text: t.Say.Text("settings.tools")}
	tools := t.Offered()
	if len(tools) == 0 {
		m.Text = t.Say.Text("tools.none")
	}
	first, last, page, pages := t.Out.PageOf(page, valuesPerPage, len(tools))
	k.State = store.KeyboardState{}
	var options []chat.MenuOption
	for _, tool := range tools[first:last] {
		k.State.Tools = append(k.State.Tools, tool.ToolID)
		options = append(options, chat.MenuOption{Label: tool.DisplayName, Description: chat.FirstSentence(tool.Description)})
	}
	t.Offer(&m, k, "set", "menu.tool", options)
	m.Buttons = append(m.Buttons, t.Say.Pager(k, "page", page, pages)...)
	m.Buttons = append(m.Buttons, []chat.Button{{Label: t.Say.Line("money.button"), Data: k.Data("ask")}, {Label: t.Say.Line("button.close"), Data: k.Data("close")}})
	return m, t.Services.Store.Keyboards.Save(ctx, k)
}

// openSettings sends the settings of a tool as a new message. In groups others need not see them: there they
// are shown to the person only, or opened in the private chat, where the platform can do that.
func openSettings(ctx context.Context, t *turn.Turn, tool *registry.Tool) error {
	t = t.Aside()
	if m, ok := settingsInPrivate(t, tool); ok {
		return t.Respond(ctx, m)
	}
	k := t.Keyboard(store.KeyboardState{View: store.SettingsView{Tool: tool.ToolID}})
	m, err := settingsMessage(ctx, t, &k, tool)
	if err != nil {
		return err
	}
	return t.Respond(ctx, m)
}

// settingsInPrivate leads to the private chat where others would see a person's settings, and where there is such a way.
func settingsInPrivate(t *turn.Turn, tool *registry.Tool) (chat.Message, bool) {
	link := t.DeepLink("settings-", tool)
	return chat.Message{
		To: t.In.Chat.Place, Text: t.Say.Text("settings.private", "tool", tool.DisplayName),
		Buttons: [][]chat.Button{{{Label: t.Say.Line("button.settings"), URL: link}}},
	}, t.ReadByOthers() && link != ""
}

// settingsMessage draws what k's view says and stores k.
func settingsMessage(ctx context.Context, t *turn.Turn, k *store.Keyboard, tool *registry.Tool) (chat.Message, error) {
	preferences, err := scopeOf(t, k.State.View).read(ctx, tool)
	if err != nil {
		return chat.Message{}, err
	}
	k.State.Fields, k.State.Values, k.State.Tools = nil, nil, nil
	chosen, err := t.DefaultIn(ctx, k.State.View.Place)
	if err != nil {
		return chat.Message{}, err
	}
	p := settingsPage{t: t, tool: tool, preferences: preferences, k: k, isDefault: chosen == tool.ToolID}
	m := p.overview()
	if f, ok := tool.InputSchema.Get(k.State.View.Field); ok {
		m = p.field(f)
	}
	m.To = t.In.Chat.Place
	return m, t.Services.Store.Keyboards.Save(ctx, *k)
}

// onSettings does something with the tool of a settings message and draws it anew. Whatever led there: a person's own are
// not shown to a group.
func onSettings(ctx context.Context, t *turn.Turn, k store.Keyboard, do func(tool *registry.Tool, view *store.SettingsView) error) error {
	t = t.Aside()
	tool, ok := t.Tools.Resolve(k.State.View.Tool)
	if !ok {
		return t.Alert(ctx, "tool.gone")
	}
	if k.State.View.Place != (users.Place{}) && !t.RunsHere(ctx) {
		return t.Alert(ctx, "place.adminsOnly")
	}
	if err := t.Acknowledge(ctx); err != nil {
		return err
	}
	if m, ok := settingsInPrivate(t, tool); ok && k.State.View.Place == (users.Place{}) {
		_, err := t.Change(ctx, t.In.Message, m)
		return err
	}
	if err := do(tool, &k.State.View); err != nil {
		return err
	}
	return redrawSettings(ctx, t, k, tool, t.In.Message)
}

// redrawSettings shows a settings message as it should look now.
func redrawSettings(ctx context.Context, t *turn.Turn, k store.Keyboard, tool *registry.Tool, at chat.MessageRef) error {
	m, err := settingsMessage(ctx, t, &k, tool)
	if err != nil {
		return err
	}
	_, err = t.Change(ctx, at, m)
	return err
}
