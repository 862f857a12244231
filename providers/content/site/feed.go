package site

import (
	"context"
	"encoding/xml"
	"errors"
	"time"

	"github.com/signalbox/signalbox/providers/content/store"
)

// feedLength is how many entries a feed has.
const feedLength = 20

// rss is RSS 2.0.
type rss struct {
	XMLName xml.Name `xml:"rss"`
	Version string   `xml:"version,attr"`
	Channel channel  `xml:"channel"`
}

type channel struct {
	Title       string `xml:"title"`
	Link        string `xml:"link"`
	Description string `xml:"description"`
	Language    string `xml:"language"`
	Items       []item `xml:"item"`
}

type item struct {
	Title       string   `xml:"title"`
	Link        string   `xml:"link"`
	GUID        string   `xml:"guid"`
	Published   string   `xml:"pubDate"`
	Categories  []string `xml:"category"`
	Description string   `xml:"description"`
}

// categories are what an entry stands under, its tags among them.
func categories(e store.Entry) []string {
	tags := textsOf(e.Content["tags"])
	if e.Category == "" {
		return tags
	}
	return append([]string{e.Category}, tags...)
}

// atom is RFC 4287.
type atom struct {
	XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	Title   string      `xml:"title"`
	ID      string      `xml:"id"`
	Updated string      `xml:"updated"`
	Links   []atomLink  `xml:"link"`
	Author  atomAuthor  `xml:"author"`
	Entries []atomEntry `xml:"entry"`
}

type atomLink struct {
	Rel  string `xml:"rel,attr,omitempty"`
	Href string `xml:"href,attr"`
}

type atomAuthor struct {
	Name string `xml:"name"`
}

type atomEntry struct {
	Title     string      `xml:"title"`
	ID        string      `xml:"id"`
	Updated   string      `xml:"updated"`
	Published string      `xml:"published"`
	Link      atomLink    `xml:"link"`
	Author    *atomAuthor `xml:"author"`
	Summary   string      `xml:"summary"`
}

// feed makes the feed of a collection: feed.xml is RSS, atom.xml is Atom.
func (v *view) feed(ctx context.Context, slug, name string) (*page, error) {
	collection, err := v.content.Collection(ctx, slug)
	if errors.Is(err, store.ErrNotFound) {
		return nil, errNothing
	}
	if err != nil {
		return nil, err
	}
	entries, err := v.content.Entries(ctx, store.EntryQuery{CollectionID: collection.ID, Status: store.Published, Locale: v.locale, Limit: feedLength})
	if err == nil {
		err = v.translateEntries(ctx, entries)
	}
	if err != nil {
		return nil, err
	}
	if name == "atom.xml" {
		return v.atom(collection, entries)
	}
	c := channel{Title: collection.Title + " – " + v.name(), Link: v.server.absolute(v.path(v.locale, slug)), Description: textOr(v.site.Description, collection.Title), Language: v.language()}
	for _, e := range entries {
		address := v.server.absolute(v.path(v.locale, slug, e.Slug))
		c.Items = append(c.Items, item{e.Title, address, address, e.PublishedAt.UTC().Format(time.RFC1123Z), categories(e), excerpt(e)})
	}
	return encoded("application/rss+xml; charset=utf-8", rss{Version: "2.0", Channel: c})
}

func (v *view) atom(c store.Collection, entries []store.Entry) (*page, error) {
	address := v.server.absolute(v.path(v.locale, c.Slug))
	feed := atom{
		Title: c.Title + " – " + v.name(), ID: address, Author: atomAuthor{v.name()}, Updated: time.Unix(0, 0).UTC().Format(time.RFC3339),
		Links: []atomLink{{Href: address}, {"self", address + "/atom.xml"}},
	}
	for i, e := range entries {
		at := v.server.absolute(v.path(v.locale, c.Slug, e.Slug))
		one := atomEntry{Title: e.Title, ID: at, Updated: e.UpdatedAt.UTC().Format(time.RFC3339), Published: e.PublishedAt.UTC().Format(time.RFC3339), Link: atomLink{Href: at}, Summary: excerpt(e)}
		if e.Author != "" {
			one.Author = &atomAuthor{e.Author}
		}
		if i == 0 {
			feed.Updated = one.Updated
		}
		feed.Entries = append(feed.Entries, one)
	}
	return encoded("application/atom+xml; charset=utf-8", feed)
}
