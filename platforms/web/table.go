package web

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/signalbox/signalbox/platforms/web/account"
	"github.com/signalbox/signalbox/platforms/web/api"
	"github.com/signalbox/signalbox/platforms/web/chains"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/files"
	"github.com/signalbox/signalbox/platforms/web/pages"
	"github.com/signalbox/signalbox/platforms/web/request"
	"github.com/signalbox/signalbox/platforms/web/scenes"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// OwnPaths are the addresses that no tool may have as its apiPath, with all that is below them: those of the pages, of the API, and
// of what is mounted beside them. A tool there would never be reached, while the API's document told that it is.
func OwnPaths() []string {
	return []string{
		"/api/ask", "/api/balance", "/api/chains", "/api/changes", "/api/conversations", "/api/engines", "/api/improve", "/api/gallery", "/api/invitations", "/api/keys", "/api/knowledge", "/api/me", "/api/missions", "/api/quote", "/api/runs", "/api/scenes", "/api/site", "/api/status", "/api/tools",
		"/api/uploads", "/api/webhooks", "/mcp", "/openapi.json", "/tools", "/webhooks",
		"/account", door.AppPath, "/buy", chains.Path, pages.ChatPath, "/developers", "/examples", "/files", pages.GalleryPath, "/healthz", "/history", "/invite", "/link", "/llms.txt", "/metrics", "/operator", "/penpot", "/prices", "/privacy",
		"/readyz", "/run", "/s", scenes.Path, "/sessions", "/signin", "/signout", "/site", "/site-editor", "/static", "/stripe", "/terms", "/thumbs", "/tool", "/uploads",
	}
}

// table is the table of contents: nothing is served that is not in it.
func (s *Server) table() ([]door.Route, error) {
	cfg := s.cfg
	callers := request.Callers{Runs: cfg.Runs, Access: cfg.Users}
	s.api = api.New(api.Config{
		Door: s.door, Streams: s.streams, Registry: cfg.Registry, Search: cfg.Search, Runs: cfg.Runs, Callers: callers, Media: cfg.Runs, Links: s.links, Ledger: cfg.Ledger,
		Keys: cfg.Users, Programs: cfg.Users, Invitations: cfg.Invitations, Hooks: cfg.Hooks, Answers: cfg.Answers, Points: cfg.Points, Gallery: cfg.Gallery, Exports: cfg.Exports,
		Status: cfg.Status, Changes: cfg.Changes, Mounted: described(cfg.Mounts), Version: cfg.Version, NotFound: s.render.NotFound, Logger: cfg.Logger, Now: cfg.Now,
	})
	var results pages.Gallery
	if cfg.Gallery != nil {
		results = cfg.Gallery
	}
	drawn, err := pages.Routes(pages.Config{
		Door: s.door, Render: s.render, Registry: cfg.Registry, Search: cfg.Search, Runs: cfg.Runs, Users: cfg.Users, Ledger: cfg.Ledger, Callers: callers, Media: cfg.Runs, Links: s.links,
		Streams: s.streams, Shares: cfg.Shares, Reports: cfg.Reports, ShareKey: cfg.LinkKey, Conversation: cfg.Conversation, Questions: cfg.Questions, Improves: improves(cfg.Mounts), Buying: cfg.Buying, Landing: cfg.Landing, Examples: cfg.Examples,
		Delete: s.api.Delete, DeleteOutput: s.api.DeleteOutput, Gallery: results, Logger: cfg.Logger,
	})
	if err != nil {
		return nil, err
	}
	own := account.Routes(account.Config{
		Door: s.door, Render: s.render, Users: cfg.Users, Registry: cfg.Registry, Spending: cfg.Runs, Ledger: cfg.Ledger, Invitations: cfg.Invitations,
		Telegram: cfg.Telegram, Discord: cfg.Discord, Hooks: cfg.Hooks, Exports: cfg.Exports, Logger: cfg.Logger, Now: cfg.Now,
	})
	var drawings []door.Route
	if cfg.Drawings != nil {
		drawings = scenes.Routes(scenes.Config{Render: s.render, Drawings: cfg.Drawings, Runs: cfg.Runs, Links: s.links})
	}
	var built []door.Route
	if cfg.Missions != nil {
		built = chains.Routes(chains.Config{Render: s.render, Registry: cfg.Registry, Missions: cfg.Missions})
	}
	stored := files.New(files.Config{Links: s.links, Store: cfg.Runs, Logger: cfg.Logger, Now: cfg.Now, NotFound: s.render.NotFound, Reported: cfg.Reports != nil})
	table := s.probes()
	for _, routes := range [][]door.Route{drawn, stored.Routes(), own, drawings, built, s.api.Routes()} {
		table = append(table, routes...)
	}
	for _, m := range cfg.Mounts {
		table = append(table, s.mounted(m))
	}
	return append(table, door.ForAll(everywhere, s.render.NotFound)), nil
}

// mounted is the address of a mounted handler.
func (s *Server) mounted(m Mount) door.Route {
	form := door.API
	switch {
	case m.Use == Public:
		form = door.Open
	case m.Page:
		form = door.Page
	}
	var open door.OpenCount
	return door.Route{Pattern: m.Path, Use: m.Use, Form: form, Handler: func(w http.ResponseWriter, r *http.Request, a users.Account) error {
		if m.AtOnce > 0 {
			done, ok := open.Enter(a.ID, m.AtOnce)
			if !ok {
				return registry.Errorf(registry.CodeRateLimited, "%d such requests of this account are being answered, which is the limit: wait for an answer", m.AtOnce)
			}
			defer done()
		}
		if m.Streams != nil && m.Streams(r) {
			stream, leave, err := s.streams.Enter(r, a)
			if err != nil {
				return err
			}
			defer leave()
			r = stream
		}
		m.Handler.ServeHTTP(w, r)
		return nil
	}}
}

// probes are the addresses for those who watch the program.
func (s *Server) probes() []door.Route {
	list := []door.Route{door.ForAll("GET /healthz", healthz), door.ForAll("GET /readyz", s.readyz)}
	if s.cfg.Metrics == nil {
		return list
	}
	use := door.Watch
	if s.cfg.Public == nil && s.cfg.MetricsToken == "" { // a local program's figures are no secret, unless its operator says so
		use = door.Public
	}
	return append(list, door.ForPrograms("GET /metrics", use, func(w http.ResponseWriter, r *http.Request, _ users.Account) error {
		s.cfg.Metrics.ServeHTTP(w, r)
		return nil
	}))
}

func healthz(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok\n") }

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
