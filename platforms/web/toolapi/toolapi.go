// Package toolapi is the runtime registration of tools over HTTP: GET /tools lists what can be called as
// manifests, POST /tools/register adds or replaces a remote tool, DELETE /tools/{name} removes one. It is mounted
// where anyone who is signed in may look, and only operators may change.
package toolapi

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"

	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/problem"
	"github.com/signalbox/signalbox/platforms/web/request"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/users"
)

// maxBody bounds a registration, in bytes.
const maxBody = 1 << 20

// Registration is a tool that was taken.
type Registration struct {
	Name     string
	Enabled  bool
	Replaced bool
	Undo     func(ctx context.Context) error // puts back what was there before
}

// Config wires a Handler; all but Logger are required.
type Config struct {
	Registry *catalog.Registry
	Loader   string // of the registered tools
	Service  string // that runs them
	// Register checks and keeps {manifest, endpoint, staticHeaders}; Remove forgets one by name. Their errors
	// for people are *registry.Error.
	Register func(ctx context.Context, raw []byte, by string) (Registration, error)
	Remove   func(ctx context.Context, name string) error
	// Caller is who sent the request of ctx.
	Caller func(ctx context.Context) (users.Account, bool)
	Logger *slog.Logger
}

type server struct{ Config }

// Handler serves the three routes. Who may use them is decided where it is mounted.
func Handler(cfg Config) http.Handler {
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	s := server{cfg}
	mux := http.NewServeMux()
	answer := func(h door.Handler) http.HandlerFunc { return door.Answering(cfg.Caller, cfg.Logger, h) }
	mux.HandleFunc("GET /tools", answer(s.list))
	mux.HandleFunc("POST /tools/register", answer(s.register))
	mux.HandleFunc("DELETE /tools/{name}", answer(s.remove))
	return mux
}

// Listed is a tool as GET /tools shows it. It has neither endpoint nor headers.
type Listed struct {
	Manifest any    `json:"manifest"`
	Source   string `json:"source"` // file or api for remote tools, the service of all others
}

func (s server) list(w http.ResponseWriter, _ *http.Request, reader users.Account) error {
	list := []Listed{}
	for _, tool := range s.Registry.Snapshot().Offered(request.Audience(reader)) {
		one, err := s.listed(tool)
		if err != nil {
			return fmt.Errorf("describe %s: %w", tool.ToolID, err)
		}
		list = append(list, one)
	}
	door.WriteJSON(w, http.StatusOK, map[string]any{"tools": list})
	return nil
}

func (s server) listed(tool *registry.Tool) (Listed, error) {
	if manifest, own := tool.Metadata["manifest"]; own && tool.Service == s.Service {
		source, _ := tool.Metadata["source"].(string)
		return Listed{manifest, source}, nil
	}
	input, err := tool.InputSchema.JSONSchema()
	if err != nil {
		return Listed{}, err
	}
	properties := map[string]any{}
	for _, o := range tool.OutputSchema {
		properties[o.Name] = map[string]any{"type": "string", "description": o.Description}
	}
	policy := registry.RetryPolicy{MaxAttempts: 1}
	if tool.RetryPolicy != nil {
		policy = *tool.RetryPolicy
	}
	capability := cmp.Or(tool.Capability, registry.CapabilityWrite)
	return Listed{Source: tool.Service, Manifest: map[string]any{
		"name": tool.ToolID, "description": tool.Description, "inputSchema": input, "outputSchema": map[string]any{"type": "object", "properties": properties},
		"capability": capability, "timeoutMs": tool.TimeoutMs, "retryPolicy": policy, "idempotent": tool.Idempotent,
	}}, nil
}

func (s server) register(w http.ResponseWriter, r *http.Request, by users.Account) error {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return &problem.Problem{Status: http.StatusRequestEntityTooLarge, Code: string(registry.CodeInvalidInput), Detail: fmt.Sprintf("The registration can't be read, or has more than %d bytes.", maxBody)}
	}
	if err := s.unclaimed(raw); err != nil {
		return err
	}
	done, err := s.Register(r.Context(), raw, by.ID)
	if err == nil {
		err = s.serve(r.Context(), done)
	}
	if err != nil {
		return err
	}
	s.Logger.InfoContext(r.Context(), "a remote tool was registered", "tool", done.Name, "enabled", done.Enabled, "replaced", done.Replaced, "by", by.ID)
	status := http.StatusCreated
	if done.Replaced {
		status = http.StatusOK
	}
	body := map[string]any{"name": done.Name, "enabled": done.Enabled}
	if tool, live := s.Registry.Snapshot().ByID(done.Name); live && done.Enabled {
		if one, err := s.listed(tool); err == nil {
			body["manifest"], body["source"] = one.Manifest, one.Source
		}
	}
	for _, p := range s.Registry.Problems() {
		if p.ToolID == done.Name { // such as a command that another tool has
			body["problem"] = p.String()
		}
	}
	door.WriteJSON(w, status, body)
	return nil
}

// unclaimed refuses the name of a tool of another service.
func (s server) unclaimed(raw []byte) error {
	var head struct {
		Manifest struct{ Name string }
	}
	if json.Unmarshal(raw, &head) != nil {
		return nil // Register tells what is wrong
	}
	if tool, there := s.Registry.Snapshot().Resolve(head.Manifest.Name); there && tool.Service != s.Service {
		return conflict("There is a tool %s of %s already.", tool.ToolID, tool.Service)
	}
	return nil
}

// serve puts a registration into the catalogue, or takes it back.
func (s server) serve(ctx context.Context, done Registration) error {
	_, trouble := s.Registry.Reload(ctx, s.Loader)
	tool, live := s.Registry.Snapshot().ByID(done.Name)
	live = live && tool.Service == s.Service
	if live == done.Enabled {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	err := done.Undo(ctx)
	if _, again := s.Registry.Reload(ctx, s.Loader); again != nil {
		s.Logger.WarnContext(ctx, "some remote tools could not be loaded", "error", again)
	}
	if err != nil {
		return err
	}
	return conflict("The tool can't be served: %v", trouble)
}

func (s server) remove(w http.ResponseWriter, r *http.Request, by users.Account) error {
	name := r.PathValue("name")
	if err := s.Remove(r.Context(), name); err != nil {
		return err
	}
	if _, err := s.Registry.Reload(r.Context(), s.Loader); err != nil {
		s.Logger.WarnContext(r.Context(), "some remote tools could not be loaded", "error", err)
	}
	s.Logger.InfoContext(r.Context(), "a remote tool was removed", "tool", name, "by", by.ID)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// conflict is a name or command that belongs to another tool.
func conflict(format string, args ...any) error {
	return &problem.Problem{Status: http.StatusConflict, Code: string(registry.CodeInvalidInput), Detail: fmt.Sprintf(format, args...)}
}
