package telegram

import (
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/chattest"
	"github.com/signalbox/signalbox/platforms/telegram/botapi"
	"github.com/signalbox/signalbox/platforms/telegram/telegramtest"
)

// fastLimits let tests run faster than people type.
func fastLimits() botapi.Limits {
	return botapi.Limits{Global: 4000, Chat: 1000, ChatBurst: 1000, Group: 40_000}
}

// harness is a telegramtest server as the conformance suite wants its platforms.
type harness struct {
	server *telegramtest.Server
	pool   *pgxpool.Pool

	mu     sync.Mutex
	people map[string]*telegramtest.User
	rooms  map[string]*telegramtest.Chat
	topics map[string]int // room and the suite's name of the topic -> thread
}

var (
	_ chattest.Harness   = (*harness)(nil)
	_ chattest.Promoter  = (*harness)(nil)
	_ chattest.Forwarder = (*harness)(nil)
	_ chattest.Localizer = (*harness)(nil)
)

func newHarness(t testing.TB) *harness {
	t.Helper()
	return &harness{
		server: telegramtest.New(t, telegramtest.Options{}), pool: postgrestest.NewSized(t, 4),
		people: map[string]*telegramtest.User{}, rooms: map[string]*telegramtest.Chat{}, topics: map[string]int{},
	}
}

func (h *harness) adapter(t testing.TB) *Adapter {
	t.Helper()
	client, err := botapi.NewClient(botapi.Config{Token: h.server.Token, BaseURL: h.server.URL})
	if err != nil {
		t.Fatal(err)
	}
	a, err := NewAdapter(t.Context(), AdapterConfig{Client: client, Pool: h.pool, Logger: slog.New(slog.DiscardHandler), Limits: fastLimits()})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func (h *harness) Connect(t testing.TB) chattest.Connection {
	a := h.adapter(t)
	return chattest.Connection{Adapter: a, Run: a.Run}
}

// user needs h.mu.
func (h *harness) user(p chattest.Person) *telegramtest.User {
	u, ok := h.people[p.ID]
	if !ok {
		u = h.server.User(p.Name).Speaks(p.Language)
		h.people[p.ID] = u
		for _, room := range h.rooms {
			if room.ID() < 0 {
				u.Join(room)
			}
		}
	}
	return u
}

func (h *harness) room(c *telegramtest.Chat, kind chat.ChatKind) chattest.Room {
	id := strconv.FormatInt(c.ID(), 10)
	h.rooms[id] = c
	return chattest.Room{ID: id, Kind: kind}
}

func (h *harness) Private(p chattest.Person) chattest.Room {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.room(h.user(p).Private(), chat.ChatPrivate)
}

func (h *harness) Group(title string) chattest.Room {
	h.mu.Lock()
	defer h.mu.Unlock()
	var members []*telegramtest.User
	for _, u := range h.people {
		members = append(members, u)
	}
	return h.room(h.server.Supergroup(title, members...), chat.ChatGroup)
}

// thread gives the topic of a room, which is made at its first use.
func (h *harness) thread(in chattest.Room) int {
	if in.Topic == "" {
		return 0
	}
	key := in.ID + "/" + in.Topic
	if h.topics[key] == 0 {
		h.topics[key] = h.rooms[in.ID].AddTopic(in.Topic)
	}
	return h.topics[key]
}

func (h *harness) message(t testing.TB, in chattest.Room, id string) telegramtest.Message {
	t.Helper()
	n, _ := strconv.Atoi(id)
	for _, m := range h.server.History(h.rooms[in.ID]) {
		if m.ID == n {
			return m
		}
	}
	t.Fatalf("there is no message %s in %s", id, h.server.Transcript(h.rooms[in.ID]))
	return telegramtest.Message{}
}

func (h *harness) Post(t testing.TB, p chattest.Post) string {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	post := telegramtest.Post{Text: p.Text, Thread: h.thread(p.In)}
	for _, f := range p.Files {
		post.Files = append(post.Files, telegramtest.Attachment{Kind: string(f.Kind), Name: f.Name, Bytes: f.Data})
	}
	if p.ReplyTo != "" {
		to := h.message(t, p.In, p.ReplyTo)
		post.ReplyTo = &to
	}
	return strconv.Itoa(h.user(p.From).Post(h.rooms[p.In.ID], post)[0].ID)
}

func (h *harness) Press(t testing.TB, by chattest.Person, in chattest.Room, messageID, label string) chat.PressAnswer {
	t.Helper()
	h.mu.Lock()
	u, m := h.user(by), h.message(t, in, messageID)
	h.mu.Unlock()
	return answerOf(t, u.Press(m, label))
}

func (h *harness) PressData(t testing.TB, by chattest.Person, in chattest.Room, messageID, data string) chat.PressAnswer {
	t.Helper()
	h.mu.Lock()
	u, m := h.user(by), h.message(t, in, messageID)
	h.mu.Unlock()
	return answerOf(t, u.PressData(m, data))
}

func answerOf(t testing.TB, p *telegramtest.Press) chat.PressAnswer {
	t.Helper()
	a := p.Answer(t.Context())
	return chat.PressAnswer{Text: a.Text, Alert: a.Alert}
}

func (h *harness) Repeat(testing.TB) { h.server.RepeatLast() }

func (h *harness) Pending() int { return h.server.PendingUpdates() }

func (h *harness) Messages(_ testing.TB, in chattest.Room) []chattest.Seen {
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []chattest.Seen
	for _, m := range h.server.History(h.rooms[in.ID]) {
		if m.From == nil {
			list = append(list, h.seen(in, m))
		}
	}
	return list
}

func (h *harness) seen(in chattest.Room, m telegramtest.Message) chattest.Seen {
	s := chattest.Seen{ID: strconv.Itoa(m.ID), Text: m.Text, Asks: m.ForceReply}
	if m.ReplyTo != 0 {
		s.ReplyTo = strconv.Itoa(m.ReplyTo)
	}
	for key, thread := range h.topics {
		if room, topic, _ := strings.Cut(key, "/"); room == in.ID && m.ThreadID == thread {
			s.Topic = topic
		}
	}
	if f := m.Media; f != nil {
		s.Media = &chattest.File{
			Kind: chat.MediaKind(f.Kind), Name: f.Name, MIMEType: f.MIME, Data: f.Bytes, Width: f.Width, Height: f.Height,
		}
		s.Spoiler = f.Spoiler
	}
	for _, row := range m.Keyboard {
		var labels []string
		for _, b := range row {
			labels = append(labels, b.Text)
		}
		s.Buttons = append(s.Buttons, labels)
	}
	return s
}

// Notices tells of the messages there are, and of the edits and deletions the bot asked for.
func (h *harness) Notices(_ testing.TB, in chattest.Room) []chattest.Notice {
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []chattest.Notice
	for _, m := range h.server.History(h.rooms[in.ID]) {
		if m.From == nil {
			list = append(list, chattest.Notice{MessageID: strconv.Itoa(m.ID), Kind: "sent", At: m.Date})
		}
	}
	for _, c := range h.server.Calls("") {
		kind := map[bool]string{true: "edited", false: "deleted"}[strings.HasPrefix(c.Method, "edit")]
		if c.Code == 200 && c.Params["chat_id"] == in.ID && (kind == "edited" || c.Method == "deleteMessage") {
			list = append(list, chattest.Notice{MessageID: c.Params["message_id"], Kind: kind, At: c.At})
		}
	}
	return list
}

func (h *harness) Commands(_ testing.TB, kind chat.ChatKind) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	reader := h.user(chattest.Person{ID: "1", Name: "Reader", Language: "tlh"}) // of a language without a list
	in := reader.Private()
	if kind == chat.ChatGroup {
		in = h.server.Group("Readers", reader)
	}
	var names []string
	for _, c := range reader.Menu(in) {
		names = append(names, c.Command)
	}
	return names
}

// Promote makes somebody an admin of a group.
func (h *harness) Promote(_ testing.TB, p chattest.Person, in chattest.Room) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.rooms[in.ID].SetAdmin(h.user(p))
}

func (h *harness) Expel(_ testing.TB, by chattest.Person, in chattest.Room) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.rooms[in.ID].SetBotStatus(h.user(by), "kicked")
}

// Description gives a command's description in the menu of somebody who speaks a language.
func (h *harness) Description(_ testing.TB, _ chat.ChatKind, name, language string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	reader := h.user(chattest.Person{ID: "reader-" + language, Name: "Reader", Language: language})
	for _, c := range reader.Menu(reader.Private()) {
		if c.Command == name {
			return c.Description
		}
	}
	return ""
}

func (h *harness) Block(_ testing.TB, p chattest.Person) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.user(p).Block()
}

func (h *harness) Unblock(_ testing.TB, p chattest.Person) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.user(p).Unblock()
}

func (h *harness) DeleteMessage(t testing.TB, in chattest.Room, messageID string) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, u := range h.people {
		u.Delete(h.message(t, in, messageID))
		return
	}
}

func (h *harness) Refuse(n int, d time.Duration) {
	h.server.Inject(telegramtest.RateLimit(d).Repeat(n))
}

func TestSuite(t *testing.T) {
	t.Parallel()
	chattest.Suite(t, func(t testing.TB) chattest.Harness { return newHarness(t) })
}
