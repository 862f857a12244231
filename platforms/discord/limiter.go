package discord

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/signalbox/signalbox/internal/clock"
)

const (
	globalRate  = 45          // calls a second, a little below Discord's 50
	longestWait = time.Minute // what would have to wait longer is refused
	manyRoutes  = 2048        // above this many the routes at rest are forgotten
	guardWindow = 10 * time.Minute
	guardLimit  = 8000 // refused calls in guardWindow; Discord bans the address at 10,000
)

// limiter keeps to the limits that Discord tells with every answer. It is safe for concurrent use.
type limiter struct {
	clock clock.Clock

	mu      sync.Mutex
	global  *rate.Limiter
	blocked time.Time           // nobody calls before
	routes  map[string]string   // route -> the bucket that Discord says it is in
	buckets map[string]*allowed // by bucket and resource

	refused      int // calls refused as invalid since refusedSince
	refusedSince time.Time
}

// allowed is what a bucket still takes.
type allowed struct {
	left  int
	reset time.Time // when left becomes full again
}

func newLimiter(c clock.Clock) *limiter {
	return &limiter{
		clock: c, global: rate.NewLimiter(globalRate, globalRate),
		routes: map[string]string{}, buckets: map[string]*allowed{},
	}
}

// scope is what a limit counts for: a route, and the channel, guild or webhook it is about.
type scope struct {
	route    string
	resource string
	// apart calls are outside of the global limit: those to interactions.
	apart bool
}

func (l *limiter) key(p scope) string {
	if bucket, ok := l.routes[p.route]; ok {
		return bucket + " " + p.resource
	}
	return p.route + " " + p.resource
}

// turn waits until a call may be made and counts it. With patient false it does not wait. Where the wait does not
// fit ctx it is refused at once, with a rate-limit error that tells how long it is.
func (l *limiter) turn(ctx context.Context, p scope, patient bool) error {
	for {
		wait := l.take(p)
		if wait == 0 {
			return nil
		}
		if !patient || !fits(ctx, wait) {
			return limited(wait, nil)
		}
		select {
		case <-l.clock.After(wait):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// take counts a call, or gives how long it has to wait.
func (l *limiter) take(p scope) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock.Now()
	wait := max(0, l.blocked.Sub(now))
	if l.refused >= guardLimit {
		wait = max(wait, l.refusedSince.Add(guardWindow).Sub(now))
	}
	b := l.buckets[l.key(p)]
	if b != nil && b.left <= 0 {
		wait = max(wait, b.reset.Sub(now))
	}
	if tokens := l.global.TokensAt(now); !p.apart && tokens < 1 {
		wait = max(wait, time.Duration((1-tokens)/globalRate*float64(time.Second)), time.Millisecond)
	}
	if wait > 0 {
		return wait
	}
	if b != nil {
		b.left--
	}
	if !p.apart {
		l.global.AllowN(now, 1)
	}
	return 0
}

// learn takes what an answer says about limits.
func (l *limiter) learn(p scope, status int, h http.Header) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock.Now()
	l.count(status, h, now)
	if bucket := h.Get("X-RateLimit-Bucket"); bucket != "" {
		l.routes[p.route] = bucket
	}
	left, err := strconv.Atoi(h.Get("X-RateLimit-Remaining"))
	after, errAfter := strconv.ParseFloat(h.Get("X-RateLimit-Reset-After"), 64)
	if err != nil || errAfter != nil {
		return
	}
	l.forgetOld(now)
	reset := now.Add(time.Duration(after * float64(time.Second)))
	b := l.buckets[l.key(p)]
	if b == nil {
		b = &allowed{left: left}
		l.buckets[l.key(p)] = b
	}
	// Answers may come in another order than the calls were counted: within a period the least counts.
	if reset.After(b.reset.Add(100*time.Millisecond)) || left < b.left {
		b.left = left
	}
	b.reset = reset
}

// punish keeps calls back that were refused as too many.
func (l *limiter) punish(p scope, wait time.Duration, global bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	until := l.clock.Now().Add(wait)
	if global {
		l.blocked = until
		return
	}
	l.buckets[l.key(p)] = &allowed{reset: until}
}

// count watches the calls that Discord counts as invalid.
func (l *limiter) count(status int, h http.Header, now time.Time) {
	switch {
	case status == http.StatusTooManyRequests && h.Get("X-RateLimit-Scope") == "shared":
		return
	case status != http.StatusUnauthorized && status != http.StatusForbidden && status != http.StatusTooManyRequests:
		return
	}
	if now.Sub(l.refusedSince) > guardWindow {
		l.refused, l.refusedSince = 0, now
	}
	l.refused++
}

// forgetOld drops what limits nothing any more: every interaction has a bucket of its own.
func (l *limiter) forgetOld(now time.Time) {
	if len(l.buckets) < manyRoutes {
		return
	}
	for key, b := range l.buckets {
		if b.reset.Before(now) {
			delete(l.buckets, key)
		}
	}
}

// fits reports whether a wait leaves time before ctx ends.
func fits(ctx context.Context, wait time.Duration) bool {
	deadline, ok := ctx.Deadline()
	if !ok {
		return wait <= longestWait
	}
	return wait < time.Until(deadline)
}
