package site

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/signalbox/signalbox/providers/content/store"
)

// Sites serves the house's site and, each below its slug, those of groups that are switched on. All have one theme.
type Sites struct {
	*Server // the house's

	mu      sync.Mutex
	groups  map[string]*Server // by slug
	changes int64              // of this process, when it was asked which there are
	checked time.Time
}

// NewSites reads the theme. cfg is that of the house's site.
func NewSites(cfg Config) (*Sites, error) {
	house, err := New(cfg)
	return &Sites{Server: house}, err
}

// ServeHTTP answers GET and HEAD below the start of the house's site.
func (s *Sites) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	slug, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, s.root+"/"), "/")
	if group := s.group(r.Context(), slug); group != nil {
		group.ServeHTTP(w, r)
		return
	}
	s.Server.ServeHTTP(w, r)
}

// Of gives what serves the site with a slug, and tells its addresses.
func (s *Sites) Of(slug string) *Server {
	if slug == store.House {
		return s.Server
	}
	group := &Server{cfg: s.cfg, root: s.path(slug), icon: s.icon, layout: s.layout, bundle: s.bundle, texts: s.texts}
	group.cfg.Slug = slug
	group.cfg.Base = &url.URL{Scheme: s.cfg.Base.Scheme, Host: s.cfg.Base.Host, Path: group.root}
	return group
}

// Base is the address of the site's start.
func (s *Server) Base() *url.URL { return s.cfg.Base }

// group finds the site of a group that is on; nil: there is none.
func (s *Sites) group(ctx context.Context, slug string) *Server {
	if slug == "" || slug == "static" || slug == "media" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	changes, now := s.cfg.Store.Changes(), s.cfg.Now()
	if s.groups == nil || s.changes != changes || now.Sub(s.checked) > trusted {
		slugs, err := s.cfg.Store.GroupSites(ctx)
		if err != nil {
			s.cfg.Logger.ErrorContext(ctx, "nobody knows which groups have a site", "error", err)
			return s.groups[slug]
		}
		known := s.groups
		s.groups, s.changes, s.checked = map[string]*Server{}, changes, now
		for _, one := range slugs {
			if s.groups[one] = known[one]; s.groups[one] == nil {
				s.groups[one] = s.Of(one)
			}
		}
	}
	return s.groups[slug]
}

// visible reports whether a visitor may see what is for members: in the house's site whoever is signed in, in a group's who has a role.
func (s *Server) visible(ctx context.Context) error {
	switch {
	case !s.cfg.Member(ctx):
		return errMembers
	case s.cfg.Slug != store.House && (s.cfg.Works == nil || !s.cfg.Works(ctx, s.cfg.Slug)):
		return errNothing
	}
	return nil
}
