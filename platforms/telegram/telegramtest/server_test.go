package telegramtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/signalbox/signalbox/internal/clocktest"
)

// answer is the envelope of every response.
type answer struct {
	OK          bool            `json:"ok"`
	Result      json.RawMessage `json:"result"`
	Code        int             `json:"error_code"`
	Description string          `json:"description"`
	Parameters  struct {
		RetryAfter int   `json:"retry_after"`
		MigrateTo  int64 `json:"migrate_to_chat_id"`
	} `json:"parameters"`
}

// client is a raw HTTP client of one server.
type client struct {
	t *testing.T
	s *Server
}

func (c client) post(method string, params ...any) (answer, error) {
	form := url.Values{}
	for i := 0; i+1 < len(params); i += 2 {
		value := params[i+1]
		switch v := value.(type) {
		case string, int, int64, bool:
			form.Set(params[i].(string), fmt.Sprint(v))
		default:
			data, err := json.Marshal(v)
			if err != nil {
				c.t.Fatal(err)
			}
			form.Set(params[i].(string), string(data))
		}
	}
	var a answer
	resp, err := http.PostForm(c.s.URL+"/bot"+c.s.Token+"/"+method, form)
	if err != nil {
		return a, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return a, err
	}
	return a, json.Unmarshal(body, &a)
}

// must calls and expects success; the result is decoded when into is given.
func (c client) must(into any, method string, params ...any) {
	c.t.Helper()
	a, err := c.post(method, params...)
	if err != nil || !a.OK {
		c.t.Fatalf("%s: %v %d %s", method, err, a.Code, a.Description)
	}
	if into != nil {
		if err := json.Unmarshal(a.Result, into); err != nil {
			c.t.Fatalf("%s: %v in %s", method, err, a.Result)
		}
	}
}

// refused calls and expects a refusal that contains text.
func (c client) refused(code int, text, method string, params ...any) answer {
	c.t.Helper()
	a, err := c.post(method, params...)
	if err != nil {
		c.t.Fatalf("%s: %v", method, err)
	}
	if a.OK || a.Code != code || !strings.Contains(a.Description, text) {
		c.t.Fatalf("%s: got %v %d %q, expected %d with %q", method, a.OK, a.Code, a.Description, code, text)
	}
	return a
}

type sentMessage struct {
	MessageID int `json:"message_id"`
	ThreadID  int `json:"message_thread_id"`
}

func start(t *testing.T, opts Options) (client, *User) {
	s := New(t, opts)
	ann := s.User("Ann")
	ann.Start("")
	return client{t, s}, ann
}

// noted collects violations instead of failing the test.
func noted(opts *Options) func() []string {
	var mu sync.Mutex
	var all []string
	opts.OnViolation = func(text string) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, text)
	}
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), all...)
	}
}

func picture(w, h int) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
		panic(err)
	}
	return b.Bytes()
}

type m = map[string]any

func keyboard(data ...string) m {
	var row []m
	for _, d := range data {
		row = append(row, m{"text": d, "callback_data": d})
	}
	return m{"inline_keyboard": [][]m{row}}
}

func TestRequests(t *testing.T) {
	t.Parallel()
	t.Run("unknown methods, parameters and fields are reported", func(t *testing.T) {
		t.Parallel()
		var opts Options
		violations := noted(&opts)
		c, ann := start(t, opts)
		c.refused(404, "Not Found: method not found", "sendMesage")
		c.must(nil, "sendMessage", "chat_id", ann.ID(), "text", "x", "replymarkup", "{}")
		c.must(nil, "sendMessage", "chat_id", ann.ID(), "text", "x", "link_preview_options", m{"disabled": true})
		c.must(nil, "sendMessage", "chat_id", ann.ID(), "text", "x", "disable_web_page_preview", true)
		c.refused(501, "not imitated", "banChatMember", "chat_id", ann.ID(), "user_id", 1)
		got := violations()
		for i, want := range []string{"sendMesage", "replymarkup", "LinkPreviewOptions: unknown field disabled", "banChatMember"} {
			if i >= len(got) || !strings.Contains(got[i], want) {
				t.Errorf("violations %q lack %q", got, want)
			}
		}
		if len(got) != 4 {
			t.Errorf("%d violations, expected 4: %q", len(got), got)
		}
	})
	t.Run("a wrong token is unauthorized, a missing parameter a bad request", func(t *testing.T) {
		t.Parallel()
		c, ann := start(t, Options{})
		c.refused(400, "message text is empty", "sendMessage", "chat_id", ann.ID())
		c.refused(400, "chat_id is empty", "sendMessage", "text", "x")
		c.refused(400, "chat not found", "sendMessage", "chat_id", 17, "text", "x")
		c.refused(400, "there is no photo in the request", "sendPhoto", "chat_id", ann.ID())
		c.s.RevokeToken()
		c.refused(401, "Unauthorized", "getMe")
	})
	t.Run("query, JSON and form bodies and any case of the method are understood", func(t *testing.T) {
		t.Parallel()
		c, ann := start(t, Options{})
		body := fmt.Sprintf(`{"chat_id":%d,"text":"from JSON"}`, ann.ID())
		resp, err := http.Post(c.s.URL+"/bot"+c.s.Token+"/SENDmessage", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		resp, err = http.Get(fmt.Sprintf("%s/bot%s/sendMessage?chat_id=%d&text=from+query", c.s.URL, c.s.Token, ann.ID()))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		for _, want := range []string{"from JSON", "from query"} {
			c.s.WaitMessage(t.Context(), ann.Private(), Has(want))
		}
	})
}

func TestTexts(t *testing.T) {
	t.Parallel()
	t.Run("lengths count UTF-16 units after entity parsing", func(t *testing.T) {
		t.Parallel()
		c, ann := start(t, Options{})
		c.must(nil, "sendMessage", "chat_id", ann.ID(), "text", "<b>"+strings.Repeat("x", 4096)+"</b>", "parse_mode", "HTML")
		c.must(nil, "sendMessage", "chat_id", ann.ID(), "text", strings.Repeat("😀", 2048))
		c.refused(400, "message is too long", "sendMessage", "chat_id", ann.ID(), "text", strings.Repeat("😀", 2048)+"x")
		c.refused(400, "text must be non-empty", "sendMessage", "chat_id", ann.ID(), "text", " \n ")
	})
	for name, test := range map[string]struct{ mode, text, want string }{
		"unsupported tag": {"HTML", "a <h1>b</h1>", `Unsupported start tag "h1" at byte offset 2`},
		"unclosed tag":    {"HTML", "<b>a", `Can't find end tag corresponding to start tag "b"`},
		"crossed tags":    {"HTML", "<b><i>a</b></i>", `Unmatched end tag at byte offset 7, expected "</i>", found "</b>"`},
		"stray end":       {"HTML", "a</b>", "Unexpected end tag at byte offset 1"},
		"bare less-than":  {"HTML", "1 < 2", "Unclosed start tag at byte offset 2"},
		"reserved":        {"MarkdownV2", "a.b", `Character '.' is reserved and must be escaped with the preceding '\'`},
		"unended bold":    {"MarkdownV2", "a *b", "Can't find end of Bold entity at byte offset 2"},
		"unknown mode":    {"BBCode", "a", "unsupported parse_mode"},
	} {
		t.Run("bad markup is refused: "+name, func(t *testing.T) {
			t.Parallel()
			c, ann := start(t, Options{})
			c.refused(400, test.want, "sendMessage", "chat_id", ann.ID(), "text", test.text, "parse_mode", test.mode)
		})
	}
	t.Run("markup becomes entities", func(t *testing.T) {
		t.Parallel()
		c, ann := start(t, Options{})
		c.must(nil, "sendMessage", "chat_id", ann.ID(), "parse_mode", "HTML",
			"text", `😀 <b>1 &lt; 2</b> <a href="https://a.example/?x=1&amp;y">l</a> <pre><code class="language-go">x</code></pre>`)
		got := c.s.WaitMessage(t.Context(), ann.Private(), Has("1 < 2"))
		want := []Entity{
			{Type: "bold", Offset: 3, Length: 5},
			{Type: "text_link", Offset: 9, Length: 1, URL: "https://a.example/?x=1&y"},
			{Type: "pre", Offset: 11, Length: 1, Language: "go"},
		}
		if fmt.Sprint(got.Entities) != fmt.Sprint(want) {
			t.Errorf("entities %v, want %v", got.Entities, want)
		}
		c.must(nil, "sendMessage", "chat_id", ann.ID(), "parse_mode", "MarkdownV2", "text", `*bold __under__* 1\.5 [l](https://a.example)`)
		if got := c.s.WaitMessage(t.Context(), ann.Private(), Has("bold under 1.5 l")); len(got.Entities) != 3 {
			t.Errorf("entities %v, want bold, underline, link", got.Entities)
		}
		c.refused(400, "ends after the end of the text", "sendMessage", "chat_id", ann.ID(), "text", "ab",
			"entities", []m{{"type": "bold", "offset": 1, "length": 5}})
	})
}

func TestKeyboards(t *testing.T) {
	t.Parallel()
	c, ann := start(t, Options{})
	long := strings.Repeat("x", 65)
	many := make([]string, 9)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	for want, markup := range map[string]any{
		"BUTTON_DATA_INVALID":        keyboard(long),
		"text buttons are unallowed": m{"inline_keyboard": [][]m{{{"text": "a"}}}},
		"exactly one optional field": m{"inline_keyboard": [][]m{{{"text": "a", "callback_data": "x", "url": "https://a.example"}}}},
		"wrong HTTP URL":             m{"inline_keyboard": [][]m{{{"text": "a", "url": "not an address"}}}},
		"reply markup is too long":   keyboard(many...),
		"is not specified":           m{},
		"field \"text\" must be non": m{"inline_keyboard": [][]m{{{"text": " ", "callback_data": "x"}}}},
		"BUTTON_COPY_TEXT_INVALID":   m{"inline_keyboard": [][]m{{{"text": "a", "copy_text": m{"text": ""}}}}},
	} {
		t.Run("refused with "+want, func(t *testing.T) {
			t.Parallel()
			client{t, c.s}.refused(400, want, "sendMessage", "chat_id", ann.ID(), "text", "x", "reply_markup", markup)
		})
	}
}

func TestEdits(t *testing.T) {
	t.Parallel()
	setup := func(t *testing.T) (client, *User, sentMessage) {
		c, ann := start(t, Options{})
		var sent sentMessage
		c.must(&sent, "sendMessage", "chat_id", ann.ID(), "text", "one", "reply_markup", keyboard("go"))
		return c, ann, sent
	}
	t.Run("an edit that changes nothing is refused, one without markup takes the keyboard", func(t *testing.T) {
		t.Parallel()
		c, ann, sent := setup(t)
		c.refused(400, "message is not modified", "editMessageText", "chat_id", ann.ID(), "message_id", sent.MessageID, "text", "one", "reply_markup", keyboard("go"))
		c.must(nil, "editMessageText", "chat_id", ann.ID(), "message_id", sent.MessageID, "text", "two")
		if got := c.s.WaitMessage(t.Context(), ann.Private(), Has("two")); len(got.Keyboard) != 0 || got.Edits != 1 {
			t.Errorf("%v, expected no keyboard after one edit", got)
		}
	})
	t.Run("text becomes media, media has no text to edit, a caption needs media", func(t *testing.T) {
		t.Parallel()
		c, ann, sent := setup(t)
		to := []any{"chat_id", ann.ID(), "message_id", sent.MessageID}
		c.refused(400, "there is no caption in the message to edit", "editMessageCaption", append(to, "caption", "x")...)
		c.s.ServeURL("https://pics.example/a.png", picture(20, 10))
		c.must(nil, "editMessageMedia", append(to, "media", m{"type": "photo", "media": "https://pics.example/a.png", "caption": "done"})...)
		got := c.s.WaitMessage(t.Context(), ann.Private(), HasMedia("photo"))
		if got.ID != sent.MessageID || got.Text != "done" || got.Media.Width != 20 {
			t.Errorf("edited into %v", got)
		}
		c.refused(400, "there is no text in the message to edit", "editMessageText", append(to, "text", "x")...)
		c.must(nil, "editMessageCaption", append(to, "caption", "better")...)
	})
	t.Run("only the bot's own messages, and none sent with a forced reply", func(t *testing.T) {
		t.Parallel()
		c, ann, _ := setup(t)
		asked := ann.Send(ann.Private(), "hello")
		c.refused(400, "message can't be edited", "editMessageText", "chat_id", ann.ID(), "message_id", asked.ID, "text", "x")
		c.refused(400, "message to edit not found", "editMessageText", "chat_id", ann.ID(), "message_id", 9999, "text", "x")
		var forced sentMessage
		c.must(&forced, "sendMessage", "chat_id", ann.ID(), "text", "?", "reply_markup", m{"force_reply": true})
		c.refused(400, "message can't be edited", "editMessageText", "chat_id", ann.ID(), "message_id", forced.MessageID, "text", "x")
	})
}

func TestCallbacks(t *testing.T) {
	t.Parallel()
	clock := clocktest.NewManual(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	c, ann := start(t, Options{Clock: clock})
	c.must(nil, "sendMessage", "chat_id", ann.ID(), "text", "one", "reply_markup", keyboard("go"))
	shown := c.s.WaitMessage(t.Context(), ann.Private(), Has("one"))
	press := ann.Press(shown, "go")
	var updates []struct {
		Callback struct {
			ID, Data string
			Message  sentMessage
		} `json:"callback_query"`
	}
	c.must(&updates, "getUpdates", "offset", -1)
	if got := updates[0].Callback; got.Data != "go" || got.Message.MessageID != shown.ID {
		t.Fatalf("callback %+v", got)
	}
	c.refused(400, "MESSAGE_TOO_LONG", "answerCallbackQuery", "callback_query_id", updates[0].Callback.ID, "text", strings.Repeat("x", 201))
	c.must(nil, "answerCallbackQuery", "callback_query_id", updates[0].Callback.ID, "text", "ok", "show_alert", true)
	if got := press.Answer(t.Context()); got.Text != "ok" || !got.Alert {
		t.Errorf("answer %+v", got)
	}
	c.refused(400, "query is too old", "answerCallbackQuery", "callback_query_id", updates[0].Callback.ID)
	c.refused(400, "query is too old", "answerCallbackQuery", "callback_query_id", "foreign")
	late := ann.Press(shown, "go")
	clock.Advance(20 * time.Second)
	c.refused(400, "query is too old", "answerCallbackQuery", "callback_query_id", late.id)
	c.must(nil, "deleteMessage", "chat_id", ann.ID(), "message_id", shown.ID)
	ann.PressStale(shown, "go")
	var raw []json.RawMessage
	c.must(&raw, "getUpdates", "offset", -1)
	if !strings.Contains(string(raw[0]), `"date":0`) {
		t.Errorf("a press on a deleted message must carry an inaccessible message: %s", raw[0])
	}
}

func TestMedia(t *testing.T) {
	t.Parallel()
	t.Run("the library's uploads arrive, and file_id is sent again and downloaded", func(t *testing.T) {
		t.Parallel()
		c, ann := start(t, Options{})
		bot, err := tgbotapi.NewBotAPIWithAPIEndpoint(c.s.Token, c.s.URL+"/bot%s/%s")
		if err != nil {
			t.Fatal(err)
		}
		config := tgbotapi.NewPhoto(ann.ID(), tgbotapi.FileBytes{Name: "a.png", Bytes: picture(30, 20)})
		config.Caption = "up"
		sent, err := bot.Send(config)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := bot.Send(tgbotapi.NewPhoto(ann.ID(), tgbotapi.FileID(sent.Photo[0].FileID))); err != nil {
			t.Fatal(err)
		}
		file, err := bot.GetFile(tgbotapi.FileConfig{FileID: sent.Photo[0].FileID})
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.Get(c.s.URL + "/file/bot" + c.s.Token + "/" + file.FilePath)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if data, _ := io.ReadAll(resp.Body); !bytes.Equal(data, picture(30, 20)) {
			t.Errorf("downloaded %d bytes, not what was sent", len(data))
		}
		c.refused(400, "can't use file of type Photo as Document", "sendDocument", "chat_id", ann.ID(), "document", sent.Photo[0].FileID)
		c.refused(400, "wrong file_id", "getFile", "file_id", "nonsense")
	})
	t.Run("pictures are refused by size, shape and content", func(t *testing.T) {
		t.Parallel()
		c, ann := start(t, Options{})
		bot, err := tgbotapi.NewBotAPIWithAPIEndpoint(c.s.Token, c.s.URL+"/bot%s/%s")
		if err != nil {
			t.Fatal(err)
		}
		for want, data := range map[string][]byte{
			"IMAGE_PROCESS_FAILED":     []byte("no picture"),
			"PHOTO_INVALID_DIMENSIONS": picture(21, 1),
			"too big for a photo":      append(picture(1, 1), make([]byte, 10<<20)...),
			"Request Entity Too Large": make([]byte, 51<<20),
			"file must be non-empty":   {},
		} {
			_, err := bot.Send(tgbotapi.NewPhoto(ann.ID(), tgbotapi.FileBytes{Name: "a.png", Bytes: data}))
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, expected %q", err, want)
			}
		}
	})
	t.Run("albums hold two to ten of one kind", func(t *testing.T) {
		t.Parallel()
		c, ann := start(t, Options{})
		c.s.ServeURL("https://p.example/a.png", picture(8, 8))
		item := func(kind string) m { return m{"type": kind, "media": "https://p.example/a.png"} }
		c.refused(400, "1 items", "sendMediaGroup", "chat_id", ann.ID(), "media", []m{item("photo")})
		c.refused(400, "can't be mixed", "sendMediaGroup", "chat_id", ann.ID(), "media", []m{item("photo"), item("document")})
		c.must(nil, "sendMediaGroup", "chat_id", ann.ID(), "media", []m{item("photo"), item("video")})
		history := c.s.History(ann.Private())
		if n := len(history); n != 3 || history[1].AlbumID == "" || history[1].AlbumID != history[2].AlbumID {
			t.Errorf("history %v", history)
		}
	})
	t.Run("files over 20 MB cannot be downloaded by the bot", func(t *testing.T) {
		t.Parallel()
		c, ann := start(t, Options{})
		sent := ann.SendDocument(ann.Private(), "big.bin", make([]byte, 21<<20), "")
		c.refused(400, "file is too big", "getFile", "file_id", sent.Media.FileID)
	})
}

func TestChats(t *testing.T) {
	t.Parallel()
	t.Run("a bot cannot write first, nor after it was blocked", func(t *testing.T) {
		t.Parallel()
		s := New(t, Options{})
		c, ann := client{t, s}, s.User("Ann")
		c.refused(403, "bot can't initiate conversation with a user", "sendMessage", "chat_id", ann.ID(), "text", "x")
		ann.Start("")
		c.must(nil, "sendMessage", "chat_id", ann.ID(), "text", "x")
		ann.Block()
		c.refused(403, "bot was blocked by the user", "sendMessage", "chat_id", ann.ID(), "text", "x")
		ann.Send(ann.Private(), "back")
		c.must(nil, "sendMessage", "chat_id", ann.ID(), "text", "x")
	})
	t.Run("privacy mode shows commands and replies only", func(t *testing.T) {
		t.Parallel()
		s := New(t, Options{})
		c, ann := client{t, s}, s.User("Ann")
		group := s.Group("Makers", ann)
		var sent sentMessage
		c.must(&sent, "sendMessage", "chat_id", group.ID(), "text", "hello")
		bots := s.History(group)[0]
		ann.Send(group, "just talking")
		ann.Send(group, "/seen")
		ann.Send(group, "/other@another_bot x")
		ann.SendPhoto(group, picture(2, 2), "/captioned@"+s.opts.BotUsername)
		ann.Reply(bots, "to you")
		group.OtherBotWrites()
		ann.Send(group, "/unseen")
		ann.Send(group, "/named@"+strings.ToUpper(s.opts.BotUsername))
		var updates []struct {
			Message struct{ Text, Caption string }
		}
		c.must(&updates, "getUpdates")
		var got []string
		for _, u := range updates {
			got = append(got, u.Message.Text+u.Message.Caption)
		}
		if want := "/seen /captioned@signalbox_test_bot to you /named@SIGNALBOX_TEST_BOT"; strings.Join(got, " ") != want {
			t.Errorf("the bot saw %q, want %q", got, want)
		}
	})
	t.Run("topics must exist and a reply keeps its topic", func(t *testing.T) {
		t.Parallel()
		s := New(t, Options{})
		c, ann := client{t, s}, s.User("Ann")
		forum := s.Supergroup("Forum", ann)
		topic := forum.AddTopic("Pictures")
		c.refused(400, "message thread not found", "sendMessage", "chat_id", forum.ID(), "text", "x", "message_thread_id", topic+1)
		c.refused(400, "message thread not found", "sendMessage", "chat_id", forum.ID(), "text", "x", "message_thread_id", 1)
		asked := ann.Post(forum, Post{Text: "/go", Thread: topic})[0]
		var sent sentMessage
		c.must(&sent, "sendMessage", "chat_id", forum.ID(), "text", "x", "reply_parameters", m{"message_id": asked.ID})
		if sent.ThreadID != topic {
			t.Errorf("answered in topic %d, want %d", sent.ThreadID, topic)
		}
		c.refused(400, "message to be replied not found", "sendMessage", "chat_id", forum.ID(), "text", "x", "reply_parameters", m{"message_id": 9999})
		c.must(nil, "sendMessage", "chat_id", forum.ID(), "text", "x", "reply_parameters", m{"message_id": 9999, "allow_sending_without_reply": true})
		c.refused(400, "QUOTE_TEXT_INVALID", "sendMessage", "chat_id", forum.ID(), "text", "x", "reply_parameters", m{"message_id": asked.ID, "quote": "nope"})
	})
	t.Run("a migrated group names its successor", func(t *testing.T) {
		t.Parallel()
		s := New(t, Options{})
		c, ann := client{t, s}, s.User("Ann")
		group := s.Group("Makers", ann)
		now := group.Migrate()
		a := c.refused(400, "upgraded to a supergroup", "sendMessage", "chat_id", group.ID(), "text", "x")
		if a.Parameters.MigrateTo != now.ID() {
			t.Errorf("migrate_to_chat_id %d, want %d", a.Parameters.MigrateTo, now.ID())
		}
	})
	t.Run("missing rights are named", func(t *testing.T) {
		t.Parallel()
		s := New(t, Options{})
		c, ann := client{t, s}, s.User("Ann")
		group := s.Supergroup("Makers", ann)
		group.Forbid("photos")
		s.ServeURL("https://p.example/a.png", picture(2, 2))
		c.refused(400, "not enough rights to send photos", "sendPhoto", "chat_id", group.ID(), "photo", "https://p.example/a.png")
		group.SetBotStatus(ann, "kicked")
		c.refused(403, "bot was kicked from the supergroup chat", "sendMessage", "chat_id", group.ID(), "text", "x")
	})
}

func TestCommands(t *testing.T) {
	t.Parallel()
	c, ann := start(t, Options{})
	one := func(name, description string) []m { return []m{{"command": name, "description": description}} }
	c.refused(400, "BOT_COMMAND_INVALID", "setMyCommands", "commands", one("Upper-Case", "x"))
	c.refused(400, "BOT_COMMAND_DESCRIPTION_INVALID", "setMyCommands", "commands", one("ok", ""))
	var many []m
	for i := range 101 {
		many = append(many, m{"command": fmt.Sprintf("c%d", i), "description": "x"})
	}
	c.refused(400, "BOT_COMMANDS_TOO_MUCH", "setMyCommands", "commands", many)
	c.refused(400, "chat not found", "setMyCommands", "commands", one("ok", "x"), "scope", m{"type": "chat", "chat_id": 5})
	c.must(nil, "setMyCommands", "commands", one("general", "x"))
	c.must(nil, "setMyCommands", "commands", one("deutsch", "x"), "scope", m{"type": "all_private_chats"}, "language_code", "de")
	if got := ann.Menu(ann.Private()); len(got) != 1 || got[0].Command != "general" {
		t.Errorf("menu %v", got)
	}
	if got := ann.Speaks("de").Menu(ann.Private()); len(got) != 1 || got[0].Command != "deutsch" {
		t.Errorf("German menu %v", got)
	}
	c.must(nil, "deleteMyCommands", "scope", m{"type": "all_private_chats"}, "language_code", "de")
	if got := ann.Menu(ann.Private()); got[0].Command != "general" {
		t.Errorf("menu after deletion %v", got)
	}
}

func TestPolling(t *testing.T) {
	t.Parallel()
	type update struct {
		ID      int64 `json:"update_id"`
		Message struct{ Text string }
	}
	t.Run("an update stays until a greater offset confirms it", func(t *testing.T) {
		t.Parallel()
		c, ann := start(t, Options{})
		ann.Send(ann.Private(), "two")
		var first, again, rest []update
		c.must(&first, "getUpdates", "limit", 1)
		c.must(&again, "getUpdates", "limit", 1)
		if len(first) != 1 || first[0] != again[0] {
			t.Errorf("%v then %v, expected the same update twice", first, again)
		}
		c.must(&rest, "getUpdates", "offset", first[0].ID+1)
		if len(rest) != 1 || rest[0].Message.Text != "two" {
			t.Errorf("rest %v", rest)
		}
	})
	t.Run("a repeated update comes once more after it was confirmed", func(t *testing.T) {
		t.Parallel()
		c, ann := start(t, Options{})
		c.s.RepeatUpdates(1)
		ann.Send(ann.Private(), "twice")
		var got []update
		c.must(&got, "getUpdates", "offset", -1)
		id := got[0].ID
		c.must(&got, "getUpdates", "offset", id+1)
		if len(got) != 1 || got[0].ID != id {
			t.Errorf("%v, expected update %d again", got, id)
		}
	})
	t.Run("a long poll ends with the next update, a second poller ends the first", func(t *testing.T) {
		t.Parallel()
		s := New(t, Options{})
		c, ann := client{t, s}, s.User("Ann")
		answers := make(chan answer, 2)
		ask := func() {
			a, _ := c.post("getUpdates", "timeout", 50)
			answers <- a
		}
		polling := func(before *poll) func() bool {
			return func() bool {
				s.mu.Lock()
				defer s.mu.Unlock()
				return s.updates.poll != nil && s.updates.poll != before
			}
		}
		go ask()
		s.Await(t.Context(), "the first poll", polling(nil), func() string { return "none" })
		s.mu.Lock()
		first := s.updates.poll
		s.mu.Unlock()
		go ask()
		if a := <-answers; a.Code != 409 || !strings.Contains(a.Description, "terminated by other getUpdates") {
			t.Errorf("the first poll got %d %s", a.Code, a.Description)
		}
		s.Await(t.Context(), "the second poll", polling(first), func() string { return "none" })
		ann.Start("")
		if a := <-answers; !a.OK || !strings.Contains(string(a.Result), "/start") {
			t.Errorf("the second poll got %+v", a)
		}
	})
	t.Run("kinds that were not asked for never become updates", func(t *testing.T) {
		t.Parallel()
		c, ann := start(t, Options{})
		var got []update
		c.must(&got, "getUpdates", "offset", -1, "allowed_updates", []string{"message"})
		ann.Block()
		c.must(&got, "getUpdates", "offset", got[0].ID+1)
		if len(got) != 0 {
			t.Errorf("got %v, my_chat_member was not asked for", got)
		}
	})
}

func TestWebhook(t *testing.T) {
	t.Parallel()
	s := New(t, Options{})
	c, ann := client{t, s}, s.User("Ann")
	got := make(chan string, 10)
	var mu sync.Mutex
	failures := 1
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		fail := failures > 0
		failures--
		mu.Unlock()
		if r.Header.Get("X-Telegram-Bot-Api-Secret-Token") != "s3cret" {
			t.Error("secret token missing")
		}
		if fail {
			w.WriteHeader(500)
			return
		}
		got <- string(body)
	}))
	t.Cleanup(hook.Close)
	c.refused(400, "secret token contains unallowed characters", "setWebhook", "url", hook.URL, "secret_token", "no spaces")
	c.refused(400, "HTTPS URL must be provided", "setWebhook", "url", "http://bot.example/hook")
	c.must(nil, "setWebhook", "url", hook.URL, "secret_token", "s3cret")
	c.refused(409, "can't use getUpdates method while webhook is active", "getUpdates")
	ann.Start("")
	if body := <-got; !strings.Contains(body, "/start") {
		t.Errorf("delivered %s", body)
	}
	s.ReorderWebhook(2)
	ann.Send(ann.Private(), "first")
	ann.Send(ann.Private(), "second")
	if body := <-got; !strings.Contains(body, "second") {
		t.Errorf("delivered %s, expected the second before the first", body)
	}
	<-got
	s.Await(t.Context(), "all delivered", func() bool { return s.PendingUpdates() == 0 }, func() string { return fmt.Sprint(s.PendingUpdates()) })
	var info struct {
		Pending int    `json:"pending_update_count"`
		Error   string `json:"last_error_message"`
	}
	c.must(&info, "getWebhookInfo")
	if info.Pending != 0 || !strings.Contains(info.Error, "500") {
		t.Errorf("webhook info %+v", info)
	}
	c.must(nil, "deleteWebhook")
	c.must(nil, "getUpdates")
}

func TestFaults(t *testing.T) {
	t.Parallel()
	t.Run("a rate limit lasts its time and an early repeat prolongs it", func(t *testing.T) {
		t.Parallel()
		clock := clocktest.NewManual(time.Unix(1_800_000_000, 0))
		c, ann := start(t, Options{Clock: clock})
		c.s.Inject(RateLimit(7 * time.Second).On("sendMessage").In(ann.Private()))
		send := []any{"chat_id", ann.ID(), "text", "x"}
		if a := c.refused(429, "Too Many Requests: retry after 7", "sendMessage", send...); a.Parameters.RetryAfter != 7 {
			t.Errorf("retry_after %d", a.Parameters.RetryAfter)
		}
		clock.Advance(5 * time.Second)
		c.refused(429, "retry after 3", "sendMessage", send...)
		clock.Advance(5 * time.Second)
		c.must(nil, "sendMessage", send...)
	})
	t.Run("usual rates are enforced on demand", func(t *testing.T) {
		t.Parallel()
		clock := clocktest.NewManual(time.Unix(1_800_000_000, 0))
		c, ann := start(t, Options{Clock: clock, FloodLimits: true})
		for range 15 {
			c.must(nil, "sendMessage", "chat_id", ann.ID(), "text", "x")
		}
		c.refused(429, "retry after", "sendMessage", "chat_id", ann.ID(), "text", "x")
	})
	t.Run("cut before, cut after, broken JSON, HTML, refusal", func(t *testing.T) {
		t.Parallel()
		c, ann := start(t, Options{})
		send := func(text string) (answer, error) { return c.post("sendMessage", "chat_id", ann.ID(), "text", text) }
		for _, test := range []struct {
			fault Fault
			text  string
			done  bool
		}{
			{CutBefore(), "cut-before", false},
			{CutAfter(), "cut-after", true},
			{BrokenJSON(), "broken-json", true},
			{ServerError(502), "html", false},
		} {
			c.s.Inject(test.fault)
			if _, err := send(test.text); err == nil {
				t.Errorf("%s: no error", test.text)
			}
			seen := false
			for _, msg := range c.s.History(ann.Private()) {
				seen = seen || msg.Text == test.text
			}
			if seen != test.done {
				t.Errorf("%s: message there: %v, want %v", test.text, seen, test.done)
			}
		}
		c.s.Inject(Refuse(403, "Forbidden: user is deactivated"))
		c.refused(403, "user is deactivated", "sendMessage", "chat_id", ann.ID(), "text", "x")
	})
	t.Run("a hanging call ends when the client gives up", func(t *testing.T) {
		t.Parallel()
		c, _ := start(t, Options{})
		c.s.Inject(Hang().On("getMe"))
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, "GET", c.s.URL+"/bot"+c.s.Token+"/getMe", nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp, err := http.DefaultClient.Do(req); err == nil {
			resp.Body.Close()
			t.Error("a hanging call answered")
		}
	})
}
