package telegramtest

import (
	"fmt"
	"slices"
	"strings"
)

// Chat is a conversation: private, group or supergroup. Its methods play what happens to it from
// outside the bot; they may be called from any goroutine.
type Chat struct {
	s *Server

	// All below is guarded by s.mu.
	id         int64
	kind       string
	title      string
	forum      bool
	owner      *User // of a private chat
	members    map[int64]string
	botStatus  string // member, administrator, left, kicked
	otherBot   bool   // another bot wrote last
	started    bool   // a private chat the user has opened
	topics     map[int]string
	forbidden  map[string]bool
	migratedTo int64
	messages   []*message
	nextID     int
	actions    []string
	flood      flood
}

// ID returns the chat's identifier: positive for private chats, negative for groups.
func (c *Chat) ID() int64 {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return c.id
}

// AddTopic turns the chat into a forum if it is none and returns the thread id of a new topic.
func (c *Chat) AddTopic(name string) int {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.forum = true
	c.nextID++
	c.topics[c.nextID] = name
	return c.nextID
}

// CloseTopic removes a topic; messages into it are refused from now on.
func (c *Chat) CloseTopic(thread int) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	delete(c.topics, thread)
}

// Forbid takes a right from the members, the bot included: "text messages", "photos", "videos",
// "documents", "audios" or "voice notes".
func (c *Chat) Forbid(what string) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.forbidden[what] = true
}

// OtherBotWrites notes that another bot wrote last: plain commands no longer reach ours.
func (c *Chat) OtherBotWrites() {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.otherBot = true
}

// SetBotStatus changes the bot's place in the chat: member, administrator, left or kicked. The bot is
// told by my_chat_member.
func (c *Chat) SetBotStatus(by *User, status string) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.changeBotStatus(by, status)
}

// SetAdmin makes a member an administrator.
func (c *Chat) SetAdmin(u *User) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.members[u.id] = "administrator"
}

// changeBotStatus needs s.mu.
func (c *Chat) changeBotStatus(by *User, status string) {
	old := c.botStatus
	c.botStatus = status
	c.s.enqueue("my_chat_member", wMemberUpdate{
		Chat: c.wire(), From: by.wire(), Date: c.s.now().Unix(), Old: c.s.member(old), New: c.s.member(status),
	})
}

// member is the bot's own entry.
func (s *Server) member(status string) wMember { return memberOf(status, s.me()) }

// Migrate turns a group into a supergroup, as Telegram does when it grows, and returns the new chat: the bot comes to that, and is not told
// that it left the old one. Requests to the old one are refused with the new identifier.
func (c *Chat) Migrate() *Chat {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	now := c.s.newChat("supergroup", -1_000_000_000_000-c.s.nextSeq(), c.title)
	now.members, now.botStatus, now.started = c.members, c.botStatus, true
	c.migratedTo = now.id
	service := func(chat *Chat, fill func(*wMessage)) {
		m := chat.add(&message{from: chat.anyMember()})
		w := m.wire(true)
		fill(&w)
		c.s.enqueue("message", w)
	}
	c.s.enqueue("my_chat_member", wMemberUpdate{
		Chat: now.wire(), From: c.anyMember().wire(), Date: c.s.now().Unix(), Old: c.s.member("left"), New: c.s.member(now.botStatus),
	})
	service(c, func(w *wMessage) { w.MigrateToChatID = now.id })
	service(now, func(w *wMessage) { w.MigrateFromChatID = c.id })
	return now
}

func (c *Chat) anyMember() *User {
	for id := range c.members {
		return c.s.users[id]
	}
	return nil
}

func (c *Chat) wire() wChat {
	w := wChat{ID: c.id, Type: c.kind, Title: c.title, IsForum: c.forum && c.kind == "supergroup"}
	if c.owner != nil {
		w.FirstName, w.Username = c.owner.name, c.owner.username
	}
	return w
}

// add gives the message its number and time and keeps it.
func (c *Chat) add(m *message) *message {
	c.nextID++
	m.id, m.chat, m.date = c.nextID, c, c.s.now()
	c.messages = append(c.messages, m)
	c.s.signal()
	return m
}

// find returns a message that is still there.
func (c *Chat) find(id int) *message {
	i := slices.IndexFunc(c.messages, func(m *message) bool { return m.id == id && !m.deleted })
	if i < 0 {
		return nil
	}
	return c.messages[i]
}

// access tells why the bot may not write to the chat.
func (c *Chat) access() *apiError {
	group := c.kind
	switch {
	case c.migratedTo != 0:
		return &apiError{code: 400, description: "Bad Request: group chat was upgraded to a supergroup chat", migrateTo: c.migratedTo}
	case c.kind == "private" && c.owner.deactivated:
		return forbidden("user is deactivated")
	case c.kind == "private" && c.botStatus == "kicked":
		return forbidden("bot was blocked by the user")
	case c.kind == "private" && !c.started:
		return forbidden("bot can't initiate conversation with a user")
	case c.botStatus == "kicked":
		return forbidden("bot was kicked from the " + group + " chat")
	case c.botStatus == "left":
		return forbidden("bot is not a member of the " + group + " chat")
	}
	return nil
}

// thread checks a message_thread_id; the general topic has none.
func (c *Chat) thread(id int) *apiError {
	if id == 0 {
		return nil
	}
	if _, ok := c.topics[id]; !ok {
		return badRequest("message thread not found")
	}
	return nil
}

// may checks a right that Forbid can take away.
func (c *Chat) may(what string) *apiError {
	if c.forbidden[what] && c.botStatus != "administrator" {
		return badRequest("not enough rights to send %s to the chat", what)
	}
	return nil
}

// botSees applies privacy mode to a message of a person.
func (c *Chat) botSees(m *message) bool {
	if c.botStatus == "left" || c.botStatus == "kicked" {
		return false
	}
	if c.kind == "private" || c.botStatus == "administrator" || c.s.opts.NoPrivacy {
		return true
	}
	if m.replyTo != nil && m.replyTo.from == nil {
		return true
	}
	text, entities := m.text, m.entities
	if len(entities) == 0 || entities[0].Type != "bot_command" || entities[0].Offset != 0 {
		return false
	}
	command, _ := utf16Slice(text, 0, entities[0].Length)
	name, target := cutCommand(command)
	if target != "" {
		return strings.EqualFold(target, c.s.opts.BotUsername)
	}
	return name != "" && !c.otherBot
}

// String names the chat, for failure reports.
func (c *Chat) String() string { return fmt.Sprintf("%s %q (%d)", c.kind, c.title, c.id) }
