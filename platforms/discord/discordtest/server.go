package discordtest

import (
	"cmp"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/clock"
	"github.com/signalbox/signalbox/platforms/discord/discordtest/apitable"
)

// Options shape a Server; the zero value is a well-behaved service.
type Options struct {
	// Token is the bot's token; empty: one of the right shape.
	Token string
	// Clock is the server's time, for deadlines, ages, rate limits and delays; nil: the system's. The gateway's
	// heartbeats keep to real time, since clients count them so.
	Clock clock.Clock
	// Intents are the privileged intents that are switched on for the application.
	Intents Intents
	// Shards is what GET /gateway/bot recommends; 0: one. Asking for fewer closes with 4011.
	Shards int
	// MaxConcurrency is how many sessions may start within five seconds; 0: sixteen, not enforced.
	MaxConcurrency int
	// SessionStarts is how many sessions may be started in all; 0: a thousand.
	SessionStarts int
	// Heartbeat is the gateway's interval in real time; 0: 41.25 seconds.
	Heartbeat time.Duration
	// RateLimits makes the server enforce its usual limits: per route about five requests in five seconds
	// for messages, and fifty a second in all. Without it the headers promise plenty.
	RateLimits bool
	// OnViolation is told of what only a mistake in the program explains; nil: it fails the test.
	OnViolation func(string)
	// Patience bounds the wait helpers; 0: twenty seconds.
	Patience time.Duration
}

// Server is a Discord of its own with one application. Its methods may be called from any goroutine.
type Server struct {
	// URL is the address to use instead of https://discord.com, without a slash at the end.
	URL string
	// Token is what the bot authenticates with.
	Token string
	// ApplicationID is the application's id, which is the bot user's id, too.
	ApplicationID string
	// PublicKey verifies what is sent to an HTTP endpoint, in hexadecimal digits.
	PublicKey string

	t         testing.TB
	opts      Options
	table     *apitable.Table
	validator *apitable.Validator
	http      *httptest.Server
	routes    []route
	key       ed25519.PrivateKey
	closing   chan struct{}
	work      sync.WaitGroup

	mu           sync.Mutex
	changed      chan struct{} // closed and replaced at every change
	ids          idSource
	users        map[string]*User
	guilds       map[string]*Guild
	channels     map[string]*Channel
	messages     map[string]*message
	attachments  map[string]*attachment
	commands     map[string][]*command // by guild id, "" for the global ones
	creates      map[string][]time.Time
	writes       int
	interactions map[string]*Interaction // by token
	calls        []Call
	violations   []string
	invalid      []time.Time // requests answered 401, 403 or 429
	faults       []*Fault
	limits       limits
	revoked      bool
	gateway      gateway
	endpoint     string
	description  string // of the application
	store        store
}

// New starts a server on a loopback address; it stops with the test.
func New(t testing.TB, opts Options) *Server {
	t.Helper()
	opts.fill(t)
	s := &Server{
		Token: opts.Token, t: t, opts: opts, closing: make(chan struct{}), changed: make(chan struct{}),
		users: map[string]*User{}, guilds: map[string]*Guild{}, channels: map[string]*Channel{}, messages: map[string]*message{},
		attachments: map[string]*attachment{}, commands: map[string][]*command{},
		creates: map[string][]time.Time{}, interactions: map[string]*Interaction{},
	}
	var err error
	if s.table, err = apitable.Load(); err == nil {
		s.validator, err = apitable.Committed()
	}
	if err != nil {
		t.Fatal(err)
	}
	seed := sha256.Sum256([]byte(opts.Token))
	s.key = ed25519.NewKeyFromSeed(seed[:])
	s.PublicKey = hex.EncodeToString(s.key.Public().(ed25519.PublicKey))
	s.ApplicationID = applicationOf(opts.Token)
	s.limits.init()
	s.gateway.init()
	s.routes = s.allRoutes()
	s.http = httptest.NewServer(s)
	s.URL = s.http.URL
	t.Cleanup(s.close)
	return s
}

// applicationOf reads the application's id out of a token: its first part is the id in base64.
func applicationOf(token string) string {
	first, _, _ := strings.Cut(token, ".")
	if id, err := base64.RawURLEncoding.DecodeString(first); err == nil && len(id) > 0 {
		return string(id)
	}
	return "1197545678901234567"
}

func (o *Options) fill(t testing.TB) {
	o.Token = cmp.Or(o.Token, "MTE5NzU0NTY3ODkwMTIzNDU2Nw.GtEsT1.discordtestDISCORDTESTdiscordtestDISCO")
	if o.Clock == nil {
		o.Clock = clock.System{}
	}
	o.Heartbeat = cmp.Or(o.Heartbeat, 41250*time.Millisecond)
	if o.OnViolation == nil {
		o.OnViolation = func(text string) { t.Errorf("discordtest: %s", text) }
	}
	o.Shards = max(o.Shards, 1)
	o.SessionStarts = cmp.Or(o.SessionStarts, 1000)
	o.Patience = cmp.Or(o.Patience, 2*time.Minute)
}

func (s *Server) close() {
	close(s.closing)
	s.mu.Lock()
	s.gateway.cutAll()
	s.mu.Unlock()
	s.http.CloseClientConnections()
	s.http.Close()
	s.work.Wait()
}

// BotID is the id of the bot's user.
func (s *Server) BotID() string { return s.ApplicationID }

func (s *Server) now() time.Time { return s.opts.Clock.Now() }

// newID makes an id and needs s.mu.
func (s *Server) newID() string { return s.ids.next(s.now()) }

// signal wakes everybody who waits for a change; it needs s.mu.
func (s *Server) signal() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// violation reports a mistake of the program; it needs s.mu.
func (s *Server) violation(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	s.violations = append(s.violations, text)
	s.opts.OnViolation(text)
}

// Violations lists what only mistakes in the program explain, in the order they were seen.
func (s *Server) Violations() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.violations)
}

// RevokeToken makes every later call answer 401 and ends the gateway sessions with 4004.
func (s *Server) RevokeToken() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revoked = true
	for _, session := range s.gateway.sessions {
		session.close(closeAuthentication, "Authentication failed.")
	}
}

// idSource makes snowflakes: the time in the upper bits, a counter below. Ids never repeat or go back.
type idSource struct{ last int64 }

const discordEpoch = 1420070400000

func (i *idSource) next(now time.Time) string {
	id := max((now.UnixMilli()-discordEpoch)<<22, i.last+1)
	i.last = id
	return strconv.FormatInt(id, 10)
}

// timeOf reads the time out of a snowflake.
func timeOf(id string) time.Time {
	n, _ := strconv.ParseInt(id, 10, 64)
	return time.UnixMilli(n>>22 + discordEpoch)
}

// ServeHTTP answers REST calls, attachment downloads and gateway connections.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.work.Add(1)
	defer s.work.Done()
	switch {
	case hasPrefix(r.URL.Path, "/api/"):
		s.serveAPI(w, r)
	case hasPrefix(r.URL.Path, "/avatars/"):
		s.serveAvatar(w, r)
	case hasPrefix(r.URL.Path, "/attachments/"), hasPrefix(r.URL.Path, "/ephemeral-attachments/"):
		s.serveAttachment(w, r)
	case hasPrefix(r.URL.Path, "/gateway"), hasPrefix(r.URL.Path, "/resume"):
		s.serveGateway(w, r)
	default:
		http.NotFound(w, r)
	}
}
