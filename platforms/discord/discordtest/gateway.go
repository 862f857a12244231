package discordtest

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// Intents choose which events a gateway session gets.
type Intents int

// The intents that this server tells apart; MessageContent and GuildMembers are privileged.
const (
	intentGuilds         Intents = 1 << 0
	intentMembers        Intents = 1 << 1
	intentPresences      Intents = 1 << 8
	intentMessages       Intents = 1 << 9
	intentDirectMessages Intents = 1 << 12

	// GuildMembers is the privileged intent for who joins and leaves.
	GuildMembers = intentMembers
	// MessageContent is the privileged intent for what people write.
	MessageContent Intents = 1 << 15

	privileged = intentMembers | intentPresences | MessageContent
	allIntents = 1<<17 - 1 | 3<<20 | 3<<24
)

// gateway holds the sessions and what is scripted for them.
type gateway struct {
	sessions []*session
	conns    map[*conn]bool
	ready    int // sessions that became ready or were resumed so far
	starts   int
	identify map[int][]time.Time // starts by shard modulo the concurrency

	firstOp     int // what the next connection gets right after Hello, 0 for nothing
	firstResume bool
	repeat      int
	refuseWith  int
}

func (g *gateway) init() {
	g.conns, g.identify = map[*conn]bool{}, map[int][]time.Time{}
}

func (g *gateway) cutAll() {
	for c := range g.conns {
		c.cut()
	}
}

// session is one gateway session; it outlives its connections.
type session struct {
	id       string
	shard    shard
	intents  Intents
	seq      int
	log      []dispatch
	conn     *conn // nil while nobody is connected
	resumes  int
	dead     bool
	compress bool
}

// dispatch is one event of a session.
type dispatch struct {
	Op   int    `json:"op"`
	Seq  int    `json:"s"`
	Type string `json:"t"`
	Data any    `json:"d"`
}

// maxLog is how many events a session can replay.
const maxLog = 1000

// send numbers an event and sends it, or keeps it for a resume.
func (x *session) send(event string, data any) {
	if x.dead {
		return
	}
	x.seq++
	d := dispatch{Seq: x.seq, Type: event, Data: data}
	if x.log = append(x.log, d); len(x.log) > maxLog {
		x.log = x.log[1:]
	}
	if x.conn != nil {
		x.conn.send(d)
	}
}

func (x *session) close(code int, reason string) {
	if x.conn != nil {
		x.conn.closeWith(code, reason)
	}
}

// shard is which of how many connections this is.
type shard [2]int

func (h shard) valid() bool { return h[0] >= 0 && h[0] < h[1] }

// owns reports whether a shard is responsible for a guild; direct messages ("") belong to shard 0.
func (h shard) owns(guild string) bool {
	if guild == "" {
		return h[0] == 0
	}
	id, _ := strconv.ParseInt(guild, 10, 64)
	return int(id>>22)%h[1] == h[0]
}

// guildsOf are the installed guilds of a shard.
func (s *Server) guildsOf(h shard) []*Guild {
	return slices.DeleteFunc(s.installedGuilds(), func(g *Guild) bool { return !h.owns(g.id) })
}

// toGuild sends an event to the sessions that asked for its kind and own the guild. It needs s.mu.
func (g *gateway) toGuild(s *Server, guild *Guild, event string, intent Intents, data any) {
	if !guild.installed {
		return
	}
	for _, x := range g.sessions {
		if x.intents&intent != 0 && x.shard.owns(guild.id) {
			x.send(event, data)
		}
	}
	s.signal()
}

// placeEvent sends an event of a channel. It needs s.mu.
func (s *Server) placeEvent(c *Channel, event string, inGuild, inDM Intents, data map[string]any) {
	data = inPlace(c, data)
	s.eachReader(c, inGuild, inDM, func(x *session) { x.send(event, data) })
}

func inPlace(c *Channel, data map[string]any) map[string]any {
	if c.guild != nil {
		data["guild_id"] = c.guild.id
	}
	return data
}

// eachReader visits the sessions that get the messages of a channel.
func (s *Server) eachReader(c *Channel, inGuild, inDM Intents, visit func(*session)) {
	need, guild := inDM, ""
	if c.guild != nil {
		if !c.guild.installed || !c.rights(nil).has(ViewChannel) {
			return
		}
		need, guild = inGuild, c.guild.id
	}
	for _, x := range s.gateway.sessions {
		if x.intents&need != 0 && x.shard.owns(guild) {
			visit(x)
		}
	}
}

// messageEvent tells the sessions of a new or changed message, each as its intents allow.
func (s *Server) messageEvent(event string, m *message) {
	s.eachReader(m.channel, intentMessages, intentDirectMessages, func(x *session) {
		data := s.scrubbed(m, s.readsContent() && x.intents&MessageContent != 0)
		if m.channel.guild != nil && m.author != nil {
			data["member"] = m.channel.guild.memberWire(m.author)
		}
		x.send(event, inPlace(m.channel, data))
	})
}

func (s *Server) gatewayURL(path string) string { return "ws" + s.URL[len("http"):] + path }

func (s *Server) getGateway(*request) (any, *apiError) {
	return map[string]any{"url": s.gatewayURL("/gateway")}, nil
}

func (s *Server) getGatewayBot(*request) (any, *apiError) {
	concurrency := cmp.Or(s.opts.MaxConcurrency, 16)
	return map[string]any{
		"url": s.gatewayURL("/gateway"), "shards": s.opts.Shards,
		"session_start_limit": map[string]any{
			"total": s.opts.SessionStarts, "remaining": max(0, s.opts.SessionStarts-s.gateway.starts), "reset_after": 86_400_000, "max_concurrency": concurrency,
		},
	}, nil
}

// Session is a gateway session as tests look at it.
type Session struct {
	ID        string
	Shard     [2]int
	Intents   Intents
	Connected bool
	// Resumes counts how often it was resumed; Seq is its last event's number.
	Resumes, Seq int
}

// Sessions lists the sessions that can still be used or resumed, oldest first.
func (s *Server) Sessions() []Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Session
	for _, x := range s.gateway.sessions {
		out = append(out, Session{ID: x.id, Shard: x.shard, Intents: x.intents, Connected: x.conn != nil, Resumes: x.resumes, Seq: x.seq})
	}
	return out
}

// WaitReady waits until sessions have become ready or were resumed n times in all.
func (s *Server) WaitReady(ctx context.Context, n int) {
	s.t.Helper()
	count := func() int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.gateway.ready
	}
	s.Await(ctx, fmt.Sprintf("%d ready sessions", n), func() bool { return count() >= n }, func() string {
		return fmt.Sprintf("%d so far, sessions %+v", count(), s.Sessions())
	})
}

// Reconnect asks all connections to reconnect (operation 7).
func (s *Server) Reconnect() {
	s.eachConn(func(c *conn) { c.send(control{Op: opReconnect}) })
}

// Invalidate tells all connections that their session is invalid (operation 9). Sessions that can't be
// resumed are forgotten.
func (s *Server) Invalidate(resumable bool) {
	s.eachConn(func(c *conn) { c.invalidate(resumable) })
}

// Drop closes all connections with a close code, or cuts them for 0.
func (s *Server) Drop(code int) {
	s.eachConn(func(c *conn) {
		if code == 0 {
			c.cut()
			return
		}
		c.closeWith(code, "Dropped.")
	})
}

// StopAcks makes the present connections zombies: heartbeats are not acknowledged and nothing arrives.
func (s *Server) StopAcks() {
	s.eachConn(func(c *conn) { c.zombie = true })
}

// AskHeartbeat asks all connections for a heartbeat at once (operation 1).
func (s *Server) AskHeartbeat() {
	s.eachConn(func(c *conn) { c.send(control{Op: opHeartbeat}) })
}

func (s *Server) eachConn(visit func(*conn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.gateway.conns {
		visit(c)
	}
}

// FirstAfterReconnect makes the next connection get operation 7 or 9 as its first message after Hello.
func (s *Server) FirstAfterReconnect(op int, resumable bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gateway.firstOp, s.gateway.firstResume = op, resumable
}

// RepeatOnResume makes the next resumes replay the last n events that the client has seen already.
func (s *Server) RepeatOnResume(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gateway.repeat = n
}

// RefuseIdentify closes the next identifies with that code, until it is called with 0.
func (s *Server) RefuseIdentify(code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gateway.refuseWith = code
}

// Dispatch sends any event to all sessions.
func (s *Server) Dispatch(event string, payload any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.gateway.sessions {
		x.send(event, payload)
	}
}

// Repeat sends the interaction once more, as a resume may.
func (i *Interaction) Repeat() {
	i.s.mu.Lock()
	defer i.s.mu.Unlock()
	i.s.deliver(i)
}

// forget ends a session for good.
func (g *gateway) forget(x *session) {
	x.dead = true
	g.sessions = slices.DeleteFunc(g.sessions, func(o *session) bool { return o == x })
}

// serveGateway takes a connection.
func (s *Server) serveGateway(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	if v := query.Get("v"); query.Get("encoding") != "json" {
		s.note("gateway: encoding %q, only json is imitated", query.Get("encoding"))
		http.Error(w, "encoding", http.StatusBadRequest)
		return
	} else if v != "9" && v != "10" {
		s.accept(w, r, closeVersion)
		return
	}
	s.accept(w, r, 0)
}
