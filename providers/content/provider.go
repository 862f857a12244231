// Package content is a site that is run by tools: getPage, createSection, updatePost, deleteNavItem and so on. There are 25 of
// them, each with a verb (get, create, update, delete) and a thing; what they say is in tools.go, what they keep in store.
//
// A get tells success, count and items, light where includeContent does not ask for more. An update merges: what is not sent stays.
// A delete shows first and deletes when it is called again with confirmed, exactly what was shown, all or nothing.
package content

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/cache"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/providers/content/layout"
	"github.com/signalbox/signalbox/providers/content/store"
	"github.com/signalbox/signalbox/registry"
)

// Service is the service name of all tools.
const Service = "content"

// Config wires a Provider. All members are required but Standing, OfKey, Embedder, Looks and Logger.
type Config struct {
	Store     *store.Store
	Templates *layout.Set
	// Operator reports whether an account is an operator's: they own all sites.
	Operator func(ctx context.Context, account string) (bool, error)
	// Standing asks how an account stands in a group by now: whether it is there, and whether it runs the group. An error says that nobody knows.
	// Nil: what groups have said counts for some hours.
	Standing func(ctx context.Context, group store.Group, account string) (in, runs bool, err error)
	// OfKey tells whether the budget of a call is that of a key which has nothing of an operator; nil: all are.
	OfKey func(budget string) bool
	Files Files
	// Owned tells whether a stored file is an account's: to know what it is called is not enough to bring it to a site.
	Owned func(ctx context.Context, account string, ref registry.Media) (bool, error)
	// Link is the address of a stored file here, without a host.
	Link func(ref registry.Media, name string) string
	// Made tells the prompt and the tool of the run of an account that made a file; both are empty where none is known.
	Made func(ctx context.Context, account string, ref registry.Media) (prompt, tool string, err error)
	// Links gives the addresses of pages and posts of the site with a slug.
	Links func(slug string) Links
	// Embedder tells what is near in meaning; nil: images are found by words.
	Embedder Embedder
	// Looks says that a Looker describes images that come without a description.
	Looks  bool
	Logger *slog.Logger
}

// Files keeps pictures.
type Files interface {
	// Keep gives the same reference for the same content.
	Keep(ctx context.Context, r io.Reader, meta assets.Meta) (registry.Media, registry.MediaInfo, error)
}

// Links are the addresses of what visitors see.
type Links interface {
	Page(slug string) string
	Entry(collection, slug string) string
	// Preview opens something that is not published to anyone who has the link, for some days. kind is page or entry.
	Preview(kind, id string) string
	// Proposed is a link by Preview that shows the draft as a call would change it, while that waits for its owner's word. See Proposal.
	Proposed(link, proposal string) string
}

// Provider is the loader and the caller of the tools.
type Provider struct {
	cfg   Config
	tools []tool
	near  *near
	slug  string // of the site that it works on; empty: the one that a call names, or else the house's
	given bool   // only roles that were given count
	links Links
	asked *cache.Cache[string, struct{}] // in which site which account was asked after a moment ago
}

var (
	_ registry.Loader    = (*Provider)(nil)
	_ registry.Caller    = (*Provider)(nil)
	_ registry.Previewer = (*Provider)(nil)
)

// New returns a Provider.
func New(cfg Config) *Provider {
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	return &Provider{cfg: cfg, tools: tools(), near: &near{embedder: cfg.Embedder}, asked: &cache.Cache[string, struct{}]{Life: time.Minute, Most: 10_000}}
}

// In gives a Provider that works on the site with a slug, whichever one calls name.
func (p *Provider) In(slug string) *Provider {
	in := *p
	in.slug, in.links = slug, p.cfg.Links(slug)
	return &in
}

// Given gives a Provider for which only roles that were given count, not that operators own all sites: for keys with a spending limit and
// those of agents, which are never an operator's.
func (p *Provider) Given() *Provider {
	given := *p
	given.given = true
	return &given
}

// of gives the Provider for a call, which may have been made with a key that has nothing of an operator.
func (p *Provider) of(c registry.Call) *Provider {
	if c.Budget != "" && (p.cfg.OfKey == nil || p.cfg.OfKey(c.Budget)) {
		return p.Given()
	}
	return p
}

// Name identifies the loader.
func (p *Provider) Name() string { return Service }

// Load gives the tools, which come with the program.
func (p *Provider) Load(ctx context.Context) ([]registry.Tool, error) {
	var list []registry.Tool
	for _, t := range tools() { // anew: anyone who loads them may change them
		list = append(list, t.definition())
	}
	return list, ctx.Err()
}

// visit is one call: by whom, where, and with what.
type visit struct {
	store.Content
	site     store.Site
	account  string
	role     store.Role
	args     args
	call     registry.Call
	at       string           // the version that the caller has seen and changes; empty: whichever there is
	approved []registry.Touch // what the owner was shown and affirmed before the call was carried out; nil: nobody was asked
	look     *look            // what the call would change is shown there and not changed; nil: it is changed
}

// enter finds the tool, the site and the account's role, and refuses anyone who may not use the tool.
func (p *Provider) enter(ctx context.Context, c registry.Call) (tool, visit, error) {
	i := slices.IndexFunc(p.tools, func(t tool) bool { return t.id == c.Tool.ToolID })
	if i < 0 {
		return tool{}, visit{}, registry.Say(registry.CodeUnavailable, said.NotOffered, "tool", c.Tool.DisplayName)
	}
	t := p.tools[i]
	if err := t.known(c.Inputs); err != nil {
		return t, visit{}, err
	}
	site, err := p.Site(ctx, c.Context.SiteID)
	if err != nil {
		return t, visit{}, err
	}
	v := visit{Content: p.cfg.Store.In(site, c.UserID), site: site, account: c.UserID, args: c.Inputs, call: c}
	if c.Preview != nil && c.Preview.Capability == registry.CapabilityWrite {
		v.approved = append([]registry.Touch{}, c.Preview.Touches...)
	}
	if v.role, err = p.of(c).Role(ctx, site, c.UserID); err != nil {
		return t, visit{}, err
	}
	if !v.role.Covers(t.role) {
		return t, visit{}, registry.Say(registry.CodeUnauthorized, said.SiteToolRole, "tool", t.id, "role", t.role, "own", v.role)
	}
	return t, v, nil
}

// Site finds the site that a caller names. Names that no site has are those of the places where callers run: then it is the house's.
func (p *Provider) Site(ctx context.Context, named string) (store.Site, error) {
	if p.slug != "" {
		site, err := p.cfg.Store.Site(ctx, p.slug)
		if errors.Is(err, store.ErrNotFound) || err == nil && site.Off {
			err = registry.Say(registry.CodeLost, said.SiteUnknown, "slug", short(p.slug)).At("site")
		}
		return site, err
	}
	if named != "" {
		if site, err := p.cfg.Store.Site(ctx, named); !errors.Is(err, store.ErrNotFound) {
			return site, err
		}
	}
	return p.cfg.Store.Site(ctx, store.House)
}

// standingLimit bounds how long somebody waits for what their group says of them.
const standingLimit = 5 * time.Second

// askAgain asks the group of a site anew what it says of an account, where that is no news any more. Where nobody knows, what it said counts on.
func (p *Provider) askAgain(ctx context.Context, site store.Site, account string) error {
	if p.cfg.Standing == nil || !site.Grouped || site.Off {
		return nil
	}
	group, account, err := p.cfg.Store.AskAgain(ctx, site, account)
	if err != nil || group == (store.Group{}) {
		return err
	}
	key, now := site.ID+" "+account, time.Now()
	if _, justNow := p.asked.Get(key, now); justNow {
		return nil
	}
	p.asked.Put(key, struct{}{}, now)
	asking, cancel := context.WithTimeout(ctx, standingLimit)
	defer cancel()
	in, runs, err := p.cfg.Standing(asking, group, account)
	switch {
	case err != nil:
		p.cfg.Logger.DebugContext(ctx, "nobody knows how somebody stands in the group of a site", "site", site.Slug, "account", account, "error", err)
		return nil
	case !in:
		return p.cfg.Store.GoneFrom(ctx, site, account)
	}
	return p.cfg.Store.SeenIn(ctx, site, account, runs)
}

// Role is what an account may do in a site: operators own all that are not switched off.
func (p *Provider) Role(ctx context.Context, site store.Site, account string) (store.Role, error) {
	if err := p.askAgain(ctx, site, account); err != nil {
		return store.None, err
	}
	role, err := p.cfg.Store.Role(ctx, site, account)
	if err != nil || role == store.Owner || site.Off || p.given {
		return role, err
	}
	operator, err := p.cfg.Operator(ctx, account)
	if err == nil && operator {
		role = store.Owner
	}
	return role, err
}

// Call carries out a tool. Its result is one text: a JSON object.
func (p *Provider) Call(ctx context.Context, c registry.Call) (registry.Result, error) {
	if err := ctx.Err(); err != nil {
		return registry.Result{}, err
	}
	answer, err := p.Do(ctx, c)
	if err != nil {
		return registry.Result{}, err
	}
	text, err := json.Marshal(answer)
	if err != nil {
		return registry.Result{}, fmt.Errorf("%s: %w", c.Tool.ToolID, err)
	}
	return registry.Result{Outputs: []registry.Output{{Name: resultName, Type: "text", Text: string(text)}}}, nil
}

// Do carries out a tool and gives its answer, which encodes to the object that Call gives as JSON.
func (p *Provider) Do(ctx context.Context, c registry.Call) (any, error) { return p.doAt(ctx, c, "") }

// doAt is Do for a caller who has seen a version of what an update changes, and changes that alone.
func (p *Provider) doAt(ctx context.Context, c registry.Call, version string) (any, error) {
	t, v, err := p.enter(ctx, c)
	if err != nil {
		return nil, err
	}
	v.at = version
	answer, err := t.do(p.In(v.site.Slug), ctx, v)
	return answer, t.told(err)
}

// stillAt refuses a change by a caller who has seen another version of it than there is.
func (v visit) stillAt(version int64, title string) error {
	if v.at == "" || v.at == strconv.FormatInt(version, 10) {
		return nil
	}
	return registry.Say(registry.CodeInvalidInput, said.SiteNewer, "title", title).At(VersionField)
}

// VersionField is the field of errors that refuse a change because somebody else was first.
const VersionField = "version"

// Preview tells what a call would do, field by field where it changes something: one that only shows, since nobody has confirmed what was
// shown, is read.
func (p *Provider) Preview(ctx context.Context, c registry.Call) (registry.Preview, error) {
	t, v, err := p.enter(ctx, c)
	if err != nil {
		return registry.Preview{}, err
	}
	if t.preview == nil {
		return registry.Preview{Capability: t.capability}, nil
	}
	in := p.In(v.site.Slug)
	preview, err := t.preview(in, ctx, v)
	if preview.Link != "" {
		preview.Link = in.links.Proposed(preview.Link, Proposal(c))
	}
	return preview, t.told(err)
}

// gave is what every get answers.
type gave struct {
	Success bool   `json:"success"`
	Count   int    `json:"count"`
	Items   any    `json:"items"`
	Mode    string `json:"mode,omitempty"` // how images were searched
}

func found[T any](items []T) gave {
	return gave{Success: true, Count: len(items), Items: append([]T{}, items...)}
}

// oneScope checks that exactly one of the scopes was given.
func (a args) oneScope(tool string, scopes ...string) error {
	var given []string
	for _, name := range scopes {
		if a.has(name) && a[name] != false {
			given = append(given, name)
		}
	}
	switch len(given) {
	case 1:
		return nil
	case 0:
		return registry.Say(registry.CodeInvalidInput, said.SiteScope, "tool", tool, "names", either(scopes))
	}
	return registry.Say(registry.CodeInvalidInput, said.SiteScopes, "tool", tool, "given", strings.Join(given, " and "), "names", either(scopes)).At(given[1])
}

// either lists names: "id, slug or all".
func either(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}
