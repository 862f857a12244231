package botapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Target is where a message goes. ThreadID is the forum topic, 0 for none and for the general topic.
type Target struct {
	ChatID   int64 `json:"chat_id"`
	ThreadID int   `json:"message_thread_id,omitempty"`
}

// MessageRef names a message: by its chat and number, or with InlineID a message of inline mode, whose chat nobody knows.
type MessageRef struct {
	ChatID    int64  `json:"chat_id,omitempty"`
	MessageID int    `json:"message_id,omitempty"`
	InlineID  string `json:"inline_message_id,omitempty"`
}

// ReplyTo names the message a message answers. Optional sends without it once it is gone.
type ReplyTo struct {
	MessageID int    `json:"message_id"`
	ChatID    int64  `json:"chat_id,omitempty"`
	Optional  bool   `json:"allow_sending_without_reply,omitempty"`
	Quote     string `json:"quote,omitempty"`
}

// Button is a key of an inline keyboard with either Data, of at most 64 bytes, or URL. Style is danger,
// success, primary or nothing.
type Button struct {
	Text  string `json:"text"`
	Style string `json:"style,omitempty"`
	Data  string `json:"callback_data,omitempty"`
	URL   string `json:"url,omitempty"`
}

// InlineKeyboard is the rows of buttons under a message.
type InlineKeyboard struct {
	Rows [][]Button `json:"inline_keyboard"`
}

// ForceReply opens the reply field for the people addressed. A message sent with it can never be edited.
type ForceReply struct {
	Force       bool   `json:"force_reply"`
	Placeholder string `json:"input_field_placeholder,omitempty"`
	Selective   bool   `json:"selective,omitempty"`
}

// Markup is an InlineKeyboard or a ForceReply.
type Markup interface{ isMarkup() }

func (InlineKeyboard) isMarkup() {}
func (ForceReply) isMarkup()     {}

// SendOptions is what all sending methods have in common.
type SendOptions struct {
	Target
	ReplyTo *ReplyTo `json:"reply_parameters,omitempty"`
	Markup  Markup   `json:"reply_markup,omitempty"`
	// Silent sends without a sound.
	Silent bool `json:"disable_notification,omitempty"`
}

// Text is a message without media. ParseMode is HTML or nothing; with Entities it must be nothing.
type Text struct {
	SendOptions
	Text        string              `json:"text"`
	ParseMode   string              `json:"parse_mode,omitempty"`
	Entities    []Entity            `json:"entities,omitempty"`
	LinkPreview *LinkPreviewOptions `json:"link_preview_options,omitempty"`
}

// LinkPreviewOptions switches the preview of links off.
type LinkPreviewOptions struct {
	Disabled bool `json:"is_disabled"`
}

// Media is a file with its caption. Fields that its Kind does not have are not sent.
type Media struct {
	Kind      MediaKind
	File      InputFile
	Thumbnail *InputFile // JPEG, at most 320 a side, under 200 kB, always uploaded new
	Caption   string
	ParseMode string
	Entities  []Entity
	Spoiler   bool
	Width     int
	Height    int
	Duration  int // seconds
	Title     string
	Performer string
	// Untouched sends a document exactly as it is, without turning it into another kind.
	Untouched bool
}

// SendText sends a text.
func (c *Client) SendText(ctx context.Context, t Text) (Message, error) {
	return do[Message](ctx, c, "sendMessage", t)
}

// fields lists the parameters a kind of media has besides the file itself.
func (m Media) fields() map[string]any {
	f := map[string]any{}
	set := func(name string, value any, present bool) {
		if present {
			f[name] = value
		}
	}
	visual := m.Kind == KindPhoto || m.Kind == KindVideo || m.Kind == KindAnimation
	moving := m.Kind == KindVideo || m.Kind == KindAnimation
	set("caption", m.Caption, m.Caption != "")
	set("parse_mode", m.ParseMode, m.ParseMode != "" && m.Caption != "")
	set("caption_entities", m.Entities, len(m.Entities) > 0)
	set("has_spoiler", true, m.Spoiler && visual)
	set("width", m.Width, m.Width > 0 && moving)
	set("height", m.Height, m.Height > 0 && moving)
	set("duration", m.Duration, m.Duration > 0 && (moving || m.Kind == KindAudio || m.Kind == KindVoice))
	set("supports_streaming", true, m.Kind == KindVideo)
	set("title", m.Title, m.Title != "" && m.Kind == KindAudio)
	set("performer", m.Performer, m.Performer != "" && m.Kind == KindAudio)
	set("disable_content_type_detection", true, m.Untouched && m.Kind == KindDocument)
	return f
}

// hasThumbnail tells whether the kind takes a preview picture and there is one to upload.
func (m Media) hasThumbnail() bool {
	return m.Thumbnail != nil && m.Thumbnail.Open != nil && m.Kind != KindPhoto && m.Kind != KindVoice
}

// methods names the sending method of each kind.
func (k MediaKind) method() (string, error) {
	switch k {
	case KindPhoto:
		return "sendPhoto", nil
	case KindVideo:
		return "sendVideo", nil
	case KindAnimation:
		return "sendAnimation", nil
	case KindAudio:
		return "sendAudio", nil
	case KindVoice:
		return "sendVoice", nil
	case KindDocument:
		return "sendDocument", nil
	}
	return "", fmt.Errorf("telegram: there is no kind of media %q", string(k))
}

// SendMedia sends a file.
func (c *Client) SendMedia(ctx context.Context, o SendOptions, m Media) (Message, error) {
	method, err := m.Kind.method()
	if err != nil {
		return Message{}, err
	}
	params, err := merged(o, m.fields())
	if err != nil {
		return Message{}, err
	}
	var uploads []upload
	if m.File.Open != nil {
		uploads = append(uploads, upload{string(m.Kind), m.File})
	} else {
		params[string(m.Kind)] = m.File.reference()
	}
	if m.hasThumbnail() {
		uploads = append(uploads, upload{"thumbnail", *m.Thumbnail})
	}
	return do[Message](ctx, c, method, params, uploads...)
}

// merged joins the common options and the fields of a method into one object.
func merged(o SendOptions, fields map[string]any) (map[string]any, error) {
	form, err := formOf(o)
	if err != nil {
		return nil, err
	}
	for name, value := range form {
		fields[name] = value
	}
	return fields, nil
}

// inputMedia writes m as the InputMedia object number i, with its uploads as parts of their own names.
// The library leaves thumbnails unattached and turns animations into null; this does neither.
func (m Media) inputMedia(i int) (map[string]any, []upload) {
	f := m.fields()
	f["type"] = string(m.Kind)
	var uploads []upload
	if m.File.Open != nil {
		name := fmt.Sprintf("file%d", i)
		f["media"] = "attach://" + name
		uploads = append(uploads, upload{name, m.File})
	} else {
		f["media"] = m.File.reference()
	}
	if m.hasThumbnail() {
		name := fmt.Sprintf("thumbnail%d", i)
		f["thumbnail"] = "attach://" + name
		uploads = append(uploads, upload{name, *m.Thumbnail})
	}
	return f, uploads
}

// SendAlbum sends two to ten files as one album: photos and videos together, documents or audio each by
// themselves. Albums carry no buttons; o.Markup is refused.
func (c *Client) SendAlbum(ctx context.Context, o SendOptions, items []Media) ([]Message, error) {
	if o.Markup != nil {
		return nil, errors.New("telegram: an album cannot have buttons; send them in a message after it")
	}
	var media []map[string]any
	var uploads []upload
	for i, item := range items {
		f, u := item.inputMedia(i)
		media = append(media, f)
		uploads = append(uploads, u...)
	}
	params, err := merged(o, map[string]any{"media": media})
	if err != nil {
		return nil, err
	}
	return do[[]Message](ctx, c, "sendMediaGroup", params, uploads...)
}

// Edit is what all edits have in common. An edit without keyboard takes the old one away.
type Edit struct {
	MessageRef
	Keyboard *InlineKeyboard `json:"reply_markup,omitempty"`
}

// edited makes an edit. Of a message of inline mode the service tells no more than that it was made.
func (c *Client) edited(ctx context.Context, method string, params any, files ...upload) (Message, error) {
	var m Message
	raw, err := do[json.RawMessage](ctx, c, method, params, files...)
	if err != nil || string(raw) == "true" {
		return m, err
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, &Error{Method: method, Description: "the result is not of the expected form", Uncertain: true, err: err}
	}
	return m, nil
}

// EditText replaces the text of a message without media.
func (c *Client) EditText(ctx context.Context, e Edit, t Text) (Message, error) {
	params := struct {
		Edit
		Text        string              `json:"text"`
		ParseMode   string              `json:"parse_mode,omitempty"`
		Entities    []Entity            `json:"entities,omitempty"`
		LinkPreview *LinkPreviewOptions `json:"link_preview_options,omitempty"`
	}{e, t.Text, t.ParseMode, t.Entities, t.LinkPreview}
	return c.edited(ctx, "editMessageText", params)
}

// EditCaption replaces the caption of a message with media.
func (c *Client) EditCaption(ctx context.Context, e Edit, caption, parseMode string) (Message, error) {
	params := struct {
		Edit
		Caption   string `json:"caption"`
		ParseMode string `json:"parse_mode,omitempty"`
	}{e, caption, parseMode}
	return c.edited(ctx, "editMessageCaption", params)
}

// EditMedia replaces a text or a file by a file; voice messages cannot be edited in.
func (c *Client) EditMedia(ctx context.Context, e Edit, media Media) (Message, error) {
	if media.Kind == KindVoice {
		return Message{}, errors.New("telegram: a voice message cannot be edited in; send it anew")
	}
	f, uploads := media.inputMedia(0)
	params := struct {
		Edit
		Media map[string]any `json:"media"`
	}{e, f}
	return c.edited(ctx, "editMessageMedia", params, uploads...)
}

// EditKeyboard replaces only the buttons.
func (c *Client) EditKeyboard(ctx context.Context, e Edit) (Message, error) {
	return c.edited(ctx, "editMessageReplyMarkup", e)
}

// Delete removes a message: own ones for 48 hours, others where the bot may.
func (c *Client) Delete(ctx context.Context, m MessageRef) error {
	return c.call(ctx, "deleteMessage", m, nil)
}

// CallbackAnswer ends the progress bar on a pressed button; Text is at most 200 characters.
type CallbackAnswer struct {
	ID    string `json:"callback_query_id"`
	Text  string `json:"text,omitempty"`
	Alert bool   `json:"show_alert,omitempty"`
	URL   string `json:"url,omitempty"`
}

// AnswerCallback answers a pressed button. It must be called within some 15 seconds, once.
func (c *Client) AnswerCallback(ctx context.Context, a CallbackAnswer) error {
	a.Text = Truncate(a.Text, 200)
	return c.call(ctx, "answerCallbackQuery", a, nil)
}

// ChatAction is what the bot seems to be doing, for five seconds or until a message comes.
type ChatAction string

// The chat actions in use.
const (
	Typing         ChatAction = "typing"
	UploadPhoto    ChatAction = "upload_photo"
	UploadVideo    ChatAction = "upload_video"
	UploadVoice    ChatAction = "upload_voice"
	UploadDocument ChatAction = "upload_document"
)

// SendAction shows a chat action.
func (c *Client) SendAction(ctx context.Context, to Target, action ChatAction) error {
	return c.call(ctx, "sendChatAction", struct {
		Target
		Action ChatAction `json:"action"`
	}{to, action}, nil)
}

// GetMe returns the bot itself.
func (c *Client) GetMe(ctx context.Context) (User, error) {
	return do[User](ctx, c, "getMe", nil)
}

// GetMember returns a person's place in a chat.
func (c *Client) GetMember(ctx context.Context, chatID, userID int64) (Member, error) {
	return do[Member](ctx, c, "getChatMember", struct {
		ChatID int64 `json:"chat_id"`
		UserID int64 `json:"user_id"`
	}{chatID, userID})
}

// BotCommand is an entry of a command list: Command matches [a-z0-9_]{1,32}, Description has 1 to 256
// characters.
type BotCommand struct {
	Command     string `json:"command"`
	Description string `json:"description"`
}

// CommandScope says where a command list is shown: default, all_private_chats, all_group_chats,
// all_chat_administrators, or chat with a ChatID. The most specific list replaces the others.
type CommandScope struct {
	Type   string `json:"type"`
	ChatID int64  `json:"chat_id,omitempty"`
}

type scoped struct {
	Scope    CommandScope `json:"scope"`
	Language string       `json:"language_code,omitempty"`
}

// SetCommands publishes up to 100 commands for a scope and a two-letter language, "" for all others.
func (c *Client) SetCommands(ctx context.Context, scope CommandScope, language string, commands []BotCommand) error {
	return c.call(ctx, "setMyCommands", struct {
		scoped
		Commands []BotCommand `json:"commands"`
	}{scoped{scope, language}, commands}, nil)
}

// DeleteCommands takes a list away; people see the next less specific one.
func (c *Client) DeleteCommands(ctx context.Context, scope CommandScope, language string) error {
	return c.call(ctx, "deleteMyCommands", scoped{scope, language}, nil)
}

// Description gives what people read in the empty chat with the bot, and the short text of its profile, in a language;
// "" is for everybody else.
func (c *Client) Description(ctx context.Context, language string) (long, short string, err error) {
	in := struct {
		Language string `json:"language_code,omitempty"`
	}{language}
	var l struct {
		Text string `json:"description"`
	}
	var s struct {
		Text string `json:"short_description"`
	}
	if err := c.call(ctx, "getMyDescription", in, &l); err != nil {
		return "", "", err
	}
	err = c.call(ctx, "getMyShortDescription", in, &s)
	return l.Text, s.Text, err
}

// SetDescription sets both texts, the long one of at most 512 characters and the short one of at most 120.
func (c *Client) SetDescription(ctx context.Context, language, long, short string) error {
	err := c.call(ctx, "setMyDescription", struct {
		Language string `json:"language_code,omitempty"`
		Text     string `json:"description"`
	}{language, long}, nil)
	if err != nil {
		return err
	}
	return c.call(ctx, "setMyShortDescription", struct {
		Language string `json:"language_code,omitempty"`
		Text     string `json:"short_description"`
	}{language, short}, nil)
}

// MenuButton is the button beside the text field of private chats.
type MenuButton struct {
	Type string  `json:"type"` // commands, or web_app with the members below
	Text string  `json:"text,omitempty"`
	App  *WebApp `json:"web_app,omitempty"`
}

// WebApp is a Mini App; its address is https.
type WebApp struct {
	URL string `json:"url"`
}

// SetMenuButton sets the button of all private chats.
func (c *Client) SetMenuButton(ctx context.Context, b MenuButton) error {
	return c.call(ctx, "setChatMenuButton", map[string]MenuButton{"menu_button": b}, nil)
}

// WebhookConfig is a webhook to set. Secret is 1 to 256 of A-Z a-z 0-9 _ -.
type WebhookConfig struct {
	URL            string   `json:"url"`
	Secret         string   `json:"secret_token,omitempty"`
	AllowedUpdates []string `json:"allowed_updates,omitempty"`
	MaxConnections int      `json:"max_connections,omitempty"`
	DropPending    bool     `json:"drop_pending_updates,omitempty"`
}

// SetWebhook makes the service post updates to an address; long polling ends.
func (c *Client) SetWebhook(ctx context.Context, w WebhookConfig) error {
	return c.call(ctx, "setWebhook", w, nil)
}

// DeleteWebhook goes back to long polling.
func (c *Client) DeleteWebhook(ctx context.Context, dropPending bool) error {
	return c.call(ctx, "deleteWebhook", map[string]bool{"drop_pending_updates": dropPending}, nil)
}

// WebhookInfo is the state of the webhook, for health checks.
type WebhookInfo struct {
	URL            string   `json:"url"`
	Pending        int      `json:"pending_update_count"`
	LastError      string   `json:"last_error_message"`
	LastErrorDate  int64    `json:"last_error_date"` // Unix seconds
	MaxConnections int      `json:"max_connections"`
	AllowedUpdates []string `json:"allowed_updates"`
}

// GetWebhookInfo returns the state of the webhook; its URL is empty while there is none.
func (c *Client) GetWebhookInfo(ctx context.Context) (WebhookInfo, error) {
	return do[WebhookInfo](ctx, c, "getWebhookInfo", nil)
}

// GetUpdates asks for updates from offset on and confirms all before it. It waits up to timeout, in whole
// seconds, when there are none. allowed names the kinds wanted; nil keeps the previous choice.
func (c *Client) GetUpdates(ctx context.Context, offset int64, timeout time.Duration, allowed []string) ([]Update, error) {
	params := map[string]any{"offset": offset, "timeout": int(timeout / time.Second)}
	if allowed != nil {
		params["allowed_updates"] = allowed
	}
	// Each update is read by itself, so that a broken one does not lose the others.
	raw, err := do[[]json.RawMessage](ctx, c, "getUpdates", params)
	if err != nil {
		return nil, err
	}
	updates := make([]Update, 0, len(raw))
	for _, r := range raw {
		u, err := ParseUpdate(r)
		if err != nil {
			return nil, err
		}
		updates = append(updates, u)
	}
	return updates, nil
}
