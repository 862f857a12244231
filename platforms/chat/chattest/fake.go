package chattest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// FakePlatform is the platform's name of Fake.
const FakePlatform = "fake"

// Fake is a chat platform in memory. It holds messages, people and files, delivers updates at least once
// and refuses what its Capabilities exclude: such a refusal fails the test, since the Router must know.
type Fake struct {
	t    testing.TB
	caps chat.Capabilities

	mu       sync.Mutex
	next     int
	updates  chan []chat.Incoming // what is told together
	pending  atomic.Int64         // of updates
	last     *chat.Incoming
	rooms    map[string]chat.ChatKind
	messages map[string]*fakeMessage // by room and id
	order    []string
	files    map[string]File
	notices  map[string][]Notice
	pressed  map[string]chan chat.PressAnswer
	blocked  map[string]bool
	admins   map[string]bool // by person's id, in every group
	commands map[chat.ChatKind][]chat.Command
	spoken   map[string]map[string]string // descriptions of commands by language and name
	limits   map[string]int64             // of uploads, by room
	receiver chat.Receiver
	faults   map[string][]Fault // by operation
	held     chan struct{}      // what the next send waits for before it answers
	refusals int
	refuse   time.Duration
}

type fakeMessage struct {
	own     bool
	room    string
	topic   string
	from    Person
	id      string
	text    string
	media   *File
	buttons [][]chat.Button
	menus   []chat.Menu
	alt     string
	spoiler bool
	asks    bool
	replyTo string
	onlyFor string
	ping    string
	deleted bool
}

var (
	_ Harness   = (*Fake)(nil)
	_ Forwarder = (*Fake)(nil)
)

// NewFake makes an empty platform with limits like Telegram's. change may alter its capabilities.
func NewFake(t testing.TB, change ...func(*chat.Capabilities)) *Fake {
	f := &Fake{
		t: t, caps: fakeCapabilities(), updates: make(chan []chat.Incoming, 10_000),
		rooms: map[string]chat.ChatKind{}, messages: map[string]*fakeMessage{}, files: map[string]File{},
		limits: map[string]int64{}, notices: map[string][]Notice{}, pressed: map[string]chan chat.PressAnswer{}, blocked: map[string]bool{}, admins: map[string]bool{},
		commands: map[chat.ChatKind][]chat.Command{}, faults: map[string][]Fault{}, next: 100,
	}
	for _, c := range change {
		c(&f.caps)
	}
	return f
}

func fakeCapabilities() chat.Capabilities {
	return chat.Capabilities{
		Buttons:   chat.ButtonLimits{Rows: 12, PerRow: 8, LabelLimit: 64, DataBytes: 64},
		Commands:  chat.CommandLimits{Max: 100, NameChars: 32, NamePattern: `[a-z0-9_]{1,32}`, DescriptionLimit: 256},
		TextLimit: 4096, SplitsAt: 4096, CaptionLimit: 1024, AnswerLimit: 200,
		Edit: true, EditToMedia: true, AlbumMax: 10, ForceReply: true, Alerts: true,
		Uploads: map[chat.MediaKind]int64{
			chat.KindPhoto: 10 << 20, chat.KindVideo: 50 << 20, chat.KindAnimation: 50 << 20,
			chat.KindAudio: 50 << 20, chat.KindVoice: 50 << 20, chat.KindDocument: 50 << 20,
		},
		Download:        20 << 20,
		Photo:           chat.PhotoLimits{MaxSides: 10000, MaxRatio: 20, LosesAlpha: true},
		WorkingFor:      5 * time.Second,
		ProgressPrivate: 20 * time.Millisecond, ProgressGroup: 40 * time.Millisecond,
		DeepLink: "https://fake.example/bot?start=%s",
	}
}

// Connect gives the fake itself; what was not confirmed before a stop is delivered again.
func (f *Fake) Connect(testing.TB) Connection {
	return Connection{Adapter: fakeAdapter{f}, Run: f.run}
}

func (f *Fake) run(ctx context.Context, to chat.Receiver) error {
	f.mu.Lock()
	f.receiver = to
	f.mu.Unlock()
	for {
		select {
		case <-ctx.Done():
			return nil
		case u := <-f.updates:
			if err := to.Receive(ctx, FakePlatform, u...); err != nil {
				f.updates <- u // not confirmed: comes again
				if ctx.Err() != nil {
					return nil
				}
				return err
			}
			f.pending.Add(-int64(len(u)))
		}
	}
}

// Private gives the chat whose id is the person's.
func (f *Fake) Private(p Person) Room {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rooms[p.ID] = chat.ChatPrivate
	return Room{ID: p.ID, Kind: chat.ChatPrivate}
}

// Group makes a group.
func (f *Fake) Group(string) Room {
	f.mu.Lock()
	defer f.mu.Unlock()
	id := "-" + f.id()
	f.rooms[id] = chat.ChatGroup
	return Room{ID: id, Kind: chat.ChatGroup}
}

func (f *Fake) id() string {
	f.next++
	return strconv.Itoa(f.next)
}

// Post sends a person's message.
func (f *Fake) Post(t testing.TB, p Post) string {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	name := ""
	if len(p.Files) > 1 {
		name = "album" + f.id()
	}
	first := ""
	f.limits[p.In.ID] = p.In.UploadLimit
	var album []chat.Incoming
	for i := range max(1, len(p.Files)) {
		m := &fakeMessage{room: p.In.ID, topic: p.In.Topic, from: p.From, id: f.id(), replyTo: p.ReplyTo}
		if i == 0 {
			m.text, first = p.Text, m.id
		}
		if i < len(p.Files) {
			file := p.Files[i]
			m.media = &file
		}
		f.keep(m)
		album = append(album, f.incoming(p, m, name))
	}
	f.deliver(album...)
	return first
}

func (f *Fake) incoming(p Post, m *fakeMessage, album string) chat.Incoming {
	in := chat.Incoming{
		ID: f.id(), Kind: chat.KindMessage, At: time.Now(), Album: album,
		Chat:    place(p.In),
		From:    identity(p.From),
		Message: f.ref(m),
	}
	in.Command, in.Text, _ = chat.ParseCommand(m.text, "fake_bot")
	in.Named = strings.Contains(strings.ToLower(m.text), "@fake_bot")
	in.Addressed = in.Named
	if in.Command == "" {
		in.Text = strings.TrimSpace(strings.ReplaceAll(in.Text, "@fake_bot", ""))
	}
	in.Attachments = f.attach(m)
	if q := f.messages[p.In.ID+"/"+p.ReplyTo]; q != nil {
		in.ReplyTo = &chat.Quoted{Ref: f.ref(q), Own: q.own, From: f.author(q), Text: q.text, Attachments: f.attach(q)}
		in.Addressed = in.Addressed || q.own
	}
	return in
}

// Mention is how a message names the bot.
func (f *Fake) Mention() string { return "@fake_bot" }

// author is who wrote a message of somebody's.
func (f *Fake) author(m *fakeMessage) users.Identity {
	if m.own {
		return users.Identity{}
	}
	return identity(m.from)
}

func place(in Room) chat.Chat {
	return chat.Chat{
		Place: chat.Place{Chat: in.ID, Topic: in.Topic}, Kind: in.Kind,
		Space: in.Space, AgeRestricted: in.AgeRestricted, UploadLimit: in.UploadLimit,
	}
}

func identity(p Person) users.Identity {
	return users.Identity{Platform: FakePlatform, ExternalID: p.ID, Name: p.Name, Language: p.Language}
}

func (f *Fake) ref(m *fakeMessage) chat.MessageRef {
	return chat.MessageRef{Place: chat.Place{Chat: m.room, Topic: m.topic}, ID: m.id, Media: m.media != nil}
}

func (f *Fake) attach(m *fakeMessage) []chat.Attachment {
	if m.media == nil {
		return nil
	}
	handle := "file" + m.room + "/" + m.id
	f.files[handle] = *m.media
	return []chat.Attachment{{
		Kind: m.media.Kind, Name: m.media.Name, MIMEType: m.media.MIMEType,
		Bytes: int64(len(m.media.Data)), Width: m.media.Width, Height: m.media.Height, Handle: handle,
	}}
}

func (f *Fake) deliver(in ...chat.Incoming) {
	f.last = &in[len(in)-1]
	f.tell(in...)
}

// tell has the program take updates together.
func (f *Fake) tell(in ...chat.Incoming) {
	f.pending.Add(int64(len(in)))
	f.updates <- in
}

// Pending is how many updates were not taken yet.
func (f *Fake) Pending() int { return int(f.pending.Load()) }

// Press presses a button by its label.
func (f *Fake) Press(t testing.TB, by Person, in Room, messageID, label string) chat.PressAnswer {
	t.Helper()
	f.mu.Lock()
	m := f.messages[in.ID+"/"+messageID]
	var data string
	if m != nil {
		for _, row := range m.buttons {
			for _, b := range row {
				if b.Label == label {
					data = b.Data
				}
			}
		}
	}
	f.mu.Unlock()
	if data == "" {
		t.Fatalf("no button %q under message %s: %+v", label, messageID, f.Messages(t, in))
	}
	return f.PressData(t, by, in, messageID, data)
}

// PressData presses a button with this data.
func (f *Fake) PressData(t testing.TB, by Person, in Room, messageID, data string) chat.PressAnswer {
	t.Helper()
	f.mu.Lock()
	m := f.messages[in.ID+"/"+messageID]
	if m == nil {
		m = &fakeMessage{room: in.ID, topic: in.Topic, id: messageID}
	}
	f.mu.Unlock()
	return f.interact(t, by, in, m, chat.Incoming{Kind: chat.KindPress, Press: &chat.Press{Data: data}})
}

// interact delivers a press or a form and waits for its answer.
func (f *Fake) interact(t testing.TB, by Person, in Room, m *fakeMessage, update chat.Incoming) chat.PressAnswer {
	t.Helper()
	f.mu.Lock()
	answered := make(chan chat.PressAnswer, 1)
	update.Press.ID = "press" + f.id()
	f.pressed[update.Press.ID] = answered
	update.ID, update.At, update.From, update.Message, update.Chat = f.id(), time.Now(), identity(by), f.ref(m), place(in)
	f.deliver(update)
	f.mu.Unlock()
	select {
	case a := <-answered:
		return a
	case <-time.After(patience):
		t.Fatalf("the press of %q was not answered", update.Press.Data)
		return chat.PressAnswer{}
	}
}

// Repeat delivers the last update again.
func (f *Fake) Repeat(t testing.TB) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.last == nil {
		t.Fatal("nothing was delivered yet")
	}
	f.tell(*f.last)
}

// Messages lists the bot's messages of a room.
func (f *Fake) Messages(_ testing.TB, in Room) []Seen {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []Seen
	for _, key := range f.order {
		m := f.messages[key]
		if m.own && !m.deleted && m.room == in.ID {
			list = append(list, m.seen())
		}
	}
	return list
}

func (m *fakeMessage) seen() Seen {
	s := Seen{
		ID: m.id, Text: m.text, Media: m.media, Asks: m.asks, ReplyTo: m.replyTo, Topic: m.topic, OnlyFor: m.onlyFor,
		Alt: m.alt, Spoiler: m.spoiler,
	}
	if m.ping != "" {
		s.Pings = []string{m.ping}
	}
	for _, menu := range m.menus {
		seen := SeenMenu{Placeholder: menu.Placeholder}
		for _, o := range menu.Options {
			seen.Options = append(seen.Options, o.Label)
			if o.Chosen {
				seen.Chosen = append(seen.Chosen, o.Label)
			}
		}
		s.Menus = append(s.Menus, seen)
	}
	for _, row := range m.buttons {
		var labels []string
		for _, b := range row {
			labels = append(labels, b.Label)
		}
		s.Buttons = append(s.Buttons, labels)
	}
	return s
}

// Notices tells what happened to a room's messages of the bot.
func (f *Fake) Notices(_ testing.TB, in Room) []Notice {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.notices[in.ID])
}

// Commands lists the command names shown in chats of a kind.
func (f *Fake) Commands(_ testing.TB, kind chat.ChatKind) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var names []string
	for _, c := range f.commands[kind] {
		if !c.OnMessages {
			names = append(names, c.Name)
		}
	}
	return names
}

// Block makes a person refuse the bot.
func (f *Fake) Block(_ testing.TB, p Person) { f.setBlocked(p, true) }

// Unblock ends it.
func (f *Fake) Unblock(_ testing.TB, p Person) { f.setBlocked(p, false) }

func (f *Fake) setBlocked(p Person, blocked bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.blocked[p.ID] = blocked
	membership := chat.MemberJoined
	if blocked {
		membership = chat.MemberRemoved
	}
	f.deliver(chat.Incoming{
		ID: f.id(), Kind: chat.KindMembership, At: time.Now(), From: identity(p), Membership: membership,
		Chat: chat.Chat{Place: chat.Place{Chat: p.ID}, Kind: chat.ChatPrivate},
	})
}

// Promote makes a person an admin of every group.
func (f *Fake) Promote(_ testing.TB, p Person, _ Room) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.admins[p.ID] = true
}

// Expel removes the bot from a group.
func (f *Fake) Expel(_ testing.TB, by Person, in Room) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.deliver(chat.Incoming{
		ID: f.id(), Kind: chat.KindMembership, At: time.Now(), From: identity(by), Membership: chat.MemberRemoved,
		Chat: chat.Chat{Place: chat.Place{Chat: in.ID}, Kind: in.Kind, Space: in.Space},
	})
}

// DeleteMessage removes a message of the bot.
func (f *Fake) DeleteMessage(t testing.TB, in Room, messageID string) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	m := f.messages[in.ID+"/"+messageID]
	if m == nil {
		t.Fatalf("no message %s to delete", messageID)
	}
	m.deleted = true
}

// Refuse makes the next n sends and edits fail.
func (f *Fake) Refuse(n int, d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refusals, f.refuse = n, d
}

// Fault makes one call fail.
type Fault struct {
	Err error
	// AfterEffect lets the call take effect and loses only its answer.
	AfterEffect bool
}

// FailNext makes the next calls of an operation ("send", "edit", "edit media", "form", "admin") fail, one fault each.
func (f *Fake) FailNext(op string, faults ...Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults[op] = append(f.faults[op], faults...)
}

// HoldNextSend has the next send answer its caller once release is called; people see the message before.
func (f *Fake) HoldNextSend() (release func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	held := make(chan struct{})
	f.held = held
	return func() { close(held) }
}

// fault takes the next fault of an operation; the caller holds mu.
func (f *Fake) fault(op string) (before, after error) {
	list := f.faults[op]
	if len(list) == 0 {
		return nil, nil
	}
	f.faults[op] = list[1:]
	if list[0].AfterEffect {
		return nil, list[0].Err
	}
	return list[0].Err, nil
}

func (f *Fake) keep(m *fakeMessage) {
	key := m.room + "/" + m.id
	f.messages[key] = m
	f.order = append(f.order, key)
}

func (f *Fake) note(m *fakeMessage, kind string) {
	f.notices[m.room] = append(f.notices[m.room], Notice{MessageID: m.id, Kind: kind, At: time.Now()})
}

// fakeAdapter is the fake as the Router sees it.
type fakeAdapter struct{ *Fake }

var (
	_ chat.Adapter     = fakeAdapter{}
	_ chat.AdminTeller = fakeAdapter{}
)

func (f fakeAdapter) Platform() string { return FakePlatform }

func (f fakeAdapter) Capabilities() chat.Capabilities { return f.caps }

func (f fakeAdapter) IsAdmin(_ context.Context, in chat.Incoming) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before, _ := f.fault("admin")
	return f.admins[in.From.ExternalID], before
}

func (f fakeAdapter) Send(ctx context.Context, m chat.Message) ([]chat.MessageRef, error) {
	refs, err := f.send(ctx, m)
	f.mu.Lock()
	held := f.held
	f.held = nil
	f.mu.Unlock()
	if held != nil {
		<-held
	}
	return refs, err
}

func (f fakeAdapter) send(ctx context.Context, m chat.Message) ([]chat.MessageRef, error) {
	files, err := f.upload(ctx, m.To, m)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	before, after := f.fault("send")
	if before != nil {
		return nil, before
	}
	if err := f.admit(m.To, m); err != nil {
		return nil, err
	}
	var refs []chat.MessageRef
	for i := range max(1, len(files)) {
		own := &fakeMessage{
			own: true, room: m.To.Chat, topic: m.To.Topic, id: f.id(), replyTo: m.ReplyTo.ID,
			onlyFor: m.OnlyFor, asks: m.Ask != nil,
		}
		if i == 0 {
			own.text, own.buttons, own.menus, own.ping = m.Text.String(), m.Buttons, m.Menus, m.Ping
		}
		if i < len(files) {
			own.media, own.alt, own.spoiler = &files[i], m.Media[i].Alt, m.Media[i].Spoiler
		}
		f.keep(own)
		f.note(own, "sent")
		refs = append(refs, f.ref(own))
	}
	if after != nil {
		return nil, after
	}
	return refs, nil
}

func (f fakeAdapter) Edit(ctx context.Context, ref chat.MessageRef, m chat.Message) (chat.MessageRef, error) {
	files, err := f.upload(ctx, ref.Place, m)
	if err != nil {
		return ref, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	op := "edit"
	if len(files) > 0 {
		op = "edit media"
	}
	before, after := f.fault(op)
	if before != nil {
		return ref, before
	}
	if err := f.admit(ref.Place, m); err != nil {
		return ref, err
	}
	own, err := f.own(ref)
	if err != nil {
		return ref, err
	}
	switch {
	case len(files) > 1:
		return ref, f.violation("an edit cannot make an album")
	case len(files) == 0 && ref.Media != (own.media != nil):
		return ref, f.violation("the reference to %s says media: %v", ref.ID, ref.Media)
	case m.Ask != nil:
		return ref, f.violation("an edit cannot open the reply field")
	case len(files) == 1:
		own.media, own.alt, own.spoiler = &files[0], m.Media[0].Alt, m.Media[0].Spoiler
	}
	own.text, own.buttons, own.menus = m.Text.String(), m.Buttons, m.Menus
	f.note(own, "edited")
	return f.ref(own), after
}

func (f fakeAdapter) EditButtons(_ context.Context, ref chat.MessageRef, rows [][]chat.Button) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	own, err := f.own(ref)
	if err != nil {
		return err
	}
	if err := f.checkButtons(rows); err != nil {
		return err
	}
	own.buttons, own.menus = rows, nil
	f.note(own, "edited")
	return nil
}

func (f fakeAdapter) Delete(_ context.Context, ref chat.MessageRef) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	own, err := f.own(ref)
	if err != nil {
		return nil
	}
	own.deleted = true
	f.note(own, "deleted")
	return nil
}

func (f fakeAdapter) AnswerPress(_ context.Context, p chat.Press, a chat.PressAnswer) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if units(a.Text) > f.caps.AnswerLimit {
		return f.violation("the answer to a press has %d characters", units(a.Text))
	}
	if a.Form != nil {
		if err := f.checkForm(*a.Form); err != nil {
			return err
		}
		if err, _ := f.fault("form"); err != nil {
			return err
		}
	}
	answered, ok := f.pressed[p.ID]
	if !ok {
		return nil // unknown or answered before, as after a restart
	}
	delete(f.pressed, p.ID)
	answered <- a
	return nil
}

func (f fakeAdapter) Working(context.Context, chat.Place, chat.Activity) error { return nil }

func (f fakeAdapter) Fetch(_ context.Context, a chat.Attachment) (io.ReadCloser, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	file, ok := f.files[a.Handle]
	if !ok {
		return nil, fmt.Errorf("no file %q: %w", a.Handle, chat.ErrGone)
	}
	if int64(len(file.Data)) > f.caps.Download {
		return nil, fmt.Errorf("%d bytes: %w", len(file.Data), chat.ErrTooLarge)
	}
	return io.NopCloser(bytes.NewReader(file.Data)), nil
}

func (f fakeAdapter) SyncCommands(_ context.Context, sets []chat.CommandSet) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	pattern := regexp.MustCompile(`^` + f.caps.Commands.NamePattern + `$`)
	lists, spoken := map[chat.ChatKind][]chat.Command{}, map[string]map[string]string{}
	for _, set := range sets {
		onMessages := 0
		for _, c := range set.Commands {
			if c.OnMessages {
				onMessages++
				continue
			}
			if !pattern.MatchString(c.Name) || c.Description == "" || units(c.Description) > f.caps.Commands.DescriptionLimit {
				return f.violation("the command %q with description %q", c.Name, c.Description)
			}
			if len(c.Inputs) > f.caps.Commands.Options && f.caps.Commands.Options > 0 {
				return f.violation("the command %q with %d options", c.Name, len(c.Inputs))
			}
			learn(spoken, set.Language, c)
		}
		if len(set.Commands)-onMessages > f.caps.Commands.Max || onMessages > f.caps.Commands.OnMessages {
			return f.violation("%d commands in a set, %d of them on messages", len(set.Commands), onMessages)
		}
		if set.Language == "" {
			lists[set.Kind] = set.Commands
		}
	}
	maps.Copy(f.commands, lists)
	f.spoken = spoken
	return nil
}

// learn keeps how a command is described in each language.
func learn(spoken map[string]map[string]string, language string, c chat.Command) {
	texts := map[string]string{language: c.Description}
	for lang, say := range c.Localized {
		if text := say(); text.Description != "" {
			texts[lang] = text.Description
		}
	}
	for lang, text := range texts {
		if spoken[lang] == nil {
			spoken[lang] = map[string]string{}
		}
		spoken[lang][c.Name] = text
	}
}

// upload reads the media as an adapter would, without holding the lock.
func (f fakeAdapter) upload(ctx context.Context, to chat.Place, m chat.Message) ([]File, error) {
	var files []File
	for _, item := range m.Media {
		limit, ok := f.caps.Uploads[item.Kind]
		if !ok {
			return nil, f.violation("media of kind %q", item.Kind)
		}
		f.mu.Lock()
		if here := f.limits[to.Chat]; here > 0 {
			limit = here
		}
		f.mu.Unlock()
		data, err := read(ctx, item, limit)
		if err != nil {
			return nil, err
		}
		files = append(files, File{
			Kind: item.Kind, Name: item.FileName, MIMEType: item.MIMEType, Data: data, Width: item.Width, Height: item.Height,
		})
	}
	return files, nil
}

func read(ctx context.Context, item chat.Media, limit int64) ([]byte, error) {
	r, err := item.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s: %w", item.FileName, chat.ErrTooLarge)
	}
	return data, nil
}

// admit judges a message as the platform does; the caller holds mu.
func (f fakeAdapter) admit(to chat.Place, m chat.Message) error {
	if f.refusals > 0 {
		f.refusals--
		return &registry.Error{Code: registry.CodeRateLimited, Message: "too many requests", Retryable: true, RetryAfter: f.refuse}
	}
	if _, ok := f.rooms[to.Chat]; !ok {
		return f.violation("a message to the unknown chat %q", to.Chat)
	}
	if f.blocked[to.Chat] {
		return fmt.Errorf("blocked by the user: %w", chat.ErrUnreachable)
	}
	if err := f.checkText(m); err != nil {
		return err
	}
	switch {
	case len(m.Media) > max(1, f.caps.AlbumMax):
		return f.violation("an album of %d", len(m.Media))
	case len(m.Media) > 1 && len(m.Buttons) > 0 && !f.caps.AlbumButtons:
		return f.violation("buttons under an album")
	case len(m.Media) > 1 && mixed(m.Media):
		return f.violation("an album of kinds that don't mix")
	case m.Ask != nil && !f.caps.ForceReply:
		return f.violation("a message that asks for a reply")
	case m.Ask != nil && len(m.Buttons) > 0 && !f.caps.AskButtons:
		return f.violation("a message that asks for a reply and has buttons")
	case m.OnlyFor != "" && !f.caps.Ephemeral:
		return f.violation("a message for one person only")
	}
	if err := f.checkMenus(m); err != nil {
		return err
	}
	return f.checkButtons(m.Buttons)
}

func (f fakeAdapter) checkText(m chat.Message) error {
	limit := f.caps.TextLimit
	if len(m.Media) > 0 {
		limit = f.caps.CaptionLimit
	}
	text := m.Text.String()
	if units(text) > limit {
		return f.violation("a text of %d characters, at most %d are allowed", units(text), limit)
	}
	if strings.TrimSpace(text) == "" && len(m.Media) == 0 {
		return f.violation("an empty message")
	}
	for _, s := range m.Text {
		if s.Style == chat.StyleLink && s.URL == "" {
			return f.violation("a link that leads nowhere")
		}
	}
	return nil
}

// mixed reports kinds that can't be in one album: documents and audio only among their own.
func mixed(items []chat.Media) bool {
	group := func(k chat.MediaKind) chat.MediaKind {
		if k == chat.KindVideo {
			return chat.KindPhoto
		}
		return k
	}
	for _, item := range items {
		if group(item.Kind) != group(items[0].Kind) || item.Kind == chat.KindAnimation || item.Kind == chat.KindVoice {
			return true
		}
	}
	return false
}

func (f fakeAdapter) checkMenus(m chat.Message) error {
	if len(m.Menus) > f.caps.Menus.PerMessage || len(m.Menus) > 0 && len(m.Menus)+len(m.Buttons) > f.caps.Buttons.Rows {
		return f.violation("%d menus and %d rows of buttons", len(m.Menus), len(m.Buttons))
	}
	for _, menu := range m.Menus {
		if len(menu.Options) == 0 || len(menu.Options) > f.caps.Menus.Options || menu.Data == "" || len(menu.Data) > f.caps.Buttons.DataBytes {
			return f.violation("a menu of %d entries with data %q", len(menu.Options), menu.Data)
		}
		if menu.Min > menu.Max || menu.Max > len(menu.Options) {
			return f.violation("a menu of %d entries where %d to %d are chosen", len(menu.Options), menu.Min, menu.Max)
		}
		values := map[string]bool{}
		for _, o := range menu.Options {
			if o.Label == "" || units(o.Label) > f.caps.Menus.LabelLimit || units(o.Description) > f.caps.Menus.LabelLimit || o.Value == "" || values[o.Value] {
				return f.violation("the menu's entry %+v", o)
			}
			values[o.Value] = true
		}
	}
	return nil
}

func (f fakeAdapter) checkForm(form chat.Form) error {
	limits := f.caps.Forms
	if len(form.Fields) == 0 || len(form.Fields) > limits.Fields || form.Title == "" || units(form.Title) > limits.TitleLimit || form.Data == "" {
		return f.violation("the form %+v", form)
	}
	for _, field := range form.Fields {
		if field.Label == "" || units(field.Label) > limits.LabelLimit || units(field.Value) > limits.ValueLimit || field.Name == "" {
			return f.violation("the form's field %+v", field)
		}
	}
	return nil
}

func (f fakeAdapter) checkButtons(rows [][]chat.Button) error {
	if len(rows) > f.caps.Buttons.Rows {
		return f.violation("%d rows of buttons", len(rows))
	}
	for _, row := range rows {
		if len(row) == 0 || len(row) > f.caps.Buttons.PerRow {
			return f.violation("a row of %d buttons", len(row))
		}
		for _, b := range row {
			if b.Label == "" || units(b.Label) > f.caps.Buttons.LabelLimit {
				return f.violation("the button label %q", b.Label)
			}
			if set := slices.DeleteFunc([]string{b.Data, b.URL, b.SKU}, func(s string) bool { return s == "" }); len(set) != 1 || len(b.Data) > f.caps.Buttons.DataBytes {
				return f.violation("the button %q with data %q, address %q and SKU %q", b.Label, b.Data, b.URL, b.SKU)
			}
		}
	}
	return nil
}

func (f fakeAdapter) own(ref chat.MessageRef) (*fakeMessage, error) {
	m := f.messages[ref.Chat+"/"+ref.ID]
	if m == nil || m.deleted {
		return nil, fmt.Errorf("message %s: %w", ref.ID, chat.ErrGone)
	}
	if !m.own {
		return nil, f.violation("an edit of somebody else's message")
	}
	return m, nil
}

// violation is a breach of the contract by the Router.
func (f fakeAdapter) violation(format string, args ...any) error {
	err := fmt.Errorf("the platform refuses: "+format, args...)
	f.t.Error(err)
	return err
}

func units(s string) int { return len(utf16.Encode([]rune(s))) }
