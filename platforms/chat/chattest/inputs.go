package chattest

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/platforms/chat"
)

// inputs are the ways of giving a tool what it needs that only some platforms have. On others the tests have nothing
// to do.
func inputs() map[string]func(*scene) {
	return map[string]func(*scene){
		"A70 a command's typed options reach the tool":                              typedOptions,
		"A70 a command's options are sorted: needed, usual, rare":                   optionOrder,
		"A70 a file as an option reaches the tool":                                  fileOption,
		"the bot's own commands take typed options":                                 houseOptions,
		"A71 tools are offered while one types, those used lately first":            completesTools,
		"A71 values used lately are offered while one types":                        completesValues,
		"the menu of a message uses its picture with a tool":                        useOnMessage,
		"the menu of a person uses their picture, the list of apps opens the tools": useOnPerson,
		"a dialog asks for what is missing":                                         formQuestion,
		"one dialog asks for several settings":                                      settingsDialog,
		"settings, errors and questions in groups are for one person only":          asides,
		"the last result is an input: by word, by command and by button":            lastResult,
	}
}

func typedOptions(s *scene) {
	if s.Caps.Commands.Options == 0 {
		return
	}
	s.listed("painter")
	extra[Commander](s).Command(s.t, s.anna, s.room, "painter", map[string]any{
		"prompt": "a red bicycle steps=3", "steps": json.Number("7"), "style": "ink", "tiled": true, "seed": json.Number("18446744073709551615"),
	})
	c := s.Call(0)
	s.input(c, "prompt", "a red bicycle steps=3")
	s.input(c, "steps", "7")
	s.input(c, "style", "ink")
	s.input(c, "tiled", "true")
	s.input(c, "seed", "18446744073709551615")
}

// listed waits until a command is listed.
func (s *scene) listed(name string) {
	s.t.Helper()
	s.eventually("listed command "+name, func() bool { return slices.Contains(s.Harness.Commands(s.t, chat.ChatPrivate), name) })
}

func optionOrder(s *scene) {
	if s.Caps.Commands.Options == 0 {
		return
	}
	s.listed("painter")
	got := strings.Join(extra[Commander](s).Options(s.t, chat.ChatPrivate, "painter"), " ")
	if want := "prompt steps style tiled negative seed preset"; got != want {
		s.t.Errorf("the options are %s, want %s", got, want)
	}
}

func fileOption(s *scene) {
	if s.Caps.Commands.Options == 0 {
		return
	}
	s.listed("blend")
	extra[Commander](s).Command(s.t, s.anna, s.room, "blend", map[string]any{"second": red(), "first": green()})
	c := s.Call(0)
	s.input(c, "first", s.refOf(green()))
	s.input(c, "second", s.refOf(red()))
}

func houseOptions(s *scene) {
	if s.Caps.Commands.Options == 0 {
		return
	}
	s.listed("run")
	commands := extra[Commander](s)
	commands.Command(s.t, s.anna, s.room, "settings", map[string]any{"tool": "painter"})
	s.labelled("Close", "Settings · Painter")
	commands.Command(s.t, s.anna, s.room, "run", map[string]any{"tool": "painter", "text": "a cat steps=5"})
	s.input(s.Call(0), "prompt", "a cat")
	s.input(s.Call(0), "steps", "5")
	commands.Command(s.t, s.anna, s.room, "run", map[string]any{"tool": "enlarge", "file": red()})
	s.input(s.Call(1), "image", s.refOf(red()))
}

func completesTools(s *scene) {
	if s.Caps.Commands.Options == 0 {
		return
	}
	s.listed("run")
	s.say("/poem autumn")
	s.Call(0)
	s.Handled()
	s.eventually("tool used lately", func() bool {
		offered := extra[Commander](s).Complete(s.t, s.anna, s.room, "run", "tool", "")
		return len(offered) > 3 && offered[0].Value == "poem"
	})
	for typed, want := range map[string]string{"pai": "painter", "/PAINT": "painter", "paitner": "painter", "Enlarge": "enlarge"} {
		offered := extra[Commander](s).Complete(s.t, s.anna, s.room, "settings", "tool", typed)
		if len(offered) == 0 || offered[0].Value != want {
			s.t.Errorf("%q offers %v, want %s first", typed, offered, want)
		}
	}
	step := tool("describePaint", "Describe a paint")
	step.CommandName, step.Metadata = "", map[string]any{"menu": false}
	s.with(step)
	s.say("/run describePaint")
	s.Call(1)
	s.Handled()
	for _, typed := range []string{"", "describe", "describePaint"} { // neither found nor as used lately
		for _, c := range extra[Commander](s).Complete(s.t, s.anna, s.room, "run", "tool", typed) {
			if c.Value == "describePaint" {
				s.t.Errorf("%q offers a small step, which no menu shows: %v", typed, c)
			}
		}
	}
}

func completesValues(s *scene) {
	if s.Caps.Commands.Options == 0 {
		return
	}
	s.listed("painter")
	s.say("/painter a red bicycle")
	s.Call(0)
	s.Handled()
	offered := extra[Commander](s).Complete(s.t, s.anna, s.room, "painter", "prompt", "a red")
	if len(offered) != 2 || offered[0].Value != "a red" || offered[1].Value != "a red bicycle" {
		s.t.Errorf("offered are %v, want what was typed and the prompt used before", offered)
	}
	if offered := extra[Commander](s).Complete(s.t, s.ben, s.room, "painter", "prompt", "a red"); len(offered) != 1 {
		s.t.Errorf("somebody else is offered %v", offered)
	}
	s.Restart()
	s.eventually("prompt used before the restart", func() bool {
		return len(extra[Commander](s).Complete(s.t, s.anna, s.room, "painter", "prompt", "a red")) == 2
	})
}

func useOnMessage(s *scene) {
	if s.Caps.Commands.OnMessages == 0 {
		return
	}
	menu := extra[MessageMenu](s)
	s.eventually("menu of messages", func() bool { return slices.Contains(menu.Entries(s.t), "Use with…") })
	id := s.send(Post{Files: []File{red()}})
	menu.UseOn(s.t, s.anna, s.room, id, "Use with…")
	s.press(s.labelled("Retouch", "which tool"), "Retouch")
	s.labelled("Cancel", "Retouch", "prompt")
	s.say("remove the fence")
	s.input(s.Call(0), "image", s.refOf(red()))
	s.input(s.Call(0), "prompt", "remove the fence")
	if m := s.labelled("Cancel", "Retouch", "queue"); m.ReplyTo != id {
		s.t.Errorf("what was used on message %s answers %q", id, m.ReplyTo)
	}
	menu.UseOn(s.t, s.anna, s.room, id, "Enlarge")
	s.input(s.Call(1), "image", s.refOf(red()))
	s.Handled()
	if m := s.labelled("Cancel", "Enlarge"); m.ReplyTo != id {
		s.t.Errorf("what was used on message %s answers %q", id, m.ReplyTo)
	}
}

func useOnPerson(s *scene) {
	if s.Caps.Commands.OnPeople == 0 {
		return
	}
	menu := extra[PeopleMenu](s)
	s.eventually("menu of messages", func() bool { return slices.Contains(extra[MessageMenu](s).Entries(s.t), "Use with…") })
	picture := red()
	s.say("/help") // the bot learns of its list a moment after the platform has it
	s.Handled()
	menu.UseOnPerson(s.t, s.anna, s.room, s.ben, picture.Data, "Use with…")
	s.press(s.labelled("Enlarge", "which tool"), "Enlarge")
	s.input(s.Call(0), "image", s.refOf(picture))
	menu.UseOnPerson(s.t, s.anna, s.room, s.ben, picture.Data, "Enlarge")
	s.input(s.Call(1), "image", s.refOf(picture))
	s.Handled()
	menu.UseOnPerson(s.t, s.anna, s.room, s.ben, nil, "Use with…")
	s.AwaitText(s.room, "nothing in that")
	menu.OpenApp(s.t, s.anna, s.room)
	s.labelled("Enlarge", "Tools")
}

func formQuestion(s *scene) {
	if s.Caps.Forms.Fields == 0 {
		return
	}
	s.say("/painter")
	asked := s.labelled("Answer", "Painter", "prompt")
	opened := s.press(asked, "Answer")
	s.fill(asked, opened, map[string]string{"prompt": "a blue door"})
	s.input(s.Call(0), "prompt", "a blue door")
	if a := s.fill(asked, opened, map[string]string{"prompt": "again"}); !strings.Contains(a.Text, "over") {
		s.t.Errorf("an answer to an answered question is answered %q", a.Text)
	}
	s.Handled()
	if n := s.CountRuns(); n != 1 {
		s.t.Errorf("%d runs, want 1", n)
	}
}

func settingsDialog(s *scene) {
	if s.Caps.Forms.Fields == 0 {
		return
	}
	s.press(s.settings("painter"), "Advanced (2)")
	m := s.labelled("Basic only", "negative")
	opened := s.press(m, "More settings")
	s.fill(m, opened, map[string]string{"prompt": "a default", "steps": "12", "negative": "fog"})
	s.labelled("Basic only", "fog", "12")
	s.say("/painter a cat")
	c := s.Call(0)
	s.input(c, "negative", "fog")
	s.input(c, "steps", "12")
}

func asides(s *scene) {
	if !s.Caps.Ephemeral || s.Caps.Commands.Options == 0 {
		return
	}
	s.listed("painter")
	group := s.Harness.Group("Painters")
	if group.none() {
		return
	}
	for name, options := range map[string]map[string]any{
		"settings": {"tool": "painter"},
		"balance":  {},
		"price":    {"tool": "fresco"},
		"run":      {"tool": "nosuchtool"},
	} {
		before := len(s.Harness.Messages(s.t, group))
		extra[Commander](s).Command(s.t, s.anna, group, name, options)
		m := s.newest(group, before)
		if m.OnlyFor != s.anna.ID {
			s.t.Errorf("all see the answer to /%s: %q", name, m.Text)
		}
	}
	s.noRun()
	s.sayIn(group, "/painter")
	// Who asks in a message that all see may be asked back there.
	if asked := s.AwaitText(group, "Painter", "needs"); asked.OnlyFor != s.anna.ID && s.Caps.Forms.Fields > 0 && asked.ReplyTo == "" {
		s.t.Error("all see the question")
	}
}

// newest waits for one message more than there were.
func (s *scene) newest(in Room, before int) Seen {
	s.t.Helper()
	var m Seen
	s.until(in, "new message", func(list []Seen) bool {
		if len(list) > before {
			m = list[len(list)-1]
		}
		return len(list) > before
	})
	return m
}

func lastResult(s *scene) {
	s.say("/enlarge last")
	s.AwaitText(s.room, "no result yet", "Nothing was charged")
	m := s.painted()
	painted := s.LastRun().Outputs[0].Media
	s.say("/enlarge last")
	s.input(s.Call(1), "image", painted)
	s.say("/blend first=last second=last")
	s.input(s.Call(2), "second", painted)
	s.say("/last enlarge")
	s.input(s.Call(3), "image", painted)
	s.press(m, "Use with…")
	s.press(s.labelled("Enlarge", "which tool"), "Enlarge")
	s.input(s.Call(4), "image", painted)
}
