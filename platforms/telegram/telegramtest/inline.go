package telegramtest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Limits of inline mode.
const (
	maxInlineCache    = 86400
	inlineAge         = 10 * time.Second
	startParameter    = 64
	inlineQueryLength = 256
)

// InlineQuery is what a person types after the bot's name, with the bot's answer.
type InlineQuery struct {
	s        *Server
	id       string
	by       *User
	at       time.Time
	words    string
	answered bool
	answer   InlineAnswer
}

// InlineAnswer is what a person is shown to choose from.
type InlineAnswer struct {
	Results    []InlineResult
	CacheTime  int
	Personal   bool
	NextOffset string
	// Button and Parameter are those of the button above the results that leads to the private chat.
	Button, Parameter string
}

// InlineResult is one of them. Text is its message's, or its caption.
type InlineResult struct {
	Type        string
	ID          string
	Title       string
	Description string
	Text        string
	Keyboard    [][]Button
	FileID      string // of a file that the service has
	URL         string // of one that it fetches

	content formatted
	media   *file
}

// fileFields name the member with the file of each type of result: its id, or its address.
var (
	cachedFields = map[string]string{
		"photo": "photo_file_id", "video": "video_file_id", "document": "document_file_id", "audio": "audio_file_id",
		"voice": "voice_file_id", "gif": "gif_file_id", "mpeg4_gif": "mpeg4_file_id",
	}
	addressFields = map[string]string{"photo": "photo_url", "video": "video_url", "document": "document_url", "audio": "audio_url", "gif": "gif_url", "mpeg4_gif": "mpeg4_url"}
	kindOfResult  = map[string]string{"gif": "animation", "mpeg4_gif": "animation"}
)

// Type types words after the bot's name in some chat; offset is that of the answer before, or empty. It fails the test where
// the bot has no inline mode.
func (u *User) Type(words, offset string) *InlineQuery {
	u.s.t.Helper()
	u.s.mu.Lock()
	defer u.s.mu.Unlock()
	if u.s.opts.NoInline || utf16Len(words) > inlineQueryLength {
		u.s.t.Fatalf("telegramtest: %s can't ask the bot for %q", u.name, words)
	}
	q := &InlineQuery{s: u.s, id: fmt.Sprint(8_000_000_000_000 + u.s.nextSeq()), by: u, at: u.s.now(), words: words}
	u.s.inline[q.id] = q
	u.s.enqueue("inline_query", map[string]any{"id": q.id, "from": u.wire(), "query": words, "offset": offset, "chat_type": "group"})
	return q
}

// Answer waits for the bot's answer.
func (q *InlineQuery) Answer(ctx context.Context) InlineAnswer {
	q.s.t.Helper()
	var answer InlineAnswer
	q.s.Await(ctx, "an answer to "+q.words, func() bool {
		q.s.mu.Lock()
		defer q.s.mu.Unlock()
		answer = q.answer
		return q.answered
	}, func() string { return "none" })
	return answer
}

// Choose sends a result to a chat; the bot sees that where it is.
func (q *InlineQuery) Choose(c *Chat, id string) Message {
	q.s.t.Helper()
	q.s.mu.Lock()
	defer q.s.mu.Unlock()
	i := slices.IndexFunc(q.answer.Results, func(r InlineResult) bool { return r.ID == id })
	if i < 0 {
		q.s.t.Fatalf("telegramtest: %s finds no result %q among %d", q.by.name, id, len(q.answer.Results))
	}
	r := q.answer.Results[i]
	m := &message{from: q.by, viaBot: true, text: r.content.text, entities: r.content.entities, keyboard: r.Keyboard, media: r.media}
	if r.Keyboard != nil { // without a keyboard a message can't be edited
		m.inlineID = fmt.Sprintf("BAAA%d-x_%d", q.s.nextSeq(), q.by.id)
	}
	c.add(m)
	if c.botStatus != "left" && c.botStatus != "kicked" {
		q.s.enqueue("message", m.wire(true))
	}
	chosen := map[string]any{"result_id": r.ID, "from": q.by.wire(), "query": q.words}
	if m.inlineID != "" {
		chosen["inline_message_id"] = m.inlineID
	}
	if q.s.opts.InlineFeedback {
		q.s.enqueue("chosen_inline_result", chosen)
	}
	return m.snapshot()
}

// answerInlineQuery takes one answer for each question, while it is fresh.
func (s *Server) answerInlineQuery(req *request) (any, *apiError) {
	q, ok := s.inline[req.params["inline_query_id"]]
	if !ok || q.answered || s.now().Sub(q.at) > inlineAge {
		return nil, badRequest("query is too old and response timeout expired or query ID is invalid")
	}
	if n := req.int("cache_time"); n < 0 || n > maxInlineCache {
		return nil, badRequest("wrong cache_time specified")
	}
	a := InlineAnswer{CacheTime: req.int("cache_time"), Personal: req.bool("is_personal"), NextOffset: req.params["next_offset"]}
	if err := s.inlineButton(req, &a); err != nil {
		return nil, err
	}
	var list []json.RawMessage
	if err := req.decode("results", &list); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, raw := range list {
		r, err := s.inlineResult(raw)
		switch {
		case err != nil:
			return nil, err
		case seen[r.ID]:
			return nil, badRequest("RESULT_ID_DUPLICATE")
		}
		seen[r.ID] = true
		a.Results = append(a.Results, r)
	}
	q.answered, q.answer = true, a
	s.signal()
	return true, nil
}

// inlineButton reads the button above the results: it leads to a Mini App, or to the private chat.
func (s *Server) inlineButton(req *request, a *InlineAnswer) *apiError {
	var b *struct {
		Text           string          `json:"text"`
		StartParameter string          `json:"start_parameter"`
		WebApp         json.RawMessage `json:"web_app"`
	}
	if err := req.decode("button", &b); b == nil || err != nil {
		return err
	}
	switch {
	case b.Text == "" || (b.StartParameter == "") == (b.WebApp == nil):
		return badRequest("can't parse InlineQueryResultsButton: exactly one of web_app and start_parameter is needed")
	case len(b.StartParameter) > startParameter:
		return badRequest("START_PARAM_TOO_LONG")
	}
	for _, r := range b.StartParameter {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-' {
			return badRequest("START_PARAM_INVALID")
		}
	}
	a.Button, a.Parameter = b.Text, b.StartParameter
	return nil
}

// inlineResult reads one result and what it would send.
func (s *Server) inlineResult(raw json.RawMessage) (InlineResult, *apiError) {
	var f struct {
		Type, ID, Title, Description, Caption string
		Mode                                  string `json:"parse_mode"`
		Thumbnail                             string `json:"thumbnail_url"`
		Content                               *struct {
			Text     string          `json:"message_text"`
			Mode     string          `json:"parse_mode"`
			Entities json.RawMessage `json:"entities"`
		} `json:"input_message_content"`
		Markup json.RawMessage `json:"reply_markup"`
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &f) != nil || json.Unmarshal(raw, &members) != nil {
		return InlineResult{}, badRequest("can't parse inline query results JSON object")
	}
	r := InlineResult{Type: f.Type, ID: f.ID, Title: f.Title, Description: f.Description}
	mk, err := parseMarkup(&request{params: map[string]string{"reply_markup": string(f.Markup)}})
	if err != nil || mk.other {
		return r, badRequest("inline keyboard expected")
	}
	r.Keyboard = mk.inline
	if err := s.inlineFile(&r, members, f.Thumbnail); err != nil {
		return r, err
	}
	switch {
	case f.Content != nil:
		r.media = nil
		r.content, err = readText(f.Content.Text, f.Content.Mode, string(f.Content.Entities), 4096, "MESSAGE_TOO_LONG")
		if err == nil && r.content.text == "" {
			err = badRequest("message text is empty")
		}
	case r.media == nil:
		err = badRequest("can't parse inline query result: message text is needed")
	default:
		r.content, err = readText(f.Caption, f.Mode, "", 1024, "MEDIA_CAPTION_TOO_LONG")
	}
	r.Text = r.content.text
	return r, err
}

// inlineFile finds the file of a result: one that the service has, of the result's kind, or one that it fetches.
func (s *Server) inlineFile(r *InlineResult, members map[string]json.RawMessage, thumbnail string) *apiError {
	if r.Type == "article" {
		if r.Title == "" {
			return badRequest("can't parse inline query result: article title is empty")
		}
		return nil
	}
	text := func(name string) (value string) {
		_ = json.Unmarshal(members[name], &value)
		return value
	}
	cached, address := cachedFields[r.Type], addressFields[r.Type]
	if cached == "" {
		return badRequest("can't parse inline query result: unallowed result type %q", r.Type)
	}
	if (r.Type == "document" || r.Type == "video" || r.Type == "voice") && r.Title == "" {
		return badRequest("can't parse inline query result: title is empty")
	}
	kind := r.Type
	if other, ok := kindOfResult[kind]; ok {
		kind = other
	}
	if r.FileID = text(cached); r.FileID != "" {
		known, ok := s.files[r.FileID]
		if !ok {
			return badRequest("wrong file identifier/HTTP URL specified")
		}
		if known.kind != kind {
			return badRequest("can't use file of type %s as %s", title(known.kind), title(kind))
		}
		r.media = known
		return nil
	}
	r.URL = text(address)
	if r.URL == "" || thumbnail == "" && (r.Type == "photo" || r.Type == "video" || r.Type == "gif" || r.Type == "mpeg4_gif") {
		return badRequest("can't parse inline query result: the address or its thumbnail is missing")
	}
	found, err := s.fromURL(kind, r.URL)
	r.media = found
	return err
}

// placedInline finds a message of inline mode that is to be edited.
func (s *Server) placedInline(req *request) *message {
	for _, c := range s.chats {
		for _, m := range c.messages {
			if m.inlineID != "" && m.inlineID == req.params["inline_message_id"] && !m.deleted {
				return m
			}
		}
	}
	return nil
}
