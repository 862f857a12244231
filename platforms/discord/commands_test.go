package discord

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bwmarrin/discordgo"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/registry"
)

func oneCommand(c chat.Command) (command, published) {
	list, p := commandsOf([]chat.CommandSet{{Kind: chat.ChatGroup, Commands: []chat.Command{c}}, {Kind: chat.ChatPrivate, Commands: []chat.Command{c}}})
	return list[0], p
}

func choices(n int) []registry.Choice {
	list := make([]registry.Choice, n)
	for i := range list {
		list[i] = registry.Choice{Value: fmt.Sprintf("v%d", i), Label: fmt.Sprintf("Value %d", i)}
	}
	return list
}

func TestOptions(t *testing.T) {
	t.Parallel()
	option := func(f registry.InputField, completes ...string) commandOption {
		c, _ := oneCommand(chat.Command{Name: "x", Inputs: registry.InputSchema{f}, Completes: completes})
		return c.Options[0]
	}
	t.Run("numbers have their ranges", func(t *testing.T) {
		t.Parallel()
		o := option(registry.InputField{Name: "steps", Type: registry.TypeNumber, Integer: true, Min: "1", Max: "50"})
		if o.Type != discordgo.ApplicationCommandOptionInteger || o.MinValue != "1" || o.MaxValue != "50" {
			t.Errorf("%+v", o)
		}
		if o := option(registry.InputField{Name: "cfg", Type: registry.TypeNumber, Min: "0.5"}); o.Type != discordgo.ApplicationCommandOptionNumber || o.MinValue != "0.5" {
			t.Errorf("%+v", o)
		}
	})
	t.Run("a seed beyond 53 bits goes as text", func(t *testing.T) {
		t.Parallel()
		for _, f := range []registry.InputField{
			{Name: "seed", Type: registry.TypeNumber, Integer: true, Max: "18446744073709551615"},
			{Name: "seed", Type: registry.TypeNumber, Integer: true, Seed: true},
		} {
			if o := option(f); o.Type != discordgo.ApplicationCommandOptionString || o.MaxValue != "" {
				t.Errorf("%+v", o)
			}
		}
	})
	t.Run("choices up to 25 are listed, more are offered while one types", func(t *testing.T) {
		t.Parallel()
		if o := option(registry.InputField{Name: "style", Type: registry.TypeString, Choices: choices(25)}); len(o.Choices) != 25 || o.Autocomplete {
			t.Errorf("%d choices, autocomplete %v", len(o.Choices), o.Autocomplete)
		}
		if o := option(registry.InputField{Name: "style", Type: registry.TypeString, Choices: choices(26)}); len(o.Choices) != 0 || !o.Autocomplete {
			t.Errorf("%d choices, autocomplete %v", len(o.Choices), o.Autocomplete)
		}
		if o := option(registry.InputField{Name: "tool", Type: registry.TypeString}, "tool"); !o.Autocomplete {
			t.Error("a completed input has no autocomplete")
		}
	})
	t.Run("files have their types, several files an option each", func(t *testing.T) {
		t.Parallel()
		c, p := oneCommand(chat.Command{Name: "x", Inputs: registry.InputSchema{
			{Name: "Pictures", Type: registry.TypeImage, Multiple: true, Required: true}, {Name: "any", Type: registry.TypeFile},
		}})
		if len(c.Options) != maxSeveral+1 || c.Options[0].FileTypes[0] != "image" || c.Options[maxSeveral].FileTypes != nil {
			t.Errorf("%+v", c.Options)
		}
		if !c.Options[0].Required || c.Options[1].Required || c.Options[1].Name != "pictures_2" {
			t.Errorf("%+v", c.Options[:2])
		}
		if use := p.Commands["x"].Options; use["pictures"] != "Pictures" || use["pictures_2"] != furtherFile {
			t.Errorf("%v", use)
		}
	})
	t.Run("required first, then basic, then advanced, 25 at most", func(t *testing.T) {
		t.Parallel()
		var inputs registry.InputSchema
		for i := range 30 {
			inputs = append(inputs, registry.InputField{Name: fmt.Sprintf("a%d", i), Type: registry.TypeString, Advanced: true})
		}
		inputs = append(inputs, registry.InputField{Name: "basic", Type: registry.TypeBoolean}, registry.InputField{Name: "prompt", Type: registry.TypeString, Required: true})
		c, _ := oneCommand(chat.Command{Name: "x", Inputs: inputs})
		if len(c.Options) != 25 || c.Options[0].Name != "prompt" || c.Options[1].Name != "basic" || c.Options[2].Name != "a0" {
			t.Errorf("%d options, the first %q, %q", len(c.Options), c.Options[0].Name, c.Options[1].Name)
		}
	})
	t.Run("names are as Discord takes them, and lead back to the inputs", func(t *testing.T) {
		t.Parallel()
		c, p := oneCommand(chat.Command{Name: "x", Inputs: registry.InputSchema{
			{Name: "CFG Scale!", Type: registry.TypeNumber}, {Name: "cfg_scale", Type: registry.TypeNumber}, {Name: "***", Type: registry.TypeNumber},
			{Name: strings.Repeat("ü", 40), Type: registry.TypeNumber},
		}})
		var names []string
		for _, o := range c.Options {
			names = append(names, o.Name)
			if !isName(o.Name) || strings.ToLower(o.Name) != o.Name {
				t.Errorf("%q is no name", o.Name)
			}
		}
		if len(slices.Compact(slices.Sorted(slices.Values(names)))) != 4 || p.Commands["x"].Options["cfg_scale_2"] != "cfg_scale" {
			t.Errorf("%v %v", names, p.Commands["x"].Options)
		}
	})
	t.Run("a command keeps within 8000 characters", func(t *testing.T) {
		t.Parallel()
		var inputs registry.InputSchema
		for i := range 25 {
			f := registry.InputField{Name: fmt.Sprintf("i%d", i), Type: registry.TypeString, Description: strings.Repeat("d", 200)}
			for n := range 20 {
				f.Choices = append(f.Choices, registry.Choice{Value: fmt.Sprintf("%d%s", n, strings.Repeat("v", 20))})
			}
			inputs = append(inputs, f)
		}
		c, p := oneCommand(chat.Command{Name: "x", Inputs: inputs})
		if c.size() > maxCommandText || len(c.Options) < 5 || len(p.Commands["x"].Options) != len(c.Options) {
			t.Errorf("%d characters, %d options, %d known", c.size(), len(c.Options), len(p.Commands["x"].Options))
		}
	})
}

func TestCommandBodies(t *testing.T) {
	t.Parallel()
	t.Run("localisations go under Discord's names of languages", func(t *testing.T) {
		t.Parallel()
		text := func(name, description string) func() chat.CommandText {
			return func() chat.CommandText { return chat.CommandText{Name: name, Description: description} }
		}
		c, _ := oneCommand(chat.Command{Name: "help", Description: "Help", Localized: map[string]func() chat.CommandText{
			"de": text("", "Hilfe"), "zh": text("", "帮助"), "es": text("Ayuda", "Ayuda"), "tlh": text("", "QaH"),
		}})
		d := c.DescriptionLocalizations
		if d["de"] != "Hilfe" || d["zh-CN"] != "帮助" || d["es-419"] != "Ayuda" || len(d) != 5 || c.NameLocalizations["es-ES"] != "ayuda" {
			t.Errorf("%v %v", d, c.NameLocalizations)
		}
	})
	t.Run("bot-ux 31 options and their choices are described in each language", func(t *testing.T) {
		t.Parallel()
		inputs := func(about, soft string) registry.InputSchema {
			return registry.InputSchema{
				{Name: "size", Type: registry.TypeNumber, Description: "px"},
				{Name: "edges", Type: registry.TypeString, Required: true, Description: about, Choices: []registry.Choice{{Value: "soft", Label: soft}, {Value: "jpeg"}}},
			}
		}
		c, _ := oneCommand(chat.Command{Name: "draw", Inputs: inputs("How edges are", "soft"), Localized: map[string]func() chat.CommandText{
			"de": func() chat.CommandText { return chat.CommandText{Inputs: inputs("Wie Kanten sind", "weich")} },
			"es": func() chat.CommandText { return chat.CommandText{Description: "Dibuja"} },
		}})
		raw, _ := json.Marshal(c.Options)
		want := `[{"type":3,"name":"edges","description":"How edges are","description_localizations":{"de":"Wie Kanten sind"},"required":true,` +
			`"choices":[{"name":"soft","name_localizations":{"de":"weich"},"value":"soft"},{"name":"jpeg","value":"jpeg"}]},{"type":10,"name":"size","description":"px"}]`
		if string(raw) != want {
			t.Errorf("got  %s\nwant %s", raw, want)
		}
	})
	t.Run("commands on messages have a name only", func(t *testing.T) {
		t.Parallel()
		c, p := oneCommand(chat.Command{Name: "Use with…", OnMessages: true, Use: "use", Private: true, Description: "x", Inputs: registry.InputSchema{{Name: "a"}}})
		if c.Type != discordgo.MessageApplicationCommand || c.Description != "" || c.Options != nil || p.OnMessages["Use with…"] != "use" || !p.PrivateOnMessages["Use with…"] {
			t.Errorf("%+v %+v", c, p)
		}
	})
	t.Run("trap 4: what a command does not have is not sent, as null or otherwise", func(t *testing.T) {
		t.Parallel()
		c, _ := oneCommand(chat.Command{Name: "help", Description: "Help", Inputs: registry.InputSchema{{Name: "tool", Type: registry.TypeString}}})
		raw, err := json.Marshal(c)
		want := `{"type":1,"name":"help","description":"Help","options":[{"type":3,"name":"tool","description":"tool"}],"contexts":[0,1,2],"integration_types":[0,1]}`
		if err != nil || string(raw) != want {
			t.Errorf("got  %s\nwant %s", raw, want)
		}
	})
	t.Run("a command is shown in the kinds of chats it has a set for", func(t *testing.T) {
		t.Parallel()
		list, _ := commandsOf([]chat.CommandSet{
			{Kind: chat.ChatPrivate, Commands: []chat.Command{{Name: "both"}, {Name: "alone"}}},
			{Kind: chat.ChatGroup, Commands: []chat.Command{{Name: "both"}}},
			{Kind: chat.ChatGroup, Language: "de", Commands: []chat.Command{{Name: "german"}}},
		})
		raw, _ := json.Marshal([]any{list[0].Contexts, list[1].Contexts})
		if len(list) != 2 || string(raw) != "[[0,1,2],[1]]" {
			t.Errorf("%d commands, %s", len(list), raw)
		}
	})
}
