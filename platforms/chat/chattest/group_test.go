package chattest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

func TestGroupAdminsMayDelete(t *testing.T) {
	t.Parallel()
	s, fake := newScene(t)
	group := fake.Group("Painters")
	fake.Promote(t, s.ben, group)
	s.sayIn(group, "/painter a cat")
	s.Succeed(s.Call(0), PictureOutput("picture"))
	m := s.AwaitMedia(group, "Painter")
	if a := fake.Press(t, s.ben, group, m.ID, "Again"); !strings.Contains(a.Text, "Only the person") {
		t.Errorf("Again of an admin answers %q", a.Text)
	}
	fake.FailNext("admin", Fault{Err: errors.New("the platform does not say")})
	if a := fake.Press(t, s.ben, group, m.ID, "Delete"); !strings.Contains(a.Text, "Only the person") {
		t.Errorf("Delete of somebody who may be an admin answers %q", a.Text)
	}
	if a := fake.Press(t, s.ben, group, m.ID, "Delete"); a.Text != "Deleted here." {
		t.Errorf("Delete of an admin answers %q", a.Text)
	}
	s.until(group, "empty group", func(list []Seen) bool { return len(list) == 0 })
	s.Idle()
	if n := s.CountRuns(); n != 1 {
		t.Errorf("%d runs, want 1", n)
	}
}

func TestErrorsInGroupsDoNotRepeatWhatWasAskedFor(t *testing.T) {
	t.Parallel()
	const secret = "a surprise party for Ben"
	for name, fail := range map[string]func(s *scene, fake *Fake, group Room) Seen{
		"the provider quotes the prompt": func(s *scene, _ *Fake, group Room) Seen {
			s.sayIn(group, "/painter "+secret)
			s.Fail(s.Call(0), registry.CodeRefused, "the text 'A surprise party for Ben' is not allowed")
			return s.AwaitText(group, "rules", "Nothing was charged", "Code for support")
		},
		"the bot may not send pictures": func(s *scene, fake *Fake, group Room) Seen {
			s.sayIn(group, "/painter "+secret)
			c := s.Call(0)
			s.Handled()
			fake.FailNext("edit media", Fault{Err: fmt.Errorf("not enough rights: %w", chat.ErrNoRight)})
			s.Succeed(c, PictureOutput("picture"))
			return s.AwaitText(group, "not enough rights")
		},
		"a value that does not fit": func(s *scene, _ *Fake, group Room) Seen {
			s.sayIn(group, `/painter a cat steps="`+secret+`"`)
			return s.AwaitText(group, "does not fit", "steps", "1–50", "Nothing was charged")
		},
		"no tool is found": func(s *scene, _ *Fake, group Room) Seen {
			s.sayIn(group, "/help "+secret)
			return s.AwaitText(group, "no tool for that")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, fake := newScene(t)
			if m := fail(s, fake, fake.Group("Painters")); strings.Contains(strings.ToLower(m.Text), "surprise") {
				t.Errorf("everybody reads:\n%s", m.Text)
			}
		})
	}
	t.Run("where the bot may not write the person is told in private", func(t *testing.T) {
		t.Parallel()
		s, fake := newScene(t)
		told := make(chan string, 1)
		s.Privately = func(_ context.Context, _, text string) error { told <- text; return nil }
		s.Restart()
		group := fake.Group("Painters")
		fake.FailNext("send", Fault{Err: fmt.Errorf("not enough rights to send text messages: %w", chat.ErrNoRight)})
		s.sayIn(group, "/painter "+secret)
		if text := <-told; !strings.Contains(text, "where I may not write") {
			t.Errorf("told: %s", text)
		}
		s.Handled()
		if n := s.CountRuns(); n != 0 {
			t.Errorf("%d runs were begun where nobody sees them", n)
		}
	})
	t.Run("where the bot may not write a press is answered all the same", func(t *testing.T) {
		t.Parallel()
		s, fake := newScene(t)
		told := make(chan string, 1)
		s.Privately = func(_ context.Context, _, text string) error { told <- text; return nil }
		s.Restart()
		group := fake.Group("Painters")
		s.sayIn(group, "/painter a cat")
		s.Succeed(s.Call(0), PictureOutput("picture"))
		m := s.AwaitMedia(group, "a cat")
		s.Idle()
		fake.FailNext("send", Fault{Err: fmt.Errorf("not enough rights to send text messages: %w", chat.ErrNoRight)})
		s.pressIn(group, m, "Settings") // and has an answer
		if text := <-told; !strings.Contains(text, "where I may not write") {
			t.Errorf("told: %s", text)
		}
	})
	t.Run("in private the provider's words are told in full", func(t *testing.T) {
		t.Parallel()
		s, _ := newScene(t)
		s.say("/painter " + secret)
		s.Fail(s.Call(0), registry.CodeRefused, "the text '"+secret+"' is not allowed")
		s.AwaitText(s.room, "not allowed", secret)
	})
}

func TestRolesAreKeptOut(t *testing.T) {
	t.Parallel()
	s, fake := newScene(t)
	group := s.group()
	s.sayIn(group, "/deny <@&8>")
	s.AwaitText(group, "8 may not use me here")
	s.Harness.Post(t, Post{From: s.ben, In: group, Text: "/poem autumn"})
	s.Call(0)
	in := *fake.last
	in.ID, in.Roles, in.Command, in.Text = "role", []string{"7", "8"}, "poem", "winter"
	in.Message.ID = "999999"
	fake.tell(in)
	s.AwaitText(group, "role", "Nothing was charged")
}

func TestRulesNamePeople(t *testing.T) {
	t.Parallel()
	s, _ := newScene(t)
	group := s.group()
	rules := func() []users.Rule {
		t.Helper()
		s.Handled()
		list, err := s.People.Rules(t.Context(), users.Place{})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	s.Harness.Post(t, Post{From: s.ben, In: group, Text: "/poem autumn"})
	s.Call(0)
	s.sayIn(group, "/deny 1002")
	s.AwaitText(group, "Ben may not use me here")
	if list := rules(); len(list) != 1 || list[0].Name != "Ben" {
		t.Fatalf("the rules are %+v", list)
	}
	s.Harness.Post(t, Post{From: s.ben, In: group, Text: "/poem winter"})
	s.AwaitText(group, "blocked here", "Nothing was charged")
	s.sayIn(group, "/chatsettings")
	s.AwaitText(group, "Settings of this chat", "Ben may not use me here")
	s.sayIn(group, "/allow 1002")
	s.AwaitText(group, "Ben may use me here")
	if list := rules(); len(list) != 0 {
		t.Errorf("allowing took the denial back, and left %+v", list)
	}
	s.Harness.Post(t, Post{From: s.ben, In: group, Text: "/poem spring"})
	s.Call(1)

	t.Run("who never came is called by their id", func(t *testing.T) {
		s.sayIn(group, "/deny 77")
		s.AwaitText(group, "77 may not use me here")
	})
	t.Run("a name alone is nobody for certain", func(t *testing.T) {
		before := len(rules())
		for _, name := range []string{"@ben", "Ben the Great"} {
			s.sayIn(group, "/deny "+name)
			s.until(group, "question", func(list []Seen) bool { return strings.Contains(list[len(list)-1].Text, "Whom?") })
		}
		if n := len(rules()); n != before {
			t.Errorf("%d rules, want %d", n, before)
		}
	})
	t.Run("where a role is kept out, who is allowed is let in by a rule of their own", func(t *testing.T) {
		s.sayIn(group, "/deny <@&8>")
		s.sayIn(group, "/allow 1002")
		s.until(group, "rule", func([]Seen) bool {
			list := rules()
			return list[0].Allow && list[0].Subject == "1002"
		})
		s.sayIn(group, "/allow <@&8>")
		s.until(group, "no role", func([]Seen) bool { return rules()[0].Kind == users.RuleIdentity })
	})
}
