package api

import (
	"context"
	"maps"
	"net/http"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/problem"
	"github.com/signalbox/signalbox/platforms/web/request"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/registry/history"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// catalogueAPI is the part of the API about the tools that there are, and the description of the API itself.
type catalogueAPI struct {
	cfg         Config
	description description
	latest      atomic.Pointer[drawn]
}

// drawn holds what is drawn from one snapshot of the registry, made when it is first asked for.
type drawn struct {
	snapshot *catalog.Snapshot
	tools    map[registry.Audience]func() (encoded, error)
	openapi  func() (encoded, error)
}

// drawnFor is how long a drawn catalogue is kept: making it anew now and then costs less than keeping megabytes that
// nobody may ask for again.
const drawnFor = 15 * time.Second

// draw gives what is drawn from the snapshot of the moment.
func (a *catalogueAPI) draw() *drawn {
	snapshot := a.cfg.Registry.Snapshot()
	if d := a.latest.Load(); d != nil && d.snapshot == snapshot {
		return d
	}
	d := &drawn{snapshot: snapshot, tools: make(map[registry.Audience]func() (encoded, error)), openapi: sync.OnceValues(func() (encoded, error) { return a.describe(snapshot, registry.Everyone) })}
	for _, audience := range [...]registry.Audience{registry.Everyone, registry.Insiders} {
		d.tools[audience] = sync.OnceValues(func() (encoded, error) {
			return encodeTools(snapshot.Listed(audience))
		})
	}
	a.latest.Store(d)
	time.AfterFunc(drawnFor, func() { a.latest.CompareAndSwap(d, nil) })
	return d
}

// describe gives the description of the API with the tools that everybody, or a key for some tools, gets to see.
func (a *catalogueAPI) describe(snapshot *catalog.Snapshot, to registry.Audience) (encoded, error) {
	document, err := a.description.document(snapshot, to)
	if err != nil {
		return encoded{}, err
	}
	return encode(document)
}

// openapi describes the API in OpenAPI 3.1. What a key for some tools gets is made for it alone.
func (a *catalogueAPI) openapi(w http.ResponseWriter, r *http.Request) {
	drawn := a.draw()
	document, err := encoded{}, error(nil)
	if who, known := door.Caller(r.Context()); known && who.Tools != registry.Everyone {
		document, err = a.describe(drawn.snapshot, who.Tools)
	} else {
		document, err = drawn.openapi()
	}
	if err != nil {
		problem.Fail(w, r, a.cfg.Logger, err)
		return
	}
	document.serve(w, r)
}

func (a *catalogueAPI) list(w http.ResponseWriter, r *http.Request, who users.Account) error {
	q := r.URL.Query()
	if q.Has("q") {
		return a.search(w, r, who)
	}
	if q.Has("limit") || q.Has("after") {
		return a.page(w, r, who)
	}
	drawn, audience := a.draw(), request.Audience(who)
	draw, shared := drawn.tools[audience]
	if !shared { // a key for some tools
		draw = func() (encoded, error) { return encodeTools(drawn.snapshot.Listed(audience)) }
	}
	list, err := draw()
	if err == nil {
		list.serve(w, r)
	}
	return err
}

// toolPage is a part of the list.
type toolPage struct {
	Tools []*registry.Tool `json:"tools"`
	Next  string           `json:"next,omitempty"` // the id to go on after; empty: that was the end
}

// page gives the tools after an id, which may be gone by now.
func (a *catalogueAPI) page(w http.ResponseWriter, r *http.Request, who users.Account) error {
	limit, err := toolLimit(r, maxFound)
	if err != nil {
		return err
	}
	tools, after := a.cfg.Registry.Snapshot().Listed(request.Audience(who)), r.FormValue("after")
	tools = tools[sort.Search(len(tools), func(i int) bool { return tools[i].ToolID > after }):]
	page := toolPage{Tools: append([]*registry.Tool{}, tools[:min(limit, len(tools))]...)}
	if len(tools) > limit {
		page.Next = tools[limit-1].ToolID
	}
	body, err := encode(page)
	if err == nil {
		body.serve(w, r)
	}
	return err
}

func (a *catalogueAPI) get(w http.ResponseWriter, r *http.Request, who users.Account) error {
	t, ok := a.cfg.Registry.Snapshot().Resolve(r.PathValue("id"))
	if !ok || !request.Knows(who, t) {
		return runs.UnknownTool(a.cfg.Registry, request.Audience(who), r.PathValue("id"))
	}
	tool, err := encode(t)
	if err == nil {
		tool.serve(w, r)
	}
	return err
}

// status tells how loaders and engines are.
func (a *catalogueAPI) status(w http.ResponseWriter, _ *http.Request, _ users.Account) error {
	body := map[string]any{"version": a.cfg.Version, "loaders": a.cfg.Registry.Status()}
	if a.cfg.Status != nil {
		maps.Copy(body, a.cfg.Status())
	}
	door.WriteJSON(w, http.StatusOK, body)
	return nil
}

// changes lists what changed in the catalogue, for operators.
func (a *catalogueAPI) changes(w http.ResponseWriter, r *http.Request, _ users.Account) error {
	list, err := a.cfg.Changes(r.Context())
	if err != nil {
		return err
	}
	door.WriteJSON(w, http.StatusOK, map[string]any{"changes": list})
	return nil
}

// Changes lists what changed in the catalogue, newest first.
type Changes func(ctx context.Context) ([]history.Change, error)
