package botapi

import "context"

// MaxInlineResults bounds the results of an answer to an inline query.
const MaxInlineResults = 50

// InlineQuery is what somebody types after the bot's name in any chat.
type InlineQuery struct {
	ID     string `json:"id"`
	From   User   `json:"from"`
	Query  string `json:"query"` // up to 256 characters
	Offset string `json:"offset"`
	// ChatType is sender for the chat with the bot itself, else the kind of chat, where the service tells it.
	ChatType string `json:"chat_type"`
}

// InlineResult is a message that can be chosen: an article with Content, a file that the service has by its id, or a photo by its
// address. Of the ids and PhotoURL exactly one is set, the one of Type; an article has none.
type InlineResult struct {
	Type        string          `json:"type"` // article, photo, video, document, audio, voice, mpeg4_gif
	ID          string          `json:"id"`   // 1 to 64 bytes
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Content     *InlineText     `json:"input_message_content,omitempty"`
	Keyboard    *InlineKeyboard `json:"reply_markup,omitempty"`

	PhotoID    string `json:"photo_file_id,omitempty"`
	VideoID    string `json:"video_file_id,omitempty"`
	DocumentID string `json:"document_file_id,omitempty"`
	AudioID    string `json:"audio_file_id,omitempty"`
	VoiceID    string `json:"voice_file_id,omitempty"`
	MPEG4ID    string `json:"mpeg4_file_id,omitempty"`

	PhotoURL     string `json:"photo_url,omitempty"` // JPEG, at most 5 MB
	ThumbnailURL string `json:"thumbnail_url,omitempty"`
}

// InlineText is the text that an article sends.
type InlineText struct {
	Text        string              `json:"message_text"`
	ParseMode   string              `json:"parse_mode,omitempty"`
	LinkPreview *LinkPreviewOptions `json:"link_preview_options,omitempty"`
}

// InlineAnswer answers an inline query with at most MaxInlineResults results.
type InlineAnswer struct {
	QueryID    string         `json:"inline_query_id"`
	Results    []InlineResult `json:"results"`
	CacheTime  int            `json:"cache_time"`            // seconds, up to MaxInlineSeconds
	Personal   bool           `json:"is_personal,omitempty"` // the answer is for this person only
	NextOffset string         `json:"next_offset,omitempty"` // at most 64 bytes
	Button     *InlineButton  `json:"button,omitempty"`
}

// InlineButton stands above the results and leads to the private chat: /start with Parameter is sent there.
type InlineButton struct {
	Text      string `json:"text"`
	Parameter string `json:"start_parameter"`
}

// AnswerInline answers an inline query, within some seconds.
func (c *Client) AnswerInline(ctx context.Context, a InlineAnswer) error {
	if a.Results == nil {
		a.Results = []InlineResult{} // null is no list
	}
	return c.call(ctx, "answerInlineQuery", a, nil)
}
