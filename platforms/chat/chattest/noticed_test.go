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

func TestSettingsAreNotEditedInFrontOfAGroup(t *testing.T) {
	t.Parallel()
	s, fake := newScene(t)
	group := s.group()
	list := s.replyTo(group, s.sayIn(group, "/settings"))
	s.pressIn(group, list, "Painter")
	m := s.Await(group, "way to the settings", func(m Seen) bool { return m.contains("Painter", "between us") && m.Has("Settings") })
	if m.ID != list.ID {
		t.Errorf("the way to the settings is message %s, the list was %s", m.ID, list.ID)
	}
	t.Run("settings that stand in the group already", func(t *testing.T) {
		s.say("/settings painter")
		open := s.labelled("steps", "Settings · Painter")
		fake.mu.Lock()
		data := fake.messages[s.room.ID+"/"+open.ID].buttons[0][0].Data
		fake.mu.Unlock()
		s.Harness.PressData(t, s.anna, group, m.ID, data)
		s.Handled()
		for _, m := range s.Harness.Messages(t, group) {
			if m.contains("Now:") || m.contains("steps") {
				t.Errorf("everybody reads:\n%s", m.Text)
			}
		}
	})
	t.Run("those of the chat are its admins' business, in the chat", func(t *testing.T) {
		s.sayIn(group, "/chatsettings painter")
		s.pressIn(group, s.AwaitText(group, "Settings · Painter"), "style")
		s.Await(group, "choices", func(m Seen) bool { return m.shows("Ink") })
	})
}
