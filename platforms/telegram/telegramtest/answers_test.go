package telegramtest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/platforms/telegram/telegramtest/apitable"
)

// answersTable reads ../shared/specs beside the project.
func answersTable(t *testing.T) *apitable.Table {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
	specs := filepath.Join(dir, "..", "shared", "specs")
	if _, err := os.Stat(specs); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the API descriptions are missing: %v", err)
		}
		t.Skip("no API descriptions beside the project")
	}
	table, err := apitable.DeriveAnswers(specs)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestAnswersFitTheDescription(t *testing.T) {
	t.Parallel()
	table := answersTable(t)
	s := New(t, Options{NoPrivacy: true})
	c, ann := client{t, s}, s.User("Ann")
	check := func(what, typ string, raw json.RawMessage) {
		t.Helper()
		probe := &checker{table: table}
		if err := probe.value(what, typ, apitable.Field{Types: []string{typ}}, raw); err != nil {
			t.Errorf("%s: %v in %s", what, err, raw)
		}
		if len(probe.unknown) > 0 {
			t.Errorf("%s: %s", what, strings.Join(probe.unknown, "; "))
		}
	}
	var raw json.RawMessage
	call := func(typ, method string, params ...any) {
		t.Helper()
		c.must(&raw, method, params...)
		check(method, typ, raw)
	}
	call("Boolean", "setWebhook", "url", "https://bot.example/hook", "allowed_updates", s.table.Updates)
	call("WebhookInfo", "getWebhookInfo")
	call("Boolean", "deleteWebhook")

	private := ann.Private()
	ann.Start("deep")
	photo := ann.SendPhoto(private, picture(20, 10), "cap #tag")
	ann.SendAlbum(private, "both", picture(4, 4), picture(5, 5))
	for _, kind := range []string{"video", "animation", "audio", "voice", "document"} {
		sent := ann.Post(private, Post{Files: []Attachment{{Kind: kind, Name: "f.bin", Bytes: []byte("x")}}})[0]
		call("Message", "send"+title(kind), "chat_id", ann.ID(), kind, sent.Media.FileID, "caption", "<b>x</b>", "parse_mode", "HTML")
		call("File", "getFile", "file_id", sent.Media.FileID)
	}
	call("Message", "sendMessage", "chat_id", ann.ID(), "text", "https://a.example", "reply_markup", keyboard("go"), "reply_parameters", m{"message_id": photo.ID})
	shown := s.WaitMessage(t.Context(), private, Has("a.example"))
	ann.Press(shown, "go")
	call("Message", "editMessageText", "chat_id", ann.ID(), "message_id", shown.ID, "text", "new")
	c.must(nil, "deleteMessage", "chat_id", ann.ID(), "message_id", shown.ID)
	ann.PressStale(shown, "go")
	ann.Edit(ann.Send(private, "a"), "b")
	ann.React(photo, "👍")
	forum := s.Supergroup("Forum", ann)
	topic := forum.AddTopic("x")
	inner := ann.Post(forum, Post{Text: "in a topic", Thread: topic})[0]
	ann.Post(forum, Post{Text: "outside", ReplyTo: &photo})
	ann.Post(forum, Post{Text: "quoting", ReplyTo: &inner, Quote: "topic", AsChat: true})
	bob := s.User("Bob")
	bob.Join(forum)
	bob.Leave(forum)
	forum.SetBotStatus(ann, "administrator")
	group := s.Group("Small", ann)
	group.Migrate()
	ann.Block()
	call("User", "getMe")
	call("ChatMember", "getChatMember", "chat_id", forum.ID(), "user_id", ann.ID())
	call("Array of BotCommand", "getMyCommands")
	var updates []json.RawMessage
	c.must(&updates, "getUpdates")
	for _, u := range updates {
		check("update", "Update", u)
	}
	if len(updates) < 23 {
		t.Errorf("only %d updates were checked", len(updates))
	}
}
