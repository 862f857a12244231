package discordtest_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/platforms/discord/discordtest"
)

func (b *bench) commands() string { return "/applications/" + b.ApplicationID + "/commands" }

func (b *bench) guildCommands() string {
	return "/applications/" + b.ApplicationID + "/guilds/" + b.guild.ID() + "/commands"
}

// command is a slash command with a description; more overrides and adds.
func command(more object) object {
	c := object{"name": "paint", "description": "Paints."}
	maps.Copy(c, more)
	return c
}

func option(kind int, name string, more ...any) object {
	o := object{"type": kind, "name": name, "description": "An option."}
	for i := 0; i+1 < len(more); i += 2 {
		o[more[i].(string)] = more[i+1]
	}
	return o
}

func TestCommandRules(t *testing.T) {
	t.Parallel()
	b := setup(t, discordtest.Options{})
	many := func(n int) []object {
		var out []object
		for i := range n {
			out = append(out, option(3, fmt.Sprint("o", i)))
		}
		return out
	}
	choices := func(n int) []object {
		var out []object
		for i := range n {
			out = append(out, object{"name": fmt.Sprint("c", i), "value": fmt.Sprint(i)})
		}
		return out
	}
	wide := strings.Repeat("x", 100)
	heavy := many(24)
	for _, o := range heavy {
		o["description"], o["choices"] = wide, []object{{"name": wide, "value": wide}, {"name": "y" + wide[1:], "value": "y" + wide[1:]}}
	}
	cases := []struct {
		name string
		body object
		part string
	}{
		{"a name with a space", object{"name": "paint it"}, "APPLICATION_COMMAND_INVALID_NAME"},
		{"a name with a capital", object{"name": "Paint"}, "APPLICATION_COMMAND_INVALID_NAME"},
		{"a name over 32", object{"name": strings.Repeat("x", 33)}, "BASE_TYPE_MAX_LENGTH"},
		{"no description", object{"description": ""}, "BASE_TYPE_REQUIRED"},
		{"a description over 100", object{"description": wide + "x"}, "BASE_TYPE_MAX_LENGTH"},
		{"26 options", object{"options": many(26)}, "BASE_TYPE_MAX_LENGTH"},
		{"required after optional", object{"options": []object{option(3, "a"), option(3, "b", "required", true)}}, "REQUIRED_INVALID"},
		{"one option name twice", object{"options": []object{option(3, "a"), option(4, "a")}}, "NAME_ALREADY_EXISTS"},
		{"an option name with a dot", object{"options": []object{option(3, "a.b")}}, "APPLICATION_COMMAND_INVALID_NAME"},
		{"an unknown option type", object{"options": []object{option(12, "a")}}, "UNION_TYPE_CHOICES"},
		{"26 choices", object{"options": []object{option(3, "a", "choices", choices(26))}}, "BASE_TYPE_MAX_LENGTH"},
		{"one choice twice", object{"options": []object{option(3, "a", "choices", append(choices(2), choices(1)...))}}, "CHOICE_NAME_ALREADY_EXISTS"},
		{"a choice value over 100", object{"options": []object{option(3, "a", "choices", []object{{"name": "x", "value": wide + "x"}})}}, "BASE_TYPE_MAX_LENGTH"},
		{"choices and autocomplete", object{"options": []object{option(3, "a", "choices", choices(1), "autocomplete", true)}}, "MUTUALLY_EXCLUSIVE"},
		{"min_value over max_value", object{"options": []object{option(4, "a", "min_value", 5, "max_value", 4)}}, "MIN_OVER_MAX"},
		{"max_length over 6000", object{"options": []object{option(3, "a", "max_length", 6001)}}, "NUMBER_TYPE_MAX"},
		{"a subcommand beside an option", object{"options": []object{option(1, "a"), option(3, "b")}}, "TYPE_INVALID"},
		{"a group in a group", object{"options": []object{option(2, "a", "options", []object{option(2, "b", "options", []object{})})}}, ""},
		{"over 8000 characters", object{"options": heavy}, "APPLICATION_COMMAND_TOO_LARGE"},
		{"an unknown locale", object{"name_localizations": object{"xx": "malen"}}, "DICT_TYPE_INVALID_KEY"},
		{"a translated name with a capital", object{"name_localizations": object{"de": "Malen"}}, "APPLICATION_COMMAND_INVALID_NAME"},
		{"private channels without user install", object{"contexts": []int{0, 2}}, "APPLICATION_COMMAND_CONTEXTS_INSTALL"},
		{"a message command with a description", object{"type": 3}, "CONTEXT_MENU_DESCRIPTION"},
		{"a message command with options", object{"type": 3, "description": "", "options": many(1)}, "CONTEXT_MENU_OPTIONS"},
		{"an entry point that nobody answers", object{"type": 4}, "BASE_TYPE_CHOICES"},
		{"an entry point with options", object{"type": 4, "handler": 1, "options": many(1)}, "ENTRY_POINT_OPTIONS"},
		{"a slash command with a handler", object{"handler": 1}, "APPLICATION_COMMAND_HANDLER"},
		{"file types that are none", object{"options": []object{option(11, "f", "file_types", []string{"text"})}}, "BASE_TYPE_INVALID"},
	}
	for _, c := range cases {
		t.Run(c.name+" is refused", func(t *testing.T) {
			b.expect(b.call("POST", b.commands(), command(c.body)), 400, 50035, c.part)
			b.complained("50035")
			b.expect(b.call("PUT", b.commands(), []any{command(object{"name": "fine"}), command(c.body)}), 400, 50035, `"1":{`)
			b.complained("50035")
			if n := len(b.Commands(nil)); n != 0 {
				t.Errorf("%d commands were registered by a refused request", n)
			}
		})
	}
	t.Run("contexts of a guild's command are refused", func(t *testing.T) {
		b.expect(b.call("POST", b.guildCommands(), command(object{"contexts": []int{0}})), 400, 50035, "GUILD_CONTEXTS")
		b.complained("50035")
	})
	t.Run("one name twice is refused", func(t *testing.T) {
		b.expect(b.call("PUT", b.commands(), []any{command(nil), command(nil)}), 400, 50035, "DUPLICATE_NAME")
		b.complained("50035")
	})
	t.Run("the 101st slash command and the 16th message command are refused", func(t *testing.T) {
		var list []any
		for i := range 101 {
			list = append(list, command(object{"name": fmt.Sprint("c", i)}))
		}
		b.expect(b.call("PUT", b.commands(), list), 400, 30032, "(100)")
		list = list[:100]
		for i := range 16 {
			list = append(list, object{"type": 3, "name": fmt.Sprint("Use ", i)})
		}
		b.expect(b.call("PUT", b.commands(), list), 400, 30032, "(15)")
		if r := b.call("PUT", b.commands(), list[:115]); r.status != 200 {
			t.Error(r.raw)
		}
		b.expect(b.call("POST", b.commands(), command(object{"name": "onemore"})), 400, 30032, "")
	})
}

func TestCommands(t *testing.T) {
	t.Parallel()
	t.Run("two hundred new commands a day, changes not counted", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		replace := func(round int) reply {
			var list []any
			for i := range 100 {
				list = append(list, command(object{"name": fmt.Sprint("c", round, "-", i)}))
			}
			return b.call("PUT", b.commands(), list)
		}
		for _, round := range []int{1, 1, 2} {
			if r := replace(round); r.status != 200 {
				t.Error(r.raw)
			}
		}
		b.expect(replace(3), 400, 30034, "200")
		b.clock.Advance(25 * time.Hour)
		if r := replace(3); r.status != 200 {
			t.Error(r.raw)
		}
	})
	t.Run("global and guild commands are kept apart, changed, listed and deleted", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		made := b.call("POST", b.commands(), command(object{"default_member_permissions": "32", "name_localizations": object{"de": "malen"}}))
		b.call("POST", b.guildCommands(), command(object{"name": "local"}))
		again := b.call("POST", b.commands(), command(object{"description": "Paints again."}))
		if again.id() != made.id() || again.get("version") == made.get("version") {
			t.Errorf("the same name makes another command: %s", again.raw)
		}
		path := b.commands() + "/" + made.id()
		if r := b.call("PATCH", path, object{"description": "Changed."}); r.get("description") != "Changed." || r.get("application_id") != b.ApplicationID {
			t.Error(r.raw)
		}
		if list := b.Commands(b.guild); len(list) != 1 || list[0].Name != "local" {
			t.Errorf("guild: %+v", list)
		}
		if r := b.call("DELETE", path, nil); r.status != 204 || len(b.Commands(nil)) != 0 || b.CommandWrites() != 5 {
			t.Errorf("%s, %d writes", r.raw, b.CommandWrites())
		}
		b.expect(b.call("GET", path, nil), 404, 10063, "")
		b.expect(b.call("GET", "/applications/1/commands", nil), 403, 20012, "")
	})
	t.Run("people are offered what fits the place, their rights and their age", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		b.register(`[{"name":"all","description":"d"},{"name":"admins","description":"d","default_member_permissions":"0"},
			{"name":"adult","description":"d","nsfw":true},{"name":"here","description":"d","contexts":[0]},{"name":"dm","description":"d","contexts":[1]},
			{"name":"mine","description":"d","integration_types":[1]},{"name":"managers","description":"d","default_member_permissions":"32"}]`)
		b.guild.Give(b.bob, b.guild.Role("boss", discordtest.ManageGuild))
		foreign := b.ForeignGuild("Elsewhere", b.User("Cy")).Text("talk")
		cy := b.User("Dee").Install()
		foreign.Guild().Add(cy)
		for _, c := range []struct {
			who   *discordtest.User
			where *discordtest.Channel
			want  string
		}{
			{b.ann, b.channel, "all admins here managers"},
			{b.bob, b.channel, "all here managers"},
			{b.ann, b.guild.AgeRestricted("adults"), "all admins adult here managers"},
			{b.bob, b.bob.DM(), "all admins adult dm managers"},
			{cy, foreign, "mine"},
			{cy, b.channel, ""},
		} {
			var names []string
			for _, cmd := range c.who.Commands(c.where) {
				names = append(names, cmd.Name)
			}
			if got := strings.Join(names, " "); got != c.want {
				t.Errorf("%s in %s: %q, want %q", c.who.Name(), c.where, got, c.want)
			}
		}
	})
}
