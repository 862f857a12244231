package site

import (
	"context"
	"encoding/xml"
	"time"

	"github.com/signalbox/signalbox/providers/content/store"
)

// urlset is the map of a site (sitemaps.org, 0.9).
type urlset struct {
	XMLName xml.Name   `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 urlset"`
	XHTML   string     `xml:"xmlns:xhtml,attr,omitempty"` // where there are languages
	URLs    []location `xml:"url"`
}

type location struct {
	Address string         `xml:"loc"`
	Changed string         `xml:"lastmod"`
	Links   []locationLink `xml:"xhtml:link"` // to the same in all languages
}

type locationLink struct {
	Rel      string `xml:"rel,attr"`
	Language string `xml:"hreflang,attr"`
	Address  string `xml:"href,attr"`
}

func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339) }

func (v *view) sitemap(ctx context.Context) (*page, error) {
	places, err := v.content.Places(ctx)
	if err != nil {
		return nil, err
	}
	var set urlset
	for _, p := range places[:min(len(places), mostLocations)] {
		set.URLs = append(set.URLs, location{Address: v.server.absolute(v.placePath(p)), Changed: stamp(p.UpdatedAt)})
	}
	if err := v.addLanguages(ctx, &set, places); err != nil {
		return nil, err
	}
	return encoded("application/xml; charset=utf-8", set)
}

// addLanguages adds to the map of the site what there is in other languages.
func (v *view) addLanguages(ctx context.Context, set *urlset, base []store.Place) error {
	if len(v.site.Locales) == 0 {
		return nil
	}
	others, err := v.content.TranslatedPlaces(ctx)
	if err != nil || len(others) == 0 {
		return err
	}
	type key struct{ kind, collection, slug string }
	byPlace := map[key][]store.Place{}
	for _, p := range others {
		byPlace[key{p.Kind, p.Collection, p.Slug}] = append(byPlace[key{p.Kind, p.Collection, p.Slug}], p)
	}
	set.XHTML = "http://www.w3.org/1999/xhtml"
	for i, p := range base[:len(set.URLs)] {
		said := byPlace[key{p.Kind, p.Collection, p.Slug}]
		if len(said) == 0 {
			continue
		}
		links := []locationLink{{"alternate", v.site.Language, set.URLs[i].Address}}
		for _, t := range said {
			links = append(links, locationLink{"alternate", t.Locale, v.server.absolute(v.placePath(t))})
		}
		set.URLs[i].Links = links
		for _, t := range said {
			if len(set.URLs) < mostLocations {
				set.URLs = append(set.URLs, location{Address: v.server.absolute(v.placePath(t)), Changed: stamp(t.UpdatedAt), Links: links})
			}
		}
	}
	return nil
}

// placePath is where visitors find a place.
func (v *view) placePath(p store.Place) string {
	if p.Kind == "entry" {
		return v.path(p.Locale, p.Collection, p.Slug)
	}
	return v.pagePath(p.Locale, p.Slug)
}
