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
	"time"

	"github.com/signalbox/signalbox/internal/clock"
)

// Shards says which shards' connections to the gateway a process keeps. The zero value keeps its part of as
// many as Discord recommends.
type Shards struct {
	Off   bool  // no gateway: interactions come by HTTP only
	Count int   // of all processes together; 0: as Discord recommends
	IDs   []int // those of this process; empty: they are divided among the processes
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

// Session is what is needed to resume a session. Without an id there is none.
type Session struct {
	ID, ResumeURL string
	Sequence      int64 // of the last event that was taken
}

// Starts is what is known of new sessions, which Discord allows a bot so and so often.
type Starts struct {
	Left   int               `json:"left"` // until Resets
	Resets time.Time         `json:"resets"`
	Last   map[int]time.Time `json:"last"` // by place in Discord's queue
}

// SessionStore is what the processes of a bot know together.
type SessionStore interface {
	Session(ctx context.Context, shard, count int) (Session, error)
	SetSession(ctx context.Context, shard, count int, s Session) error
	// Starts has change look at and alter what is known of new sessions, one caller at a time.
	Starts(ctx context.Context, change func(*Starts)) error
}

// Config is what connections work with; all of it is required, but for Shards and Divide.
type Config struct {
	Token    string // the bot's
	Shards   Shards // those of this process
	Sessions SessionStore
	// Divide divides the shards among processes, where Shards names none; nil: all are kept here. The context of work ends when another
	// process shall keep that shard.
	Divide func(ctx context.Context, count int, work func(ctx context.Context, id int) error) error
	Clock  clock.Clock
	Jitter func() float64 // numbers in [0, 1) that spread repeats
	Log    *slog.Logger
	// Connected is told of each connection that comes to work (1) or no longer does (-1).
	Connected func(change int32)
	// Event takes an event in the order in which its shard tells of them; the shard waits for it.
	Event func(ctx context.Context, kind string, data json.RawMessage)
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

// identifyGate lets new sessions begin no faster and no more often than Discord allows, of all processes together. Discord resets the
// token of a bot that begins more of them than its session_start_limit.
type identifyGate struct {
	clock    clock.Clock
	sessions SessionStore
	places   int // of Discord's queue
	total    int // sessions that may begin until the next reset; 0: no limit is known
}

// storeAway is how long a session waits that can't be counted now.
const storeAway = time.Second

// learn notes what Discord has just told.
func (g *identifyGate) learn(ctx context.Context, info Info) error {
	return g.sessions.Starts(ctx, func(s *Starts) {
		s.Left, s.Resets = info.Session.Remaining, g.clock.Now().Add(time.Duration(info.Session.ResetAfter)*time.Millisecond)
	})
}

// wait waits until a shard may begin a new session.
func (g *identifyGate) wait(ctx context.Context, id int, log *slog.Logger) error {
	for {
		var d time.Duration
		err := g.sessions.Starts(ctx, func(s *Starts) { d = g.take(s, id) })
		switch {
		case err != nil && ctx.Err() == nil:
			log.WarnContext(ctx, "a new session waits, since it can't be noted", "error", err)
			d = storeAway
		case err == nil && d <= 0:
			return nil
		case d > identifyEvery:
			log.WarnContext(ctx, "Discord allows no new session for now: the bot has begun too many today; the shard waits", "for", d)
		}
		select {
		case <-g.clock.After(d):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// take lets a session begin, or gives how long it has to wait. The clocks of processes may differ: a start in the future counts as one of now.
func (g *identifyGate) take(s *Starts, id int) time.Duration {
	key := id % g.places
	now := g.clock.Now()
	if last, ok := s.Last[key]; ok && now.Sub(last) < identifyEvery {
		return min(identifyEvery-now.Sub(last), identifyEvery)
	}
	if g.total > 0 {
		if !now.Before(s.Resets) {
			s.Left, s.Resets = g.total, now.Add(limitPeriod)
		}
		if s.Left <= 0 {
			return s.Resets.Sub(now)
		}
		s.Left--
	}
	if s.Last == nil {
		s.Last = map[int]time.Time{}
	}
	s.Last[key] = now
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
