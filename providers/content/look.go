package content

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/edit"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/providers/content/layout"
	"github.com/signalbox/signalbox/providers/content/store"
	"github.com/signalbox/signalbox/registry"
)

// Bounds of what is told of one call, so that it fits on a card of any chat: Discord's have 2,000 characters.
const (
	mostChanges = 12
	mostChanged = 500  // runes of one field, about
	mostTold    = 1000 // of all of them, about
)

// look is where a call shows what it would change.
type look struct{ preview registry.Preview }

// errLooked ends a call that only looks, in the place of the change.
var errLooked = errors.New("content: the call only looked")

// looking is the preview of a tool that changes something: the tool up to the change, with all that it refuses.
func looking(do func(p *Provider, ctx context.Context, v visit) (any, error)) func(p *Provider, ctx context.Context, v visit) (registry.Preview, error) {
	return func(p *Provider, ctx context.Context, v visit) (registry.Preview, error) {
		v.look = &look{registry.Preview{Capability: registry.CapabilityWrite}}
		_, err := do(p, ctx, v)
		switch {
		case errors.Is(err, errLooked):
			return v.look.preview, nil
		case err != nil:
			return registry.Preview{}, err
		}
		return registry.Preview{Capability: registry.CapabilityRead}, nil // it asks to be confirmed
	}
}

// row is something that a call changes.
type row[T any] struct {
	update func(change func(*T) error) error
	touch  func(T) registry.Touch
	fields func(T) []field
	link   func(T) string // to its draft; nil: there is none
}

// alter changes a row, as its owner approved it, or shows what would change, which an error keeps from being written.
func (r row[T]) alter(ctx context.Context, v visit, change func(*T) error) error {
	var before, after []field
	err := r.update(func(it *T) error {
		if v.look == nil {
			if err := v.asApproved(r.touch(*it)); err != nil {
				return err
			}
			return change(it)
		}
		before = r.fields(*it)
		v.look.preview.Touches = []registry.Touch{r.touch(*it)}
		if r.link != nil {
			v.look.preview.Link = r.link(*it)
		}
		if err := change(it); err != nil {
			return err
		}
		after = r.fields(*it)
		return errLooked
	})
	if errors.Is(err, errLooked) {
		return v.show(ctx, before, after)
	}
	return err
}

func (v visit) changeEntry(ctx context.Context, p *Provider, id string, change func(*store.Entry) error) error {
	return row[store.Entry]{
		update: func(change func(*store.Entry) error) error { return v.UpdateEntry(ctx, id, change) },
		touch:  touchEntry, fields: entryFields, link: func(e store.Entry) string { return p.links.Preview("entry", e.ID) },
	}.alter(ctx, v, change)
}

func (v visit) changePage(ctx context.Context, p *Provider, id string, change func(*store.Page) error) error {
	return row[store.Page]{
		update: func(change func(*store.Page) error) error { return v.UpdatePage(ctx, id, change) },
		touch:  touchPage, fields: pageFields, link: func(page store.Page) string { return p.links.Preview("page", page.ID) },
	}.alter(ctx, v, change)
}

func (v visit) changeSection(ctx context.Context, p *Provider, id string, at *int, change func(*store.Section) error) error {
	return row[store.Section]{
		update: func(change func(*store.Section) error) error { return v.UpdateSection(ctx, id, at, change) },
		touch:  touchSection, fields: sectionFields, link: func(s store.Section) string { return p.links.Preview("page", s.PageID) },
	}.alter(ctx, v, change)
}

func (v visit) changeNavItem(ctx context.Context, id string, at *int, change func(*store.NavItem) error) error {
	return row[store.NavItem]{
		update: func(change func(*store.NavItem) error) error { return v.UpdateNavItem(ctx, id, at, change) },
		touch:  touchNavItem, fields: navItemFields,
	}.alter(ctx, v, change)
}

func (v visit) changeImage(ctx context.Context, id string, change func(*store.Image) error) error {
	return row[store.Image]{
		update: func(change func(*store.Image) error) error { return v.UpdateImage(ctx, id, change) },
		touch:  touchImage, fields: imageFields,
	}.alter(ctx, v, change)
}

// changeTranslation changes what the thing with a title says in another language.
func (v visit) changeTranslation(ctx context.Context, p *Provider, title string, of store.Translation, change func(*store.Translation) error) error {
	return row[store.Translation]{
		update: func(change func(*store.Translation) error) error { return v.Translate(ctx, of, change) },
		touch:  func(t store.Translation) registry.Touch { return touchTranslation(t, title) },
		fields: translationFields, link: p.draftIn,
	}.alter(ctx, v, change)
}

// touchTranslation is what a thing with a title says in a language, of version 0 where that is nothing yet.
func touchTranslation(t store.Translation, title string) registry.Touch {
	return registry.Touch{Kind: "translation", ID: t.Of() + "/" + t.Locale, Title: title + " (" + t.Locale + ")", Version: strconv.FormatInt(t.Version, 10)}
}

// draftIn is where the draft of a translation can be looked at.
func (p *Provider) draftIn(t store.Translation) string {
	kind := "page"
	if t.EntryID != nil {
		kind = "entry"
	}
	return inLocale(p.links.Preview(kind, t.Of()), t.Locale)
}

// addEntry adds an entry to the collection that the input in names.
func (v visit) addEntry(ctx context.Context, in string, to store.Collection, e store.Entry) (id string, err error) {
	if v.look != nil {
		return "", v.showNew(ctx, append([]field{{in, cmp.Or(to.Title, to.Slug)}}, entryFields(e)...))
	}
	return v.CreateEntry(ctx, e)
}

func (v visit) addPage(ctx context.Context, page store.Page) (id string, err error) {
	if v.look != nil {
		return "", v.showNew(ctx, pageFields(page))
	}
	return v.CreatePage(ctx, page)
}

func (v visit) addSection(ctx context.Context, p *Provider, s store.Section, at *int) (id string, err error) {
	if v.look == nil {
		return v.CreateSection(ctx, s, at)
	}
	pages, err := v.Pages(ctx, store.PageQuery{ID: s.PageID})
	if err == nil && len(pages) == 0 {
		err = registry.SayText(registry.CodeInvalidInput, said.SitePageUnknown.With()).At("pageId")
	}
	if err != nil {
		return "", err
	}
	v.look.preview.Link = p.links.Preview("page", s.PageID)
	return "", v.showNew(ctx, append([]field{{"pageId", s.PageID}, {"templateKey", s.Template}}, sectionFields(s)...))
}

func (v visit) addNavItem(ctx context.Context, to store.Navigation, n store.NavItem, at *int) (id string, err error) {
	if v.look != nil {
		return "", v.showNew(ctx, append([]field{{"navigationId", cmp.Or(to.Title, to.Slug)}}, navItemFields(n)...))
	}
	return v.CreateNavItem(ctx, n, at)
}

// showNew tells the fields of something new that the call names: the others are as they are by themselves.
func (v visit) showNew(ctx context.Context, fields []field) error {
	return v.show(ctx, nil, slices.DeleteFunc(fields, func(f field) bool {
		input, _, _ := strings.Cut(f.name, ".")
		return !v.args.has(input)
	}))
}

// show tells which fields would be different, and ends the call.
func (v visit) show(ctx context.Context, before, after []field) error {
	changes := different(before, after)
	if err := v.named(ctx, changes); err != nil {
		return err
	}
	left := mostTold
	for i, c := range changes {
		if i == mostChanges || left <= 0 {
			v.look.preview.Untold = len(changes) - i
			break
		}
		pieces := edit.Brief(edit.Difference(c.old, c.text), min(mostChanged, left))
		for _, piece := range pieces {
			left -= len([]rune(piece.Text))
		}
		v.look.preview.Changes = append(v.look.preview.Changes, registry.Change{Field: withoutIDs(c.name), Pieces: pieces})
	}
	return errLooked
}

// withoutIDs is a path without the ids in it, which say nothing to people.
func withoutIDs(path string) string {
	isID := func(part string) bool { return uuid.Validate(part) == nil }
	return strings.Join(slices.DeleteFunc(strings.Split(path, "."), isID), ".")
}

// changed is a field with what it says before and after.
type changed struct{ name, old, text string }

// different gives the fields that differ: in the order of after, with those that it has no more at the end.
func different(before, after []field) (list []changed) {
	old := map[string]string{}
	for _, f := range before {
		old[f.name] = f.value
	}
	for _, f := range after {
		if old[f.name] != f.value {
			list = append(list, changed{f.name, old[f.name], f.value})
		}
		delete(old, f.name)
	}
	for _, f := range before {
		if old[f.name] != "" {
			list = append(list, changed{f.name, f.value, ""})
		}
	}
	return list
}

// named puts the names of images, and of what ids lead to, in place of their ids.
func (v visit) named(ctx context.Context, changes []changed) error {
	names := map[string]string{"": ""}
	for _, c := range changes {
		for _, value := range []string{c.old, c.text} {
			if _, known := names[value]; known {
				continue
			}
			name, err := v.nameOf(ctx, c.name, value)
			if err != nil {
				return err
			}
			names[value] = cmp.Or(name, value)
		}
	}
	for i, c := range changes {
		changes[i].old, changes[i].text = names[c.old], names[c.text]
	}
	return nil
}

// nameOf is the name of the thing whose id is the value of a field; empty: it is none.
func (v visit) nameOf(ctx context.Context, name, value string) (string, error) {
	if id, is := layout.ImageID(value); is {
		images, err := v.Images(ctx, store.ImageQuery{ID: id})
		if err != nil || len(images) == 0 {
			return "", err
		}
		return cmp.Or(images[0].Filename, images[0].Description), nil
	}
	if !slices.Contains([]string{"pageId", "parentId", "targetId"}, name) {
		return "", nil
	}
	if pages, err := v.Pages(ctx, store.PageQuery{ID: value}); err != nil || len(pages) > 0 {
		return append(pages, store.Page{})[0].Name, err
	}
	if entries, err := v.Entries(ctx, store.EntryQuery{ID: value}); err != nil || len(entries) > 0 {
		return append(entries, store.Entry{})[0].Title, err
	}
	items, err := v.NavItems(ctx, store.NavQuery{ID: value})
	return append(items, store.NavItem{})[0].Label, err
}
