package site

import (
	"context"
	"maps"
	"net/http"
	"slices"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"github.com/signalbox/signalbox/providers/content/store"
)

// alternate is the same page in a language.
type alternate struct {
	Locale, Name string // Name is what the language calls itself
	URL, Path    string
	Current      bool
}

// in is a view of the site in another language than its own.
func (v *view) in(locale string) *view {
	in := *v
	in.locale, in.voice = locale, v.server.texts.Voice(locale)
	return &in
}

// language is that of the page that is made.
func (v *view) language() string {
	if v.locale != "" {
		return v.locale
	}
	return v.site.Language
}

// rightToLeft reports whether a language is written from right to left.
func rightToLeft(locale string) bool {
	script, _ := language.Make(locale).Script()
	return slices.Contains([]string{"Adlm", "Arab", "Hebr", "Nkoo", "Rohg", "Syrc", "Thaa"}, script.String())
}

// pathIn gives the path of something in a language below the site's start; the site's own language, "", has none of its own.
func (s *Server) pathIn(locale string, parts ...string) string {
	if locale != "" {
		parts = append([]string{locale}, parts...)
	}
	return s.path(parts...)
}

func (v *view) path(locale string, parts ...string) string { return v.server.pathIn(locale, parts...) }

func (v *view) pagePath(locale, slug string) string { return v.server.PageIn(locale, slug) }

// findIn makes what is at a path in another language.
func (v *view) findIn(ctx context.Context, path string, r *http.Request) (*page, error) {
	shown, err := v.content.Locales(ctx)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(shown, v.locale) {
		return nil, errNothing
	}
	switch path {
	case "search":
		return v.search(ctx, r.URL.Query().Get("q"))
	case "sitemap.xml", "robots.txt":
		return nil, errNothing // there is one for all languages
	}
	return v.find(ctx, path, r)
}

// alternates are the languages of something, the site's own first; none where there is only that. path gives where it is in each.
func (v *view) alternates(locales []string, path func(locale string) string) []alternate {
	if len(locales) == 0 || v.draft {
		return nil
	}
	var list []alternate
	for _, locale := range append([]string{""}, locales...) {
		a := alternate{Locale: locale, Path: path(locale), Current: locale == v.locale}
		if locale == "" {
			a.Locale = v.site.Language
		}
		a.Name, a.URL = nameOf(a.Locale), v.server.absolute(a.Path)
		list = append(list, a)
	}
	return list
}

// nameOf is what a language calls itself.
func nameOf(locale string) string {
	if name := display.Self.Name(language.Make(locale)); name != "" {
		return name
	}
	return locale
}

// saying gives what something says in other languages: to visitors what is published, in the language of the view first of all, and the
// languages there are. Where it says nothing in that of the view, it is not there.
func (v *view) saying(ctx context.Context, id string) (t store.Translation, locales []string, err error) {
	if len(v.site.Locales) == 0 {
		return t, nil, nil
	}
	all, err := v.content.Translations(ctx, store.TranslationQuery{Of: []string{id}, Published: !v.draft})
	if err != nil {
		return t, nil, err
	}
	there := v.locale == ""
	for _, one := range all {
		locales = append(locales, one.Locale)
		if one.Locale == v.locale {
			t, there = one, true
		}
	}
	if !there && !v.draft {
		err = errNothing
	}
	return t, locales, err
}

// translatePage lays what a page says in another language over what it says in the site's.
func translatePage(p store.Page, t store.Translation) store.Page {
	p.Sections = slices.Clone(p.Sections)
	for i, s := range p.Sections {
		p.Sections[i].Content = over(s.Content, t.Section(s.ID))
	}
	if t.Title != "" {
		p.Meta = over(p.Meta, map[string]any{"title": t.Title})
		p.Name = t.Title
	}
	if t.About != "" {
		p.Meta = over(p.Meta, map[string]any{"description": t.About})
	}
	return p
}

// translateEntry does so for an entry. Its excerpt is that of the language, or the beginning of the text.
func translateEntry(e store.Entry, t store.Translation) store.Entry {
	if t.Title != "" {
		e.Title = t.Title
	}
	e.Content = over(e.Content, t.Content)
	e.Excerpt = t.About
	if t.UpdatedAt.After(e.UpdatedAt) {
		e.UpdatedAt = t.UpdatedAt
	}
	return e
}

func over(content, more map[string]any) map[string]any {
	all := maps.Clone(content)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, more)
	return all
}

// translateEntries does so for entries that all have something to say in the language of the view.
func (v *view) translateEntries(ctx context.Context, entries []store.Entry) error {
	if v.locale == "" {
		return nil
	}
	ids := make([]string, len(entries))
	for i, e := range entries {
		ids[i] = e.ID
	}
	said, err := v.byThing(ctx, ids)
	for i, e := range entries {
		if t, ok := said[e.ID]; ok {
			entries[i] = translateEntry(e, t)
		}
	}
	return err
}

// byThing gives what things say to visitors in the language of the view, by their ids.
func (v *view) byThing(ctx context.Context, ids []string) (map[string]store.Translation, error) {
	all, err := v.content.Translations(ctx, store.TranslationQuery{Of: ids, Locale: v.locale, Published: true})
	said := map[string]store.Translation{}
	for _, t := range all {
		said[t.Of()] = t
	}
	return said, err
}

// translateMenu leads to what there is in the language of the view, and calls it as it is called there where it was called so before.
func (v *view) translateMenu(ctx context.Context, items []store.NavItem) (map[string]bool, error) {
	if v.locale == "" {
		return nil, nil
	}
	var ids []string
	for _, n := range items {
		if n.TargetID != nil && (n.TargetType == store.TargetPage || n.TargetType == store.TargetEntry) {
			ids = append(ids, *n.TargetID)
		}
	}
	said, err := v.byThing(ctx, ids)
	there := map[string]bool{}
	for i, n := range items {
		if n.TargetID == nil {
			continue
		}
		if t, ok := said[*n.TargetID]; ok {
			there[n.ID] = true
			if n.Label == t.Base && t.Title != "" {
				items[i].Label = t.Title
			}
		}
	}
	return there, err
}

// listLocales are the languages that a list can be read in.
func (v *view) listLocales(ctx context.Context) ([]string, error) {
	if len(v.site.Locales) == 0 {
		return nil, nil
	}
	return v.content.Locales(ctx)
}

// localeOf is the language that a preview is asked for in.
func (v *view) localeOf(r *http.Request) *view {
	if locale := r.URL.Query().Get("locale"); slices.Contains(v.site.Locales, locale) {
		return v.in(locale)
	}
	return v
}
