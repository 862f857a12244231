package telegramtest

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"
)

// Call is a request the bot made.
type Call struct {
	Method string
	Params map[string]string
	Files  map[string]Upload
	At     time.Time
	// Code is 200, or the refusal's code, 0 when a fault ended the request; Description is its text.
	Code        int
	Description string
}

func (s *Server) record(req *request, refused *apiError) {
	c := Call{Method: req.method, Params: maps.Clone(req.params), Files: req.files, At: req.at, Code: 200}
	if refused != nil {
		c.Code, c.Description = refused.code, refused.description
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, c)
	s.signal()
}

// Calls returns the finished calls of a method in their order, or all of them for "".
func (s *Server) Calls(method string) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Call
	for _, c := range s.calls {
		if method == "" || strings.EqualFold(c.Method, method) {
			out = append(out, c)
		}
	}
	return out
}

// History returns the messages a person sees in the chat now, oldest first.
func (s *Server) History(c *Chat) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.history(c)
}

func (s *Server) history(c *Chat) []Message {
	var out []Message
	for _, m := range c.messages {
		if !m.deleted {
			out = append(out, m.snapshot())
		}
	}
	return out
}

// Actions returns the chat actions the bot showed, oldest first.
func (s *Server) Actions(c *Chat) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), c.actions...)
}

// Transcript shows the chat as text, for failure reports.
func (s *Server) Transcript(c *Chat) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.transcript(c)
}

func (s *Server) transcript(c *Chat) string {
	lines := []string{c.String()}
	for _, m := range c.messages {
		lines = append(lines, "  "+m.snapshot().String())
	}
	var refused []string
	for _, call := range s.calls {
		if call.Code != 200 {
			refused = append(refused, fmt.Sprintf("  %s: %d %s", call.Method, call.Code, call.Description))
		}
	}
	if len(refused) > 0 {
		lines = append(append(lines, "refused calls:"), refused...)
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
			s.t.Fatalf("telegramtest: waited for %s; instead:\n%s", what, report())
		}
	}
}

// WaitMessage waits for a message of the bot in the chat that fits, and returns the newest such.
func (s *Server) WaitMessage(ctx context.Context, c *Chat, fits func(Message) bool) Message {
	s.t.Helper()
	var found Message
	s.Await(ctx, "a message of the bot", func() bool {
		history := s.History(c)
		for i := len(history) - 1; i >= 0; i-- {
			if m := history[i]; m.From == nil && fits(m) {
				found = m
				return true
			}
		}
		return false
	}, func() string { return s.Transcript(c) })
	return found
}

// WaitCalls waits until the bot made n successful calls of a method and returns them.
func (s *Server) WaitCalls(ctx context.Context, method string, n int) []Call {
	s.t.Helper()
	var good []Call
	s.Await(ctx, fmt.Sprintf("%d calls of %s", n, method), func() bool {
		good = nil
		for _, c := range s.Calls(method) {
			if c.Code == 200 {
				good = append(good, c)
			}
		}
		return len(good) >= n
	}, func() string { return fmt.Sprintf("%d calls", len(good)) })
	return good
}

// Answer waits for the bot's answer to the press.
func (p *Press) Answer(ctx context.Context) CallbackAnswer {
	p.s.t.Helper()
	var answer CallbackAnswer
	p.s.Await(ctx, "the answer to a button", func() bool {
		p.s.mu.Lock()
		defer p.s.mu.Unlock()
		answer = p.answer
		return p.answered
	}, func() string { return "none" })
	return answer
}

// Now returns the message as it is at the moment; Deleted is set once it is gone.
func (s *Server) Now(m Message) Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, own := range m.Chat.messages {
		if own.id == m.ID {
			return own.snapshot()
		}
	}
	m.Deleted = true
	return m
}

// Has makes a condition: the text or caption contains part.
func Has(part string) func(Message) bool {
	return func(m Message) bool { return strings.Contains(m.Text, part) }
}

// HasMedia makes a condition: the message carries a file of that kind.
func HasMedia(kind string) func(Message) bool {
	return func(m Message) bool { return m.Media != nil && m.Media.Kind == kind }
}
