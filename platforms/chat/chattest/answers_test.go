package chattest

import (
	"encoding/json"
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

