// Package gateway keeps the connections over which Discord tells of events.
//
// Source: https://docs.discord.com/developers/events/gateway
package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/signalbox/signalbox/internal/clock"
)

// Shards says which shards' connections to the gateway a process keeps. The zero value keeps as many as Discord
// recommends.
type Shards struct {
	Off   bool  // no gateway: interactions come by HTTP only
	Count int   // of all processes together; 0: as Discord recommends, all of them here
	IDs   []int // those of this process; empty: all
}

// ParseShards reads a setting: "auto" or nothing, "none", a count ("4"), or ids and count ("0,1/4", "0-3/16").
func ParseShards(s string) (Shards, error) {
	wrong := fmt.Errorf(`found %q, expected auto, none, a count such as 4, or ids and count such as 0,1/4`, s)
	switch s {
	case "", "auto":
		return Shards{}, nil
	case "none":
		return Shards{Off: true}, nil
	}
	ids, total, some := strings.Cut(s, "/")
	if !some {
		total = ids
	}
	count, err := strconv.Atoi(total)
	if err != nil || count < 1 || count > maxShards {
		return Shards{}, wrong
	}
	shards := Shards{Count: count}
	if !some {
		return shards, nil
	}
	for part := range strings.SplitSeq(ids, ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if !isRange {
			last = first
		}
		from, err1 := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if err1 != nil || err2 != nil || from < 0 || to < from || to >= count {
			return Shards{}, wrong
		}
		for id := from; id <= to; id++ {
			shards.IDs = append(shards.IDs, id)
		}
	}
	return shards, nil
}

const maxShards = 10_000

// Info is what Discord tells of its gateway.
type Info struct {
	URL     string `json:"url"`
	Shards  int    `json:"shards"`
	Session struct {
		Total          int   `json:"total"` // 0: no limit is told
		Remaining      int   `json:"remaining"`
		ResetAfter     int64 `json:"reset_after"` // ms
		MaxConcurrency int   `json:"max_concurrency"`
	} `json:"session_start_limit"`
}

// Config is what connections work with; all of it is required, but for Shards.
type Config struct {
	Token  string // the bot's
	Shards Shards // those of this process
	Clock  clock.Clock
	Jitter func() float64 // numbers in [0, 1) that spread repeats
	Log    *slog.Logger
	// Connected is told of each connection that comes to work (1) or no longer does (-1).
	Connected func(change int32)
	// Event takes an event in the order in which its shard tells of them; the shard waits for it.
	Event func(ctx context.Context, kind string, data json.RawMessage)
}

// Listen keeps the connections until ctx ends, and then returns nil, or until Discord refuses one for good.
func Listen(ctx context.Context, cfg Config, info Info) error {
	count, ids := cfg.Shards.Count, cfg.Shards.IDs
	if count == 0 {
		count = max(1, info.Shards)
	}
	if len(ids) == 0 {
		for id := range count {
			ids = append(ids, id)
		}
	}
	gate := newIdentifyGate(cfg.Clock, info)
	group, ctx := errgroup.WithContext(ctx)
	for _, id := range ids {
		s := &shard{Config: cfg, id: id, count: count, url: info.URL, gate: gate, log: cfg.Log.With("shard", id)}
		group.Go(func() error { return s.run(ctx) })
	}
	return group.Wait()
}

const (
	firstBackoff = time.Second
	mostBackoff  = time.Minute
)

// Backoff is how long to wait after so many failures in a row; a part of it, by jitter in [0, 1), is chance.
func Backoff(failures int, jitter func() float64) time.Duration {
	d := min(firstBackoff<<min(failures-1, 10), mostBackoff)
	return d/2 + time.Duration(jitter()*float64(d/2))
}

// identifyEvery is how far apart two new sessions of shards that share a place in Discord's queue must begin.
const identifyEvery = 5 * time.Second

// limitPeriod is how long a session_start_limit lasts after it was reset.
const limitPeriod = 24 * time.Hour

// identifyGate lets new sessions begin no faster and no more often than Discord allows. Discord resets the
// token of a bot that begins more of them than its session_start_limit.
type identifyGate struct {
	clock  clock.Clock
	places int // of Discord's queue
	total  int // sessions that may begin until the next reset; 0: no limit is known

	mu     sync.Mutex
	left   int
	resets time.Time
	last   map[int]time.Time // by place in the queue
}

func newIdentifyGate(c clock.Clock, info Info) *identifyGate {
	limit := info.Session
	return &identifyGate{
		clock: c, places: max(1, limit.MaxConcurrency), total: limit.Total, left: limit.Remaining,
		resets: c.Now().Add(time.Duration(limit.ResetAfter) * time.Millisecond), last: map[int]time.Time{},
	}
}

// wait waits until a shard may begin a new session.
func (g *identifyGate) wait(ctx context.Context, id int, log *slog.Logger) error {
	for {
		d := g.take(id)
		if d <= 0 {
			return nil
		}
		if d > identifyEvery {
			log.WarnContext(ctx, "Discord allows no new session for now: the bot has begun too many today; the shard waits", "for", d)
		}
		select {
		case <-g.clock.After(d):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// take lets a session begin, or gives how long it has to wait.
func (g *identifyGate) take(id int) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	key := id % g.places
	now := g.clock.Now()
	if last, ok := g.last[key]; ok && now.Sub(last) < identifyEvery {
		return identifyEvery - now.Sub(last)
	}
	if g.total > 0 {
		if !now.Before(g.resets) {
			g.left, g.resets = g.total, now.Add(limitPeriod)
		}
		if g.left <= 0 {
			return g.resets.Sub(now)
		}
		g.left--
	}
	g.last[key] = now
	return 0
}

// fatal is a refusal of the gateway that no repetition helps.
type fatal struct{ text string }

func (e *fatal) Error() string { return e.text }

// fatalClose gives the refusal for a close code; nil where connecting again helps.
func fatalClose(code int) error {
	text := ""
	switch code {
	case 4004:
		text = "the token is not accepted by Discord; check DISCORD_BOT_TOKEN"
	case 4010, 4011:
		text = "Discord wants other shards; check DISCORD_SHARDS, or leave it out"
	case 4012:
		text = "Discord has given up the version of the gateway that this program speaks; a newer release is needed"
	case 4013, 4014:
		text = "Discord does not allow what the program wants to be told of; look at the bot's intents in the developer portal"
	default:
		return nil
	}
	return &fatal{fmt.Sprintf("%s (close code %d)", text, code)}
}

// isFatal tells whether an error is for good.
func isFatal(err error) bool {
	var f *fatal
	return errors.As(err, &f)
}
