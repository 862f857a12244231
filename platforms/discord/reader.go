package discord

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/users"
)

// requestPrefix marks the reference of a command: there is no message of the person's.
const requestPrefix = "i"

// managesMessages is the handle of presses by people who may delete what others wrote.
const managesMessages = "manage-messages"

// reader turns what comes in into what the chat contract knows.
type reader struct {
	bot      string // the bot's id, which is its application's
	commands published
	cdn      string // where Discord keeps pictures
}

// interaction reads a command, a press or a form; false for what is none of ours.
func (r reader) interaction(i interaction) (chat.Incoming, bool) {
	from, ok := sender(i)
	if !ok {
		return chat.Incoming{}, false
	}
	in := chat.Incoming{
		ID: i.ID, Chat: chatOf(i), From: from, At: snowflakeTime(i.ID), Addressed: true,
		Admin: may(i.Member, discordgo.PermissionManageGuild),
	}
	if i.Member != nil {
		in.Roles = i.Member.Roles
	}
	switch i.Type {
	case discordgo.InteractionApplicationCommand:
		in.Kind = chat.KindMessage
		in.Message = chat.MessageRef{Place: in.Chat.Place, ID: requestID(i.ID, "")}
		r.command(&in, i)
	case discordgo.InteractionMessageComponent:
		in.Kind = chat.KindPress
		in.Press = &chat.Press{ID: i.ID, Data: clean(i.Data.CustomID), Values: i.Data.Values}
	case discordgo.InteractionModalSubmit:
		in.Kind = chat.KindForm
		in.Press, in.Options = &chat.Press{ID: i.ID, Data: clean(i.Data.CustomID)}, map[string]any{}
		for _, c := range i.Data.Components {
			c.fields(in.Options)
		}
	default:
		return chat.Incoming{}, false
	}
	if i.Message != nil {
		in.Message = refOf(*i.Message, in.Chat.Place)
	}
	if in.Press != nil && may(i.Member, discordgo.PermissionManageMessages) {
		in.Press.Handle = managesMessages
	}
	return in, true
}

// command reads a slash command, one that was used on a message or a person, or the entry point.
func (r reader) command(in *chat.Incoming, i interaction) {
	if uses := r.commands.uses(i.Data.Type); uses != nil {
		in.Command = uses[i.Data.Name]
		if u, ok := i.Data.Resolved.Users[i.Data.TargetID]; ok {
			in.ReplyTo = r.person(u)
		}
		if m, ok := i.Data.Resolved.Messages[i.Data.TargetID]; ok {
			in.ReplyTo = r.quoted(&m, in.Chat.Place)
			in.Meant = chat.MessageRef{Place: in.Chat.Place, ID: requestID(i.ID, m.ID)}
		}
		return
	}
	in.Command = clean(i.Data.Name)
	in.Options = map[string]any{}
	inputs := r.commands.Commands[in.Command].Options
	for _, o := range i.Data.Options {
		name, ok := inputs[o.Name]
		if !ok {
			name = o.Name
		}
		if o.Type == discordgo.ApplicationCommandOptionAttachment {
			if a, there := i.Data.Resolved.Attachments[text(o.Value)]; there {
				if name != furtherFile {
					in.Options[name] = "attachment:" + strconv.Itoa(len(in.Attachments))
				}
				in.Attachments = append(in.Attachments, attachmentOf(a, "", ""))
			}
			continue
		}
		if v := optionValue(o.Value); v != nil {
			in.Options[name] = v
		}
	}
}

// completion reads an option that is being typed.
func (r reader) completion(i interaction) (chat.Completion, bool) {
	from, ok := sender(i)
	inputs := r.commands.Commands[i.Data.Name].Options
	q := chat.Completion{From: from, Chat: chatOf(i), Command: clean(i.Data.Name), Options: map[string]any{}}
	for _, o := range i.Data.Options {
		name := o.Name
		if input, known := inputs[o.Name]; known {
			name = input
		}
		if o.Focused {
			q.Option, q.Typed = name, clean(text(o.Value))
		} else if v := optionValue(o.Value); v != nil {
			q.Options[name] = v
		}
	}
	return q, ok && q.Option != ""
}

// message reads a message in a chat with the bot, or one that names it; false for all others. where tells of the channel of one in a guild, if that
// is known.
func (r reader) message(m message, where func() *channel) (chat.Incoming, bool) {
	named := slices.ContainsFunc(m.Mentions, func(u user) bool { return u.ID == r.bot })
	if m.Author.Bot || m.WebhookID != "" || m.GuildID != "" && !named {
		return chat.Incoming{}, false
	}
	unnamed := strings.NewReplacer("<@"+r.bot+">", "", "<@!"+r.bot+">", "").Replace(m.Content)
	said := strings.TrimSpace(clean(unnamed))
	files := attachments(m)
	byPerson := m.Type == discordgo.MessageTypeDefault || m.Type == discordgo.MessageTypeReply // who says nothing readable in private is answered all the same
	if said == "" && len(files) == 0 && (m.GuildID != "" || !byPerson) {
		return chat.Incoming{}, false
	}
	c := chat.Chat{Place: chat.Place{Chat: m.ChannelID}, Kind: chat.ChatPrivate, Space: m.GuildID}
	name := m.Author.name()
	if m.GuildID != "" {
		c.Kind = chat.ChatGroup
		inChannel(&c, where())
		if m.Member != nil && m.Member.Nick != "" {
			name = m.Member.Nick
		}
	}
	command, rest, _ := chat.ParseCommand(said, "")
	in := chat.Incoming{
		ID: m.ID, Kind: chat.KindMessage, Chat: c, At: m.Timestamp, Addressed: true, Named: unnamed != m.Content, Message: refOf(m, c.Place),
		From:    users.Identity{Platform: Platform, ExternalID: m.Author.ID, Name: clean(name), Handle: clean(m.Author.Username)},
		Command: command, Text: rest, Attachments: files, ReplyTo: r.quoted(m.Referenced, c.Place),
	}
	if m.Member != nil {
		in.Roles = m.Member.Roles
	}
	return in, true
}

func (r reader) quoted(m *message, p chat.Place) *chat.Quoted {
	if m == nil {
		return nil
	}
	return &chat.Quoted{
		Ref: refOf(*m, p), Own: m.Author.ID == r.bot, Text: clean(m.Content), Attachments: attachments(*m),
		From: users.Identity{Platform: Platform, ExternalID: m.Author.ID, Name: clean(m.Author.name())},
	}
}

// person is somebody whom a command was used on: what can be used is their picture.
func (r reader) person(u user) *chat.Quoted {
	q := &chat.Quoted{From: users.Identity{Platform: Platform, ExternalID: u.ID, Name: clean(u.name())}}
	if u.Avatar != "" && isID(u.ID) {
		q.Attachments = []chat.Attachment{attachmentOf(attachment{
			ID: u.ID, Filename: "avatar.png", ContentType: "image/png", URL: r.cdn + "/avatars/" + u.ID + "/" + url.PathEscape(u.Avatar) + ".png?size=1024",
		}, "", "")}
	}
	return q
}

// sender gives who acts: in guilds the member, else the user.
func sender(i interaction) (users.Identity, bool) {
	u, name := i.User, ""
	if i.Member != nil && i.Member.User != nil {
		u, name = i.Member.User, i.Member.Nick
	}
	if u == nil || u.ID == "" {
		return users.Identity{}, false
	}
	if name == "" {
		name = u.name()
	}
	return users.Identity{Platform: Platform, ExternalID: u.ID, Name: clean(name), Handle: clean(u.Username), Language: i.Locale}, true
}

// chatOf gives where an interaction took place.
func chatOf(i interaction) chat.Chat {
	c := chat.Chat{Place: chat.Place{Chat: i.ChannelID}, Kind: chat.ChatGroup, Space: i.GuildID, UploadLimit: i.UploadLimit}
	inChannel(&c, i.Channel)
	if i.GuildID == "" && (i.Context == nil || *i.Context == discordgo.InteractionContextBotDM) {
		c.Kind = chat.ChatPrivate
	}
	return c
}

// inChannel says of a chat what is known of its channel. A thread is a topic of the channel it is in.
func inChannel(c *chat.Chat, in *channel) {
	if in == nil {
		return
	}
	c.Title, c.AgeRestricted = clean(in.Name), in.NSFW
	if isThread(in.Type) && in.ParentID != "" {
		c.Place = chat.Place{Chat: in.ParentID, Topic: c.Chat}
	}
}

func isThread(t discordgo.ChannelType) bool {
	return t == discordgo.ChannelTypeGuildNewsThread || t == discordgo.ChannelTypeGuildPublicThread || t == discordgo.ChannelTypeGuildPrivateThread
}

// channelOf is the channel that messages to a place go to.
func channelOf(p chat.Place) string {
	if p.Topic != "" {
		return p.Topic
	}
	return p.Chat
}

func refOf(m message, p chat.Place) chat.MessageRef {
	return chat.MessageRef{Place: p, ID: m.ID, Media: len(m.Attachments) > 0}
}

// may tells whether a member has a right, or all of them.
func may(m *member, right int64) bool {
	if m == nil {
		return false
	}
	rights, err := strconv.ParseInt(m.Permissions, 10, 64)
	return err == nil && rights&(right|discordgo.PermissionAdministrator) != 0
}

// snowflakeTime is when an id was made.
func snowflakeTime(id string) time.Time {
	at, err := discordgo.SnowflakeTimestamp(id)
	if err != nil {
		return time.Time{}
	}
	return at
}

// optionValue gives a typed option's value: string, bool or json.Number.
func optionValue(raw json.RawMessage) any {
	var v any
	if decimal.Unmarshal(raw, &v) != nil {
		return nil
	}
	switch v := v.(type) {
	case string:
		return clean(v)
	case bool, json.Number:
		return v
	}
	return nil
}

// text gives a JSON value as text: a string's content, anything else as it stands.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// clean takes out what Postgres can't keep in a text.
func clean(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "\uFFFD")
}
