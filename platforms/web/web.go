// Package web is the web platform: the pages people use in a browser, and the HTTP API. It puts the packages below it
// together: door lets requests in; pages, account, api and the handlers that are mounted answer them. Its table has all addresses.
package web

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"time"

	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/files"
	"github.com/signalbox/signalbox/platforms/web/render"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// New checks the configuration, parses the templates and puts the table of addresses together.
func New(cfg Config) (*Server, error) {
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	if cfg.Search == nil {
		cfg.Search = cfg.Registry.Search
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Server{cfg: cfg, links: files.Links{Key: cfg.LinkKey}, streams: &door.Streams{Limits: cfg.Users}}
	var err error
	s.door, err = door.New(door.Config{
		Site: door.Site{Public: cfg.Public}, Accounts: cfg.Users, Secrets: cfg.Users, Logger: cfg.Logger, Now: cfg.Now,
		AdminToken: cfg.AdminToken, MetricsToken: cfg.MetricsToken, MediaOrigin: cfg.MediaOrigin, Proxies: cfg.Proxies, APIRate: cfg.APIRate, Key: cfg.LinkKey,
	})
	if err != nil {
		return nil, err
	}
	s.render, err = render.New(render.Config{
		Ledger: cfg.Ledger, Logger: cfg.Logger, Points: cfg.Points, Local: cfg.Public == nil, Console: consoleOf(cfg.Mounts), Talks: cfg.Conversation != nil, Gallery: cfg.Gallery != nil, Drawings: cfg.Drawings != nil, Chains: cfg.Missions != nil,
	})
	if err != nil {
		return nil, err
	}
	table, err := s.table()
	if err != nil {
		return nil, err
	}
	s.mux, err = s.serve(table)
	return s, err
}

// Handler returns the whole of the web.
func (s *Server) Handler() http.Handler {
	if s.cfg.Measure != nil {
		return s.door.Guard(s.cfg.Measure(s.mux))
	}
	return s.door.Guard(s.mux)
}

// CloseLocal ends what the person at this machine was without an operator's token: see door.Door.CloseLocal.
func (s *Server) CloseLocal(ctx context.Context) error { return s.door.CloseLocal(ctx) }

// FilePath is the path under which a stored file of an account can be read by anyone who has it: see files.Links.File.
func (s *Server) FilePath(owner string, ref registry.Media, name string) string {
	return s.links.File(owner, ref, name)
}

// UploadPath is another path of the same file: see files.Links.Upload.
func (s *Server) UploadPath(owner string, ref registry.Media, name string) string {
	return s.links.Upload(owner, ref, name)
}

// ThumbPath is the path of a small version of a stored picture, as large as cards and messages show it.
func (s *Server) ThumbPath(owner string, ref registry.Media) string {
	return s.links.Thumb(owner, ref, files.CardSide)
}

// FileURL is FilePath under PUBLIC_URL; empty when there is none.
func (s *Server) FileURL(owner string, ref registry.Media, name string) string {
	if s.cfg.Public == nil {
		return ""
	}
	return s.door.Site.Absolute(nil, s.FilePath(owner, ref, name))
}

// TellRun gives a run as the API tells it: see api.API.TellRun.
func (s *Server) TellRun(run runs.Run, host string) (json.RawMessage, error) {
	return s.api.TellRun(run, host)
}
