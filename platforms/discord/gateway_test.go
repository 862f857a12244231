package discord

import (
	"context"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/discord/discordtest"
	"github.com/signalbox/signalbox/platforms/discord/gateway"
)

// soon waits for something while time goes by quickly.
func (b *bench) soon(what string, done func() bool) {
	b.t.Helper()
	b.until(what, func() bool {
		b.clock.Advance(50 * time.Millisecond)
		return done()
	})
}

func (b *bench) session() discordtest.Session {
	list := b.server.Sessions()
	if len(list) == 0 {
		return discordtest.Session{}
	}
	return list[len(list)-1]
}

// works proves that commands arrive.
func (b *bench) works() {
	b.t.Helper()
	i := b.ann.Command(b.channel, "paint")
	b.next()
	if a := i.Answer(b.t.Context()); a.Type != 5 {
		b.t.Errorf("%+v", a)
	}
}

func (b *bench) resumed(first discordtest.Session, n int) {
	b.t.Helper()
	b.soon(fmt.Sprintf("resume %d", n), func() bool {
		s := b.session()
		return s.Connected && s.Resumes == n
	})
	if s := b.session(); s.ID != first.ID {
		b.t.Errorf("the session is %s, was %s", s.ID, first.ID)
	}
	b.works()
}

func (b *bench) newSession(first discordtest.Session) {
	b.t.Helper()
	b.soon("new session", func() bool {
		s := b.session()
		return s.Connected && s.ID != first.ID
	})
	b.works()
}

func TestGateway(t *testing.T) {
	t.Parallel()
	t.Run("no privileged intents are asked for", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{})
		if got := b.session().Intents; got != discordtest.Intents(gateway.Intents) || got&(1<<1|1<<8|1<<15) != 0 {
			t.Errorf("intents %d", got)
		}
	})
	t.Run("trap 7: a cut connection is resumed where Discord says, and nothing is lost or doubled", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{})
		first := b.session()
		b.server.Drop(0)
		b.resumed(first, 1)
		b.server.RepeatOnResume(5)
		b.server.Drop(4000)
		b.soon("second resume", func() bool { return b.session().Resumes == 2 })
		b.next() // a repeated one: the receiver knows it by its id
	})
	t.Run("trap 7: told to connect anew, it does, and resumes", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{})
		first := b.session()
		b.server.Reconnect()
		b.resumed(first, 1)
	})
	t.Run("trap 7: an invalid session begins anew, one that can be resumed is", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{})
		first := b.session()
		b.server.Invalidate(true)
		b.resumed(first, 1)
		b.server.Invalidate(false)
		b.newSession(first)
	})
	t.Run("trap 7: operations 7 and 9 right after a reconnect do not stop it for ever", func(t *testing.T) {
		t.Parallel()
		for _, op := range []int{7, 9} {
			b := newBench(t, discordtest.Options{})
			first := b.session()
			b.server.FirstAfterReconnect(op, false)
			b.server.Drop(0)
			b.soon("connection that works", func() bool {
				s := b.session()
				return s.Connected && (s.ID != first.ID || s.Resumes > 0)
			})
			b.soon("message that arrives", func() bool {
				b.ann.Send(b.ann.DM(), "are you there?")
				return len(b.got) > 0
			})
		}
	})
	t.Run("trap 7: a connection whose heartbeats are not answered is renewed", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{})
		first := b.session()
		b.server.StopAcks()
		b.resumed(first, 1)
	})
	t.Run("a heartbeat that is asked for is sent", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{})
		b.server.AskHeartbeat()
		b.works()
	})
	t.Run("sessions that timed out or have a wrong number begin anew", func(t *testing.T) {
		t.Parallel()
		for _, code := range []int{4007, 4009} {
			b := newBench(t, discordtest.Options{})
			first := b.session()
			b.server.Drop(code)
			b.newSession(first)
		}
	})
	t.Run("trap 8: a panic while an event is handled ends neither the program nor the connection", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{})
		b.receive = func(in chat.Incoming) error {
			if in.Options["prompt"] == "boom" {
				panic("boom")
			}
			return nil
		}
		b.ann.Send(b.ann.DM(), "hello")
		b.next()
		b.a.guarded(t.Context(), "a test", func(context.Context) error { panic("boom") })
		b.works()
	})
	t.Run("trap 1: an event that can't be read is left out", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{})
		b.server.Dispatch("INTERACTION_CREATE", map[string]any{"id": 5, "type": "x"})
		b.server.Dispatch("MESSAGE_CREATE", []any{})
		b.server.Dispatch("GUILD_SOMETHING_NEW", map[string]any{"components": []any{map[string]any{"type": 99}}})
		b.works()
	})
	t.Run("direct messages and mentions arrive without privileged intents, other talk does not", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{})
		b.ann.Send(b.channel, "nothing for you")
		b.ann.Send(b.channel, "<@"+b.server.BotID()+"> /paint a cat")
		if in := b.next(); in.Command != "paint" || in.Text != "a cat" || in.Chat.Kind != chat.ChatGroup {
			t.Errorf("%+v", in)
		}
		thread := b.channel.Thread("ideas") // whose rules are those of its channel, as for its commands
		b.ann.Send(thread, "<@"+b.server.BotID()+"> /paint a dog")
		in := b.next()
		if in.Chat.Chat != b.channel.ID() || in.Chat.Topic != thread.ID() || in.Message.Place != in.Chat.Place || in.Chat.Title != "ideas" {
			t.Errorf("said in a thread: %+v", in)
		}
		b.ann.SendFiles(b.ann.DM(), "look", discordtest.File{Name: "a.txt", Bytes: []byte("text")})
		in = b.next()
		if in.Chat.Kind != chat.ChatPrivate || in.Text != "look" || len(in.Attachments) != 1 {
			t.Errorf("%+v", in)
		}
	})
}

// runAlone runs an adapter whose Run is to end by itself.
func runAlone(t *testing.T, h *harness, change ...func(*AdapterConfig)) error {
	t.Helper()
	a := h.adapter(t, change...)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	return a.Run(ctx, &bench{got: make(chan chat.Incoming, 10)})
}

func TestFatalRefusals(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]string{4004: "DISCORD_BOT_TOKEN", 4011: "DISCORD_SHARDS", 4012: "version", 4014: "intents"} {
		t.Run(fmt.Sprintf("trap 7: close code %d stops it with one clear line", code), func(t *testing.T) {
			t.Parallel()
			h := newHarness(t)
			h.server.RefuseIdentify(code)
			err := runAlone(t, h)
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), h.server.Token) {
				t.Errorf("%v", err)
			}
		})
	}
	t.Run("a token that is refused stops it", func(t *testing.T) {
		t.Parallel()
		h := newHarness(t)
		h.server.RevokeToken()
		if err := runAlone(t, h); err == nil || !strings.Contains(err.Error(), "DISCORD_BOT_TOKEN") {
			t.Errorf("%v", err)
		}
	})
}

func TestSharding(t *testing.T) {
	t.Parallel()
	shards := func(b *bench) []string {
		var list []string
		for _, s := range b.server.Sessions() {
			list = append(list, fmt.Sprint(s.Shard))
		}
		return list
	}
	t.Run("all shards that Discord recommends, one after the other", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{Shards: 3, MaxConcurrency: 1})
		if n := len(b.server.Sessions()); n != 1 {
			t.Errorf("%d sessions began at once, Discord lets one begin every 5 s", n)
		}
		b.soon("three shards", func() bool { return len(b.server.Sessions()) == 3 })
		got := strings.Join(shards(b), " ")
		for id := range 3 {
			if !strings.Contains(got, fmt.Sprintf("[%d 3]", id)) {
				t.Errorf("shards %s", got)
			}
		}
	})
	t.Run("no more sessions than Discord allows a day: a bot that begins more loses its token", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{Shards: 3, MaxConcurrency: 1, SessionStarts: 2})
		b.soon("two shards", func() bool { return len(b.server.Sessions()) == 2 })
		// Which two shards began is chance, so the third may be the one that a command would come over.
		for range 20 {
			b.clock.Advance(time.Hour)
			b.soon("both are connected", func() bool {
				return !slices.ContainsFunc(b.server.Sessions(), func(s discordtest.Session) bool { return !s.Connected })
			})
		}
		if got := shards(b); len(got) != 2 {
			t.Errorf("shards %v began, 2 sessions are allowed", got)
		}
	})
	t.Run("only those of this process", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{Shards: 2}, func(c *AdapterConfig) { c.Shards = gateway.Shards{Count: 2, IDs: []int{1}} })
		if got := shards(b); len(got) != 1 || got[0] != "[1 2]" {
			t.Errorf("shards %v", got)
		}
	})
}

func TestEndpoint(t *testing.T) {
	t.Parallel()
	b := newBench(t, discordtest.Options{}, func(c *AdapterConfig) { c.Shards.Off = true })
	s := httptest.NewServer(b.a.EndpointHandler())
	t.Cleanup(s.Close)
	// It answers a ping and refuses what is signed badly: the server tries both before it uses the address.
	if err := b.server.UseEndpoint(t.Context(), s.URL); err != nil {
		t.Fatal(err)
	}
	i := b.ann.Command(b.channel, "paint", discordtest.Opt("prompt", "a cat"))
	in := b.next()
	if a := i.Answer(t.Context()); a.Type != 5 {
		t.Errorf("%+v", a)
	}
	m := answerTo(in, "choose")
	m.Buttons = buttonNamed("Answer")
	b.send(m)
	i = b.ann.Press(b.server.History(b.channel)[0], "Answer")
	if err := b.a.AnswerPress(t.Context(), *b.next().Press, chat.PressAnswer{Form: &chat.Form{Title: "t", Data: "f", Fields: []chat.FormField{{Name: "a", Label: "a"}}}}); err != nil {
		t.Fatal(err)
	}
	if got := i.Modal(t.Context()); got.CustomID != "f" {
		t.Errorf("%+v", got)
	}
	b.offered = []chat.Choice{{Label: "Oil", Value: "oil"}}
	if got := b.ann.Autocomplete(b.channel, "paint", "style", "o").Choices(t.Context()); len(got) != 1 {
		t.Errorf("%v", got)
	}
	if n := len(b.server.Sessions()); n != 0 {
		t.Errorf("%d connections to the gateway", n)
	}
	b.stop()
	w := httptest.NewRecorder()
	b.a.EndpointHandler().ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	if w.Code != 401 {
		t.Errorf("what is not signed is answered %d", w.Code)
	}
}
