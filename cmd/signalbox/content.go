package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/signalbox/signalbox/cmd/signalbox/hosted"
	"github.com/signalbox/signalbox/cmd/signalbox/serve"
	"github.com/signalbox/signalbox/cmd/signalbox/sitecard"
	"github.com/signalbox/signalbox/cmd/signalbox/sitedesk"
	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/platforms/web/siteapi"
	"github.com/signalbox/signalbox/platforms/web/siteeditor"
	"github.com/signalbox/signalbox/providers/canvas/typeset"
	"github.com/signalbox/signalbox/providers/content"
	"github.com/signalbox/signalbox/providers/content/layout"
	"github.com/signalbox/signalbox/providers/content/site"
	"github.com/signalbox/signalbox/providers/content/store"
	"github.com/signalbox/signalbox/providers/photos"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// sitePath is where visitors find the site, unless SITE_HOST names a host of its own.
const sitePath = "/site"

// contents is the sites: their tools, and what visitors see.
type contents struct {
	*house
	store  *store.Store
	tools  *content.Provider
	public *site.Sites
	shown  site.Config // of the house's site
	base   *url.URL    // the address that links have; nil: where the site is
	// adapters are the platforms of chats by name, once they are there.
	adapters map[string]chat.Adapter
}

// open makes the site. Without a database, as for writing the registry to files, there are only the descriptions of its tools.
func (c *contents) open() (hosted.Service, error) {
	if c.db == nil {
		return hosted.Calls(content.Service, content.New(content.Config{})), nil
	}
	var own fs.FS
	if c.cfg.ContentDir != "" {
		own = os.DirFS(c.cfg.ContentDir)
	}
	templates, err := layout.Load(own)
	if err != nil {
		return hosted.Service{}, err
	}
	key, err := c.keyFor("previews of the site")
	if err != nil {
		return hosted.Service{}, err
	}
	base, signIn := c.address()
	c.store = store.New(c.db.Pool)
	thumbnails := assets.NewThumbnails(c.db.Pool)
	open := func(ctx context.Context, ref registry.Media) (io.ReadCloser, error) {
		file, _, err := c.media.OpenMedia(ctx, ref)
		return file, err
	}
	c.shown = site.Config{
		Store: c.store, Slug: store.House, Templates: templates, Theme: own, Base: base, Key: key, SignIn: signIn, Editor: c.editorOrigin(), Logger: c.log.With("component", "site"), Open: open,
		Picture: func(ctx context.Context, ref registry.Media, side int) (string, []byte, error) {
			return thumbnails.Shown(ctx, assets.Ref(ref), side, func(ctx context.Context) (io.ReadCloser, error) { return open(ctx, ref) })
		},
		Member: func(ctx context.Context) bool { _, in := web.Caller(ctx); return in },
		Works:  c.worksOn, Rehearse: c.rehearse, Card: c.card(),
	}
	if c.public, err = site.NewSites(c.shown); err != nil {
		return hosted.Service{}, err
	}
	var embedder content.Embedder
	if c.cfg.EmbeddingsURL != "" {
		if embedder, err = newEmbeddings(c.cfg); err != nil {
			return hosted.Service{}, err
		}
	}
	c.tools = content.New(content.Config{
		Store: c.store, Templates: templates, Files: c.media, Made: c.madeBy, Owned: c.owned, Operator: c.isOperator, Standing: sitedesk.Standing(c.users, c.teller), OfKey: users.IsKeyBudget, Embedder: embedder, Looks: c.looks(), Logger: c.log.With("component", "site"),
		Links: func(slug string) content.Links { return c.public.Of(slug) },
		Link:  func(ref registry.Media, name string) string { return c.web.UploadPath("", ref, name) },
	})
	return hosted.Calls(content.Service, c.tools), nil
}

// teller gives the platform that can tell who is in its groups.
func (c *contents) teller(platform string) chat.MemberTeller {
	teller, _ := c.adapters[platform].(chat.MemberTeller)
	return teller
}

// named finds the site that a command names by its slug.
func (c *contents) named(ctx context.Context, slug string) (store.Site, error) {
	found, err := c.store.Site(ctx, slug)
	if errors.Is(err, store.ErrNotFound) || err == nil && found.Off {
		return found, fmt.Errorf("site: there is none with the slug %q that is switched on: it is the part of its address behind %s/", slug, sitePath)
	}
	return found, err
}

// only gives what serves one site by itself, with all that belongs to it below its own start.
func (c *contents) only(ctx context.Context, slug string) (*site.Server, error) {
	if _, err := c.named(ctx, slug); err != nil {
		return nil, err
	}
	cfg := c.shown
	cfg.Slug = slug
	if c.base == nil {
		cfg.Base = c.public.Of(slug).Base()
	}
	return site.New(cfg)
}

// address is the address of the site's start, and that of the page where its visitors sign in, where they can.
func (c *contents) address() (base *url.URL, signIn string) {
	if c.base != nil {
		return c.base, ""
	}
	base = &url.URL{Scheme: "http", Host: c.cfg.ListenAddr}
	if c.listener != nil {
		base.Host = serve.Reachable(c.listener.Addr())
	}
	if c.cfg.Public != nil {
		base = &url.URL{Scheme: c.cfg.Public.Scheme, Host: c.cfg.Public.Host}
	}
	if c.cfg.SiteHost != "" { // sessions are the page's and not known there
		base.Host = c.cfg.SiteHost
		return base, ""
	}
	base.Path = sitePath
	return base, "/signin"
}

// imported adds a photo from outside to the site that it was imported for, where who imported it works on that.
func (c *contents) imported(ctx context.Context, accountID string, photo photos.Imported) error {
	to, err := c.tools.Site(ctx, photo.Site)
	if err != nil {
		return err
	}
	role, err := c.tools.Role(ctx, to, accountID)
	if err != nil || role == store.None {
		return err
	}
	return c.tools.AddImage(ctx, c.store.In(to, accountID), accountID, store.Image{
		ID: photo.Ref, Filename: photo.Name, Description: photo.Alt, Attribution: map[string]any{"html": photo.Credit.HTML, "text": photo.Credit.Text, "provider": photo.Credit.Provider, "photoId": photo.Credit.PhotoID},
	})
}

// worksOn reports whether who sent the request of ctx has a role in a site.
func (c *contents) worksOn(ctx context.Context, slug string) bool {
	visitor, in := web.Caller(ctx)
	if !in {
		return false
	}
	found, err := c.store.Site(ctx, slug)
	if err != nil {
		return false
	}
	tools := c.tools
	if web.Budget(ctx).Name != "" { // a key that has nothing of an operator
		tools = tools.Given()
	}
	role, err := tools.Role(ctx, found, visitor.ID)
	return err == nil && role != store.None
}

// card draws what stands for pages without a picture. The fonts are read when the first is wanted.
func (c *contents) card() func(ctx context.Context, title, site string) ([]byte, error) {
	fonts := sync.OnceValue(func() *typeset.Setter {
		return typeset.New(typeset.Config{CacheDir: filepath.Join(c.cfg.DataDir, "fonts")})
	})
	return func(ctx context.Context, title, site string) ([]byte, error) {
		return sitecard.Draw(ctx, fonts(), title, site)
	}
}

// mostWaiting bounds the calls that wait for their owners among which one is looked for.
const mostWaiting = 200

// rehearse carries out a call that waits for its owner's word in a store of changes that are taken back.
func (c *contents) rehearse(ctx context.Context, proposal string, in *store.Store) error {
	waiting, err := c.runs.List(ctx, runs.Filter{
		ToolID: content.ProposedBy(proposal), Status: runs.StatusAwaitingConfirmation, Since: c.clock.Now().Add(-runs.SummaryLife), Limit: mostWaiting,
	})
	if err != nil {
		return err
	}
	for _, run := range waiting {
		call := registry.Call{UserID: run.AccountID, Tool: run.Tool, Inputs: run.Inputs, Context: run.Context, Budget: run.Budget, Preview: run.Preview}
		if content.Proposal(call) == proposal {
			return c.tools.Rehearse(ctx, in, call)
		}
	}
	return fmt.Errorf("nothing named %s waits for its owner", proposal)
}

// desk is the sites for chats.
func (c *contents) desk() sitedesk.Desk {
	return sitedesk.Desk{Tools: c.tools, Store: c.store, Media: c.media, Start: func(slug string) string { return c.public.Of(slug).Base().String() + "/" }}
}

// works reports whether an account works on any site.
func (c *contents) works(ctx context.Context, accountID string) (bool, error) {
	return c.desk().Works(ctx, accountID)
}

// siteOf is a site for the caller of its API, who may have come with a key that has nothing of an operator.
func (c *contents) siteOf(slug string, operator bool) siteapi.Site {
	if !operator {
		return c.tools.In(slug).Given()
	}
	return c.tools.In(slug)
}

// api is the site's content over HTTP.
func (c *contents) api() http.Handler {
	return siteapi.Handler(siteapi.Config{
		Site: c.siteOf, Media: c.media, Caller: web.Caller, Logger: c.log.With("component", "site"),
		Put: func(ctx context.Context, accountID string, r io.Reader, name string) (registry.Media, error) {
			ref, _, err := c.runs.PutMedia(ctx, accountID, r, name)
			var full *assets.LimitError
			if errors.As(err, &full) {
				err = &registry.Error{Code: registry.CodeInvalidInput, Message: full.Error(), Cause: err}
			}
			return ref, err
		},
	})
}

// editor is the page where the site is edited.
func (c *contents) editor() (http.Handler, error) {
	frames := ""
	if c.cfg.SiteHost != "" {
		base, _ := c.address()
		frames = base.Scheme + "://" + base.Host
	}
	return siteeditor.Handler(siteeditor.Config{Caller: web.Caller, CSRF: web.CSRFToken, Frames: frames, Logger: c.log.With("component", "site")})
}

// editorOrigin is the origin of that page, where the site has a host of its own.
func (c *contents) editorOrigin() string {
	if c.cfg.SiteHost == "" || c.cfg.Public == nil {
		return ""
	}
	return c.cfg.Public.Scheme + "://" + c.cfg.Public.Host
}

// visitors is what is mounted for visitors: the site, or the way to its own host.
func (c *contents) visitors() http.Handler {
	if c.cfg.SiteHost == "" {
		return c.public
	}
	base, _ := c.address()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to := *base
		to.Path = cmp.Or(strings.TrimPrefix(r.URL.Path, sitePath), "/")
		http.Redirect(w, r, to.String(), http.StatusPermanentRedirect)
	})
}

// withHost answers for SITE_HOST, where nothing but the site is: neither the page's cookies nor its API.
func (c *contents) withHost(next http.Handler) http.Handler {
	if c.cfg.SiteHost == "" {
		return next
	}
	want := hostOf(c.cfg.SiteHost)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.EqualFold(hostOf(r.Host), want) {
			w.Header().Set("X-Content-Type-Options", "nosniff")
			w.Header().Set("Referrer-Policy", "strict-origin-when-cross-origin")
			c.public.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func hostOf(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return hostport
}
