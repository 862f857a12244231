// Package api is the HTTP API: tools, runs, files, money, keys and endpoints for programs. All of it is drawn from the
// registry's snapshot of the moment: a tool adds its route and its operation in openapi.json without code here.
package api

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/exports"
	"github.com/signalbox/signalbox/internal/cache"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/files"
	"github.com/signalbox/signalbox/platforms/web/request"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/gallery"
	"github.com/signalbox/signalbox/users"
)

// Config wires an API. What may be nil or empty says so.
type Config struct {
	Door     *door.Door
	Streams  *door.Streams
	Registry *catalog.Registry
	Search   catalog.Searcher // finds tools by words
	Runs     interface {
		Starts
		Runs
		Follows
	}
	Callers     request.Callers
	Media       request.Media
	Links       files.Links
	Ledger      Ledger
	Keys        Keys
	Programs    Programs
	Invitations Invitations
	Hooks       interface { // nil: there are no endpoints
		Hooks
		HookMessages
	}
	Gallery *gallery.Gallery // finds results again; nil: that is not there
	Exports *exports.Service // makes archives of everything that people have; nil: nobody gets one
	Answers *Answers         // keeps the answers to requests with an Idempotency-Key; nil: only runs are begun once
	// Points shows amounts in points as well; the zero value does not.
	Points  billing.Points
	Status  func() map[string]any // what GET /api/status answers beside the loaders; nil: nothing
	Changes Changes               // nil: GET /api/changes is not there
	Mounted []map[string]any      // OpenAPI paths of what is mounted
	Version string
	// NotFound answers where there is nothing.
	NotFound http.HandlerFunc
	Logger   *slog.Logger
	Now      func() time.Time
}

// API is the HTTP API. Make it with New.
type API struct {
	cfg         Config
	tell        teller
	catalogue   *catalogueAPI
	starting    *starting
	runs        *runsAPI
	following   *following
	account     *accountAPI
	keys        *keysAPI
	invitations *invitationsAPI
}

// New makes the API.
func New(cfg Config) *API {
	site := cfg.Door.Site
	tell := teller{site, cfg.Links}
	return &API{
		cfg: cfg, tell: tell,
		catalogue: &catalogueAPI{cfg: cfg, description: description{site: site, version: cfg.Version, hooks: cfg.Hooks != nil, gallery: cfg.Gallery != nil, mounted: cfg.Mounted}},
		starting: &starting{
			registry: cfg.Registry, runs: cfg.Runs, callers: cfg.Callers, reader: request.Reader{Media: cfg.Media}, tell: tell, now: cfg.Now, notFound: cfg.NotFound,
		},
		runs:        &runsAPI{runs: cfg.Runs, callers: cfg.Callers, tell: tell, now: cfg.Now, results: cache.Cache[resultKey, toldRun]{Life: time.Second, Most: 256}},
		following:   &following{runs: cfg.Runs, callers: cfg.Callers, tell: tell, streams: cfg.Streams},
		account:     &accountAPI{site: site, ledger: cfg.Ledger, points: cfg.Points, media: cfg.Media, links: cfg.Links},
		keys:        &keysAPI{door: cfg.Door, keys: cfg.Keys, programs: cfg.Programs, registry: cfg.Registry, now: cfg.Now},
		invitations: &invitationsAPI{site: site, invitations: cfg.Invitations, now: cfg.Now},
	}
}

// Routes are the addresses of the API. The tools' own paths come and go with the registry, so they are looked up, not routed.
func (a *API) Routes() []door.Route {
	status := door.View
	if !a.cfg.Door.Site.Local() { // where the world comes by, only operators hear of inner addresses
		status = door.OperatorRead
	}
	list := []door.Route{
		door.ForAll("GET /openapi.json", a.catalogue.openapi),
		door.ForPrograms("GET /api/tools", door.Read, a.catalogue.list),
		door.ForPrograms("GET /api/tools/{id}", door.Read, a.catalogue.get),
		door.ForPrograms("GET /api/status", status, a.catalogue.status),
		door.ForPrograms("POST /api/quote/{id}", door.Run, a.starting.quote),
		door.ForPrograms("POST /", door.Run, a.starting.start),
		door.ForPrograms("GET /api/runs", door.Read, a.runs.list),
		door.ForPrograms("GET /api/runs/{id}", door.Read, a.runs.get),
		door.ForPrograms("DELETE /api/runs/{id}", door.Manage, a.runs.delete),
		door.ForPrograms("DELETE /api/runs/{id}/outputs/{n}", door.Manage, a.runs.delete),
		door.ForPrograms("GET /api/runs/{id}/envelope", door.Read, a.runs.envelope),
		door.ForPrograms("POST /api/runs/{id}/cancel", door.Run, a.runs.cancel),
		door.ForPrograms("POST /api/runs/{id}/confirm", door.Approve, a.runs.confirm),
		door.ForPrograms("POST /api/runs/{id}/answer", door.Approve, a.runs.answer),
		door.ForPrograms("GET /api/runs/{id}/events", door.Read, a.following.events),
		door.ForPrograms("GET /api/runs/{id}/preview", door.Read, a.following.preview),
		door.ForPrograms("GET /api/balance", door.Read, a.account.balance),
		door.ForPrograms("POST /api/uploads", door.Run, a.account.upload),
		door.ForPrograms("GET /api/keys", door.Manage, a.keys.list),
		door.ForPrograms("POST /api/keys", door.Manage, a.keys.make),
		door.ForPrograms("DELETE /api/keys/{id}", door.Manage, a.keys.revoke),
		door.ForPrograms("GET /api/invitations", door.OperatorRead, a.invitations.list),
		door.ForPrograms("POST /api/invitations", door.OperatorChange, a.invitations.make),
		door.ForPrograms("DELETE /api/invitations/{id}", door.OperatorChange, a.invitations.revoke),
	}
	if a.cfg.Gallery != nil {
		list = append(list, (&galleryAPI{gallery: a.cfg.Gallery, tell: a.tell}).routes()...)
	}
	if a.cfg.Exports != nil {
		list = append(list, (&exportAPI{exports: a.cfg.Exports}).routes()...)
	}
	if a.cfg.Changes != nil {
		list = append(list, door.ForPrograms("GET /api/changes", door.OperatorRead, a.catalogue.changes))
	}
	if a.cfg.Hooks != nil {
		hooks := &hooksAPI{hooks: a.cfg.Hooks, messages: a.cfg.Hooks, once: onceOnly{answers: a.cfg.Answers, now: a.cfg.Now, log: a.cfg.Logger}}
		list = append(list, hooks.routes()...)
	}
	return list
}

// Delete deletes the run that the path values of a request name, or one of its outputs, for its owner.
func (a *API) Delete(r *http.Request, who users.Account) error { return a.runs.deleteRun(r, who) }

// DeleteOutput deletes one output of a run for its owner.
func (a *API) DeleteOutput(ctx context.Context, who users.Account, runID string, output int) error {
	return a.runs.deleteOutput(ctx, who, runID, output)
}

// TellRun gives a run as the API tells it. host is where we are reached when there is no public URL.
func (a *API) TellRun(run runs.Run, host string) (json.RawMessage, error) {
	return json.Marshal(a.tell.run(&http.Request{Host: host}, run))
}
