// Package site serves what visitors see of a site: pages made of their sections, posts and entries, feeds, the map for search engines,
// pictures in sizes. It shows what is published, and drafts to anyone who has their signed link.
//
// Rendered pages are kept until anything in the site changes. Nothing in a page can run: it has no scripts, Markdown is reduced to a
// list of elements, and the Content-Security-Policy allows none.
package site

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/bundle"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/providers/content/layout"
	"github.com/signalbox/signalbox/providers/content/store"
	"github.com/signalbox/signalbox/registry"
)

// Config wires a Server. All but Theme, Works, Card, Rehearse, Editor, SignIn, Logger and Now are required.
type Config struct {
	Store     *store.Store
	Slug      string // of the site
	Templates *layout.Set
	// Theme has files that come over those of the own theme: layout.html and style.css; nil: none.
	Theme fs.FS
	// Base is the address of the site's start, without a slash at its end: https://example.com/site, or https://example.com.
	Base *url.URL
	// Key signs the links that open drafts.
	Key []byte
	// Picture gives a stored picture that fits into a square of so many pixels, and its type.
	Picture func(ctx context.Context, ref registry.Media, side int) (mime string, content []byte, err error)
	// Open opens a stored file.
	Open func(ctx context.Context, ref registry.Media) (io.ReadCloser, error)
	// Member reports whether the visitor of a request is signed in.
	Member func(ctx context.Context) bool
	// Works reports whether the visitor has a role in the site of a group; nil: nobody has.
	Works func(ctx context.Context, slug string) bool
	// Card draws a picture that stands for a page without one, by its title and the name of its site, as PNG; nil: such pages have none.
	Card func(ctx context.Context, title, site string) ([]byte, error)
	// Rehearse carries out a call that waits for its owner's word, see content.Proposal, in a store of changes that are taken back; an error where
	// there is none. nil: drafts are shown as they are.
	Rehearse func(ctx context.Context, proposal string, in *store.Store) error
	// Editor is the origin of the pages that may show drafts in a frame, where it is another than the site's own.
	Editor string
	// SignIn is the address of the page where visitors sign in; "next" is added.
	SignIn string
	Logger *slog.Logger
	Now    func() time.Time
}

// Server serves one site.
type Server struct {
	cfg    Config
	root   string // path of the site's start, without a slash at its end
	icon   string // address of the theme's icon.svg; empty: it has none
	layout *template.Template
	bundle bundle.Bundle
	texts  *i18n.Catalogue
	kept   kept
}

// New reads the theme.
func New(cfg Config) (*Server, error) {
	cfg.Logger, cfg.Now = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler)), nowOr(cfg.Now)
	s := &Server{cfg: cfg, root: strings.TrimRight(cfg.Base.Path, "/")}
	var err error
	if s.texts, err = i18n.Load(); err != nil {
		return nil, fmt.Errorf("site: %w", err)
	}
	theme := themed{cfg.Theme}
	if s.bundle, err = bundle.New(theme.styles(), ".", s.root+"/static/"); err != nil {
		return nil, fmt.Errorf("site: the theme's styles: %w", err)
	}
	if _, err := fs.Stat(theme.styles(), "icon.svg"); err == nil {
		s.icon = s.bundle.Address("icon.svg")
	}
	raw, err := theme.read("layout.html")
	if err == nil {
		s.layout, err = template.New("layout").Parse(string(raw))
	}
	if err != nil {
		return nil, fmt.Errorf("site: the theme's layout.html: %w", err)
	}
	return s, nil
}

func nowOr(now func() time.Time) func() time.Time {
	if now == nil {
		return time.Now
	}
	return now
}

// policy is the Content-Security-Policy of all that is served.
const policy = "default-src 'none'; img-src 'self'; style-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// ServeHTTP answers GET and HEAD below the site's start.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Security-Policy", policy)
	rest, ours := strings.CutPrefix(r.URL.Path, s.root)
	switch {
	case !ours || rest != "" && rest[0] != '/':
		http.NotFound(w, r)
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "only GET and HEAD are answered here", http.StatusMethodNotAllowed)
		return
	case rest == "":
		http.Redirect(w, r, s.root+"/", http.StatusMovedPermanently)
		return
	}
	path := strings.Trim(rest, "/")
	switch first, below, _ := strings.Cut(path, "/"); {
	case !utf8.ValidString(path) || strings.ContainsRune(path, 0): // the database would take it for a fault of ours
		s.answer(w, r, "\x00", func(context.Context, *view) (*page, error) { return nil, errNothing })
	case first == "static":
		s.static(w, r, below)
	case first == "media" && below != "":
		s.media(w, r, below)
	case first == "preview" && below != "":
		s.preview(w, r, below)
	case first == "card" && s.cfg.Card != nil && strings.HasSuffix(below, ".png"):
		r = r.WithContext(r.Context()) // a copy
		r.URL = &url.URL{Path: r.URL.Path}
		s.answer(w, r, path, func(ctx context.Context, v *view) (*page, error) { // whatever stands behind a ?, or it is drawn again each time
			return v.card(ctx, strings.TrimSuffix(below, ".png"), r)
		})
	case path == "search":
		s.answer(w, r, "search", func(ctx context.Context, v *view) (*page, error) { return v.search(ctx, r.URL.Query().Get("q")) })
	default:
		s.answer(w, r, path, func(ctx context.Context, v *view) (*page, error) { return v.find(ctx, path, r) })
	}
}

// static sends a file of the theme.
func (s *Server) static(w http.ResponseWriter, r *http.Request, path string) {
	hash, file, _ := strings.Cut(path, "/")
	r.SetPathValue("hash", hash)
	r.SetPathValue("file", file)
	if strings.HasSuffix(file, ".html") || !s.bundle.Serve(w, r, "public") {
		http.NotFound(w, r)
	}
}

// errNothing says that there is nothing that visitors may see.
var errNothing = errors.New("there is nothing here")

// answer sends what build makes, or what is kept of it under a key.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, key string, build func(context.Context, *view) (*page, error)) {
	ctx, key := r.Context(), cmp.Or(key, "/")
	plain := r.URL.RawQuery == ""
	if p := s.kept.get(key, s.cfg.Store.Changes(), s.cfg.Now()); p != nil && plain {
		p.send(w, r)
		return
	}
	v, err := s.look(ctx)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if p := s.kept.get(key, v.changes, s.cfg.Now()); p != nil && plain {
		p.send(w, r)
		return
	}
	p, err := build(ctx, v)
	switch {
	case errors.Is(err, errNothing):
		p, err = v.missing(ctx)
	case errors.Is(err, errMembers):
		s.askToSignIn(w, r)
		return
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if plain && p.status == http.StatusOK && p.keep {
		s.kept.put(key, p, v.changes, v.site.Version)
	}
	p.send(w, r)
}

// look finds the site as it is now, and forgets the pages of what it was.
func (s *Server) look(ctx context.Context) (*view, error) {
	changes := s.cfg.Store.Changes()
	found, err := s.cfg.Store.Site(ctx, s.cfg.Slug)
	if err != nil {
		return nil, err
	}
	s.kept.turn(changes, found.Version, s.cfg.Now())
	return &view{server: s, site: found, content: s.cfg.Store.In(found, ""), changes: changes, voice: s.texts.Voice(found.Language), pictures: map[string]*layout.Picture{}}, nil
}

func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	s.cfg.Logger.ErrorContext(r.Context(), "a page of the site can't be made", "path", r.URL.Path, "error", err)
	http.Error(w, "The page can't be shown at the moment. Try again in a few seconds.", http.StatusServiceUnavailable)
}

// errMembers says that visitors have to be signed in.
var errMembers = errors.New("this is for members")

// askToSignIn leads to the page where visitors sign in.
func (s *Server) askToSignIn(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "private, no-store")
	http.Redirect(w, r, s.cfg.SignIn+"?next="+url.QueryEscape(r.URL.Path), http.StatusSeeOther)
}

// sides are the squares that pictures are made to fit into, in pixels.
var sides = [...]int{320, 640, 960, 1280, 1920}

// media sends a picture of the site in one of the sizes.
func (s *Server) media(w http.ResponseWriter, r *http.Request, name string) {
	hash, size, _ := strings.Cut(name, "/")
	side := 0
	for _, one := range sides {
		if size == fmt.Sprint(one) {
			side = one
		}
	}
	id, wellFormed := layout.ImageID("asset:" + hash)
	if !wellFormed || side == 0 {
		http.NotFound(w, r)
		return
	}
	found, err := s.cfg.Store.Site(r.Context(), s.cfg.Slug)
	if err == nil {
		var images []store.Image
		images, err = s.cfg.Store.In(found, "").Images(r.Context(), store.ImageQuery{ID: id})
		if err == nil && len(images) == 0 {
			err = errNothing
		}
	}
	if err != nil {
		http.NotFound(w, r)
		return
	}
	mime, content, err := s.cfg.Picture(r.Context(), id, side)
	if errors.Is(err, assets.ErrNoThumbnail) {
		mime, content, err = s.original(r.Context(), id)
	}
	if err != nil {
		s.cfg.Logger.WarnContext(r.Context(), "a picture can't be made", "image", id, "error", err)
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("ETag", `"`+hash+"-"+size+`"`)
	h.Set("Cache-Control", "public, max-age=300") // it is asked for again: it may have been taken down
	h.Set("Content-Type", mime)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// maxOriginal bounds a picture that is sent as it is, in bytes.
const maxOriginal = 32 << 20

// original is a picture as it came, where no smaller one can be made. Only types that show pictures and run nothing are sent.
func (s *Server) original(ctx context.Context, id string) (mime string, content []byte, err error) {
	file, err := s.cfg.Open(ctx, id)
	if err != nil {
		return "", nil, err
	}
	defer file.Close()
	if content, err = io.ReadAll(io.LimitReader(file, maxOriginal)); err != nil {
		return "", nil, err
	}
	mime = http.DetectContentType(content)
	if !strings.HasPrefix(mime, "image/") || strings.Contains(mime, "svg") {
		return "", nil, fmt.Errorf("it is %s", mime)
	}
	return mime, content, nil
}

// find makes what is at a path.
func (v *view) find(ctx context.Context, path string, r *http.Request) (*page, error) {
	if locale, rest, _ := strings.Cut(path, "/"); v.locale == "" && slices.Contains(v.site.Locales, locale) {
		return v.in(locale).findIn(ctx, rest, r)
	}
	switch path {
	case "":
		return v.start(ctx)
	case startSlug:
		return nil, errNothing // it has one address
	case "sitemap.xml":
		return v.sitemap(ctx)
	case "robots.txt":
		return v.robots(ctx)
	}
	parts := strings.Split(path, "/")
	switch len(parts) {
	case 1:
		p, err := v.page(ctx, store.PageQuery{Slug: parts[0]})
		if err != errNothing {
			return p, err
		}
		return v.list(ctx, parts[0], r.URL.Query().Get("page"))
	case 2:
		switch parts[1] {
		case "feed.xml", "atom.xml":
			return v.feed(ctx, parts[0], parts[1])
		}
		return v.entry(ctx, store.EntryQuery{Slug: parts[1]}, parts[0])
	}
	return nil, errNothing
}

// robots tells search engines what to leave alone, and where the maps are: those of the groups' sites too.
func (v *view) robots(ctx context.Context) (*page, error) {
	text := fmt.Appendf(nil, "User-agent: *\nDisallow: %s\nDisallow: %s\n\nSitemap: %s\n",
		v.server.path("preview", ""), v.server.path("search"), v.server.absolute(v.server.path("sitemap.xml")))
	if v.site.Slug == store.House {
		groups, err := v.server.cfg.Store.GroupSites(ctx)
		if err != nil {
			return nil, err
		}
		for _, slug := range groups {
			text = fmt.Appendf(text, "Sitemap: %s\n", v.server.absolute(v.server.path(slug, "sitemap.xml")))
		}
	}
	return newPage(http.StatusOK, "text/plain; charset=utf-8", text), nil
}
