package discord

import (
	"encoding/json"
	"time"

	"github.com/bwmarrin/discordgo"
)

// The types below are what comes in. They are our own: one component that the library does not know would
// leave its interaction without data, and its numbers are floats.

type user struct {
	ID         string `json:"id"`
	Username   string `json:"username"`
	GlobalName string `json:"global_name"`
	Bot        bool   `json:"bot"`
	Avatar     string `json:"avatar"` // hash; empty: none of their own
}

// name is what others read.
func (u user) name() string {
	if u.GlobalName != "" {
		return u.GlobalName
	}
	return u.Username
}

type member struct {
	User        *user    `json:"user"`
	Nick        string   `json:"nick"`
	Roles       []string `json:"roles"`
	Permissions string   `json:"permissions"`
}

type channel struct {
	ID       string                `json:"id"`
	Type     discordgo.ChannelType `json:"type"`
	Name     string                `json:"name"`
	ParentID string                `json:"parent_id"`
	NSFW     bool                  `json:"nsfw"`
}

type attachment struct {
	ID          string `json:"id"`
	Filename    string `json:"filename"`
	ContentType string `json:"content_type"`
	Size        int64  `json:"size"`
	URL         string `json:"url"`
	Width       int    `json:"width"`
	Height      int    `json:"height"`
}

type message struct {
	ID          string                `json:"id"`
	Type        discordgo.MessageType `json:"type"`
	ChannelID   string                `json:"channel_id"`
	GuildID     string                `json:"guild_id"`
	Author      user                  `json:"author"`
	Member      *member               `json:"member"`
	Content     string                `json:"content"`
	Timestamp   time.Time             `json:"timestamp"`
	Mentions    []user                `json:"mentions"`
	Attachments []attachment          `json:"attachments"`
	WebhookID   string                `json:"webhook_id"`
	Referenced  *message              `json:"referenced_message"`
	Reference   *struct {
		MessageID string `json:"message_id"`
		ChannelID string `json:"channel_id"`
	} `json:"message_reference"`
	Snapshots []struct{ Message *message } `json:"message_snapshots"` // what a message held that was passed on, see UnmarshalJSON
}

// UnmarshalJSON reads a message. One that was passed on holds what the other did, and is no reply to it.
func (m *message) UnmarshalJSON(data []byte) error {
	type plain message
	err := json.Unmarshal(data, (*plain)(m))
	for _, s := range m.Snapshots {
		if s.Message != nil {
			m.Content, m.Attachments, m.Reference = s.Message.Content, s.Message.Attachments, nil
		}
	}
	return err
}

// interaction is a command, a pressed component, a form sent in, or an option being typed.
type interaction struct {
	ID            string                    `json:"id"`
	ApplicationID string                    `json:"application_id"`
	Type          discordgo.InteractionType `json:"type"`
	Token         string                    `json:"token"`
	GuildID       string                    `json:"guild_id"`
	ChannelID     string                    `json:"channel_id"`
	Channel       *channel                  `json:"channel"`
	Member        *member                   `json:"member"`
	User          *user                     `json:"user"`
	Locale        string                    `json:"locale"`
	// Context is where it was used: 0 a guild, 1 the chat with the bot, 2 another private chat.
	Context     *discordgo.InteractionContextType `json:"context"`
	UploadLimit int64                             `json:"attachment_size_limit"`
	// Owners tells where the application was installed: "0" for the place itself, "1" for the person.
	Owners  map[string]string `json:"authorizing_integration_owners"`
	Message *message          `json:"message"`
	Data    interactionData   `json:"data"`
}

// interactionData is what the kinds of interactions carry, together.
type interactionData struct {
	Name       string                           `json:"name"`
	Type       discordgo.ApplicationCommandType `json:"type"`
	TargetID   string                           `json:"target_id"`
	Options    []option                         `json:"options"`
	Resolved   resolved                         `json:"resolved"`
	CustomID   string                           `json:"custom_id"`
	Values     []string                         `json:"values"`
	Components []component                      `json:"components"`
}

type option struct {
	Name    string                                 `json:"name"`
	Type    discordgo.ApplicationCommandOptionType `json:"type"`
	Value   json.RawMessage                        `json:"value"`
	Focused bool                                   `json:"focused"`
}

type resolved struct {
	Attachments map[string]attachment `json:"attachments"`
	Messages    map[string]message    `json:"messages"`
	Users       map[string]user       `json:"users"`
}

// component is a part of a form sent in. Fields stand in rows, or each in a label.
type component struct {
	CustomID   string      `json:"custom_id"`
	Value      string      `json:"value"`
	Components []component `json:"components"`
	Component  *component  `json:"component"`
}

// fields collects the values of a form by field name.
func (c component) fields(into map[string]any) {
	if c.CustomID != "" {
		into[c.CustomID] = clean(c.Value)
	}
	for _, inner := range c.Components {
		inner.fields(into)
	}
	if c.Component != nil {
		c.Component.fields(into)
	}
}
