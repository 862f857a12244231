package discordtest

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The message flags that the server knows.
const (
	flagSuppressEmbeds = 1 << 2
	flagEphemeral      = 1 << 6
	flagLoading        = 1 << 7
	flagSilent         = 1 << 12
	flagComponentsV2   = 1 << 15
)

// message is one message with all that the server remembers of it.
type message struct {
	id          string
	channel     *Channel
	author      *User // nil: the bot
	content     string
	embeds      []any
	components  []any
	attachments []*attachment
	flags       int
	nonce       string
	mentioned   []string // who was really pinged
	allowed     map[string]any
	reference   string
	origin      *Interaction
	seenBy      *User // an ephemeral message's only reader
	edits       int
	edited      time.Time
	deleted     bool
}

func (m *message) loading() bool   { return m.flags&flagLoading != 0 }
func (m *message) ephemeral() bool { return m.flags&flagEphemeral != 0 }

// post files a message of the bot or of a person in its channel. It needs s.mu.
func (s *Server) post(m *message) {
	m.id = s.newID()
	s.messages[m.id] = m
	m.channel.archived = false
	m.channel.messages = append(m.channel.messages, m)
	s.signal()
	if !m.ephemeral() {
		s.messageEvent("MESSAGE_CREATE", m)
	}
}

// wire is the message as the API shows it; content only where the reader may see it.
func (m *message) wire() map[string]any {
	s := m.channel.s
	w := map[string]any{
		"id": m.id, "channel_id": m.channel.id, "type": m.kind(), "content": m.content, "timestamp": iso(timeOf(m.id)), "edited_timestamp": nil,
		"tts": false, "mention_everyone": slices.Contains(m.mentioned, "everyone"), "mentions": s.mentionWires(m), "mention_roles": []any{},
		"attachments": m.attachmentWires(), "embeds": list(m.embeds), "components": list(m.components), "pinned": false, "flags": m.flags,
	}
	if !m.edited.IsZero() {
		w["edited_timestamp"] = iso(m.edited)
	}
	if m.nonce != "" {
		w["nonce"] = m.nonce
	}
	if m.author != nil {
		w["author"] = m.author.wire()
	} else {
		w["author"] = s.botUser()
	}
	if m.reference != "" {
		w["message_reference"] = map[string]any{"type": 0, "message_id": m.reference, "channel_id": m.channel.id}
	}
	if m.origin != nil {
		w["webhook_id"], w["application_id"] = s.ApplicationID, s.ApplicationID
		w["interaction_metadata"] = m.origin.metadata()
	}
	return w
}

// kind is the message's type number: ordinary, a reply, or the answer to a command.
func (m *message) kind() int {
	switch {
	case m.origin != nil && m.origin.Kind == KindCommand && m.origin.original == m:
		return 20
	case m.reference != "":
		return 19
	}
	return 0
}

func (s *Server) mentionWires(m *message) []any {
	out := []any{}
	for _, id := range m.mentioned {
		if u := s.users[id]; u != nil {
			out = append(out, u.wire())
		} else if id == s.BotID() {
			out = append(out, s.botUser())
		}
	}
	return out
}

func list(items []any) []any {
	if items == nil {
		return []any{}
	}
	return items
}

func iso(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000+00:00") }

// draft is what a request wants to make of a message. Absent properties leave it as it is.
type draft struct {
	body map[string]any
	// may are the flags which this way of sending allows; fresh says that nothing was there before.
	may     int
	fresh   bool
	channel *Channel
	flags   int // beforehand
	old     []*attachment
}

// apply validates the body of a request and writes it into the message; nothing is changed when it is
// refused.
func (s *Server) apply(req *request, m *message, d draft) *apiError {
	d.channel, d.flags, d.old = m.channel, m.flags, m.attachments
	files, refused := s.attach(req, &d)
	if refused != nil {
		return refused
	}
	next := *m
	next.attachments = files
	if refused := s.setFlags(req, &next, d); refused != nil {
		return refused
	}
	next.set(d.body)
	if refused := s.checkMessage(req, &next); refused != nil {
		return refused
	}
	next.allowed, _ = d.body["allowed_mentions"].(map[string]any)
	if d.fresh {
		next.mentioned = s.mentions(&next)
	}
	*m = next
	m.components = completed(m.components)
	for _, a := range m.attachments {
		a.message = m
	}
	return nil
}

// set takes over what the body names; null empties.
func (m *message) set(body map[string]any) {
	if v, ok := body["content"]; ok {
		m.content, _ = v.(string)
		m.content = strings.TrimSpace(m.content)
	}
	if v, ok := body["embeds"]; ok {
		m.embeds, _ = copied(v).([]any)
		for _, e := range m.embeds {
			if embed, ok := e.(map[string]any); ok {
				embed["type"] = "rich"
			}
		}
	}
	if v, ok := body["components"]; ok {
		m.components, _ = v.([]any)
	}
}

// setFlags takes over the flags that may be set; the flag of the new components can't be taken back.
func (s *Server) setFlags(req *request, m *message, d draft) *apiError {
	v, ok := d.body["flags"]
	if !ok || v == nil {
		return nil
	}
	want := number(v)
	if odd := want &^ d.may; odd != 0 {
		s.violation("%s %s: flags %d: bits %d have no effect here", req.method, req.route, want, odd)
	}
	if m.flags&flagComponentsV2 != 0 && want&flagComponentsV2 == 0 && !d.fresh {
		return invalid("flags", "MESSAGE_CANNOT_REMOVE_COMPONENTS_V2_FLAG", "The IS_COMPONENTS_V2 flag can't be removed.")
	}
	kept := m.flags & (flagEphemeral | flagLoading)
	m.flags = kept | want&d.may
	return nil
}

// number reads an integer out of a decoded body.
func number(v any) int {
	switch v := v.(type) {
	case json.Number:
		n, _ := v.Int64()
		return int(n)
	case int:
		return v
	}
	return 0
}

var mention = regexp.MustCompile(`<@!?([0-9]+)>|<@&([0-9]+)>|@(everyone|here)`)

// mentions works out who is pinged: what the text names and allowed_mentions permits.
func (s *Server) mentions(m *message) []string {
	var out []string
	for _, hit := range mention.FindAllStringSubmatch(m.content, -1) {
		id, class := hit[1], "users"
		switch {
		case hit[2] != "":
			id, class = hit[2], "roles"
		case hit[3] != "":
			id, class = "everyone", "everyone"
		}
		if m.pings(class, id) && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	if m.reference != "" && m.pingsReplied() {
		if to := s.messages[m.reference]; to != nil && to.author != nil && !slices.Contains(out, to.author.id) {
			out = append(out, to.author.id)
		}
	}
	return out
}

func (m *message) pings(class, id string) bool {
	if m.allowed == nil {
		return true
	}
	parse, _ := m.allowed["parse"].([]any)
	ids, _ := m.allowed[class].([]any)
	return slices.Contains(parse, any(class)) || slices.Contains(ids, any(id))
}

func (m *message) pingsReplied() bool {
	if m.allowed == nil {
		return true
	}
	yes, _ := m.allowed["replied_user"].(bool)
	return yes
}

func (s *Server) createMessage(r *request) (any, *apiError) {
	c, refused := s.writable(r.vars["channel_id"])
	if refused != nil {
		return nil, refused
	}
	body := r.object()
	nonce := text(body["nonce"])
	if first := s.sameNonce(c, nonce); first != nil && body["enforce_nonce"] == true {
		r.useAll()
		return first.wire(), nil
	}
	m := &message{channel: c, nonce: nonce}
	if refused := s.setReference(m, body); refused != nil {
		return nil, refused
	}
	if refused := s.apply(r, m, draft{body: body, may: flagSuppressEmbeds | flagSilent | flagComponentsV2, fresh: true}); refused != nil {
		return nil, refused
	}
	if refused := m.permitted(); refused != nil {
		return nil, refused
	}
	s.post(m)
	return m.wire(), nil
}

// nonceKept is how long a repeated nonce is recognised.
const nonceKept = 3 * time.Minute

func (s *Server) sameNonce(c *Channel, nonce string) *message {
	if nonce == "" {
		return nil
	}
	for _, m := range c.messages {
		if m.nonce == nonce && m.author == nil && s.now().Sub(timeOf(m.id)) < nonceKept {
			return m
		}
	}
	return nil
}

// text reads a string or a number out of a decoded body.
func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}

// permitted checks the rights that depend on what a message holds.
func (m *message) permitted() *apiError {
	rights := m.channel.rights(nil)
	if len(m.attachments) > 0 && !rights.has(AttachFiles) || len(m.embeds) > 0 && !rights.has(EmbedLinks) {
		return refuse(403, codeMissingPermissions, "Missing Permissions")
	}
	if m.reference != "" && !rights.has(ReadMessageHistory) {
		return refuse(403, 160002, "Cannot reply without permission to read message history")
	}
	return nil
}

// setReference resolves the message that is replied to.
func (s *Server) setReference(m *message, body map[string]any) *apiError {
	ref, ok := body["message_reference"].(map[string]any)
	if !ok {
		return nil
	}
	id := text(ref["message_id"])
	to := s.messages[id]
	switch {
	case to != nil && !to.deleted && to.channel == m.channel && !to.ephemeral():
		m.reference = id
	case ref["fail_if_not_exists"] != false:
		return invalid("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
	}
	return nil
}

// ownMessage finds a message in a channel that the bot sees. Ephemeral ones are not found this way.
func (s *Server) ownMessage(r *request) (*message, *apiError) {
	c, refused := s.visible(r.vars["channel_id"])
	if refused != nil {
		return nil, refused
	}
	m := s.messages[r.vars["message_id"]]
	if m == nil || m.deleted || m.channel != c || m.ephemeral() {
		return nil, unknown(codeUnknownMessage, "Message")
	}
	return m, nil
}

func (s *Server) getMessage(r *request) (any, *apiError) {
	m, refused := s.ownMessage(r)
	if refused != nil {
		return nil, refused
	}
	if !m.channel.rights(nil).has(ReadMessageHistory) {
		return nil, refuse(403, codeMissingPermissions, "Missing Permissions")
	}
	return s.scrubbed(m, s.readsContent()), nil
}

func (s *Server) listMessages(r *request) (any, *apiError) {
	c, refused := s.visible(r.vars["channel_id"])
	if refused != nil {
		return nil, refused
	}
	limit, err := strconv.Atoi(r.query.Get("limit"))
	if err != nil {
		limit = 50
	}
	out := []any{}
	for _, m := range slices.Backward(c.messages) {
		if !m.deleted && !m.ephemeral() && len(out) < limit {
			out = append(out, s.scrubbed(m, s.readsContent()))
		}
	}
	return out, nil
}

func (s *Server) editMessage(r *request) (any, *apiError) {
	m, refused := s.ownMessage(r)
	if refused != nil {
		return nil, refused
	}
	switch {
	case m.author != nil:
		return nil, refuse(403, codeForeignAuthor, "Cannot edit a message authored by another user")
	case m.channel.locked:
		return nil, refuse(400, codeThreadLocked, "Thread is locked")
	case m.channel.archived:
		return nil, refuse(400, codeArchivedThread, "Thread is archived")
	case s.opts.RateLimits && s.now().Sub(timeOf(m.id)) > time.Hour && m.edits >= 3 && s.now().Sub(m.edited) < 10*time.Second:
		return nil, refuse(429, codeOldEdits, "Maximum number of edits to messages older than 1 hour reached. Try again later")
	}
	return s.change(r, m, flagSuppressEmbeds|flagComponentsV2)
}

// change edits a message as a request says and tells the gateway.
func (s *Server) change(r *request, m *message, may int) (any, *apiError) {
	if refused := s.apply(r, m, draft{body: r.object(), may: may}); refused != nil {
		return nil, refused
	}
	m.flags &^= flagLoading
	s.touched(m)
	return m.wire(), nil
}

// touched marks a message as edited.
func (s *Server) touched(m *message) {
	m.edits++
	m.edited = s.now()
	s.signal()
	if !m.ephemeral() {
		s.messageEvent("MESSAGE_UPDATE", m)
	}
}

func (s *Server) deleteMessage(r *request) (any, *apiError) {
	m, refused := s.ownMessage(r)
	if refused != nil {
		return nil, refused
	}
	if m.author != nil && !m.channel.rights(nil).has(ManageMessages) {
		return nil, refuse(403, codeMissingPermissions, "Missing Permissions")
	}
	s.remove(m)
	return nil, nil
}

func (s *Server) remove(m *message) {
	m.deleted = true
	s.signal()
	if m.ephemeral() {
		return
	}
	event := map[string]any{"id": m.id, "channel_id": m.channel.id}
	s.placeEvent(m.channel, "MESSAGE_DELETE", intentMessages, intentDirectMessages, event)
}

func (s *Server) startThread(r *request) (any, *apiError) {
	m, refused := s.ownMessage(r)
	if refused != nil {
		return nil, refused
	}
	if !m.channel.rights(nil).has(CreatePublicThreads) || m.channel.guild == nil {
		return nil, refuse(403, codeMissingPermissions, "Missing Permissions")
	}
	c := &Channel{s: s, id: m.id, name: text(r.object()["name"]), guild: m.channel.guild, parent: m.channel}
	c.guild.channels = append(c.guild.channels, c)
	s.channels[c.id] = c
	s.signal()
	return c.wire(), nil
}

// scrubbed is the message as the bot sees it. Without the privileged intent, content shows only in own
// messages, direct messages and those that mention the bot.
func (s *Server) scrubbed(m *message, content bool) map[string]any {
	w := m.wire()
	if content || m.author == nil || m.channel.guild == nil || slices.Contains(m.mentioned, s.BotID()) {
		return w
	}
	w["content"] = ""
	for _, key := range []string{"embeds", "attachments", "components"} {
		w[key] = []any{}
	}
	return w
}

// readsContent reports whether the application may read what people write.
func (s *Server) readsContent() bool { return s.opts.Intents&MessageContent != 0 }

// useAll marks all uploaded parts as used.
func (r *request) useAll() {
	for part := range r.files {
		r.used[part] = true
	}
}
