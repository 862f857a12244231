package site

import (
	"context"
	"encoding/xml"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/providers/content/layout"
	"github.com/signalbox/signalbox/providers/content/store"
)

func itoa(n int) string { return strconv.Itoa(n) }

// entry makes the page of an entry or post.
func (v *view) entry(ctx context.Context, q store.EntryQuery, collectionSlug string) (*page, error) {
	entries, err := v.content.Entries(ctx, q)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if (e.Collection == collectionSlug || collectionSlug == "") && (e.Status == store.Published || v.draft) {
			return v.showEntry(ctx, e)
		}
	}
	return nil, errNothing
}

func (v *view) showEntry(ctx context.Context, e store.Entry) (*page, error) {
	collection, err := v.content.Collection(ctx, e.Collection)
	if err != nil {
		return nil, err
	}
	said, locales, err := v.saying(ctx, e.ID)
	if err != nil {
		return nil, err
	}
	if v.locale != "" {
		e = translateEntry(e, said)
	}
	refs := v.server.refs(e.Content)
	if e.FeaturedImage != nil {
		refs = append(refs, *e.FeaturedImage)
	}
	if err := v.prepare(ctx, refs); err != nil {
		return nil, err
	}
	body, _ := e.Content["body"].(string)
	a := &article{
		Title: e.Title, Date: v.date(e.PublishedAt), Author: e.Author, Category: e.Category, Excerpt: e.Excerpt, Body: v.Markdown(body), Tags: textsOf(e.Content["tags"]),
		Back: collection.Title, BackURL: v.path(v.locale, collection.Slug),
	}
	if e.PublishedAt != nil {
		a.Stamp = e.PublishedAt.UTC().Format(time.RFC3339)
	}
	path := func(locale string) string { return v.path(locale, collection.Slug, e.Slug) }
	canonical := v.server.absolute(path(v.locale))
	p := shown{Kind: "article", Title: e.Title, Description: excerpt(e), Canonical: canonical, Article: a, NoIndex: v.draft, Languages: v.alternates(locales, path)}
	if cover := v.cover(e); cover != nil {
		a.Cover = cover
		p.Image = v.server.absolute(v.server.path("media", strings.TrimPrefix(*e.FeaturedImage, "asset:"), "1280"))
	}
	if e.Kind == store.KindPost {
		p.LD = posting(e, p, v.name(), v.language())
	}
	return v.show(ctx, http.StatusOK, p)
}

// textsOf are the texts of a list.
func textsOf(value any) (texts []string) {
	list, _ := value.([]any)
	for _, item := range list {
		if text, ok := item.(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

// cover is the picture at the top of an entry, with the words that its cover has.
func (v *view) cover(e store.Entry) *layout.Picture {
	if e.FeaturedImage == nil || v.Picture(*e.FeaturedImage) == nil {
		return nil
	}
	picture := *v.Picture(*e.FeaturedImage)
	if cover, ok := e.Content["cover"].(map[string]any); ok {
		picture.Alt = textOr(cover["alt"], picture.Alt)
	}
	return &picture
}

// posting describes a post to search engines (schema.org, BlogPosting).
func posting(e store.Entry, p shown, publisher, language string) map[string]any {
	ld := map[string]any{
		"@context": "https://schema.org", "@type": "BlogPosting", "headline": e.Title, "mainEntityOfPage": p.Canonical, "description": p.Description, "inLanguage": language,
		"dateModified": e.UpdatedAt.UTC().Format(time.RFC3339), "publisher": map[string]any{"@type": "Organization", "name": publisher},
	}
	if e.PublishedAt != nil {
		ld["datePublished"] = e.PublishedAt.UTC().Format(time.RFC3339)
	}
	if e.Author != "" {
		ld["author"] = map[string]any{"@type": "Person", "name": e.Author}
	}
	if p.Image != "" {
		ld["image"] = p.Image
	}
	if p.Article.Tags != nil {
		ld["keywords"] = p.Article.Tags
	}
	return ld
}

// list makes the page of a collection, newest first.
func (v *view) list(ctx context.Context, slug, number string) (*page, error) {
	collection, err := v.content.Collection(ctx, slug)
	if errors.Is(err, store.ErrNotFound) {
		return nil, errNothing
	}
	if err != nil {
		return nil, err
	}
	at, err := strconv.Atoi(number)
	if err != nil || at < 1 || at > 100_000 {
		at = 1
	}
	teasers, err := v.latest(ctx, collection, perPage+1, (at-1)*perPage)
	if err != nil {
		return nil, err
	}
	if len(teasers) == 0 && at > 1 {
		return nil, errNothing
	}
	locales, err := v.listLocales(ctx)
	if err != nil {
		return nil, err
	}
	address := v.path(v.locale, slug)
	p := shown{Kind: "list", Title: collection.Title, Heading: collection.Title, Canonical: v.server.absolute(address), List: teasers[:min(len(teasers), perPage)]}
	p.Languages = v.alternates(locales, func(locale string) string { return v.path(locale, slug) })
	if at > 1 {
		p.NoIndex = true
		p.Newer = address
		if at > 2 {
			p.Newer += "?page=" + itoa(at-1)
		}
	}
	if len(teasers) > perPage {
		p.Older = address + "?page=" + itoa(at+1)
	}
	return v.show(ctx, http.StatusOK, p)
}

// search makes the page of what was found.
func (v *view) search(ctx context.Context, query string) (*page, error) {
	if len(query) > 200 {
		query = strings.ToValidUTF8(query[:200], "")
	}
	places, err := v.content.Search(ctx, v.locale, query, 30)
	if err != nil {
		return nil, err
	}
	p := shown{Kind: "search", Title: v.voice.Line("site.search"), Heading: v.voice.Line("site.search"), NoIndex: true, Query: query}
	for _, found := range places {
		p.List = append(p.List, layout.Teaser{Title: found.Title, URL: v.placePath(found), Excerpt: found.Text})
	}
	made, err := v.show(ctx, http.StatusOK, p)
	if err == nil {
		made.keep = false
	}
	return made, err
}

// missing makes the page that says that there is nothing.
func (v *view) missing(ctx context.Context) (*page, error) {
	v.draft = false
	made, err := v.show(ctx, http.StatusNotFound, shown{Kind: "missing", Title: v.voice.Line("site.missing"), Heading: v.voice.Line("site.missing"), NoIndex: true})
	if err == nil {
		made.keep = false
	}
	return made, err
}

// encoded makes an XML document.
func encoded(kind string, document any) (*page, error) {
	raw, err := xml.Marshal(document)
	if err != nil {
		return nil, err
	}
	return newPage(http.StatusOK, kind, append([]byte(xml.Header), raw...)), nil
}

// mostLocations is how many addresses the format allows.
const mostLocations = 50_000
