package discordtest_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/platforms/discord/discordtest"
)

// strictTB notes how a test would have ended instead of ending it.
type strictTB struct {
	testing.TB
	text string
}

func (f *strictTB) Fatalf(format string, args ...any) {
	f.text = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func TestWhatPeopleGive(t *testing.T) {
	t.Parallel()
	t.Run("people, channels, roles, numbers and choices arrive as the client sends them", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		b.register(`[{"name":"all","description":"d","options":[{"type":6,"name":"who","description":"d"},{"type":7,"name":"where","description":"d"},
			{"type":8,"name":"role","description":"d"},{"type":10,"name":"size","description":"d"},{"type":3,"name":"kind","description":"d","choices":[{"name":"One","value":"1"}]}]},
			{"name":"Greet","type":2}]`)
		role := b.guild.Role("boss", discordtest.ManageGuild)
		b.guild.Give(b.ann, role)
		opt := discordtest.Opt
		data := wireOf(t, b, b.ann.Command(b.channel, "all", opt("who", b.bob), opt("where", b.channel), opt("role", role), opt("size", 0.5), opt("kind", "1")))
		for _, part := range []string{`"members":{"` + b.bob.ID(), `"users":{"` + b.bob.ID(), `"channels":{"` + b.channel.ID(), `"roles":{"` + role.ID(), `"value":0.5`, `"value":"1"`, `"roles":["` + role.ID() + `"]`} {
			if !strings.Contains(data, part) {
				t.Errorf("%s lacks %s", data, part)
			}
		}
		if data := wireOf(t, b, b.ann.UserCommand(b.channel, b.bob, "Greet")); !strings.Contains(data, `"target_id":"`+b.bob.ID()+`"`) {
			t.Errorf("got %s", data)
		}
	})
	t.Run("a button can be pressed by its id, and once more after it is gone", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		sent := b.call("POST", b.messages(), object{"content": "x", "components": []any{row(button("Go", "go"))}})
		m := b.History(b.channel)[0]
		b.answer(b.ann.PressID(m, "go"), object{"type": 6})
		b.call("DELETE", b.messages()+"/"+sent.id(), nil)
		stale := b.ann.PressStale(m, "go")
		b.expect(b.answer(stale, object{"type": 7, "data": object{"content": "y"}}), 404, 10008, "")
		if r := b.answer(stale, object{"type": 4, "data": object{"content": "gone", "flags": 64}}); r.status != 204 {
			t.Error(r.raw)
		}
	})
}

func TestLookups(t *testing.T) {
	t.Parallel()
	b := setup(t, discordtest.Options{})
	b.register(paint)
	guild, foreign := "/guilds/"+b.guild.ID(), "/guilds/"+b.ForeignGuild("Elsewhere").ID()
	for path, want := range map[string]string{
		"/users/" + b.ann.ID():           `"global_name":"Ann"`,
		"/users/" + b.BotID():            `"bot":true`,
		"/users/@me/guilds":              `"name":"Studio"`,
		"/applications/@me":              b.PublicKey,
		guild:                            `"owner_id":"` + b.ann.ID() + `"`,
		guild + "/roles":                 `"@everyone"`,
		guild + "/channels":              b.channel.ID(),
		guild + "/members/" + b.bob.ID(): `"global_name":"Bob"`,
		guild + "/members/" + b.BotID():  `"bot":true`,
		guild + "/members/1":             `10007`,
		"/guilds/1":                      `10004`,
		foreign:                          `50001`,
		foreign + "/roles":               `50001`,
		foreign + "/channels":            `50001`,
		foreign + "/members/1":           `50001`,
		"/users/1":                       `10013`,
		"/channels/" + b.ann.DM().ID():   `"recipients":[`,
		"/gateway":                       "/gateway",
		b.commands():                     `"name":"paint"`,
		b.commands() + "/" + b.Commands(nil)[0].ID:                 `"name":"paint"`,
		"/applications/" + b.ApplicationID + foreign + "/commands": `50001`,
	} {
		if r := b.call("GET", path, nil); !strings.Contains(r.raw, want) {
			t.Errorf("GET %s: %s lacks %s", path, r.raw, want)
		}
	}
	if r := b.call("POST", "/users/@me/channels", object{"recipient_id": b.bob.ID()}); r.id() != b.bob.DM().ID() {
		t.Error(r.raw)
	}
	b.expect(b.call("POST", "/users/@me/channels", object{"recipient_id": "1"}), 400, 50035, "recipient_id")
	b.complained("50035")
	for range 3 {
		b.ann.Send(b.channel, "<@"+b.BotID()+">")
	}
	if r := b.call("GET", b.messages()+"?limit=2", nil); len(r.body.([]any)) != 2 {
		t.Error(r.raw)
	}
	thread := b.call("POST", b.messages()+"/"+b.History(b.channel)[0].ID+"/threads", object{"name": "more"})
	if r := b.call("POST", "/channels/"+thread.id()+"/messages", object{"content": "in the thread"}); r.status != 200 {
		t.Error(r.raw)
	}
	i := b.painted()
	b.answer(i, object{"type": 4, "data": object{"content": "x"}})
	if r := b.hook("GET", i, "/messages/@original", nil); r.get("content") != "x" || r.get("interaction_metadata", "user", "id") != b.ann.ID() || r.get("type") != 20.0 {
		t.Error(r.raw)
	}
}

func TestPeopleCanDoOnlyWhatTheClientOffers(t *testing.T) {
	t.Parallel()
	tb := &strictTB{TB: t}
	s := discordtest.New(tb, discordtest.Options{})
	b := &bench{Server: s, t: t, ann: s.User("Ann"), bob: s.User("Bob")}
	b.guild = s.Guild("Studio", b.ann, b.bob)
	b.channel = b.guild.Text("general")
	b.register(paint)
	opt := discordtest.Opt
	b.call("POST", b.messages(), object{"content": "hi", "components": []any{
		row(button("Go", "go"), object{"type": 2, "style": 1, "label": "Off", "custom_id": "off", "disabled": true}, object{"type": 2, "style": 5, "label": "Web", "url": "https://example.com"}),
		row(object{"type": 3, "custom_id": "size", "options": options(2)}),
	}})
	public := b.History(b.channel)[0]
	i := b.ann.Command(b.channel, "paint", opt("prompt", "x"))
	b.answer(i, object{"type": 4, "data": object{"content": "secret", "flags": 64, "components": []any{row(button("Go", "go"))}}})
	private := i.Message(within(t), nil)
	opened := b.ann.Press(public, "Go")
	b.answer(opened, object{"type": 9, "data": object{"custom_id": "f", "title": "F", "components": []any{
		object{"type": 18, "label": "Name", "component": object{"type": 4, "custom_id": "name", "style": 1, "max_length": 3}},
		object{"type": 18, "label": "Size", "component": object{"type": 21, "custom_id": "size", "required": false, "options": options(2)}},
	}}})
	form := opened.Modal(within(t))
	text := discordtest.File{Name: "a.txt", Bytes: []byte("x")}
	for name, c := range map[string]struct {
		act  func()
		part string
	}{
		"a command that is not registered":       {func() { b.ann.Command(b.channel, "nope") }, `is not offered the command "nope"`},
		"a command without its required option":  {func() { b.ann.Command(b.channel, "paint") }, `"prompt" is required`},
		"an option that is not there":            {func() { b.ann.Command(b.channel, "paint", opt("prompt", "x"), opt("size", 1)) }, `no option "size"`},
		"a number out of range":                  {func() { b.ann.Command(b.channel, "paint", opt("prompt", "x"), opt("steps", 51)) }, "out of range"},
		"half a whole number":                    {func() { b.ann.Command(b.channel, "paint", opt("prompt", "x"), opt("steps", 1.5)) }, "no whole number"},
		"a text where a number belongs":          {func() { b.ann.Command(b.channel, "paint", opt("prompt", "x"), opt("steps", "4")) }, "is no number"},
		"a file of another kind":                 {func() { b.ann.Command(b.channel, "paint", opt("prompt", "x"), opt("image", text)) }, "none of the kinds"},
		"choices for an option without":          {func() { b.ann.Autocomplete(b.channel, "paint", "prompt", "x") }, "asks for no choices"},
		"a subcommand that is not there":         {func() { b.ann.Command(b.channel, "set down") }, `no subcommand "down"`},
		"a command where she is no member":       {func() { s.User("Cy").Command(b.channel, "paint") }, "is not offered"},
		"a button that is not there":             {func() { b.ann.Press(public, "Stop") }, `no button "Stop"`},
		"a disabled button":                      {func() { b.ann.Press(public, "Off") }, "is disabled"},
		"a link":                                 {func() { b.ann.Press(public, "Web") }, "is a link"},
		"a button of somebody's private message": {func() { b.bob.Press(private, "Go") }, "does not see"},
		"an option that the menu lacks":          {func() { b.ann.Choose(public, "size", "9") }, `no option "9"`},
		"two options where one can be chosen":    {func() { b.ann.Choose(public, "size", "0", "1") }, "can't be chosen"},
		"a menu that is not there":               {func() { b.ann.Choose(public, "colour", "0") }, `no menu "colour"`},
		"an empty form":                          {func() { b.ann.Submit(form, nil) }, "does not fit"},
		"a text too long for the form":           {func() { b.ann.Submit(form, map[string]any{"Name": "abcd"}) }, "does not fit"},
		"an input that the form lacks":           {func() { b.ann.Submit(form, map[string]any{"Colour": "x"}) }, `no input "Colour"`},
		"a radio option that is not there":       {func() { b.ann.Submit(form, map[string]any{"Name": "abc", "Size": "9"}) }, `no option "9"`},
		"what somebody else wrote, to delete":    {func() { b.bob.Delete(public) }, "can't delete"},
	} {
		tb.text = ""
		done := make(chan struct{})
		go func() {
			defer close(done)
			c.act()
		}()
		<-done
		if !strings.Contains(tb.text, c.part) {
			t.Errorf("%s: the test ends with %q, expected %q", name, tb.text, c.part)
		}
	}
}
