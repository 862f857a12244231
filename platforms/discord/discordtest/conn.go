package discordtest

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// The gateway's operations.
const (
	opHeartbeat = 1
	opIdentify  = 2
	opPresence  = 3
	opResume    = 6
	opReconnect = 7
	opInvalid   = 9
	opHello     = 10
	opAck       = 11
)

// The gateway's close codes.
const (
	closeUnknownOp      = 4001
	closeDecode         = 4002
	closeNotAuthed      = 4003
	closeAuthentication = 4004
	closeTwice          = 4005
	closeSequence       = 4007
	closeRateLimited    = 4008
	closeTimeout        = 4009
	closeShard          = 4010
	closeSharding       = 4011
	closeVersion        = 4012
	closeIntents        = 4013
	closeDisallowed     = 4014
)

const (
	maxEvent        = 4096
	eventsPerMinute = 120
	startWindow     = 5 * time.Second
	guildsPerShard  = 2500
)

// control is a payload that is no event.
type control struct {
	Op   int `json:"op"`
	Data any `json:"d"`
}

// conn is one connection of a client.
type conn struct {
	s      *Server
	socket *websocket.Conn
	ctx    context.Context
	cancel context.CancelFunc

	mu    sync.Mutex // guards queue; taken with or without s.mu
	queue []any
	wake  chan struct{}

	// The rest is guarded by s.mu.
	session  *session
	zombie   bool
	compress bool
	closing  bool
	received []time.Time
	beat     time.Time
}

// closeFrame in a queue ends the connection.
type closeFrame struct {
	code   int
	reason string
}

// send queues a payload; a zombie swallows it.
func (c *conn) send(payload any) {
	if c.zombie || c.closing {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queue = append(c.queue, payload)
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// closeWith ends the connection with a close code once all before it is sent.
func (c *conn) closeWith(code int, reason string) {
	c.zombie = false
	c.send(closeFrame{code, reason})
	c.closing = true
	c.detach()
}

// cut ends the connection without a word.
func (c *conn) cut() {
	c.detach()
	c.cancel()
}

// detach frees the session for a resume.
func (c *conn) detach() {
	if c.session != nil && c.session.conn == c {
		c.session.conn = nil
		c.s.signal()
	}
}

// invalidate tells the client that its session is invalid.
func (c *conn) invalidate(resumable bool) {
	c.send(control{Op: opInvalid, Data: resumable})
	if !resumable && c.session != nil {
		c.s.gateway.forget(c.session)
	}
	c.detach()
}

// accept serves a connection until it ends; refused closes it right after Hello.
func (s *Server) accept(w http.ResponseWriter, r *http.Request, refused int) {
	socket, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true, CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return
	}
	socket.SetReadLimit(1 << 20)
	ctx, cancel := context.WithCancel(context.Background())
	c := &conn{s: s, socket: socket, ctx: ctx, cancel: cancel, wake: make(chan struct{}, 1), beat: time.Now()}
	s.mu.Lock()
	s.gateway.conns[c] = true
	c.send(control{Op: opHello, Data: map[string]any{"heartbeat_interval": s.opts.Heartbeat.Milliseconds()}})
	c.first()
	if refused != 0 {
		c.closeWith(refused, "Refused.")
	}
	s.mu.Unlock()
	var work sync.WaitGroup
	work.Go(c.write)
	work.Go(c.watch)
	c.read()
	cancel()
	work.Wait()
	_ = socket.CloseNow()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.gateway.conns, c)
	c.detach()
}

// first sends what is scripted to come right after Hello.
func (c *conn) first() {
	g := &c.s.gateway
	switch g.firstOp {
	case opReconnect:
		c.send(control{Op: opReconnect})
	case opInvalid:
		c.send(control{Op: opInvalid, Data: g.firstResume})
	}
	g.firstOp = 0
}

// write sends what is queued.
func (c *conn) write() {
	defer c.cancel()
	for {
		c.mu.Lock()
		queue := c.queue
		c.queue = nil
		c.mu.Unlock()
		for _, payload := range queue {
			if end, ok := payload.(closeFrame); ok {
				_ = c.socket.Close(websocket.StatusCode(end.code), end.reason)
				return
			}
			if c.writeOne(payload) != nil {
				return
			}
		}
		select {
		case <-c.wake:
		case <-c.ctx.Done():
			return
		}
	}
}

// compressOver is the size above which payloads are compressed for clients that asked for it.
const compressOver = 1024

func (c *conn) writeOne(payload any) error {
	data, err := json.Marshal(payload)
	if err != nil {
		c.s.t.Errorf("discordtest: %v", err)
		return err
	}
	c.s.mu.Lock()
	compress := c.compress
	c.s.mu.Unlock()
	if !compress || len(data) <= compressOver {
		return c.socket.Write(c.ctx, websocket.MessageText, data)
	}
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, _ = z.Write(data)
	_ = z.Close()
	return c.socket.Write(c.ctx, websocket.MessageBinary, b.Bytes())
}

// watch closes connections that do not send heartbeats.
func (c *conn) watch() {
	tick := time.NewTicker(c.s.opts.Heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-c.ctx.Done():
			return
		}
		c.s.mu.Lock()
		if !c.zombie && time.Since(c.beat) > 2*c.s.opts.Heartbeat+time.Second {
			c.closeWith(closeTimeout, "Session timed out.")
		}
		c.s.mu.Unlock()
	}
}

// read handles what the client sends.
func (c *conn) read() {
	for {
		_, data, err := c.socket.Read(c.ctx)
		if err != nil {
			c.closedByClient(err)
			return
		}
		var frame struct {
			Op   int             `json:"op"`
			Data json.RawMessage `json:"d"`
		}
		bad := json.Unmarshal(data, &frame)
		c.s.mu.Lock()
		switch {
		case c.closing, c.zombie:
		case len(data) > maxEvent, bad != nil:
			c.s.violation("gateway: a payload of %d bytes can't be read (at most 4096 bytes of JSON): %v", len(data), bad)
			c.closeWith(closeDecode, "Error while decoding payload.")
		case c.tooMany():
			c.s.violation("gateway: more than 120 events within a minute")
			c.closeWith(closeRateLimited, "You are being rate limited.")
		default:
			c.handle(frame.Op, frame.Data)
		}
		c.s.mu.Unlock()
	}
}

// closedByClient ends the session where the client closed with 1000 or 1001: such can't be resumed.
func (c *conn) closedByClient(err error) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	code := websocket.CloseStatus(err)
	if c.session != nil && c.session.conn == c && (code == websocket.StatusNormalClosure || code == websocket.StatusGoingAway) {
		c.s.gateway.forget(c.session)
	}
	c.detach()
}

func (c *conn) tooMany() bool {
	now := time.Now()
	c.received = slices.DeleteFunc(c.received, func(t time.Time) bool { return now.Sub(t) > time.Minute })
	c.received = append(c.received, now)
	return len(c.received) > eventsPerMinute
}

func (c *conn) handle(op int, data json.RawMessage) {
	switch op {
	case opHeartbeat:
		c.beat = time.Now()
		c.send(control{Op: opAck})
	case opIdentify:
		c.identify(data)
	case opResume:
		c.resume(data)
	case opPresence, 4, 8, 31, 43:
		if c.session == nil {
			c.closeWith(closeNotAuthed, "Not authenticated.")
		}
	default:
		c.s.violation("gateway: unknown operation %d", op)
		c.closeWith(closeUnknownOp, "Unknown opcode.")
	}
}

// identification is the payload of an identify.
type identification struct {
	Token      string         `json:"token"`
	Intents    *Intents       `json:"intents"`
	Compress   bool           `json:"compress"`
	Shard      *shard         `json:"shard"`
	Properties map[string]any `json:"properties"`
}

func (c *conn) identify(data json.RawMessage) {
	s, g := c.s, &c.s.gateway
	var id identification
	if json.Unmarshal(data, &id) != nil || id.Properties == nil {
		s.violation("gateway: an identify needs token, intents and properties, got %s", data)
		c.closeWith(closeDecode, "Error while decoding payload.")
		return
	}
	if id.Shard == nil {
		id.Shard = &shard{0, 1}
	}
	if code, reason := c.judge(id); code != 0 {
		c.closeWith(code, reason)
		return
	}
	g.starts++
	if g.starts > s.opts.SessionStarts || !s.mayStart(id.Shard[0]) {
		c.invalidate(false)
		return
	}
	x := &session{id: "session" + s.newID(), shard: *id.Shard, intents: *id.Intents, conn: c, compress: id.Compress}
	g.sessions = append(g.sessions, x)
	c.session, c.compress = x, id.Compress
	s.welcome(x)
}

// judge gives the close code for an identify that is refused, or 0.
func (c *conn) judge(id identification) (int, string) {
	s := c.s
	switch {
	case s.gateway.refuseWith != 0:
		return s.gateway.refuseWith, "Refused by the test."
	case c.session != nil:
		return closeTwice, "Already authenticated."
	case id.Token != s.Token && id.Token != "Bot "+s.Token || s.revoked:
		return closeAuthentication, "Authentication failed."
	case !id.Shard.valid():
		return closeShard, "Invalid shard."
	case len(s.guildsOf(*id.Shard)) > guildsPerShard, id.Shard[1] < s.opts.Shards:
		return closeSharding, "Sharding required."
	case id.Intents == nil || *id.Intents&^allIntents != 0:
		return closeIntents, "Invalid intent(s)."
	case *id.Intents&privileged&^s.opts.Intents != 0:
		return closeDisallowed, "Disallowed intent(s)."
	}
	return 0, ""
}

// mayStart enforces how many sessions may start at once.
func (s *Server) mayStart(shard int) bool {
	if s.opts.MaxConcurrency == 0 {
		return true
	}
	now, key := s.now(), shard%s.opts.MaxConcurrency
	for _, t := range s.gateway.identify[key] {
		if now.Sub(t) < startWindow {
			return false
		}
	}
	s.gateway.identify[key] = []time.Time{now}
	return true
}

// welcome sends READY and the guilds.
func (s *Server) welcome(x *session) {
	var guilds []any
	for _, g := range s.guildsOf(x.shard) {
		guilds = append(guilds, map[string]any{"id": g.id, "unavailable": true})
	}
	x.send("READY", map[string]any{
		"v": 10, "user": s.botUser(), "guilds": list(guilds), "session_id": x.id, "resume_gateway_url": s.gatewayURL("/resume"), "shard": x.shard,
		"application": map[string]any{"id": s.ApplicationID, "flags": 0}, "session_type": "normal", "private_channels": []any{},
		"relationships": []any{}, "presences": []any{}, "user_settings": map[string]any{}, "guild_join_requests": []any{}, "geo_ordered_rtc_regions": []any{},
	})
	if x.intents&intentGuilds != 0 {
		for _, g := range s.guildsOf(x.shard) {
			x.send("GUILD_CREATE", s.guildEvent(g))
		}
	}
	s.gateway.ready++
	s.signal()
}

func (c *conn) resume(data json.RawMessage) {
	s, g := c.s, &c.s.gateway
	var want struct {
		Token     string `json:"token"`
		SessionID string `json:"session_id"`
		Seq       int    `json:"seq"`
	}
	if json.Unmarshal(data, &want) != nil {
		c.closeWith(closeDecode, "Error while decoding payload.")
		return
	}
	at := slices.IndexFunc(g.sessions, func(x *session) bool { return x.id == want.SessionID })
	switch {
	case want.Token != s.Token && want.Token != "Bot "+s.Token || s.revoked:
		c.closeWith(closeAuthentication, "Authentication failed.")
		return
	case c.session != nil:
		c.closeWith(closeTwice, "Already authenticated.")
		return
	case at < 0:
		c.invalidate(false)
		return
	case want.Seq > g.sessions[at].seq || want.Seq < g.sessions[at].log[0].Seq-1:
		c.closeWith(closeSequence, "Invalid seq.")
		g.forget(g.sessions[at])
		return
	}
	x := g.sessions[at]
	if x.conn != nil {
		x.conn.cut() // a second connection takes the session over
	}
	c.session, c.compress, x.conn = x, x.compress, c
	for _, d := range x.log {
		if d.Seq > want.Seq-g.repeat {
			c.send(d)
		}
	}
	x.resumes++
	g.ready++
	x.seq++
	c.send(dispatch{Seq: x.seq, Type: "RESUMED", Data: map[string]any{}}) // not replayed, so not logged
	s.signal()
}
