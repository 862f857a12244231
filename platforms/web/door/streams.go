package door

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// OpenCount counts what each key has open. Its zero value is ready.
type OpenCount struct {
	mu   sync.Mutex
	open map[string]int
}

// Enter counts one more of key, until leave is called; false where most are open. Zero is no limit.
func (c *OpenCount) Enter(key string, most int) (leave func(), ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if most > 0 && c.open[key] >= most {
		return nil, false
	}
	if c.open == nil {
		c.open = map[string]int{}
	}
	c.open[key]++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.open[key]--; c.open[key] == 0 {
			delete(c.open, key)
		}
	}, true
}

// KeepAlive is how often an idle event stream says that it is still there, below the usual idle limits of proxies.
const KeepAlive = 15 * time.Second

// BeginEvents makes an answer a stream of server-sent events, which no proxy is to keep or hold back.
func BeginEvents(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
}

// Version is something that changes, as it is now.
type Version struct {
	Number int64
	Body   any  // told as JSON
	Final  bool // there will be no other
}

// Follow tells each version of something as a server-sent event of the name, now first, and asks for it again and again, since any process
// may change it. It ends with the final version, and when look fails: a new request hears why.
func Follow(w http.ResponseWriter, r *http.Request, name string, every time.Duration, now Version, look func(context.Context) (Version, error)) error {
	BeginEvents(w)
	control := http.NewResponseController(w)
	tick := time.NewTicker(every)
	defer tick.Stop()
	told, said := now.Number-1, time.Now()
	for {
		switch {
		case now.Number != told:
			raw, err := json.Marshal(now.Body)
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "id: %d\nevent: %s\ndata: %s\n\n", now.Number, name, raw)
			told, said = now.Number, time.Now()
		case time.Since(said) > KeepAlive:
			fmt.Fprint(w, ": still here\n\n")
			said = time.Now()
		}
		if control.Flush() != nil || now.Final {
			return nil // who followed has gone, or there is no more to tell
		}
		select {
		case <-r.Context().Done():
			return nil
		case <-tick.C:
		}
		var err error
		if now, err = look(r.Context()); err != nil {
			return nil
		}
	}
}

// StreamLimits says how many event streams an account may have open: users.Store.
type StreamLimits interface {
	StreamsOf(ctx context.Context, accountID string) (int, error)
}

// Streams counts the event streams of each account: each takes memory and a connection for as long as somebody wants.
type Streams struct {
	Limits StreamLimits

	open OpenCount
}

// Enter counts one more event stream of an account until leave is called. The stream is to follow the request that it gives, whose
// context ends soon after the key or the session that opened it.
func (s *Streams) Enter(r *http.Request, a users.Account) (stream *http.Request, leave func(), err error) {
	most, err := s.Limits.StreamsOf(r.Context(), a.ID)
	if err != nil {
		return nil, nil, err
	}
	done, ok := s.open.Enter(a.ID, most)
	if !ok {
		e := registry.Errorf(registry.CodeRateLimited, "%d event streams of this account are open, which is the limit: close one, or ask for the run now and then instead", most)
		e.Retryable, e.RetryAfter = true, KeepAlive
		return nil, nil, e
	}
	ctx, end := context.WithCancel(r.Context())
	go endWithSecret(ctx, end)
	return r.WithContext(ctx), func() { end(); done() }, nil
}

// endWithSecret ends a stream whose key or session is none any more, which it looks for as often as an idle stream says that it is there.
func endWithSecret(ctx context.Context, end context.CancelFunc) {
	tick := time.NewTicker(KeepAlive)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if visitOf(ctx).ended(ctx) {
				end()
				return
			}
		}
	}
}
