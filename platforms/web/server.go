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
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// Platform is the name under which runs and identities of the web are kept.
const Platform = "web"

// Runs is what the web needs of runs.Service.
type Runs interface {
	Bind(ctx context.Context, r runs.Request) (runs.Bound, error)
	Quote(ctx context.Context, b runs.Bound) (billing.Quote, error)
	Accept(ctx context.Context, r runs.Request) (runs.Run, error)
	Confirm(ctx context.Context, runID, accountID string) (runs.Run, error)
	Cancel(ctx context.Context, runID, accountID string) (runs.Run, error)
	Get(ctx context.Context, runID string) (runs.Run, error)
	List(ctx context.Context, f runs.Filter) ([]runs.Run, error)
	Subscribe(runID string) (<-chan runs.Run, func())
	PreviewOf(runID string) []byte
	OpenMedia(ctx context.Context, ref registry.Media) (io.ReadCloser, registry.MediaInfo, error)
	PutMedia(ctx context.Context, r io.Reader, name string) (registry.Media, registry.MediaInfo, error)
}

// Users is what the web needs of users.Store.
type Users interface {
	SetOperator(ctx context.Context, accountID string, operator bool) error
	Identify(ctx context.Context, id users.Identity) (users.Account, error)
	ByKey(ctx context.Context, plaintext string) (users.Account, error)
	CreateKey(ctx context.Context, accountID, label string) (string, error)
	Preferences(ctx context.Context, accountID, toolID string) (map[string]any, error)
}

// Ledger is what the web needs of billing.Ledger.
type Ledger interface {
	Balance(ctx context.Context, accountID string) (billing.Balance, error)
}

// Config wires a Server. All members but Public, AdminToken, Status, Changes and Ready are required.
type Config struct {
	Registry *registry.Registry
	Runs     Runs
	Users    Users
	Ledger   Ledger
	Logger   *slog.Logger
	// Public is the address under which the world reaches us; nil means a local program: whoever opens
	// the page on this machine is signed in as the local user.
	Public     *url.URL
	AdminToken string
	// LinkKey signs the addresses of results. At least 16 bytes, kept across restarts.
	LinkKey []byte
	// Status is what GET /api/status answers beside the loaders, e.g. the engines.
	Status func() map[string]any
	// Changes lists what changed in the catalogue, newest first, for operators.
	Changes func(ctx context.Context) ([]registry.Change, error)
	// Ready is nil when the program can serve; GET /readyz asks it.
	Ready   func(ctx context.Context) error
	Metrics http.Handler
	Version string
	Now     func() time.Time
}

// Server serves pages and API. Make it with New.
type Server struct {
	cfg   Config
	pages *template.Template
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
	s := &Server{cfg: cfg}
	var err error
	if s.pages, err = s.parsePages(); err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	return s, nil
}

// Handler returns the whole of the web: it is the API's table of contents.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()

	mux.HandleFunc("GET /healthz", s.healthz)
	mux.HandleFunc("GET /readyz", s.readyz)
	if s.cfg.Metrics != nil {
		mux.Handle("GET /metrics", s.cfg.Metrics)
	}

	mux.HandleFunc("GET /{$}", s.page(s.home))
	mux.HandleFunc("GET /tool/{id}", s.page(s.tool))
	mux.HandleFunc("POST /tool/{id}", s.page(s.start))
	mux.HandleFunc("GET /run/{id}", s.page(s.run))
	mux.HandleFunc("POST /run/{id}/cancel", s.page(s.cancelFromPage))
	mux.HandleFunc("POST /run/{id}/again", s.page(s.again))
	mux.HandleFunc("GET /history", s.page(s.history))
	mux.HandleFunc("GET /prices", s.page(s.prices))
	mux.HandleFunc("GET /developers", s.page(s.developers))
	mux.HandleFunc("POST /developers", s.page(s.makeKey))
	mux.HandleFunc("GET /changes", s.page(s.changes))
	mux.HandleFunc("GET /signin", s.signinPage)
	mux.HandleFunc("POST /signin", s.signin)
	mux.HandleFunc("POST /signout", s.signout)
	mux.HandleFunc("GET /static/{file}", s.static)
	mux.HandleFunc("GET /files/{sig}/{hash}/{name}", s.file)

	mux.HandleFunc("GET /openapi.json", s.openapi)
	mux.HandleFunc("GET /api/tools", s.api(s.apiTools))
	mux.HandleFunc("GET /api/tools/{id}", s.api(s.apiTool))
	mux.HandleFunc("GET /api/status", s.api(s.apiStatus))
	mux.HandleFunc("GET /api/changes", s.api(s.apiChanges))
	mux.HandleFunc("GET /api/runs", s.api(s.apiRuns))
	mux.HandleFunc("GET /api/runs/{id}", s.api(s.apiRun))
	mux.HandleFunc("GET /api/runs/{id}/events", s.api(s.apiEvents))
	mux.HandleFunc("GET /api/runs/{id}/preview", s.api(s.apiPreview))
	mux.HandleFunc("POST /api/runs/{id}/cancel", s.api(s.apiCancel))
	mux.HandleFunc("POST /api/runs/{id}/confirm", s.api(s.apiConfirm))
	mux.HandleFunc("GET /api/balance", s.api(s.apiBalance))
	mux.HandleFunc("POST /api/uploads", s.api(s.apiUpload))
	mux.HandleFunc("POST /api/quote/{id}", s.api(s.apiQuote))
	mux.HandleFunc("POST /api/keys", s.apiKeys)
	// The tools' own paths come and go with the registry, so they are looked up, not routed.
	mux.HandleFunc("POST /", s.api(s.apiStart))
	mux.HandleFunc("/", s.notFound)

	return s.guard(mux)
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
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'self'; img-src 'self' data: blob:; media-src 'self' blob:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		if !s.knownHost(r.Host) && !machinePath(r.URL.Path) {
			s.problem(w, r, http.StatusMisdirectedRequest, "unknown_host", "This program does not serve the host you asked for. Set PUBLIC_URL to the address you use.")
			return
		}
		protected.ServeHTTP(w, r)
	})
}

// machinePath tells the probes, which orchestrators ask by whatever address they have.
func machinePath(p string) bool { return p == "/healthz" || p == "/readyz" || p == "/metrics" }

// knownHost accepts the public host, this machine's names, and bare IP addresses, which no other site's
// name can stand for.
func (s *Server) knownHost(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	if s.cfg.Public != nil && strings.EqualFold(host, s.cfg.Public.Hostname()) {
		return true
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || net.ParseIP(host) != nil
}

func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) {
	io.WriteString(w, "ok\n")
}

func (s *Server) readyz(w http.ResponseWriter, r *http.Request) {
	if s.cfg.Ready != nil {
		if err := s.cfg.Ready(r.Context()); err != nil {
			http.Error(w, "not ready: "+registry.AsError(err).Message, http.StatusServiceUnavailable)
			return
		}
	}
	io.WriteString(w, "ready\n")
}
