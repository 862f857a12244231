package discord

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/signalbox/signalbox/platforms/chat"
)

// outgoing is a message on its way.
type outgoing struct {
	text      chat.Text
	media     []chat.Media
	rows      []row
	reply     string // a message's id
	meant     string // the id of the message whose menu a command was picked from, which the message answers
	ping      string // the id of the person to notify
	ephemeral bool
	silent    bool
	droppable bool
}

// body is a message as Discord takes it.
type body struct {
	Content         string            `json:"content"`
	Components      []row             `json:"components"`
	Attachments     []attachmentBody  `json:"attachments,omitempty"`
	AllowedMentions allowedMentions   `json:"allowed_mentions"`
	Flags           int               `json:"flags,omitempty"`
	Nonce           string            `json:"nonce,omitempty"`
	EnforceNonce    bool              `json:"enforce_nonce,omitempty"`
	Reference       *messageReference `json:"message_reference,omitempty"`
}

type attachmentBody struct {
	ID          int    `json:"id"`
	Filename    string `json:"filename"`
	Description string `json:"description,omitempty"`
}

// allowedMentions lets a message ping nobody but those it lists, whatever its text says.
type allowedMentions struct {
	Parse []string `json:"parse"`
	Users []string `json:"users,omitempty"`
}

type messageReference struct {
	MessageID string `json:"message_id"`
	// FailIfNotExists false sends without the reference when its message is gone.
	FailIfNotExists bool `json:"fail_if_not_exists"`
}

// compose prepares a message.
func compose(m chat.Message) *outgoing {
	o := &outgoing{
		text: m.Text, media: m.Media, rows: components(m.Menus, m.Buttons),
		ephemeral: m.OnlyFor != "", silent: m.Silent, droppable: m.Droppable,
	}
	if isID(m.Ping) && m.OnlyFor == "" {
		o.ping = m.Ping
	}
	if _, meant := parseRequest(m.ReplyTo.ID); isID(meant) && !o.ephemeral {
		o.meant = meant
	}
	if isID(m.ReplyTo.ID) && channelOf(m.ReplyTo.Place) == channelOf(m.To) {
		o.reply = m.ReplyTo.ID
	}
	return o
}

// encode makes the body and reads the files.
func (o *outgoing) encode(ctx context.Context) (body, []file, error) {
	b := body{Content: markdown(o.text, MaxText), Components: o.rows, AllowedMentions: allowedMentions{Parse: []string{}}}
	b.Flags = int(discordgo.MessageFlagsSuppressEmbeds) // an address in a text, no matter who wrote it, is fetched by nobody
	if o.ping != "" {
		mention := "<@" + o.ping + "> "
		b.Content = mention + markdown(o.text, MaxText-len(mention))
		b.AllowedMentions.Users = []string{o.ping}
	}
	if o.rows == nil {
		b.Components = []row{}
	}
	var files []file
	for i, m := range o.media {
		f, err := load(ctx, m)
		if err != nil {
			return b, nil, err
		}
		files = append(files, f)
		b.Attachments = append(b.Attachments, attachmentBody{ID: i, Filename: f.name, Description: cut(m.Alt, maxAlt)})
	}
	return b, files, nil
}

// parts splits a message whose files are too many, or too large together, for one. The text and the buttons go
// with the last.
func (o *outgoing) parts() []*outgoing {
	var groups [][]chat.Media
	var size int64
	for _, m := range o.media {
		if last := len(groups) - 1; last >= 0 && len(groups[last]) < maxFiles && size+m.Bytes <= maxRequest {
			groups[last], size = append(groups[last], m), size+m.Bytes
			continue
		}
		groups, size = append(groups, []chat.Media{m}), m.Bytes
	}
	if len(groups) < 2 {
		return []*outgoing{o}
	}
	list := make([]*outgoing, len(groups))
	for i, g := range groups {
		part := *o
		part.media = g
		if i < len(groups)-1 {
			part.text, part.rows = nil, nil
		}
		list[i] = &part
	}
	return list
}

// fill makes a message of the placeholder that the first answer has left. It needs s.mu.
func (a *Adapter) fill(ctx context.Context, s *answering, o *outgoing) (string, error) {
	b, files, err := o.encode(ctx)
	if err != nil {
		return "", err
	}
	id, err := a.sent(ctx, a.webhookCall(s, http.MethodPatch, "@original", b, files))
	if s.noted(err) != nil {
		return "", err
	}
	s.used = true
	s.noteProgress(o, b)
	keep := context.WithoutCancel(ctx)
	if err := a.storage.update(keep, s.ticket); err != nil {
		return "", err
	}
	return id, a.storage.addMessage(keep, id, s.id, true)
}

// followUp sends a further message as an answer to an interaction.
func (a *Adapter) followUp(ctx context.Context, s *answering, o *outgoing) (string, error) {
	b, files, err := o.encode(ctx)
	if err != nil {
		return "", err
	}
	if o.ephemeral {
		b.Flags |= int(discordgo.MessageFlagsEphemeral)
	}
	if o.silent {
		b.Flags |= int(discordgo.MessageFlagsSuppressNotifications)
	}
	id, err := a.sent(ctx, a.webhookCall(s, http.MethodPost, "", b, files))
	if s.noted(err) != nil {
		return "", err
	}
	return id, a.storage.addMessage(context.WithoutCancel(ctx), id, s.id, false)
}

// post sends a message to a channel, with the bot's own rights. Repeating it shows it once: Discord knows it by
// its nonce.
func (a *Adapter) post(ctx context.Context, channelID string, o *outgoing) (string, error) {
	b, files, err := o.encode(ctx)
	if err != nil {
		return "", err
	}
	b.Nonce, b.EnforceNonce = rand.Text()[:24], true
	if reply := cmp.Or(o.meant, o.reply); reply != "" {
		b.Reference = &messageReference{MessageID: reply}
	}
	if o.silent {
		b.Flags |= int(discordgo.MessageFlagsSuppressNotifications)
	}
	return a.sent(ctx, call{
		method: http.MethodPost, path: "/channels/" + channelID + "/messages", route: "/channels/{}/messages", resource: channelID,
		body: b, files: files, droppable: o.droppable, repeatable: true,
	})
}

// sent makes a call that gives a message, and returns its id.
func (a *Adapter) sent(ctx context.Context, q call) (string, error) {
	var m struct {
		ID string `json:"id"`
	}
	if err := a.client.do(ctx, q, &m); err != nil {
		return "", err
	}
	if m.ID == "" {
		return "", &Error{Call: q.name(), Status: http.StatusOK, Message: "the answer names no message", Uncertain: true}
	}
	return m.ID, nil
}

// webhookCall is a call with an interaction's token: to one of its messages, or, with none named, a new one.
func (a *Adapter) webhookCall(s *answering, method, messageID string, b any, files []file) call {
	q := call{
		method: method, path: "/webhooks/" + a.client.app + "/" + s.token, route: "/webhooks/{}/{}", resource: s.id,
		body: b, files: files, apart: true, repeatable: method != http.MethodPost,
	}
	if messageID != "" {
		q.path += "/messages/" + messageID
		q.route += "/messages/{}"
	} else {
		q.query = url.Values{"wait": {"true"}}
	}
	return q
}

// request gives the interaction that a message answers; "" for none.
func request(m chat.Message) string {
	if t := m.Trigger; t != nil {
		if t.Press != nil {
			return t.Press.ID
		}
		if id, _ := parseRequest(t.Message.ID); id != "" {
			return id
		}
	}
	id, _ := parseRequest(m.ReplyTo.ID)
	return id
}

// requestID is the reference of a command: of its interaction and, where it was picked from the menu of a message, of that.
func requestID(interaction, meant string) string {
	if meant == "" {
		return requestPrefix + interaction
	}
	return requestPrefix + interaction + ":" + meant
}

// parseRequest reads what requestID writes; of other references it gives nothing.
func parseRequest(ref string) (interaction, meant string) {
	id, ok := strings.CutPrefix(ref, requestPrefix)
	if !ok {
		return "", ""
	}
	interaction, meant, _ = strings.Cut(id, ":")
	return interaction, meant
}

// tooLargeHere refuses files that no message can carry.
func tooLargeHere(media []chat.Media) error {
	for _, m := range media {
		if m.Bytes > mostUpload {
			return fmt.Errorf("discord: %s has %d bytes, at most %d can be sent: %w", m.FileName, m.Bytes, int64(mostUpload), chat.ErrTooLarge)
		}
	}
	return nil
}
