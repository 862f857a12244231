package chattest

import (
	"strings"
	"testing"
)

// replyTo waits until a message of the bot answers this one, and gives it.
func (s *scene) replyTo(in Room, id string) Seen {
	s.t.Helper()
	return s.Await(in, "answer to "+id, func(m Seen) bool { return m.ReplyTo == id })
}

func TestWhyInAGroupTellsOnlyOfItsRuns(t *testing.T) {
	t.Parallel()
	const secret = "a surprise party for Ben"
	s, _ := newScene(t)
	group := s.group()
	s.say("/painter " + secret)
	s.Call(0)
	if m := s.replyTo(group, s.sayIn(group, "/why")); strings.Contains(m.Text, secret) || !m.contains("private chat") {
		t.Errorf("before there was a run in the group, everybody reads:\n%s", m.Text)
	}
	s.sayIn(group, "/painter a cat steps=4")
	s.Succeed(s.Call(1), PictureOutput("picture"))
	cat := s.AwaitMedia(group, "a cat")
	said := s.sayIn(group, "/series a dog")
	s.Succeed(s.Call(2), PictureOutput("one"), PictureOutput("two"))
	dog := s.Await(group, "end of the series", func(m Seen) bool { return m.Has("Again") && m.contains("a dog") })
	s.say("/painter " + secret)
	s.Call(3)
	if m := s.replyTo(group, s.sayIn(group, "/why")); !m.contains("your last run", "a dog – you typed it") {
		t.Errorf("everybody reads:\n%s", m.Text)
	}
	for _, c := range []struct{ name, id, want string }{
		{"a result", cat.ID, "a cat"}, {"the message below an album", dog.ID, "a dog"}, {"the command itself", said, "a dog"},
	} {
		m := s.replyTo(group, s.Harness.Post(t, Post{From: s.anna, In: group, Text: "/why", ReplyTo: c.id}))
		if !m.contains(c.want + " – you typed it") {
			t.Errorf("in reply to %s:\n%s", c.name, m.Text)
		}
	}
	s.say("/why")
	s.AwaitText(s.room, secret+" – you typed it")
}

func TestWhyTellsEverythingToOnePerson(t *testing.T) {
	t.Parallel()
	s, _ := newScene(t, WithForms)
	group := s.group()
	s.say("/painter a cat")
	s.Call(0)
	s.sayIn(group, "/why")
	if m := s.AwaitText(group, "a cat – you typed it"); m.OnlyFor != s.anna.ID {
		t.Errorf("the answer is for %q", m.OnlyFor)
	}
}
