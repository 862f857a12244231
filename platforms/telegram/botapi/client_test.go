package botapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/platforms/telegram/telegramtest"
)

// world is a server with one person who has started the bot, and a client of it.
type world struct {
	*telegramtest.Server
	client *Client
	ann    *telegramtest.User
	chat   *telegramtest.Chat
}

func newWorld(t *testing.T, opts telegramtest.Options) world {
	t.Helper()
	s := telegramtest.New(t, opts)
	client, err := NewClient(Config{Token: s.Token, BaseURL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	ann := s.User("Ann")
	ann.Start("")
	return world{s, client, ann, ann.Private()}
}

func (w world) to() SendOptions { return SendOptions{Target: Target{ChatID: w.chat.ID()}} }

func (w world) text(text string) Text { return Text{SendOptions: w.to(), Text: text} }

func pngOf(w, h int) []byte {
	var b bytes.Buffer
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	img.Set(0, 0, color.White)
	if err := png.Encode(&b, img); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func jpegOf(w, h int) []byte {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, w, h)), nil); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func anyMessage(telegramtest.Message) bool { return true }

func TestLibraryTraps(t *testing.T) {
	t.Parallel()
	t.Run("trap 1 failed uploads have their code", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, telegramtest.Options{})
		_, err := w.client.SendMedia(t.Context(), w.to(), Media{Kind: KindPhoto, File: fileBytes("a.png", []byte("no picture"))})
		var e *Error
		if !errors.As(err, &e) || e.Code != 400 || ReasonOf(err) != BadPhoto {
			t.Errorf("got %v, expected code 400 and BadPhoto", err)
		}
		w.Inject(telegramtest.RateLimit(7 * time.Second).On("sendPhoto"))
		_, err = w.client.SendMedia(t.Context(), w.to(), Media{Kind: KindPhoto, File: fileBytes("a.png", pngOf(2, 2))})
		if !errors.As(err, &e) || e.Code != 429 || e.RetryAfter != 7*time.Second || ReasonOf(err) != RateLimited {
			t.Errorf("got %v, expected 429 with 7 s", err)
		}
	})
	t.Run("trap 2 a context ends a call at once", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, telegramtest.Options{})
		w.Inject(telegramtest.Hang().On("sendMessage"))
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		defer cancel()
		_, err := w.client.SendText(ctx, w.text("x"))
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, expected the deadline", err)
		}
	})
	t.Run("trap 3 a call without deadline has one all the same, a long poll a longer one", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, telegramtest.Options{})
		impatient, err := NewClient(Config{Token: w.Token, BaseURL: w.URL, Timeout: 30 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		w.Inject(telegramtest.Hang().On("getMe"))
		_, err = impatient.GetMe(t.Context())
		if ReasonOf(err) != Temporary {
			t.Errorf("got %v, expected a temporary failure", err)
		}
		if got := impatient.timeoutFor(map[string]string{"timeout": "50"}, nil); got != time.Minute {
			t.Errorf("a poll of 50 s gets %v, expected a minute", got)
		}
	})
	t.Run("trap 4 token never in an error", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, telegramtest.Options{})
		_, key, _ := strings.Cut(w.Token, ":")
		refusing := httptest.NewServer(nil)
		refusing.Close()
		echoing := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			rw.WriteHeader(400)
			_, _ = fmt.Fprintf(rw, `{"ok":false,"error_code":400,"description":"no such path %s"}`, r.URL.Path)
		}))
		t.Cleanup(echoing.Close)
		var all []error
		for _, cfg := range []Config{
			{BaseURL: refusing.URL}, {BaseURL: echoing.URL},
			{BaseURL: w.URL, Transport: leaky{}},
		} {
			cfg.Token = w.Token
			c, err := NewClient(cfg)
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.GetMe(t.Context())
			_, upErr := c.SendMedia(t.Context(), w.to(), Media{Kind: KindPhoto, File: fileBytes("a.png", pngOf(1, 1))})
			_, _, downErr := c.Download(t.Context(), "x", 10)
			_, fetchErr := c.fetch(t.Context(), "photos/x", 10)
			all = append(all, err, upErr, downErr, fetchErr)
			if text := fmt.Sprintf("%v %+v %#v %s", c, c, c, c); strings.Contains(text, key) {
				t.Errorf("printing the client shows the token: %s", text)
			}
		}
		w.Inject(telegramtest.CutBefore())
		_, err := w.client.SendText(t.Context(), w.text("x"))
		w.RevokeToken()
		_, err2 := w.client.GetMe(t.Context())
		for _, err := range append(all, err, err2) {
			if err == nil {
				t.Error("a call that must fail did not")
				continue
			}
			for e := err; e != nil; e = errors.Unwrap(e) {
				if strings.Contains(fmt.Sprintf("%v %+v", e, e), key) {
					t.Errorf("the token is in %v", e)
				}
			}
		}
		if ReasonOf(err2) != Unauthorized {
			t.Errorf("%v, expected Unauthorized", err2)
		}
	})
	t.Run("trap 6 a client is made without network and rejects a malformed token", func(t *testing.T) {
		t.Parallel()
		if _, err := NewClient(Config{Token: "123456:abcdefghijklmnopqrstuvwxyz", BaseURL: "http://127.0.0.1:1"}); err != nil {
			t.Error(err)
		}
		for _, token := range []string{"", "abc", "98765", "0123456:abcdefghijklmnopqrstuvwxyz", "123456:abcdefghijklmnopqrstuv wxyz"} {
			_, err := NewClient(Config{Token: token})
			if err == nil || token != "" && strings.Contains(err.Error(), token) {
				t.Errorf("token %q: error %v", token, err)
			}
		}
	})
	t.Run("trap 7 answers that are no JSON are temporary failures with their status", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, telegramtest.Options{})
		for _, test := range []struct {
			fault     telegramtest.Fault
			code      int
			uncertain bool
		}{
			{telegramtest.ServerError(502), 502, true}, {telegramtest.BrokenJSON(), 200, true}, {telegramtest.CutAfter(), 0, true},
		} {
			w.Inject(test.fault)
			_, err := w.client.SendText(t.Context(), w.text("x"))
			var e *Error
			if !errors.As(err, &e) || e.Code != test.code || e.Uncertain != test.uncertain || ReasonOf(err) != Temporary {
				t.Errorf("%v: got %#v", test.fault, err)
			}
		}
	})
	t.Run("trap 8 files are downloaded from the configured server, within a limit", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, telegramtest.Options{})
		sent := w.ann.SendDocument(w.chat, "a b.bin", []byte("0123456789"), "")
		data, file, err := w.client.Download(t.Context(), sent.Media.FileID, 10)
		if err != nil || string(data) != "0123456789" || file.Size != 10 {
			t.Errorf("got %q %+v %v", data, file, err)
		}
		if _, _, err := w.client.Download(t.Context(), sent.Media.FileID, 9); ReasonOf(err) != TooLarge {
			t.Errorf("over the limit: %v", err)
		}
		if _, _, err := w.client.Download(t.Context(), "nonsense", 9); ReasonOf(err) != BadFile {
			t.Errorf("unknown file: %v", err)
		}
		if _, err := w.client.fetch(t.Context(), "gone", 9); ReasonOf(err) != BadFile {
			t.Errorf("expired link: %v", err)
		}
	})
	t.Run("trap 9 an upload is opened anew for each attempt and closed", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, telegramtest.Options{})
		var opened, closed atomic.Int32
		file := InputFile{Name: "a.txt", Open: func() (io.ReadCloser, error) {
			opened.Add(1)
			return &countingCloser{strings.NewReader("hello"), &closed}, nil
		}}
		w.Inject(telegramtest.CutBefore().On("sendDocument"))
		media := Media{Kind: KindDocument, File: file}
		if _, err := w.client.SendMedia(t.Context(), w.to(), media); err == nil {
			t.Fatal("the cut call succeeded")
		}
		if _, err := w.client.SendMedia(t.Context(), w.to(), media); err != nil {
			t.Fatal(err)
		}
		got := w.WaitMessage(t.Context(), w.chat, telegramtest.HasMedia("document"))
		if string(got.Media.Bytes) != "hello" || opened.Load() != 2 || closed.Load() < 2 {
			t.Errorf("%q arrived; opened %d, closed %d times", got.Media.Bytes, opened.Load(), closed.Load())
		}
	})
	t.Run("trap 10 thumbnails in albums are attached and animations edited in", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, telegramtest.Options{})
		thumb := fileBytes("t.jpg", jpegOf(90, 60))
		video := Media{Kind: KindVideo, File: fileBytes("v.mp4", []byte("video")), Thumbnail: &thumb, Width: 640, Height: 480, Duration: 3}
		photo := Media{Kind: KindPhoto, File: fileBytes("p.png", pngOf(4, 4)), Caption: "both", Spoiler: true}
		sent, err := w.client.SendAlbum(t.Context(), w.to(), []Media{photo, video})
		if err != nil || len(sent) != 2 {
			t.Fatalf("%v %v", sent, err)
		}
		got := w.WaitMessage(t.Context(), w.chat, telegramtest.HasMedia("video"))
		if len(got.Media.Thumbnail) == 0 || got.Media.Width != 640 {
			t.Errorf("the video arrived as %+v", got)
		}
		placeholder, err := w.client.SendText(t.Context(), w.text("working"))
		if err != nil {
			t.Fatal(err)
		}
		keyboard := &InlineKeyboard{Rows: [][]Button{{{Text: "Again", Data: "a"}}}}
		edit := Edit{MessageRef: MessageRef{ChatID: w.chat.ID(), MessageID: placeholder.MessageID}, Keyboard: keyboard}
		if _, err := w.client.EditMedia(t.Context(), edit, Media{Kind: KindAnimation, File: fileBytes("a.gif", []byte("gif")), Thumbnail: &thumb}); err != nil {
			t.Fatal(err)
		}
		after := w.WaitMessage(t.Context(), w.chat, telegramtest.HasMedia("animation"))
		if after.ID != placeholder.MessageID || len(after.Keyboard) != 1 || len(after.Media.Thumbnail) == 0 {
			t.Errorf("edited into %v", after)
		}
	})
	t.Run("trap 11 replies, topics and previews use the present parameters", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, telegramtest.Options{})
		forum := w.Supergroup("Forum", w.ann)
		topic := forum.AddTopic("Pictures")
		asked := w.ann.Post(forum, telegramtest.Post{Text: "/go", Thread: topic})[0]
		text := Text{
			SendOptions: SendOptions{Target: Target{forum.ID(), topic}, ReplyTo: &ReplyTo{MessageID: asked.ID, Optional: true, Quote: "go"}},
			Text:        "https://a.example", LinkPreview: &LinkPreviewOptions{Disabled: true},
		}
		sent, err := w.client.SendText(t.Context(), text)
		if err != nil || sent.ThreadID != topic || sent.ReplyTo.MessageID != asked.ID {
			t.Fatalf("%+v %v", sent, err)
		}
		if got := w.WaitMessage(t.Context(), forum, anyMessage); !got.NoPreview {
			t.Error("the preview is still shown")
		}
		w.ann.Delete(asked)
		if _, err := w.client.SendText(t.Context(), text); err != nil {
			t.Errorf("the result was lost with the deleted request: %v", err)
		}
		for _, call := range w.Calls("sendMessage") {
			for _, old := range []string{"reply_to_message_id", "allow_sending_without_reply", "disable_web_page_preview"} {
				if _, ok := call.Params[old]; ok {
					t.Errorf("the old parameter %s was sent", old)
				}
			}
		}
	})
	t.Run("trap 12 empty and zero values that mean something are sent", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, telegramtest.Options{})
		sent, err := w.client.SendMedia(t.Context(), w.to(), Media{Kind: KindPhoto, File: fileBytes("a.png", pngOf(2, 2)), Caption: "old"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.client.EditCaption(t.Context(), Edit{MessageRef: MessageRef{ChatID: w.chat.ID(), MessageID: sent.MessageID}}, "", ""); err != nil {
			t.Fatal(err)
		}
		if got := w.WaitMessage(t.Context(), w.chat, anyMessage); got.Text != "" {
			t.Errorf("the caption is still %q", got.Text)
		}
		if err := w.client.DeleteWebhook(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		if got := w.Calls("deleteWebhook")[0].Params["drop_pending_updates"]; got != "false" {
			t.Errorf("drop_pending_updates was sent as %q", got)
		}
	})
	t.Run("trap 14 escaped text arrives as it was", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, telegramtest.Options{})
		nasty := `a <b> & "c" &lt; \ * _ </b>`
		text := w.text("<b>" + EscapeHTML(nasty) + "</b>")
		text.ParseMode = HTML
		if _, err := w.client.SendText(t.Context(), text); err != nil {
			t.Fatal(err)
		}
		if got := w.WaitMessage(t.Context(), w.chat, anyMessage); got.Text != nasty {
			t.Errorf("arrived as %q", got.Text)
		}
	})
}

type countingCloser struct {
	io.Reader
	closed *atomic.Int32
}

func (c *countingCloser) Close() error {
	c.closed.Add(1)
	return nil
}

// leaky fails with the whole address in its error, as http.Client does.
type leaky struct{}

func (leaky) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
	return nil, &net.OpError{Op: "dial", Err: fmt.Errorf("cannot reach %s", r.URL)}
}

func TestMethods(t *testing.T) {
	t.Parallel()
	t.Run("every kind of media is accepted with exactly its own parameters", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, telegramtest.Options{})
		thumb := fileBytes("t.jpg", jpegOf(9, 6))
		for _, kind := range []MediaKind{KindPhoto, KindVideo, KindAnimation, KindAudio, KindVoice, KindDocument} {
			media := Media{
				Kind: kind, File: fileBytes("f.png", pngOf(3, 3)), Thumbnail: &thumb, Caption: "<b>c</b>", ParseMode: HTML, Spoiler: true,
				Width: 3, Height: 3, Duration: 2, Title: "t", Performer: "p", Untouched: true,
			}
			sent, err := w.client.SendMedia(t.Context(), w.to(), media)
			if err != nil {
				t.Errorf("%s: %v", kind, err)
				continue
			}
			got, file, ok := sent.Media()
			if !ok || got != kind || sent.Caption != "c" {
				t.Errorf("%s came back as %s %+v", kind, got, sent)
			}
			again, err := w.client.SendMedia(t.Context(), w.to(), Media{Kind: kind, File: FileRef(file.FileID)})
			if _, same, _ := again.Media(); err != nil || same.UniqueID != file.UniqueID {
				t.Errorf("%s by file_id: %v", kind, err)
			}
		}
	})
	t.Run("the small methods", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, telegramtest.Options{})
		ctx := t.Context()
		sent, err := w.client.SendText(ctx, Text{SendOptions: SendOptions{
			Target: Target{ChatID: w.chat.ID()}, Markup: InlineKeyboard{[][]Button{{
				{Text: "a", Data: "x", Style: "primary"}, {Text: "b", URL: "https://a.example"},
			}}},
		}, Text: "x"})
		if err != nil {
			t.Fatal(err)
		}
		ref := MessageRef{ChatID: w.chat.ID(), MessageID: sent.MessageID}
		me, err := w.client.GetMe(ctx)
		if err != nil || me.ID != w.client.BotID() || me.Username == "" {
			t.Errorf("getMe: %+v %v", me, err)
		}
		scope := CommandScope{Type: "all_private_chats"}
		commands := []BotCommand{{"flux", "make a picture"}}
		press := w.ann.Press(w.WaitMessage(ctx, w.chat, anyMessage), "a")
		updates, err := w.client.GetUpdates(ctx, -1, 0, []string{"callback_query"})
		if err != nil || len(updates) != 1 || updates[0].CallbackQuery.Data != "x" || updates[0].CallbackQuery.Message.ReplyMarkup == nil {
			t.Fatalf("getUpdates: %+v %v", updates, err)
		}
		for name, err := range map[string]error{
			"sendChatAction":      w.client.SendAction(ctx, w.to().Target, UploadPhoto),
			"setMyCommands":       w.client.SetCommands(ctx, scope, "", commands),
			"answerCallbackQuery": w.client.AnswerCallback(ctx, CallbackAnswer{ID: updates[0].CallbackQuery.ID, Text: strings.Repeat("x", 300)}),
			"editKeyboard":        errOf(w.client.EditKeyboard(ctx, Edit{MessageRef: ref})),
			"editText":            errOf(w.client.EditText(ctx, Edit{MessageRef: ref}, Text{Text: "y"})),
			"setWebhook":          w.client.SetWebhook(ctx, WebhookConfig{URL: "https://bot.example/hook", Secret: "abc", AllowedUpdates: []string{"message"}}),
		} {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if got := press.Answer(ctx).Text; utf16Len(got) != 200 {
			t.Errorf("the answer has %d characters", utf16Len(got))
		}
		if list := w.ann.Menu(w.chat); len(list) != 1 || list[0].Command != "flux" || list[0].Description != "make a picture" {
			t.Errorf("the commands are %v", list)
		}
		info, err := w.client.GetWebhookInfo(ctx)
		if err != nil || info.URL != "https://bot.example/hook" {
			t.Errorf("getWebhookInfo: %+v %v", info, err)
		}
		for name, err := range map[string]error{
			"deleteMyCommands": w.client.DeleteCommands(ctx, scope, ""), "deleteWebhook": w.client.DeleteWebhook(ctx, true),
			"deleteMessage": w.client.Delete(ctx, ref),
		} {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := w.client.Delete(ctx, ref); ReasonOf(err) != DeleteGone {
			t.Errorf("deleting twice: %v", err)
		}
	})
	t.Run("refusals are classified", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, telegramtest.Options{})
		ctx := t.Context()
		send := func(change func(*Text)) error {
			text := w.text("x")
			change(&text)
			_, err := w.client.SendText(ctx, text)
			return err
		}
		sent, err := w.client.SendText(ctx, w.text("same"))
		if err != nil {
			t.Fatal(err)
		}
		edit := Edit{MessageRef: MessageRef{ChatID: w.chat.ID(), MessageID: sent.MessageID}}
		group := w.Group("Makers", w.ann)
		successor := group.Migrate()
		silent := w.Supergroup("Silent", w.ann)
		silent.Forbid("text messages")
		stranger := w.User("Stranger")
		for want, err := range map[Reason]error{
			NotModified:    errOf(w.client.EditText(ctx, edit, Text{Text: "same"})),
			EditGone:       errOf(w.client.EditText(ctx, Edit{MessageRef: MessageRef{ChatID: w.chat.ID(), MessageID: 999}}, Text{Text: "x"})),
			ReplyGone:      send(func(t *Text) { t.ReplyTo = &ReplyTo{MessageID: 999} }),
			ThreadNotFound: send(func(t *Text) { t.ThreadID = 5 }),
			ParseError:     send(func(t *Text) { t.Text, t.ParseMode = "<x>", HTML }),
			TooLong:        send(func(t *Text) { t.Text = strings.Repeat("x", 4097) }),
			TooOld:         w.client.AnswerCallback(ctx, CallbackAnswer{ID: "1"}),
			BadFile:        errOf(w.client.SendMedia(ctx, w.to(), Media{Kind: KindPhoto, File: FileRef("nonsense")})),
			TooLarge:       errOf(w.client.SendMedia(ctx, w.to(), Media{Kind: KindDocument, File: fileBytes("a", make([]byte, MaxUpload+1))})),
			NoRights:       send(func(t *Text) { t.ChatID = silent.ID() }),
			Unreachable:    send(func(t *Text) { t.ChatID = stranger.ID() }),
			Migrated:       send(func(t *Text) { t.ChatID = group.ID() }),
		} {
			if got := ReasonOf(err); got != want {
				t.Errorf("reason %d, want %d: %v", got, want, err)
			}
		}
		var e *Error
		if err := send(func(t *Text) { t.ChatID = group.ID() }); !errors.As(err, &e) || e.MigrateTo != successor.ID() {
			t.Errorf("%v does not name the new chat", err)
		}
		w.ann.Block()
		if err := send(func(*Text) {}); ReasonOf(err) != Unreachable {
			t.Errorf("blocked: %v", err)
		}
		if ReasonOf(nil) != Unknown || ReasonOf(io.EOF) != Unknown {
			t.Error("foreign errors must be unknown")
		}
	})
}

func errOf[T any](_ T, err error) error { return err }

func TestUpdates(t *testing.T) {
	t.Parallel()
	t.Run("replies, quotes, external replies, topics and largest photos are read", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, telegramtest.Options{NoPrivacy: true})
		forum := w.Supergroup("Forum", w.ann)
		topic := forum.AddTopic("x")
		photo := w.ann.SendPhoto(w.chat, pngOf(40, 20), "look")
		w.ann.Post(forum, telegramtest.Post{Text: "/do it", ReplyTo: &photo, Thread: topic})
		inner := w.ann.Send(forum, "some words")
		w.ann.Post(forum, telegramtest.Post{Text: "/do", ReplyTo: &inner, Quote: "words"})
		updates, err := w.client.GetUpdates(t.Context(), -4, 0, nil)
		if err != nil || len(updates) != 4 {
			t.Fatalf("%d updates, %v", len(updates), err)
		}
		if kind, file, ok := updates[0].Message.Media(); !ok || kind != KindPhoto || file.Width != 40 {
			t.Errorf("photo %s %+v", kind, file)
		}
		external := updates[1].Message
		if external.ThreadID != topic || external.ExternalReply == nil {
			t.Fatalf("external reply %+v", external)
		}
		if kind, _, ok := external.ExternalReply.Media(); !ok || kind != KindPhoto {
			t.Errorf("external reply carries %q", kind)
		}
		if m := updates[3].Message; m.Quote == nil || m.Quote.Text != "words" || m.Quote.Position != 5 || m.ReplyTo.Text != "some words" {
			t.Errorf("quote %+v", m)
		}
	})
	t.Run("a broken update does not lose the others", func(t *testing.T) {
		t.Parallel()
		u, err := ParseUpdate([]byte(`{"update_id":7,"message":{"message_id":"no number"}}`))
		if err != nil || u.ID != 7 || u.Broken == nil || u.Message != nil {
			t.Errorf("%+v %v", u, err)
		}
		if _, err := ParseUpdate([]byte(`{"message":{}}`)); err == nil {
			t.Error("something without update_id passed as an update")
		}
		if u, err := ParseUpdate([]byte(`{"update_id":8,"brand_new":{"x":1}}`)); err != nil || u.Broken != nil {
			t.Errorf("unknown kinds must be read: %+v %v", u, err)
		}
	})
}

func FuzzParseUpdate(f *testing.F) {
	f.Add([]byte(`{"update_id":1,"message":{"message_id":2,"text":"/a b","entities":[{"type":"bot_command","offset":0,"length":2}]}}`))
	f.Add([]byte(`{"update_id":1,"callback_query":{"id":"x","message":{"date":0}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		u, err := ParseUpdate(data)
		if err == nil && u.ID == 0 {
			t.Error("an update without number")
		}
		if u.Message != nil {
			u.Message.Media()
		}
	})
}

func fileBytes(name string, data []byte) InputFile {
	return InputFile{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }}
}
