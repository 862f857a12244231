package discordtest

import (
	"cmp"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// limits are the rate limits: a bucket per route and top-level resource, and one for all requests.
type limits struct {
	buckets map[string]*bucket
	global  bucket
}

type bucket struct {
	used  int
	until time.Time // when the window ends
	// blocked is set by a scripted limit: nothing passes before it, with that scope.
	blocked time.Time
	scope   string
}

func (l *limits) init() { l.buckets = map[string]*bucket{} }

// rule is how many requests a route takes within a window.
func (s *Server) rule(req *request) (count int, window time.Duration) {
	if !s.opts.RateLimits {
		return 1000, time.Second
	}
	switch {
	case strings.HasSuffix(req.route, "/commands") && req.method == http.MethodPut:
		return 2, 5 * time.Second
	case strings.Contains(req.route, "/messages"), strings.HasSuffix(req.route, "{webhook_token}"), strings.HasSuffix(req.route, "/typing"):
		return 5, 5 * time.Second
	}
	return 50, time.Second
}

// exempt reports whether a route is outside the global limit.
func exempt(req *request) bool {
	return hasPrefix(req.route, "/interactions/") || hasPrefix(req.route, "/webhooks/")
}

// resource is the top-level resource that a route's limit is counted by.
func resource(req *request) string {
	for _, name := range []string{"webhook_token", "interaction_token", "channel_id", "guild_id"} {
		if id := req.vars[name]; id != "" {
			return id
		}
	}
	return ""
}

func (l *limits) bucket(req *request) *bucket {
	key := req.method + " " + req.route + " " + resource(req)
	if l.buckets[key] == nil {
		l.buckets[key] = &bucket{}
	}
	return l.buckets[key]
}

// bucketName is the opaque name of a route's bucket; it is the same for all resources.
func bucketName(req *request) string {
	sum := sha1.Sum([]byte(req.method + req.route))
	return hex.EncodeToString(sum[:8])
}

// take counts a request and writes the headers; it refuses what is too much. It needs s.mu.
func (l *limits) take(s *Server, w http.ResponseWriter, req *request) *apiError {
	now := s.now()
	b := l.bucket(req)
	count, window := s.rule(req)
	if now.After(b.until) || b.until.IsZero() {
		b.used, b.until = 0, now.Add(window)
	}
	if now.Before(l.global.blocked) && !exempt(req) {
		return l.refuse(w, &l.global, l.global.blocked.Sub(now), true)
	}
	if s.opts.RateLimits && !exempt(req) {
		if now.After(l.global.until) {
			l.global.used, l.global.until = 0, now.Add(time.Second)
		}
		if l.global.used++; l.global.used > 50 {
			return l.refuse(w, &l.global, l.global.until.Sub(now), true)
		}
	}
	reset := b.until
	if now.Before(b.blocked) {
		b.used, reset = count, b.blocked
	}
	over := b.used >= count
	if !over {
		b.used++
	}
	h := w.Header()
	h.Set("X-RateLimit-Limit", strconv.Itoa(count))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(count-b.used))
	h.Set("X-RateLimit-Reset", fmt.Sprintf("%.3f", float64(reset.UnixMilli())/1000))
	h.Set("X-RateLimit-Reset-After", fmt.Sprintf("%.3f", reset.Sub(now).Seconds()))
	h.Set("X-RateLimit-Bucket", bucketName(req))
	if over {
		return l.refuse(w, b, reset.Sub(now), false)
	}
	return nil
}

func (l *limits) refuse(w http.ResponseWriter, b *bucket, wait time.Duration, global bool) *apiError {
	scope := cmp.Or(b.scope, "user")
	if global {
		scope = "global"
		w.Header().Set("X-RateLimit-Global", "true")
	}
	w.Header().Set("X-RateLimit-Scope", scope)
	w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	return &apiError{
		status: http.StatusTooManyRequests, message: "You are being rate limited.", retryAfter: math.Ceil(wait.Seconds()*1000) / 1000,
		global: global, scope: scope,
	}
}

// The number of invalid requests within a window that gets an address banned.
const (
	invalidAllowed = 10_000
	invalidWindow  = 10 * time.Minute
)

// count notes invalid requests; a shared limit is nobody's fault. It needs s.mu.
func (s *Server) count(status int, refused *apiError) {
	shared := refused != nil && refused.scope == "shared"
	if status == http.StatusUnauthorized || status == http.StatusForbidden || status == http.StatusTooManyRequests && !shared {
		s.invalid = append(s.invalid, s.now())
	}
}

// InvalidRequests counts the answers 401, 403 and 429 of the last ten minutes; ten thousand get a bot banned.
func (s *Server) InvalidRequests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.recentInvalid()
}

func (s *Server) recentInvalid() int {
	kept := s.invalid[:0]
	for _, at := range s.invalid {
		if s.now().Sub(at) < invalidWindow {
			kept = append(kept, at)
		}
	}
	s.invalid = kept
	return len(kept)
}

func (s *Server) banned() bool {
	return len(s.invalid) >= invalidAllowed && s.recentInvalid() >= invalidAllowed
}
