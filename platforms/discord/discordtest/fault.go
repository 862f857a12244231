package discordtest

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// Fault is something that goes wrong with the next requests it fits. Make one with the functions below,
// narrow it down, and give it to Inject.
type Fault struct {
	// Operation is such as "POST /channels/{channel_id}/messages"; ChannelID narrows it to one channel.
	// Zero values fit everything.
	Operation, ChannelID string
	// Skip lets that many fitting requests pass first; Times is how many are hit, 0 meaning one.
	Skip, Times int

	kind   string
	status int
	code   int
	text   string
	delay  time.Duration
	until  <-chan struct{}
}

// RateLimit refuses with 429 until d has passed, as a used-up bucket does.
func RateLimit(d time.Duration) Fault { return Fault{kind: "rate limit", delay: d} }

// SharedLimit is a RateLimit that the resource has for everybody: it does not count as the bot's mistake.
func SharedLimit(d time.Duration) Fault { return Fault{kind: "rate limit", text: "shared", delay: d} }

// GlobalLimit refuses everything but answers to interactions with 429 until d has passed.
func GlobalLimit(d time.Duration) Fault { return Fault{kind: "global limit", delay: d} }

// CloudflareLimit answers 429 with an HTML page, as the proxy in front of the service does.
func CloudflareLimit(retryAfter time.Duration) Fault {
	return Fault{kind: "HTML", status: http.StatusTooManyRequests, delay: retryAfter}
}

// ServerError answers with a proxy's HTML page and the given status, having done nothing.
func ServerError(status int) Fault { return Fault{kind: "HTML", status: status} }

// CutBefore closes the connection without having done anything.
func CutBefore() Fault { return Fault{kind: "cut before"} }

// CutAfter does what was asked and closes the connection without an answer.
func CutAfter() Fault { return Fault{kind: "cut after"} }

// Delay answers d later, on the server's clock.
func Delay(d time.Duration) Fault { return Fault{kind: "delay", delay: d} }

// DelayUntil answers once release is closed.
func DelayUntil(release <-chan struct{}) Fault { return Fault{kind: "delay until", until: release} }

// Hang never answers; it ends when the client gives up or the server closes.
func Hang() Fault { return Fault{kind: "hang"} }

// BrokenJSON does what was asked and answers 200 with half a JSON text.
func BrokenJSON() Fault { return Fault{kind: "broken JSON"} }

// Refuse answers with a refusal of the service, having done nothing.
func Refuse(status, code int, message string) Fault {
	return Fault{kind: "refuse", status: status, code: code, text: message}
}

// On narrows the fault down to an operation.
func (f Fault) On(operation string) Fault { f.Operation = operation; return f }

// In narrows the fault down to a channel.
func (f Fault) In(c *Channel) Fault { f.ChannelID = c.id; return f }

// Repeat makes the fault hit n requests.
func (f Fault) Repeat(n int) Fault { f.Times = n; return f }

// After lets n fitting requests pass first.
func (f Fault) After(n int) Fault { f.Skip = n; return f }

// String names the fault, for failure reports.
func (f Fault) String() string { return fmt.Sprintf("%s %s", f.kind, f.Operation) }

// Inject scripts a fault. Faults are tried in the order of their injection; each request meets at most one.
func (s *Server) Inject(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.Times = max(f.Times, 1)
	s.faults = append(s.faults, &f)
}

// takeFault finds the fault for a request and counts it down.
func (s *Server) takeFault(req *request) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n, f := range s.faults {
		if f.Operation != "" && f.Operation != req.method+" "+req.route || f.ChannelID != "" && f.ChannelID != req.vars["channel_id"] {
			continue
		}
		if f.Skip > 0 {
			f.Skip--
			continue
		}
		if f.Times--; f.Times == 0 {
			s.faults = append(s.faults[:n:n], s.faults[n+1:]...)
		}
		switch f.kind {
		case "rate limit":
			b := s.limits.bucket(req)
			b.blocked, b.scope = s.now().Add(f.delay), f.text
			return nil // the limits refuse from here on
		case "global limit":
			s.limits.global.blocked = s.now().Add(f.delay)
			return nil
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
	case "HTML":
		f.writePage(w)
	case "refuse":
		writeError(w, refuse(f.status, f.code, f.text))
	default:
		return false
	}
	return true
}

func (f *Fault) writePage(w http.ResponseWriter) {
	if f.delay > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(f.delay.Seconds())))
	}
	w.Header().Set("Content-Type", "text/html; charset=UTF-8")
	w.Header().Set("Server", "cloudflare")
	w.WriteHeader(f.status)
	_, _ = fmt.Fprintf(w, "<html><head><title>%d %s</title></head></html>", f.status, http.StatusText(f.status))
}

// after acts in place of the answer and tells whether it did.
func (f *Fault) after(w http.ResponseWriter) bool {
	switch f.kind {
	case "cut after":
		cut(w)
	case "broken JSON":
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":"1234","content":`)
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
