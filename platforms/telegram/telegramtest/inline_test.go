package telegramtest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/clocktest"
)

func article(id, text string) m {
	return m{"type": "article", "id": id, "title": "Run", "input_message_content": m{"message_text": text}, "reply_markup": keyboard("go")}
}

func TestInline(t *testing.T) {
	t.Parallel()
	clock := clocktest.NewManual(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	c, ann := start(t, Options{Clock: clock, InlineFeedback: true})
	upload := ann.SendPhoto(ann.Private(), picture(8, 8), "")
	q := ann.Type("a red bicycle", "")
	answer := func(results any, more ...any) []any {
		return append([]any{"inline_query_id", q.id, "results", results}, more...)
	}
	many := make([]m, 51)
	for i := range many {
		many[i] = article(fmt.Sprint(i), "x")
	}
	for _, r := range []struct {
		text string
		args []any
	}{
		{"RESULTS_TOO_MUCH", answer(many)},
		{"RESULT_ID_DUPLICATE", answer([]m{article("a", "x"), article("a", "y")})},
		{"0 bytes is out of range", answer([]m{article("", "x")})},
		{"message text is empty", answer([]m{article("a", " ")})},
		{"wrong cache_time", answer([]m{}, "cache_time", 86401)},
		{"exactly one of", answer([]m{}, "button", m{"text": "Open"})},
		{"START_PARAM_INVALID", answer([]m{}, "button", m{"text": "Open", "start_parameter": "a b"})},
		{"wrong file identifier", answer([]m{{"type": "photo", "id": "p", "photo_file_id": "none"}})},
		{"can't use file of type", answer([]m{{"type": "document", "id": "p", "title": "x", "document_file_id": upload.Media.FileID}})},
		{"failed to get HTTP URL content", answer([]m{{"type": "photo", "id": "p", "photo_url": "https://bot.example/a.jpg", "thumbnail_url": "https://bot.example/a.jpg"}})},
		{"is not specified", answer([]m{{"type": "photo", "id": "p", "photo_url": "https://bot.example/a.jpg"}})},
		{"query ID is invalid", []any{"inline_query_id", "foreign", "results", []m{}}},
	} {
		c.refused(400, r.text, "answerInlineQuery", r.args...)
	}
	c.must(nil, "answerInlineQuery", answer([]m{article("a", "x"), {"type": "photo", "id": "p", "photo_file_id": upload.Media.FileID}}, "is_personal", true)...)
	c.refused(400, "query is too old", "answerInlineQuery", answer([]m{})...)

	group := c.s.Supergroup("Friends", ann)
	placed := q.Choose(group, "a")
	var updates []json.RawMessage
	c.must(&updates, "getUpdates", "offset", -2)
	if told := string(updates[0]) + string(updates[1]); !strings.Contains(told, `"via_bot"`) || !strings.Contains(told, `"inline_message_id"`) {
		t.Errorf("the bot is told %s", told)
	}
	ann.Press(placed, "go")
	var pressed []struct {
		Callback map[string]json.RawMessage `json:"callback_query"`
	}
	c.must(&pressed, "getUpdates", "offset", -1)
	var id string
	if press := pressed[0].Callback; press["message"] != nil || json.Unmarshal(press["inline_message_id"], &id) != nil || id == "" {
		t.Fatalf("the press is %s", press)
	}
	c.must(nil, "editMessageText", "inline_message_id", id, "text", "working")
	c.refused(400, "message is not modified", "editMessageText", "inline_message_id", id, "text", "working")
	c.refused(400, "MESSAGE_ID_INVALID", "editMessageText", "inline_message_id", "none", "text", "x")
	c.must(nil, "editMessageMedia", "inline_message_id", id, "media", m{"type": "photo", "media": upload.Media.FileID})
	if now := c.s.Now(placed); now.Media == nil || now.From != ann {
		t.Errorf("the message is %s", now)
	}
	if sent := q.Choose(group, "p"); sent.Media == nil {
		t.Errorf("sent: %s", sent)
	}
	late := ann.Type("late", "")
	clock.Advance(time.Minute)
	c.refused(400, "query is too old", "answerInlineQuery", "inline_query_id", late.id, "results", []m{})
}
