package chattest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/registry"
)

var (
	_ Commander   = (*Fake)(nil)
	_ MessageMenu = (*Fake)(nil)
	_ Chooser     = (*Fake)(nil)
	_ FormFiller  = (*Fake)(nil)
	_ Localizer   = (*Fake)(nil)
	_ Promoter    = (*Fake)(nil)
)

// WithForms gives a Fake limits like Discord's: typed options, menus, dialogs, messages for one person.
func WithForms(c *chat.Capabilities) {
	c.Buttons = chat.ButtonLimits{Rows: 5, PerRow: 5, LabelLimit: 80, DataBytes: 100}
	c.Menus = chat.MenuLimits{PerMessage: 5, Options: 25, LabelLimit: 100}
	c.Forms = chat.FormLimits{Fields: 5, TitleLimit: 45, LabelLimit: 45, ValueLimit: 4000}
	c.Commands = chat.CommandLimits{
		Max: 100, NameChars: 32, NamePattern: `[-_a-z0-9]{1,32}`, DescriptionLimit: 100, Options: 25, OnMessages: 5, Localized: true,
	}
	c.TextLimit, c.CaptionLimit, c.AltLimit = 2000, 2000, 1024
	c.AlbumButtons, c.ForceReply, c.AskButtons, c.Ephemeral, c.DeepLink = true, false, false, true, ""
	c.Photo, c.NoticedFor = chat.PhotoLimits{}, 15*time.Minute
}

// command finds a listed command.
func (f *Fake) command(t testing.TB, kind chat.ChatKind, onMessages bool, name string) chat.Command {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.commands[kind] {
		if c.Name == name && c.OnMessages == onMessages {
			return c
		}
	}
	t.Fatalf("there is no command %q in %s chats", name, kind)
	return chat.Command{}
}

// Command gives a command with typed options.
func (f *Fake) Command(t testing.TB, by Person, in Room, name string, options map[string]any) string {
	t.Helper()
	c := f.command(t, in.Kind, false, name)
	f.mu.Lock()
	defer f.mu.Unlock()
	m := &fakeMessage{room: in.ID, topic: in.Topic, from: by, id: f.id()}
	f.keep(m)
	update := chat.Incoming{
		ID: f.id(), Kind: chat.KindMessage, At: time.Now(), Chat: place(in), From: identity(by), Message: f.ref(m),
		Addressed: true, Command: name, Options: map[string]any{},
	}
	for _, option := range sortedKeys(options) {
		field, ok := c.Inputs.Get(option)
		if !ok {
			t.Fatalf("/%s has no option %q", name, option)
		}
		update.Options[option] = f.option(t, &update, field, options[option])
	}
	for _, field := range c.Inputs {
		if _, given := options[field.Name]; field.Required && !given {
			t.Fatalf("/%s needs its option %q", name, field.Name)
		}
	}
	f.deliver(update)
	return m.id
}

// option is a value as the platform passes it on, once it has judged it; the caller holds mu.
func (f *Fake) option(t testing.TB, update *chat.Incoming, field registry.InputField, value any) any {
	t.Helper()
	if file, ok := value.(File); ok {
		m := &fakeMessage{room: update.Chat.Chat, id: f.id(), media: &file}
		update.Attachments = append(update.Attachments, f.attach(m)...)
		return fmt.Sprint("attachment:", len(update.Attachments)-1)
	}
	switch value.(type) {
	case string, bool, json.Number:
		return value
	}
	t.Fatalf("the option %s can't be %T", field.Name, value)
	return nil
}

func sortedKeys(m map[string]any) []string {
	return slices.Sorted(maps.Keys(m))
}

// Complete types into an option.
func (f *Fake) Complete(t testing.TB, by Person, in Room, name, option, typed string) []chat.Choice {
	t.Helper()
	c := f.command(t, in.Kind, false, name)
	if !slices.Contains(c.Completes, option) {
		t.Fatalf("nothing is offered for the option %q of /%s, only for %q", option, name, c.Completes)
	}
	f.mu.Lock()
	completer, ok := f.receiver.(chat.Completer)
	f.mu.Unlock()
	if !ok {
		t.Fatal("the receiver offers nothing")
	}
	q := chat.Completion{From: identity(by), Chat: place(in), Command: name, Option: option, Typed: typed}
	return completer.Complete(t.Context(), FakePlatform, q, 25)
}

// Options lists a command's inputs.
func (f *Fake) Options(t testing.TB, kind chat.ChatKind, name string) []string {
	t.Helper()
	var names []string
	for _, field := range f.command(t, kind, false, name).Inputs {
		names = append(names, field.Name)
	}
	return names
}

// UseOn picks an entry of a message's menu.
func (f *Fake) UseOn(t testing.TB, by Person, in Room, messageID, entry string) {
	t.Helper()
	c := f.command(t, in.Kind, true, entry)
	f.mu.Lock()
	defer f.mu.Unlock()
	on := f.messages[in.ID+"/"+messageID]
	if on == nil {
		t.Fatalf("there is no message %s", messageID)
	}
	m := &fakeMessage{room: in.ID, topic: in.Topic, from: by, id: f.id()}
	f.keep(m)
	f.deliver(chat.Incoming{
		ID: f.id(), Kind: chat.KindMessage, At: time.Now(), Chat: place(in), From: identity(by), Message: f.ref(m),
		Addressed: true, Command: c.Use, Meant: f.ref(on), ReplyTo: &chat.Quoted{Ref: f.ref(on), Own: on.own, Text: on.text, Attachments: f.attach(on)},
	})
}

// Entries lists the entries of messages' menus.
func (f *Fake) Entries(testing.TB) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var names []string
	for _, c := range f.commands[chat.ChatPrivate] {
		if c.OnMessages {
			names = append(names, c.Name)
		}
	}
	return names
}

// Choose chooses from a menu.
func (f *Fake) Choose(t testing.TB, by Person, in Room, messageID string, labels ...string) chat.PressAnswer {
	t.Helper()
	f.mu.Lock()
	m := f.messages[in.ID+"/"+messageID]
	f.mu.Unlock()
	if m == nil {
		t.Fatalf("there is no message %s", messageID)
	}
	for _, menu := range m.menus {
		if values, ok := chosen(menu, labels); ok {
			return f.interact(t, by, in, m, chat.Incoming{Kind: chat.KindPress, Press: &chat.Press{Data: menu.Data, Values: values}})
		}
	}
	t.Fatalf("no menu under message %s has %q: %+v", messageID, labels, m.menus)
	return chat.PressAnswer{}
}

// chosen gives the values behind labels; ok is false where the menu does not have them all, or takes another number.
func chosen(menu chat.Menu, labels []string) (values []string, ok bool) {
	least, most := menu.Min, menu.Max
	if most == 0 {
		least, most = 1, 1
	}
	for _, label := range labels {
		i := slices.IndexFunc(menu.Options, func(o chat.MenuOption) bool { return o.Label == label })
		if i < 0 {
			return nil, false
		}
		values = append(values, menu.Options[i].Value)
	}
	return values, len(values) >= least && len(values) <= most
}

// Fill sends in a form.
func (f *Fake) Fill(t testing.TB, by Person, in Room, messageID string, form chat.Form, values map[string]string) chat.PressAnswer {
	t.Helper()
	f.mu.Lock()
	m := f.messages[in.ID+"/"+messageID]
	f.mu.Unlock()
	if m == nil {
		t.Fatalf("there is no message %s", messageID)
	}
	filled := map[string]any{}
	for _, field := range form.Fields {
		value, given := values[field.Label]
		if !given {
			value = field.Value
		}
		if field.Required && strings.TrimSpace(value) == "" {
			t.Fatalf("the field %q must be filled", field.Label)
		}
		filled[field.Name] = value
	}
	return f.interact(t, by, in, m, chat.Incoming{Kind: chat.KindForm, Press: &chat.Press{Data: form.Data}, Options: filled})
}

// Description gives a command's description in a language.
func (f *Fake) Description(_ testing.TB, _ chat.ChatKind, name, language string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if text := f.spoken[language][name]; text != "" {
		return text
	}
	return f.spoken[""][name]
}
