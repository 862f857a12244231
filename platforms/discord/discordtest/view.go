package discordtest

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Message is a message at one moment.
type Message struct {
	ID      string
	Channel *Channel
	// Author is nil for the bot.
	Author      *User
	Content     string
	Embeds      []Embed
	Attachments []Attachment
	// Components are the raw components, buttons and menus among them.
	Components []any
	Ephemeral  bool
	// Loading marks the placeholder "is thinking...".
	Loading bool
	Deleted bool
	Edits   int
	ReplyTo string
	Nonce   string
	Flags   int
	// AllowedMentions is the body's allowed_mentions, nil where it was not given.
	AllowedMentions map[string]any
	// Mentions are the ids that were really pinged, "everyone" among them.
	Mentions []string
}

// Embed is a box below a message.
type Embed struct {
	Title, Description, URL, Image, Footer string
	Fields                                 []Field
}

// Field is a named text of an embed.
type Field struct{ Name, Value string }

// Attachment is a file at a message.
type Attachment struct {
	ID, Name, Description, ContentType, URL, Title string
	Bytes                                          []byte
	Width, Height                                  int
	Spoiler                                        bool
}

// Button is a button of a message.
type Button struct {
	Label, CustomID, URL, Emoji string
	SKU                         string // of a premium button
	Style                       int
	Disabled                    bool
}

// Select is a menu of a message.
type Select struct {
	CustomID, Placeholder string
	Min, Max              int
	Disabled              bool
	Options               []SelectOption
}

// snapshot needs s.mu.
func (m *message) snapshot() Message {
	out := Message{
		ID: m.id, Channel: m.channel, Author: m.author, Content: m.content, Components: m.components, Ephemeral: m.ephemeral(),
		Loading: m.loading(), Deleted: m.deleted, Edits: m.edits, ReplyTo: m.reference, Nonce: m.nonce, Flags: m.flags,
		AllowedMentions: m.allowed, Mentions: slices.Clone(m.mentioned),
	}
	for _, a := range m.attachments {
		out.Attachments = append(out.Attachments, Attachment{
			ID: a.id, Name: a.name, Description: a.description, ContentType: a.kind, URL: a.url(), Title: a.title,
			Bytes: bytes.Clone(a.data), Width: a.width, Height: a.height, Spoiler: a.spoiler,
		})
	}
	for _, v := range m.embeds {
		e, _ := v.(map[string]any)
		out.Embeds = append(out.Embeds, embedOf(e))
	}
	return out
}

func embedOf(e map[string]any) Embed {
	image, _ := e["image"].(map[string]any)
	footer, _ := e["footer"].(map[string]any)
	out := Embed{Title: text(e["title"]), Description: text(e["description"]), URL: text(e["url"]), Image: text(image["url"]), Footer: text(footer["text"])}
	fields, _ := e["fields"].([]any)
	for _, v := range fields {
		f, _ := v.(map[string]any)
		out.Fields = append(out.Fields, Field{Name: text(f["name"]), Value: text(f["value"])})
	}
	return out
}

// Text is all there is to read: content, embeds and text displays, by lines.
func (m Message) Text() string {
	lines := []string{m.Content}
	for _, e := range m.Embeds {
		lines = append(lines, e.Title, e.Description)
		for _, f := range e.Fields {
			lines = append(lines, f.Name+": "+f.Value)
		}
		lines = append(lines, e.Footer)
	}
	walk(m.Components, func(o map[string]any) {
		if number(o["type"]) == typeText {
			lines = append(lines, text(o["content"]))
		}
	})
	return strings.Join(slices.DeleteFunc(lines, func(l string) bool { return l == "" }), "\n")
}

// Buttons lists the message's buttons in reading order.
func (m Message) Buttons() []Button {
	var out []Button
	walk(m.Components, func(o map[string]any) {
		if number(o["type"]) == typeButton {
			emoji, _ := o["emoji"].(map[string]any)
			out = append(out, Button{
				Label: text(o["label"]), CustomID: text(o["custom_id"]), URL: text(o["url"]), Emoji: text(emoji["name"]),
				SKU: text(o["sku_id"]), Style: number(o["style"]), Disabled: o["disabled"] == true,
			})
		}
	})
	return out
}

// Button finds a button by its label.
func (m Message) Button(label string) (b Button, ok bool) {
	for _, b := range m.Buttons() {
		if b.Label == label {
			return b, true
		}
	}
	return Button{}, false
}

// Labels lists the labels of the buttons.
func (m Message) Labels() []string {
	var out []string
	for _, b := range m.Buttons() {
		out = append(out, b.Label)
	}
	return out
}

// Selects lists the message's menus of texts.
func (m Message) Selects() []Select {
	var out []Select
	walk(m.Components, func(o map[string]any) {
		if number(o["type"]) == typeSelect {
			out = append(out, Select{
				CustomID: text(o["custom_id"]), Placeholder: text(o["placeholder"]), Min: bound(o, "min_values", 1), Max: bound(o, "max_values", 1),
				Disabled: o["disabled"] == true, Options: selectOptions(o),
			})
		}
	})
	return out
}

// String shows the message in one line, for failure reports.
func (m Message) String() string {
	who := "bot"
	if m.Author != nil {
		who = m.Author.name
	}
	parts := []string{who + ":", fmt.Sprintf("%q", m.Text())}
	for _, a := range m.Attachments {
		parts = append(parts, fmt.Sprintf("[%s %d bytes]", a.Name, len(a.Bytes)))
	}
	if labels := m.Labels(); len(labels) > 0 {
		parts = append(parts, fmt.Sprintf("buttons %q", labels))
	}
	for name, on := range map[string]bool{"(ephemeral)": m.Ephemeral, "(thinking)": m.Loading, "(deleted)": m.Deleted} {
		if on {
			parts = append(parts, name)
		}
	}
	return strings.Join(parts, " ")
}

// Call is a request the bot made.
type Call struct {
	// Method and Route are such as "POST" and "/channels/{channel_id}/messages"; Vars are the route's variables.
	Method, Route string
	Vars          map[string]string
	Query         url.Values
	Header        http.Header
	// Body is the decoded body: a map, a list, or nil.
	Body  any
	Files map[string]File
	At    time.Time
	// Status is 0 when a fault ended the request; Code and Message are a refusal's.
	Status, Code int
	Message      string
}

func (s *Server) record(req *request, status int, refused *apiError) {
	c := Call{
		Method: req.method, Route: req.route, Vars: req.vars, Query: req.query, Header: req.http.Header.Clone(), Body: req.body,
		Files: maps.Clone(req.files), At: req.at, Status: status,
	}
	if refused != nil {
		c.Code, c.Message = refused.code, refused.String()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count(status, refused)
	s.calls = append(s.calls, c)
	s.signal()
}

// Calls returns the finished calls of an operation such as "POST /channels/{channel_id}/messages", in their
// order, or all of them for "".
func (s *Server) Calls(operation string) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Call
	for _, c := range s.calls {
		if operation == "" || c.Method+" "+c.Route == operation {
			out = append(out, c)
		}
	}
	return out
}

// History returns what everybody in the channel sees, oldest first.
func (s *Server) History(c *Channel) []Message { return s.sees(c, nil) }

// Sees returns what the person sees in the channel, messages only for her included, oldest first.
func (u *User) Sees(c *Channel) []Message { return u.s.sees(c, u) }

func (s *Server) sees(c *Channel, u *User) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Message
	for _, m := range c.messages {
		if !m.deleted && (m.seenBy == nil || m.seenBy == u) {
			out = append(out, m.snapshot())
		}
	}
	return out
}

// Now returns the message as it is at the moment; Deleted is set once it is gone.
func (s *Server) Now(m Message) Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	if own := s.messages[m.ID]; own != nil {
		return own.snapshot()
	}
	m.Deleted = true
	return m
}

// Typing counts the typing signs that the bot showed in the channel.
func (s *Server) Typing(c *Channel) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return c.typing
}

// Transcript shows the channel and the refused calls as text, for failure reports.
func (s *Server) Transcript(c *Channel) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := []string{c.String()}
	for _, m := range c.messages {
		lines = append(lines, "  "+m.snapshot().String())
	}
	for _, call := range s.calls {
		if call.Message != "" {
			lines = append(lines, fmt.Sprintf("  refused %s %s: %s", call.Method, call.Route, call.Message))
		}
	}
	return strings.Join(lines, "\n")
}

// Await waits until done says so, asking again after every change. It ends the test when ctx or the
// server's patience does; report then tells what was there instead. Call it from the test's goroutine.
// done runs without any lock of the server: it may use all its methods.
func (s *Server) Await(ctx context.Context, what string, done func() bool, report func() string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(ctx, s.opts.Patience)
	defer cancel()
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if done() {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			s.t.Fatalf("discordtest: waited for %s; instead:\n%s", what, report())
		}
	}
}

// WaitMessage waits for a message of the bot that everybody in the channel sees and that fits, and returns
// the newest such.
func (s *Server) WaitMessage(ctx context.Context, c *Channel, fits func(Message) bool) Message {
	s.t.Helper()
	return s.waitMessage(ctx, c, nil, fits)
}

// WaitMessage is Server.WaitMessage for what the person sees.
func (u *User) WaitMessage(ctx context.Context, c *Channel, fits func(Message) bool) Message {
	u.s.t.Helper()
	return u.s.waitMessage(ctx, c, u, fits)
}

func (s *Server) waitMessage(ctx context.Context, c *Channel, u *User, fits func(Message) bool) Message {
	s.t.Helper()
	var found Message
	s.Await(ctx, "a message of the bot", func() bool {
		for _, m := range slices.Backward(s.sees(c, u)) {
			if m.Author == nil && !m.Loading && fits(m) {
				found = m
				return true
			}
		}
		return false
	}, func() string { return s.Transcript(c) })
	return found
}

// Has makes a condition: what there is to read contains part.
func Has(part string) func(Message) bool {
	return func(m Message) bool { return strings.Contains(m.Text(), part) }
}

// HasFile makes a condition: an attachment's name ends so.
func HasFile(ending string) func(Message) bool {
	return func(m Message) bool {
		return slices.ContainsFunc(m.Attachments, func(a Attachment) bool { return strings.HasSuffix(a.Name, ending) })
	}
}

// Answer waits for the first answer.
func (i *Interaction) Answer(ctx context.Context) Answer {
	i.s.t.Helper()
	var answer Answer
	i.await(ctx, "the first answer", func() bool { answer = i.answer; return i.answered })
	return answer
}

// await waits for a condition that runs with the server's lock held.
func (i *Interaction) await(ctx context.Context, what string, done func() bool) {
	i.s.t.Helper()
	i.s.Await(ctx, what+" to an interaction", func() bool {
		i.s.mu.Lock()
		defer i.s.mu.Unlock()
		return done()
	}, func() string { return i.failure + "\n" + i.s.Transcript(i.Channel) })
}

// Message waits until the answer's message is there, is no placeholder and fits; nil fits any.
func (i *Interaction) Message(ctx context.Context, fits func(Message) bool) Message {
	i.s.t.Helper()
	var found Message
	i.await(ctx, "the answering message", func() bool {
		if i.original == nil || i.original.loading() || i.original.deleted {
			return false
		}
		found = i.original.snapshot()
		return fits == nil || fits(found)
	})
	return found
}

// Followups returns the follow-up messages that are still there.
func (i *Interaction) Followups() []Message {
	i.s.mu.Lock()
	defer i.s.mu.Unlock()
	var out []Message
	for _, m := range i.followups {
		if !m.deleted {
			out = append(out, m.snapshot())
		}
	}
	return out
}

// Modal waits for the form that the bot opens.
func (i *Interaction) Modal(ctx context.Context) Modal {
	i.s.t.Helper()
	var modal Modal
	i.await(ctx, "the form", func() bool {
		if i.modal != nil {
			modal = *i.modal
		}
		return i.modal != nil
	})
	return modal
}

// Choices waits for the choices that the bot offers.
func (i *Interaction) Choices(ctx context.Context) []Choice {
	i.s.t.Helper()
	var choices []Choice
	i.await(ctx, "the choices", func() bool { choices = i.choices; return i.choices != nil })
	return choices
}

// Failed reports whether the person was told that the application did not respond.
func (i *Interaction) Failed() bool {
	i.s.mu.Lock()
	defer i.s.mu.Unlock()
	return i.failure != "" || !i.answered && i.expired()
}

// Responses counts the messages that answered: the first, the filled placeholder and the follow-ups.
func (i *Interaction) Responses() int {
	i.s.mu.Lock()
	defer i.s.mu.Unlock()
	return i.answers
}

// Attempts counts the first answers that the bot tried, refused ones included.
func (i *Interaction) Attempts() int {
	i.s.mu.Lock()
	defer i.s.mu.Unlock()
	return i.attempts
}
