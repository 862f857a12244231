package chattest

import (
	"encoding/json"
	"fmt"
	"image/color"
	"testing"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// darkroom are tools that take files and more: a text, a number, both.
func darkroom() []registry.Tool {
	strength := registry.InputField{Name: "strength", Type: registry.TypeNumber, Min: "0", Max: "1", Default: json.Number("0.5")}
	return []registry.Tool{
		fileTool("editpic", "Edit Picture", true, true, media("image", registry.TypeImage, true),
			registry.InputField{Name: "prompt", Type: registry.TypeString, Required: true}, strength),
		fileTool("mix", "Mix", true, true, many(media("images", registry.TypeImage, true)),
			registry.InputField{Name: "n", Type: registry.TypeNumber, Integer: true, Required: true}),
		fileTool("filmlook", "Film Look", true, true, media("image", registry.TypeImage, true),
			registry.InputField{Name: "glow", Type: registry.TypeNumber, Default: json.Number("0.3")}),
		fileTool("enlarge", "Enlarge", true, true, media("image", registry.TypeImage, true)),
		PainterTool(),
	}
}

func (s *scene) set(tools ...registry.Tool) {
	s.t.Helper()
	s.Loader.Set(tools...)
	s.Reload()
}

func TestTheCaptionOfAnAnswerIsReadLikeWhatFollowsACommand(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		command, caption string
		files            []File
		want             map[string]string
	}{
		{"/editpic", "make it red strength=0.9", []File{red()}, map[string]string{"prompt": "make it red", "strength": "0.9"}},
		{"/editpic make it blue", "strength=0.2", []File{red()}, map[string]string{"prompt": "make it blue", "strength": "0.2"}},
		{"/editpic make it blue strength=0.1", "strength=0.2", []File{red()}, map[string]string{"prompt": "make it blue", "strength": "0.2"}},
		{"/mix", "n=2", []File{red(), green()}, map[string]string{"n": "2"}},
		{"/mix", "3", []File{red(), green()}, map[string]string{"n": "3"}},
		{"/filmlook", "glow=0.5", []File{red()}, map[string]string{"glow": "0.5"}},
	} {
		t.Run(c.command+" and "+c.caption, func(t *testing.T) {
			t.Parallel()
			s, _ := newScene(t)
			s.set(darkroom()...)
			s.say(c.command)
			s.labelled("Cancel", "picture")
			s.send(Post{Text: c.caption, Files: c.files})
			call := s.Call(0)
			for name, want := range c.want {
				s.input(call, name, want)
			}
		})
	}
	for _, c := range []struct {
		command, caption string
		want             []string
	}{
		{"/editpic make it blue", "make it red", []string{"prompt has a value already", "another value"}},
		{"/editpic", "make it red strenght=0.9", []string{"strenght", "strength", "another value"}},
		{"/filmlook", "please", []string{"“please”", "no free text", "glow=0.3", "another value"}},
		{"/enlarge", "image=last", []string{"no result yet", "another value"}},
	} {
		t.Run(c.command+" and "+c.caption+" does not run", func(t *testing.T) {
			t.Parallel()
			s, _ := newScene(t)
			s.set(darkroom()...)
			s.say(c.command)
			s.labelled("Cancel", "picture")
			s.send(Post{Text: c.caption, Files: []File{red()}})
			s.AwaitText(s.room, c.want...)
			s.noRun()
			s.send(Post{Text: map[bool]string{true: "make it red"}[c.command == "/editpic"], Files: []File{red()}})
			s.input(s.Call(0), "image", s.refOf(red()))
		})
	}
	t.Run("a written answer is taken as it is", func(t *testing.T) {
		t.Parallel()
		s, _ := newScene(t)
		s.say("/painter")
		s.labelled("Cancel", "prompt")
		s.say("a poster that says steps=5")
		s.input(s.Call(0), "prompt", "a poster that says steps=5")
		if from := s.LastRun().Sources["prompt"]; from != runs.FromAnswer {
			t.Errorf("the text came from %q", from)
		}
	})
}

func TestFilesWithoutACommandAreUsedAsTheyWereSent(t *testing.T) {
	t.Parallel()
	album := []File{red(), green(), picture(color.NRGBA{B: 255, A: 255})}
	for name, c := range map[string]struct {
		files  []File
		text   string
		button string
		want   func(s *scene)
	}{
		"an album goes whole to a tool that takes several": {album, "", "Collage", func(s *scene) {
			s.input(s.Call(0), "images", fmt.Sprint([]any{s.refOf(album[0]), s.refOf(album[1]), s.refOf(album[2])}))
			if from := s.LastRun().Sources["images"]; from != runs.FromAttachment {
				s.t.Errorf("the pictures came from %q", from)
			}
			s.say("/why")
			s.AwaitText(s.room, "the file you sent")
		}},
		"what a tool does not take of an album is told": {album, "", "Enlarge", func(s *scene) {
			s.input(s.Call(0), "image", s.refOf(red()))
			s.AwaitText(s.room, "2 were left out")
		}},
		"the caption is the text": {[]File{red()}, "make it red", "Edit Picture", func(s *scene) {
			s.input(s.Call(0), "image", s.refOf(red()))
			s.input(s.Call(0), "prompt", "make it red")
		}},
		"the caption has options": {[]File{red()}, "make it red strength=0.9", "Edit Picture", func(s *scene) {
			s.input(s.Call(0), "prompt", "make it red")
			s.input(s.Call(0), "strength", "0.9")
		}},
		"options of a tool without text": {[]File{red()}, "glow=0.5", "Film Look", func(s *scene) {
			s.input(s.Call(0), "glow", "0.5")
		}},
		"a caption that the tool has no use for": {[]File{red()}, "Holidays in Rome", "Enlarge", func(s *scene) {
			s.input(s.Call(0), "image", s.refOf(red()))
			s.AwaitText(s.room, "caption was not used")
		}},
		"A37 a tool that reads no captions says so": {[]File{red()}, "Holidays in Rome", "Recolour", func(s *scene) {
			s.AwaitText(s.room, "Recolour does not read captions", "prompt")
			s.say("make it blue")
			s.input(s.Call(0), "prompt", "make it blue")
		}},
		"a slip in the caption's options": {[]File{red()}, "glwo=0.5", "Film Look", func(s *scene) {
			s.AwaitText(s.room, "glwo", "Did you mean glow", "Nothing was charged")
			s.noRun()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := newScene(t)
			s.set(append(darkroom(), fileTool("collage", "Collage", true, true, many(media("images", registry.TypeImage, true))),
				fileTool("recolour", "Recolour", false, true, media("image", registry.TypeImage, true), registry.InputField{Name: "prompt", Type: registry.TypeString, Required: true}))...)
			s.send(Post{Text: c.text, Files: c.files})
			m := s.labelled(c.button, "Reply to your file")
			s.Handled()
			s.Restart()
			s.press(m, c.button)
			c.want(s)
		})
	}
}

func TestAQuestionThatIsOverSaysSo(t *testing.T) {
	t.Parallel()
	const over = "That question is over"
	isOver := func(s *scene, id string) {
		s.t.Helper()
		s.Await(s.room, "closed question", func(m Seen) bool { return m.ID == id && len(m.Buttons) == 0 && m.contains(over) })
	}
	t.Run("in a group, to who answers one that another took the place of", func(t *testing.T) {
		t.Parallel()
		s, fake := newScene(t)
		group := fake.Group("Painters")
		s.sayIn(group, "/painter")
		first := s.AwaitText(group, "Painter", "needs")
		s.sayIn(group, "/enlarge")
		s.AwaitText(group, "Enlarge", "needs")
		s.Handled()
		fake.Post(t, Post{From: s.ben, In: group, Text: "a yellow door", ReplyTo: first.ID})
		s.Handled()
		before := len(fake.Messages(t, group))
		fake.Post(t, Post{From: s.anna, In: group, Text: "a blue door", ReplyTo: first.ID})
		if m := s.newest(group, before); !m.contains(over, "Send the command again") {
			t.Errorf("the answer is answered %q", m.Text)
		}
		s.noRun()
	})
	t.Run("in a group, to who answers too late", func(t *testing.T) {
		t.Parallel()
		s, fake := newScene(t)
		group := fake.Group("Painters")
		s.sayIn(group, "/painter")
		asked := s.AwaitText(group, "Painter", "needs")
		s.Handled()
		if _, err := s.Pool.Exec(t.Context(), `UPDATE chat_prompts SET expires_at = now() - interval '1 second'`); err != nil {
			t.Fatal(err)
		}
		fake.Post(t, Post{From: s.anna, In: group, Text: "a blue door", ReplyTo: asked.ID})
		s.AwaitText(group, over)
		s.noRun()
	})
	t.Run("not one that was answered", func(t *testing.T) {
		t.Parallel()
		s, fake := newScene(t)
		group := fake.Group("Painters")
		s.sayIn(group, "/painter")
		asked := s.AwaitText(group, "Painter", "needs")
		fake.Post(t, Post{From: s.anna, In: group, Text: "a blue door", ReplyTo: asked.ID})
		s.input(s.Call(0), "prompt", "a blue door")
		s.Handled()
		fake.Post(t, Post{From: s.anna, In: group, Text: "thanks", ReplyTo: asked.ID})
		s.Handled()
		for _, m := range fake.Messages(t, group) {
			if m.contains(over) {
				t.Errorf("the bot says %q", m.Text)
			}
		}
	})
	t.Run("other messages of the bot can be replied to in peace", func(t *testing.T) {
		t.Parallel()
		s, fake := newScene(t)
		group := fake.Group("Painters")
		s.sayIn(group, "/balance")
		m := s.AwaitText(group, "You have")
		fake.Post(t, Post{From: s.anna, In: group, Text: "so little", ReplyTo: m.ID})
		s.Handled()
		if list := fake.Messages(t, group); len(list) != 1 {
			t.Errorf("the bot says:\n%s", render(list))
		}
	})
	t.Run("a command that is refused leaves it open", func(t *testing.T) {
		t.Parallel()
		s, _ := newScene(t)
		s.say("/painter steps=5")
		s.labelled("Cancel", "prompt")
		for command, refusal := range map[string]string{
			"/painter prompt=": "has no value", "/painter a dog steps=99": "50", "/tapestry foo=bar": "no option foo", "/fresco a wall": "not available",
		} {
			s.say(command)
			s.AwaitText(s.room, refusal)
		}
		s.say("a cat")
		s.input(s.Call(0), "prompt", "a cat")
		s.input(s.Call(0), "steps", "5")
	})
	t.Run("a run that was begun instead ends it", func(t *testing.T) {
		t.Parallel()
		s, _ := newScene(t)
		s.say("/enlarge")
		asked := s.labelled("Cancel", "Enlarge")
		s.say("/painter a cat")
		s.Call(0)
		isOver(s, asked.ID)
	})
	t.Run("the next question ends it, an answered one only loses its buttons", func(t *testing.T) {
		t.Parallel()
		s, _ := newScene(t)
		s.say("/enlarge")
		first := s.labelled("Cancel", "Enlarge")
		s.say("/frame")
		second := s.labelled("Oak", "Frame")
		isOver(s, first.ID)
		s.say("oak")
		s.labelled("Yes", "Frame")
		s.Handled()
		s.Await(s.room, "answered question", func(m Seen) bool { return m.ID == second.ID && len(m.Buttons) == 0 && m.contains("wood") })
	})
	t.Run("and so does /cancel", func(t *testing.T) {
		t.Parallel()
		s, _ := newScene(t)
		s.say("/painter")
		asked := s.labelled("Cancel", "prompt")
		s.Handled()
		s.say("/cancel")
		s.AwaitText(s.room, "dropped")
		isOver(s, asked.ID)
	})
}
