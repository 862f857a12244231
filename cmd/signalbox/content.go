package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/platforms/web/siteapi"
	"github.com/signalbox/signalbox/providers/content"
	"github.com/signalbox/signalbox/providers/content/layout"
	"github.com/signalbox/signalbox/providers/content/site"
	"github.com/signalbox/signalbox/providers/content/store"
	"github.com/signalbox/signalbox/providers/photos"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// sitePath is where visitors find the site, unless SITE_HOST names a host of its own.
const sitePath = "/site"

func (c *Config) checkContent(p *problems) {
	info, err := os.Stat(c.ContentDir)
	p.unless(c.ContentDir == "" || err == nil && info.IsDir(), "CONTENT_DIR", c.ContentDir, "a folder that exists")
	u, ok := httpURL("http://" + c.SiteHost)
	p.unless(c.SiteHost == "" || ok && u.Path == "" && u.Host == c.SiteHost, "SITE_HOST", c.SiteHost, "a host, perhaps with a port, such as www.example.com")
	p.unless(c.SiteHost == "" || c.Public == nil || !strings.EqualFold(c.SiteHost, c.Public.Host), "SITE_HOST", c.SiteHost, "another host than that of PUBLIC_URL")
}

// contents is the site: its tools, and what visitors see.
type contents struct {
	store  *store.Store
	tools  *content.Provider
	public *site.Server
	base   *url.URL // the address that links have; nil: where the site is
}

// newContent makes the site. Without a database, as for writing the registry to files, there are only the descriptions of its tools.
func (a *app) newContent() (service, error) {
	if a.db == nil {
		return calls(content.Service, content.New(content.Config{})), nil
	}
	var own fs.FS
	if a.cfg.ContentDir != "" {
		own = os.DirFS(a.cfg.ContentDir)
	}
	templates, err := layout.Load(own)
	if err != nil {
		return service{}, err
	}
	key, err := a.keyFor("previews of the site")
	if err != nil {
		return service{}, err
	}
	base, signIn := a.siteAddress()
	a.content.store = store.New(a.db.pool)
	thumbnails := assets.NewThumbnails(a.db.pool)
	open := func(ctx context.Context, ref registry.Media) (io.ReadCloser, error) {
		file, _, err := a.media.OpenMedia(ctx, ref)
		return file, err
	}
	a.content.public, err = site.New(site.Config{
		Store: a.content.store, Slug: store.House, Templates: templates, Theme: own, Base: base, Key: key, SignIn: signIn, Logger: a.log.With("component", "site"), Open: open,
		Picture: func(ctx context.Context, ref registry.Media, side int) (string, []byte, error) {
			return thumbnails.Get(ctx, assets.Ref(ref), side, func(ctx context.Context) (io.ReadCloser, error) { return open(ctx, ref) })
		},
		Member: func(ctx context.Context) bool { _, in := web.Caller(ctx); return in },
	})
	if err != nil {
		return service{}, err
	}
	a.content.tools = content.New(content.Config{
		Store: a.content.store, Templates: templates, Files: a.media, Links: a.content.public, Made: a.madeBy, Operator: a.isOperator,
		Link: func(ref registry.Media, name string) string { return a.web.UploadPath("", ref, name) },
	})
	return calls(content.Service, a.content.tools), nil
}

// siteAddress is the address of the site's start, and that of the page where its visitors sign in, where they can.
func (a *app) siteAddress() (base *url.URL, signIn string) {
	if a.content.base != nil {
		return a.content.base, ""
	}
	base = &url.URL{Scheme: "http", Host: a.cfg.ListenAddr}
	if a.listener != nil {
		base.Host = reachable(a.listener.Addr())
	}
	if a.cfg.Public != nil {
		base = &url.URL{Scheme: a.cfg.Public.Scheme, Host: a.cfg.Public.Host}
	}
	if a.cfg.SiteHost != "" { // sessions are the page's and not known there
		base.Host = a.cfg.SiteHost
		return base, ""
	}
	base.Path = sitePath
	return base, "/signin"
}

func (a *app) isOperator(ctx context.Context, accountID string) (bool, error) {
	account, err := a.users.ByID(ctx, accountID)
	return account.Operator, err
}

// recentRuns is how many runs are looked through for the one that made a file.
const recentRuns = 200

// madeBy tells what is known of a file that a run of an account made lately: what was asked for, and of which tool.
func (a *app) madeBy(ctx context.Context, accountID string, ref registry.Media) (prompt, tool string, err error) {
	recent, err := a.runs.List(ctx, runs.Filter{AccountID: accountID, Limit: recentRuns})
	if err != nil {
		return "", "", err
	}
	for _, run := range recent {
		for _, o := range run.Outputs {
			if o.Media != ref {
				continue
			}
			for _, f := range run.Tool.InputSchema {
				if text, ok := run.Inputs[f.Name].(string); ok && f.Type == registry.TypeString && len(f.Choices) == 0 && len(text) > len(prompt) {
					prompt = text
				}
			}
			return prompt, run.Tool.DisplayName, nil
		}
	}
	return "", "", nil
}

// imported adds a photo from outside to the site, where who imported it works on one.
func (a *app) imported(ctx context.Context, accountID string, photo photos.Imported) error {
	house, err := a.content.store.Site(ctx, store.House)
	if err != nil {
		return err
	}
	role, err := a.content.tools.Role(ctx, house, accountID)
	if err != nil || role == store.None {
		return err
	}
	return a.content.tools.AddImage(ctx, a.content.store.In(house, accountID), accountID, store.Image{
		ID: photo.Ref, Filename: photo.Name, Description: photo.Alt, Attribution: map[string]any{"html": photo.Credit.HTML, "text": photo.Credit.Text, "provider": photo.Credit.Provider, "photoId": photo.Credit.PhotoID},
	})
}

// newSiteAPI is the site's content over HTTP.
func (a *app) newSiteAPI() http.Handler {
	return siteapi.Handler(siteapi.Config{
		Site: a.content.tools, Media: a.media, Caller: web.Caller, Logger: a.log.With("component", "site"),
		Put: func(ctx context.Context, accountID string, r io.Reader, name string) (registry.Media, error) {
			ref, _, err := a.runs.PutMedia(ctx, accountID, r, name)
			var full *assets.LimitError
			if errors.As(err, &full) {
				err = &registry.Error{Code: registry.CodeInvalidInput, Message: full.Error(), Cause: err}
			}
			return ref, err
		},
	})
}

// newSite is what is mounted for visitors: the site, or the way to its own host.
func (a *app) newSite() http.Handler {
	if a.cfg.SiteHost == "" {
		return a.content.public
	}
	base, _ := a.siteAddress()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to := *base
		to.Path = cmp.Or(strings.TrimPrefix(r.URL.Path, sitePath), "/")
		http.Redirect(w, r, to.String(), http.StatusPermanentRedirect)
	})
}

// withSiteHost answers for SITE_HOST, where nothing but the site is: neither the page's cookies nor its API.
func (a *app) withSiteHost(next http.Handler) http.Handler {
	if a.cfg.SiteHost == "" {
		return next
	}
	want := hostOf(a.cfg.SiteHost)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.EqualFold(hostOf(r.Host), want) {
			w.Header().Set("X-Content-Type-Options", "nosniff")
			w.Header().Set("Referrer-Policy", "strict-origin-when-cross-origin")
			a.content.public.ServeHTTP(w, r)
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
