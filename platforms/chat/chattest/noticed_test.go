package chattest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
	"github.com/signalbox/signalbox/runs"
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

func TestWhyInReplyToAResultThatWasShownAgain(t *testing.T) {
	t.Parallel()
	s, _ := newScene(t)
	s.say("/painter a cat")
	s.Succeed(s.Call(0), PictureOutput("picture"))
	s.AwaitMedia(s.room, "a cat")
	s.say("/series a dog")
	s.Succeed(s.Call(1), PictureOutput("one"), PictureOutput("two"))
	s.Await(s.room, "end of the series", func(m Seen) bool { return m.Has("Again") && m.contains("a dog") })
	s.say("/painter a boat")
	s.Succeed(s.Call(2), PictureOutput("picture"))
	s.AwaitMedia(s.room, "a boat")
	s.say("/history")
	list := s.labelled("Show 3")
	for label, prompt := range map[string]string{"Show 3": "a cat", "Show 2": "a dog"} {
		s.press(list, label)
		s.Idle()
		shown := s.Harness.Messages(t, s.room)
		id := shown[len(shown)-1].ID
		s.Harness.Post(t, Post{From: s.anna, In: s.room, Text: "/why", ReplyTo: id})
		s.AwaitText(s.room, prompt+" – you typed it")
		s.Idle()
	}
}

func TestPriceReadsWhatIsTypedAfterTheTool(t *testing.T) {
	t.Parallel()
	for words, want := range map[string][]string{
		"":                  {"Which tool?"},
		"painter steps=4":   {"Painter", "Price: under $0.01"},
		"painter steps=500": {"steps", "too large", "Nothing was charged"},
		"painter stepps=4":  {"no option stepps"},
		"xyzzy":             {"no tool for", "xyzzy"},
		"xyzzy steps=4":     {"no tool for", "xyzzy"},
	} {
		t.Run("/price "+words, func(t *testing.T) {
			t.Parallel()
			s, _ := newScene(t)
			s.say(strings.TrimSpace("/price " + words))
			s.AwaitText(s.room, want...)
			s.noRun()
		})
	}
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

func TestResultsKeepWhatWasNotedWithAQuestion(t *testing.T) {
	t.Parallel()
	s, _ := newScene(t)
	s.say("/etching")
	s.AwaitText(s.room, "Etching will go away", "prompt")
	s.say("a cat")
	s.Succeed(s.Call(0), PictureOutput("picture"))
	s.AwaitMedia(s.room, "Etching will go away", "a cat")
}

func TestResultsKeepWhatWasNotedAtTheStart(t *testing.T) {
	t.Parallel()
	s, _ := newScene(t)
	notice := []string{"Etching will go away", "Painter is better", "/painter"}
	t.Run("A80 the notice of a deprecated tool, also over a restart", func(t *testing.T) {
		s.say("/etching a cat")
		c := s.Call(0)
		s.Handled()
		s.Restart()
		s.Progress(c, registry.Progress{State: registry.RunRunning, Fraction: 0.5, HasFraction: true})
		s.AwaitText(s.room, append(notice, "50 %")...)
		s.Succeed(c, PictureOutput("picture"))
		s.AwaitMedia(s.room, append(notice, "a cat")...)
		s.Idle()
	})
	t.Run("A80 below a text, and on a failure", func(t *testing.T) {
		s.say("/etching a dog")
		s.Succeed(s.Call(1), registrytest.Text("poem", "A dog."))
		s.AwaitText(s.room, append(notice, "A dog.", "a dog")...)
		s.say("/etching a bird")
		s.Fail(s.Call(2), registry.CodeProvider, "no ink")
		m := s.AwaitText(s.room, append(notice, "No ink", "Nothing was charged")...)
		s.press(m, "Try again")
		s.Succeed(s.Call(3), PictureOutput("picture"))
		s.AwaitMedia(s.room, append(notice, "a bird")...)
	})
	t.Run("that a file replied to was left out", func(t *testing.T) {
		photo := s.send(Post{Files: []File{red()}})
		s.send(Post{Text: "/poem autumn", ReplyTo: photo})
		s.Succeed(s.Call(4), registrytest.Text("poem", "Leaves fall."))
		s.AwaitText(s.room, "Leaves fall.", "Poem does not take files from messages replied to")
	})
	t.Run("one that was missed", func(t *testing.T) {
		s.say("/etching a fish")
		c := s.Call(5)
		s.Handled()
		s.Harness.Block(t, s.anna)
		s.Succeed(c, PictureOutput("picture"))
		s.missed()
		s.Harness.Unblock(t, s.anna)
		s.say("/balance")
		s.press(s.labelled("Show", "could not reach you"), "Show")
		s.AwaitMedia(s.room, append(notice, "a fish")...)
	})
	t.Run("a run stored before there were such notes is shown without", func(t *testing.T) {
		s.say("/etching a boat")
		c := s.Call(6)
		s.Handled()
		if _, err := s.Pool.Exec(t.Context(), `UPDATE runs SET target = (target::jsonb - 'notes')::json WHERE ended_at IS NULL`); err != nil {
			t.Fatal(err)
		}
		s.Restart()
		s.Succeed(c, PictureOutput("picture"))
		if m := s.AwaitMedia(s.room, "a boat"); m.contains("will go away") {
			t.Errorf("the result says:\n%s", m.Text)
		}
	})
}

func TestWhyTellsHowARunEnded(t *testing.T) {
	t.Parallel()
	s, _ := newScene(t)
	s.say("/painter a cat")
	s.Fail(s.Call(0), registry.CodeProvider, "the engine ran out of memory")
	s.Idle()
	s.say("/why")
	s.AwaitText(s.room, "your last run", "did not work", "ran out of memory", "Nothing was charged")
	s.say("/painter a dog")
	s.Progress(s.Call(1), registry.Progress{State: registry.RunRunning})
	s.press(s.labelled("Cancel", "Painter"), "Cancel")
	s.Idle()
	s.say("/why")
	m := s.AwaitText(s.room, "your last run", "a dog", "Canceled", "Nothing was charged")
	if strings.Contains(m.Text, "Free") {
		t.Errorf("a canceled run was free:\n%s", m.Text)
	}
}

func TestWhyOfAFailureDoesNotQuoteThePromptToAGroup(t *testing.T) {
	t.Parallel()
	s, _ := newScene(t)
	group := s.group()
	s.sayIn(group, "/painter a surprise party")
	s.Fail(s.Call(0), registry.CodeRefused, "the text 'a surprise party' is not allowed")
	s.Idle()
	m := s.replyTo(group, s.sayIn(group, "/why"))
	if !m.contains("rules", "Nothing was charged") || strings.Contains(m.Text, "is not allowed") {
		t.Errorf("everybody reads:\n%s", m.Text)
	}
}

// pressedAt delivers a press of the same button as the last one, so much later.
func pressedAt(s *scene, fake *Fake, later time.Duration) {
	s.t.Helper()
	fake.mu.Lock()
	in := *fake.last
	press := *in.Press
	press.ID = "press" + fake.id()
	in.ID, in.At, in.Press = fake.id(), in.At.Add(later), &press
	answered := make(chan chat.PressAnswer, 1)
	fake.pressed[press.ID] = answered
	fake.tell(in)
	fake.mu.Unlock()
	select {
	case a := <-answered:
		if a.Text != "" {
			s.t.Errorf("the press is answered %q", a.Text)
		}
	case <-time.After(patience):
		s.t.Fatal("the press was not answered")
	}
	s.Handled()
}

func TestOriginalFileIsSentAsOftenAsItIsAskedFor(t *testing.T) {
	t.Parallel()
	s, fake := newScene(t)
	m := s.painted()
	documents := func(want int, what string) {
		t.Helper()
		n := 0
		for _, m := range s.Harness.Messages(t, s.room) {
			if m.Media != nil && m.Media.Kind == chat.KindDocument {
				n++
			}
		}
		if n != want {
			t.Errorf("after %s there are %d files, want %d", what, n, want)
		}
	}
	s.press(m, "Original file")
	s.Handled()
	pressedAt(s, fake, 300*time.Millisecond)
	documents(1, "a double press")
	pressedAt(s, fake, time.Minute)
	documents(2, "a press a minute later")
	s.press(m, "Again")
	if m := s.labelled("✓ Again", "a red bicycle"); !m.Has("Original file") {
		t.Errorf("the buttons are %v", m.Buttons)
	}
	if a := s.press(m, "✓ Again"); !strings.Contains(a.Text, "already") {
		t.Errorf("a second press of Again answers %q", a.Text)
	}
	s.Succeed(s.Call(1), PictureOutput("picture"))
	s.Idle()
	list := s.Harness.Messages(t, s.room)
	fake.FailNext("send", Fault{Err: errors.New("the line is down")})
	s.press(list[len(list)-1], "Original file")
	s.Handled()
	pressedAt(s, fake, 0)
	documents(3, "a press that failed, and another at once")
}

func TestLackOfCreditNamesTheWayOut(t *testing.T) {
	t.Parallel()
	dear := PainterTool()
	dear.CostingModel = &registry.CostingModel{Rate: "0.6", Unit: registry.UnitRequest, RateSource: registry.RateStatic}
	const wayOut = "/buy"
	t.Run("in private with what they have", func(t *testing.T) {
		t.Parallel()
		s, _ := newScene(t)
		s.Loader.Set(dear)
		s.Reload()
		s.spendsFreely()
		s.say("/painter a cat")
		s.Call(0)
		s.say("/painter a dog")
		s.AwaitText(s.room, "it needs $0.60, you have $0.40", "Nothing was charged", wayOut)
	})
	t.Run("in a group without", func(t *testing.T) {
		t.Parallel()
		s, _ := newScene(t)
		s.Loader.Set(dear)
		s.Reload()
		s.spendsFreely()
		group := s.group()
		s.sayIn(group, "/painter a cat")
		s.Call(0)
		s.sayIn(group, "/painter a dog")
		m := s.AwaitText(group, "it needs $0.60", "Nothing was charged", wayOut)
		if strings.Contains(m.Text, "you have") || strings.Contains(m.Text, "set aside") {
			t.Errorf("everybody reads:\n%s", m.Text)
		}
	})
	t.Run("in a group where only they read it", func(t *testing.T) {
		t.Parallel()
		s, _ := newScene(t, WithForms)
		s.Loader.Set(dear)
		s.Reload()
		s.spendsFreely()
		group := s.group()
		s.sayIn(group, "/painter a cat")
		s.Call(0)
		s.sayIn(group, "/painter a dog")
		if m := s.AwaitText(group, "you have $0.40", wayOut); m.OnlyFor != s.anna.ID {
			t.Errorf("it is for %q", m.OnlyFor)
		}
	})
	t.Run("below Go ahead it fits into the answer", func(t *testing.T) {
		t.Parallel()
		s, _ := newScene(t)
		mural := confirmed()
		mural.CostingModel = dear.CostingModel
		s.Loader.Set(dear, mural)
		s.Reload()
		s.spendsFreely()
		group := s.group()
		s.sayIn(group, "/mural a cat")
		m := s.Await(group, "question", func(m Seen) bool { return m.Has("Go ahead") })
		s.Handled()
		s.say("/painter a cat")
		s.Call(0)
		if a := s.Harness.Press(t, s.anna, group, m.ID, "Go ahead"); !strings.Contains(a.Text, "you have $0.40") || !strings.Contains(a.Text, wayOut) {
			t.Errorf("the press is answered %q", a.Text)
		}
	})
}

func TestAStateHasOneName(t *testing.T) {
	t.Parallel()
	s, _ := newScene(t)
	s.say("/poem autumn") // of several runs, /cancel lists the states
	s.Call(0)
	s.Handled()
	s.say("/painter a cat")
	c := s.Call(1)
	for _, step := range []struct {
		progress registry.Progress
		want     string
	}{
		{registry.Progress{State: registry.RunQueued}, "Handed over"},
		{registry.Progress{State: registry.RunQueued, QueuePosition: 3}, "In the queue, place 3"},
		{registry.Progress{State: registry.RunRunning, Stage: "Sampling"}, "Sampling"},
	} {
		s.Progress(c, step.progress)
		s.AwaitText(s.room, "Painter\n"+step.want, "Price") // the status message
		s.eventually("state stored", func() bool {
			run := s.LastRun()
			return run.Status != runs.StatusQueued && run.QueuePosition == step.progress.QueuePosition && run.Stage == step.progress.Stage
		})
		s.say("/cancel")
		s.AwaitText(s.room, ". Painter · "+step.want)
		s.say("/history")
		s.AwaitText(s.room, "UTC\n"+step.want)
	}
}
