package show

import (
	"fmt"
	"strconv"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/registry"
)

// PageOf gives the borders of a page of a list, and the page that exists nearest to the one wanted. A page is as
// long as a menu can be, or perPage where there are buttons.
func (s *Platform) PageOf(page, perPage, all int) (first, last, shown, pages int) {
	if s.Caps.Menus.PerMessage > 0 {
		perPage = s.Caps.Menus.Options
	}
	pages = max(1, (all+perPage-1)/perPage)
	shown = min(max(page, 0), pages-1)
	return shown * perPage, min(all, (shown+1)*perPage), shown, pages
}

// Offer adds options to a message: as a menu where the platform has menus, else as buttons, two in a row. What is
// chosen arrives as the action with the option's number.
func (s *Platform) Offer(v Voice, m *chat.Message, k store.Keyboard, action, placeholder string, options []chat.MenuOption) {
	if len(options) == 0 {
		return
	}
	if s.Caps.Menus.PerMessage > 0 {
		for i := range options {
			options[i].Value = strconv.Itoa(i)
		}
		m.Menus = append(m.Menus, chat.Menu{Data: k.Data(action), Placeholder: v.Line(placeholder), Options: options})
		return
	}
	buttons := make([]chat.Button, len(options))
	for i, o := range options {
		buttons[i] = chat.Button{Label: chat.FirstNonEmpty(o.Label, "–"), Data: k.Data(action + strconv.Itoa(i))}
		if o.Chosen {
			buttons[i].Label = "✓ " + o.Label
		}
	}
	m.Buttons = append(m.Buttons, RowsOf(buttons, 2)...)
}

// Pager makes the row that leads to the other pages.
func (v Voice) Pager(k store.Keyboard, action string, page, pages int) [][]chat.Button {
	if pages < 2 {
		return nil
	}
	var row []chat.Button
	if page > 0 {
		row = append(row, chat.Button{Label: v.Line("button.previous"), Data: k.Data(fmt.Sprint(action, page-1))})
	}
	if page < pages-1 {
		row = append(row, chat.Button{Label: v.Line("button.next"), Data: k.Data(fmt.Sprint(action, page+1))})
	}
	return [][]chat.Button{row}
}

// RowsOf puts buttons into rows of n.
func RowsOf(all []chat.Button, n int) [][]chat.Button {
	var rows [][]chat.Button
	for len(all) > 0 {
		k := min(n, len(all))
		rows, all = append(rows, all[:k:k]), all[k:]
	}
	return rows
}

// maxChoiceButtons is how many choices a question shows as buttons; the others can be typed.
const maxChoiceButtons = 16

// ShownChoices are the values that a question offers, by number.
func (s *Platform) ShownChoices(f registry.InputField) []any {
	if f.Type == registry.TypeBoolean {
		return []any{true, false}
	}
	most := maxChoiceButtons
	if s.Caps.Menus.PerMessage > 0 {
		most = s.Caps.Menus.Options
	}
	var values []any
	for _, c := range f.Choices[:min(len(f.Choices), most)] {
		values = append(values, c.Value)
	}
	return values
}

// ChoiceOptions are the values that a question offers, as entries of a menu.
func (s *Platform) ChoiceOptions(v Voice, f registry.InputField) []chat.MenuOption {
	var options []chat.MenuOption
	for _, value := range s.ShownChoices(f) {
		options = append(options, chat.MenuOption{Label: v.ValueLabel(f, value)})
	}
	return options
}

// TypedTogether names the fields that one dialog can ask for: those that are typed, when the first is.
func (s *Platform) TypedTogether(fields []registry.InputField) []string {
	var names []string
	for _, f := range fields {
		if !input.IsTyped(f) || len(names) == s.Caps.Forms.Fields {
			break
		}
		names = append(names, f.Name)
	}
	return names
}

// FormField is the field of a form for an input, filled with its value.
func (v Voice) FormField(f registry.InputField, value any, required bool) chat.FormField {
	return chat.FormField{
		Name: f.Name, Label: f.Label(), Value: input.ShowValue(f, value), Required: required, Multiline: f.Multiline,
		Placeholder: chat.FirstNonEmpty(f.Description, words.Wanted(v.Voice, f)),
	}
}

// ValueLabel is how a value is told; showValue is how it is typed.
func (v Voice) ValueLabel(f registry.InputField, value any) string {
	if b, ok := value.(bool); ok && len(f.Choices) == 0 {
		if b {
			return v.Line("value.yes")
		}
		return v.Line("value.no")
	}
	return input.ShowValue(f, value)
}
