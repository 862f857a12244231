package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

// Service is the service of the tools, LoaderName the name under which the registry knows the loader.
const (
	Service    = "mcp"
	LoaderName = "MCP servers"
)

const (
	connectLimit = 20 * time.Second // of connecting to a server and listing its tools
	endLimit     = 3 * time.Second  // that a program has to end by itself
	maxTools     = 1000             // of one server
)

// Config wires a Provider. File and Guard are required.
type Config struct {
	File    string
	Guard   *http.Client // of internal/outbound: files that servers link to are fetched through it
	Version string       // of ours, for servers
	// Changed is called when a server says that its tools are others now.
	Changed func()
	Lookup  func(string) (string, bool) // the environment; nil: os.LookupEnv
	Logger  *slog.Logger
}

// Provider loads the tools of MCP servers and calls them. It is safe for concurrent use.
type Provider struct {
	cfg Config

	mu      sync.Mutex
	servers map[string]*server
	closed  bool
	ending  sync.WaitGroup // connections that are being closed; none is added when closed
}

var (
	_ registry.Loader = (*Provider)(nil)
	_ registry.Caller = (*Provider)(nil)
)

// New makes a Provider; it reads and starts nothing yet.
func New(cfg Config) *Provider {
	if cfg.Lookup == nil {
		cfg.Lookup = os.LookupEnv
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	if cfg.Changed == nil {
		cfg.Changed = func() {}
	}
	return &Provider{cfg: cfg, servers: map[string]*server{}}
}

// server is one server and the connection to it.
type server struct {
	name string
	cfg  serverConfig

	mu      sync.Mutex
	session *connection     // nil: not connected
	good    []registry.Tool // of the last list that came

	listing listing
}

// connection is a session, and what is asked in it.
type connection struct {
	*sdk.ClientSession
	asks asks
	said remarks // of a program
}

// Name identifies the loader.
func (p *Provider) Name() string { return LoaderName }

// Load reads the file and asks each server for its tools, all at once. A server that fails keeps the tools that it
// had, and the problem is reported beside the others' tools as a *registry.PartialError.
func (p *Provider) Load(ctx context.Context) ([]registry.Tool, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	configs, problems := readServers(p.cfg.File, p.cfg.Lookup)
	servers := p.take(configs, len(problems) > 0)
	lists, failures := make([][]registry.Tool, len(servers)), make([]error, len(servers))
	var all sync.WaitGroup
	for i, s := range servers {
		all.Go(func() { lists[i], failures[i] = p.list(ctx, s) })
	}
	all.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i, err := range failures {
		if err != nil {
			problems = append(problems, registry.Problem{Source: p.cfg.File, Field: "mcpServers." + servers[i].name, Message: servers[i].hide(err.Error())})
		}
	}
	tools := slices.Concat(lists...)
	if len(problems) > 0 {
		return tools, &registry.PartialError{Problems: problems}
	}
	return tools, nil
}

// take keeps the servers that are the same as before with their connections and ends the others. Where the file has
// mistakes, those that are not read stay.
func (p *Provider) take(configs map[string]serverConfig, mistakes bool) []*server {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	for name, s := range p.servers {
		cfg, still := configs[name]
		if still && !reflect.DeepEqual(cfg, s.cfg) || !still && !mistakes {
			p.ending.Go(s.end)
			delete(p.servers, name)
		}
	}
	for name, cfg := range configs {
		if p.servers[name] == nil {
			p.servers[name] = &server{name: name, cfg: cfg}
		}
	}
	list := slices.Collect(maps.Values(p.servers))
	slices.SortFunc(list, func(a, b *server) int { return cmp.Compare(a.name, b.name) })
	return list
}

// Close ends all connections and programs, and waits for them. There are no servers afterwards.
func (p *Provider) Close(context.Context) error {
	p.mu.Lock()
	for _, s := range p.servers {
		p.ending.Go(s.end)
	}
	p.servers, p.closed = nil, true
	p.mu.Unlock()
	p.ending.Wait()
	return nil
}

func (s *server) end() {
	s.mu.Lock()
	session := s.session
	s.session = nil
	s.mu.Unlock()
	if session != nil {
		_ = session.Close() // it is gone either way
	}
}

// list gives a server's tools, or those that it had beside the reason why there are no others.
func (p *Provider) list(ctx context.Context, s *server) ([]registry.Tool, error) {
	ctx, cancel := context.WithTimeout(ctx, connectLimit)
	defer cancel()
	tools, err := p.fetch(ctx, s)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.good = tools
	}
	kept := make([]registry.Tool, len(s.good))
	for i, tool := range s.good {
		kept[i] = tool.Clone()
	}
	return kept, err
}

func (p *Provider) fetch(ctx context.Context, s *server) ([]registry.Tool, error) {
	session, _, err := p.connect(ctx, s)
	if err != nil {
		return nil, err
	}
	var tools []registry.Tool
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			p.drop(s, session)
			return nil, session.said.explained(fmt.Errorf("its tools can't be listed: %w", err))
		}
		if !s.cfg.takes(tool.Name) {
			continue
		}
		if len(tools) == maxTools {
			return nil, fmt.Errorf("it has more than %d tools; name those you want under tools", maxTools)
		}
		one, err := define(s.name, s.cfg, tool, s.listing.of(tool.Name).InputSchema)
		switch {
		case s.listing.of(tool.Name).Execution.TaskSupport == "required":
			one.Status = registry.SayStatus(registry.StateUnavailable, said.ServiceTaskOnly.With())
		case err != nil:
			p.cfg.Logger.WarnContext(ctx, "a tool of an MCP server can't be used", "server", s.name, "tool", tool.Name, "error", err)
			one.Status = registry.SayStatus(registry.StateUnavailable, said.ServiceInputs.With())
		}
		tools = append(tools, one)
	}
	return tools, nil
}

// connect gives the session with a server, a new one where there is none; known says that it was there.
func (p *Provider) connect(ctx context.Context, s *server) (session *connection, known bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session != nil {
		return s.session, true, nil
	}
	session = &connection{}
	client := sdk.NewClient(&sdk.Implementation{Name: "signalbox", Version: p.cfg.Version}, &sdk.ClientOptions{
		Capabilities:           &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}, URL: &sdk.URLElicitationCapabilities{}}},
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { p.cfg.Changed() },
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			s.progress(&session.asks, r.Params)
		},
		ElicitationHandler: func(ctx context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			result, err := s.elicit(ctx, &session.asks, r.Params)
			if err != nil {
				p.cfg.Logger.InfoContext(ctx, "a question of an MCP server was declined", "server", s.name, "error", err)
			}
			return result, nil
		},
	})
	if session.ClientSession, err = client.Connect(ctx, s.transport(&session.said), nil); err != nil {
		return nil, false, session.said.explained(fmt.Errorf("no connection: %w", err))
	}
	s.session = session
	return session, false, nil
}

// drop forgets a session that broke, so that the next use connects anew.
func (p *Provider) drop(s *server, session *connection) {
	s.mu.Lock()
	if s.session == session {
		s.session = nil
	}
	s.mu.Unlock()
	p.mu.Lock()
	closed := p.closed
	if !closed {
		p.ending.Go(func() { _ = session.Close() })
	}
	p.mu.Unlock()
	if closed {
		_ = session.Close()
	}
}

func (s *server) transport(said *remarks) sdk.Transport {
	if s.cfg.URL != "" {
		client := &http.Client{
			Transport: withHeaders{s.cfg.URL, s.cfg.Headers, &s.listing, http.DefaultTransport},
			// Headers sent to one host must not follow a redirect to another.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
		if s.cfg.Type == "sse" {
			return watched{&sdk.SSEClientTransport{Endpoint: s.cfg.URL, HTTPClient: client}, &s.listing}
		}
		return &sdk.StreamableClientTransport{Endpoint: s.cfg.URL, HTTPClient: client, MaxRetries: -1}
	}
	return watched{program{s.cfg, said}, &s.listing}
}

// inherited are the variables that programs need to run at all. All others, with our secrets, stay with us.
var inherited = []string{"PATH", "HOME", "USER", "LANG", "TMPDIR", "TZ"}

func environment(own map[string]string) []string {
	env := []string{}
	for _, name := range inherited {
		if value, set := os.LookupEnv(name); set {
			env = append(env, name+"="+value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		env = append(env, name+"="+own[name])
	}
	return env
}

// withHeaders sends headers with each request.
type withHeaders struct {
	address string // of the server; requests go to its scheme, host and port alone
	headers map[string]string
	listing *listing
	next    http.RoundTripper
}

// RoundTrip sends a request with the headers.
func (t withHeaders) RoundTrip(r *http.Request) (*http.Response, error) {
	if at, err := url.Parse(t.address); err != nil || r.URL.Scheme != at.Scheme || !strings.EqualFold(r.URL.Host, at.Host) { // an event of the server named it
		return nil, fmt.Errorf("the server leads to %s, which is another host", r.URL.Host)
	}
	r = r.Clone(r.Context())
	for name, value := range t.headers {
		r.Header.Set(name, value)
	}
	answer, err := t.next.RoundTrip(r)
	if err == nil && lists(r) {
		answer.Body = &watchedBody{ReadCloser: answer.Body, listing: t.listing}
	}
	return answer, err
}

// hide takes secrets out of a message, and puts it in a line.
func (s *server) hide(text string) string {
	return strings.Join(strings.Fields(s.secretless(text)), " ")
}

func (s *server) secretless(text string) string {
	for _, secret := range s.cfg.secrets {
		if len(secret) >= 6 { // shorter ones are words
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return text
}

// define makes a tool of a server's; where there is an error it has no inputs. schema is that of its inputs as the server wrote it.
// Whether it is sound is for the registry to say, which tells operators of those that it refuses.
func define(name string, cfg serverConfig, t *sdk.Tool, schema json.RawMessage) (registry.Tool, error) {
	if len(schema) == 0 { // nobody saw it pass; its order is lost then
		schema, _ = json.Marshal(t.InputSchema)
	}
	inputs, wrapped, err := inputsOf(schema)
	tool := registry.Tool{
		ToolID: name + "." + wordOf(t.Name), Service: Service, DisplayName: shorter(cmp.Or(strings.TrimSpace(t.Title), titleOf(t), t.Name), maxLabel),
		Description: t.Description, CommandName: commandOf(name, t.Name),
		InputSchema: inputs,
		Execution:   registry.Execution{Capability: registry.CapabilityWrite},
		Listing:     registry.Listing{Category: name},
		Metadata:    map[string]any{serverKey: name, toolKey: t.Name},
	}
	if wrapped != "" {
		tool.Metadata[wrappedKey] = wrapped
	}
	if shape, err := json.Marshal(t.OutputSchema); err == nil && t.OutputSchema != nil && !oneText(shape) {
		if _, err := registry.ParseSchema(shape); err == nil { // one that can't be read says nothing about the answers
			tool.OutputSchema = registry.OutputSchema{{Name: resultName, Type: "text", Schema: shape}}
		}
	}
	if hints := t.Annotations; hints != nil {
		tool.Idempotent = hints.IdempotentHint || hints.ReadOnlyHint
		if hints.ReadOnlyHint {
			tool.Capability = registry.CapabilityRead
		}
	}
	if cfg.USDPerCall != "" {
		tool.CostingModel = &registry.CostingModel{Rate: cfg.USDPerCall, Unit: registry.UnitRequest, RateSource: registry.RateStatic}
	}
	return tool, err
}

func titleOf(t *sdk.Tool) string {
	if t.Annotations == nil {
		return ""
	}
	return t.Annotations.Title
}

// oneText reports whether all that an answer has is one text, as libraries for servers wrap it: {"result": "..."}. People and programs
// are better off with the text.
func oneText(shape []byte) bool {
	fields, err := registry.SchemaInputs(shape)
	return err == nil && len(fields) == 1 && fields[0].IsText() && !fields[0].Multiple
}

// wordOf makes one printable word of a name.
func wordOf(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || !unicode.IsPrint(r) {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(name, "_"))
}

// maxCommand is how many letters a command has at most.
const maxCommand = 32

// commandOf makes a chat command of the names of a server and its tool: /notes_add. Where that is too long, or says the server's name
// twice, the tool's name has to do.
func commandOf(server, tool string) string {
	server, tool = lettersOf(server), lettersOf(tool)
	word := strings.Trim(server+"_"+tool, "_")
	if tool != "" && (len(word) > maxCommand || strings.HasPrefix(tool, server+"_")) {
		word = tool
	}
	return "/" + strings.TrimRight(word[:min(len(word), maxCommand)], "_")
}

var notLetters = regexp.MustCompile(`[^a-z0-9]+`)

func lettersOf(name string) string {
	return strings.Trim(notLetters.ReplaceAllString(strings.ToLower(name), "_"), "_")
}

// resultName is the output that has the data of a tool with an outputSchema.
const resultName = "result"

// metadata of a tool: where it is.
const (
	serverKey = "server"
	toolKey   = "tool"
	// wrappedKey is the only argument of the server's tool, an object, where the inputs are its members.
	wrappedKey = "wrapped"
)

// serverOf finds the server of a tool, as long as it is there.
func (p *Provider) serverOf(tool registry.Tool) (*server, string, error) {
	name, _ := tool.Metadata[serverKey].(string)
	inside, _ := tool.Metadata[toolKey].(string)
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.servers[name]; s != nil {
		return s, inside, nil
	}
	return nil, "", registry.Say(registry.CodeUnavailable, said.ServiceGone, "tool", tool.DisplayName)
}

// Ready says that the server of a tool is not there.
func (p *Provider) Ready(_ context.Context, tool registry.Tool) error {
	_, _, err := p.serverOf(tool)
	return err
}
