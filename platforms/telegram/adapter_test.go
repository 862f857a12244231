package telegram

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/telegram/botapi"
	"github.com/signalbox/signalbox/platforms/telegram/telegramtest"
	"github.com/signalbox/signalbox/registry"
)

// rig is an adapter, and Ann who has opened her chat with the bot.
type rig struct {
	*harness
	*Adapter
	ann   *telegramtest.User
	chat  *telegramtest.Chat
	place chat.Place
}

func newRig(t *testing.T) rig {
	t.Helper()
	h := newHarness(t)
	ann := h.server.User("Ann")
	ann.Start("")
	return rig{h, h.adapter(t), ann, ann.Private(), placeIn(ann.Private())}
}

func placeIn(c *telegramtest.Chat) chat.Place { return chat.Place{Chat: strconv.FormatInt(c.ID(), 10)} }

func (r rig) text(s string) chat.Message { return chat.Message{To: r.place, Text: chat.Plain(s)} }

// with is a message with files.
func (r rig) with(text string, media ...chat.Media) chat.Message {
	m := r.text(text)
	m.Media = media
	return m
}

func mediaOf(kind chat.MediaKind, name string, data []byte) chat.Media {
	return chat.Media{
		Kind: kind, Ref: "asset:" + name, FileName: name, Bytes: int64(len(data)),
		Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil },
	}
}

func photoOf(name string) chat.Media { return mediaOf(chat.KindPhoto, name, pngOf(8, 8)) }

// sent sends a message and gives its reference.
func (r rig) sent(t *testing.T, m chat.Message) chat.MessageRef {
	t.Helper()
	refs, err := r.Send(t.Context(), m)
	if err != nil || len(refs) == 0 {
		t.Fatalf("send: %v, %d references", err, len(refs))
	}
	return refs[0]
}

// own lists the bot's messages in a chat.
func (r rig) own(c *telegramtest.Chat) []telegramtest.Message {
	var own []telegramtest.Message
	for _, m := range r.server.History(c) {
		if m.From == nil {
			own = append(own, m)
		}
	}
	return own
}

// only gives the one message of the bot.
func (r rig) only(t *testing.T) telegramtest.Message {
	t.Helper()
	own := r.own(r.chat)
	if len(own) != 1 {
		t.Fatalf("one message was to be there:\n%s", r.server.Transcript(r.chat))
	}
	return own[0]
}

func (r rig) uploads(method string) (n int) {
	for _, c := range r.server.Calls(method) {
		n += len(c.Files)
	}
	return n
}

func TestSending(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]func(t *testing.T, r rig){
		"styles are shown and nothing in a text is taken for markup": func(t *testing.T, r rig) {
			m := r.text("")
			m.Text = chat.Text{
				{Style: chat.StyleMention, Text: "Makers ", URL: "-100"}, {Text: "<b>& "}, {Style: chat.StyleBold, Text: "a<b"}, {Style: chat.StyleQuote, Text: "\"q\""},
				{Style: chat.StyleLink, Text: "here", URL: "https://example.com/?a=1&b=\"2\""}, {Style: chat.StyleItalic, Text: " "},
				{Style: chat.StyleGone, Text: "old"}, {Text: " "}, {Style: chat.StyleNew, Text: "new"},
			}
			r.sent(t, m)
			shown := r.only(t)
			if shown.Text != strings.TrimSpace(m.Text.String()) || len(shown.Entities) != 5 || shown.Entities[3].Type != "strikethrough" || !shown.NoPreview {
				t.Errorf("shown: %q %+v", shown.Text, shown.Entities)
			}
		},
		"markup that is refused comes as plain text": func(t *testing.T, r rig) {
			r.server.Inject(telegramtest.Refuse(400, "Bad Request: can't parse entities: Can't find end tag").On("sendMessage"))
			m := r.text("")
			m.Text = chat.Text{{Style: chat.StyleBold, Text: "1 < 2"}}
			r.sent(t, m)
			if shown := r.only(t); shown.Text != "1 < 2" || len(shown.Entities) != 0 {
				t.Errorf("shown: %q %+v", shown.Text, shown.Entities)
			}
		},
		"a reply to a message that is gone arrives all the same": func(t *testing.T, r rig) {
			asked := r.ann.Send(r.chat, "hello")
			r.ann.Delete(asked)
			m := r.text("hi")
			m.ReplyTo = chat.MessageRef{Place: r.place, ID: strconv.Itoa(asked.ID)}
			m.Silent = true
			r.sent(t, m)
			if shown := r.only(t); shown.ReplyTo != 0 || !shown.Silent {
				t.Errorf("shown: %+v", shown)
			}
		},
		"a photo that can't be one goes as a document": func(t *testing.T, r rig) {
			r.server.Inject(telegramtest.Refuse(400, "Bad Request: IMAGE_PROCESS_FAILED").On("sendPhoto"))
			ref := r.sent(t, r.with("look", photoOf("a.png")))
			if shown := r.only(t); shown.Media == nil || shown.Media.Kind != "document" || shown.Text != "look" || !ref.Media {
				t.Errorf("shown: %s", shown)
			}
		},
		"large and long pictures go as documents at once": func(t *testing.T, r rig) {
			long := photoOf("long.png")
			long.Width, long.Height = 2100, 100
			r.sent(t, r.with("", long))
			large := photoOf("large.png")
			large.Bytes = botapi.MaxPhoto + 1
			r.sent(t, r.with("", large))
			for _, m := range r.own(r.chat) {
				if m.Media.Kind != "document" {
					t.Errorf("shown: %s", m)
				}
			}
		},
		"bot-ux 42 a file is uploaded once and then sent by its id, by every start of the program": func(t *testing.T, r rig) {
			r.sent(t, r.with("one", photoOf("a.png")))
			r.sent(t, r.with("two", photoOf("a.png")))
			r.Adapter = r.adapter(t)
			r.sent(t, r.with("three", photoOf("a.png"), photoOf("a.png")))
			if n := r.uploads("sendPhoto") + r.uploads("sendMediaGroup"); n != 1 {
				t.Errorf("%d uploads", n)
			}
			document := photoOf("a.png")
			document.Kind = chat.KindDocument
			r.sent(t, r.with("as file", document))
			if n := r.uploads("sendDocument"); n != 1 {
				t.Errorf("%d uploads as a document, whose ids are others", n)
			}
		},
		"an id that does not work any more is replaced by an upload": func(t *testing.T, r rig) {
			r.sent(t, r.with("one", photoOf("a.png")))
			r.server.Inject(telegramtest.Refuse(400, "Bad Request: wrong file identifier/HTTP URL specified").On("sendPhoto"))
			r.sent(t, r.with("two", photoOf("a.png")))
			r.sent(t, r.with("three", photoOf("a.png")))
			if n := r.uploads("sendPhoto"); n != 2 || len(r.own(r.chat)) != 3 {
				t.Errorf("%d uploads, %d messages", n, len(r.own(r.chat)))
			}
		},
		"a file over 50 MB is refused before it is read, or where it turns out so": func(t *testing.T, r rig) {
			said := photoOf("said.png")
			said.Kind, said.Bytes = chat.KindDocument, botapi.MaxUpload+1
			said.Open = func(context.Context) (io.ReadCloser, error) { t.Error("it was read"); return nil, errors.New("no") }
			if _, err := r.Send(t.Context(), r.with("", said)); !errors.Is(err, chat.ErrTooLarge) {
				t.Errorf("said: %v", err)
			}
			unsaid := photoOf("unsaid.bin")
			unsaid.Kind, unsaid.Bytes = chat.KindDocument, 0
			unsaid.Open = func(context.Context) (io.ReadCloser, error) { return io.NopCloser(endless{}), nil }
			if _, err := r.Send(t.Context(), r.with("", unsaid)); !errors.Is(err, chat.ErrTooLarge) || errors.Is(err, chat.ErrUncertain) {
				t.Errorf("unsaid: %v", err)
			}
			if ref := r.sent(t, r.text("status")); !errors.Is(errOf(r.Edit(t.Context(), ref, r.with("", unsaid))), chat.ErrTooLarge) {
				t.Error("in an edit it is not refused")
			}
			if len(r.own(r.chat)) != 1 {
				t.Errorf("messages:\n%s", r.server.Transcript(r.chat))
			}
		},
		"a file of ours that can't be read is neither too large nor uncertain": func(t *testing.T, r rig) {
			broken := errors.New("disk on fire")
			m := photoOf("a.png")
			m.Open = func(context.Context) (io.ReadCloser, error) {
				return io.NopCloser(io.MultiReader(strings.NewReader("x"), failing{broken})), nil
			}
			_, err := r.Send(t.Context(), r.with("", m))
			if !errors.Is(err, broken) || errors.Is(err, chat.ErrUncertain) || len(r.own(r.chat)) != 0 {
				t.Errorf("%v", err)
			}
		},
		"a file the service finds too large": func(t *testing.T, r rig) {
			r.server.Inject(telegramtest.Refuse(413, "Request Entity Too Large").On("sendDocument"))
			document := photoOf("a.png")
			document.Kind = chat.KindDocument
			if _, err := r.Send(t.Context(), r.with("", document)); !errors.Is(err, chat.ErrTooLarge) {
				t.Errorf("%v", err)
			}
		},
		"a text over the limit is told as too large": func(t *testing.T, r rig) {
			if _, err := r.Send(t.Context(), r.text(strings.Repeat("x", 5000))); !errors.Is(err, chat.ErrTooLarge) {
				t.Errorf("%v", err)
			}
		},
		"an album gives one reference per item": func(t *testing.T, r rig) {
			refs, err := r.Send(t.Context(), r.with("three", photoOf("a.png"), photoOf("b.png"), photoOf("c.png")))
			own := r.own(r.chat)
			if err != nil || len(refs) != 3 || len(own) != 3 || own[0].AlbumID == "" || own[0].Text != "three" || own[1].Text != "" {
				t.Fatalf("%v, %d references:\n%s", err, len(refs), r.server.Transcript(r.chat))
			}
			for i, ref := range refs {
				if ref.ID != strconv.Itoa(own[i].ID) || !ref.Media {
					t.Errorf("reference %d: %+v", i, ref)
				}
			}
		},
		"an album with a photo that can't be one goes as documents": func(t *testing.T, r rig) {
			r.server.Inject(telegramtest.Refuse(400, "Bad Request: PHOTO_INVALID_DIMENSIONS").On("sendMediaGroup"))
			if _, err := r.Send(t.Context(), r.with("", photoOf("a.png"), photoOf("b.png"))); err != nil {
				t.Fatal(err)
			}
			for _, m := range r.own(r.chat) {
				if m.Media.Kind != "document" {
					t.Errorf("shown: %s", m)
				}
			}
		},
		"what Telegram can't show goes as a document, and all of its album with it": func(t *testing.T, r rig) {
			film := mediaOf(chat.KindVideo, "a.webm", []byte("film"))
			film.MIMEType = "video/webm"
			picture := photoOf("a.png")
			picture.MIMEType = "image/png; x=y"
			for _, m := range []chat.Message{r.with("", film), r.with("", picture, film)} {
				if _, err := r.Send(t.Context(), m); err != nil {
					t.Fatal(err)
				}
			}
			for _, m := range r.own(r.chat) {
				if m.Media.Kind != "document" {
					t.Errorf("shown: %s", m)
				}
			}
		},
		"an album with buttons is a mistake that is told": func(t *testing.T, r rig) {
			m := r.with("", photoOf("a.png"), photoOf("b.png"))
			m.Buttons = [][]chat.Button{{{Label: "x", Data: "y"}}}
			if _, err := r.Send(t.Context(), m); err == nil {
				t.Error("it was sent")
			}
		},
		"who is blocked can't be reached": func(t *testing.T, r rig) {
			r.ann.Block()
			if _, err := r.Send(t.Context(), r.text("hi")); !errors.Is(err, chat.ErrUnreachable) {
				t.Errorf("%v", err)
			}
			if _, err := r.Send(t.Context(), chat.Message{To: chat.Place{Chat: "4711"}, Text: chat.Plain("hi")}); !errors.Is(err, chat.ErrUnreachable) {
				t.Errorf("a chat that is not there: %v", err)
			}
		},
		"a right that is missing is named": func(t *testing.T, r rig) {
			group := r.server.Supergroup("Makers", r.ann)
			group.Forbid("photos")
			_, err := r.Send(t.Context(), chat.Message{To: placeIn(group), Media: []chat.Media{photoOf("a.png")}})
			if !errors.Is(err, chat.ErrNoRight) || err.Error() != "not enough rights to send photos" {
				t.Errorf("%v", err)
			}
		},
		"a send that may have arrived is not repeated": func(t *testing.T, r rig) {
			r.server.Inject(telegramtest.CutAfter().On("sendPhoto"))
			if _, err := r.Send(t.Context(), r.with("x", photoOf("a.png"))); !errors.Is(err, chat.ErrUncertain) {
				t.Errorf("%v", err)
			}
			r.only(t)
		},
		"a broken answer is uncertain too": func(t *testing.T, r rig) {
			r.server.Inject(telegramtest.BrokenJSON().On("sendMessage"))
			if _, err := r.Send(t.Context(), r.text("x")); !errors.Is(err, chat.ErrUncertain) {
				t.Errorf("%v", err)
			}
			r.only(t)
		},
		"a question in a group opens the reply field of the person asked": func(t *testing.T, r rig) {
			group := r.server.Supergroup("Makers", r.ann)
			m := chat.Message{To: placeIn(group), Text: chat.Plain("What?"), Ask: &chat.Ask{Placeholder: "prompt", Person: strconv.FormatInt(r.ann.ID(), 10)}}
			r.sent(t, m)
			asked := r.own(group)[0]
			if !asked.ForceReply || !strings.Contains(asked.Text, "What?") || len(asked.Entities) != 1 || asked.Entities[0].Type != "text_mention" {
				t.Errorf("shown: %s %+v", asked, asked.Entities)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newRig(t))
		})
	}
}

// endless is a file without end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// failing is a file that can't be read.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestOldMessagesStay(t *testing.T) {
	t.Parallel()
	clock := clocktest.NewManual(time.Now())
	h := newHarness(t)
	h.server = telegramtest.New(t, telegramtest.Options{Clock: clock})
	ann := h.server.User("Ann")
	ann.Start("")
	r := rig{h, h.adapter(t), ann, ann.Private(), placeIn(ann.Private())}
	ref := r.sent(t, r.text("a result"))
	clock.Advance(49 * time.Hour)
	if err := r.Delete(t.Context(), ref); !errors.Is(err, chat.ErrKept) {
		t.Errorf("deleting a message of more than two days: %v", err)
	}
	if shown := r.only(t); shown.Text != "a result" {
		t.Errorf("shown: %s", shown)
	}
}

func TestEditing(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]func(t *testing.T, r rig, status chat.MessageRef){
		"a status message becomes the picture, and its text the caption": func(t *testing.T, r rig, status chat.MessageRef) {
			m := r.with("done", photoOf("a.png"))
			m.Buttons = [][]chat.Button{{{Label: "Again", Data: "k.again"}}}
			now, err := r.Edit(t.Context(), status, m)
			if err != nil || !now.Media || now.ID != status.ID {
				t.Fatalf("%v %+v", err, now)
			}
			if shown := r.only(t); shown.Media == nil || shown.Text != "done" || len(shown.Labels()) != 1 {
				t.Errorf("shown: %s", shown)
			}
			if _, err := r.Edit(t.Context(), now, r.text("a new caption")); err != nil {
				t.Fatal(err)
			}
			if shown := r.only(t); shown.Media == nil || shown.Text != "a new caption" || len(shown.Labels()) != 0 {
				t.Errorf("shown: %s", shown)
			}
		},
		"a message that has become a picture meanwhile gets its caption changed": func(t *testing.T, r rig, status chat.MessageRef) {
			if _, err := r.Edit(t.Context(), status, r.with("done", photoOf("a.png"))); err != nil {
				t.Fatal(err)
			}
			now, err := r.Edit(t.Context(), status, r.text("new"))
			if shown := r.only(t); err != nil || !now.Media || shown.Text != "new" {
				t.Errorf("%v %+v %s", err, now, shown)
			}
		},
		"an edit that changes nothing is a success": func(t *testing.T, r rig, status chat.MessageRef) {
			if _, err := r.Edit(t.Context(), status, r.text("status")); err != nil {
				t.Error(err)
			}
		},
		"an edit that may have arrived is repeated": func(t *testing.T, r rig, status chat.MessageRef) {
			r.server.Inject(telegramtest.CutAfter().On("editMessageMedia"))
			if _, err := r.Edit(t.Context(), status, r.with("done", photoOf("a.png"))); err != nil {
				t.Fatal(err)
			}
			if r.only(t).Media == nil {
				t.Error("no picture")
			}
		},
		"a message that is gone": func(t *testing.T, r rig, status chat.MessageRef) {
			r.ann.Delete(r.only(t))
			if _, err := r.Edit(t.Context(), status, r.text("x")); !errors.Is(err, chat.ErrGone) {
				t.Errorf("edit: %v", err)
			}
			if err := r.EditButtons(t.Context(), status, nil); !errors.Is(err, chat.ErrGone) {
				t.Errorf("buttons: %v", err)
			}
			if err := r.Delete(t.Context(), status); err != nil {
				t.Errorf("delete: %v", err)
			}
		},
		"a question with an open reply field can't be edited": func(t *testing.T, r rig, _ chat.MessageRef) {
			m := r.text("What?")
			m.Ask = &chat.Ask{Placeholder: "x"}
			if _, err := r.Edit(t.Context(), r.sent(t, m), r.text("never mind")); !errors.Is(err, chat.ErrGone) {
				t.Errorf("%v", err)
			}
		},
		"a voice message takes the place of its status message": func(t *testing.T, r rig, status chat.MessageRef) {
			voice := mediaOf(chat.KindVoice, "a.ogg", []byte("OggS"))
			if _, err := r.Edit(t.Context(), status, r.with("", voice)); !errors.Is(err, chat.ErrGone) || len(r.own(r.chat)) != 0 {
				t.Errorf("%v:\n%s", err, r.server.Transcript(r.chat))
			}
		},
		"buttons alone": func(t *testing.T, r rig, status chat.MessageRef) {
			if err := r.EditButtons(t.Context(), status, [][]chat.Button{{{Label: "A", Data: "a"}, {Label: "B", URL: "https://example.com"}}}); err != nil {
				t.Fatal(err)
			}
			if shown := r.only(t); len(shown.Labels()) != 2 || shown.Text != "status" {
				t.Errorf("shown: %s", shown)
			}
		},
		"an old press is no error": func(t *testing.T, r rig, _ chat.MessageRef) {
			if err := r.AnswerPress(t.Context(), chat.Press{ID: "1"}, chat.PressAnswer{Text: "late"}); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			test(t, r, r.sent(t, r.text("status")))
		})
	}
}

func TestRateLimits(t *testing.T) {
	t.Parallel()
	t.Run("a refusal is waited out where the deadline allows it", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.server.Inject(telegramtest.RateLimit(time.Second).On("sendMessage"))
		r.sent(t, r.text("x"))
		r.only(t)
	})
	t.Run("else it is told with the time to wait, and signs of work keep off", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.server.Inject(telegramtest.RateLimit(30 * time.Second).On("sendMessage"))
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, err := r.Send(ctx, r.text("x"))
		var refused *registry.Error
		if !errors.As(err, &refused) || refused.Code != registry.CodeRateLimited || refused.RetryAfter < 29*time.Second || !refused.Retryable {
			t.Fatalf("%v", err)
		}
		if err := r.Working(ctx, r.place, chat.ActivityTyping); !errors.As(err, &refused) || len(r.server.Calls("sendChatAction")) != 0 {
			t.Errorf("%v", err)
		}
		m := r.text("50 %")
		m.Droppable = true
		if _, err := r.Send(t.Context(), m); !errors.As(err, &refused) || refused.RetryAfter < 25*time.Second {
			t.Errorf("droppable: %v", err)
		}
	})
}

func TestPatience(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.server.Inject(telegramtest.ServerError(502).On("setMyCommands"))
	r.server.Inject(telegramtest.RateLimit(time.Second).On("setMyCommands"))
	set := chat.CommandSet{Kind: chat.ChatPrivate, Commands: []chat.Command{{Name: "paint", Description: "Paints"}}}
	if err := r.SyncCommands(t.Context(), []chat.CommandSet{set}); err != nil {
		t.Errorf("after a failure and a rate limit: %v", err)
	}
	r.server.Inject(telegramtest.RateLimit(time.Minute).On("deleteMyCommands"))
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	var refused *registry.Error
	if err := r.SyncCommands(ctx, nil); !errors.As(err, &refused) || refused.RetryAfter < 50*time.Second {
		t.Errorf("a wait beyond the deadline: %v", err)
	}
	if text := fmt.Sprintf("%v %+v %#v", r.Adapter, r.Adapter, r.Adapter); strings.Contains(text, r.secret) {
		t.Errorf("printing the adapter shows its secret: %s", text)
	}
}

func TestGroups(t *testing.T) {
	t.Parallel()
	t.Run("a group that becomes a supergroup is followed, also after a restart", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		group := r.server.Group("Makers", r.ann)
		old := r.sent(t, chat.Message{To: placeIn(group), Text: chat.Plain("before")})
		super := group.Migrate()
		ref := r.sent(t, chat.Message{To: placeIn(group), Text: chat.Plain("after"), ReplyTo: old})
		if ref.Chat != placeIn(super).Chat {
			t.Errorf("sent to %+v", ref)
		}
		r.Adapter = r.adapter(t)
		r.sent(t, chat.Message{To: placeIn(group), Text: chat.Plain("later")})
		if own := r.own(super); len(own) != 2 {
			t.Errorf("messages:\n%s", r.server.Transcript(super))
		}
		if _, err := r.Edit(t.Context(), old, r.text("x")); !errors.Is(err, chat.ErrGone) {
			t.Errorf("an edit of a message of the old group: %v", err)
		}
		if err := r.Delete(t.Context(), old); err != nil {
			t.Errorf("delete: %v", err)
		}
	})
	t.Run("what is kept of a group that moves is moved once, and again when that failed", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		group := r.server.Group("Makers", r.ann)
		var moves []string
		fails := true
		r.Adapter.storage.move = func(_ context.Context, _ pgx.Tx, from, to string) error {
			if fails {
				return errors.New("the database is busy")
			}
			moves = append(moves, from+" "+to)
			return nil
		}
		from, super := placeIn(group).Chat, group.Migrate()
		if ref := r.sent(t, chat.Message{To: placeIn(group), Text: chat.Plain("sent all the same")}); ref.Chat != placeIn(super).Chat {
			t.Errorf("sent to %+v", ref)
		}
		if now, err := r.Present(t.Context(), from); err != nil || now != from {
			t.Errorf("a group that was not moved is at %s, %v", now, err)
		}
		fails = false
		r.sent(t, chat.Message{To: placeIn(group), Text: chat.Plain("moved now")})
		r.sent(t, chat.Message{To: placeIn(group), Text: chat.Plain("moved before")})
		want := from + " " + placeIn(super).Chat
		if len(moves) != 1 || moves[0] != want {
			t.Errorf("the moves: %q", moves)
		}
		r.moved = map[int64]int64{} // as in a process that has not heard of it
		if now, err := r.Present(t.Context(), from); err != nil || now != placeIn(super).Chat {
			t.Errorf("the group is at %s, %v", now, err)
		}
		if now, err := r.Present(t.Context(), placeIn(super).Chat); err != nil || now != placeIn(super).Chat {
			t.Errorf("the supergroup is at %s, %v", now, err)
		}
		if err := r.FollowMoves(t.Context()); err != nil || len(moves) != 2 || moves[1] != want {
			t.Errorf("what was written meanwhile: %q, %v", moves, err)
		}
		if _, err := r.pool.Exec(t.Context(), `UPDATE telegram_chats SET moved_at = now() - interval '6 minutes'`); err != nil {
			t.Fatal(err)
		}
		if err := r.FollowMoves(t.Context()); err != nil || len(moves) != 2 {
			t.Errorf("long after: %q, %v", moves, err)
		}
		if _, err := r.pool.Exec(t.Context(), `UPDATE telegram_chats SET moved_at = NULL, carried_at = NULL`); err != nil { // of a version before
			t.Fatal(err)
		}
		if err := errors.Join(r.FollowMoves(t.Context()), r.FollowMoves(t.Context())); err != nil || len(moves) != 3 {
			t.Errorf("recorded by a version before: %q, %v", moves, err)
		}
	})
	t.Run("an edit in a group that has just moved does not hit another message", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		group := r.server.Group("Makers", r.ann)
		old := r.sent(t, chat.Message{To: placeIn(group), Text: chat.Plain("before")})
		group.Migrate()
		if _, err := r.Edit(t.Context(), old, r.text("x")); !errors.Is(err, chat.ErrGone) {
			t.Errorf("%v", err)
		}
	})
	t.Run("a topic that is gone gives way to the general one", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		group := r.server.Supergroup("Makers", r.ann)
		topic := group.AddTopic("Art")
		to := placeIn(group)
		to.Topic = strconv.Itoa(topic)
		if ref := r.sent(t, chat.Message{To: to, Text: chat.Plain("x")}); ref.Topic != to.Topic {
			t.Errorf("sent to %+v", ref)
		}
		group.CloseTopic(topic)
		if ref := r.sent(t, chat.Message{To: to, Text: chat.Plain("y")}); ref.Topic != "" {
			t.Errorf("sent to %+v", ref)
		}
	})
}

func TestFetch(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	in := &inbox{}
	r.listen(t, in)
	r.ann.SendDocument(r.chat, "a.png", pngOf(4, 4), "")
	r.ann.SendDocument(r.chat, "big.bin", make([]byte, botapi.MaxDownload+1), "")
	got := in.await(t, 3)
	content, err := r.Fetch(t.Context(), got[1].Attachments[0])
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = content.Close() }()
	if data, err := io.ReadAll(content); err != nil || !bytes.Equal(data, pngOf(4, 4)) {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	if _, err := r.Fetch(t.Context(), got[2].Attachments[0]); !errors.Is(err, chat.ErrTooLarge) {
		t.Errorf("a large file: %v", err)
	}
	if _, err := r.Fetch(t.Context(), chat.Attachment{Handle: "nothing"}); !errors.Is(err, chat.ErrGone) {
		t.Errorf("a file that is gone: %v", err)
	}
}

// inbox is a receiver that keeps what it gets, and fails as often as it is told.
type inbox struct {
	mu    sync.Mutex
	got   []chat.Incoming
	fails int
	// poison is the text of an update that is always refused, as Postgres refuses what it can't store.
	poison string
}

func (b *inbox) Receive(_ context.Context, _ string, updates ...chat.Incoming) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fails > 0 {
		b.fails--
		return errors.New("the database is away")
	}
	for _, u := range updates {
		if b.poison != "" && u.Text == b.poison {
			return fmt.Errorf("store: %w", &pgconn.PgError{Code: "22P05"})
		}
	}
	b.got = append(b.got, updates...)
	return nil
}

func (b *inbox) all() []chat.Incoming {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]chat.Incoming(nil), b.got...)
}

// await waits for n updates.
func (b *inbox) await(t *testing.T, n int) []chat.Incoming {
	t.Helper()
	clocktest.Until(t, fmt.Sprintf("%d updates come", n), func() bool { return len(b.all()) >= n }, func() string { return fmt.Sprint(b.all()) })
	return b.all()
}

// listen lets updates in until the test ends.
func (r rig) listen(t *testing.T, to chat.Receiver) (ended <-chan error) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	done, stopped := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(stopped)
		done <- r.Run(ctx, to)
	}()
	t.Cleanup(func() {
		stop()
		<-stopped
	})
	return done
}

func TestRun(t *testing.T) {
	t.Parallel()
	t.Run("polling starts without a network, takes a webhook away, and confirms what is stored", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		if err := r.client.SetWebhook(t.Context(), botapi.WebhookConfig{URL: "https://example.com/old"}); err != nil {
			t.Fatal(err)
		}
		r.server.Inject(telegramtest.CutBefore().On("getMe"))
		r.server.Inject(telegramtest.ServerError(502).On("deleteWebhook"))
		in := &inbox{fails: 2}
		r.listen(t, in)
		r.ann.Send(r.chat, "hello")
		if got := in.await(t, 2); got[0].Command != "start" || got[1].Text != "hello" {
			t.Errorf("got %+v", got)
		}
		r.server.Await(t.Context(), "confirmation", func() bool { return r.server.PendingUpdates() == 0 }, func() string { return "pending" })
	})
	t.Run("a wrong token ends it with advice", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.server.RevokeToken()
		err := <-r.listen(t, &inbox{})
		if botapi.ReasonOf(err) != botapi.Unauthorized || !strings.Contains(err.Error(), "TELEGRAM_BOT_TOKEN") || strings.Contains(err.Error(), r.server.Token) {
			t.Errorf("ended with %v", err)
		}
	})
	t.Run("a webhook is set with a secret of its own that stays, and brings the updates", func(t *testing.T) {
		t.Parallel()
		r, in := newRig(t), &inbox{}
		hook := r.withWebhook(t)
		r.listen(t, in)
		r.ann.Send(r.chat, "hello")
		in.await(t, 2)
		set := r.server.WaitCalls(t.Context(), "setWebhook", 1)[0].Params
		if len(set["secret_token"]) < 32 || set["url"] != hook+WebhookPath {
			t.Errorf("set with %v", set)
		}
		resp, err := http.Post(hook+WebhookPath, "application/json", strings.NewReader(`{"update_id":1}`))
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("a foreign update is answered %d", resp.StatusCode)
		}
		if again := r.adapter(t); again.secret != set["secret_token"] {
			t.Error("the next start has another secret")
		}
	})
	t.Run("an address that Telegram does not take is told, and polling takes its place", func(t *testing.T) {
		t.Parallel()
		r, in := newRig(t), &inbox{}
		r.public = &url.URL{Scheme: "http", Host: "signalbox.example:8080"}
		r.listen(t, in)
		in.await(t, 1)
	})
	t.Run("an update that can never be stored holds up none of the others", func(t *testing.T) {
		t.Parallel()
		r, in := newRig(t), &inbox{poison: "hello"}
		r.ann.Send(r.chat, "hello")
		r.ann.Send(r.chat, "again")
		r.listen(t, in)
		if got := in.await(t, 2); got[0].Command != "start" || got[1].Text != "again" {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("before and after Run updates are sent back, not lost", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		if err := r.receive(t.Context(), []botapi.Update{{ID: 1}}); !errors.Is(err, errNotReady) {
			t.Errorf("%v", err)
		}
	})
	t.Run("the name is known without a network from the second start on", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.server.Inject(telegramtest.CutBefore().On("getMe").Repeat(9))
		if link := r.adapter(t).Capabilities().DeepLink; link != "https://t.me/signalbox_test_bot?start=%s" {
			t.Errorf("deep link %q", link)
		}
	})
}

// withWebhook lets the adapter have a public address.
func (r rig) withWebhook(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle(WebhookPath, r.WebhookHandler())
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	r.public, _ = url.Parse(server.URL)
	return server.URL
}

func TestCommandLists(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	sync := func(want int, sets ...chat.CommandSet) {
		t.Helper()
		before := len(r.server.Calls("setMyCommands")) + len(r.server.Calls("deleteMyCommands"))
		if err := r.SyncCommands(t.Context(), sets); err != nil {
			t.Fatal(err)
		}
		if n := len(r.server.Calls("setMyCommands")) + len(r.server.Calls("deleteMyCommands")) - before; n != want {
			t.Errorf("%d calls, want %d", n, want)
		}
	}
	menu := func(u *telegramtest.User, c *telegramtest.Chat) string {
		var names []string
		for _, c := range u.Menu(c) {
			names = append(names, c.Command+":"+c.Description)
		}
		return strings.Join(names, " ")
	}
	set := func(kind chat.ChatKind, language, description string) chat.CommandSet {
		return chat.CommandSet{Kind: kind, Language: language, Commands: []chat.Command{{Name: "paint", Description: description}}}
	}
	private, group, german := set(chat.ChatPrivate, "", "Paints"), set(chat.ChatGroup, "", ""), set(chat.ChatPrivate, "de", "Malt")
	sync(3, private, group, german)
	dora := r.server.User("Dora").Speaks("de")
	room := r.server.Supergroup("Makers", dora)
	for got, want := range map[string]string{menu(r.ann, r.chat): "paint:Paints", menu(dora, dora.Private()): "paint:Malt", menu(dora, room): "paint:paint"} {
		if got != want {
			t.Errorf("the list is %q, want %q", got, want)
		}
	}
	sync(0, private, group, german)
	r.Adapter = r.adapter(t)
	sync(0, german, group, private)
	sync(2, set(chat.ChatPrivate, "", "Paints well"), group)
	if got := menu(dora, dora.Private()); got != "paint:Paints well" {
		t.Errorf("a language that is gone still shows %q", got)
	}
}

// pngOf is a picture of that size.
func pngOf(width, height int) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func errOf[T any](_ T, err error) error { return err }
