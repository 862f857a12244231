package folder

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/providers/content/store"
	"github.com/signalbox/signalbox/registry"
)

// put brings a document into the site. What is wrong with the document is told, what is wrong with the site is an error.
func (r *run) put(ctx context.Context, d document) (Result, error) {
	put := r.putEntry
	switch {
	case d.locale != "":
		put = r.putTranslation
	case d.collection == "":
		put = r.putPage
	}
	var result Result
	m, err := r.make(ctx, &d)
	if err == nil {
		result, err = put(ctx, d, m)
	}
	if err == nil {
		return result, nil
	}
	var at *fault
	var refused *registry.Error
	switch {
	case errors.As(err, &at):
		return d.broken(err), nil
	case errors.As(err, &refused) && refused.Code == registry.CodeInvalidInput: // by a constraint
		return d.broken(faultAt(0, "%s: %s", refused.Field, refused.Message)), nil
	}
	return Result{}, err
}

// textTemplate is the template of the section that has the text of a page, in its field body.
const textTemplate = "richText"

// putPage makes a page of a document: its text is a section.
func (r *run) putPage(ctx context.Context, d document, m material) (Result, error) {
	if d.author != "" || d.date != nil || len(d.categories)+len(d.tags) > 0 {
		d.notes = append(d.notes, "a page keeps no author, date, categories and tags: posts do")
	}
	there, err := r.Content.Pages(ctx, store.PageQuery{Slug: d.slug, Content: true})
	if err != nil {
		return Result{}, err
	}
	if len(there) == 0 {
		page := store.Page{Slug: d.slug, Indexing: true}
		r.fill(&page, d, m)
		id, err := r.addPage(ctx, page, m)
		r.remember(d, id)
		return d.result(Added, "page"), err
	}
	r.remember(d, there[0].ID)
	filled := there[0]
	filled.Meta, filled.Sections = maps.Clone(filled.Meta), slices.Clone(filled.Sections)
	r.fill(&filled, d, m)
	return r.settle(ctx, d, m, "page", reflect.DeepEqual(filled, there[0]), func() error {
		return r.Content.UpdatePage(ctx, there[0].ID, func(p *store.Page) error {
			r.fill(p, d, m)
			return nil
		})
	})
}

func (r *run) addPage(ctx context.Context, page store.Page, m material) (string, error) {
	if err := r.add(ctx, m); err != nil {
		return "", err
	}
	return r.Content.CreatePage(ctx, page)
}

// add puts the pictures of a document into the site.
func (r *run) add(ctx context.Context, m material) error {
	for _, image := range m.images {
		if err := r.Add(ctx, image); err != nil {
			return err
		}
	}
	return nil
}

// remember notes the page that stands for a folder, which those of the files in it are below. The start has none below it.
func (r *run) remember(d document, id string) {
	if folder := path.Dir(d.file); isIndex(d.file) && folder != "." {
		r.pages[folder] = id
	}
}

// parent is the page of the nearest folder above a file that has one.
func (r *run) parent(file string) *string {
	if isIndex(file) {
		file = path.Dir(file)
	}
	for folder := path.Dir(file); folder != "."; folder = path.Dir(folder) {
		if id, known := r.pages[folder]; known {
			return &id
		}
	}
	return nil
}

// fill gives a page what a document says. Where it says nothing the page keeps what it has, and so it does sections of other kinds.
func (r *run) fill(p *store.Page, d document, m material) {
	p.Name = d.title
	if parent := r.parent(d.file); parent != nil {
		p.ParentID = parent
	}
	for name, text := range map[string]string{"description": d.excerpt, "image": m.cover} {
		if text != "" {
			if p.Meta == nil {
				p.Meta = map[string]any{}
			}
			p.Meta[name] = text
		}
	}
	status := store.Published
	if d.draft {
		status = store.Draft
	}
	i := slices.IndexFunc(p.Sections, func(s store.Section) bool { return s.Template == textTemplate })
	if i < 0 {
		if strings.TrimSpace(m.body) != "" {
			p.Sections = append(p.Sections, store.Section{Template: textTemplate, Content: map[string]any{"body": m.body}, Status: status})
		}
		return
	}
	content := maps.Clone(p.Sections[i].Content)
	content["body"] = m.body
	p.Sections[i].Content, p.Sections[i].Status = content, status
}

// putEntry makes a post or another entry of a document.
func (r *run) putEntry(ctx context.Context, d document, m material) (Result, error) {
	i := slices.IndexFunc(r.collections, func(c store.Collection) bool { return c.Slug == d.collection })
	collection := r.collections[i]
	there, err := r.Content.Entries(ctx, store.EntryQuery{Slug: d.slug, CollectionID: collection.ID})
	if err != nil {
		return Result{}, err
	}
	if len(there) == 0 {
		e := store.Entry{CollectionID: collection.ID, Kind: collection.Kind, Slug: d.slug}
		r.fillEntry(&e, d, m)
		if err = r.add(ctx, m); err == nil {
			_, err = r.Content.CreateEntry(ctx, e)
		}
		return d.result(Added, collection.Kind), err
	}
	filled := there[0]
	r.fillEntry(&filled, d, m)
	return r.settle(ctx, d, m, collection.Kind, sameEntry(filled, there[0]), func() error {
		return r.Content.UpdateEntry(ctx, there[0].ID, func(e *store.Entry) error {
			r.fillEntry(e, d, m)
			return nil
		})
	})
}

// sameEntry compares two entries, whose dates may be of different zones.
func sameEntry(a, b store.Entry) bool {
	if !sameTime(a.PublishedAt, b.PublishedAt) || !sameTime(a.PublishAt, b.PublishAt) {
		return false
	}
	a.PublishedAt, a.PublishAt = b.PublishedAt, b.PublishAt
	return reflect.DeepEqual(a, b)
}

// state is whether a document is published, or when it is to be.
func (r *run) state(d document) (status string, publishAt *time.Time) {
	switch {
	case d.draft:
		return store.Draft, nil
	case d.date != nil && d.date.After(r.Now()):
		return store.Draft, d.date
	}
	return store.Published, nil
}

// coverOf is the cover of a post or entry; nil: it has none.
func coverOf(d document, m material) map[string]any {
	if m.cover == "" {
		return nil
	}
	cover := map[string]any{"url": m.cover}
	if d.cover.alt != "" {
		cover["alt"] = d.cover.alt
	}
	return cover
}

// fillEntry gives an entry what a document says. What has a date to come is published then.
func (r *run) fillEntry(e *store.Entry, d document, m material) {
	e.Title, e.Author, e.Excerpt = d.title, d.author, d.excerpt
	e.Status, e.PublishAt = r.state(d)
	if d.date != nil && e.PublishAt == nil {
		e.PublishedAt = d.date
	}
	tags := d.tags
	if e.Category = ""; len(d.categories) > 0 {
		e.Category, tags = d.categories[0], append(slices.Clone(d.categories[1:]), d.tags...)
	}
	content := maps.Clone(e.Content)
	if content == nil {
		content = map[string]any{}
	}
	maps.DeleteFunc(content, func(name string, _ any) bool { return name == "cover" || name == "tags" })
	content["body"] = m.body
	if len(tags) > 0 {
		content["tags"] = anyOf(tags)
	}
	e.FeaturedImage = nil
	if cover := coverOf(d, m); cover != nil {
		content["cover"], e.FeaturedImage = cover, &m.cover
	}
	e.Content = content
}

// anyOf is a list as JSON has it, each text once.
func anyOf(texts []string) []any {
	list := []any{}
	for _, text := range texts {
		if !slices.Contains(list, any(text)) {
			list = append(list, text)
		}
	}
	return list
}

// settle does with something that is there what is wanted.
func (r *run) settle(ctx context.Context, d document, m material, kind string, same bool, replace func() error) (Result, error) {
	switch {
	case same:
		return d.result(Same, kind), nil
	case !r.Replace:
		result := d.result(Left, kind)
		result.Message = fmt.Sprintf("the site has another %s %s: --replace takes the file's", kind, d.slug)
		return result, nil
	}
	if err := r.add(ctx, m); err != nil {
		return Result{}, err
	}
	return d.result(Replaced, kind), replace()
}
