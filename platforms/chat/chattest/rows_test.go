package chattest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/registry"
)

func TestHintsAloneChooseHowFilesComeIn(t *testing.T) {
	t.Parallel()
	for _, hints := range []struct{ caption, reply bool }{{true, true}, {true, false}, {false, true}, {false, false}} {
		name := fmt.Sprintf("A38 A69 the same tool with caption %v and reply %v", hints.caption, hints.reply)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := newScene(t)
			s.Loader.Set(fileTool("enlarge", "Enlarge", hints.caption, hints.reply, media("image", registry.TypeImage, true)))
			s.Reload()
			n := 0
			uses := func(used bool, refusal string) {
				t.Helper()
				if !used {
					s.AwaitText(s.room, refusal)
					s.Handled()
				} else {
					s.input(s.Call(n), "image", s.refOf(red()))
					n++
				}
				if got := s.CountRuns(); got != n {
					t.Fatalf("%d runs, want %d", got, n)
				}
			}
			s.send(Post{Text: "/enlarge", Files: []File{red()}})
			uses(hints.caption, "does not read captions")
			id := s.send(Post{Files: []File{red()}})
			s.send(Post{Text: "/enlarge", ReplyTo: id})
			uses(hints.reply, "does not take files from messages replied to")
		})
	}
}

func TestHelpKeepsWithinThePlatformsLimit(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{500, 2000, 4096} {
		t.Run(fmt.Sprintf("A56 help within %d characters", limit), func(t *testing.T) {
			t.Parallel()
			s, _ := newScene(t, func(c *chat.Capabilities) { c.TextLimit = limit })
			long := PainterTool()
			long.Description = "Paints. " + strings.Repeat("It paints 🖼 and paints. ", 500)
			s.Loader.Set(long)
			s.Reload()
			s.say("/help painter")
			m := s.AwaitText(s.room, "Painter", "Paints. It paints", "…", "prompt (needed)", "/painter <prompt>")
			if n := len(utf16.Encode([]rune(m.Text))); n > limit || n < limit-60 {
				t.Errorf("the help has %d characters of %d", n, limit)
			}
		})
	}
}

// edit opens one input's page from the settings and gives it.
func (s *scene) edit(tool, field string) Seen {
	s.t.Helper()
	before := len(s.Harness.Messages(s.t, s.room))
	s.say("/settings " + tool)
	var m Seen
	s.until(s.room, "settings", func(list []Seen) bool {
		if len(list) > before {
			m = list[len(list)-1]
		}
		return m.Has(field)
	})
	s.press(m, field)
	return s.labelled("Back", "· "+field)
}

func TestSettingsOfEveryKindOfInput(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ field, wrong, refusal, right, want, before string }{
		{"steps", "many", "number", "33", "33", "20"},
		{"steps", "51", "50", "50", "50", "20"},
		{"steps", "2.5", "whole", "2", "2", "20"},
		{"style", "charcoal", "Ink", "Ink", "ink", "oil"},
		{"title", "", "", "A name", "A name", "none"},
		{"seed", "-7", "0", "18446744073709551615", "18446744073709551615", "5"},
	} {
		t.Run("A59 "+c.field+" is edited, checked and reset: "+c.wrong, func(t *testing.T) {
			t.Parallel()
			s, _ := newScene(t)
			s.Loader.Set(everyKind())
			s.Reload()
			m := s.edit("easel", c.field)
			if c.field == "style" {
				// Choices are buttons: what is none of them can't be set.
				if m.Has(c.wrong) {
					t.Errorf("there is a button %q", c.wrong)
				}
				s.press(m, c.right)
				s.labelled("✓ " + c.right)
			} else {
				if c.wrong != "" {
					s.say(c.wrong)
					s.AwaitText(s.room, c.refusal, "another value")
				}
				s.say(c.right)
				s.AwaitText(s.room, "Saved: "+c.field)
			}
			s.say("/easel x")
			s.input(s.Call(0), c.field, c.want)
			m = s.edit("easel", c.field)
			s.press(m, "Reset to default")
			s.Await(s.room, "settings after the reset", func(now Seen) bool { return now.ID == m.ID && now.Has("Close") && !now.contains("(yours)") })
			s.say("/easel x")
			s.input(s.Call(1), c.field, c.before)
		})
	}
}

func TestSettingsShowASeedAsRandom(t *testing.T) {
	t.Parallel()
	s, _ := newScene(t)
	stored := tool("easel", "Easel", registry.InputField{
		Name: "seed", Type: registry.TypeNumber, Integer: true, Seed: true, Min: "0", Max: "99999999", Default: json.Number("8566257"),
	})
	s.Loader.Set(stored)
	s.Reload()
	if m := s.settings("easel"); !m.contains("seed: random") || m.contains("8566257") {
		t.Errorf("the settings are:\n%s", m.Text)
	}
	m := s.edit("easel", "seed")
	if !m.contains("Now: random") {
		t.Errorf("the seed's page is:\n%s", m.Text)
	}
	s.say("7")
	s.AwaitText(s.room, "seed: 7 (yours)")
}

// everyKind has a default for each input, so that a reset shows.
func everyKind() registry.Tool {
	return tool("easel", "Easel",
		registry.InputField{Name: "prompt", Type: registry.TypeString, Required: true},
		registry.InputField{Name: "steps", Type: registry.TypeNumber, Integer: true, Min: "1", Max: "50", Default: json.Number("20")},
		registry.InputField{Name: "style", Type: registry.TypeString, Default: "oil", Choices: []registry.Choice{
			{Value: "oil", Label: "Oil paint"}, {Value: "ink", Label: "Ink"},
		}},
		registry.InputField{Name: "title", Type: registry.TypeString, Default: "none"},
		registry.InputField{Name: "seed", Type: registry.TypeNumber, Integer: true, Min: "0", Max: "18446744073709551615", Default: json.Number("5")},
	)
}

// fieldsOf gives the labels of the inputs that a settings message has buttons for.
func fieldsOf(m Seen) []string {
	var labels []string
	for _, row := range m.Buttons {
		for _, label := range row {
			if label != "Close" && !strings.HasPrefix(label, "Advanced") && label != "Basic only" {
				labels = append(labels, label)
			}
		}
	}
	return labels
}

func TestSettingsAreDrawnFromTheSchema(t *testing.T) {
	t.Parallel()
	t.Run("A60 an input is basic or advanced as its schema says", func(t *testing.T) {
		t.Parallel()
		s, _ := newScene(t)
		tool := everyKind()
		s.Loader.Set(tool)
		s.Reload()
		if got := fieldsOf(s.settings("easel")); !slices.Equal(got, []string{"prompt", "steps", "style", "title", "seed"}) {
			t.Errorf("settings show %v", got)
		}
		tool.InputSchema[1].Advanced, tool.InputSchema[4].Advanced = true, true
		s.Loader.Set(tool)
		s.Reload()
		s.say("/settings easel")
		m := s.labelled("Advanced (2)")
		if got := fieldsOf(m); !slices.Equal(got, []string{"prompt", "style", "title"}) {
			t.Errorf("the basic view shows %v", got)
		}
		s.press(m, "Advanced (2)")
		if got := fieldsOf(s.labelled("Basic only")); len(got) != 5 {
			t.Errorf("the advanced view shows %v", got)
		}
	})
	t.Run("A86 a new input has a button, a removed one has none, and old menus draw anew", func(t *testing.T) {
		t.Parallel()
		s, _ := newScene(t)
		tool := everyKind()
		s.Loader.Set(tool)
		s.Reload()
		old := s.settings("easel")
		tool.InputSchema = append(slices.Delete(slices.Clone(tool.InputSchema), 1, 2),
			registry.InputField{Name: "paper", Type: registry.TypeBoolean, Default: true, DisplayName: "Rough paper"})
		s.Loader.Set(tool)
		s.Reload()
		s.press(old, "steps")
		m := s.labelled("Rough paper: Yes")
		if got := fieldsOf(m); m.ID != old.ID || !slices.Equal(got, []string{"prompt", "style", "title", "seed", "Rough paper: Yes"}) {
			t.Errorf("message %s shows %v", m.ID, got)
		}
		s.press(m, "Rough paper: Yes")
		s.labelled("Rough paper: No")
		s.say("/easel x")
		s.input(s.Call(0), "paper", "false")
	})
}

func TestAnUnavailableToolLeadsToOthers(t *testing.T) {
	t.Parallel()
	down := tool("oilpaint", "oil painter", registry.InputField{Name: "prompt", Type: registry.TypeString, Required: true})
	down.Category = "Pictures"
	down.Status = &registry.Status{State: registry.StateUnavailable, Reason: "the model wall.safetensors is missing"}
	for want, others := range map[string][]registry.Tool{"Tools like it: /painter": {PainterTool()}, "Please try again later": nil} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			s, _ := newScene(t)
			s.Loader.Set(append(others, down)...)
			s.Reload()
			s.say("/oilpaint a cat")
			s.AwaitText(s.room, "Oil painter is not available now.", "The model wall.safetensors is missing.", "Nothing was charged", want)
			s.noRun()
		})
	}
}

func TestTalkInPrivate(t *testing.T) {
	t.Parallel()
	s, _ := newScene(t)
	others := Tools()
	others[1].Description = "Says hello, is there, and makes a picture larger."
	s.Loader.Set(others...)
	s.Reload()
	s.say("hello there")
	if m := s.AwaitText(s.room, "I'm here", "in your own words", "/start", "/tools"); len(m.Buttons) > 0 {
		t.Errorf("a greeting is answered with the tools %v", m.Buttons)
	}
	s.say("painter")
	s.labelled("Painter", "one of these")
	s.say("can you enlarge this")
	s.labelled("Enlarge", "one of these")
	s.noRun()
}

func TestARemovedToolIsGoneFromTheChat(t *testing.T) {
	t.Parallel()
	t.Run("A83 command, menu, search and buttons", func(t *testing.T) {
		t.Parallel()
		s, fake := newScene(t)
		result := s.painted("seed=7")
		settings := s.settings("painter")
		s.say("/run describe paint")
		found := s.labelled("Painter", "/painter")
		s.until(s.room, "command", func([]Seen) bool { return slices.Contains(fake.Commands(t, chat.ChatPrivate), "painter") })

		all := Tools()
		s.Loader.Set(all[1:]...)
		s.Reload()
		s.until(s.room, "shorter list", func([]Seen) bool { return !slices.Contains(fake.Commands(t, chat.ChatPrivate), "painter") })
		s.say("/painter a cat")
		m := s.AwaitText(s.room, "I have no command /painter", "/tools")
		if m.contains("mean /painter") {
			t.Errorf("the removed tool is suggested:\n%s", m.Text)
		}
		for _, c := range []struct {
			m     Seen
			label string
		}{{result, "Again"}, {result, "Vary"}, {result, "Again"}, {result, "Settings"}, {settings, "style"}, {found, "Painter"}} {
			if a := s.press(c.m, c.label); !strings.Contains(a.Text, "This tool is gone") {
				t.Errorf("%s answers %q", c.label, a.Text)
			}
		}
		s.press(result, "Original file") // what was made stays
		s.Await(s.room, "document", func(m Seen) bool { return m.Media != nil && m.Media.Kind == chat.KindDocument })
		s.Handled()
		if n := s.CountRuns(); n != 1 {
			t.Errorf("%d runs, want 1", n)
		}

		s.Loader.Set(all...)
		s.Reload()
		if a := s.press(result, "Again"); !strings.Contains(a.Text, "Started") {
			t.Errorf("Again answers %q when the tool is back", a.Text)
		}
		s.Call(1)
	})
	t.Run("A83 a question of a removed tool ends", func(t *testing.T) {
		t.Parallel()
		s, _ := newScene(t)
		s.say("/painter")
		s.labelled("Cancel", "prompt")
		s.Handled()
		s.Loader.Set(Tools()[1:]...)
		s.Reload()
		s.say("a cat")
		s.AwaitText(s.room, "This tool is gone")
		s.say("1234")
		s.AwaitText(s.room, "I don't know what to do")
		s.noRun()
	})
	t.Run("A83 what is under way when its tool goes still ends", func(t *testing.T) {
		t.Parallel()
		s, _ := newScene(t)
		s.say("/painter a cat")
		c := s.Call(0)
		s.Loader.Set(Tools()[1:]...)
		s.Reload()
		s.Succeed(c, PictureOutput("picture"))
		s.AwaitMedia(s.room, "Painter", "a cat", "under $0.01")
	})
}
