package chattest

import (
	"slices"
	"sync"
	"testing"

	"github.com/signalbox/signalbox/platforms/chat"
	chatstore "github.com/signalbox/signalbox/platforms/chat/store"
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

// The message that asks is noted once the platform has answered the bot, be it while its answer is being handled.
func TestAQuestionThatMovesOnTellsWhichMessageAskedIt(t *testing.T) {
	t.Parallel()
	s, _ := newScene(t)
	s.asks(pizza())
	s.say("/clerk")
	asked := s.labelled("Large", "Size")
	s.noted()
	questions := chatstore.New(s.Pool).Questions
	list, err := questions.OfRun(t.Context(), s.LastRun().ID)
	if err != nil || len(list) != 1 {
		t.Fatalf("%d questions, %v", len(list), err)
	}
	q := list[0]
	q.Field, q.MessageID, q.State.Asked = 1, "", chat.MessageRef{} // as it was read before
	if was, moved, err := questions.Move(t.Context(), q, 0); err != nil || !moved || was.ID != asked.ID {
		t.Errorf("moved %v, the message was %+v, want %s (%v)", moved, was, asked.ID, err)
	}
	if _, moved, err := questions.Move(t.Context(), q, 0); err != nil || moved {
		t.Errorf("it moved twice (%v)", err)
	}
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
