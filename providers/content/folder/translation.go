package folder

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/providers/content/store"
)

// putTranslation makes a document in another language what the page or entry of its slug says in it.
func (r *run) putTranslation(ctx context.Context, d document, m material) (Result, error) {
	base, err := r.base(ctx, d, m)
	if err != nil {
		return Result{}, err
	}
	if d.author != "" || len(d.categories) > 0 {
		d.notes = append(d.notes, "author and categories are the same in all languages: write them in the file of the site's own")
	}
	there, err := r.Content.Translations(ctx, store.TranslationQuery{Of: []string{base.id}, Locale: d.locale})
	if err != nil {
		return Result{}, err
	}
	write := func() error {
		return r.Content.Translate(ctx, base.translation(d.locale), func(t *store.Translation) error {
			r.fillTranslation(t, d, base.content)
			return nil
		})
	}
	if len(there) == 0 {
		if err = r.add(ctx, m); err == nil {
			err = write()
		}
		return d.result(Added, base.kind), err
	}
	filled := there[0]
	r.fillTranslation(&filled, d, base.content)
	return r.settle(ctx, d, m, base.kind, sameTranslation(filled, there[0]), write)
}

// base is what a document is another language of, with what the document says of it.
type base struct {
	kind, id string
	content  map[string]any
}

// translation is that of the base in a language.
func (b base) translation(locale string) store.Translation {
	if b.kind == "page" {
		return store.Translation{PageID: &b.id, Locale: locale}
	}
	return store.Translation{EntryID: &b.id, Locale: locale}
}

// base finds what a document is another language of.
func (r *run) base(ctx context.Context, d document, m material) (base, error) {
	if d.collection == "" {
		return r.basePage(ctx, d, m)
	}
	i := slices.IndexFunc(r.collections, func(c store.Collection) bool { return c.Slug == d.collection })
	kind := r.collections[i].Kind
	there, err := r.Content.Entries(ctx, store.EntryQuery{Slug: d.slug, CollectionID: r.collections[i].ID})
	if err == nil && len(there) == 0 {
		err = r.noBase(d, kind)
	}
	if err != nil {
		return base{}, err
	}
	content := map[string]any{"body": m.body}
	if len(d.tags) > 0 {
		content["tags"] = anyOf(d.tags)
	}
	if cover := coverOf(d, m); cover != nil {
		content["cover"] = cover
	}
	return base{kind, there[0].ID, content}, nil
}

func (r *run) basePage(ctx context.Context, d document, m material) (base, error) {
	there, err := r.Content.Pages(ctx, store.PageQuery{Slug: d.slug, Content: true})
	if err == nil && len(there) == 0 {
		err = r.noBase(d, "page")
	}
	if err != nil {
		return base{}, err
	}
	content := map[string]any{}
	i := slices.IndexFunc(there[0].Sections, func(s store.Section) bool { return s.Template == textTemplate })
	switch {
	case i >= 0:
		content[there[0].Sections[i].ID] = map[string]any{"body": m.body}
	case strings.TrimSpace(m.body) != "":
		return base{}, faultAt(0, "the page %s has no text in %s that this could be in %s: write one there first", d.slug, r.Language, d.locale)
	}
	return base{"page", there[0].ID, content}, nil
}

func (r *run) noBase(d document, kind string) error {
	return faultAt(0, "it is in %s, and the site, which is in %s, has no %s %s: import that first, or give both files the same slug:", d.locale, r.Language, kind, d.slug)
}

// fillTranslation gives a language of something what a document says. What else is said in it stays.
func (r *run) fillTranslation(t *store.Translation, d document, content map[string]any) {
	t.Title, t.About = d.title, d.excerpt
	all := maps.Clone(t.Content)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, content)
	t.Content = all
	t.Status, t.PublishAt = r.state(d)
}

// sameTranslation compares two translations, whose dates may be of different zones.
func sameTranslation(a, b store.Translation) bool {
	if !sameTime(a.PublishAt, b.PublishAt) {
		return false
	}
	a.PublishAt = b.PublishAt
	return reflect.DeepEqual(a, b)
}

func sameTime(a, b *time.Time) bool { return a == b || a != nil && b != nil && a.Equal(*b) }
