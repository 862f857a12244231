package settings

import (
	"fmt"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// valuesPerPage is how many choices a setting shows at once, and fieldsPerPage how many inputs a tool.
const (
	valuesPerPage = 10
	fieldsPerPage = 16
)

// settingsPage draws settings.
type settingsPage struct {
	t           *turn.Turn
	tool        *registry.Tool
	preferences map[string]any
	k           *store.Keyboard
	isDefault   bool // admins chose it for words without a command
}

// current gives an input's value in force, and whether the person set it. A seed that nobody set is drawn for each
// run, whatever the tool was stored with.
func (p settingsPage) current(f registry.InputField) (value any, own bool) {
	if value, ok := p.preferences[f.Name]; ok {
		return value, true
	}
	if f.Seed {
		return nil, false
	}
	return f.Default, false
}

// overview lists a tool's inputs with their values in force, each with a button.
func (p settingsPage) overview() chat.Message {
	view := &p.k.State.View
	text := p.t.Say.Text("settings.title", "tool", p.tool.DisplayName)
	if view.Place != (users.Place{}) {
		text = chat.Lines(text, p.t.Say.Text("place.settings"))
	}
	if len(p.tool.InputSchema) == 0 {
		return chat.Message{Text: chat.Lines(text, p.t.Say.Text("settings.nothing")), Buttons: [][]chat.Button{{p.button("button.close", "close")}}}
	}
	var shown []registry.InputField
	hidden := 0
	for _, f := range p.tool.InputSchema.Ordered() {
		if f.Advanced && !view.Advanced {
			hidden++
			continue
		}
		shown = append(shown, f)
	}
	first, last, page, pages := p.t.Out.PageOf(view.Fields, fieldsPerPage, len(shown))
	view.Fields = page
	var options []chat.MenuOption
	for _, f := range shown[first:last] {
		p.k.State.Fields = append(p.k.State.Fields, f.Name)
		text = chat.Lines(text, p.fieldLine(f))
		value, _ := p.current(f)
		options = append(options, chat.MenuOption{Label: p.fieldLabel(f), Description: p.shown(f, value)})
	}
	m := chat.Message{Text: text}
	action := "set"
	if p.t.Out.Caps.Forms.Fields > 0 {
		action = "formset"
	}
	p.t.Offer(&m, *p.k, action, "menu.setting", options)
	m.Buttons = append(m.Buttons, p.t.Say.Pager(*p.k, "page", view.Fields, pages)...)
	if len(typedFields(p.t, *p.k, p.tool)) > 1 {
		m.Buttons = append(m.Buttons, []chat.Button{p.button("button.fill", "formall")})
	}
	m.Buttons = append(m.Buttons, p.overviewControls(hidden)...)
	return m
}

func (p settingsPage) overviewControls(hidden int) [][]chat.Button {
	var rows [][]chat.Button
	switch {
	case hidden > 0:
		rows = append(rows, []chat.Button{{Label: p.t.Say.Line("button.advanced", "n", hidden), Data: p.k.Data("more")}})
	case p.k.State.View.Advanced:
		rows = append(rows, []chat.Button{p.button("button.basic", "more")})
	}
	if p.k.State.View.Place.Kind == users.PlaceChat && input.RunsOnWords(p.tool) {
		label := p.t.Say.Line("button.chatDefault")
		if p.isDefault {
			label = "✓ " + label
		}
		rows = append(rows, []chat.Button{{Label: label, Data: p.k.Data("pdefault")}})
	}
	var last []chat.Button
	if len(p.preferences) > 0 {
		last = append(last, p.button("button.resetAll", "reset1"))
	}
	return append(rows, append(last, p.button("button.close", "close")))
}

func (p settingsPage) button(key, action string) chat.Button {
	return chat.Button{Label: p.t.Say.Line(key), Data: p.k.Data(action)}
}

// fieldLine says what an input is set to, and whether that is the person's own choice.
func (p settingsPage) fieldLine(f registry.InputField) chat.Text {
	value, own := p.current(f)
	shown := p.shown(f, value)
	line := chat.Text{{Text: "• " + f.Label() + ": "}, {Style: chat.StyleBold, Text: shown}}
	if own {
		line = append(line, chat.Segment{Text: " " + p.t.Say.Line("settings.own")})
	}
	if f.Description != "" {
		line = append(line, chat.Segment{Text: " – " + chat.Brief(f.Description, 90)})
	}
	return line
}

func (p settingsPage) shown(f registry.InputField, value any) string {
	if f.Type.IsMedia() && value != nil && value != "" {
		return p.t.Say.Line("settings.file")
	}
	if f.Seed && (value == nil || fmt.Sprint(value) == "-1") {
		return p.t.Say.Line("settings.random")
	}
	if shown := chat.Brief(p.t.Say.ValueLabel(f, value), 60); shown != "" {
		return shown
	}
	return p.t.Say.Line("settings.unset")
}

func (p settingsPage) fieldLabel(f registry.InputField) string {
	value, _ := p.current(f)
	if f.Type != registry.TypeBoolean {
		return f.Label()
	}
	return f.Label() + ": " + p.t.Say.ValueLabel(f, value == true)
}

// field shows one input: its choices as buttons, or how to write a value.
func (p settingsPage) field(f registry.InputField) chat.Message {
	value, own := p.current(f)
	text := chat.Lines(
		chat.Text{{Style: chat.StyleBold, Text: p.tool.DisplayName + " · " + f.Label()}},
		chat.Plain(chat.Brief(f.Description, 600)),
		p.t.Say.Text("settings.current", "value", p.shown(f, value)),
	)
	m := chat.Message{Text: text}
	if len(f.Choices) > 0 {
		p.choices(&m, f, value)
	} else {
		m.Text = chat.Lines(text, p.t.Say.Text("settings.write"), chat.Plain(words.Wanted(p.t.Say.Voice, f)))
	}
	var last []chat.Button
	if own {
		last = append(last, p.button("button.reset", "reset0"))
	}
	m.Buttons = append(m.Buttons, append(last, p.button("button.back", "back")))
	return m
}

// choices adds a page of an input's choices, the current ones marked.
func (p settingsPage) choices(m *chat.Message, f registry.InputField, current any) {
	view := &p.k.State.View
	first, last, page, pages := p.t.Out.PageOf(view.Page, valuesPerPage, len(f.Choices))
	view.Page = page
	var options []chat.MenuOption
	for _, c := range f.Choices[first:last] {
		p.k.State.Values = append(p.k.State.Values, c.Value)
		options = append(options, chat.MenuOption{Label: c.Text(), Chosen: input.IsCurrent(current, c.Value)})
	}
	p.t.Offer(m, *p.k, "val", "menu.value", options)
	if f.Multiple && len(m.Menus) > 0 {
		m.Menus[0].Data, m.Menus[0].Min, m.Menus[0].Max = p.k.Data("vals"), 0, len(options)
	}
	m.Buttons = append(m.Buttons, p.t.Say.Pager(*p.k, "page", view.Page, pages)...)
}

// typedFields are the inputs on a page of settings that one dialog can ask for.
func typedFields(t *turn.Turn, k store.Keyboard, tool *registry.Tool) []registry.InputField {
	var fields []registry.InputField
	for _, name := range k.State.Fields {
		if f, ok := tool.InputSchema.Get(name); ok && input.IsTyped(f) && len(fields) < t.Out.Caps.Forms.Fields {
			fields = append(fields, f)
		}
	}
	return fields
}
