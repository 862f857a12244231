package telegramtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

const (
	updatesKept    = 24 * time.Hour
	maxPollTimeout = 50 * time.Second
)

// updates is the queue of what the bot has not confirmed, and how it is fetched. Guarded by Server.mu.
type updates struct {
	next       int64
	queue      []*update
	allowed    []string // empty: all but those off by default
	poll       *poll
	lastOffset int64
	lastStart  time.Time
	lastEnd    time.Time
	repeat     int
	last       *update
	hook       *webhook
}

type update struct {
	id       int64
	body     json.RawMessage
	at       time.Time
	again    int // deliver that many more times after confirmation
	inFlight bool
}

// poll is a running getUpdates call.
type poll struct {
	ended chan struct{}
	why   *apiError
}

type webhook struct {
	url         string
	secret      string
	connections int
	reorder     int
	lastError   string
	lastErrorAt time.Time
	stop        context.CancelFunc
}

// enqueue makes an update for the bot, unless it did not ask for this kind. It needs s.mu.
func (s *Server) enqueue(kind string, payload any) {
	allowed := s.updates.allowed
	if len(allowed) > 0 && !slices.Contains(allowed, kind) || len(allowed) == 0 && slices.Contains(s.table.OffByDefault, kind) {
		return
	}
	id := s.updates.next
	s.updates.next++
	body, err := json.Marshal(map[string]any{"update_id": id, kind: payload})
	if err != nil {
		s.violation("update of kind %s: %v", kind, err)
		return
	}
	u := &update{id: id, body: body, at: s.now()}
	if s.updates.repeat > 0 {
		s.updates.repeat--
		u.again = 1
	}
	s.updates.queue, s.updates.last = append(s.updates.queue, u), u
	s.signal()
}

// RepeatLast delivers the newest update once more, with the same number, confirmed or not.
func (s *Server) RepeatLast() {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.updates.last
	if last == nil {
		s.violation("RepeatLast before any update")
		return
	}
	s.updates.queue = append(s.updates.queue, &update{id: last.id, body: last.body, at: s.now()})
	s.signal()
}

// RepeatUpdates makes each of the next n updates come twice, although it was confirmed.
func (s *Server) RepeatUpdates(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.updates.repeat = n
}

// PushUpdate sends the bot an update of a kind and shape the server has no method for.
func (s *Server) PushUpdate(kind string, payload any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.enqueue(kind, payload)
}

// PendingUpdates tells how many updates the bot has not confirmed.
func (s *Server) PendingUpdates() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.updates.queue)
}

// confirm drops the updates the offset confirms.
func (u *updates) confirm(offset int64, now time.Time) {
	if offset < 0 {
		u.queue = u.queue[max(0, len(u.queue)+int(offset)):]
		return
	}
	u.queue = slices.DeleteFunc(u.queue, func(x *update) bool {
		if now.Sub(x.at) > updatesKept {
			return true
		}
		if x.id >= offset {
			return false
		}
		x.again--
		return x.again < 0
	})
}

// getUpdates is the long poll; it takes s.mu itself.
func (s *Server) getUpdates(ctx context.Context, req *request) (any, *apiError) {
	mine, limit, timeout, err := s.beginPoll(req)
	if err != nil {
		return nil, err
	}
	timer := s.opts.Clock.After(timeout)
	for {
		s.mu.Lock()
		batch := s.updates.batch(limit)
		changed := s.changed
		if len(batch) > 0 {
			s.endPoll(mine)
			s.mu.Unlock()
			return batch, nil
		}
		s.mu.Unlock()
		select {
		case <-changed:
			continue
		case <-mine.ended:
			return nil, mine.why
		case <-timer:
		case <-ctx.Done():
		case <-s.closing:
		}
		s.mu.Lock()
		s.endPoll(mine)
		s.mu.Unlock()
		return []json.RawMessage{}, nil
	}
}

// beginPoll applies the parameters, ends another poller, and slows down who repeats itself.
func (s *Server) beginPoll(req *request) (mine *poll, limit int, timeout time.Duration, err *apiError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := &s.updates
	if u.hook != nil {
		return nil, 0, 0, conflict("can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first")
	}
	if req.has("allowed_updates") {
		if err := s.allow(req); err != nil {
			return nil, 0, 0, err
		}
	}
	limit = 100
	if n := req.int("limit"); n > 0 {
		limit = min(n, 100)
	}
	timeout = min(time.Duration(req.int("timeout"))*time.Second, maxPollTimeout)
	now, offset := s.now(), req.int64("offset")
	if offset == u.lastOffset && !u.lastStart.IsZero() && u.poll == nil {
		if timeout < 3*time.Second && now.Sub(u.lastStart) < 3*time.Second {
			timeout = 3 * time.Second
		}
		if now.Sub(u.lastEnd) < 500*time.Millisecond {
			limit = 1
		}
	}
	u.confirm(offset, now)
	u.lastOffset, u.lastStart = offset, now
	u.stopPoll("terminated by other getUpdates request; make sure that only one bot instance is running")
	u.poll = &poll{ended: make(chan struct{})}
	s.signal()
	return u.poll, limit, timeout, nil
}

func (s *Server) allow(req *request) *apiError {
	var kinds []string
	if err := req.decode("allowed_updates", &kinds); err != nil {
		return err
	}
	for _, kind := range kinds {
		if !slices.Contains(s.table.Updates, kind) {
			s.violation("allowed_updates: there is no kind of update %q", kind)
		}
	}
	s.updates.allowed = kinds
	return nil
}

func (u *updates) stopPoll(why string) {
	if u.poll != nil {
		u.poll.why = conflict(why)
		close(u.poll.ended)
		u.poll = nil
	}
}

func (s *Server) endPoll(p *poll) {
	s.updates.lastEnd = s.now()
	if s.updates.poll == p {
		s.updates.poll = nil
	}
}

func (u *updates) batch(limit int) []json.RawMessage {
	var out []json.RawMessage
	for _, x := range u.queue[:min(limit, len(u.queue))] {
		out = append(out, x.body)
	}
	return out
}

func (s *Server) setWebhook(req *request) (any, *apiError) {
	address := req.params["url"]
	if address == "" {
		return s.deleteWebhook(req)
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil, badRequest("bad webhook: invalid URL")
	}
	if !net.ParseIP(u.Hostname()).IsLoopback() && (u.Scheme != "https" || !slices.Contains([]string{"", "443", "80", "88", "8443"}, u.Port())) {
		return nil, badRequest("bad webhook: an HTTPS URL must be provided for webhook, on port 443, 80, 88 or 8443")
	}
	if req.has("allowed_updates") {
		if err := s.allow(req); err != nil {
			return nil, err
		}
	}
	if s.updates.hook != nil {
		s.updates.hook.stop()
	}
	s.dropPending(req)
	s.updates.stopPoll("terminated by setWebhook request")
	ctx, cancel := context.WithCancel(context.Background())
	hook := &webhook{url: address, secret: req.params["secret_token"], connections: 40, stop: cancel}
	if n := req.int("max_connections"); n > 0 {
		hook.connections = n
	}
	for _, x := range s.updates.queue {
		x.inFlight = false
	}
	s.updates.hook = hook
	s.work.Go(func() { s.deliver(ctx, hook) })
	return true, nil
}

func (s *Server) dropPending(req *request) {
	if req.bool("drop_pending_updates") {
		s.updates.queue = nil
	}
}

func (s *Server) deleteWebhook(req *request) (any, *apiError) {
	if s.updates.hook != nil {
		s.updates.hook.stop()
		s.updates.hook = nil
	}
	s.dropPending(req)
	return true, nil
}

func (s *Server) getWebhookInfo(*request) (any, *apiError) {
	info := map[string]any{"url": "", "has_custom_certificate": false, "pending_update_count": len(s.updates.queue)}
	if len(s.updates.allowed) > 0 {
		info["allowed_updates"] = s.updates.allowed
	}
	if hook := s.updates.hook; hook != nil {
		info["url"], info["max_connections"] = hook.url, hook.connections
		if hook.lastError != "" {
			info["last_error_message"], info["last_error_date"] = hook.lastError, hook.lastErrorAt.Unix()
		}
	}
	return info, nil
}

// ReorderWebhook collects the next n updates and delivers them to the webhook in reverse.
func (s *Server) ReorderWebhook(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.updates.hook == nil {
		s.violation("ReorderWebhook without a webhook")
		return
	}
	s.updates.hook.reorder = n
}

// deliver hands updates to the webhook, several at a time, until the webhook is taken away.
func (s *Server) deliver(ctx context.Context, hook *webhook) {
	defer hook.stop()
	slots := make(chan struct{}, hook.connections)
	for {
		s.mu.Lock()
		ready := s.takeForHook(hook)
		changed := s.changed
		s.mu.Unlock()
		for _, group := range ready {
			slots <- struct{}{}
			s.work.Go(func() {
				defer func() { <-slots }()
				for _, u := range group {
					s.deliverOne(ctx, hook, u)
				}
			})
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		case <-s.closing:
			return
		}
	}
}

// takeForHook returns the updates that are due, in groups that are delivered one after the other.
func (s *Server) takeForHook(hook *webhook) (groups [][]*update) {
	var waiting []*update
	for _, u := range s.updates.queue {
		if !u.inFlight {
			waiting = append(waiting, u)
		}
	}
	if n := hook.reorder; n > 0 {
		if len(waiting) < n {
			return nil
		}
		first := slices.Clone(waiting[:n])
		slices.Reverse(first)
		groups, waiting, hook.reorder = append(groups, first), waiting[n:], 0
		for _, u := range first {
			u.inFlight = true
		}
	}
	for _, u := range waiting {
		u.inFlight = true
		groups = append(groups, []*update{u})
	}
	return groups
}

// deliverOne posts an update until it is accepted, with the service's growing pauses.
func (s *Server) deliverOne(ctx context.Context, hook *webhook, u *update) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.work.Go(func() {
		select {
		case <-s.closing:
			cancel()
		case <-ctx.Done():
		}
	})
	pause := time.Second
	for {
		after, err := postUpdate(ctx, hook, u)
		s.mu.Lock()
		if err == nil {
			if u.again > 0 {
				u.again--
				s.mu.Unlock()
				continue
			}
			s.updates.queue = slices.DeleteFunc(s.updates.queue, func(x *update) bool { return x == u })
			s.signal()
			s.mu.Unlock()
			return
		}
		hook.lastError, hook.lastErrorAt = err.Error(), s.now()
		s.signal()
		s.mu.Unlock()
		wait := max(pause, after)
		pause = min(2*pause, time.Minute+rand.N(time.Minute))
		select {
		case <-s.opts.Clock.After(wait):
		case <-ctx.Done():
			return
		}
	}
}

// postUpdate sends one update; after is what the webhook asked for by Retry-After.
func postUpdate(ctx context.Context, hook *webhook, u *update) (after time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, hook.url, bytes.NewReader(u.body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	if hook.secret != "" {
		req.Header.Set("X-Telegram-Bot-Api-Secret-Token", hook.secret)
	}
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20))
	if resp.StatusCode/100 == 2 {
		return 0, nil
	}
	if n, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil {
		after = min(time.Duration(n)*time.Second, time.Hour)
	}
	return after, fmt.Errorf("wrong response from the webhook: %s", resp.Status)
}
