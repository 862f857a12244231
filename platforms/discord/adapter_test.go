package discord

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/chattest"
	"github.com/signalbox/signalbox/platforms/discord/discordtest"
	"github.com/signalbox/signalbox/registry"
)

// bench is an adapter on a server with a virtual clock, a guild and two people; what it receives is collected.
type bench struct {
	*harness
	t       *testing.T
	clock   *clocktest.Manual
	a       *Adapter
	guild   *discordtest.Guild
	channel *discordtest.Channel
	ann     *discordtest.User
	stop    func()

	got     chan chat.Incoming
	receive func(chat.Incoming) error // nil: all is taken
	offered []chat.Choice
}

// Receive takes an update.
func (b *bench) Receive(_ context.Context, _ string, updates ...chat.Incoming) error {
	for _, u := range updates {
		if b.receive != nil {
			if err := b.receive(u); err != nil {
				return err
			}
		}
		b.got <- u
	}
	return nil
}

// Complete offers what the test wants.
func (b *bench) Complete(context.Context, string, chat.Completion, int) []chat.Choice {
	return b.offered
}

func newBench(t *testing.T, opts discordtest.Options, change ...func(*AdapterConfig)) *bench {
	t.Helper()
	b := &bench{t: t, clock: clocktest.NewManual(time.Now()), got: make(chan chat.Incoming, 100)}
	opts.Clock = b.clock
	b.harness = newHarness(t, opts)
	b.ann = b.server.User("Ann")
	b.guild = b.server.Guild("Studio", b.ann)
	b.channel = b.guild.Text("general")
	b.start(change...)
	t.Cleanup(func() { b.stop() })
	return b
}

// start runs an adapter that has its commands published.
func (b *bench) start(change ...func(*AdapterConfig)) {
	b.t.Helper()
	clock := func(c *AdapterConfig) { c.Clock, c.Client.clock, c.Client.limits.clock = b.clock, b.clock, b.clock }
	b.a = b.adapter(b.t, append([]func(*AdapterConfig){clock}, change...)...)
	ctx, cancel := context.WithCancel(b.t.Context())
	b.harness.mu.Lock()
	for _, s := range b.server.Sessions() {
		b.before[s.ID] = s.Resumes + 1
	}
	b.harness.mu.Unlock()
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := b.a.Run(ctx, b); err != nil {
			b.t.Errorf("the adapter ended with %v", err)
		}
	})
	b.stop = func() {
		cancel()
		wg.Wait()
	}
	if !b.a.shards.Off {
		b.lock(b.t)
		b.harness.mu.Unlock()
	}
	if err := b.a.SyncCommands(b.t.Context(), commandSets()); err != nil {
		b.t.Fatal(err)
	}
}

func commandSets() []chat.CommandSet {
	list := []chat.Command{
		{Name: "paint", Description: "Paints", Inputs: registry.InputSchema{
			{Name: "prompt", Type: registry.TypeString}, {Name: "style", Type: registry.TypeString, Choices: choices(30)},
			{Name: "Source Picture", Type: registry.TypeImage},
		}},
		{Name: "settings", Description: "Settings", Private: true},
		{Name: "Use with…", OnMessages: true, Use: "use", Private: true},
	}
	return []chat.CommandSet{{Kind: chat.ChatGroup, Commands: list}, {Kind: chat.ChatPrivate, Commands: list}}
}

// next gives what was received next.
func (b *bench) next() *chat.Incoming {
	b.t.Helper()
	select {
	case in := <-b.got:
		return &in
	case <-time.After(patience):
		b.t.Fatal("nothing was received")
		return nil
	}
}

// until waits for something that the server does not see.
func (b *bench) until(what string, done func() bool) {
	b.t.Helper()
	clocktest.Until(b.t, what, done)
}

func (b *bench) send(m chat.Message) chat.MessageRef {
	b.t.Helper()
	refs, err := b.a.Send(b.t.Context(), m)
	if err != nil {
		b.t.Fatal(err)
	}
	return refs[0]
}

func (b *bench) edit(ref chat.MessageRef, m chat.Message) {
	b.t.Helper()
	if _, err := b.a.Edit(b.t.Context(), ref, m); err != nil {
		b.t.Fatal(err)
	}
}

// answerTo is a message that answers an update.
func answerTo(in *chat.Incoming, text string) chat.Message {
	return chat.Message{To: in.Chat.Place, ReplyTo: in.Message, Trigger: in, Text: chat.Plain(text)}
}

func buttonNamed(label string) [][]chat.Button {
	return [][]chat.Button{{{Label: label, Data: "k." + label}}}
}

func (b *bench) calls(operation string) int { return len(b.server.Calls(operation)) }

// patience is how long tests wait on a busy machine for what should be soon.
const patience = 2 * time.Minute

const (
	followUpCall = "POST /webhooks/{webhook_id}/{webhook_token}"
	callbackCall = "POST /interactions/{interaction_id}/{interaction_token}/callback"
	postCall     = "POST /channels/{channel_id}/messages"
)

func TestAnswers(t *testing.T) {
	t.Parallel()
	t.Run("a command is deferred at once, and its first answer takes the place of the sign", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{})
		i := b.ann.Command(b.channel, "paint", discordtest.Opt("prompt", "a cat"))
		in := b.next()
		if a := i.Answer(t.Context()); a.Type != 5 || a.Ephemeral || a.After > time.Second {
			t.Errorf("%+v", a)
		}
		if in.Command != "paint" || in.Options["prompt"] != "a cat" || in.Chat.Space != b.guild.ID() || in.Chat.Kind != chat.ChatGroup {
			t.Errorf("%+v", in)
		}
		ref := b.send(answerTo(in, "working"))
		b.send(answerTo(in, "more"))
		list := b.server.History(b.channel)
		if len(list) != 2 || list[0].ID != ref.ID || list[0].Content != "working" || list[1].Content != "more" || b.calls(postCall) != 0 {
			t.Errorf("%v", list)
		}
	})
	t.Run("settings are for one person from the first sign on, elsewhere than in a chat with the bot", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{})
		if a := b.ann.Command(b.channel, "settings").Answer(t.Context()); !a.Ephemeral {
			t.Errorf("%+v", a)
		}
		if a := b.ann.Command(b.ann.DM(), "settings").Answer(t.Context()); a.Ephemeral {
			t.Errorf("%+v", a)
		}
	})
	t.Run("an error for one person takes a public sign away and is not seen by others", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{})
		b.ann.Command(b.channel, "paint")
		in := b.next()
		m := answerTo(in, "no such style")
		m.OnlyFor = b.ann.ID()
		b.send(m)
		if list := b.server.History(b.channel); len(list) != 0 {
			t.Errorf("others see %v", list)
		}
		if list := b.ann.Sees(b.channel); len(list) != 1 || !list[0].Ephemeral || list[0].Content != "no such style" {
			t.Errorf("she sees %v", list)
		}
	})
	t.Run("what is slow to store is deferred all the same, within a second", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{})
		release := make(chan struct{})
		b.receive = func(chat.Incoming) error { <-release; return nil }
		waiting := b.clock.Waiting()
		i := b.ann.Command(b.channel, "paint")
		b.clock.Await(t, waiting+1)
		b.clock.Advance(deferCommand)
		if a := i.Answer(t.Context()); a.Type != 5 || a.After > time.Second {
			t.Errorf("%+v", a)
		}
		close(release)
		b.next()
	})
	t.Run("what can't be stored is not answered, so that nobody waits for it", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{})
		b.receive = func(chat.Incoming) error { return errors.New("no database") }
		i := b.ann.Command(b.channel, "paint")
		b.stop()
		if n := i.Responses(); n != 0 {
			t.Errorf("%d answers", n)
		}
	})
	t.Run("a press is answered by a form, a text, or nothing", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{})
		b.ann.Command(b.channel, "paint")
		m := answerTo(b.next(), "choose")
		m.Buttons = buttonNamed("Answer")
		ref := b.send(m)
		shown := b.server.Now(b.server.History(b.channel)[0])
		press := func() (*discordtest.Interaction, *chat.Incoming) {
			i := b.ann.Press(shown, "Answer")
			return i, b.next()
		}
		i, in := press()
		if in.Kind != chat.KindPress || in.Press.Data != "k.Answer" || in.Message.ID != ref.ID {
			t.Errorf("%+v", in)
		}
		form := chat.Form{Title: strings.Repeat("t", 60), Data: "f", Fields: []chat.FormField{{Name: "a", Label: strings.Repeat("l", 60), Value: "old", Required: true}, {Name: "b", Label: "b", Multiline: true}}}
		if err := b.a.AnswerPress(t.Context(), *in.Press, chat.PressAnswer{Form: &form}); err != nil {
			t.Fatal(err)
		}
		sent := b.ann.Submit(i.Modal(t.Context()), map[string]any{"a": "new", "b": "x\ny"})
		in = b.next()
		if in.Kind != chat.KindForm || in.Press.Data != "f" || in.Options["a"] != "new" || in.Options["b"] != "x\ny" {
			t.Errorf("%+v", in)
		}
		if err := b.a.AnswerPress(t.Context(), *in.Press, chat.PressAnswer{Text: "saved"}); err != nil {
			t.Fatal(err)
		}
		if f := sent.Followups(); len(f) != 1 || !f[0].Ephemeral || f[0].Content != "saved" {
			t.Errorf("%v", f)
		}
		i, in = press()
		if err := b.a.AnswerPress(t.Context(), *in.Press, chat.PressAnswer{}); err != nil || i.Answer(t.Context()).Type != 6 || len(i.Followups()) != 0 {
			t.Errorf("%v %+v", err, i.Answer(t.Context()))
		}
		b.edit(ref, chat.Message{To: in.Chat.Place, Text: chat.Plain("chosen")})
		if now := b.server.Now(shown); now.Content != "chosen" || len(now.Buttons()) != 0 {
			t.Errorf("%v", now)
		}
	})
	t.Run("a press that nobody answers in time is told to wait, and a form then comes too late", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{})
		b.ann.Command(b.channel, "paint")
		m := answerTo(b.next(), "choose")
		m.Buttons = buttonNamed("Answer")
		b.send(m)
		waiting := b.clock.Waiting()
		i := b.ann.Press(b.server.History(b.channel)[0], "Answer")
		in := b.next()
		b.clock.Await(t, waiting+1)
		b.clock.Advance(deferPress)
		if a := i.Answer(t.Context()); a.Type != 6 || a.After > time.Second {
			t.Errorf("%+v", a)
		}
		if err := b.a.AnswerPress(t.Context(), *in.Press, chat.PressAnswer{Form: &chat.Form{Title: "t", Data: "f"}}); !errors.Is(err, chat.ErrLateForm) {
			t.Error(err)
		}
		if err := b.a.AnswerPress(t.Context(), *in.Press, chat.PressAnswer{Text: "late"}); err != nil || i.Followups()[0].Content != "late" {
			t.Error(err)
		}
	})
	t.Run("values are offered while an option is typed", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{})
		b.offered = []chat.Choice{{Label: strings.Repeat("l", 120), Value: "v"}, {Value: "w"}, {Label: "x", Value: strings.Repeat("x", 101)}}
		got := b.ann.Autocomplete(b.channel, "paint", "style", "v").Choices(t.Context())
		if len(got) != 2 || got[0].Value != "v" || got[1].Name != "w" {
			t.Errorf("%v", got)
		}
	})
	t.Run("an interaction that comes twice is taken once, also by the next start", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{})
		i := b.ann.Command(b.channel, "paint")
		in := b.next()
		i.Repeat()
		if again := b.next(); again.ID != in.ID {
			t.Errorf("its id was %s, is %s", in.ID, again.ID)
		}
		b.send(answerTo(in, "working"))
		b.stop()
		b.start()
		b.send(answerTo(in, "after the restart"))
		if list := b.server.History(b.channel); len(list) != 2 || list[0].Content != "working" || list[1].Content != "after the restart" || i.Attempts() != 1 {
			t.Errorf("%v", list)
		}
	})
}

func TestTokenLife(t *testing.T) {
	t.Parallel()
	t.Run("after 15 minutes messages are edited and sent with the bot's own rights", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{})
		b.ann.Command(b.channel, "paint")
		in := b.next()
		ref := b.send(answerTo(in, "working"))
		b.clock.Advance(14 * time.Minute)
		b.edit(ref, answerTo(in, "still working"))
		if n := b.calls("PATCH /channels/{channel_id}/messages/{message_id}"); n != 0 {
			t.Errorf("%d edits with the bot's rights", n)
		}
		b.clock.Advance(time.Minute)
		b.edit(ref, answerTo(in, "done"))
		more := b.send(answerTo(in, "and more"))
		list := b.server.History(b.channel)
		if len(list) != 2 || list[0].Content != "done" || list[1].ID != more.ID || b.calls(postCall) != 1 {
			t.Errorf("%v", list)
		}
		if err := b.a.Delete(t.Context(), ref); err != nil || len(b.server.History(b.channel)) != 1 {
			t.Error(err)
		}
		if err := b.a.Delete(t.Context(), ref); err != nil {
			t.Errorf("deleting it twice: %v", err)
		}
		if _, err := b.a.Edit(t.Context(), ref, answerTo(in, "x")); !errors.Is(err, chat.ErrGone) {
			t.Errorf("editing a deleted message: %v", err)
		}
	})
	t.Run("a token that Discord refuses is not tried again: each time counts against the bot", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{})
		b.ann.Command(b.channel, "paint")
		in := b.next()
		ref := b.send(answerTo(in, "working"))
		const byToken = "PATCH /webhooks/{webhook_id}/{webhook_token}/messages/@original"
		tried := b.calls(byToken)
		b.server.Inject(discordtest.Refuse(401, 50027, "Invalid Webhook Token").On(byToken))
		for _, text := range []string{"still working", "nearly done", "done"} {
			b.edit(ref, answerTo(in, text))
		}
		if n := b.calls(byToken) - tried; n != 1 {
			t.Errorf("%d edits by a token that is over, want 1", n)
		}
		if list := b.server.History(b.channel); len(list) != 1 || list[0].Content != "done" {
			t.Errorf("%v", list)
		}
	})
	t.Run("a press gives its message a new token, also to one that only one person sees", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{})
		b.ann.Command(b.channel, "settings")
		m := answerTo(b.next(), "settings")
		m.Buttons, m.OnlyFor = buttonNamed("Style"), b.ann.ID()
		ref := b.send(m)
		b.clock.Advance(14 * time.Minute)
		b.ann.Press(b.ann.Sees(b.channel)[0], "Style")
		in := b.next()
		b.clock.Advance(10 * time.Minute)
		if err := b.a.AnswerPress(t.Context(), *in.Press, chat.PressAnswer{}); err != nil {
			t.Error(err)
		}
		_ = ref
	})
	t.Run("where the bot may not go, what comes after the token can't be delivered", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{})
		b.ann.Install()
		elsewhere := b.server.ForeignGuild("Elsewhere", b.ann).Text("general")
		b.ann.Command(elsewhere, "paint")
		in := b.next()
		ref := b.send(answerTo(in, "working"))
		b.edit(ref, answerTo(in, "still working"))
		b.clock.Advance(15 * time.Minute)
		if _, err := b.a.Edit(t.Context(), ref, answerTo(in, "done")); !errors.Is(err, chat.ErrUnreachable) {
			t.Error(err)
		}
		if _, err := b.a.Send(t.Context(), answerTo(in, "done")); !errors.Is(err, chat.ErrUnreachable) {
			t.Error(err)
		}
	})
	t.Run("where the bot may not go, people are told in time where the result will be", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{})
		b.ann.Install()
		elsewhere := b.server.ForeignGuild("Elsewhere", b.ann).Text("general")
		i := b.ann.Command(elsewhere, "paint")
		in := b.next()
		ref := b.send(answerTo(in, "queued"))
		i.Message(t.Context(), nil)
		working := answerTo(in, "working 10 %")
		working.Droppable, working.Buttons = true, buttonNamed("Cancel")
		b.edit(ref, working)
		over := b.ann.Command(elsewhere, "paint")
		done := answerTo(b.next(), "done")
		b.send(done)
		b.clock.Advance(partingAt)
		b.soon("parting words", func() bool { return strings.Contains(i.Message(t.Context(), nil).Content, "on the page") })
		m := i.Message(t.Context(), func(m discordtest.Message) bool { return strings.Contains(m.Content, "on the page (en-US)") })
		if !strings.Contains(m.Content, "working 10 %") || m.Labels()[0] != "Cancel" {
			t.Errorf("%v", m)
		}
		if m := over.Message(t.Context(), nil); m.Content != "done" {
			t.Errorf("%v", m)
		}
	})
	t.Run("what is for one person goes into their own chat once the token is over", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{})
		b.ann.Command(b.channel, "settings")
		in := b.next()
		b.clock.Advance(16 * time.Minute)
		m := answerTo(in, "yours")
		m.OnlyFor = b.ann.ID()
		b.send(m)
		if list := b.server.History(b.ann.DM()); len(list) != 1 || list[0].Content != "yours" || list[0].ReplyTo != "" {
			t.Errorf("%v", list)
		}
	})
}

func TestWhereItMayNotWrite(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	w := chattest.NewWorld(t, h, chattest.Tools()...)
	w.Privately = func(context.Context, string, string) error { return errors.New("nobody is told elsewhere") }
	w.Restart()
	anna := chattest.Person{ID: "1001", Name: "Anna", Language: "en"}
	private, room := h.Private(anna), h.Group("Makers")
	h.rooms[room.ID].DenyBot(discordtest.SendMessages)
	h.Post(t, chattest.Post{From: anna, In: room, Text: "/poem autumn"}) // names the bot: there is no interaction to be answered
	w.AwaitText(private, "may not write")
	if n := w.CountRuns(); n != 0 {
		t.Errorf("%d runs were begun where nobody sees them", n)
	}
}
