package chattest

import (
	"testing"

	"github.com/signalbox/signalbox/platforms/chat"
)

// edit changes the person's last message to say something else.
func (f *Fake) edit(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	edited := *f.last
	edited.ID, edited.Kind = f.id(), chat.KindEdited
	edited.Command, edited.Text, _ = chat.ParseCommand(text, "fake_bot")
	f.tell(edited)
}

func TestACommandIsCorrectedByEditing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ wrong, refusal, right, prompt string }{
		"a value out of range":          {"/painter a dog steps=99", "50", "/painter a dog steps=9", "a dog"},
		"a slip in an option":           {"/painter a dog stpes=9", "Did you mean steps", "/painter a dog steps=9", "a dog"},
		"a slip in the command":         {"/paintre a dog", "no command /paintre", "/painter a dog", "a dog"},
		"a command without its slash":   {"painter a dog", "Shall Painter make this?", "/painter a dog", "a dog"},
		"a tool that can't be used":     {"/fresco a dog", "not available", "/painter a dog", "a dog"},
		"a command of the bot's own":    {"/help zzzzqqqq", "no tool for", "/painter a dog", "a dog"},
		"a search that found something": {"/run describe paint", "Tools for", "/run painter a dog", "a dog"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, fake := newScene(t)
			s.say(c.wrong)
			s.AwaitText(s.room, c.refusal)
			s.Handled()
			s.Restart()
			fake.edit(c.right)
			s.input(s.Call(0), "prompt", c.prompt)
			s.Handled()
			// What ran is not run again, whatever becomes of the message.
			fake.edit("/painter a cat")
			s.say("/balance")
			s.AwaitText(s.room, "You have")
			s.Handled()
			if n := s.CountRuns(); n != 1 {
				t.Errorf("%d runs, want 1", n)
			}
		})
	}
	t.Run("an edit that changes no word is none", func(t *testing.T) {
		t.Parallel()
		s, fake := newScene(t)
		s.say("/painter a dog steps=99")
		s.AwaitText(s.room, "50", "Nothing was charged")
		s.Handled()
		before := len(fake.Messages(t, s.room))
		fake.edit("/painter a dog steps=99")
		s.say("/terms")
		s.AwaitText(s.room, "no terms of use")
		s.Handled()
		if said := len(fake.Messages(t, s.room)); said != before+1 {
			t.Errorf("%d messages after %d", said, before)
		}
	})
	t.Run("twice, where the first correction is refused too", func(t *testing.T) {
		t.Parallel()
		s, fake := newScene(t)
		s.say("/paintre a dog")
		s.AwaitText(s.room, "no command /paintre")
		s.Handled()
		fake.edit("/painter a dog steps=99")
		s.AwaitText(s.room, "50", "Nothing was charged")
		s.Handled()
		fake.edit("/painter a dog steps=9")
		s.input(s.Call(0), "steps", "9")
	})
	t.Run("in a group the answer is one to the message", func(t *testing.T) {
		t.Parallel()
		s, fake := newScene(t)
		group := fake.Group("Painters")
		id := s.Harness.Post(t, Post{From: s.anna, In: group, Text: "/painter a dog steps=99"})
		s.AwaitText(group, "does not fit")
		s.Handled()
		fake.edit("/painter a dog steps=9")
		s.input(s.Call(0), "steps", "9")
		if m := s.Await(group, "status", func(m Seen) bool { return m.Has("Cancel") }); m.ReplyTo != id {
			t.Errorf("the run answers %q", m.ReplyTo)
		}
	})
	t.Run("a picture whose command comes later", func(t *testing.T) {
		t.Parallel()
		s, fake := newScene(t)
		s.send(Post{Files: []File{red()}})
		s.labelled("Enlarge", "Reply to your file")
		s.Handled()
		fake.edit("/enlarge")
		s.input(s.Call(0), "image", s.refOf(red()))
	})
	t.Run("an album has to be sent again", func(t *testing.T) {
		t.Parallel()
		s, fake := newScene(t)
		s.send(Post{Text: "/enlarge", Files: []File{red(), green()}})
		s.AwaitText(s.room, "Enlarge takes 1 of the 2 files")
		s.Handled()
		fake.mu.Lock()
		first := *fake.last
		fake.mu.Unlock()
		if err := s.Pool.QueryRow(t.Context(), `SELECT message_id FROM chat_marks`).Scan(&first.Message.ID); err != nil {
			t.Fatal(err)
		}
		first.ID, first.Kind, first.Command = "edited", chat.KindEdited, "collage"
		fake.tell(first)
		s.AwaitText(s.room, "changed album", "send it again")
		s.noRun()
	})
}

func TestWhatLedToSomethingIsNotHandledAgainWhenItIsEdited(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(s *scene, fake *Fake) (runs int){
		"a run": func(s *scene, _ *Fake) int {
			s.say("/painter a cat")
			s.Call(0)
			return 1
		},
		"an open question": func(s *scene, _ *Fake) int {
			s.say("/painter steps=5")
			s.labelled("Cancel", "prompt")
			return 0
		},
		"the answer to a question": func(s *scene, _ *Fake) int {
			s.say("/painter")
			s.labelled("Cancel", "prompt")
			s.say("a cat")
			s.Call(0)
			return 1
		},
		"a search whose tool was chosen with a button": func(s *scene, fake *Fake) int {
			s.say("/run describe paint")
			s.Handled()
			fake.mu.Lock()
			sent := *fake.last
			fake.mu.Unlock()
			s.press(s.labelled("Painter", "Tools for"), "Painter")
			s.labelled("Cancel", "prompt")
			fake.mu.Lock()
			fake.last = &sent
			fake.mu.Unlock()
			return 0
		},
		"a picture that was used by a button": func(s *scene, fake *Fake) int {
			s.send(Post{Files: []File{red()}})
			fake.mu.Lock()
			sent := *fake.last
			fake.mu.Unlock()
			s.press(s.labelled("Enlarge", "Reply to your file"), "Enlarge")
			s.Call(0)
			fake.mu.Lock()
			fake.last = &sent
			fake.mu.Unlock()
			return 1
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, fake := newScene(t)
			want := begin(s, fake)
			s.Handled()
			before := len(fake.Messages(t, s.room))
			fake.edit("/painter a dog")
			s.say("/terms")
			s.AwaitText(s.room, "no terms of use")
			s.Handled()
			if n, said := s.CountRuns(), len(fake.Messages(t, s.room)); n != want || said != before+1 {
				t.Errorf("%d runs, want %d; %d messages after %d", n, want, said, before)
			}
		})
	}
}
