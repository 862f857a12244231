package content

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/providers/content/layout"
	"github.com/signalbox/signalbox/providers/content/store"
	"github.com/signalbox/signalbox/registry"
)

func sectionTools() []tool {
	status := choiceInput("status", "Visitors see published sections only.", store.Published, store.Unpublished, store.Draft)
	hidden := flagInput("hidden", "Whether visitors don't see it although it is published.")
	order := wholeInput("sortOrder", "Its place on the page, from 0; the others make room.", 0)
	return []tool{
		{
			id: "getSectionTemplate", title: "Get section templates", noun: "sectionTemplate", names: "key", capability: registry.CapabilityRead, role: store.Author, answers: gives, do: getSectionTemplate,
			about:  "Get templates of sections by id, by key or all. Each says its fields with types, descriptions and defaults. Returns success, count and items; the key is what createSection takes as templateKey.",
			inputs: registry.InputSchema{textInput("id", "The template's id."), textInput("key", "The template's key, such as hero."), flagInput("all", "true gives all templates.")},
		},
		{
			id: "getSection", title: "Get sections", noun: "section", names: "pageSectionId", capability: registry.CapabilityRead, role: store.Author, answers: gives, do: getSection,
			about:  "Get one section by pageSectionId, or all of a page in their order by pageId. Light unless includeContent adds the values of the fields. Returns success, count and items with pageSectionId.",
			inputs: registry.InputSchema{textInput("pageSectionId", "The section's id."), textInput("pageId", "The id of a page: its sections."), flagInput("includeContent", "Whether each item carries its content.")},
		},
		{
			id: "createSection", title: "Create a section", noun: "section", names: "pageId", capability: registry.CapabilityWrite, role: store.Editor, answers: changes, do: createSection, preview: looking(createSection),
			about: "Create a section on a page from a template. content has the template's fields; where sortOrder is not given it comes last. A draft unless status says published. Returns pageSectionId, which updateSection takes.",
			inputs: registry.InputSchema{
				need(textInput("pageId", "The id of the page.")), need(textInput("templateKey", "The key of a template, as getSectionTemplate gives it.")),
				objectInput("content", "Values of the template's fields, by their names."), order, status, hidden,
			},
		},
		{
			id: "updateSection", title: "Update a section", noun: "section", names: "pageSectionId", capability: registry.CapabilityWrite, role: store.Editor, answers: changes, do: updateSection, preview: looking(updateSection),
			about: "Update a section: its content, an image, status, hidden or sortOrder, any of them alone or together, as one change. content merges: fields that are not sent stay. imageId goes into imageField. With locale, content is that of another language. Returns the section.",
			inputs: registry.InputSchema{
				need(textInput("pageSectionId", "The section's id, as createSection and getSection give it; not that of a template.")), objectInput("content", "Values that change, by the names of the template's fields; null empties one."),
				textInput("imageId", "The id of an image, for imageField."), textInput("imageField", "The field of the template that shows the image, by its exact name."), status, hidden, order, localeInput(),
			},
		},
		sectionDeletion.tool("deleteSection", "Delete sections", "Delete sections by ids, one or several. The first call shows what would go and changes nothing; confirmed then deletes exactly that, all or none. Returns requiresConfirmation with items, then deleted."),
	}
}

func getSectionTemplate(p *Provider, _ context.Context, v visit) (any, error) {
	if err := v.args.oneScope("getSectionTemplate", "id", "key", "all"); err != nil {
		return nil, err
	}
	list := p.cfg.Templates.All()
	if v.args.has("id") || v.args.has("key") {
		t, ok := p.cfg.Templates.ByKey(v.args.text("key"))
		if v.args.has("id") {
			t, ok = p.cfg.Templates.ByID(strings.ToLower(v.args.text("id")))
		}
		if list = nil; ok {
			list = []layout.Template{t}
		}
	}
	return found(list), nil
}

func getSection(_ *Provider, ctx context.Context, v visit) (any, error) {
	if err := v.args.oneScope("getSection", "pageSectionId", "pageId"); err != nil {
		return nil, err
	}
	var ids [2]string
	for i, name := range []string{"pageSectionId", "pageId"} {
		if v.args.has(name) {
			var err error
			if ids[i], err = v.args.id(name, "getPage with includeContent"); err != nil {
				return nil, err
			}
		}
	}
	sections, err := v.Sections(ctx, ids[0], ids[1])
	if !v.args.flag("includeContent") {
		for i := range sections {
			sections[i].Content = nil
		}
	}
	return found(sections), err
}

// changedSection is what creating and updating a section answers.
type changedSection struct {
	Success       bool          `json:"success"`
	PageSectionID string        `json:"pageSectionId"`
	Section       store.Section `json:"section"`
	PreviewURL    string        `json:"previewUrl"`      // of its page
	Notes         []string      `json:"notes,omitempty"` // pictures that stay links
}

func (p *Provider) tellSection(ctx context.Context, v visit, id string, notes []string) (any, error) {
	sections, err := v.Sections(ctx, id, "")
	if err == nil && len(sections) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return changedSection{true, id, sections[0], p.links.Preview("page", sections[0].PageID), notes}, nil
}

func createSection(p *Provider, ctx context.Context, v visit) (any, error) {
	pageID, err := v.args.id("pageId", "getPage by slug")
	if err != nil {
		return nil, err
	}
	key := v.args.text("templateKey")
	t, ok := p.cfg.Templates.ByKey(key)
	if !ok {
		message := fmt.Sprintf("there is no template %q: getSectionTemplate has %s", short(key), strings.Join(p.cfg.Templates.Keys(), ", "))
		if byID, is := p.cfg.Templates.ByID(key); is {
			message = "templateKey takes the key of a template, which is " + byID.Key + ", not its id"
		}
		return nil, &registry.Error{Code: registry.CodeInvalidInput, Field: "templateKey", Message: message}
	}
	s := store.Section{PageID: pageID, Template: key, Status: cmp.Or(v.args.text("status"), store.Draft)}
	v.args.setFlag(&s.Hidden, "hidden")
	content, err := p.fields(ctx, v, t, v.args.object("content"))
	if err != nil {
		return nil, err
	}
	notes := p.bring(ctx, v, content, t.Fields)
	s.Content = merged(nil, content)
	id, err := v.addSection(ctx, p, s, v.args.whole("sortOrder"))
	if err != nil {
		return nil, err
	}
	return p.tellSection(ctx, v, id, notes)
}

// fields judges the content of a section by its template, and that its images are there.
func (p *Provider) fields(ctx context.Context, v visit, t layout.Template, content map[string]any) (map[string]any, error) {
	checked, err := t.Check(content)
	var field *layout.FieldError
	if errors.As(err, &field) {
		return nil, &registry.Error{Code: registry.CodeInvalidInput, Field: "content", Message: field.Error()}
	}
	if err != nil {
		return nil, err
	}
	if err := p.haveImages(ctx, v, imagesOf(t.Fields, checked)); err != nil {
		return nil, err
	}
	return checked, nil
}

// imagesOf lists the images that content names.
func imagesOf(fields []layout.Field, content map[string]any) (ids []string) {
	for _, f := range fields {
		switch value := content[f.Name].(type) {
		case string:
			if f.Type == layout.Image && value != "" {
				ids = append(ids, value)
			}
		case []any:
			for _, item := range value {
				object, _ := item.(map[string]any)
				ids = append(ids, imagesOf(f.Fields, object)...)
			}
		}
	}
	return ids
}

func updateSection(p *Provider, ctx context.Context, v visit) (any, error) {
	id, err := v.args.id("pageSectionId", "getSection by pageId")
	if err != nil {
		return nil, err
	}
	if t, is := p.cfg.Templates.ByID(id); is {
		return nil, registry.Say(registry.CodeInvalidInput, said.SiteTemplateID, "key", t.Key).At("pageSectionId")
	}
	if v.args.has("imageId") != v.args.has("imageField") {
		return nil, registry.Say(registry.CodeInvalidInput, said.SiteImageBoth).At("imageField")
	}
	sections, err := v.Sections(ctx, id, "")
	if err == nil && len(sections) == 0 {
		err = v.otherFamily(ctx, store.ErrNotFound, id)
	}
	if err != nil {
		return nil, err
	}
	locale, err := v.locale()
	if err != nil {
		return nil, err
	}
	if locale != "" {
		return p.translateSection(ctx, v, sections[0], locale)
	}
	change, notes, err := p.sectionChange(ctx, v, sections[0].Template)
	if err != nil {
		return nil, err
	}
	err = v.changeSection(ctx, p, id, v.args.whole("sortOrder"), func(s *store.Section) error {
		if err := v.stillAt(s.Version, s.Template); err != nil {
			return err
		}
		s.Content = merged(s.Content, change)
		v.args.setWhole(&s.SortOrder, "sortOrder")
		v.args.setText(&s.Status, "status")
		v.args.setFlag(&s.Hidden, "hidden")
		return nil
	})
	if err != nil {
		return nil, err
	}
	return p.tellSection(ctx, v, id, notes)
}

func touchSection(s store.Section) registry.Touch {
	return registry.Touch{Kind: "section", ID: s.ID, Title: s.Template, Version: strconv.FormatInt(s.Version, 10)}
}

// sectionChange is the content that a call sends, with the image in its field, and notes on pictures from elsewhere.
func (p *Provider) sectionChange(ctx context.Context, v visit, key string) (change map[string]any, notes []string, err error) {
	t, ok := p.cfg.Templates.ByKey(key)
	if !ok {
		return nil, nil, registry.Say(registry.CodeUnavailable, said.SiteTemplateGone, "key", key)
	}
	content := v.args.object("content")
	if field := v.args.text("imageField"); field != "" {
		f, ok := t.Field(field)
		if !ok || f.Type != layout.Image {
			var images []string
			for _, f := range t.Fields {
				if f.Type == layout.Image {
					images = append(images, f.Name)
				}
			}
			return nil, nil, registry.Say(registry.CodeInvalidInput, said.SiteImageField, "key", key, "field", short(field), "names", cmp.Or(strings.Join(images, ", "), "none")).At("imageField")
		}
		content = merged(content, map[string]any{field: v.args.text("imageId")})
	}
	if change, err = p.fields(ctx, v, t, content); err == nil {
		notes = p.bring(ctx, v, change, t.Fields)
	}
	return change, notes, err
}

var sectionDeletion = deletion{
	noun: "section", question: said.SiteDeleteSections, key: "ids", note: "hidden with updateSection takes one out of sight and keeps it. What is deleted can be restored for 30 days.",
	find: func(ctx context.Context, v visit, keys []string) ([]thing, error) {
		things := map[string]thing{}
		for _, key := range keys {
			sections, err := v.Sections(ctx, v.idOr(key), "")
			if err != nil {
				return nil, err
			}
			for _, s := range sections {
				things[key] = thing{
					Touch: touchSection(s),
					shown: map[string]any{"id": s.ID, "title": s.Template, "pageId": s.PageID, "sortOrder": s.SortOrder, "status": s.Status},
				}
			}
		}
		return inOrder(keys, things, "section", "id"), nil
	},
	delete: func(ctx context.Context, v visit, shown []registry.Touch) error { return v.DeleteSections(ctx, shown) },
}
