package chattest

import (
	"encoding/json"
	"errors"
	"fmt"
	"image/color"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/show"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
	"github.com/signalbox/signalbox/runs"
)

// newScene is a scene on a Fake, for what only a fake can be made to do.
func newScene(t *testing.T, change ...func(*chat.Capabilities)) (*scene, *Fake) {
	t.Helper()
	fake := NewFake(t, change...)
	s := &scene{World: NewWorld(t, fake, Tools()...), t: t}
	s.anna, s.ben = people()
	s.room = fake.Private(s.anna)
	return s, fake
}

func (s *scene) files() int {
	n := 0
	for _, m := range s.Harness.Messages(s.t, s.room) {
		if m.Media != nil {
			n++
		}
	}
	return n
}

func TestDeliveryShowsAResultOnce(t *testing.T) {
	t.Parallel()
	uncertain := fmt.Errorf("the line broke: %w", chat.ErrUncertain)

	t.Run("an edit whose answer is lost is repeated", func(t *testing.T) {
		t.Parallel()
		s, fake := newScene(t)
		c, _ := s.underWay("/painter a cat")
		fake.FailNext("edit media", Fault{Err: uncertain, AfterEffect: true})
		s.Succeed(c, PictureOutput("picture"))
		s.Idle()
		if s.files() != 1 {
			t.Errorf("the picture is there %d times", s.files())
		}
	})
	t.Run("an album whose answer is lost is offered, not repeated", func(t *testing.T) {
		t.Parallel()
		s, fake := newScene(t)
		c, _ := s.underWay("/series a cat")
		fake.FailNext("send", Fault{Err: uncertain, AfterEffect: true})
		s.Succeed(c, PictureOutput("one"), PictureOutput("two"))
		m := s.labelled("Show", "connection broke")
		s.Idle()
		if s.files() != 2 {
			t.Errorf("%d pictures are there, want 2", s.files())
		}
		s.press(m, "Show")
		s.until(s.room, "pictures again", func([]Seen) bool { return s.files() == 4 })
	})
	t.Run("a new message whose answer is lost is offered, not repeated", func(t *testing.T) {
		t.Parallel()
		s, fake := newScene(t)
		c, status := s.underWay("/painter a cat")
		fake.DeleteMessage(t, s.room, status.ID)
		fake.FailNext("send", Fault{Err: uncertain, AfterEffect: true})
		s.Succeed(c, PictureOutput("picture"))
		s.labelled("Show", "connection broke")
		s.Idle()
		if s.files() != 1 {
			t.Errorf("%d pictures are there, want 1", s.files())
		}
	})
	for words, outputs := range map[string][]string{"/painter a cat": {"picture"}, "/series a cat": {"one", "two"}} {
		t.Run("the offer of what came of "+words+" whose answer is lost is made again until it is confirmed", func(t *testing.T) {
			t.Parallel()
			s, fake := newScene(t)
			c, status := s.underWay(words)
			fake.DeleteMessage(t, s.room, status.ID)
			fake.FailNext("send", Fault{Err: uncertain}, Fault{Err: uncertain}, Fault{Err: uncertain})
			var made []registry.Output
			for _, name := range outputs {
				made = append(made, PictureOutput(name))
			}
			s.Succeed(c, made...)
			m := s.labelled("Show", "connection broke")
			s.Idle()
			s.press(m, "Show")
			s.until(s.room, "the result", func([]Seen) bool { return s.files() > 0 })
		})
	}
	t.Run("a summary that was refused does not repeat the album", func(t *testing.T) {
		t.Parallel()
		s, fake := newScene(t)
		c, _ := s.underWay("/series a cat")
		limited := &registry.Error{Code: registry.CodeRateLimited, Retryable: true, RetryAfter: 20 * time.Millisecond}
		fake.FailNext("send", Fault{}, Fault{Err: limited}, Fault{Err: limited})
		s.Succeed(c, PictureOutput("one"), PictureOutput("two"))
		s.labelled("Again", "Series")
		s.Idle()
		if s.files() != 2 {
			t.Errorf("%d pictures are there, want 2", s.files())
		}
	})
	t.Run("a delivery of what was delivered does nothing", func(t *testing.T) {
		t.Parallel()
		s, fake := newScene(t)
		s.painted()
		deliverer, err := show.NewDeliverer(show.DelivererConfig{
			Adapters: []chat.Adapter{fakeAdapter{fake}}, Pool: s.Pool, Media: s.Files, Logger: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatal(err)
		}
		before := len(fake.Notices(t, s.room))
		if err := deliverer.Deliver(t.Context(), s.LastRun()); err != nil {
			t.Fatal(err)
		}
		if after := len(fake.Notices(t, s.room)); after != before {
			t.Errorf("%d more changes of the chat", after-before)
		}
	})
}

func TestDeliveryWithinThePlatformsLimits(t *testing.T) {
	t.Parallel()
	noisy := registrytest.File("picture", "image", registry.MediaInfo{Name: "p.png", MIMEType: "image/png", Width: 400, Height: 400},
		Picture(400, 400, color.NRGBA{B: 90, A: 255}))
	limit := func(photo, document int64) func(*chat.Capabilities) {
		return func(c *chat.Capabilities) {
			c.Uploads = map[chat.MediaKind]int64{chat.KindPhoto: photo, chat.KindDocument: document, chat.KindVideo: document}
		}
	}
	size := noisy.Info.Bytes

	t.Run("too large for a photo: a smaller one, and the button sends it in full", func(t *testing.T) {
		t.Parallel()
		s, _ := newScene(t, limit(size-1, size))
		s.say("/painter a cat")
		s.Succeed(s.Call(0), noisy)
		m := s.AwaitMedia(s.room, "smaller version", "Original file")
		if int64(len(m.Media.Data)) >= size || m.Media.MIMEType != "image/jpeg" {
			t.Errorf("the picture has %d bytes of %s", len(m.Media.Data), m.Media.MIMEType)
		}
		s.press(m, "Original file")
		s.Await(s.room, "original", func(m Seen) bool { return m.Media != nil && int64(len(m.Media.Data)) == size })
	})
	t.Run("the platform refuses the size although we thought it fits", func(t *testing.T) {
		t.Parallel()
		s, fake := newScene(t)
		c, _ := s.underWay("/painter a cat")
		fake.FailNext("edit media", Fault{Err: fmt.Errorf("413: %w", chat.ErrTooLarge)})
		s.Succeed(c, noisy)
		s.AwaitMedia(s.room, "smaller version")
	})
	t.Run("a video beyond all limits is linked", func(t *testing.T) {
		t.Parallel()
		s, _ := newScene(t, limit(10, 10))
		s.Link = func(run runs.Run, i int) string { return fmt.Sprintf("https://box.example/%s/%d", run.ID, i) }
		s.Restart()
		s.say("/series a film")
		video := registrytest.File("film", "video", registry.MediaInfo{Name: "f.mp4", MIMEType: "video/mp4"}, make([]byte, 100))
		s.Succeed(s.Call(0), video)
		m := s.AwaitText(s.room, "too large", "Open it here")
		if m.Media != nil {
			t.Error("something was sent")
		}
	})
	t.Run("a missing right is named, and the result can be shown later", func(t *testing.T) {
		t.Parallel()
		s, fake := newScene(t)
		c, _ := s.underWay("/painter a cat")
		fake.FailNext("edit media", Fault{Err: fmt.Errorf("not enough rights to send photos: %w", chat.ErrNoRight)})
		s.Succeed(c, PictureOutput("picture"))
		m := s.labelled("Show", "rights to send photos")
		fake.FailNext("send", Fault{Err: fmt.Errorf("not enough rights to send photos: %w", chat.ErrNoRight)})
		s.press(m, "Show")
		s.AwaitText(s.room, "may not send it here", "rights to send photos", "press again")
		s.press(m, "Show")
		s.AwaitMedia(s.room, "a cat")
	})
	t.Run("a platform that can't edit gets a new message", func(t *testing.T) {
		t.Parallel()
		s, _ := newScene(t, func(c *chat.Capabilities) { c.Edit, c.EditToMedia = false, false })
		s.say("/painter a cat")
		s.Succeed(s.Call(0), PictureOutput("picture"))
		s.labelled("Again", "a cat")
	})
	t.Run("a platform without buttons still answers", func(t *testing.T) {
		t.Parallel()
		s, _ := newScene(t, func(c *chat.Capabilities) { c.Buttons = chat.ButtonLimits{} })
		s.say("/painter")
		s.AwaitText(s.room, "prompt", "For example")
		s.say("a cat")
		s.Succeed(s.Call(0), PictureOutput("picture"))
		s.AwaitMedia(s.room, "a cat")
	})
}

func TestUpdatesAreHandledOnce(t *testing.T) {
	t.Parallel()

	t.Run("a message handled again after a crash starts nothing and leaves one status message", func(t *testing.T) {
		t.Parallel()
		s, fake := newScene(t)
		s.say("/painter a cat")
		s.Call(0)
		s.Handled()
		again := *fake.last
		again.ID = "another"
		fake.tell(again)
		s.until(s.room, "second status message to go", func(list []Seen) bool {
			deleted := 0
			for _, n := range fake.Notices(t, s.room) {
				if n.Kind == "deleted" {
					deleted++
				}
			}
			return deleted == 1 && len(list) == 1
		})
		if n := s.CountRuns(); n != 1 {
			t.Errorf("%d runs, want 1", n)
		}
	})
	t.Run("what came in and was not handled is handled at the next start", func(t *testing.T) {
		t.Parallel()
		s, fake := newScene(t)
		fake.Refuse(1, 30*time.Second)
		s.say("/painter a cat")
		s.until(s.room, "refusal", func([]Seen) bool {
			fake.mu.Lock()
			defer fake.mu.Unlock()
			return fake.refusals == 0
		})
		s.Restart()
		s.input(s.Call(0), "prompt", "a cat")
	})
	t.Run("a status message posted before a crash is used again", func(t *testing.T) {
		t.Parallel()
		s, fake := newScene(t)
		s.say("/balance")
		first := s.AwaitText(s.room, "You have")
		s.Handled()
		s.Stop()
		// As if the program had died after this message was posted and before the run was accepted.
		again := *fake.last
		again.ID, again.Command, again.Text, again.Message.ID = "crashed", "painter", "a dog", "777777"
		ref := fmt.Sprintf(`{"chat": %q, "id": %q}`, s.room.ID, first.ID)
		body, err := json.Marshal(again)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Pool.Exec(t.Context(), `INSERT INTO chat_updates (platform, update_id, body, answer) VALUES ($1, 'crashed', $2, $3)`, FakePlatform, body, ref)
		if err != nil {
			t.Fatal(err)
		}
		s.Start()
		s.Succeed(s.Call(0), PictureOutput("picture"))
		if m := s.AwaitMedia(s.room, "a dog"); m.ID != first.ID {
			t.Errorf("the result is message %s, want %s", m.ID, first.ID)
		}
	})
	t.Run("a router that has stopped takes no updates, so that the platform keeps them", func(t *testing.T) {
		t.Parallel()
		s, fake := newScene(t)
		s.say("/balance")
		s.AwaitText(s.room, "You have")
		s.Stop()
		late := *fake.last
		late.ID = "late"
		if err := s.Router.Receive(t.Context(), FakePlatform, late); err == nil {
			t.Error("it took one")
		}
	})
	t.Run("a command under a rate limit is answered when it is over", func(t *testing.T) {
		t.Parallel()
		s, fake := newScene(t)
		fake.Refuse(2, 30*time.Millisecond)
		s.say("/painter a cat")
		s.Succeed(s.Call(0), PictureOutput("picture"))
		s.AwaitMedia(s.room, "a cat")
	})
}

func TestSettingsInAGroupWithoutDeepLinks(t *testing.T) {
	t.Parallel()
	s, fake := newScene(t, func(c *chat.Capabilities) { c.DeepLink = "" })
	group := fake.Group("Painters")
	s.sayIn(group, "/settings painter")
	m := s.Await(group, "settings", func(m Seen) bool { return m.Has("steps") })
	fake.Press(t, s.anna, group, m.ID, "steps")
	asked := s.Await(group, "question", func(m Seen) bool { return m.Asks })
	s.Handled()
	s.sayIn(group, "44")
	fake.Post(t, Post{From: s.ben, In: group, Text: "45", ReplyTo: asked.ID})
	fake.Post(t, Post{From: s.anna, In: group, Text: "33", ReplyTo: asked.ID})
	s.AwaitText(group, "Saved: steps")
	s.Await(group, "settings with the new value", func(m Seen) bool { return m.Has("steps") && m.contains("33") })
	s.sayIn(group, "/painter a cat")
	s.input(s.Call(0), "steps", "33")
	for _, m := range fake.Messages(t, group) {
		if m.Asks {
			t.Error("the answered question stays")
		}
	}
}

func TestAButtonThatFailedCanBePressedAgain(t *testing.T) {
	t.Parallel()
	s, fake := newScene(t)
	m := s.painted()
	fake.FailNext("send", Fault{Err: errors.New("the platform is out of order")})
	s.press(m, "Original file")
	s.Handled()
	s.press(m, "Original file")
	s.Await(s.room, "document", func(m Seen) bool { return m.Media != nil && m.Media.Kind == chat.KindDocument })
}

func TestTypedOptions(t *testing.T) {
	t.Parallel()
	s, fake := newScene(t)
	s.say("/balance")
	s.AwaitText(s.room, "You have")
	in := *fake.last
	in.ID, in.Command, in.Text = "typed", "frame", ""
	in.Message.ID = "999999"
	in.Options = map[string]any{"wood": "pine", "glass": true, "back": "attachment:0"}
	handle := "typed file"
	fake.mu.Lock()
	fake.files[handle] = red()
	fake.mu.Unlock()
	in.Attachments = []chat.Attachment{{Kind: chat.KindPhoto, Name: "photo.png", MIMEType: "image/png", Handle: handle}}
	fake.tell(in)
	c := s.Call(0)
	s.input(c, "wood", "pine")
	s.input(c, "glass", "true")
	s.input(c, "back", s.refOf(red()))
	if from := s.LastRun().Sources["back"]; from != runs.FromArgument {
		t.Errorf("the option's file came from %q", from)
	}
}

func TestFilesBeyondTheLimit(t *testing.T) {
	t.Parallel()
	s, _ := newScene(t, func(c *chat.Capabilities) { c.Download = 10 })
	s.send(Post{Text: "/enlarge", Files: []File{red()}})
	s.AwaitText(s.room, "too large")
	s.noRun()
}

func TestMoreCommandsThanThePlatformLists(t *testing.T) {
	t.Parallel()
	fake := NewFake(t, func(c *chat.Capabilities) { c.Commands.Max = 40 })
	var tools []registry.Tool
	for i := range 30 {
		tools = append(tools, tool(fmt.Sprintf("tool%02d", i), fmt.Sprintf("Tool %02d", i), registry.InputField{Name: "text", Type: registry.TypeString}))
	}
	s := &scene{World: NewWorld(t, fake, tools...), t: t}
	s.anna, s.ben = people()
	s.room = fake.Private(s.anna)
	s.say("/tool29 hello")
	s.Call(0)
	s.Handled()
	s.Loader.Set(tools[1:]...)
	s.Reload()
	s.until(s.room, "list with the tool that was used", func([]Seen) bool {
		list := fake.Commands(t, chat.ChatPrivate)
		return len(list) == 40 && list[0] == "tool29" && strings.Contains(strings.Join(list, " "), " run ")
	})
	s.say("/tools")
	m := s.labelled("Next ›", "29")
	s.press(m, "Next ›")
	s.labelled("‹ Previous", "/tool09")
}

func TestManyChoicesArePaged(t *testing.T) {
	t.Parallel()
	s, _ := newScene(t)
	many := PainterTool()
	for i := range 40 {
		many.InputSchema[2].Choices = append(many.InputSchema[2].Choices, registry.Choice{Value: fmt.Sprintf("style %02d", i)})
	}
	s.Loader.Set(many)
	s.Reload()
	s.press(s.settings("painter"), "style")
	m := s.labelled("✓ Oil paint", "Oil paint")
	for range 4 {
		s.press(m, "Next ›")
		id := m.ID
		was := fmt.Sprint(m.Buttons)
		m = s.Await(s.room, "next page", func(m Seen) bool { return m.ID == id && fmt.Sprint(m.Buttons) != was })
	}
	s.press(m, "style 39")
	s.labelled("✓ style 39")
	s.say("/painter a cat")
	s.input(s.Call(0), "style", "style 39")
}

// storeSeller sells in a store of the platform.
type storeSeller struct{ words.Seller }

// Offers are two of its things.
func (storeSeller) Offers(string, string) []words.Offer {
	return []words.Offer{{Product: "small", Name: "Small", Text: "Enough for a while", Credit: 5 * billing.Dollar, SKU: "77"}, {Product: "large", Name: "Large", Credit: 20 * billing.Dollar, SKU: "78"}}
}

// otherSeller sells on another platform only.
type otherSeller struct{ words.Seller }

func (otherSeller) Offers(string, string) []words.Offer { return nil }

func (otherSeller) Elsewhere(string) []string { return []string{"Telegram", "Discord"} }

func TestWhatTheOperatorSays(t *testing.T) {
	t.Parallel()
	s, fake := newScene(t)
	s.say("/terms")
	s.AwaitText(s.room, "no terms of use", "Ask whoever runs this bot")
	s.say("/paysupport")
	s.AwaitText(s.room, "answered by the operator", "Ask whoever runs this bot")
	s.Handled()
	s.Operator = turn.Operator{Support: func() string { return "help@box.example" }, Terms: func() string { return "https://box.example/terms" }}
	s.Restart()
	s.say("/paysupport")
	s.until(s.room, "whom to ask", func(list []Seen) bool { return list[len(list)-1].Text == "help@box.example" })
	s.Operator.Buying = func() words.Buying {
		return words.Buying{Text: "Write to Ann.", Ways: []words.BuyingWay{{URL: "https://shop.example/credit"}}}
	}
	s.Restart()
	s.say("/buy")
	s.labelled("shop.example", "You have $1.00 to spend.", "Write to Ann.")
	s.Operator.Buying = func() words.Buying { return words.Buying{Seller: otherSeller{}} }
	s.Restart()
	s.say("/buy")
	s.AwaitText(s.room, "More credit is sold on Telegram, Discord")
	s.Operator.Buying = func() words.Buying { return words.Buying{Seller: storeSeller{}} }
	s.Restart()
	s.say("/buy")
	offered := s.labelled("Small", "• Small: $5.00 of credit – Enough for a while", "• Large: $20.00 of credit")
	fake.mu.Lock()
	for _, m := range fake.messages {
		want := [][]chat.Button{{{Label: "Small", SKU: "77"}, {Label: "Large", SKU: "78"}}}
		if m.id == offered.ID && !reflect.DeepEqual(m.buttons, want) {
			t.Errorf("got %+v, want the buttons of the platform's store", m.buttons)
		}
	}
	fake.mu.Unlock()
	s.say("/Terms")
	s.AwaitText(s.room, "https://box.example/terms")
	s.say("/privacy")
	s.AwaitText(s.room, "/delete_my_data", "Ask here: help@box.example")
	s.until(s.room, "command list", func([]Seen) bool {
		list := strings.Join(fake.Commands(t, chat.ChatPrivate), " ") + " "
		return strings.Contains(list, "paysupport terms privacy ")
	})
}

func TestSeveralProcessesShareOneBot(t *testing.T) {
	t.Parallel()
	// waiting is a house in which a message of Anna's waits, and which process has claimed it.
	waiting := func(t *testing.T) (s *scene, claimed func() string) {
		s, fake := newScene(t)
		fake.Refuse(1, 30*time.Second)
		s.say("/balance")
		s.until(s.room, "refusal", func([]Seen) bool {
			fake.mu.Lock()
			defer fake.mu.Unlock()
			return fake.refusals == 0
		})
		return s, func() (id string) {
			t.Helper()
			if err := s.Pool.QueryRow(t.Context(), `SELECT claimed_by FROM chat_updates`).Scan(&id); err != nil {
				t.Fatal(err)
			}
			return id
		}
	}
	another := func(s *scene) {
		other := *s.World
		other.Start()
		s.t.Cleanup(other.Stop)
	}

	t.Run("what one handles the other leaves alone, until the first has stopped", func(t *testing.T) {
		t.Parallel()
		s, claimed := waiting(t)
		first := claimed()
		another(s)
		if now := claimed(); now != first {
			t.Errorf("the second process took what the first handles")
		}
		s.Stop()
		s.AwaitText(s.room, "You have")
		s.Idle()
		if list := s.Harness.Messages(t, s.room); len(list) != 1 || claimed() == first {
			t.Errorf("claimed by %q, first %q, messages:\n%s", claimed(), first, render(list))
		}
	})
	t.Run("what is gone without a word is taken over", func(t *testing.T) {
		t.Parallel()
		s, claimed := waiting(t)
		another(s)
		// As the database sees a process that was killed.
		_, err := s.Pool.Exec(t.Context(), `
			SELECT pg_terminate_backend(pid) FROM pg_locks
			WHERE locktype = 'advisory' AND (classid::bigint << 32) | objid::bigint = hashtextextended($1, 7003)`, claimed())
		if err != nil {
			t.Fatal(err)
		}
		s.AwaitText(s.room, "You have")
	})
	t.Run("what a process of an older version left, which is not listed, is taken over", func(t *testing.T) {
		t.Parallel()
		s, _ := waiting(t)
		s.Stop()
		if _, err := s.Pool.Exec(t.Context(), `UPDATE chat_updates SET claimed_by = 'older'`); err != nil {
			t.Fatal(err)
		}
		another(s)
		s.AwaitText(s.room, "You have")
	})
}

// TestARunStartsWhenItsStatusMessageIsUncertain: whether the message came through or not, who sent a command gets what
// they asked for, once, and is not told to send it again.
func TestARunStartsWhenItsStatusMessageIsUncertain(t *testing.T) {
	t.Parallel()
	uncertain := fmt.Errorf("the line broke: %w", chat.ErrUncertain)
	for name, arrived := range map[string]bool{"and arrived": true, "and did not arrive": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, fake := newScene(t)
			fake.FailNext("send", Fault{Err: uncertain, AfterEffect: arrived})
			request := s.say("/painter a cat")
			s.Succeed(s.Call(0), PictureOutput("picture"))
			m := s.AwaitMedia(s.room, "a cat")
			s.Idle()
			if s.files() != 1 || s.CountRuns() != 1 || m.ReplyTo != request {
				t.Errorf("%d pictures of %d runs, in reply to %q", s.files(), s.CountRuns(), m.ReplyTo)
			}
			for _, m := range s.Harness.Messages(t, s.room) {
				if m.contains("went wrong") {
					t.Errorf("it says:\n%s", m.Text)
				}
			}
		})
	}
	t.Run("but none that waits for a confirmation nobody could give", func(t *testing.T) {
		t.Parallel()
		s, fake := newScene(t)
		fake.FailNext("send", Fault{Err: uncertain})
		s.say("/mural a cat")
		s.AwaitText(s.room, "went wrong")
		s.noRun()
	})
}

// TestARunThatNobodyHeardOf: where the database goes away while a run is taken on, there may be one, which costs. So it is asked for again.
func TestARunThatNobodyHeardOf(t *testing.T) {
	t.Parallel()
	s, _ := newScene(t)
	s.Unheard.Store(1)
	request := s.say("/painter a cat")
	call := s.Call(0)
	s.Handled()
	for _, m := range s.Harness.Messages(t, s.room) {
		if m.contains("went wrong") {
			t.Errorf("it says:\n%s", m.Text)
		}
	}
	s.Succeed(call, PictureOutput("picture"))
	m := s.AwaitMedia(s.room, "a cat")
	s.Idle()
	if s.files() != 1 || s.CountRuns() != 1 || m.ReplyTo != request || s.Unheard.Load() > 0 {
		t.Errorf("%d pictures of %d runs, in reply to %q", s.files(), s.CountRuns(), m.ReplyTo)
	}
}

// TestARunThatNobodyHearsOf: where the database stays away the command is given up. Its run may be there all the same, and then its result is.
func TestARunThatNobodyHearsOf(t *testing.T) {
	t.Parallel()
	s, _ := newScene(t)
	manual := clocktest.NewManual(time.Unix(1_800_000_000, 0))
	s.Clock = manual
	s.Restart()
	s.Unheard.Store(1_000)
	s.say("/painter a cat")
	call := s.Call(0)
	manual.Await(t, 1)
	s.Succeed(call, PictureOutput("picture"))
	result := s.AwaitMedia(s.room, "a cat")
	manual.Advance(19 * time.Second)
	manual.Await(t, 1) // asked for again, and waited for
	if left := s.Unheard.Load(); left != 998 {
		t.Errorf("it was asked for %d times within 19 s", 1000-left)
	}
	manual.Advance(time.Second)
	said := s.AwaitText(s.room, "can't tell whether this has begun", "Code for support")
	s.Idle()
	for _, m := range s.Harness.Messages(t, s.room) {
		if m.ID == result.ID && !m.contains("a cat") || said.ID == result.ID {
			t.Errorf("the result says:\n%s", m.Text)
		}
	}
	if s.files() != 1 || s.CountRuns() != 1 {
		t.Errorf("%d pictures of %d runs", s.files(), s.CountRuns())
	}
}

// TestAStatusMessageThatCouldNotBeNoted: as when the database goes away just then.
func TestAStatusMessageThatCouldNotBeNoted(t *testing.T) {
	t.Parallel()
	s, _ := newScene(t)
	_, err := s.Pool.Exec(t.Context(), `
		CREATE FUNCTION away() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'the database goes away'; END $$;
		CREATE TRIGGER away BEFORE UPDATE OF answer ON chat_updates FOR EACH ROW EXECUTE FUNCTION away()`)
	if err != nil {
		t.Fatal(err)
	}
	s.say("/painter a cat")
	s.AwaitText(s.room, "went wrong")
	s.Idle()
	s.noRun()
	for _, m := range s.Harness.Messages(t, s.room) {
		if m.contains("queue") {
			t.Errorf("it still says that a run is under way:\n%s", m.Text)
		}
	}
}

func TestADialogThatComesTooLateIsAskedForOnceMore(t *testing.T) {
	t.Parallel()
	s, fake := newScene(t, WithForms)
	m := s.painted()
	fake.FailNext("form", Fault{Err: chat.ErrLateForm})
	if a := s.press(m, "Edit prompt"); a.Form != nil || !strings.Contains(a.Text, "Please press once more") {
		t.Errorf("the press is answered %+v", a)
	}
	s.change(m, "a red bicycle", "a blue bicycle")
	s.input(s.Call(1), "prompt", "a blue bicycle")
}
