package knowledge

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"path"
	"strings"

	"golang.org/x/time/rate"

	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/providers/knowledge/document"
	"github.com/signalbox/signalbox/providers/knowledge/index"
)

// Bounds of a site.
const (
	maxPages     = 5000
	maxMaps      = 100 // sitemaps that others name
	maxPageBytes = 8 << 20
	pagesASecond = 5
)

// sitemap is what sitemaps.org defines: pages with the day they changed, or further sitemaps.
type sitemap struct {
	Pages []sitePage `xml:"url"`
	Maps  []sitePage `xml:"sitemap"`
}

type sitePage struct {
	Loc     string `xml:"loc"`
	LastMod string `xml:"lastmod"`
}

// site reads the pages of a web site that its sitemap lists.
type site struct {
	guard  *http.Client
	reader document.Reader
	root   *url.URL
	turns  *rate.Limiter
}

func newSite(guard *http.Client, reader document.Reader, address string) (site, error) {
	root, err := url.Parse(address)
	if err != nil || root.Host == "" || root.Scheme != "https" && root.Scheme != "http" || root.User != nil {
		return site{}, errors.New("expected the http:// or https:// address of a site, or of its sitemap")
	}
	return site{guard, reader, root, rate.NewLimiter(pagesASecond, 1)}, nil
}

// pages lists what the sitemap has of the site's own host, below its address.
func (s site) pages(ctx context.Context) ([]sitePage, error) {
	first := s.root
	if path.Ext(first.Path) != ".xml" {
		first = s.root.JoinPath("sitemap.xml")
	}
	queue, seen := []string{first.String()}, map[string]bool{}
	var pages []sitePage
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if seen[at] || len(seen) >= maxMaps {
			continue
		}
		seen[at] = true
		found, err := s.sitemap(ctx, at)
		if err != nil {
			return nil, err
		}
		for _, m := range found.Maps {
			if s.own(m.Loc) {
				queue = append(queue, m.Loc)
			}
		}
		for _, page := range found.Pages {
			if page.Loc = strings.TrimSpace(page.Loc); s.own(page.Loc) && len(pages) < maxPages && !seen[page.Loc] {
				seen[page.Loc], pages = true, append(pages, page)
			}
		}
	}
	if len(pages) == 0 {
		return nil, fmt.Errorf("the sitemap at %s lists no page of this site", first.Redacted())
	}
	return pages, nil
}

func (s site) sitemap(ctx context.Context, address string) (found sitemap, err error) {
	body, err := s.get(ctx, address)
	if err != nil {
		return found, fmt.Errorf("the sitemap can't be read: %w", err)
	}
	if err := xml.NewDecoder(bytes.NewReader(body)).Decode(&found); err != nil {
		return found, fmt.Errorf("%s is no sitemap: %w", address, err)
	}
	return found, nil
}

// own tells whether an address is on the site's host.
func (s site) own(address string) bool {
	u, err := url.Parse(strings.TrimSpace(address))
	return err == nil && u.Host == s.root.Host && u.Scheme == s.root.Scheme
}

func (s site) get(ctx context.Context, address string) ([]byte, error) {
	if err := s.turns.Wait(ctx); err != nil {
		return nil, err
	}
	body, _, err := outbound.Get(ctx, s.guard, strings.TrimSpace(address), maxPageBytes)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return io.ReadAll(body)
}

// items gives the pages. One with a date is only fetched where that is another than before; without, it is fetched each time. A page that can't be
// fetched is noted, and tried again the next time.
func (s site) items(ctx context.Context) iter.Seq2[index.Item, error] {
	return func(yield func(index.Item, error) bool) {
		pages, err := s.pages(ctx)
		if err != nil {
			yield(index.Item{}, err)
			return
		}
		for _, page := range pages {
			item, err := s.item(ctx, page)
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			if !yield(item, err) || err != nil {
				return
			}
		}
	}
}

func (s site) item(ctx context.Context, page sitePage) (index.Item, error) {
	u, err := url.Parse(page.Loc)
	if err != nil {
		return index.Item{}, err
	}
	item := index.Item{Path: u.RequestURI(), Hash: []byte(page.LastMod)}
	fetch := func(ctx context.Context) ([]byte, error) { return s.get(ctx, page.Loc) }
	if page.LastMod == "" {
		body, err := fetch(ctx)
		item.Hash, fetch = body, func(context.Context) ([]byte, error) { return body, err }
	}
	item.Read = func(ctx context.Context) (index.Document, error) {
		body, err := fetch(ctx)
		if err != nil {
			return index.Document{}, err
		}
		name := u.Path
		if !document.Supported(name) {
			name = strings.TrimSuffix(name, "/") + ".html"
		}
		return read(ctx, s.reader, name, body, func(anchor string) string {
			at := *u
			at.Fragment = anchor
			return at.String()
		})
	}
	return item, nil
}
