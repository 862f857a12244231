package chattest

import (
	"encoding/json"
	"testing"

	"github.com/signalbox/signalbox/registry"
)

// The words that a workflow has of its own are its prompt's default: with a picture they are enough, alone they are not.
func TestATextOfTheToolsOwn(t *testing.T) {
	t.Parallel()
	words := registry.InputField{Name: "prompt", Type: registry.TypeString, Multiline: true, Default: "golden hour"}
	relight := fileTool("relight", "Relight", true, true, media("image", registry.TypeImage, true), words)
	relight.PlatformHints.PrimaryInput = "image"
	harbor := tool("harbor", "Harbor", words, registry.InputField{Name: "steps", Type: registry.TypeNumber, Default: json.Number("20")})
	harbor.PlatformHints = &registry.PlatformHints{PrimaryInput: "text"}
	scene := func(t *testing.T) *scene {
		s, _ := newScene(t)
		s.set(relight, harbor)
		return s
	}
	t.Run("a photo with a bare caption runs with it", func(t *testing.T) {
		t.Parallel()
		s := scene(t)
		s.send(Post{Text: "/relight", Files: []File{red()}})
		s.input(s.Call(0), "prompt", "golden hour")
	})
	t.Run("a bare command asks for words and shows them", func(t *testing.T) {
		t.Parallel()
		s := scene(t)
		s.say("/harbor steps=9")
		s.labelled("Cancel", "Harbor", "prompt", "golden hour")
		s.say("a lighthouse")
		call := s.Call(0)
		s.input(call, "prompt", "a lighthouse")
		s.input(call, "steps", "9")
	})
	t.Run("words typed with the command run", func(t *testing.T) {
		t.Parallel()
		s := scene(t)
		s.say("/harbor a lighthouse")
		s.input(s.Call(0), "prompt", "a lighthouse")
	})
}
