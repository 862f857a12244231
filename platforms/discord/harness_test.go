package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/clock"
	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/chattest"
	"github.com/signalbox/signalbox/platforms/discord/discordtest"
)

// harness is a discordtest server as the conformance suite wants its platforms.
type harness struct {
	clock     clock.Clock // of Discord and the adapter
	server    *discordtest.Server
	pool      *pgxpool.Pool
	transport *http.Transport

	mu      sync.Mutex
	people  map[string]*discordtest.User
	guilds  []*discordtest.Guild
	rooms   map[string]*discordtest.Channel
	owners  map[string]*discordtest.User    // of private rooms
	topics  map[string]*discordtest.Channel // room and the suite's name of the topic -> thread
	sent    map[string]discordtest.Message  // what people wrote
	last    func()
	pending map[string]int            // updates that the program has not taken, by id
	before  map[string]int            // sessions of earlier connections, with the number of these
	kinds   map[string]chat.MediaKind // of what the adapter was asked to send, by message
	pressed map[string]chan struct{}  // by interaction, closed once the press was answered
	late    map[string]bool           // interactions for which a dialog came too late
	blocked map[string]bool           // channels
	opened  map[string]discordtest.Modal
	notices map[string][]chattest.Notice
}

var (
	_ chattest.Harness     = (*harness)(nil)
	_ chattest.Commander   = (*harness)(nil)
	_ chattest.PeopleMenu  = (*harness)(nil)
	_ chattest.MessageMenu = (*harness)(nil)
	_ chattest.Chooser     = (*harness)(nil)
	_ chattest.FormFiller  = (*harness)(nil)
	_ chattest.Localizer   = (*harness)(nil)
	_ chattest.Promoter    = (*harness)(nil)
	_ chattest.Mentioner   = (*harness)(nil)
	_ chattest.Forwarder   = (*harness)(nil)
)

func newHarness(t testing.TB, opts ...discordtest.Options) *harness {
	t.Helper()
	opts = append(opts, discordtest.Options{})
	if opts[0].Clock == nil {
		opts[0].Clock = unhurried{time.Now()}
	}
	h := &harness{
		clock:  opts[0].Clock,
		server: discordtest.New(t, opts[0]), pool: postgrestest.NewSized(t, 4), transport: &http.Transport{},
		people: map[string]*discordtest.User{}, rooms: map[string]*discordtest.Channel{}, owners: map[string]*discordtest.User{},
		topics: map[string]*discordtest.Channel{}, sent: map[string]discordtest.Message{}, kinds: map[string]chat.MediaKind{},
		pressed: map[string]chan struct{}{}, blocked: map[string]bool{}, opened: map[string]discordtest.Modal{}, notices: map[string][]chattest.Notice{},
		before: map[string]int{}, pending: map[string]int{}, late: map[string]bool{},
	}
	t.Cleanup(h.transport.CloseIdleConnections)
	return h
}

// unhurried is a clock on which one second passes in ten: Discord and the adapter agree on it, so that what has to be answered within three
// seconds is not late where a machine has much else to do.
type unhurried struct{ start time.Time }

const hurried = 10

func (c unhurried) Now() time.Time { return c.start.Add(time.Since(c.start) / hurried) }

func (c unhurried) After(d time.Duration) <-chan time.Time {
	rings := make(chan time.Time, 1)
	time.AfterFunc(hurried*d, func() { rings <- c.Now() })
	return rings
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func (h *harness) adapter(t testing.TB, change ...func(*AdapterConfig)) *Adapter {
	t.Helper()
	client, err := NewClient(Config{Token: h.server.Token, AppID: h.server.ApplicationID, BaseURL: h.server.URL, Transport: blocker{h}, Clock: h.clock})
	if err != nil {
		t.Fatal(err)
	}
	cfg := AdapterConfig{Client: client, Pool: h.pool, Logger: quiet(), Clock: h.clock, PublicKey: h.server.PublicKey, Jitter: func() float64 { return 0 },
		Elsewhere: func(locale string) string { return "The result will be on the page (" + locale + ")." },
	}
	for _, c := range change {
		c(&cfg)
	}
	a, err := NewAdapter(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// blocker refuses what goes to people who have blocked the bot.
type blocker struct{ h *harness }

func (b blocker) RoundTrip(r *http.Request) (*http.Response, error) {
	b.h.mu.Lock()
	refused := false
	for id := range b.h.blocked {
		refused = refused || strings.Contains(r.URL.Path, "/channels/"+id+"/")
	}
	b.h.mu.Unlock()
	if !refused {
		return b.h.transport.RoundTrip(r)
	}
	body := `{"code":50007,"message":"Cannot send messages to this user"}`
	return &http.Response{
		StatusCode: http.StatusForbidden, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: r,
	}, nil
}

// watched notes what the suite wants to know of an adapter's work and can't be seen from outside.
type watched struct {
	*Adapter
	h *harness
}

func (w watched) Send(ctx context.Context, m chat.Message) ([]chat.MessageRef, error) {
	refs, err := w.Adapter.Send(ctx, m)
	for i, ref := range refs {
		w.h.note(ref.ID, "sent", m.Media, i)
	}
	return refs, err
}

func (w watched) Edit(ctx context.Context, ref chat.MessageRef, m chat.Message) (chat.MessageRef, error) {
	changed, err := w.Adapter.Edit(ctx, ref, m)
	if err == nil {
		w.h.note(ref.ID, "edited", m.Media, 0)
	}
	return changed, err
}

func (w watched) Delete(ctx context.Context, ref chat.MessageRef) error {
	err := w.Adapter.Delete(ctx, ref)
	if err == nil {
		w.h.note(ref.ID, "deleted", nil, 0)
	}
	return err
}

func (w watched) AnswerPress(ctx context.Context, p chat.Press, a chat.PressAnswer) error {
	err := w.Adapter.AnswerPress(ctx, p, a)
	w.h.mu.Lock()
	defer w.h.mu.Unlock()
	if errors.Is(err, chat.ErrLateForm) {
		w.h.late[p.ID] = true
		return err // words follow
	}
	done := w.h.answered(p.ID)
	select {
	case <-done:
	default:
		close(done)
	}
	return err
}

// answered needs h.mu.
func (h *harness) answered(interactionID string) chan struct{} {
	if h.pressed[interactionID] == nil {
		h.pressed[interactionID] = make(chan struct{})
	}
	return h.pressed[interactionID]
}

func (h *harness) note(messageID, kind string, media []chat.Media, i int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if i < len(media) {
		h.kinds[messageID+"/"+media[i].FileName] = media[i].Kind
	}
	h.notices[messageID] = append(h.notices[messageID], chattest.Notice{MessageID: messageID, Kind: kind, At: time.Now()})
}

func (h *harness) Connect(t testing.TB) chattest.Connection {
	a := h.adapter(t)
	h.mu.Lock()
	for _, session := range h.server.Sessions() {
		h.before[session.ID] = session.Resumes + 1
	}
	h.mu.Unlock()
	return chattest.Connection{Adapter: watched{a, h}, Run: func(ctx context.Context, to chat.Receiver) error {
		return a.Run(ctx, taker{to, to.(chat.Completer), h})
	}}
}

// taker notes which updates were taken.
type taker struct {
	chat.Receiver
	chat.Completer
	h *harness
}

func (r taker) Receive(ctx context.Context, platform string, updates ...chat.Incoming) error {
	err := r.Receiver.Receive(ctx, platform, updates...)
	r.h.mu.Lock()
	defer r.h.mu.Unlock()
	for _, u := range updates {
		r.h.pending[u.ID] = max(0, r.h.pending[u.ID]-1)
	}
	return err
}

// tells notes an update that Discord tells of, and how it does so once more. It needs h.mu.
func (h *harness) tells(id string, repeat func()) {
	h.pending[id]++
	h.last = func() {
		h.pending[id]++
		repeat()
	}
}

func (h *harness) Pending() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, of := range h.pending {
		n += of
	}
	return n
}

// lock waits until the program is connected: what happens before, Discord tells nobody.
func (h *harness) lock(t testing.TB) {
	clocktest.Until(t, "the program connects", func() bool {
		h.mu.Lock()
		if !h.connected() {
			h.mu.Unlock()
			return false
		}
		return true
	})
}

// connected needs h.mu.
func (h *harness) connected() bool {
	return slices.ContainsFunc(h.server.Sessions(), func(s discordtest.Session) bool { return s.Connected && s.Resumes+1 > h.before[s.ID] })
}

// user needs h.mu.
func (h *harness) user(p chattest.Person) *discordtest.User {
	u, ok := h.people[p.ID]
	if !ok {
		u = h.server.User(p.Name).Speaks(localeOf(p.Language))
		h.people[p.ID] = u
		for _, g := range h.guilds {
			g.Add(u)
		}
		h.house().Add(u)
	}
	return u
}

// house is a server in which everybody and the bot are, so that they can write to each other. It needs h.mu.
func (h *harness) house() *discordtest.Guild {
	if len(h.guilds) == 0 {
		h.guilds = append(h.guilds, h.server.Guild("House", h.server.User("Keeper")))
	}
	return h.guilds[0]
}

func localeOf(language string) string {
	if l := locales(language); len(l) > 0 {
		return l[0]
	}
	return "en-US"
}

func (h *harness) Private(p chattest.Person) chattest.Room {
	h.mu.Lock()
	defer h.mu.Unlock()
	u := h.user(p)
	c := u.DM()
	h.rooms[c.ID()], h.owners[c.ID()] = c, u
	return chattest.Room{ID: c.ID(), Kind: chat.ChatPrivate}
}

func (h *harness) Group(title string) chattest.Room {
	h.mu.Lock()
	defer h.mu.Unlock()
	g := h.server.Guild(title, h.server.User("Owner"))
	for _, u := range h.people {
		g.Add(u)
	}
	h.guilds = append(h.guilds, g)
	c := g.Text("general")
	h.rooms[c.ID()] = c
	return chattest.Room{ID: c.ID(), Kind: chat.ChatGroup, Space: g.ID()}
}

// channel gives the channel of a room or its topic; of a private room that of the person. It needs h.mu.
func (h *harness) channel(in chattest.Room, by *discordtest.User) *discordtest.Channel {
	if in.Kind == chat.ChatPrivate && by != nil {
		return by.DM()
	}
	if in.Topic == "" {
		return h.rooms[in.ID]
	}
	key := in.ID + "/" + in.Topic
	if h.topics[key] == nil {
		h.topics[key] = h.rooms[in.ID].Thread(in.Topic)
	}
	return h.topics[key]
}

func (h *harness) Post(t testing.TB, p chattest.Post) string {
	t.Helper()
	h.lock(t)
	defer h.mu.Unlock()
	u := h.user(p.From)
	c := h.channel(p.In, u)
	text := p.Text
	if p.In.Kind == chat.ChatGroup && strings.HasPrefix(text, "/") && !p.Aside {
		text = "<@" + h.server.BotID() + "> " + text // the bot is told of no other messages there
	}
	var m discordtest.Message
	switch {
	case p.ReplyTo != "":
		m = u.Reply(h.find(t, p.In, u, p.ReplyTo), text)
	default:
		m = u.SendFiles(c, text, filesOf(p.Files)...)
	}
	h.sent[m.ID] = m
	author := map[string]any{"id": u.ID(), "username": "x"}
	if p.In.Kind == chat.ChatGroup && !slices.Contains(m.Mentions, h.server.BotID()) {
		return m.ID // the bot is not meant
	}
	h.tells(m.ID, func() {
		h.server.Dispatch("MESSAGE_CREATE", map[string]any{"id": m.ID, "channel_id": c.ID(), "author": author, "content": text, "timestamp": time.Now()})
	})
	return m.ID
}

func filesOf(list []chattest.File) []discordtest.File {
	var files []discordtest.File
	for _, f := range list {
		files = append(files, discordtest.File{Name: f.Name, Bytes: f.Data})
	}
	return files
}

// find gives a message as a person sees it now. It needs h.mu.
func (h *harness) find(t testing.TB, in chattest.Room, u *discordtest.User, id string) discordtest.Message {
	t.Helper()
	id, _, _ = strings.Cut(id, "/")
	if m, ok := h.sent[id]; ok {
		return m
	}
	for _, c := range h.channelsOf(in) {
		for _, m := range u.Sees(c) {
			if m.ID == id {
				return m
			}
		}
		for _, m := range h.server.History(c) { // such as another person's
			if m.ID == id {
				return m
			}
		}
	}
	t.Fatalf("there is no message %s in %s", id, h.server.Transcript(h.rooms[in.ID]))
	return discordtest.Message{}
}

// channelsOf needs h.mu.
func (h *harness) channelsOf(in chattest.Room) []*discordtest.Channel {
	list := []*discordtest.Channel{h.rooms[in.ID]}
	for key, c := range h.topics {
		if room, _, _ := strings.Cut(key, "/"); room == in.ID {
			list = append(list, c)
		}
	}
	return list
}

func (h *harness) Press(t testing.TB, by chattest.Person, in chattest.Room, messageID, label string) chat.PressAnswer {
	t.Helper()
	return h.act(t, by, in, messageID, func(u *discordtest.User, m discordtest.Message) *discordtest.Interaction { return u.Press(m, label) })
}

func (h *harness) PressData(t testing.TB, by chattest.Person, in chattest.Room, messageID, data string) chat.PressAnswer {
	t.Helper()
	return h.act(t, by, in, messageID, func(u *discordtest.User, m discordtest.Message) *discordtest.Interaction {
		return u.PressStale(m, data)
	})
}

func (h *harness) Choose(t testing.TB, by chattest.Person, in chattest.Room, messageID string, labels ...string) chat.PressAnswer {
	t.Helper()
	return h.act(t, by, in, messageID, func(u *discordtest.User, m discordtest.Message) *discordtest.Interaction {
		for _, menu := range m.Selects() {
			has := func(label string) bool {
				return slices.ContainsFunc(menu.Options, func(o discordtest.SelectOption) bool { return o.Label == label })
			}
			if !slices.ContainsFunc(labels, func(l string) bool { return !has(l) }) {
				return u.Choose(m, menu.CustomID, labels...)
			}
		}
		t.Fatalf("no menu of %s has %q", m, labels)
		return nil
	})
}

func (h *harness) Fill(t testing.TB, by chattest.Person, in chattest.Room, messageID string, form chat.Form, values map[string]string) chat.PressAnswer {
	t.Helper()
	return h.act(t, by, in, messageID, func(u *discordtest.User, _ discordtest.Message) *discordtest.Interaction {
		fields := map[string]any{}
		for label, v := range values {
			fields[label] = v
		}
		return u.Submit(h.opened[form.Data], fields)
	})
}

// act does something with a message and waits until it was answered.
func (h *harness) act(t testing.TB, by chattest.Person, in chattest.Room, messageID string, do func(*discordtest.User, discordtest.Message) *discordtest.Interaction) chat.PressAnswer {
	t.Helper()
	h.lock(t)
	u := h.user(by)
	i := do(u, h.find(t, in, u, messageID))
	h.tells(i.ID, i.Repeat)
	done := h.answered(i.ID)
	h.mu.Unlock()
	i.Answer(t.Context())
	select {
	case <-done:
	case <-time.After(2 * time.Minute):
		t.Fatal("the press was not answered")
	}
	h.mu.Lock()
	late := h.late[i.ID]
	h.mu.Unlock()
	if late {
		return h.act(t, by, in, messageID, do) // once more, as people are told to
	}
	var a chat.PressAnswer
	if followups := i.Followups(); len(followups) > 0 {
		a.Text = plain(followups[0].Content)
	}
	if i.Answer(t.Context()).Type == 9 {
		m := i.Modal(t.Context())
		h.mu.Lock()
		h.opened[m.CustomID] = m
		h.mu.Unlock()
		a.Form = formOf(m)
	}
	return a
}

func formOf(m discordtest.Modal) *chat.Form {
	f := &chat.Form{Title: m.Title, Data: m.CustomID}
	for _, in := range m.Inputs {
		f.Fields = append(f.Fields, chat.FormField{
			Name: in.CustomID, Label: in.Label, Placeholder: in.Placeholder, Value: in.Value, Required: in.Required, Multiline: in.Paragraph, MaxLength: in.MaxLength,
		})
	}
	return f
}

func (h *harness) Repeat(t testing.TB) {
	h.lock(t)
	defer h.mu.Unlock()
	h.last()
}

func (h *harness) Messages(_ testing.TB, in chattest.Room) []chattest.Seen {
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []chattest.Seen
	for _, c := range h.channelsOf(in) {
		known := map[string]bool{}
		add := func(m discordtest.Message, onlyFor string) {
			if m.Author != nil || m.Loading || m.Deleted || known[m.ID] {
				return
			}
			known[m.ID] = true
			list = append(list, h.seen(in, c, m, onlyFor)...)
		}
		for _, m := range h.server.History(c) {
			add(m, "")
		}
		for id, u := range h.people {
			for _, m := range u.Sees(c) {
				if m.Ephemeral && !h.isNotice(m) {
					add(m, id)
				}
			}
		}
	}
	slices.SortStableFunc(list, func(a, b chattest.Seen) int { return strings.Compare(a.ID[:19], b.ID[:19]) })
	return list
}

// isNotice tells an answer to a press from a message: it was not sent as one. It needs h.mu.
func (h *harness) isNotice(m discordtest.Message) bool { return len(h.notices[m.ID]) == 0 }

// pinged gives the suite's ids of those whom a message has notified; who is none of the suite's keeps Discord's. It needs h.mu.
func (h *harness) pinged(ids []string) []string {
	var pinged []string
	for _, id := range ids {
		for person, user := range h.people {
			if user.ID() == id {
				id = person
				break
			}
		}
		pinged = append(pinged, id)
	}
	return pinged
}

// seen needs h.mu.
func (h *harness) seen(in chattest.Room, c *discordtest.Channel, m discordtest.Message, onlyFor string) []chattest.Seen {
	s := chattest.Seen{ID: m.ID, Text: plain(m.Content), ReplyTo: m.ReplyTo, OnlyFor: onlyFor, Pings: h.pinged(m.Mentions)}
	for key, topic := range h.topics {
		if room, name, _ := strings.Cut(key, "/"); room == in.ID && topic == c {
			s.Topic = name
		}
	}
	for _, v := range m.Components {
		var line struct {
			Components []struct {
				Type  int
				Label string
			}
		}
		raw, _ := json.Marshal(v)
		_ = json.Unmarshal(raw, &line)
		var labels []string
		for _, b := range line.Components {
			if b.Type == 2 {
				labels = append(labels, b.Label)
			}
		}
		if labels != nil {
			s.Buttons = append(s.Buttons, labels)
		}
	}
	for _, menu := range m.Selects() {
		shown := chattest.SeenMenu{Placeholder: menu.Placeholder}
		for _, o := range menu.Options {
			shown.Options = append(shown.Options, o.Label)
			if o.Default {
				shown.Chosen = append(shown.Chosen, o.Label)
			}
		}
		s.Menus = append(s.Menus, shown)
	}
	var list []chattest.Seen
	for i, a := range m.Attachments {
		item := s
		if i > 0 {
			item.ID += fmt.Sprintf("/%d", i)
		}
		item.Alt, item.Spoiler = a.Description, a.Spoiler
		item.Media = &chattest.File{
			Kind: h.kinds[m.ID+"/"+a.Name], Name: a.Name, MIMEType: a.ContentType, Data: a.Bytes, Width: a.Width, Height: a.Height,
		}
		if item.Media.Kind == "" {
			item.Media.Kind = chat.KindOf(a.ContentType)
		}
		list = append(list, item)
	}
	if len(list) == 0 {
		return []chattest.Seen{s}
	}
	return list
}

// plain gives a text as it is read, without its markup.
func plain(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		rest := s[i:]
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case strings.IndexByte("*`~", s[i]) >= 0:
		case strings.HasPrefix(rest, "<http"):
			inner, _, _ := strings.Cut(rest[1:], ">")
			b.WriteString(inner)
			i += len(inner) + 1
		case strings.HasPrefix(rest, "> ") && (i == 0 || s[i-1] == '\n'):
			i++
		case strings.HasPrefix(rest, "](<"):
			inner, _, _ := strings.Cut(rest, ">)")
			i += len(inner) + 1
		case s[i] == '[':
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

func (h *harness) Notices(t testing.TB, in chattest.Room) []chattest.Notice {
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []chattest.Notice
	for _, c := range h.channelsOf(in) {
		for _, m := range h.server.History(c) {
			list = append(list, h.notices[m.ID]...)
		}
	}
	slices.SortStableFunc(list, func(a, b chattest.Notice) int { return a.At.Compare(b.At) })
	return list
}

// reader is somebody who looks at command lists.
func (h *harness) menu(kind chat.ChatKind, language string) []discordtest.Command {
	h.mu.Lock()
	defer h.mu.Unlock()
	u := h.user(chattest.Person{ID: "1", Name: "Reader", Language: "en"})
	u.Speaks(localeOf(language))
	c := u.DM()
	if kind == chat.ChatGroup {
		c = h.house().Text("readers")
	}
	return u.Commands(c)
}

func (h *harness) Commands(_ testing.TB, kind chat.ChatKind) []string {
	var names []string
	for _, c := range h.menu(kind, "en") {
		if c.Type == 1 {
			names = append(names, c.Name)
		}
	}
	return names
}

func (h *harness) Entries(testing.TB) []string {
	var names []string
	for _, c := range h.menu(chat.ChatPrivate, "en") {
		if c.Type == 3 {
			names = append(names, c.Name)
		}
	}
	return names
}

func (h *harness) Description(t testing.TB, kind chat.ChatKind, name, language string) string {
	t.Helper()
	c := h.command(t, kind, name)
	if text, ok := c.Descriptions[localeOf(language)]; ok {
		return text
	}
	return c.Description
}

func (h *harness) command(t testing.TB, kind chat.ChatKind, name string) discordtest.Command {
	t.Helper()
	for _, c := range h.menu(kind, "en") {
		if c.Type == 1 && c.Name == name {
			return c
		}
	}
	t.Fatalf("no command %s is listed", name)
	return discordtest.Command{}
}

func (h *harness) Options(t testing.TB, kind chat.ChatKind, name string) []string {
	t.Helper()
	var names []string
	for _, o := range h.command(t, kind, name).Options {
		names = append(names, o.Name)
	}
	return names
}

func (h *harness) Command(t testing.TB, by chattest.Person, in chattest.Room, name string, options map[string]any) string {
	t.Helper()
	kinds := map[string]int{}
	for _, o := range h.command(t, in.Kind, name).Options {
		kinds[o.Name] = o.Type
	}
	var args []discordtest.Arg
	for option, v := range options {
		args = append(args, discordtest.Opt(option, optionArg(kinds[option], v)))
	}
	h.lock(t)
	defer h.mu.Unlock()
	u := h.user(by)
	i := u.Command(h.channel(in, u), name, args...)
	h.tells(i.ID, i.Repeat)
	return ""
}

// optionArg gives a value as an option of that type takes it.
func optionArg(kind int, v any) any {
	switch v := v.(type) {
	case json.Number:
		if kind == 3 {
			return v.String()
		}
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64()
		return f
	case chattest.File:
		return discordtest.File{Name: v.Name, Bytes: v.Data}
	}
	return v
}

func (h *harness) Complete(t testing.TB, by chattest.Person, in chattest.Room, name, option, typed string) []chat.Choice {
	t.Helper()
	h.lock(t)
	u := h.user(by)
	i := u.Autocomplete(h.channel(in, u), name, option, typed)
	h.mu.Unlock()
	var list []chat.Choice
	for _, c := range i.Choices(t.Context()) {
		list = append(list, chat.Choice{Label: c.Name, Value: c.Value})
	}
	return list
}

func (h *harness) UseOn(t testing.TB, by chattest.Person, in chattest.Room, messageID, entry string) {
	t.Helper()
	h.lock(t)
	defer h.mu.Unlock()
	u := h.user(by)
	i := u.MessageCommand(h.find(t, in, u, messageID), entry)
	h.tells(i.ID, i.Repeat)
}

func (h *harness) UseOnPerson(t testing.TB, by chattest.Person, in chattest.Room, whom chattest.Person, picture []byte, entry string) {
	t.Helper()
	h.lock(t)
	defer h.mu.Unlock()
	u, target := h.user(by), h.user(whom)
	target.SetPicture(picture)
	i := u.UserCommand(h.channel(in, u), target, entry)
	h.tells(i.ID, i.Repeat)
}

func (h *harness) OpenApp(t testing.TB, by chattest.Person, in chattest.Room) {
	t.Helper()
	h.lock(t)
	defer h.mu.Unlock()
	u := h.user(by)
	i := u.OpenApp(h.channel(in, u))
	h.tells(i.ID, i.Repeat)
}

func (h *harness) Promote(_ testing.TB, p chattest.Person, in chattest.Room) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, g := range h.guilds {
		if g.ID() == in.Space {
			g.Give(h.user(p), g.Role("admin", discordtest.ManageGuild))
		}
	}
}

func (h *harness) Expel(_ testing.TB, _ chattest.Person, in chattest.Room) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, g := range h.guilds {
		if g.ID() == in.Space {
			g.Kick()
		}
	}
}

func (h *harness) Block(_ testing.TB, p chattest.Person) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.blocked[h.user(p).DM().ID()] = true
}

func (h *harness) Unblock(_ testing.TB, p chattest.Person) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.blocked, h.user(p).DM().ID())
}

func (h *harness) DeleteMessage(t testing.TB, in chattest.Room, messageID string) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	// The server has no moderators; the bot's own rights do.
	url := h.server.URL + "/api/v10/channels/" + in.ID + "/messages/" + messageID
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodDelete, url, nil)
	r.Header.Set("Authorization", "Bot "+h.server.Token)
	r.Header.Set("User-Agent", "DiscordBot (https://example.org, 1)")
	resp, err := h.transport.RoundTrip(r)
	if err != nil || resp.StatusCode != http.StatusNoContent {
		t.Fatalf("delete a message: %v %+v", err, resp)
	}
	_ = resp.Body.Close()
}

func (h *harness) Refuse(n int, d time.Duration) {
	h.server.Inject(discordtest.RateLimit(d / hurried).On("PATCH /channels/{channel_id}/messages/{message_id}").Repeat(n))
}

func TestSuite(t *testing.T) {
	t.Parallel()
	chattest.Suite(t, func(t testing.TB) chattest.Harness { return newHarness(t) })
}

// Mention is how a message names the bot.
func (h *harness) Mention() string { return "<@" + h.server.BotID() + ">" }
