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
