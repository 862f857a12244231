package chattest

import (
	"slices"
	"sync"
	"testing"
)

// What is asked next is seen before the platform has answered the bot, and may be answered then.
func TestAQuestionIsAnsweredWhileItIsShown(t *testing.T) {
	t.Parallel()
	s, fake := newScene(t)
	asked := pizza()
	asked.Fields = asked.Fields[3:]
	s.asks(asked)
	s.say("/clerk")
	gift := s.labelled("Yes", "Gift")
	release := fake.HoldNextSend()
	s.press(gift, "Yes")
	s.labelled("Skip", "Toppings")
	s.say("capers\nOlives")
	s.AwaitText(s.room, `"toppings":["c","o"]`)
	release()
	s.until(s.room, "no buttons under what was answered", func(list []Seen) bool {
		return !slices.ContainsFunc(list, func(m Seen) bool { return m.Has("Decline") })
	})
}

// What a press asks while a command is under way stays open: the command came before it.
func TestACommandEndsOnlyWhatWasAskedBefore(t *testing.T) {
	t.Parallel()
	s, fake := newScene(t)
	s.with(followers()[3])
	m := s.painted()
	release := sync.OnceFunc(fake.HoldNextSend())
	defer release()
	s.say("/painter a cat")
	s.Await(s.room, "status of the second run", func(one Seen) bool { return one.ID != m.ID && one.contains("Painter") })
	s.press(m, "Edit…")
	s.AwaitText(s.room, "Instruct", "instruction")
	release()
	s.Call(1)
	s.Handled()
	s.say("make it blue")
	s.input(s.Call(2), "instruction", "make it blue")
}
