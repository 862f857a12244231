package content

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/providers/content/store"
	"github.com/signalbox/signalbox/registry"
)

func pageTools() []tool {
	slug := textInput("slug", "The page's place in addresses: lower-case letters, digits and hyphens, such as about-us. The page home is the start of the site.")
	name := textInput("name", "The page's name, as menus and titles show it.")
	parent := parentInput("parentId", "The id of the page that it is below; null is the top.")
	settings := registry.InputSchema{
		flagInput("isProtected", "Whether the page is kept from being deleted."), objectInput("meta", `What search engines and visitors are told, such as {"title", "description", "image"}; "access": "members" asks visitors to sign in.`),
		flagInput("indexing", "Whether search engines may list the page."),
	}
	return []tool{
		{
			id: "getPage", title: "Get pages", noun: "page", names: "id", capability: registry.CapabilityRead, role: store.Author, answers: gives, do: getPage,
			about: "Get pages by id, by slug, by parentId (those below a page) or all. Light unless includeContent adds their sections; includeChildren adds the pages below each. Returns success, count and items with ids, slugs and previewUrl.",
			inputs: registry.InputSchema{
				textInput("id", "The page's id, a UUID."), textInput("slug", "The page's slug."), textInput("parentId", "The id of a page: those below it."),
				flagInput("includeChildren", "Whether each item carries the pages below it."), flagInput("all", "true gives all pages."), flagInput("includeContent", "Whether each item carries its sections with their content."),
			},
		},
		{
			id: "createPage", title: "Create a page", noun: "page", names: "parentId", capability: registry.CapabilityWrite, role: store.Editor, answers: changes, do: createPage, preview: looking(createPage),
			about:  "Create an empty page by name and slug, at the top or below another by parentId. What stands on it comes by createSection; visitors see it once a section is published. Returns pageId and previewUrl.",
			inputs: append(registry.InputSchema{need(name), need(slug), parent}, settings...),
		},
		{
			id: "updatePage", title: "Update a page", noun: "page", names: "id", capability: registry.CapabilityWrite, role: store.Editor, answers: changes, do: updatePage, preview: looking(updatePage),
			about:  "Update a page by id; its slug does not name it. Merges: only what is sent changes, members of meta too, and null takes one away. parentId moves it, null to the top. status published shows it to everybody with all of its sections at once, unpublished takes it back. With locale, name, meta.description and status are those of another language. Returns the page.",
			inputs: append(registry.InputSchema{need(textInput("id", "The page's id, a UUID, as getPage gives it; a slug does not name it here.")), name, slug, parent, pageStatus()}, append(settings, localeInput())...),
		},
		pageDeletion.tool("deletePage", "Delete pages", "Delete pages by ids, with their sections. The first call shows what would go and changes nothing; confirmed then deletes exactly that, all or none. Pages below move up. Returns requiresConfirmation with items, then deleted."),
	}
}

// pageItem is a page as tools tell it.
type pageItem struct {
	store.Page
	URL          string        `json:"url"`
	PreviewURL   string        `json:"previewUrl"`
	Children     []pageItem    `json:"children,omitzero"`
	Translations []translation `json:"translations,omitzero"` // in other languages
}

func (p *Provider) pageItems(pages []store.Page) []pageItem {
	if pages == nil {
		return nil
	}
	items := make([]pageItem, len(pages))
	for i, page := range pages {
		items[i] = pageItem{Page: page, URL: p.links.Page(page.Slug), PreviewURL: p.links.Preview("page", page.ID), Children: p.pageItems(page.Children)}
	}
	return items
}

func getPage(p *Provider, ctx context.Context, v visit) (any, error) {
	if err := v.args.oneScope("getPage", "id", "slug", "parentId", "all"); err != nil {
		return nil, err
	}
	q := store.PageQuery{Slug: slugOf(v.args.text("slug")), Children: v.args.flag("includeChildren"), Content: v.args.flag("includeContent")}
	for name, to := range map[string]*string{"id": &q.ID, "parentId": &q.Parent} {
		if v.args.has(name) {
			var err error
			if *to, err = v.args.id(name, "getPage by slug or all"); err != nil {
				return nil, err
			}
		}
	}
	pages, err := v.Pages(ctx, q)
	if err != nil {
		return nil, err
	}
	items := p.pageItems(pages)
	if q.Content {
		err = v.addTranslations(ctx, items)
	}
	return found(items), err
}

// addTranslations adds what pages say in other languages.
func (v visit) addTranslations(ctx context.Context, items []pageItem) error {
	previews := map[string]string{}
	for _, item := range items {
		previews[item.ID] = item.PreviewURL
	}
	byPage, err := v.translations(ctx, previews)
	for i := range items {
		items[i].Translations = byPage[items[i].ID]
	}
	return err
}

// slugOf is a slug without slashes around it.
func slugOf(text string) string { return strings.Trim(text, "/") }

// page finds one page.
func (v visit) page(ctx context.Context, q store.PageQuery) (store.Page, error) {
	pages, err := v.Pages(ctx, q)
	if err == nil && len(pages) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.Page{}, err
	}
	return pages[0], nil
}

// changedPage is what creating and updating a page answers.
type changedPage struct {
	Success    bool     `json:"success"`
	PageID     string   `json:"pageId"`
	Page       pageItem `json:"page"`
	PreviewURL string   `json:"previewUrl"`
}

func (p *Provider) tellPage(ctx context.Context, v visit, id string) (any, error) {
	page, err := v.page(ctx, store.PageQuery{ID: id})
	if err != nil {
		return nil, err
	}
	items := p.pageItems([]store.Page{page})
	if err := v.addTranslations(ctx, items); err != nil {
		return nil, err
	}
	return changedPage{true, id, items[0], items[0].PreviewURL}, nil
}

func createPage(p *Provider, ctx context.Context, v visit) (any, error) {
	page := store.Page{Name: v.args.text("name"), Slug: slugOf(v.args.text("slug")), Indexing: true, Meta: v.args.object("meta")}
	v.args.setFlag(&page.Protected, "isProtected")
	v.args.setFlag(&page.Indexing, "indexing")
	if err := v.args.setParent(&page.ParentID, "parentId"); err != nil {
		return nil, err
	}
	id, err := v.addPage(ctx, page)
	if err != nil {
		return nil, err
	}
	return p.tellPage(ctx, v, id)
}

func updatePage(p *Provider, ctx context.Context, v visit) (any, error) {
	id, err := v.args.id("id", "getPage by slug")
	if err != nil {
		return nil, err
	}
	locale, err := v.locale()
	switch {
	case err != nil:
		return nil, err
	case locale != "":
		return p.translatePage(ctx, v, id, locale)
	case v.args.text("status") == store.Archived:
		return nil, registry.Say(registry.CodeInvalidInput, said.SiteLocaleNeeded, "tool", "updatePage").At("status")
	}
	err = v.changePage(ctx, p, id, func(page *store.Page) error {
		if err := v.stillAt(page.Version, page.Name); err != nil {
			return err
		}
		v.args.setText(&page.Name, "name")
		if v.args.has("slug") {
			page.Slug = slugOf(v.args.text("slug"))
		}
		v.args.setFlag(&page.Protected, "isProtected")
		v.args.setFlag(&page.Indexing, "indexing")
		page.Meta = merged(page.Meta, v.args.object("meta"))
		if err := v.args.setParent(&page.ParentID, "parentId"); err != nil {
			return err
		}
		return p.setStatus(page, v.args.text("status"))
	})
	if err != nil {
		return nil, v.otherFamily(ctx, err, id)
	}
	return p.tellPage(ctx, v, id)
}

func touchPage(page store.Page) registry.Touch {
	return registry.Touch{Kind: "page", ID: page.ID, Title: page.Name, Version: strconv.FormatInt(page.Version, 10)}
}

// setStatus publishes all sections of a page, or takes them back. One that can't be shown keeps all from being published.
func (p *Provider) setStatus(page *store.Page, status string) error {
	if status == "" {
		return nil
	}
	if len(page.Sections) == 0 {
		return registry.Say(registry.CodeInvalidInput, said.SitePageEmpty, "name", page.Name).At("status")
	}
	for i := range page.Sections {
		s := &page.Sections[i]
		if _, known := p.cfg.Templates.ByKey(s.Template); !known && status == store.Published {
			return registry.Say(registry.CodeUnavailable, said.SiteTemplateGone, "key", s.Template).At("status")
		}
		s.Status = status
	}
	return nil
}

// otherFamily says of an id that nothing of the kind has which kind it is of.
func (v visit) otherFamily(ctx context.Context, err error, id string) error {
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	hint := ""
	if entries, e := v.Entries(ctx, store.EntryQuery{ID: id}); e == nil && len(entries) > 0 {
		hint = "that is the id of " + kindWord(entries[0].Kind) + " " + entries[0].Slug + ": use updatePost or updateEntry"
	} else if pages, e := v.Pages(ctx, store.PageQuery{ID: id}); e == nil && len(pages) > 0 {
		hint = "that is the id of the page " + pages[0].Slug + ", not of a post or entry: use updatePage"
	} else if sections, e := v.Sections(ctx, id, ""); e == nil && len(sections) > 0 {
		hint = "that is the id of a section: use updateSection with it as pageSectionId"
	}
	if hint == "" {
		return err
	}
	return &registry.Error{Code: registry.CodeInvalidInput, Field: "id", Message: hint, Cause: err}
}

func kindWord(kind string) string {
	if kind == store.KindPost {
		return "the post"
	}
	return "the entry"
}

var pageDeletion = deletion{
	noun: "page", question: said.SiteDeletePages, key: "ids", note: "Sections go with their page. What is deleted can be restored for 30 days.",
	find: func(ctx context.Context, v visit, keys []string) ([]thing, error) {
		things := map[string]thing{}
		for _, key := range keys {
			page, err := v.page(ctx, store.PageQuery{ID: v.idOr(key), Children: true, Content: true})
			if errors.Is(err, store.ErrNotFound) {
				continue
			}
			if err != nil {
				return nil, err
			}
			t := thing{Touch: touchPage(page)}
			t.shown = map[string]any{"id": page.ID, "slug": page.Slug, "name": page.Name, "sections": len(page.Sections), "childPages": len(page.Children)}
			if page.Protected {
				t.problem = "the page is protected: lift isProtected with updatePage first"
			}
			things[key] = t
		}
		return inOrder(keys, things, "page", "id"), nil
	},
	delete: func(ctx context.Context, v visit, shown []registry.Touch) error { return v.DeletePages(ctx, shown) },
}

// idOr is a key that may be asked for as an id; what is none finds nothing.
func (v visit) idOr(key string) string {
	if _, err := (args{"id": key}).id("id", ""); err != nil {
		return "00000000-0000-0000-0000-000000000000"
	}
	return strings.ToLower(key)
}
