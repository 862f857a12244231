package telegramtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
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

// handler answers one method; it runs with the server's lock held.
type handler func(*request) (any, *apiError)

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
	if o.Token == "" {
		o.Token = "7123456789:AAtestTESTtestTESTtestTESTtestTEST0"
	}
	if o.BotUsername == "" {
		o.BotUsername = "signalbox_test_bot"
	}
	if o.Clock == nil {
		o.Clock = clock.System{}
	}
	if o.OnViolation == nil {
		o.OnViolation = func(text string) { t.Errorf("telegramtest: %s", text) }
	}
	if o.Patience == 0 {
		o.Patience = 2 * time.Minute
	}
}

func (s *Server) close() {
	close(s.closing)
	s.http.CloseClientConnections()
	s.http.Close()
	s.work.Wait()
}

func (s *Server) methods() map[string]handler {
	m := map[string]handler{
		"getMe":       func(*request) (any, *apiError) { return s.me(), nil },
		"getFile":     s.getFile,
		"sendMessage": s.sendMessage, "sendMediaGroup": s.sendMediaGroup,
		"editMessageText": s.editMessageText, "editMessageCaption": s.editMessageCaption,
		"editMessageMedia": s.editMessageMedia, "editMessageReplyMarkup": s.editMessageReplyMarkup,
		"deleteMessage": s.deleteMessage, "deleteMessages": s.deleteMessages,
		"sendChatAction": s.sendChatAction, "setMessageReaction": s.setMessageReaction,
		"answerCallbackQuery": s.answerCallbackQuery, "answerInlineQuery": s.answerInlineQuery,
		"setMyCommands": s.setMyCommands, "getMyCommands": s.getMyCommands, "deleteMyCommands": s.deleteMyCommands,
		"setWebhook": s.setWebhook, "deleteWebhook": s.deleteWebhook, "getWebhookInfo": s.getWebhookInfo,
		"getChat": s.getChat, "getChatMember": s.getChatMember, "leaveChat": s.leaveChat,
		"createInvoiceLink": s.createInvoiceLink, "answerPreCheckoutQuery": s.answerPreCheckout, "refundStarPayment": s.refundStars,
		"setChatMenuButton": s.setChatMenuButton,
	}
	for _, kind := range []string{"photo", "video", "animation", "audio", "voice", "document"} {
		m["send"+title(kind)] = s.sendMedia(kind)
	}
	for method, field := range map[string]string{
		"MyName": "name", "MyDescription": "description", "MyShortDescription": "short_description",
	} {
		m["set"+method] = func(req *request) (any, *apiError) {
			s.texts[field+"/"+req.params["language_code"]] = req.params[field]
			return true, nil
		}
		m["get"+method] = func(req *request) (any, *apiError) {
			return map[string]string{field: s.texts[field+"/"+req.params["language_code"]]}, nil
		}
	}
	return m
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

// ServeHTTP answers /bot<token>/<method> and /file/bot<token>/<path>.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, isFile := strings.CutPrefix(r.URL.Path, "/file")
	token, rest, found := strings.Cut(strings.TrimPrefix(path, "/bot"), "/")
	if !found || !strings.HasPrefix(path, "/bot") {
		writeError(w, &apiError{code: 404, description: "Not Found"})
		return
	}
	s.mu.Lock()
	wrong := token != s.Token || s.revoked
	s.mu.Unlock()
	if wrong {
		writeError(w, &apiError{code: 401, description: "Unauthorized"})
		return
	}
	if isFile {
		s.serveFile(w, rest)
		return
	}
	s.serveMethod(w, r, rest)
}

func (s *Server) serveMethod(w http.ResponseWriter, r *http.Request, name string) {
	req, err := decodeRequest(r)
	if errors.Is(err, errTooLarge) {
		writeError(w, &apiError{code: 413, description: "Request Entity Too Large"})
		return
	}
	if err != nil {
		writeError(w, badRequest("can't read the request: %v", err))
		return
	}
	req.at = s.now()
	method, fields, known := s.table.Method(name)
	if !known {
		s.violation("unknown method %q", name)
		writeError(w, &apiError{code: 404, description: "Not Found: method not found"})
		return
	}
	req.method = method
	fault := s.takeFault(req)
	if fault != nil && fault.before(s, w, r) {
		s.record(req, &apiError{description: "fault: " + fault.String()})
		return
	}
	result, refused := s.execute(r, req, fields)
	s.record(req, refused)
	if fault != nil && fault.after(w) {
		return
	}
	if refused != nil {
		writeError(w, refused)
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"ok": true, "result": result})
}

// execute checks the request against the table and runs its handler.
func (s *Server) execute(r *http.Request, req *request, fields apitable.Fields) (any, *apiError) {
	check := &checker{table: s.table}
	refused := check.request(req.method, fields, req)
	for _, text := range check.unknown {
		s.violation("%s", text)
	}
	if refused != nil {
		return nil, refused
	}
	if req.method == "getUpdates" {
		return s.getUpdates(r.Context(), req)
	}
	handle, ok := s.handlers[req.method]
	if !ok {
		s.violation("%s is not imitated by this server", req.method)
		return nil, &apiError{code: 501, description: "Not Implemented: " + req.method + " is not imitated by the test server"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.throttle(req); err != nil {
		return nil, err
	}
	result, refused := handle(req)
	if refused == nil {
		for part := range req.files {
			if !req.used[part] {
				s.violation("%s: uploaded part %q is not referred to", req.method, part)
			}
		}
	}
	return result, refused
}

func writeError(w http.ResponseWriter, e *apiError) {
	body := map[string]any{"ok": false, "error_code": e.code, "description": e.description}
	if e.retryAfter > 0 {
		w.Header().Set("Retry-After", fmt.Sprint(e.retryAfter))
		body["parameters"] = map[string]any{"retry_after": e.retryAfter}
	}
	if e.migrateTo != 0 {
		body["parameters"] = map[string]any{"migrate_to_chat_id": e.migrateTo}
	}
	writeJSON(w, e.code, body)
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
