package telegramtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Fault is something that goes wrong with the next requests it fits. Make one with RateLimit, CutBefore,
// CutAfter, Delay, Hang, ServerError, BrokenJSON or Refuse, narrow it down, and give it to Inject.
type Fault struct {
	// Method and ChatID narrow the fault down; zero values fit everything but getUpdates, which must be
	// named.
	Method string
	ChatID int64
	// Skip lets that many fitting requests pass first; Times is how many are hit, 0 meaning one.
	Skip, Times int

	kind  string
	code  int
	text  string
	delay time.Duration
	until <-chan struct{}
}

// RateLimit refuses with 429 until retryAfter has passed; asking again too early makes it a second longer.
func RateLimit(retryAfter time.Duration) Fault { return Fault{kind: "rate limit", delay: retryAfter} }

// CutBefore closes the connection without having done anything.
func CutBefore() Fault { return Fault{kind: "cut before"} }

// CutAfter does what was asked and closes the connection without an answer.
func CutAfter() Fault { return Fault{kind: "cut after"} }

// Delay answers d later.
func Delay(d time.Duration) Fault { return Fault{kind: "delay", delay: d} }

// DelayUntil answers once release is closed.
func DelayUntil(release <-chan struct{}) Fault { return Fault{kind: "delay until", until: release} }

// Hang never answers; it ends when the client gives up or the server closes.
func Hang() Fault { return Fault{kind: "hang"} }

// ServerError answers with a proxy's HTML page and the given status, having done nothing.
func ServerError(status int) Fault { return Fault{kind: "server error", code: status} }

// BrokenJSON does what was asked and answers 200 with half a JSON text.
func BrokenJSON() Fault { return Fault{kind: "broken JSON"} }

// Refuse answers with a refusal of the service, having done nothing.
func Refuse(code int, description string) Fault {
	return Fault{kind: "refuse", code: code, text: description}
}

// On narrows the fault down to a method.
func (f Fault) On(method string) Fault { f.Method = method; return f }

// In narrows the fault down to a chat.
func (f Fault) In(c *Chat) Fault { f.ChatID = c.ID(); return f }

// Repeat makes the fault hit n requests.
func (f Fault) Repeat(n int) Fault { f.Times = n; return f }

// After lets n fitting requests pass first.
func (f Fault) After(n int) Fault { f.Skip = n; return f }

// String names the fault, for failure reports.
func (f Fault) String() string { return fmt.Sprintf("%s %s", f.kind, f.Method) }

// Inject scripts a fault. Faults are tried in the order of their injection; each request meets at most one.
func (s *Server) Inject(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.Times = cmp.Or(f.Times, 1)
	s.faults = append(s.faults, &f)
}

// takeFault finds the fault for a request and counts it down.
func (s *Server) takeFault(req *request) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, f := range s.faults {
		if f.Method == "" && req.method == "getUpdates" || f.Method != "" && f.Method != req.method {
			continue
		}
		if f.ChatID != 0 && f.ChatID != req.int64("chat_id") {
			continue
		}
		if f.Skip > 0 {
			f.Skip--
			continue
		}
		if f.Times--; f.Times == 0 {
			s.faults = append(s.faults[:i:i], s.faults[i+1:]...)
		}
		if f.kind == "rate limit" {
			flood := s.limitedFlood(req)
			flood.until, flood.told = s.now().Add(f.delay), false
			return nil // throttle refuses from here on
		}
		return f
	}
	return nil
}

// before acts ahead of the handler and tells whether the request ends here.
func (f *Fault) before(s *Server, w http.ResponseWriter, r *http.Request) bool {
	switch f.kind {
	case "cut before":
		cut(w)
	case "hang":
		select {
		case <-r.Context().Done():
		case <-s.closing:
		}
		cut(w)
	case "delay":
		select {
		case <-s.opts.Clock.After(f.delay):
		case <-s.closing:
		}
		return false
	case "delay until":
		select {
		case <-f.until:
		case <-s.closing:
		}
		return false
	case "server error":
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(f.code)
		_, _ = fmt.Fprintf(w, "<html><head><title>%d %s</title></head></html>", f.code, http.StatusText(f.code))
	case "refuse":
		writeError(w, &apiError{code: f.code, description: f.text})
	default:
		return false
	}
	return true
}

// after acts in place of the answer and tells whether it did.
func (f *Fault) after(w http.ResponseWriter) bool {
	switch f.kind {
	case "cut after":
		cut(w)
	case "broken JSON":
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"ok":true,"result":{"message_id":`)
	default:
		return false
	}
	return true
}

// cut closes the connection of a request without an answer.
func cut(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_ = conn.Close()
	}
}

// flood counts the messages of a chat, or of all chats, and remembers a running punishment.
type flood struct {
	until time.Time
	told  bool // the bot was told to wait until then
	sent  []time.Time
}

// limitedFlood is where a rate limit for this request is kept.
func (s *Server) limitedFlood(req *request) *flood {
	if chat, ok := s.chats[req.int64("chat_id")]; ok {
		return &chat.flood
	}
	return &s.flood
}

// countsAsMessage tells which methods the rate limits are about; edits count too.
func countsAsMessage(method string) bool {
	switch method {
	case "sendMessage", "sendPhoto", "sendVideo", "sendAnimation", "sendAudio", "sendVoice", "sendDocument", "sendMediaGroup",
		"editMessageText", "editMessageCaption", "editMessageMedia", "editMessageReplyMarkup":
		return true
	}
	return false
}

// throttle refuses what comes too fast. It needs s.mu.
func (s *Server) throttle(req *request) *apiError {
	f := s.limitedFlood(req)
	now := s.now()
	if left := f.until.Sub(now); left > 0 {
		if f.told {
			f.until, left = f.until.Add(time.Second), left+time.Second
		}
		f.told = true
		return tooMany(left)
	}
	if !s.opts.FloodLimits || !countsAsMessage(req.method) {
		return nil
	}
	weight := messagesIn(req)
	rules := []floodRule{{&s.flood, 30, time.Second, time.Second}}
	if chat, ok := s.chats[req.int64("chat_id")]; ok && chat.kind == "private" {
		rules = append(rules, floodRule{&chat.flood, 15, 10 * time.Second, 3 * time.Second})
	} else if ok {
		rules = append(rules, floodRule{&chat.flood, 20, time.Minute, 10 * time.Second})
	}
	for _, r := range rules {
		if r.flood.within(now, r.window)+weight > r.count {
			r.flood.until, r.flood.told = now.Add(r.wait), true
			return tooMany(r.wait)
		}
	}
	for _, r := range rules {
		for range weight {
			r.flood.sent = append(r.flood.sent, now)
		}
	}
	return nil
}

// floodRule allows count messages within window; who sends more has to wait.
type floodRule struct {
	flood        *flood
	count        int
	window, wait time.Duration
}

// messagesIn counts what a request adds to the chat: albums are several messages.
func messagesIn(req *request) int {
	var items []json.RawMessage
	if req.method == "sendMediaGroup" && json.Unmarshal([]byte(req.params["media"]), &items) == nil {
		return max(1, len(items))
	}
	return 1
}

// within counts and keeps the messages of the last window.
func (f *flood) within(now time.Time, window time.Duration) int {
	keep := f.sent[:0]
	for _, t := range f.sent {
		if now.Sub(t) < window {
			keep = append(keep, t)
		}
	}
	f.sent = keep
	return len(keep)
}
