// Package mcp serves the registry as an MCP server (Model Context Protocol) over streamable HTTP, to programs
// with an API key: each tool of the registry is a tool there, runs like any other run, and is paid by the key's
// account.
//
// Both eras of the protocol are served at one address: requests of 2026-07-28 and later stand by themselves, those
// of 2025-11-25 and before belong to a session, which belongs to the account whose key opened it.
//
// What costs money without a spending limit of the key, changes something, or wants a confirmation anyway is asked for before it runs: the client
// shows price and inputs to its person (elicitation). The answer counts for that call alone: the run waits for it, as any that
// must be approved, and a signed state binds the answer to account, limit, tool, inputs and run. A client that can't ask may run what costs
// money only with a key that has a spending limit: the limit is its owner's word. With an agent's key nobody is asked: a model could answer
// for itself. What has to be confirmed waits until the owner does, on the run's page.
package mcp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// Platform is the name under which runs that came by MCP are kept.
const Platform = "mcp"

const (
	statelessFrom  = "2026-07-28" // the first version of the protocol without sessions
	sessionTimeout = 30 * time.Minute
	maxBody        = 16 << 20
	maxSessions    = 50 // of one account: clients that come again and again without an end to their session must not fill the memory
	versionHeader  = "Mcp-Protocol-Version"
	sessionHeader  = "Mcp-Session-Id"
	methodHeader   = "Mcp-Method" // of versions without sessions; the library refuses one that is not the body's
	listenMethod   = "subscriptions/listen"
)

// Runs is what the server needs of runner.Service.
type Runs interface {
	Bind(ctx context.Context, r runs.Request) (runs.Bound, error)
	Quote(ctx context.Context, b runs.Bound) (billing.Quote, error)
	AcceptBound(ctx context.Context, b runs.Bound) (runs.Run, error)
	Ask(ctx context.Context, r runs.Request) (runs.Run, error)
	ConfirmSummary(ctx context.Context, runID, accountID, hash string, granted []string) (runs.Run, error)
	Cancel(ctx context.Context, runID, accountID string) (runs.Run, error)
	Subscribe(runID string) (<-chan runs.Run, func())
}

// Users is what the server needs of users.Store.
type Users interface {
	CheckAccount(ctx context.Context, a users.Account, platform, toolID string) (users.Decision, error)
}

// Config wires a Server; all but Public and Logger are required.
type Config struct {
	Registry *catalog.Registry
	Runs     Runs
	Users    Users
	// Caller is who sent the request of ctx: the handler is mounted behind the API's doors.
	Caller func(ctx context.Context) (users.Account, bool)
	// Budget is what the runs of that request draw on: that of its key.
	Budget func(ctx context.Context) runs.Budget
	// ByAgent tells whether a model acts with that key, whose word approves nothing.
	ByAgent func(ctx context.Context) bool
	// FilePath is where a stored file is served, without host.
	FilePath func(owner string, ref registry.Media, name string) string
	Public   string // the address from outside, like https://bot.example; empty: the one that was asked
	Secret   []byte // signs what was confirmed; at least 16 bytes, kept across restarts
	Version  string
	Search   catalog.Searcher // finds tools for searchTools; nil: the registry's own
	Points   billing.Points   // shows amounts in points as well; the zero value does not
	Logger   *slog.Logger
}

// Server is the MCP server. Make it with New.
type Server struct {
	cfg     Config
	texts   *i18n.Catalogue
	people  *catalogue
	insider *catalogue

	asked     sync.Once  // the first request has both catalogues made
	following sync.Mutex // who follows holds it, and sees the registry as it is then
	sessions  sessions
}

// New makes a Server.
func New(cfg Config) (*Server, error) {
	if len(cfg.Secret) < 16 {
		return nil, fmt.Errorf("mcp: the secret has %d bytes, it needs at least 16", len(cfg.Secret))
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	if cfg.Search == nil {
		cfg.Search = cfg.Registry.Search
	}
	texts, err := i18n.Load()
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, texts: texts.WithUnit(cfg.Points.Unit())}
	s.people, s.insider = s.newCatalogue(registry.Everyone), s.newCatalogue(registry.Insiders)
	return s, nil
}

// begin follows the registry from now on. Many houses have no client, and the descriptions of a thousand tools are megabytes.
func (s *Server) begin() {
	s.cfg.Registry.OnSwap(func(context.Context, catalog.Swap) { s.follow() })
	s.follow()
}

// follow makes the tools of both catalogues those that the registry offers now. They share descriptions.
func (s *Server) follow() {
	s.following.Lock()
	defer s.following.Unlock()
	snap, described := s.cfg.Registry.Snapshot(), map[*registry.Tool]*sdk.Tool{}
	s.people.follow(snap, described)
	s.insider.follow(snap, described)
}

// caller is whose key a request came with.
type caller struct {
	account users.Account
	budget  runs.Budget // that of the key, see door.Budget
	agent   bool        // the key is an agent's
	base    string      // the address under which the caller reaches us
	voice   i18n.Voice  // speaks the caller's language, in what a person reads
}

const callerKey = "caller"

func (c caller) audience() registry.Audience {
	if c.account.Operator {
		return registry.Insiders
	}
	return c.account.Tools
}

// Handler serves the one address of the server.
func (s *Server) Handler() http.Handler {
	pick := func(r *http.Request) *sdk.Server {
		c, _ := auth.TokenInfoFromContext(r.Context()).Extra[callerKey].(caller)
		if c.audience() == registry.Insiders {
			return s.insider.server
		}
		return s.people.server
	}
	// The host of requests is checked by the web's own guard, which knows the public name behind a proxy.
	common := sdk.StreamableHTTPOptions{Logger: s.cfg.Logger, MaxRequestBodyBytes: maxBody, DisableLocalhostProtection: true}
	alone, session := common, common
	alone.Stateless, alone.PropagateRequestCancellation = true, true
	session.SessionTimeout = sessionTimeout
	modern, legacy := sdk.NewStreamableHTTPHandler(pick, &alone), sdk.NewStreamableHTTPHandler(pick, &session)
	both := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked.Do(s.begin)
		if r.Header.Get(versionHeader) >= statelessFrom {
			modern.ServeHTTP(w, r)
			return
		}
		legacy.ServeHTTP(w, r)
		if id := w.Header().Get(sessionHeader); id != "" && r.Header.Get(sessionHeader) == "" {
			c, _ := auth.TokenInfoFromContext(r.Context()).Extra[callerKey].(caller)
			s.opened(c.account.ID, id)
		}
	})
	return auth.RequireBearerToken(s.verify, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(both)
}

// Streams tells the requests by which clients listen for news, for as long as they want.
func Streams(r *http.Request) bool {
	return r.Method == http.MethodGet || r.Header.Get(methodHeader) == listenMethod
}

// sessions are those that each account has opened, the oldest first.
type sessions struct {
	mu   sync.Mutex
	open map[string][]string
}

// opened notes a session of an account. Where that has too many, its oldest ends.
func (s *Server) opened(account, id string) {
	s.sessions.mu.Lock()
	defer s.sessions.mu.Unlock()
	if s.sessions.open == nil {
		s.sessions.open = map[string][]string{}
	}
	ids := append(s.sessions.open[account], id)
	if len(ids) > maxSessions {
		there := map[string]*sdk.ServerSession{}
		for _, c := range []*catalogue{s.people, s.insider} {
			for session := range c.server.Sessions() {
				there[session.ID()] = session
			}
		}
		ids = slices.DeleteFunc(ids, func(id string) bool { return there[id] == nil })
		if len(ids) > maxSessions {
			go there[ids[0]].Close() // which may wait for a call
			ids = slices.Delete(ids, 0, 1)
		}
	}
	s.sessions.open[account] = ids
}

// verify notes whose request it is, which the API's doors have found out by the token.
func (s *Server) verify(_ context.Context, token string, r *http.Request) (*auth.TokenInfo, error) {
	account, known := s.cfg.Caller(r.Context())
	if !known {
		return nil, auth.ErrInvalidToken
	}
	c := caller{account: account, budget: s.cfg.Budget(r.Context()), agent: s.cfg.ByAgent(r.Context()), base: s.cfg.Public, voice: s.texts.Voice(account.Language, r.Header.Get("Accept-Language"))}
	if c.base == "" {
		c.base = "http://" + r.Host
	}
	// A session belongs to the key that opened it.
	key := sha256.Sum256([]byte(token))
	return &auth.TokenInfo{UserID: hex.EncodeToString(key[:]), Extra: map[string]any{callerKey: c}}, nil
}

func callerOf(req *sdk.CallToolRequest) (caller, bool) {
	if req.Extra == nil || req.Extra.TokenInfo == nil {
		return caller{}, false
	}
	c, ok := req.Extra.TokenInfo.Extra[callerKey].(caller)
	return c, ok
}

// catalogue is the MCP server of one audience, in step with the registry.
type catalogue struct {
	audience registry.Audience
	server   *sdk.Server
	call     func(toolID string) sdk.ToolHandler
	search   sdk.ToolHandler
	log      *slog.Logger
	shown    map[string]string // version and state by the tool's name
}

func (s *Server) newCatalogue(a registry.Audience) *catalogue {
	server := sdk.NewServer(&sdk.Implementation{Name: "signalbox", Title: "Signalbox", Version: s.cfg.Version}, &sdk.ServerOptions{
		Instructions: "Each tool is a run that is paid by the key's account: the price is asked for before. Files go in as https addresses or as references " +
			"(asset:...) of earlier results and uploads; results come as links.",
		Logger:       s.cfg.Logger,
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{ListChanged: true}},
	})
	server.AddReceivingMiddleware(s.forSome)
	return &catalogue{audience: a, server: server, call: s.handler, search: s.search, log: s.cfg.Logger, shown: map[string]string{}}
}

// forSome keeps a key for some tools to them: the server has those of all keys.
func (s *Server) forSome(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		extra := req.GetExtra()
		if extra == nil || extra.TokenInfo == nil {
			return next(ctx, method, req)
		}
		c, known := extra.TokenInfo.Extra[callerKey].(caller)
		if !known || c.account.Tools == registry.Everyone {
			return next(ctx, method, req)
		}
		named := map[string]bool{searchTool: true}
		for _, tool := range s.cfg.Registry.Snapshot().Offered(c.audience()) {
			named[nameOf(tool.ToolID)] = true
		}
		if call, is := req.(*sdk.CallToolRequest); is && !named[call.Params.Name] {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("unknown tool %q", call.Params.Name)} // as the library says it
		}
		result, err := next(ctx, method, req)
		if list, is := result.(*sdk.ListToolsResult); is && list != nil {
			list.Tools = slices.DeleteFunc(slices.Clone(list.Tools), func(t *sdk.Tool) bool { return !named[t.Name] })
		}
		return result, err
	}
}

// follow makes the server's tools those that the snapshot offers, with the descriptions made for it so far. Clients
// are told by the server.
func (c *catalogue) follow(snap *catalog.Snapshot, described map[*registry.Tool]*sdk.Tool) {
	offered := map[string]string{}
	for _, tool := range snap.Offered(c.audience) {
		name := nameOf(tool.ToolID)
		if _, taken := offered[name]; taken {
			c.log.Warn("two tools have one name for MCP; the first one counts", "name", name, "tool", tool.ToolID)
			continue
		}
		offered[name] = tool.Version
		if c.shown[name] == tool.Version && tool.Version != "" {
			continue
		}
		if described[tool] == nil {
			shown, err := describe(tool)
			if err != nil {
				c.log.Warn("a tool can't be described for MCP", "tool", tool.ToolID, "error", err)
				delete(offered, name)
				continue
			}
			described[tool] = shown
		}
		c.server.AddTool(described[tool], c.call(tool.ToolID))
	}
	if _, taken := offered[searchTool]; !taken { // a tool of that name comes first
		c.server.AddTool(describeSearch(), c.search)
		offered[searchTool] = searchTool
	}
	var gone []string
	for name := range c.shown {
		if _, still := offered[name]; !still {
			gone = append(gone, name)
		}
	}
	c.server.RemoveTools(gone...)
	c.shown = offered
}

// nameOf makes a name of an id that MCP allows: 128 letters, digits, dots, dashes and underscores at most.
func nameOf(toolID string) string {
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune("_-.", r) || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, toolID)
	return name[:min(len(name), 128)]
}
