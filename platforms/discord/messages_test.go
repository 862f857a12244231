package discord

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/discord/discordtest"
	"github.com/signalbox/signalbox/registry"
)

func mediaOf(name string, kind chat.MediaKind, data []byte) chat.Media {
	return chat.Media{
		Kind: kind, FileName: name, Bytes: int64(len(data)),
		Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil },
	}
}

func (b *bench) place() chat.Place { return chat.Place{Chat: b.channel.ID()} }

func TestMessages(t *testing.T) {
	t.Parallel()
	t.Run("no message pings anybody, whatever its text says", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{})
		text := "@everyone @here <@" + b.ann.ID() + "> <@&1>"
		b.ann.Command(b.channel, "paint")
		in := b.next()
		ref := b.send(answerTo(in, text))
		b.send(answerTo(in, text))
		b.send(chat.Message{To: b.place(), Text: chat.Text{{Text: text}, {Style: chat.StyleMention, Text: "Ann", URL: b.ann.ID()}}})
		b.edit(ref, answerTo(in, text+"!"))
		for _, m := range b.server.History(b.channel) {
			if parse, ok := m.AllowedMentions["parse"].([]any); !ok || len(parse) != 0 || len(m.Mentions) != 0 {
				t.Errorf("%q pings %v (allowed %v)", m.Content, m.Mentions, m.AllowedMentions)
			}
		}
	})
	t.Run("trap 3: an edit of the text keeps nothing it should not, and loses nothing it should keep", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{})
		ref := b.send(chat.Message{To: b.place(), Text: chat.Plain("a"), Media: []chat.Media{mediaOf("a.png", chat.KindPhoto, []byte("x"))}, Buttons: buttonNamed("Again")})
		b.edit(ref, chat.Message{To: b.place(), Text: chat.Plain("b")})
		m := b.server.History(b.channel)[0]
		if m.Content != "b" || len(m.Attachments) != 1 || len(m.Buttons()) != 0 {
			t.Errorf("%v", m)
		}
		if err := b.a.EditButtons(t.Context(), ref, buttonNamed("Vary")); err != nil {
			t.Fatal(err)
		}
		if m = b.server.Now(m); m.Content != "b" || len(m.Attachments) != 1 || m.Labels()[0] != "Vary" {
			t.Errorf("%v", m)
		}
		b.edit(ref, chat.Message{To: b.place(), Text: chat.Plain("c"), Media: []chat.Media{mediaOf("b.png", chat.KindPhoto, []byte("y"))}})
		if m = b.server.Now(m); len(m.Attachments) != 1 || m.Attachments[0].Name != "b.png" {
			t.Errorf("%v", m)
		}
	})
	t.Run("trap 2: the message that takes the place of a waiting sign has all that others have", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{})
		b.ann.Command(b.channel, "paint")
		m := answerTo(b.next(), "x")
		m.Media, m.Buttons = []chat.Media{mediaOf("a.png", chat.KindPhoto, []byte("x"))}, buttonNamed("Again")
		b.send(m)
		if shown := b.server.History(b.channel)[0]; len(shown.Attachments) != 1 || shown.Labels()[0] != "Again" || shown.Loading {
			t.Errorf("%v", shown)
		}
	})
	t.Run("pictures are described and, where they are to be covered, covered", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{})
		picture := mediaOf("../../a.png", chat.KindPhoto, []byte("x"))
		picture.Alt, picture.Spoiler = strings.Repeat("ä", 2000), true
		b.send(chat.Message{To: b.place(), Media: []chat.Media{picture}})
		a := b.server.History(b.channel)[0].Attachments[0]
		if a.Name != "SPOILER_a.png" || !a.Spoiler || len([]rune(a.Description)) != maxAlt {
			t.Errorf("%+v", a)
		}
	})
	t.Run("an album is one message, and more than ten files are several", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{})
		m := chat.Message{To: b.place(), Text: chat.Plain("all"), Buttons: buttonNamed("Again")}
		for range 12 {
			m.Media = append(m.Media, mediaOf("a.png", chat.KindPhoto, []byte("x")))
		}
		refs, err := b.a.Send(t.Context(), m)
		list := b.server.History(b.channel)
		if err != nil || len(refs) != 12 || len(list) != 2 || len(list[0].Attachments) != 10 || list[0].Content != "" || list[1].Content != "all" || refs[11].ID != list[1].ID {
			t.Errorf("%v: %d references, %v", err, len(refs), list)
		}
	})
	t.Run("a file beyond the place's limit is too large, no matter who finds out", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{})
		b.guild.SetUploadLimit(1000)
		b.ann.Command(b.channel, "paint")
		in := b.next()
		if in.Chat.UploadLimit != 1000 {
			t.Errorf("the limit is %d", in.Chat.UploadLimit)
		}
		m := answerTo(in, "big")
		m.Media = []chat.Media{mediaOf("a.bin", chat.KindDocument, make([]byte, 2000))}
		if _, err := b.a.Send(t.Context(), m); !errors.Is(err, chat.ErrTooLarge) {
			t.Error(err)
		}
		m.Media[0].Bytes = mostUpload + 1
		if _, err := b.a.Send(t.Context(), m); !errors.Is(err, chat.ErrTooLarge) {
			t.Error(err)
		}
	})
	t.Run("a message whose answer is lost is sent again and shown once", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{})
		b.server.Inject(discordtest.CutAfter().On(postCall))
		done := make(chan error, 1)
		go func() {
			_, err := b.a.Send(t.Context(), chat.Message{To: b.place(), Text: chat.Plain("once")})
			done <- err
		}()
		b.soon("second call", func() bool { return b.calls(postCall) >= 2 })
		if err := <-done; err != nil || len(b.server.History(b.channel)) != 1 {
			t.Errorf("%v: %v", err, b.server.History(b.channel))
		}
	})
	t.Run("a follow-up whose answer is lost is not sent again: nobody would know it from the first", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{})
		b.ann.Command(b.channel, "paint")
		in := b.next()
		b.send(answerTo(in, "first"))
		b.server.Inject(discordtest.CutAfter().On(followUpCall))
		if _, err := b.a.Send(t.Context(), answerTo(in, "second")); !errors.Is(err, chat.ErrUncertain) || len(b.server.History(b.channel)) != 2 {
			t.Errorf("%v", err)
		}
	})
	t.Run("rights the bot lacks are named", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{})
		b.channel.DenyBot(discordtest.SendMessages)
		if _, err := b.a.Send(t.Context(), chat.Message{To: b.place(), Text: chat.Plain("x")}); !errors.Is(err, chat.ErrNoRight) {
			t.Error(err)
		}
		b.ann.Command(b.channel, "paint")
		b.send(answerTo(b.next(), "answers need no right"))
	})
	t.Run("people who take no messages can't be reached", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{})
		b.ann.RefuseDMs()
		if _, err := b.a.Send(t.Context(), chat.Message{To: chat.Place{Chat: b.ann.DM().ID()}, Text: chat.Plain("x")}); !errors.Is(err, chat.ErrUnreachable) {
			t.Error(err)
		}
	})
	t.Run("progress never waits", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{})
		ref := b.send(chat.Message{To: b.place(), Text: chat.Plain("x")})
		b.server.Inject(discordtest.RateLimit(time.Minute).On("PATCH /channels/{channel_id}/messages/{message_id}"))
		var limit *registry.Error
		for range 3 {
			_, err := b.a.Edit(t.Context(), ref, chat.Message{To: b.place(), Text: chat.Plain("y"), Droppable: true})
			if !errors.As(err, &limit) || limit.Code != registry.CodeRateLimited || limit.RetryAfter < 30*time.Second {
				t.Error(err)
			}
		}
		if n := b.calls("PATCH /channels/{channel_id}/messages/{message_id}"); n != 1 {
			t.Errorf("%d calls", n)
		}
	})
	t.Run("answers stay in their thread", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{})
		thread := b.channel.Thread("ideas")
		b.ann.Command(thread, "paint")
		in := b.next()
		if in.Chat.Chat != b.channel.ID() || in.Chat.Topic != thread.ID() {
			t.Errorf("%+v", in.Chat)
		}
		b.clock.Advance(16 * time.Minute)
		b.send(answerTo(in, "late"))
		if list := b.server.History(thread); len(list) == 0 || list[len(list)-1].Content != "late" {
			t.Errorf("%v", list)
		}
	})
	t.Run("menus are above the buttons, with the choice marked", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{})
		b.send(chat.Message{To: b.place(), Text: chat.Plain("x"), Buttons: buttonNamed("Close"), Menus: []chat.Menu{{
			Data: "k.style", Placeholder: strings.Repeat("p", 200), Options: []chat.MenuOption{{Label: "Oil", Value: "oil"}, {Label: "Ink", Value: "ink", Chosen: true}},
		}}})
		m := b.server.History(b.channel)[0]
		b.ann.Choose(m, "k.style", "Oil")
		if in := b.next(); in.Press.Data != "k.style" || in.Press.Values[0] != "oil" || !m.Selects()[0].Options[1].Default {
			t.Errorf("%+v", in.Press)
		}
	})
	t.Run("a command on a message brings the message and its files, which can be had again later", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{})
		m := b.ann.SendFiles(b.ann.DM(), "mine", discordtest.File{Name: "a.txt", Bytes: []byte("text")})
		b.next()
		b.ann.MessageCommand(m, "Use with…")
		in := b.next()
		if in.Command != "use" || in.ReplyTo == nil || in.ReplyTo.Ref.ID != m.ID || in.ReplyTo.Own || len(in.ReplyTo.Attachments) != 1 {
			t.Fatalf("%+v", in)
		}
		for _, later := range []time.Duration{0, 48 * time.Hour} {
			b.clock.Advance(later)
			r, err := b.a.Fetch(t.Context(), in.ReplyTo.Attachments[0])
			if err != nil {
				t.Fatal(err)
			}
			data, err := io.ReadAll(r)
			if _ = r.Close(); err != nil || string(data) != "text" {
				t.Errorf("%q %v", data, err)
			}
		}
	})
	t.Run("typing is shown where no interaction shows that it is waited for", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{})
		b.ann.Command(b.channel, "paint")
		in := b.next()
		if err := b.a.Working(t.Context(), in.Chat.Place, chat.ActivityPhoto); err != nil || b.server.Typing(b.channel) != 0 {
			t.Errorf("%v, %d", err, b.server.Typing(b.channel))
		}
		if err := b.a.Working(t.Context(), chat.Place{Chat: b.ann.DM().ID()}, chat.ActivityPhoto); err != nil || b.server.Typing(b.ann.DM()) != 1 {
			t.Errorf("%v, %d", err, b.server.Typing(b.ann.DM()))
		}
	})
}

func TestSync(t *testing.T) {
	t.Parallel()
	t.Run("the list is written at once, and only when it has changed, over restarts too", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{})
		for range 3 {
			if err := b.a.SyncCommands(t.Context(), commandSets()); err != nil {
				t.Fatal(err)
			}
		}
		b.stop()
		b.start()
		if n := b.calls("PUT /applications/{application_id}/commands"); n != 1 {
			t.Errorf("%d writes", n)
		}
		sets := commandSets()
		sets[0].Commands[0].Description = "Paints well"
		if err := b.a.SyncCommands(t.Context(), sets); err != nil || b.calls("PUT /applications/{application_id}/commands") != 2 {
			t.Error(err)
		}
	})
	t.Run("a list that somebody else has changed is written again at the next start", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{})
		other := b.adapter(t)
		other.commands.Store(&published{})
		if err := other.SyncCommands(t.Context(), commandSets()[:1]); err != nil {
			t.Fatal(err)
		}
		if err := b.a.storage.setPublished(t.Context(), *b.a.commands.Load()); err != nil {
			t.Fatal(err)
		}
		b.stop()
		b.start()
		if list := b.ann.Commands(b.ann.DM()); len(list) != 3 {
			t.Error("the commands are not those of the program")
		}
	})
	t.Run("a list that Discord refuses is not sent again and again", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{})
		const write = "PUT /applications/{application_id}/commands"
		b.server.Inject(discordtest.Refuse(400, 30034, "Max number of daily application command creates has been reached").On(write))
		for range 3 {
			if err := b.a.SyncCommands(t.Context(), commandSets()[:1]); err != nil {
				t.Fatal(err)
			}
		}
		if n := b.calls(write); n != 2 {
			t.Errorf("%d writes, want that of the start and one", n)
		}
		b.clock.Advance(refusedFor)
		if err := b.a.SyncCommands(t.Context(), commandSets()[:1]); err != nil || b.calls(write) != 3 {
			t.Errorf("%v, %d writes", err, b.calls(write))
		}
	})
	t.Run("a command means the same while its list is on the way, the new one already and the old one still", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{})
		release, done := make(chan struct{}), make(chan error, 1)
		b.server.Inject(discordtest.DelayUntil(release).On("PUT /applications/{application_id}/commands"))
		sets := commandSets()[:1]
		sets[0].Commands[0].Name = "draw"
		go func() { done <- b.a.SyncCommands(t.Context(), sets) }()
		defer func() {
			close(release)
			if err := <-done; err != nil || b.a.commands.Load().Commands["paint"].Options != nil {
				t.Errorf("%v; known are %v", err, b.a.commands.Load().Commands)
			}
		}()
		clocktest.Until(t, "the new command is known", func() bool { return b.a.commands.Load().Commands["draw"].Options["source_picture"] == "Source Picture" })
		if b.a.commands.Load().Commands["paint"].Options["source_picture"] != "Source Picture" {
			t.Error("the old command is not known any more")
		}
	})
	t.Run("after a restart a command's options mean the same before the list is known", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, discordtest.Options{})
		b.stop()
		a := b.adapter(t)
		if in := a.commands.Load().Commands["paint"].Options["source_picture"]; in != "Source Picture" || !a.commands.Load().Commands["settings"].Private {
			t.Errorf("%+v", a.commands.Load())
		}
	})
}
