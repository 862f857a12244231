// Package web is the web platform: the pages people use in a browser, and the HTTP API.
//
// Both draw everything from the registry's snapshot of the moment: adding a tool adds its form, its API
// route and its price without code here. Pages work without JavaScript; a small script adds live
// progress.
package web

import (
	"context"
	"fmt"
	"html/template"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/bundle"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/history"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// Platform is the name under which runs and identities of the web are kept.
const Platform = "web"

// Runs is what the web needs of runs.Service.
type Runs interface {
	Bind(ctx context.Context, r runs.Request) (runs.Bound, error)
	BindAs(ctx context.Context, tool registry.Tool, r runs.Request) (runs.Bound, error)
	Offer(ctx context.Context, b runs.Bound) (runs.Offer, error)
	Accept(ctx context.Context, r runs.Request) (runs.Run, error)
	Ask(ctx context.Context, r runs.Request) (runs.Run, error)
	ConfirmSummary(ctx context.Context, runID, accountID, hash string, granted []string) (runs.Run, error)
	Answer(ctx context.Context, runID, accountID, questionID string, reply registry.Reply) (runs.Run, error)
	Cancel(ctx context.Context, runID, accountID string) (runs.Run, error)
	Delete(ctx context.Context, runID, accountID string) error
	DeleteOutput(ctx context.Context, runID, accountID string, output int) (runs.Run, error)
	Get(ctx context.Context, runID string) (runs.Run, error)
	First(ctx context.Context, accountID, key string) (runs.Run, error)
	List(ctx context.Context, f runs.Filter) ([]runs.Run, error)
	Usage(ctx context.Context, accountID string) (runs.Usage, error)
	Subscribe(runID string) (<-chan runs.Run, func())
	PreviewOf(runID string) []byte
	OpenMedia(ctx context.Context, ref registry.Media) (io.ReadCloser, registry.MediaInfo, error)
	Thumbnail(ctx context.Context, ref registry.Media, side int) (mime string, content []byte, err error)
	OwnersOf(ctx context.Context, ref registry.Media) ([]string, error)
	PutMedia(ctx context.Context, accountID string, r io.Reader, name string) (registry.Media, registry.MediaInfo, error)
}

// Users is what the web needs of users.Store.
type Users interface {
	StreamsOf(ctx context.Context, accountID string) (int, error)
	SetOperator(ctx context.Context, accountID string, operator bool) error
	EndOffice(ctx context.Context, accountID string) error
	Identify(ctx context.Context, id users.Identity) (users.Account, error)
	ByIdentity(ctx context.Context, platform, externalID string) (users.Account, error)
	Link(ctx context.Context, accountID string, id users.Identity) error
	PeekLinkCode(ctx context.Context, guesser, code string) (users.Account, error)
	TakeLinkCode(ctx context.Context, guesser, code string) (users.Account, error)
	RedeemLinkCode(ctx context.Context, accountID, code string) (users.Merged, error)
	KeyOf(ctx context.Context, plaintext string) (users.Account, users.Key, error)
	LimitKey(ctx context.Context, accountID string, id, nanoUSD int64) error
	MarkAgentKey(ctx context.Context, accountID string, id int64) error
	CreateKey(ctx context.Context, accountID, label string) (string, error)
	Keys(ctx context.Context, accountID string) ([]users.Key, error)
	RevokeKey(ctx context.Context, accountID string, id int64, exceptSession string) error
	NewSession(ctx context.Context, session users.Session) (secret string, err error)
	BySession(ctx context.Context, secret string) (users.Account, users.Session, error)
	EndSession(ctx context.Context, accountID, id string) error
	EndSessions(ctx context.Context, accountID, exceptID string) (int, error)
	Admit(ctx context.Context, accountID, by, note string) error
	CheckAccount(ctx context.Context, a users.Account, platform, toolID string) (users.Decision, error)
	UseProof(ctx context.Context, proof string, expires time.Time) error
	Household
}

// Ledger is what the web needs of billing.Ledger.
type Ledger interface {
	Balance(ctx context.Context, accountID string) (billing.Balance, error)
}

// Invitations is what the web needs of users.Invitations.
type Invitations interface {
	Create(ctx context.Context, v users.Invitation) (secret string, made users.Invitation, err error)
	List(ctx context.Context) ([]users.Invitation, error)
	Revoke(ctx context.Context, id string) error
	Peek(ctx context.Context, secret string) (users.Invitation, error)
	Use(ctx context.Context, secret, accountID string) (users.Invitation, error)
}

// Config wires a Server. Registry, Runs, Users, Ledger, Invitations and
// LinkKey are required.
type Config struct {
	Registry    *registry.Registry
	Runs        Runs
	Users       Users
	Ledger      Ledger
	Invitations Invitations
	Logger      *slog.Logger
	// Public is the address under which the world reaches us; nil means a local program: whoever opens
	// the page on this machine is signed in as the local user.
	Public *url.URL
	// AdminToken signs the operator in. With one, whoever opens the page on this machine is no operator without it.
	AdminToken string
	// MetricsToken opens GET /metrics, as the operator's token does.
	MetricsToken string
	// Proxies are those in front of us: what they say in X-Forwarded-For is where requests come from.
	Proxies  []netip.Prefix
	Telegram *TelegramLogin // nil: no signing in with Telegram
	Discord  *DiscordLogin  // nil: no signing in with Discord
	// Search finds tools by words; nil: the registry's own.
	Search registry.Searcher
	// Mounts are handlers of other packages that are served behind the same doors.
	Mounts []Mount
	// APIRate is how many requests a second one account may make; bursts may be four times that. 0: no limit.
	APIRate int
	// Conversation is the chat at ChatPath; nil: none.
	Conversation Conversation
	// Shares keeps which results are shown to whoever has their link; nil: sharing is not offered.
	Shares *Shares
	// Hooks tells programs of runs; nil: there are no endpoints.
	Hooks Hooks
	// Answers remembers the answers to requests with an Idempotency-Key; nil: only runs are begun once.
	Answers *Answers
	// Points shows amounts in points as well; the zero value does not.
	Points billing.Points
	// LinkKey signs the addresses of results. At least 16 bytes, kept across restarts.
	LinkKey []byte
	// Status is what GET /api/status answers beside the loaders, e.g. the engines.
	Status func() map[string]any
	// Changes lists what changed in the catalogue, newest first, for operators; nil: nothing does.
	Changes func(ctx context.Context) ([]history.Change, error)
	// Ready is nil when the program can serve; GET /readyz asks it.
	Ready   func(ctx context.Context) error
	Metrics http.Handler // nil: not served here
	// Measure wraps what routes requests, whose Pattern is known inside; nil: nothing does.
	Measure func(http.Handler) http.Handler
	Version string
	Now     func() time.Time
}

// Server serves pages and API. Make it with New.
type Server struct {
	cfg    Config
	pages  map[string]*template.Template // by language
	texts  *i18n.Catalogue
	bundle bundle.Bundle
	mux    *http.ServeMux

	drawn    drawnCatalogue
	results  memory[resultKey, toldRun]
	files    memory[string, smallFile]
	callers  callers
	attempts limiter   // to sign in, by address
	guesses  limiter   // wrong keys and sessions, by address
	requests limiter   // of the API, by account
	streams  openCount // of events, by account
	stranger sync.Once // a proxy that nobody named
}

// New checks the configuration and parses the templates.
func New(cfg Config) (*Server, error) {
	if len(cfg.LinkKey) < 16 {
		return nil, fmt.Errorf("web: the link key has %d bytes, it needs at least 16", len(cfg.LinkKey))
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Search == nil {
		cfg.Search = cfg.Registry.Search
	}
	s := &Server{
		cfg:      cfg,
		results:  memory[resultKey, toldRun]{life: time.Second, most: 256},
		files:    memory[string, smallFile]{life: time.Minute, most: 64},
		callers:  callers{life: callerLife, most: 10_000},
		attempts: limiter{rate: 0.2, burst: 10, now: cfg.Now},
		guesses:  limiter{rate: 2, burst: 60, now: cfg.Now},
		requests: limiter{rate: rate.Limit(cfg.APIRate), burst: 4 * cfg.APIRate, now: cfg.Now},
	}
	var err error
	if s.texts, err = i18n.Load(); err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	s.texts = s.texts.WithUnit(cfg.Points.Unit)
	if s.bundle, err = bundle.New(staticFiles, "static", "/static/"); err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	if s.pages, err = s.parsePages(); err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	s.mux, err = s.addresses().mux()
	return s, err
}

// Handler returns the whole of the web.
func (s *Server) Handler() http.Handler {
	if s.cfg.Measure != nil {
		return s.guard(s.cfg.Measure(s.mux))
	}
	return s.guard(s.mux)
}

// addresses is the table of contents.
func (s *Server) addresses() *routes {
	t := &routes{server: s}
	t.public("GET /healthz", s.healthz)
	t.public("GET /readyz", s.readyz)
	if s.cfg.Metrics != nil {
		t.api("GET /metrics", s.figures(), func(w http.ResponseWriter, r *http.Request, _ users.Account) error {
			s.cfg.Metrics.ServeHTTP(w, r)
			return nil
		})
	}
	s.people(t)
	if s.cfg.Conversation != nil {
		s.conversation(t)
	}
	s.signinRoutes(t)
	for _, m := range s.cfg.Mounts {
		t.mount(m)
	}
	s.programs(t)
	if s.cfg.Hooks != nil {
		s.hooks(t)
	}
	// The tools' own paths come and go with the registry, so they are looked up, not routed.
	t.api("POST /", Run, s.apiStart)
	t.public(everywhere, s.notFound)
	return t
}

// figures is the use of GET /metrics: a local program's are no secret, unless its operator says so.
func (s *Server) figures() Use {
	if s.cfg.Public == nil && s.cfg.MetricsToken == "" {
		return Public
	}
	return Watch
}

// programs adds the API.
func (s *Server) programs(t *routes) {
	status := Read
	if s.cfg.Public != nil { // where the world comes by, only operators hear of inner addresses
		status = OperatorRead
	}
	t.public("GET /openapi.json", s.openapi)
	t.api("GET /api/tools", Read, s.apiTools)
	t.api("GET /api/tools/{id}", Read, s.apiTool)
	t.api("GET /api/status", status, s.apiStatus)
	if s.cfg.Changes != nil {
		t.api("GET /api/changes", OperatorRead, s.apiChanges)
	}
	t.api("GET /api/runs", Read, s.apiRuns)
	t.api("GET /api/runs/{id}", Read, s.apiRun)
	t.api("DELETE /api/runs/{id}", Manage, s.apiDeleteRun)
	t.api("DELETE /api/runs/{id}/outputs/{n}", Manage, s.apiDeleteOutput)
	t.api("GET /api/runs/{id}/envelope", Read, s.apiEnvelope)
	t.api("GET /api/runs/{id}/events", Read, s.apiEvents)
	t.api("GET /api/runs/{id}/preview", Read, s.apiPreview)
	t.api("POST /api/runs/{id}/cancel", Run, s.apiCancel)
	t.api("POST /api/runs/{id}/confirm", Approve, s.apiConfirm)
	t.api("POST /api/runs/{id}/answer", Approve, s.apiAnswer)
	t.api("GET /api/balance", Read, s.apiBalance)
	t.api("POST /api/uploads", Run, s.apiUpload)
	t.api("POST /api/quote/{id}", Run, s.apiQuote)
	t.api("GET /api/keys", Manage, s.apiKeys)
	t.api("POST /api/keys", Manage, s.apiMakeKey)
	t.api("DELETE /api/keys/{id}", Manage, s.apiRevokeKey)
	t.api("GET /api/invitations", OperatorRead, s.apiInvitations)
	t.api("POST /api/invitations", OperatorChange, s.apiInvite)
	t.api("DELETE /api/invitations/{id}", OperatorChange, s.apiRevokeInvitation)
}

// signinRoutes are the ways in.
func (s *Server) signinRoutes(t *routes) {
	t.visitor("GET /signin", s.signinPage)
	t.visitor("POST /signin", s.signin)
	t.page("POST /signout", Enter, s.signout)
	t.page("POST /sessions/{id}/end", Person, s.endSession)
	t.page("POST /sessions/end-others", Person, s.endOthers)
	t.visitor("GET /link", s.linkPage)
	t.visitor("POST /link", s.link)
	t.page("POST /link/join", Person, s.join)
	t.visitor("GET /invite/{token}", s.invitePage)
	t.visitor("POST /invite/{token}", s.invite)
	if s.cfg.Telegram != nil {
		t.visitor("GET /signin/telegram", s.toTelegram)
		t.visitor("GET /signin/telegram/back", s.fromTelegram)
		t.visitor("POST /signin/telegram/back", s.byTelegram)
	}
	if s.cfg.Discord != nil {
		t.visitor("GET /signin/discord", s.toDiscord)
		t.visitor("GET /signin/discord/back", s.fromDiscord)
	}
}

// guard keeps foreign sites out: a page elsewhere can make a browser send requests here, by its own
// name for our address (DNS rebinding) or across sites.
func (s *Server) guard(next http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	if s.cfg.Public != nil {
		// Behind a proxy that terminates TLS the scheme of the Origin differs from ours.
		if err := cross.AddTrustedOrigin(s.cfg.Public.Scheme + "://" + s.cfg.Public.Host); err != nil {
			s.cfg.Logger.Warn("PUBLIC_URL is not usable as an origin", "error", err)
		}
	}
	cross.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.problem(w, r, http.StatusForbidden, "cross_site", "This request came from another site.")
	}))
	protected := cross.Handler(next)
	headers := s.headers()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		maps.Copy(w.Header(), headers)
		if !s.knownHost(r.Host) && !machinePath(r.URL.Path) {
			s.problem(w, r, http.StatusMisdirectedRequest, "unknown_host", "This program does not serve the host you asked for. Set PUBLIC_URL to the address you use.")
			return
		}
		r = s.visiting(w, r)
		protected.ServeHTTP(w, r)
		if r.MultipartForm != nil {
			r.MultipartForm.RemoveAll()
		}
	})
}

// headers are those of every answer. They are shared: handlers replace them, and never change them.
func (s *Server) headers() http.Header {
	h := http.Header{}
	h.Set("Content-Security-Policy", "default-src 'self'; img-src 'self' data: blob:; media-src 'self' blob:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	if s.secure() {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
	return h
}

// machinePath tells the probes, which orchestrators ask by whatever address they have.
func machinePath(p string) bool { return p == "/healthz" || p == "/readyz" || p == "/metrics" }

// knownHost accepts the public host, this machine's names, and bare IP addresses, which no other site's
// name can stand for.
func (s *Server) knownHost(hostport string) bool {
	host := hostOnly(hostport)
	if s.cfg.Public != nil && strings.EqualFold(host, s.cfg.Public.Hostname()) {
		return true
	}
	return loopbackName(host) || net.ParseIP(host) != nil
}

func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) {
	io.WriteString(w, "ok\n")
}

// readyLimit is how long GET /readyz waits for what the program needs: probes give up sooner than a database that hangs.
const readyLimit = 2 * time.Second

func (s *Server) readyz(w http.ResponseWriter, r *http.Request) {
	if s.cfg.Ready != nil {
		ctx, cancel := context.WithTimeout(r.Context(), readyLimit)
		defer cancel()
		if err := s.cfg.Ready(ctx); err != nil {
			http.Error(w, "not ready: "+registry.AsError(err).Message, http.StatusServiceUnavailable)
			return
		}
	}
	io.WriteString(w, "ready\n")
}
