// Package photos finds and imports photos of Unsplash and Pexels: unsplash.search, browseImages over both, and
// importImage.
//
// Search gives addresses at the sources, since Unsplash wants its photos shown from there. An import is a use: it is
// counted at Unsplash once, and what it stores comes with the photographer's credit.
package photos

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

// maxPhoto bounds an imported photo, in bytes.
const maxPhoto = 32 << 20

// Config names the accounts. Without a key a source is not offered.
type Config struct {
	UnsplashKey, UnsplashURL string // https://api.unsplash.com
	PexelsKey, PexelsURL     string // with its version: https://api.pexels.com/v1
	Store                    Store
	// Link is the address of a stored file, without a host.
	Link func(owner string, ref registry.Media, name string) string
	// Imported is told of each import, before its use is counted; nil: nobody is.
	Imported func(ctx context.Context, account string, photo Imported) error
	HTTP     *http.Client // nil: one of its own
	Guard    *http.Client // of internal/outbound, for fetching photos
}

// Imported is a photo that was stored.
type Imported struct {
	Site           string // that the call named
	Ref, Name, Alt string
	Credit         Attribution
}

// Store keeps imported photos.
type Store interface {
	// Keep gives the same reference for the same content.
	Keep(ctx context.Context, r io.Reader, meta assets.Meta) (registry.Media, registry.MediaInfo, error)
}

// Provider is the loader and the caller of the tools.
type Provider struct {
	cfg     Config
	sources []source // Unsplash first
}

var (
	_ registry.Loader = (*Provider)(nil)
	_ registry.Caller = (*Provider)(nil)
)

// query is a search in the tools' own words; empty members don't matter.
type query struct {
	text, orientation, color string
	limit                    int
}

// New makes the provider with those sources that have a key; there may be none.
func New(cfg Config) (*Provider, error) {
	p := &Provider{cfg: cfg}
	if cfg.UnsplashKey != "" {
		s, err := newUnsplash(cfg)
		if err != nil {
			return nil, err
		}
		p.sources = append(p.sources, s)
	}
	if cfg.PexelsKey != "" {
		s, err := newPexels(cfg)
		if err != nil {
			return nil, err
		}
		p.sources = append(p.sources, s)
	}
	return p, nil
}

// Name identifies the loader.
func (p *Provider) Name() string { return Service }

// Load gives the tools for which there are keys.
func (p *Provider) Load(ctx context.Context) ([]registry.Tool, error) {
	return tools(p.sources), ctx.Err()
}

// Call searches or imports.
func (p *Provider) Call(ctx context.Context, c registry.Call) (registry.Result, error) {
	switch c.Tool.ToolID {
	case SearchToolID:
		return p.searchUnsplash(ctx, c)
	case BrowseToolID:
		return p.browse(ctx, c)
	case ImportToolID:
		return p.importPhoto(ctx, c)
	}
	return registry.Result{}, registry.Say(registry.CodeUnavailable, said.NotOffered, "tool", c.Tool.DisplayName)
}

func text(c registry.Call, name string) string {
	if v := c.Inputs[name]; v != nil {
		return strings.TrimSpace(fmt.Sprint(v))
	}
	return ""
}

// limit is how many photos are wanted: usual where nobody says, from 1 to most.
func limit(c registry.Call, usual, most int) int {
	wanted := text(c, "limit")
	if wanted == "" {
		return usual
	}
	n, err := strconv.Atoi(wanted)
	if errors.Is(err, strconv.ErrRange) && !strings.HasPrefix(wanted, "-") {
		return most
	}
	return min(max(n, 1), most)
}

// wanted are the sources that a call names: one, or all.
func (p *Provider) wanted(c registry.Call) ([]source, error) {
	name := text(c, "provider")
	if name == "" && len(p.sources) > 0 {
		return p.sources, nil
	}
	i := slices.IndexFunc(p.sources, func(s source) bool { return s.name() == name })
	if i < 0 {
		return nil, registry.Say(registry.CodeInvalidInput, said.PhotoSource, "names", labels(p.sources)).At("provider")
	}
	return p.sources[i : i+1], nil
}

func (p *Provider) searchUnsplash(ctx context.Context, c registry.Call) (registry.Result, error) {
	q := query{text: text(c, "query"), limit: limit(c, searchLimit, searchMost)}
	i := slices.IndexFunc(p.sources, func(s source) bool { return s.name() == "unsplash" })
	if i < 0 {
		return registry.Result{}, registry.Say(registry.CodeUnavailable, said.KeyMissing, "service", "Unsplash")
	}
	items, err := p.sources[i].search(ctx, q)
	if err != nil {
		return registry.Result{}, err
	}
	return result("items", items[:min(len(items), q.limit)])
}

// result is a text output of JSON, with further outputs.
func result(name string, v any, more ...registry.Output) (registry.Result, error) {
	first, err := encoded(name, v)
	return registry.Result{Outputs: append([]registry.Output{first}, more...)}, err
}

// browse asks all sources at once and mixes what they give. One that fails is noted; all failing is an error.
func (p *Provider) browse(ctx context.Context, c registry.Call) (registry.Result, error) {
	asked, err := p.wanted(c)
	if err != nil {
		return registry.Result{}, err
	}
	q := query{text: text(c, "query"), orientation: text(c, "orientation"), color: text(c, "color"), limit: limit(c, browseLimit, browseMost)}
	found, failures := make([][]Item, len(asked)), make([]error, len(asked))
	var all sync.WaitGroup
	for i, s := range asked {
		all.Go(func() { found[i], failures[i] = s.search(ctx, q) })
	}
	all.Wait()
	var notes []string
	for i, failure := range failures {
		if failure != nil {
			notes = append(notes, asked[i].label()+": "+registry.AsError(failure).Message)
		}
	}
	if len(notes) == len(asked) {
		return registry.Result{}, failures[0]
	}
	return result("items", mixed(found, q.limit), registry.Output{Name: "notes", Type: "text", Text: strings.Join(notes, "\n")})
}

// mixed takes from each list in turn.
func mixed(lists [][]Item, limit int) []Item {
	items := []Item{}
	for i := 0; len(items) < limit; i++ {
		before := len(items)
		for _, list := range lists {
			if i < len(list) && len(items) < limit {
				items = append(items, list[i])
			}
		}
		if len(items) == before {
			break
		}
	}
	return items
}

// importPhoto stores a photo. Its use is counted last, so that an import which fails counts nothing.
func (p *Provider) importPhoto(ctx context.Context, c registry.Call) (registry.Result, error) {
	from, err := p.wanted(c)
	if err != nil {
		return registry.Result{}, err
	}
	item, err := from[0].photo(ctx, text(c, "photoId"))
	if err != nil {
		return registry.Result{}, err
	}
	data, extension, err := p.fetch(ctx, item)
	if err != nil {
		return registry.Result{}, err
	}
	name := item.Provider + "-" + item.ID + extension
	ref, info, err := p.cfg.Store.Keep(ctx, bytes.NewReader(data), assets.Meta{Name: name, Owner: c.UserID, Kind: assets.Result})
	if err != nil {
		return registry.Result{}, registry.Say(registry.CodeInternal, said.PhotoStore).Because(err)
	}
	shown := attribution(item, from[0])
	if p.cfg.Imported != nil {
		if err := p.cfg.Imported(ctx, c.UserID, Imported{Site: c.Context.SiteID, Ref: ref, Name: name, Alt: item.Alt, Credit: shown}); err != nil {
			return registry.Result{}, err
		}
	}
	if err := from[0].used(ctx, item); err != nil {
		return registry.Result{}, err
	}
	credit, err := encoded("attribution", shown)
	return registry.Result{Outputs: []registry.Output{
		{Name: "image", Type: "image", Info: info, Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }},
		{Name: "imageId", Type: "text", Text: ref},
		{Name: "url", Type: "text", Text: p.cfg.Link(c.UserID, ref, name)},
		{Name: "alt", Type: "text", Text: item.Alt},
		credit,
	}}, err
}

// extensions are the formats of photos, by content.
var extensions = map[string]string{"image/jpeg": ".jpg", "image/png": ".png", "image/webp": ".webp", "image/gif": ".gif"}

// fetch gives a photo and the extension of its format.
func (p *Provider) fetch(ctx context.Context, item Item) ([]byte, string, error) {
	broken := registry.Say(registry.CodeProvider, said.PhotoFetch).Again()
	content, _, err := outbound.Get(ctx, p.cfg.Guard, item.ImageURL, maxPhoto)
	if err != nil {
		broken.Cause = err
		return nil, "", broken
	}
	defer content.Close()
	data, err := io.ReadAll(content)
	if err != nil {
		broken.Cause = err
		return nil, "", broken
	}
	extension := extensions[http.DetectContentType(data)]
	if extension == "" {
		return nil, "", registry.Say(registry.CodeBadOutput, said.PhotoKind)
	}
	return data, extension, nil
}

// Ready says that a tool is none of those that are offered.
func (p *Provider) Ready(_ context.Context, tool registry.Tool) error {
	if !slices.Contains([]string{SearchToolID, BrowseToolID, ImportToolID}, tool.ToolID) {
		return registry.Say(registry.CodeUnavailable, said.NotOffered, "tool", tool.DisplayName)
	}
	return nil
}
