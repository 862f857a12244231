package chattest

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/registry"
)

// What is asked and told of a tool and its runs is in the words that the tool has in the person's language.
func TestToolsAreReadInThePersonsLanguageEverywhere(t *testing.T) {
	t.Parallel()
	s, _ := newScene(t)
	s.anna.Language = "de"
	painter := PainterTool()
	painter.Localized = map[string]registry.Words{"de": {DisplayName: "Maler", Inputs: map[string]registry.InputWords{
		"prompt": {DisplayName: "Motiv", Description: "Was gemalt wird"}, "steps": {DisplayName: "Schritte"},
	}}}
	s.set(painter)
	s.say("/painter")
	asked := s.AwaitText(s.room, "Maler braucht", "Motiv", "Was gemalt wird")
	s.say("/batch painter\nsteps=5")
	s.AwaitText(s.room, "Eingabe 1", "Motiv fehlt")
	s.Harness.Post(t, Post{From: s.anna, In: s.room, Text: "eine Katze", ReplyTo: asked.ID})
	c := s.Call(0)
	s.input(c, "prompt", "eine Katze")
	s.say("/history")
	s.AwaitText(s.room, "1. Maler")
	s.Succeed(c, PictureOutput("picture"))
	m := s.AwaitMedia(s.room, "Maler")
	if a := s.press(m, "Beleg"); !strings.Contains(a.Text, "Maler") {
		t.Errorf("the receipt says %q", a.Text)
	}
	s.say("/why")
	s.AwaitText(s.room, "Maler", "Motiv", "Schritte")
	s.say("/painter ein Hund steps=7")
	s.input(s.Call(1), "steps", "7")
	s.say("/preset save klein")
	s.AwaitText(s.room, "klein", "Maler", "Schritte 7")
	s.say("/cancel")
	s.AwaitText(s.room, "Maler", "abgebrochen")
}
