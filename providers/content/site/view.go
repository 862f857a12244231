package site

import (
	"html/template"
	"net/url"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/providers/content/layout"
	"github.com/signalbox/signalbox/providers/content/store"
)

// startSlug is the page that is the start of a site.
const startSlug = "home"

// perPage is how many entries a list shows.
const perPage = 12

// view is the making of one page.
type view struct {
	server   *Server
	site     store.Site
	content  store.Content
	changes  int64
	voice    i18n.Voice
	pictures map[string]*layout.Picture
	teasers  map[string][]layout.Teaser
	draft    bool   // what is not published is shown as well
	locale   string // another language than the site's; empty: its own
}

// shown is what layout.html gets.
type shown struct {
	Language    string
	RightToLeft bool // how it is written
	Site        string
	Home        string
	Title       string
	Heading     string // of the page, where its sections have none
	Description string
	Canonical   string
	Image       string // address of a picture that stands for the page
	Kind        string // page, article, list, search or missing
	NoIndex     bool
	Style       string
	Icon        string      // empty: the theme has none
	Languages   []alternate // none where there is only one
	Menu        []menuItem
	Footer      []menuItem
	Feeds       []feedLink
	Search      string // address of the search
	Body        template.HTML
	Article     *article
	List        []layout.Teaser
	Newer       string
	Older       string
	Query       string
	Draft       bool
	LD          any // JSON-LD; nil: none
	Words       map[string]string
}

// feedLink is a feed: URL is that of RSS, Atom that of Atom.
type feedLink struct{ Title, URL, Atom string }

type menuItem struct {
	Label, URL string // URL is empty where it leads nowhere
	Below      []menuItem
}

type article struct {
	Title, Date, Stamp, Author, Category, Excerpt string
	Back, BackURL                                 string
	Cover                                         *layout.Picture
	Tags                                          []string
	Body                                          template.HTML
}

// words are the texts of the theme.
var words = []string{"search", "search.none", "missing", "missing.text", "home", "newer", "older", "preview", "skip", "menu", "by", "back", "languages"}

// path gives the path of something below the site's start.
func (s *Server) path(parts ...string) string {
	escaped := make([]string, len(parts))
	for i, part := range parts {
		escaped[i] = url.PathEscape(part)
	}
	return s.root + "/" + strings.Join(escaped, "/")
}

// absolute is the address of a path of this site.
func (s *Server) absolute(path string) string {
	return s.cfg.Base.Scheme + "://" + s.cfg.Base.Host + path
}

// Page is the path of a page.
func (s *Server) Page(slug string) string { return s.PageIn("", slug) }

// PageIn is the path of a page in a language; empty: the site's own.
func (s *Server) PageIn(locale, slug string) string {
	if slug == startSlug {
		slug = ""
	}
	return s.pathIn(locale, slug)
}

// Entry is the path of an entry or post.
func (s *Server) Entry(collection, slug string) string { return s.EntryIn("", collection, slug) }

// EntryIn is the path of an entry or post in a language; empty: the site's own.
func (s *Server) EntryIn(locale, collection, slug string) string {
	return s.pathIn(locale, collection, slug)
}

// date is a day as people read it.
func (v *view) date(at *time.Time) string {
	if at == nil {
		return ""
	}
	return at.UTC().Format(v.voice.Line("site.date"))
}
