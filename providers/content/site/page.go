package site

import (
	"bytes"
	"context"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/providers/content/layout"
	"github.com/signalbox/signalbox/providers/content/store"
)

// show makes a page with the theme's layout.
func (v *view) show(ctx context.Context, status int, p shown) (*page, error) {
	var err error
	if p.Menu, err = v.menu(ctx, "main"); err != nil {
		return nil, err
	}
	if p.Footer, err = v.menu(ctx, "footer"); err != nil {
		return nil, err
	}
	collections, err := v.content.Collections(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range collections {
		if c.Kind == store.KindPost {
			p.Feeds = append(p.Feeds, feedLink{c.Title, v.path(v.locale, c.Slug, "feed.xml"), v.path(v.locale, c.Slug, "atom.xml")})
		}
	}
	p.Language, p.Site, p.Home, p.Search = v.language(), v.name(), v.path(v.locale, ""), v.path(v.locale, "search")
	p.RightToLeft = rightToLeft(p.Language)
	p.Icon = v.server.icon
	p.Style, p.Draft, p.Words = v.server.bundle.Address("style.css"), v.draft, map[string]string{}
	if p.Image == "" && !p.NoIndex && !v.draft {
		p.Image = v.server.cardOf(p.Canonical)
	}
	if p.Description == "" && p.Kind == "page" {
		p.Description = v.site.Description
	}
	for _, key := range words {
		p.Words[strings.ReplaceAll(key, ".", "_")] = v.voice.Line("site." + key)
	}
	var out bytes.Buffer
	if err := v.server.layout.Execute(&out, p); err != nil {
		return nil, fmt.Errorf("the theme's layout.html: %w", err)
	}
	made := newPage(status, "text/html; charset=utf-8", out.Bytes())
	made.keep, made.title = !v.draft, p.Title
	return made, nil
}

// name is what the site is called.
func (v *view) name() string {
	if v.site.Title != "" {
		return v.site.Title
	}
	return v.server.cfg.Base.Hostname()
}

// menu gives the visible items of a navigation, those below others within them. What leads to something that is not published is left out.
func (v *view) menu(ctx context.Context, slug string) ([]menuItem, error) {
	navigation, err := v.content.Navigation(ctx, slug)
	if err != nil {
		return nil, nil // the site has no such menu
	}
	items, err := v.content.NavItems(ctx, store.NavQuery{NavigationID: navigation.ID})
	if err != nil {
		return nil, err
	}
	translated, err := v.translateMenu(ctx, items)
	return v.below(items, translated, ""), err
}

// below are the items below another. Those that are translated lead to what is said in the language of the view.
func (v *view) below(items []store.NavItem, translated map[string]bool, parent string) []menuItem {
	var list []menuItem
	for _, n := range items {
		above := ""
		if n.ParentID != nil {
			above = *n.ParentID
		}
		if above != parent || !n.Visible || !n.TargetShown {
			continue
		}
		locale := ""
		if translated[n.ID] {
			locale = v.locale
		}
		list = append(list, menuItem{n.Label, v.address(n, locale), v.below(items, translated, n.ID)})
	}
	return list
}

// address is where an item of a menu leads, in a language.
func (v *view) address(n store.NavItem, locale string) string {
	switch n.TargetType {
	case store.TargetPage:
		return v.pagePath(locale, n.TargetSlug)
	case store.TargetEntry:
		return v.path(locale, n.TargetCollection, n.TargetSlug)
	case store.TargetMedia:
		return v.server.path("media", strings.TrimPrefix(*n.TargetID, "asset:"), strconv.Itoa(sides[len(sides)-1]))
	case store.TargetURL:
		return *n.URL
	}
	return ""
}

// start is the page home, or a list of what there is.
func (v *view) start(ctx context.Context) (*page, error) {
	p, err := v.page(ctx, store.PageQuery{Slug: startSlug})
	if err != errNothing {
		return p, err
	}
	return v.list(ctx, "blog", "")
}

// page makes a page of its sections.
func (v *view) page(ctx context.Context, q store.PageQuery) (*page, error) {
	q.Content = true
	pages, err := v.content.Pages(ctx, q)
	if err != nil {
		return nil, err
	}
	if len(pages) == 0 || pages[0].Status != store.Published && !v.draft {
		return nil, errNothing
	}
	said, locales, err := v.saying(ctx, pages[0].ID)
	if err != nil {
		return nil, err
	}
	found := pages[0]
	if v.locale != "" {
		found = translatePage(found, said)
	}
	members := found.Meta["access"] == "members"
	if members && !v.draft {
		if err := v.server.visible(ctx); err != nil {
			return nil, err
		}
	}
	body, err := v.sections(ctx, found.Sections)
	if err != nil {
		return nil, err
	}
	p := shown{
		Kind: "page", Title: textOr(found.Meta["title"], found.Name), Description: textOr(found.Meta["description"], ""), Canonical: v.server.absolute(v.pagePath(v.locale, found.Slug)),
		NoIndex: !found.Indexing || members, Body: body, Languages: v.alternates(locales, func(locale string) string { return v.pagePath(locale, found.Slug) }),
	}
	if !strings.Contains(string(body), "<h1") {
		p.Heading = found.Name
	}
	p.Image = v.standFor(ctx, textOr(found.Meta["image"], ""), found.Sections)
	made, err := v.show(ctx, http.StatusOK, p)
	if err == nil && members {
		made.keep = false
	}
	return made, err
}

func textOr(value any, otherwise string) string {
	if text, ok := value.(string); ok && text != "" {
		return text
	}
	return otherwise
}

// standFor is the address of the picture that stands for a page: the one that is named, or the first that is shown.
func (v *view) standFor(ctx context.Context, named string, sections []store.Section) string {
	id, ok := layout.ImageID(named)
	for i := 0; !ok && i < len(sections); i++ {
		if refs := v.server.refs(sections[i].Content); len(refs) > 0 {
			id, ok = refs[0], true
		}
	}
	if !ok || v.prepare(ctx, []string{id}) != nil || v.Picture(id) == nil {
		return ""
	}
	return v.server.absolute(v.server.path("media", strings.TrimPrefix(id, "asset:"), "1280"))
}

// sections makes the HTML of those sections that are shown.
func (v *view) sections(ctx context.Context, all []store.Section) (template.HTML, error) {
	var visible []store.Section
	var refs []string
	for _, s := range all {
		if !s.Hidden && (s.Status == store.Published || v.draft && s.Status == store.Draft) {
			visible = append(visible, s)
			refs = append(refs, v.server.refs(s.Content)...)
		}
	}
	if err := v.prepare(ctx, refs); err != nil {
		return "", err
	}
	if err := v.prepareTeasers(ctx, visible); err != nil {
		return "", err
	}
	var body strings.Builder
	for _, s := range visible {
		t, known := v.server.cfg.Templates.ByKey(s.Template)
		if !known {
			continue // its file is gone; the operator is told by the tools
		}
		html, err := t.Render(s.Content, v)
		if err != nil {
			return "", err
		}
		body.WriteString(string(html))
	}
	return template.HTML(body.String()), nil
}

// prepareTeasers looks up the entries that sections list.
func (v *view) prepareTeasers(ctx context.Context, sections []store.Section) error {
	v.teasers = map[string][]layout.Teaser{}
	for _, s := range sections {
		t, _ := v.server.cfg.Templates.ByKey(s.Template)
		for _, f := range t.Fields {
			if f.Type != layout.Entries {
				continue
			}
			key := textOr(s.Content[f.Name], textOr(f.Default, ""))
			collection, err := v.content.Collection(ctx, key)
			if err != nil {
				continue // there is none of that name
			}
			if v.teasers[key], err = v.latest(ctx, collection, 6, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// Entries gives entries that were looked up.
func (v *view) Entries(collection string) []layout.Teaser { return v.teasers[collection] }

// latest gives published entries of a collection as lists show them.
func (v *view) latest(ctx context.Context, c store.Collection, limit, skip int) ([]layout.Teaser, error) {
	entries, err := v.content.Entries(ctx, store.EntryQuery{CollectionID: c.ID, Status: store.Published, Locale: v.locale, Limit: limit, Skip: skip})
	if err == nil {
		err = v.translateEntries(ctx, entries)
	}
	if err != nil {
		return nil, err
	}
	var refs []string
	for _, e := range entries {
		if e.FeaturedImage != nil {
			refs = append(refs, *e.FeaturedImage)
		}
	}
	if err := v.prepare(ctx, refs); err != nil {
		return nil, err
	}
	teasers := []layout.Teaser{}
	for _, e := range entries {
		t := layout.Teaser{Title: e.Title, URL: v.path(v.locale, c.Slug, e.Slug), Excerpt: excerpt(e), Date: v.date(e.PublishedAt), Category: e.Category}
		if e.FeaturedImage != nil {
			t.Picture = v.Picture(*e.FeaturedImage)
		}
		teasers = append(teasers, t)
	}
	return teasers, nil
}
