package chattest

import (
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/platforms/chat"
)

// TestALongPromptIsOnePrompt sends what a client makes of a command that is longer than a message can be.
func TestALongPromptIsOnePrompt(t *testing.T) {
	t.Parallel()
	s, _ := newScene(t)
	first := strings.Repeat("a", 4096-len("/painter "))
	part := func(id, command, text string) chat.Incoming {
		return chat.Incoming{
			ID: id, Kind: chat.KindMessage, Chat: place(s.room), From: identity(s.anna), At: time.Now(), Command: command, Text: text,
			Message: chat.MessageRef{Place: chat.Place{Chat: s.room.ID}, ID: id},
		}
	}
	if err := s.Router.Receive(t.Context(), FakePlatform, part("long1", "painter", first), part("long2", "", "the rest steps=3")); err != nil {
		t.Fatal(err)
	}
	s.input(s.Call(0), "prompt", first+"the rest")
	s.input(s.Call(0), "steps", "3")
	s.Handled()
	if n := s.CountRuns(); n != 1 {
		t.Errorf("%d runs, want 1", n)
	}
}
