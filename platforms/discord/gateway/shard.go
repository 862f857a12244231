package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
	"golang.org/x/sync/errgroup"
)

// The gateway's operations.
const (
	opDispatch       = 0
	opHeartbeat      = 1
	opIdentify       = 2
	opResume         = 6
	opReconnect      = 7
	opInvalidSession = 9
	opHello          = 10
	opHeartbeatAck   = 11
)

const (
	helloLimit   = 20 * time.Second
	maxEvent     = 32 << 20 // bytes
	resumeTries  = 3        // at the address that READY gave, before the usual one
	closeRestart = 4900     // our own close code: with 1000 and 1001 the session would be over
	// Intents are none of the privileged ones: messages in chats with the bot and those that name it have
	// their text without.
	Intents = discordgo.IntentGuilds | discordgo.IntentGuildMessages | discordgo.IntentDirectMessages
)

// Listen keeps the connections until ctx ends, and then returns nil, or until Discord refuses one for good.
func Listen(ctx context.Context, cfg Config, info Info) error {
	count, ids := cfg.Shards.Count, cfg.Shards.IDs
	if count == 0 {
		count = max(1, info.Shards)
	}
	gate := &identifyGate{clock: cfg.Clock, sessions: cfg.Sessions, places: max(1, info.Session.MaxConcurrency), total: info.Session.Total}
	if err := gate.learn(ctx, info); err != nil {
		cfg.Log.WarnContext(ctx, "how many new sessions Discord allows is not noted", "error", err)
	}
	keep := func(ctx context.Context, id int) error {
		s := &shard{Config: cfg, id: id, count: count, url: info.URL, gate: gate, log: cfg.Log.With("shard", id)}
		return s.run(ctx)
	}
	if len(ids) == 0 && cfg.Divide != nil {
		return cfg.Divide(ctx, count, keep)
	}
	if len(ids) == 0 {
		for id := range count {
			ids = append(ids, id)
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, id := range ids {
		group.Go(func() error { return keep(ctx, id) })
	}
	return group.Wait()
}

// shard is one connection to the gateway, kept up. It is our own: the library's knows no address to resume at, stands
// still for ever when it is told to reconnect while it does, and repeats what is refused for good.
type shard struct {
	Config
	id, count int
	url       string
	gate      *identifyGate
	log       *slog.Logger

	mu      sync.Mutex
	session Session

	failed  int  // connections in a row that did not come to work
	working bool // events come over the connection
}

// payload is what goes over the gateway.
type payload struct {
	Op   int             `json:"op"`
	Data json.RawMessage `json:"d"`
	Seq  int64           `json:"s"`
	Type string          `json:"t"`
}

// order is what we send over the gateway.
type order struct {
	Op   int `json:"op"`
	Data any `json:"d"`
}

const (
	// noteEvery is how often the session is noted. What is noted is as it was a moment before, so that events which are handled aside are
	// stored by then: who resumes the session gets the later ones again, and stores none twice.
	noteEvery = time.Second
	noteLimit = 2 * time.Second
)

// run keeps the connection until ctx ends, and then returns nil, or until Discord refuses it for good. A session goes on that another
// process, or this one before, has begun.
func (s *shard) run(ctx context.Context) error {
	known, err := s.Sessions.Session(ctx, s.id, s.count)
	if err != nil && ctx.Err() == nil {
		s.log.WarnContext(ctx, "the session of before is not known; a new one begins", "error", err)
	}
	s.set(known)
	noting, stop := context.WithCancel(ctx)
	var noter sync.WaitGroup
	noter.Go(func() { s.note(noting, known) })
	defer func() {
		stop()
		noter.Wait()
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteLimit)
		defer cancel()
		if err := s.Sessions.SetSession(last, s.id, s.count, s.now()); err != nil {
			s.log.WarnContext(ctx, "what came since the session was noted last comes again", "error", err)
		}
	}()
	return s.keep(ctx)
}

// note notes the session now and then, until ctx ends.
func (s *shard) note(ctx context.Context, noted Session) {
	settled := noted
	for {
		select {
		case <-s.Clock.After(noteEvery):
		case <-ctx.Done():
			return
		}
		if settled != noted && s.Sessions.SetSession(ctx, s.id, s.count, settled) == nil {
			noted = settled
		}
		settled = s.now()
	}
}

// now gives the session as it is.
func (s *shard) now() Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.session
}

func (s *shard) set(session Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.session = session
}

// took notes an event as taken.
func (s *shard) took(sequence int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.session.Sequence = sequence
}

func (s *shard) keep(ctx context.Context) error {
	for {
		err := s.connect(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if isFatal(err) {
			return err
		}
		s.failed++
		pause := Backoff(s.failed, s.Jitter)
		s.log.InfoContext(ctx, "the connection to Discord is renewed", "because", err, "resumes", s.now().ID != "", "pause", pause)
		select {
		case <-s.Clock.After(pause):
		case <-ctx.Done():
			return nil
		}
	}
}

// connect connects once and takes events until the connection ends.
func (s *shard) connect(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if s.now().ID == "" {
		if err := s.gate.wait(ctx, s.id, s.log); err != nil {
			return err
		}
	}
	conn, _, err := websocket.Dial(ctx, s.address(), nil) // a switched connection has no body
	if err != nil {
		return fmt.Errorf("connect to the gateway: %w", err)
	}
	conn.SetReadLimit(maxEvent)
	defer func() { _ = conn.Close(closeRestart, "connecting anew") }()
	every, err := s.hello(ctx, conn)
	if err != nil {
		return err
	}
	if err := s.begin(ctx, conn); err != nil {
		return err
	}
	beats := &heartbeats{shard: s, conn: conn, every: every}
	beats.acked.Store(true)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		if err := beats.keep(ctx); err != nil && ctx.Err() == nil {
			s.log.InfoContext(ctx, "the gateway is silent", "error", err)
			_ = conn.Close(closeRestart, "no answer to heartbeats")
			cancel()
		}
	}()
	err = s.take(ctx, conn, beats)
	s.works(false)
	cancel()
	<-stopped
	return err
}

// address is where to connect: to resume, where READY said, unless that fails again and again.
func (s *shard) address() string {
	base := s.url
	if now := s.now(); now.ID != "" && now.ResumeURL != "" && s.failed < resumeTries {
		base = now.ResumeURL
	}
	u, err := url.Parse(base)
	if err != nil {
		return base
	}
	u.Path = cmp.Or(u.Path, "/")
	u.RawQuery = "v=10&encoding=json"
	return u.String()
}

// hello waits for the gateway's greeting, which says how often it wants to hear from us.
func (s *shard) hello(ctx context.Context, conn *websocket.Conn) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, helloLimit)
	defer cancel()
	var p payload
	if err := wsjson.Read(ctx, conn, &p); err != nil {
		return 0, s.closed(err)
	}
	var hello struct {
		Interval int64 `json:"heartbeat_interval"` // ms
	}
	if p.Op != opHello || json.Unmarshal(p.Data, &hello) != nil || hello.Interval <= 0 {
		return 0, fmt.Errorf("the gateway begins with operation %d, expected %d", p.Op, opHello)
	}
	return time.Duration(hello.Interval) * time.Millisecond, nil
}

// begin resumes the session, or begins a new one.
func (s *shard) begin(ctx context.Context, conn *websocket.Conn) error {
	token := s.Token
	if now := s.now(); now.ID != "" {
		return wsjson.Write(ctx, conn, order{opResume, map[string]any{
			"token": token, "session_id": now.ID, "seq": now.Sequence,
		}})
	}
	return wsjson.Write(ctx, conn, order{opIdentify, map[string]any{
		"token": token, "intents": Intents, "shard": [2]int{s.id, s.count},
		"properties": map[string]string{"os": runtime.GOOS, "browser": "signalbox", "device": "signalbox"},
	}})
}

// take takes events until the connection ends, and tells why it did.
func (s *shard) take(ctx context.Context, conn *websocket.Conn, beats *heartbeats) error {
	for {
		var p payload
		if err := wsjson.Read(ctx, conn, &p); err != nil {
			return s.closed(err)
		}
		switch p.Op {
		case opDispatch:
			s.dispatch(ctx, p)
			s.took(p.Seq)
		case opHeartbeat:
			if err := beats.send(ctx); err != nil {
				return err
			}
		case opHeartbeatAck:
			beats.acked.Store(true)
		case opReconnect:
			return errors.New("told to connect anew")
		case opInvalidSession:
			if string(p.Data) != "true" {
				s.forget()
			}
			return errors.New("told that the session does not go on")
		}
	}
}

// closed reads the end of a connection.
func (s *shard) closed(err error) error {
	code := int(websocket.CloseStatus(err))
	switch code {
	case 4003, 4007, 4009: // not identified, wrong sequence, session timed out
		s.forget()
	case 1000, 1001:
		s.forget()
	}
	if refused := fatalClose(code); refused != nil {
		return refused
	}
	return fmt.Errorf("the gateway's connection ended: %w", err)
}

// works notes whether events come over the connection.
func (s *shard) works(now bool) {
	switch {
	case now && !s.working:
		s.Connected(1)
	case !now && s.working:
		s.Connected(-1)
	}
	s.working = now
}

// forget makes the next connection begin a new session.
func (s *shard) forget() {
	s.set(Session{})
}

// dispatch hands an event on. Nothing of guilds and members is kept.
func (s *shard) dispatch(ctx context.Context, p payload) {
	switch p.Type {
	case "READY":
		var ready struct {
			SessionID string `json:"session_id"`
			ResumeURL string `json:"resume_gateway_url"`
		}
		if err := json.Unmarshal(p.Data, &ready); err != nil || ready.SessionID == "" {
			s.log.WarnContext(ctx, "the session can't be resumed later", "error", err)
		}
		s.set(Session{ID: ready.SessionID, ResumeURL: ready.ResumeURL, Sequence: p.Seq})
		s.failed = 0
		s.works(true)
		s.log.InfoContext(ctx, "connected to Discord")
	case "RESUMED":
		s.failed = 0
		s.works(true)
		s.log.DebugContext(ctx, "connected to Discord again")
	}
	s.Event(ctx, p.Type, p.Data)
}

// heartbeats tell the gateway that we are there, and notice when it is not.
type heartbeats struct {
	*shard
	conn  *websocket.Conn
	every time.Duration
	acked atomic.Bool
}

// keep sends a heartbeat at each interval, the first after a part of one, until ctx ends. It fails when the last one
// was not answered.
func (h *heartbeats) keep(ctx context.Context) error {
	wait := time.Duration(h.Jitter() * float64(h.every))
	for {
		select {
		case <-h.Clock.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
		wait = h.every
		if !h.acked.Swap(false) {
			return errors.New("the last heartbeat was not answered")
		}
		if err := h.send(ctx); err != nil {
			return err
		}
	}
}

func (h *heartbeats) send(ctx context.Context) error {
	var last any // null before the first event
	if seq := h.now().Sequence; seq > 0 {
		last = seq
	}
	return wsjson.Write(ctx, h.conn, order{opHeartbeat, last})
}
