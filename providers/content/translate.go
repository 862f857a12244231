package content

import (
	"context"
	"maps"
	"slices"
	"strings"

	"golang.org/x/text/language"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/providers/content/store"
	"github.com/signalbox/signalbox/registry"
)

// localeInput is the input of updates that may be about another language.
func localeInput() registry.InputField {
	return textInput("locale", "Another language than the site's, such as de or pt-br: what is sent is said in it. A language that is new there begins as a draft; what is not said in it is said in the site's own.")
}

// pageStatus is the state of a whole page, or of one of its languages.
func pageStatus() registry.InputField {
	return choiceInput("status", "published publishes all sections of the page together, unpublished and draft take them back; hidden ones stay hidden. With locale all of it is shown in that language, or taken back there; archived takes the language away.",
		store.Published, store.Unpublished, store.Draft, store.Archived)
}

// locale is the other language that a call is about; empty: the site's own.
func (v visit) locale() (string, error) {
	if !v.args.has("locale") {
		return "", nil
	}
	tag, err := language.Parse(v.args.text("locale"))
	locale := strings.ToLower(tag.String())
	if err != nil || tag == language.Und || strings.EqualFold(locale, v.site.Language) {
		return "", registry.Say(registry.CodeInvalidInput, said.SiteLocale, "locale", short(v.args.text("locale")), "own", v.site.Language).At("locale")
	}
	return locale, nil
}

// differs refuses inputs that mean the same in all languages: only those of names differ.
func (v visit) differs(names ...string) error {
	for name := range v.args {
		if name != "locale" && !slices.Contains(names, name) {
			return registry.Say(registry.CodeInvalidInput, said.SiteLocaleInput, "name", name).At(name)
		}
	}
	return nil
}

// translation is what a page or an entry says in another language, as tools tell it.
type translation struct {
	store.Translation
	PreviewURL string `json:"previewUrl"`
}

// translations gives what things say in other languages, by their ids. previews are the addresses of their drafts.
func (v visit) translations(ctx context.Context, previews map[string]string) (map[string][]translation, error) {
	ids := slices.Collect(maps.Keys(previews))
	all, err := v.Translations(ctx, store.TranslationQuery{Of: ids})
	byThing := map[string][]translation{}
	for _, t := range all {
		byThing[t.Of()] = append(byThing[t.Of()], translation{t, inLocale(previews[t.Of()], t.Locale)})
	}
	return byThing, err
}

// inLocale is the address of a draft in a language.
func inLocale(address, locale string) string {
	mark := "?"
	if strings.Contains(address, mark) {
		mark = "&"
	}
	return address + mark + "locale=" + locale
}

// translatePage changes what a page is called in another language, and whether it is shown in it.
func (p *Provider) translatePage(ctx context.Context, v visit, id, locale string) (any, error) {
	if err := v.differs("id", "name", "meta", "status"); err != nil {
		return nil, err
	}
	meta := v.args.object("meta")
	for name := range meta {
		if name != "description" {
			return nil, registry.Say(registry.CodeInvalidInput, said.SiteLocaleInput, "name", "meta."+name).At("meta")
		}
	}
	page, err := v.page(ctx, store.PageQuery{ID: id})
	if err != nil {
		return nil, v.otherFamily(ctx, err, id)
	}
	if v.args.text("status") == store.Archived {
		if err := v.removeLocale(ctx, p, id, page.Name, locale); err != nil {
			return nil, err
		}
		return p.tellPage(ctx, v, id)
	}
	err = v.changeTranslation(ctx, p, page.Name, store.Translation{PageID: &id, Locale: locale}, func(t *store.Translation) error {
		if err := v.stillAt(t.Version, page.Name); err != nil {
			return err
		}
		v.args.setText(&t.Title, "name")
		args(meta).setText(&t.About, "description")
		if v.args.setText(&t.Status, "status"); t.Status == store.Unpublished {
			t.Status = store.Draft // languages know no other state before
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return p.tellPage(ctx, v, id)
}

// translateSection changes what a section says in another language.
func (p *Provider) translateSection(ctx context.Context, v visit, s store.Section, locale string) (any, error) {
	if err := v.differs("pageSectionId", "content", "imageId", "imageField"); err != nil {
		return nil, err
	}
	change, notes, err := p.sectionChange(ctx, v, s.Template)
	if err != nil {
		return nil, err
	}
	err = v.changeTranslation(ctx, p, s.Template, store.Translation{PageID: &s.PageID, Locale: locale}, func(t *store.Translation) error {
		if err := v.stillAt(t.Version, s.Template); err != nil {
			return err
		}
		t.Content = merged(t.Content, map[string]any{s.ID: merged(t.Section(s.ID), change)})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return p.tellSection(ctx, v, s.ID, notes)
}

// saidIn is an entry with the state that it has in the language that a call is about.
func (v visit) saidIn(ctx context.Context, e store.Entry) (store.Entry, string, error) {
	locale, err := v.locale()
	if err != nil || locale == "" {
		return e, locale, err
	}
	found, err := v.Translations(ctx, store.TranslationQuery{Of: []string{e.ID}, Locale: locale})
	e.Status, e.Version = store.Draft, 0
	for _, t := range found {
		e.Status, e.Version = t.Status, t.Version
	}
	return e, locale, err
}

// translateEntry changes what a post or an entry says in another language, and whether it is shown in it.
// key is the input that names it.
func (p *Provider) translateEntry(ctx context.Context, v visit, e store.Entry, key, locale string, change map[string]any) (any, error) {
	if err := v.differs(key, "title", "content", "status", "publishAt", "confirmed"); err != nil {
		return nil, err
	}
	if v.args.text("status") == store.Archived {
		if err := v.removeLocale(ctx, p, e.ID, e.Title, locale); err != nil {
			return nil, err
		}
		return p.tellEntry(ctx, v, e.ID, nil)
	}
	due, err := v.args.moment("publishAt")
	if err != nil {
		return nil, err
	}
	notes := p.bring(ctx, v, change, bodyField)
	err = v.changeTranslation(ctx, p, e.Title, store.Translation{EntryID: &e.ID, Locale: locale}, func(t *store.Translation) error {
		if err := v.stillAt(t.Version, e.Title); err != nil {
			return err
		}
		v.args.setText(&t.Title, "title")
		if _, given := v.args["publishAt"]; given {
			t.PublishAt = due
		}
		t.Content = merged(t.Content, change)
		v.args.setText(&t.Status, "status")
		return nil
	})
	if err != nil {
		return nil, err
	}
	return p.tellEntry(ctx, v, e.ID, notes)
}

// removeLocale takes a language from a page or an entry; the bin has it.
func (v visit) removeLocale(ctx context.Context, p *Provider, id, title, locale string) error {
	found, err := v.Translations(ctx, store.TranslationQuery{Of: []string{id}, Locale: locale})
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return registry.Say(registry.CodeInvalidInput, said.SiteLocaleNone, "locale", locale).At("locale")
	}
	if err := v.stillAt(found[0].Version, title); err != nil {
		return err
	}
	touch := touchTranslation(found[0], title)
	if v.look != nil {
		v.look.preview.Touches, v.look.preview.Link = []registry.Touch{touch}, p.draftIn(found[0])
		return v.show(ctx, translationFields(found[0]), nil)
	}
	if err := v.asApproved(touch); err != nil {
		return err
	}
	return v.RemoveLocale(ctx, id, locale)
}
