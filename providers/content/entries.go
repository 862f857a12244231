package content

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/providers/content/store"
	"github.com/signalbox/signalbox/registry"
)

func entryTools() []tool {
	content := objectInput("content", "What it says, by fields; body is Markdown.")
	return []tool{
		{
			id: "getEntry", title: "Get entries", noun: "entry", names: "id", capability: registry.CapabilityRead, role: store.Author, answers: gives, do: getEntry,
			about: "Get entries of collections by id, by slug, by collectionId or all; posts are among them. Light unless includeContent adds their content; status narrows. Returns success, count and items with ids and previewUrl.",
			inputs: registry.InputSchema{
				textInput("id", "The entry's id."), textInput("slug", "The entry's slug; with collectionId, that of the collection."), textInput("collectionId", "The id or slug of a collection, such as glossary: its entries."),
				flagInput("all", "true gives all entries."), flagInput("includeContent", "Whether each item carries its content."), choiceInput("status", "Only entries in this state.", store.Draft, store.Published, store.Archived),
			},
		},
		{
			id: "createEntry", title: "Create an entry", noun: "entry", names: "collectionId", capability: registry.CapabilityWrite, role: store.Author, answers: changes, do: createEntry, preview: looking(createEntry),
			about: "Create an entry in a collection by slug and title, as a draft unless status says published. Returns entryId and previewUrl.",
			inputs: registry.InputSchema{
				need(textInput("collectionId", "The id or slug of the collection, such as glossary.")), need(textInput("slug", "The entry's place in addresses: lower-case letters, digits and hyphens.")),
				need(textInput("title", "The entry's title.")), content, choiceInput("status", "published shows it.", store.Draft, store.Published),
			},
		},
		{
			id: "updateEntry", title: "Update an entry", noun: "entry", names: "id", capability: registry.CapabilityWrite, role: store.Author, answers: changes, do: updateEntry, preview: looking(updateEntry),
			about: "Update an entry by id: slug, title, content or status. Merges: only what is sent changes, members of content too. archived takes it out of sight. With locale, title, content and status are those of another language, which archived takes away. Returns the entry.",
			inputs: registry.InputSchema{
				need(textInput("id", "The entry's id, as getEntry gives it.")), textInput("slug", "Its place in addresses, the only one in its collection."), textInput("title", "Its title."), content,
				choiceInput("status", "published shows it, archived hides it.", store.Draft, store.Published, store.Archived), localeInput(),
			},
		},
		entryDeletion.tool("deleteEntry", "Delete entries", "Delete entries by ids. The first call shows what would go and changes nothing; confirmed then deletes exactly that, all or none. Returns requiresConfirmation with items, then deleted."),
	}
}

func getEntry(p *Provider, ctx context.Context, v visit) (any, error) {
	scopes := []string{"id", "slug", "collectionId", "all"}
	switch { // a collection narrows slug and all
	case v.args.has("collectionId") && v.args.has("slug") && !v.args.flag("all"):
		scopes = []string{"id", "slug"}
	case v.args.has("collectionId"):
		scopes = []string{"id", "slug", "collectionId"}
	}
	if err := v.args.oneScope("getEntry", scopes...); err != nil {
		return nil, err
	}
	q := store.EntryQuery{Slug: slugOf(v.args.text("slug")), Status: v.args.text("status")}
	var err error
	if v.args.has("id") {
		if q.ID, err = v.args.id("id", "getEntry by slug or all"); err != nil {
			return nil, err
		}
	}
	if v.args.has("collectionId") {
		collection, err := v.collection(ctx)
		if err != nil {
			return nil, err
		}
		q.CollectionID = collection.ID
	}
	entries, err := v.Entries(ctx, q)
	if err != nil {
		return nil, err
	}
	items, err := p.entriesWith(ctx, v, entries, v.args.flag("includeContent"))
	return found(items), err
}

// collection finds the collection that a call names.
func (v visit) collection(ctx context.Context) (store.Collection, error) {
	key := v.args.text("collectionId")
	collection, err := v.Collection(ctx, key)
	if !errors.Is(err, store.ErrNotFound) {
		return collection, err
	}
	all, err := v.Collections(ctx)
	if err != nil {
		return collection, err
	}
	return collection, noCollection("collectionId", key, all, "")
}

func createEntry(p *Provider, ctx context.Context, v visit) (any, error) {
	collection, err := v.collection(ctx)
	if err != nil {
		return nil, err
	}
	e := store.Entry{
		CollectionID: collection.ID, Kind: collection.Kind, Slug: slugOf(v.args.text("slug")), Title: v.args.text("title"),
		Status: cmp.Or(v.args.text("status"), store.Draft), Content: maps.Clone(v.args.object("content")), WrittenBy: &v.account,
	}
	if err := v.mayWrite(e); err != nil {
		return nil, err
	}
	if err := p.entryContent(ctx, v, e); err != nil {
		return nil, err
	}
	notes := p.bring(ctx, v, e.Content, bodyField)
	id, err := v.addEntry(ctx, "collectionId", collection, e)
	if err != nil {
		return nil, err
	}
	return p.tellEntry(ctx, v, id, notes)
}

// entryContent checks what an entry says: of a post as of posts, of others that the body is a text.
func (p *Provider) entryContent(ctx context.Context, v visit, e store.Entry) error {
	if e.Kind == store.KindPost {
		_, err := p.postContent(ctx, v, e.Content)
		return err
	}
	if body, given := e.Content["body"]; given && body != nil {
		if _, ok := body.(string); !ok {
			return registry.Say(registry.CodeInvalidInput, said.SiteBodyText).At("content")
		}
	}
	return nil
}

func updateEntry(p *Provider, ctx context.Context, v visit) (any, error) {
	id, err := v.args.id("id", "getEntry by slug")
	if err != nil {
		return nil, err
	}
	entries, err := v.Entries(ctx, store.EntryQuery{ID: id})
	if err == nil && len(entries) == 0 {
		err = v.otherFamily(ctx, store.ErrNotFound, id)
	}
	if err == nil {
		err = v.mayWrite(entries[0])
	}
	if err != nil {
		return nil, err
	}
	change := maps.Clone(v.args.object("content"))
	if err := p.entryContent(ctx, v, store.Entry{Kind: entries[0].Kind, Content: change}); err != nil {
		return nil, err
	}
	locale, err := v.locale()
	if err != nil {
		return nil, err
	}
	if locale != "" {
		return p.translateEntry(ctx, v, entries[0], "id", locale, change)
	}
	notes := p.bring(ctx, v, change, bodyField)
	err = v.changeEntry(ctx, p, id, func(e *store.Entry) error {
		if err := v.stillAt(e.Version, e.Title); err != nil {
			return err
		}
		if v.args.has("slug") {
			e.Slug = slugOf(v.args.text("slug"))
		}
		v.args.setText(&e.Title, "title")
		v.args.setText(&e.Status, "status")
		e.Content = merged(e.Content, change)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return p.tellEntry(ctx, v, id, notes)
}

var entryDeletion = deletion{
	noun: "entry", question: said.SiteDeleteEntries, key: "ids", note: fmt.Sprintf("updateEntry with status %s takes one out of sight and keeps it. What is deleted can be restored for 30 days.", store.Archived),
	find: func(ctx context.Context, v visit, keys []string) ([]thing, error) {
		entries, err := v.Entries(ctx, store.EntryQuery{IDs: keys})
		things := map[string]thing{}
		for _, e := range entries {
			things[e.ID] = entryThing(e)
		}
		return inOrder(keys, things, "entry", "id"), err
	},
	delete: func(ctx context.Context, v visit, shown []registry.Touch) error { return v.DeleteEntries(ctx, shown) },
}
