package telegramtest

import (
	"cmp"
	"fmt"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/clock"
	"github.com/signalbox/signalbox/platforms/telegram/telegramtest/apitable"
)

// Options shape a Server; the zero value is a well-behaved service with privacy mode on.
type Options struct {
	// Token is the bot's token; empty: one of the right shape.
	Token string
	// BotUsername is the bot's name without @; empty: signalbox_test_bot.
	BotUsername string
	// Clock is the server's time, for limits, ages, poll timeouts and webhook retries; nil: the system's.
	Clock clock.Clock
	// NoPrivacy switches privacy mode off: the bot sees everything in its groups.
	NoPrivacy bool
	// FloodLimits makes the server enforce its usual rates: about one message a second per chat,
	// twenty a minute per group, thirty a second in all.
	FloodLimits bool
	// NoInline switches inline mode off, as it is until @BotFather is told; InlineFeedback tells the bot what was chosen.
	NoInline, InlineFeedback bool
	// OnViolation is told of requests that only a mistake in the program explains; nil: they fail the test.
	OnViolation func(string)
	// Patience bounds the wait helpers; 0: twenty seconds.
	Patience time.Duration
}

// Server is one bot's view of a Telegram of its own. Its methods may be called from any goroutine.
type Server struct {
	// URL is the address to use instead of https://api.telegram.org, without a slash at the end.
	URL string
	// Token is what the bot authenticates with.
	Token string

	t        testing.TB
	opts     Options
	table    *apitable.Table
	http     *httptest.Server
	handlers map[string]handler
	closing  chan struct{}
	work     sync.WaitGroup

	mu         sync.Mutex
	changed    chan struct{} // closed and replaced at every change
	seq        int64
	chats      map[int64]*Chat
	users      map[int64]*User
	files      map[string]*file
	served     map[string][]byte
	callbacks  map[string]*Press
	inline     map[string]*InlineQuery
	menus      map[menuKey][]Command
	texts      map[string]string
	menuButton MenuButton
	calls      []Call
	faults     []*Fault
	flood      flood
	updates    updates
	money      money
	revoked    bool
}

// New starts a server on a loopback address; it stops with the test.
func New(t testing.TB, opts Options) *Server {
	t.Helper()
	table, err := apitable.Load()
	if err != nil {
		t.Fatal(err)
	}
	opts.fill(t)
	s := &Server{
		Token: opts.Token, t: t, opts: opts, table: table, closing: make(chan struct{}), changed: make(chan struct{}),
		chats: map[int64]*Chat{}, users: map[int64]*User{}, files: map[string]*file{}, served: map[string][]byte{},
		callbacks: map[string]*Press{}, inline: map[string]*InlineQuery{}, menus: map[menuKey][]Command{}, texts: map[string]string{},
	}
	s.updates.next = 100_000_001
	s.handlers = s.methods()
	s.http = httptest.NewServer(s)
	s.URL = s.http.URL
	t.Cleanup(s.close)
	return s
}

func (o *Options) fill(t testing.TB) {
	o.Token = cmp.Or(o.Token, "7123456789:AAtestTESTtestTESTtestTESTtestTEST0")
	o.BotUsername = cmp.Or(o.BotUsername, "signalbox_test_bot")
	if o.Clock == nil {
		o.Clock = clock.System{}
	}
	if o.OnViolation == nil {
		o.OnViolation = func(text string) { t.Errorf("telegramtest: %s", text) }
	}
	o.Patience = cmp.Or(o.Patience, 2*time.Minute)
}

func (s *Server) close() {
	close(s.closing)
	s.http.CloseClientConnections()
	s.http.Close()
	s.work.Wait()
}

func (s *Server) now() time.Time { return s.opts.Clock.Now() }

func (s *Server) nextSeq() int64 {
	s.seq++
	return s.seq
}

// signal wakes everybody who waits for a change; it needs s.mu.
func (s *Server) signal() {
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *Server) violation(format string, args ...any) {
	s.opts.OnViolation(fmt.Sprintf(format, args...))
}

// botID is the first part of the token, as at the real service.
func (s *Server) botID() int64 {
	var id int64
	_, _ = fmt.Sscanf(s.Token, "%d:", &id)
	return id
}

func (s *Server) me() wUser {
	yes, all, inline := true, s.opts.NoPrivacy, !s.opts.NoInline
	return wUser{
		ID: s.botID(), IsBot: true, FirstName: "Signalbox", Username: s.opts.BotUsername,
		CanJoinGroups: &yes, CanReadAllGroupMessages: &all, SupportsInlineQueries: &inline,
	}
}

// RevokeToken makes every later call answer 401, as after a new token was made at BotFather.
func (s *Server) RevokeToken() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revoked = true
}

// handler answers one method; it runs with the server's lock held.
type handler func(*request) (any, *apiError)
