package discord

import (
	"github.com/bwmarrin/discordgo"

	"github.com/signalbox/signalbox/platforms/chat"
)

// Limits of what can be under a message and in a form.
const (
	maxRows        = 5
	maxPerRow      = 5
	maxButtonLabel = 80
	maxCustomID    = 100
	maxMenuOptions = 25
	maxMenuLabel   = 100
	maxPlaceholder = 150
	maxFormTitle   = 45
	maxFormFields  = 5
	maxFieldLabel  = 45
	maxFieldHint   = 100
	maxFieldValue  = 4000
)

// The components are our own types where the library's leave out fields that must be there, or have none.

// row is a line of components.
type row struct {
	Type       discordgo.ComponentType `json:"type"`
	Components []any                   `json:"components"`
}

type button struct {
	Type     discordgo.ComponentType `json:"type"`
	Style    discordgo.ButtonStyle   `json:"style"`
	Label    string                  `json:"label,omitempty"`
	CustomID string                  `json:"custom_id,omitempty"`
	URL      string                  `json:"url,omitempty"`
	SKU      string                  `json:"sku_id,omitempty"`
}

type menu struct {
	Type        discordgo.ComponentType `json:"type"`
	CustomID    string                  `json:"custom_id"`
	Placeholder string                  `json:"placeholder,omitempty"`
	MinValues   int                     `json:"min_values"`
	MaxValues   int                     `json:"max_values"`
	Options     []menuOption            `json:"options"`
}

type menuOption struct {
	Label       string `json:"label"`
	Value       string `json:"value"`
	Description string `json:"description,omitempty"`
	Default     bool   `json:"default,omitempty"`
}

type textInput struct {
	Type        discordgo.ComponentType  `json:"type"`
	CustomID    string                   `json:"custom_id"`
	Style       discordgo.TextInputStyle `json:"style"`
	Label       string                   `json:"label"`
	Placeholder string                   `json:"placeholder,omitempty"`
	Value       string                   `json:"value,omitempty"`
	Required    bool                     `json:"required"`
	MaxLength   int                      `json:"max_length"`
}

// components gives the rows under a message: menus, then buttons. It is never nil: an edit without
// components would keep the old ones.
func components(menus []chat.Menu, buttons [][]chat.Button) []row {
	rows := []row{}
	for _, m := range menus {
		if len(rows) < maxRows && len(m.Options) > 0 {
			rows = append(rows, row{discordgo.ActionsRowComponent, []any{menuOf(m)}})
		}
	}
	for _, line := range buttons {
		if len(rows) == maxRows {
			break
		}
		var list []any
		for _, b := range line[:min(len(line), maxPerRow)] {
			list = append(list, buttonOf(b))
		}
		if len(list) > 0 {
			rows = append(rows, row{discordgo.ActionsRowComponent, list})
		}
	}
	return rows
}

func buttonOf(b chat.Button) button {
	if b.SKU != "" { // Discord writes name and price on it, and takes nothing else
		return button{Type: discordgo.ButtonComponent, Style: discordgo.PremiumButton, SKU: b.SKU}
	}
	label := cut(b.Label, maxButtonLabel)
	if b.URL != "" {
		return button{Type: discordgo.ButtonComponent, Style: discordgo.LinkButton, Label: label, URL: b.URL}
	}
	style := discordgo.SecondaryButton
	switch b.Style {
	case chat.ButtonPrimary:
		style = discordgo.PrimaryButton
	case chat.ButtonSuccess:
		style = discordgo.SuccessButton
	case chat.ButtonDanger:
		style = discordgo.DangerButton
	}
	return button{Type: discordgo.ButtonComponent, Style: style, Label: label, CustomID: b.Data}
}

func menuOf(m chat.Menu) menu {
	out := menu{
		Type: discordgo.SelectMenuComponent, CustomID: m.Data, Placeholder: cut(m.Placeholder, maxPlaceholder),
		MinValues: m.Min, MaxValues: m.Max,
	}
	if m.Min == 0 && m.Max == 0 {
		out.MinValues, out.MaxValues = 1, 1
	}
	for _, o := range m.Options[:min(len(m.Options), maxMenuOptions)] {
		out.Options = append(out.Options, menuOption{
			Label: cut(o.Label, maxMenuLabel), Value: o.Value, Description: cut(o.Description, maxMenuLabel), Default: o.Chosen,
		})
	}
	out.MaxValues = min(out.MaxValues, len(out.Options))
	return out
}

// modal is a form as Discord opens it.
type modal struct {
	CustomID   string `json:"custom_id"`
	Title      string `json:"title"`
	Components []row  `json:"components"`
}

func modalOf(f chat.Form) modal {
	m := modal{CustomID: f.Data, Title: cut(f.Title, maxFormTitle)}
	for _, field := range f.Fields[:min(len(f.Fields), maxFormFields)] {
		m.Components = append(m.Components, row{discordgo.ActionsRowComponent, []any{inputOf(field)}})
	}
	return m
}

func inputOf(f chat.FormField) textInput {
	in := textInput{
		Type: discordgo.TextInputComponent, CustomID: f.Name, Style: discordgo.TextInputShort, Label: cut(f.Label, maxFieldLabel),
		Placeholder: cut(f.Placeholder, maxFieldHint), Required: f.Required, MaxLength: maxFieldValue,
	}
	if f.Multiline {
		in.Style = discordgo.TextInputParagraph
	}
	if f.MaxLength > 0 {
		in.MaxLength = min(f.MaxLength, maxFieldValue)
	}
	if len([]rune(f.Value)) <= in.MaxLength { // part of a text would look like all of it
		in.Value = f.Value
	}
	return in
}

// cut shortens a text to a number of characters and marks the cut.
func cut(s string, limit int) string {
	runes := []rune(s)
	if len(runes) <= limit {
		return s
	}
	return string(runes[:limit-1]) + "…"
}
