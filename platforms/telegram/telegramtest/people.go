package telegramtest

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// User is a person the test plays. Its methods act at once, as a person's app would; what the app would
// not allow (pressing a button that is not there) ends the test.
type User struct {
	s           *Server
	id          int64
	name        string
	username    string
	language    string
	private     *Chat
	deactivated bool
}

// User makes a person with a name, speaking English.
func (s *Server) User(name string) *User {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := 500_000_000 + s.nextSeq()
	u := &User{s: s, id: id, name: name, username: strings.ToLower(name) + "_tg", language: "en"}
	s.users[id] = u
	u.private = s.newChat("private", id, name)
	u.private.owner = u
	u.private.members[id] = "member"
	return u
}

// Speaks sets the language of the person's app, a two-letter code.
func (u *User) Speaks(code string) *User {
	u.s.mu.Lock()
	defer u.s.mu.Unlock()
	u.language = code
	return u
}

// ID returns the person's identifier.
func (u *User) ID() int64 { return u.id }

// Name returns the first name.
func (u *User) Name() string { return u.name }

// Private returns the person's chat with the bot. Until the person writes first, the bot cannot.
func (u *User) Private() *Chat { return u.private }

func (u *User) wire() wUser {
	return wUser{ID: u.id, FirstName: u.name, Username: u.username, LanguageCode: u.language}
}

// newChat needs s.mu.
func (s *Server) newChat(kind string, id int64, title string) *Chat {
	c := &Chat{
		s: s, id: id, kind: kind, title: title, members: map[int64]string{}, botStatus: "member",
		topics: map[int]string{}, forbidden: map[string]bool{}, nextID: 1, // 1 is the general topic
	}
	if kind == "private" {
		c.title = ""
	}
	s.chats[id] = c
	return c
}

// Group makes a group of the members and the bot.
func (s *Server) Group(title string, members ...*User) *Chat {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.filled(s.newChat("group", -4_000_000_000-s.nextSeq(), title), members)
}

// Supergroup makes a supergroup of the members and the bot; AddTopic makes it a forum.
func (s *Server) Supergroup(title string, members ...*User) *Chat {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.filled(s.newChat("supergroup", -1_000_000_000_000-s.nextSeq(), title), members)
}

func (s *Server) filled(c *Chat, members []*User) *Chat {
	c.started = true
	for _, u := range members {
		c.members[u.id] = "member"
	}
	return c
}

// Attachment is a file a person sends.
type Attachment struct {
	// Kind is photo, video, animation, audio, voice or document.
	Kind  string
	Name  string
	Bytes []byte
}

// Photo makes an attachment shown as picture.
func Photo(data []byte) Attachment { return Attachment{Kind: "photo", Name: "photo.jpg", Bytes: data} }

// Document makes an attachment sent as a file.
func Document(name string, data []byte) Attachment {
	return Attachment{Kind: "document", Name: name, Bytes: data}
}

// Post is all a person can put into one message; the plain methods fill the parts mostly used.
type Post struct {
	Text string // or caption
	// Files has one attachment, or several for an album; the text stands at the first.
	Files []Attachment
	// ReplyTo is answered; from another chat it becomes an external reply. Quote is the part quoted.
	ReplyTo *Message
	Quote   string
	// Thread is the forum topic.
	Thread int
	// AsChat sends in the name of the group, as anonymous administrators do.
	AsChat bool
}

// Send writes a text.
func (u *User) Send(c *Chat, text string) Message { return u.Post(c, Post{Text: text})[0] }

// SendPhoto sends a picture with a caption, which may be empty.
func (u *User) SendPhoto(c *Chat, data []byte, caption string) Message {
	return u.Post(c, Post{Text: caption, Files: []Attachment{Photo(data)}})[0]
}

// SendDocument sends a file with a caption, which may be empty.
func (u *User) SendDocument(c *Chat, name string, data []byte, caption string) Message {
	return u.Post(c, Post{Text: caption, Files: []Attachment{Document(name, data)}})[0]
}

// SendAlbum sends several pictures as one album; the caption stands at the first.
func (u *User) SendAlbum(c *Chat, caption string, pictures ...[]byte) []Message {
	p := Post{Text: caption}
	for _, data := range pictures {
		p.Files = append(p.Files, Photo(data))
	}
	return u.Post(c, p)
}

// Reply answers a message in its chat and topic.
func (u *User) Reply(to Message, text string) Message {
	return u.Post(to.Chat, Post{Text: text, ReplyTo: &to, Thread: to.ThreadID})[0]
}

// Start opens the private chat with the bot by its Start button, with a deep link's parameter or none.
func (u *User) Start(parameter string) Message {
	return u.Send(u.private, strings.TrimSpace("/start "+parameter))
}

// Post sends a message, or an album when there are several files, and returns what was sent.
func (u *User) Post(c *Chat, p Post) []Message {
	u.s.t.Helper()
	u.s.mu.Lock()
	defer u.s.mu.Unlock()
	if c.members[u.id] == "" {
		u.s.t.Fatalf("telegramtest: %s is not in %s", u.name, c)
	}
	u.open(c)
	group := ""
	if len(p.Files) > 1 {
		group = fmt.Sprint(13_000_000_000 + u.s.nextSeq())
	}
	var sent []*message
	for i := range max(1, len(p.Files)) {
		m := u.compose(c, p, group)
		if len(p.Files) > 0 {
			a := p.Files[i]
			m.media = u.s.newFile(a.Kind, a.Name, a.Bytes)
			u.s.addSmallSize(m.media)
		}
		if i > 0 {
			m.text, m.entities = "", nil
		}
		sent = append(sent, c.add(m))
	}
	var out []Message
	for _, m := range sent {
		if c.botSees(m) {
			w := m.wire(true)
			if p.AsChat {
				chat := c.wire()
				w.SenderChat, w.From = &chat, &wUser{ID: 1087968824, IsBot: true, FirstName: "Group", Username: "GroupAnonymousBot"}
			}
			u.s.enqueue("message", w)
		}
		out = append(out, m.snapshot())
	}
	return out
}

// open marks a private chat as started; writing to a blocked bot unblocks it.
func (u *User) open(c *Chat) {
	if c.kind != "private" {
		return
	}
	c.started = true
	if c.botStatus == "kicked" {
		c.changeBotStatus(u, "member")
	}
}

func (u *User) compose(c *Chat, p Post, group string) *message {
	f, err := parseText(p.Text, "", nil)
	if err != nil {
		u.s.t.Fatalf("telegramtest: %s cannot send %q: %v", u.name, p.Text, err)
	}
	m := &message{from: u, text: f.text, entities: f.entities, thread: p.Thread, album: group, quote: p.Quote}
	if p.ReplyTo == nil {
		return m
	}
	to := p.ReplyTo.Chat.find(p.ReplyTo.ID)
	switch {
	case to == nil:
		u.s.t.Fatalf("telegramtest: %s replies to #%d, which is gone", u.name, p.ReplyTo.ID)
	case to.chat != c:
		m.external = to
	default:
		m.replyTo = to
	}
	return m
}

// addSmallSize gives a picture the smaller size that photos come with, before the original.
func (s *Server) addSmallSize(f *file) {
	if f.kind != "photo" || f.width < 2 || f.height < 2 {
		return
	}
	f.small = s.newFile("photo", "small.jpg", f.data)
	f.small.width, f.small.height = f.width/2, f.height/2
}

// Edit changes the person's own message; the bot gets edited_message.
func (u *User) Edit(m Message, text string) Message {
	u.s.t.Helper()
	u.s.mu.Lock()
	defer u.s.mu.Unlock()
	own := m.Chat.find(m.ID)
	if own == nil || own.from != u {
		u.s.t.Fatalf("telegramtest: %s cannot edit %s", u.name, m)
	}
	f, err := parseText(text, "", nil)
	if err != nil {
		u.s.t.Fatalf("telegramtest: %s cannot write %q: %v", u.name, text, err)
	}
	own.text, own.entities, own.edited = f.text, f.entities, u.s.now()
	own.edits++
	if m.Chat.botSees(own) {
		u.s.enqueue("edited_message", own.wire(true))
	}
	u.s.signal()
	return own.snapshot()
}

// Delete removes a message; bots are not told.
func (u *User) Delete(m Message) {
	u.s.mu.Lock()
	defer u.s.mu.Unlock()
	if own := m.Chat.find(m.ID); own != nil {
		u.s.remove(own)
	}
}

// Block stops the bot; it is told by my_chat_member and refused from then on.
func (u *User) Block() { u.private.SetBotStatus(u, "kicked") }

// Unblock lets the bot write again.
func (u *User) Unblock() { u.private.SetBotStatus(u, "member") }

// Deactivate deletes the person's account.
func (u *User) Deactivate() {
	u.s.mu.Lock()
	defer u.s.mu.Unlock()
	u.deactivated = true
}

// Press is a button press and what the bot answered to it. Read it through Answer.
type Press struct {
	s        *Server
	id       string
	at       time.Time
	answered bool
	answer   CallbackAnswer
}

// CallbackAnswer is what a person sees after pressing a button.
type CallbackAnswer struct {
	Text  string
	Alert bool
	URL   string
}

const callbackAge = 15 * time.Second

// Press presses the button with that text (or part of it) or callback data on the message as it is now.
func (u *User) Press(m Message, label string) *Press {
	u.s.t.Helper()
	u.s.mu.Lock()
	defer u.s.mu.Unlock()
	now := m.Chat.find(m.ID)
	if now == nil {
		u.s.t.Fatalf("telegramtest: %s presses %q on #%d, which is gone", u.name, label, m.ID)
	}
	b, ok := now.snapshot().Button(label)
	if !ok || b.CallbackData == "" {
		u.s.t.Fatalf("telegramtest: %s finds no button %q to press on %s", u.name, label, now.snapshot())
	}
	return u.press(m.Chat, m.ID, b.CallbackData)
}

// PressStale presses a button as an app that has not yet seen the latest edit, or the deletion, of the
// message: the button must have been on m when it was taken.
func (u *User) PressStale(m Message, label string) *Press {
	u.s.t.Helper()
	u.s.mu.Lock()
	defer u.s.mu.Unlock()
	b, ok := m.Button(label)
	if !ok || b.CallbackData == "" {
		u.s.t.Fatalf("telegramtest: %s finds no button %q on the old %s", u.name, label, m)
	}
	return u.press(m.Chat, m.ID, b.CallbackData)
}

// PressData sends callback data that was never on a button, as a tampered app can.
func (u *User) PressData(m Message, data string) *Press {
	u.s.mu.Lock()
	defer u.s.mu.Unlock()
	return u.press(m.Chat, m.ID, data)
}

func (u *User) press(c *Chat, id int, data string) *Press {
	p := &Press{s: u.s, id: fmt.Sprint(7_000_000_000_000 + u.s.nextSeq()), at: u.s.now()}
	u.s.callbacks[p.id] = p
	var shown any = wInaccessible{Chat: c.wire(), MessageID: id}
	if m := c.find(id); m != nil {
		shown = m.wire(true)
	}
	press := wCallback{ID: p.id, From: u.wire(), Message: shown, ChatInstance: fmt.Sprint(9_000_000_000 - c.id), Data: data}
	if m := c.find(id); m != nil && m.inlineID != "" {
		press.Message, press.InlineID = nil, m.inlineID
	}
	u.s.enqueue("callback_query", press)
	return p
}

// answerCallbackQuery takes one answer for each press, while it is fresh.
func (s *Server) answerCallbackQuery(req *request) (any, *apiError) {
	p, ok := s.callbacks[req.params["callback_query_id"]]
	if !ok || p.answered || s.now().Sub(p.at) > callbackAge {
		return nil, badRequest("query is too old and response timeout expired or query ID is invalid")
	}
	p.answered = true
	p.answer = CallbackAnswer{Text: req.params["text"], Alert: req.bool("show_alert"), URL: req.params["url"]}
	s.signal()
	return true, nil
}

// React puts the person's emoji on a message; bots that asked for message_reaction are told.
func (u *User) React(m Message, emoji string) {
	u.s.mu.Lock()
	defer u.s.mu.Unlock()
	u.s.enqueue("message_reaction", map[string]any{
		"chat": m.Chat.wire(), "message_id": m.ID, "user": u.wire(), "date": u.s.now().Unix(),
		"old_reaction": []any{}, "new_reaction": []any{map[string]string{"type": "emoji", "emoji": emoji}},
	})
}

// Leave takes the person out of a group; the bot sees the service message.
func (u *User) Leave(c *Chat) {
	u.s.mu.Lock()
	defer u.s.mu.Unlock()
	delete(c.members, u.id)
	w := c.add(&message{from: u}).wire(false)
	left := u.wire()
	w.LeftChatMember = &left
	u.s.enqueue("message", w)
}

// Join brings the person into a group; the bot sees the service message.
func (u *User) Join(c *Chat) {
	u.s.mu.Lock()
	defer u.s.mu.Unlock()
	c.members[u.id] = "member"
	w := c.add(&message{from: u}).wire(false)
	w.NewChatMembers = []wUser{u.wire()}
	u.s.enqueue("message", w)
}

// Members returns who is in the chat besides the bot, by name.
func (c *Chat) Members() []string {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	var names []string
	for id := range c.members {
		names = append(names, c.s.users[id].name)
	}
	slices.Sort(names)
	return names
}
