package chattest

import (
	"slices"
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
