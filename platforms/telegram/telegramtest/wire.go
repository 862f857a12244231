package telegramtest

// The JSON shapes of what the server answers: only fields it fills.

type wUser struct {
	ID                      int64  `json:"id"`
	IsBot                   bool   `json:"is_bot"`
	FirstName               string `json:"first_name"`
	Username                string `json:"username,omitempty"`
	LanguageCode            string `json:"language_code,omitempty"`
	CanJoinGroups           *bool  `json:"can_join_groups,omitempty"`
	CanReadAllGroupMessages *bool  `json:"can_read_all_group_messages,omitempty"`
	SupportsInlineQueries   *bool  `json:"supports_inline_queries,omitempty"`
}

type wChat struct {
	ID        int64  `json:"id"`
	Type      string `json:"type"`
	Title     string `json:"title,omitempty"`
	Username  string `json:"username,omitempty"`
	FirstName string `json:"first_name,omitempty"`
	IsForum   bool   `json:"is_forum,omitempty"`
}

type wFile struct {
	FileID       string  `json:"file_id"`
	FileUniqueID string  `json:"file_unique_id"`
	FileSize     int     `json:"file_size,omitempty"`
	FilePath     string  `json:"file_path,omitempty"`
	FileName     string  `json:"file_name,omitempty"`
	MimeType     string  `json:"mime_type,omitempty"`
	Width        int     `json:"width,omitempty"`
	Height       int     `json:"height,omitempty"`
	Duration     *int    `json:"duration,omitempty"`
	Title        string  `json:"title,omitempty"`
	Performer    string  `json:"performer,omitempty"`
	Thumbnail    *wPhoto `json:"thumbnail,omitempty"`
}

type wPhoto struct {
	FileID       string `json:"file_id"`
	FileUniqueID string `json:"file_unique_id"`
	Width        int    `json:"width"`
	Height       int    `json:"height"`
	FileSize     int    `json:"file_size,omitempty"`
}

type wQuote struct {
	Text     string `json:"text"`
	Position int    `json:"position"`
	IsManual bool   `json:"is_manual,omitempty"`
}

type wOrigin struct {
	Type       string `json:"type"`
	Date       int64  `json:"date"`
	SenderUser *wUser `json:"sender_user,omitempty"`
}

type wExternalReply struct {
	Origin    wOrigin  `json:"origin"`
	Chat      *wChat   `json:"chat,omitempty"`
	MessageID int      `json:"message_id,omitempty"`
	Photo     []wPhoto `json:"photo,omitempty"`
	Document  *wFile   `json:"document,omitempty"`
	Video     *wFile   `json:"video,omitempty"`
	Animation *wFile   `json:"animation,omitempty"`
	Audio     *wFile   `json:"audio,omitempty"`
	Voice     *wFile   `json:"voice,omitempty"`
}

type wMessage struct {
	MessageID         int             `json:"message_id"`
	MessageThreadID   int             `json:"message_thread_id,omitempty"`
	IsTopicMessage    bool            `json:"is_topic_message,omitempty"`
	From              *wUser          `json:"from,omitempty"`
	SenderChat        *wChat          `json:"sender_chat,omitempty"`
	ViaBot            *wUser          `json:"via_bot,omitempty"`
	Date              int64           `json:"date"`
	EditDate          int64           `json:"edit_date,omitempty"`
	Chat              wChat           `json:"chat"`
	ReplyToMessage    *wMessage       `json:"reply_to_message,omitempty"`
	ExternalReply     *wExternalReply `json:"external_reply,omitempty"`
	Quote             *wQuote         `json:"quote,omitempty"`
	MediaGroupID      string          `json:"media_group_id,omitempty"`
	Text              string          `json:"text,omitempty"`
	Entities          []Entity        `json:"entities,omitempty"`
	Caption           string          `json:"caption,omitempty"`
	CaptionEntities   []Entity        `json:"caption_entities,omitempty"`
	Photo             []wPhoto        `json:"photo,omitempty"`
	Document          *wFile          `json:"document,omitempty"`
	Video             *wFile          `json:"video,omitempty"`
	Animation         *wFile          `json:"animation,omitempty"`
	Audio             *wFile          `json:"audio,omitempty"`
	Voice             *wFile          `json:"voice,omitempty"`
	HasMediaSpoiler   bool            `json:"has_media_spoiler,omitempty"`
	ReplyMarkup       *wKeyboard      `json:"reply_markup,omitempty"`
	NewChatMembers    []wUser         `json:"new_chat_members,omitempty"`
	LeftChatMember    *wUser          `json:"left_chat_member,omitempty"`
	MigrateToChatID   int64           `json:"migrate_to_chat_id,omitempty"`
	MigrateFromChatID int64           `json:"migrate_from_chat_id,omitempty"`
	SuccessfulPayment *wPayment       `json:"successful_payment,omitempty"`
	RefundedPayment   *wPayment       `json:"refunded_payment,omitempty"`
}

type wKeyboard struct {
	InlineKeyboard [][]Button `json:"inline_keyboard"`
	ForceReply     bool       `json:"force_reply,omitempty"`
}

type wInaccessible struct {
	Chat      wChat `json:"chat"`
	MessageID int   `json:"message_id"`
	Date      int64 `json:"date"`
}

type wCallback struct {
	ID           string `json:"id"`
	From         wUser  `json:"from"`
	Message      any    `json:"message,omitempty"`
	InlineID     string `json:"inline_message_id,omitempty"`
	ChatInstance string `json:"chat_instance"`
	Data         string `json:"data"`
}

// wMember is a ChatMember: status and user, and what its status adds.
type wMember map[string]any

// administratorRights are the rights every administrator's entry lists.
var administratorRights = []string{
	"can_be_edited", "is_anonymous", "can_manage_chat", "can_delete_messages", "can_manage_video_chats", "can_restrict_members",
	"can_promote_members", "can_change_info", "can_invite_users", "can_post_stories", "can_edit_stories", "can_delete_stories",
}

func memberOf(status string, user wUser) wMember {
	m := wMember{"status": status, "user": user}
	switch status {
	case "kicked":
		m["until_date"] = 0
	case "administrator":
		for _, right := range administratorRights {
			m[right] = right == "can_manage_chat" || right == "can_delete_messages"
		}
	}
	return m
}

type wMemberUpdate struct {
	Chat wChat   `json:"chat"`
	From wUser   `json:"from"`
	Date int64   `json:"date"`
	Old  wMember `json:"old_chat_member"`
	New  wMember `json:"new_chat_member"`
}

// Button is a key of an inline keyboard. Exactly one field besides Text, Style and the icon is set.
type Button struct {
	Text                         string    `json:"text"`
	Style                        string    `json:"style,omitempty"`
	Icon                         string    `json:"icon_custom_emoji_id,omitempty"`
	URL                          string    `json:"url,omitempty"`
	CallbackData                 string    `json:"callback_data,omitempty"`
	WebApp                       any       `json:"web_app,omitempty"`
	LoginURL                     any       `json:"login_url,omitempty"`
	SwitchInlineQuery            *string   `json:"switch_inline_query,omitempty"`
	SwitchInlineQueryCurrentChat *string   `json:"switch_inline_query_current_chat,omitempty"`
	SwitchInlineQueryChosenChat  any       `json:"switch_inline_query_chosen_chat,omitempty"`
	CopyText                     any       `json:"copy_text,omitempty"`
	CallbackGame                 any       `json:"callback_game,omitempty"`
	Pay                          bool      `json:"pay,omitempty"`
	Disabled                     *struct{} `json:"disabled,omitempty"`
}
