package content

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/providers/content/layout"
	"github.com/signalbox/signalbox/providers/content/store"
	"github.com/signalbox/signalbox/registry"
)

func postTools() []tool {
	content := objectInput("content", `What it says: {"body": Markdown, "cover": {"url", "alt"}, "tags": [texts]}; cover and tags are optional, the cover's url is that of an image here.`)
	author, category := textInput("author", "Who signs it."), textInput("category", "The category it stands under.")
	return []tool{
		{
			id: "getPost", title: "Get posts", noun: "post", names: "slug", capability: registry.CapabilityRead, role: store.Author, answers: gives, do: getPost,
			about: "Get one post by slug with its content, or a list by collectionSlug, status or category, or all. Lists are light: without content. Returns success, count and items with slugs, status and previewUrl.",
			inputs: registry.InputSchema{
				textInput("slug", "The post's slug."), textInput("collectionSlug", "Posts of this collection, such as blog."), choiceInput("status", "Posts in this state.", store.Draft, store.Published, store.Archived),
				textInput("category", "Posts of this category."), flagInput("all", "true gives all posts."),
			},
		},
		{
			id: "createPost", title: "Create a post", noun: "post", names: "collectionSlug", capability: registry.CapabilityWrite, role: store.Author, answers: changes, do: createPost, preview: looking(createPost),
			about: "Create a post in a collection by slug, title and content. It is a draft, never published at once: updatePost publishes it. Returns postId, slug and previewUrl, by which the draft can be looked at.",
			inputs: registry.InputSchema{
				need(textInput("collectionSlug", "The slug of the collection, such as blog.")), need(textInput("slug", "The post's place in addresses: lower-case letters, digits and hyphens.")),
				need(textInput("title", "The post's title.")), need(content), author, textInput("excerpt", "A sentence or two for lists."),
			},
		},
		{
			id: "updatePost", title: "Update a post", noun: "post", names: "slug", capability: registry.CapabilityWrite, role: store.Author, answers: changes, do: updatePost, preview: looking(updatePost),
			about: "Update a post by slug. Merges: only what is sent changes, members of content too. status published shows it to everybody, which has to be confirmed; archived takes it out of sight. A cover is featuredImage and content.cover. With locale, title, content and status are those of another language, which archived takes away. Returns the post.",
			inputs: registry.InputSchema{
				need(textInput("slug", "The post's slug, as getPost gives it.")), textInput("title", "The post's title."), content, choiceInput("status", "published shows it, archived hides it.", store.Draft, store.Published, store.Archived),
				publishAt(), category, author, textInput("featuredImage", "The id or /uploads/ address of the image that stands for it in lists and previews; content.cover has to say the same."), localeInput(), confirmed(),
			},
		},
		postDeletion.tool("deletePost", "Delete posts", "Delete posts by slugs. The first call shows what would go and changes nothing; confirmed then deletes exactly that, all or none. Archiving with updatePost keeps them. Returns requiresConfirmation with items, then deleted."),
	}
}

// entryItem is a post or an entry as tools tell it.
type entryItem struct {
	store.Entry
	URL          string        `json:"url"`
	PreviewURL   string        `json:"previewUrl"`
	Translations []translation `json:"translations,omitzero"` // in other languages
}

func (p *Provider) entryItems(entries []store.Entry, withContent bool) []entryItem {
	items := make([]entryItem, len(entries))
	for i, e := range entries {
		if !withContent {
			e.Content = nil
		}
		items[i] = entryItem{Entry: e, URL: p.links.Entry(e.Collection, e.Slug), PreviewURL: p.links.Preview("entry", e.ID)}
	}
	return items
}

// entriesWith gives entries as tools tell them; with their content, in all languages.
func (p *Provider) entriesWith(ctx context.Context, v visit, entries []store.Entry, withContent bool) ([]entryItem, error) {
	items := p.entryItems(entries, withContent)
	if !withContent {
		return items, nil
	}
	previews := map[string]string{}
	for _, item := range items {
		previews[item.ID] = item.PreviewURL
	}
	byEntry, err := v.translations(ctx, previews)
	for i := range items {
		items[i].Translations = byEntry[items[i].ID]
	}
	return items, err
}

func getPost(p *Provider, ctx context.Context, v visit) (any, error) {
	q := store.EntryQuery{Kind: store.KindPost, Slug: slugOf(v.args.text("slug")), Status: v.args.text("status"), Category: v.args.text("category")}
	filtered := v.args.has("collectionSlug") || v.args.has("status") || v.args.has("category")
	if !filtered || q.Slug != "" && v.args.flag("all") {
		if err := v.args.oneScope("getPost", "slug", "collectionSlug", "all"); err != nil {
			return nil, err
		}
	}
	if key := v.args.text("collectionSlug"); key != "" {
		collection, err := v.postCollection(ctx, key)
		if err != nil {
			return nil, err
		}
		q.CollectionID = collection.ID
	}
	posts, err := v.Entries(ctx, q)
	if err != nil {
		return nil, err
	}
	items, err := p.entriesWith(ctx, v, posts, q.Slug != "")
	return found(items), err
}

// postCollection finds a collection of posts.
func (v visit) postCollection(ctx context.Context, key string) (store.Collection, error) {
	collection, err := v.Collection(ctx, key)
	if err == nil && collection.Kind != store.KindPost {
		return collection, registry.Say(registry.CodeInvalidInput, said.SiteNoPosts, "name", collection.Slug).At("collectionSlug")
	}
	if !errors.Is(err, store.ErrNotFound) {
		return collection, err
	}
	all, e := v.Collections(ctx)
	if e != nil {
		return collection, e
	}
	return collection, noCollection("collectionSlug", key, all, store.KindPost)
}

func noCollection(field, key string, all []store.Collection, kind string) error {
	var slugs []string
	for _, c := range all {
		if kind == "" || c.Kind == kind {
			slugs = append(slugs, c.Slug)
		}
	}
	return registry.Say(registry.CodeInvalidInput, said.SiteNoCollection, "name", short(key), "names", either(slugs)).At(field)
}

// changedEntry is what creating and updating a post or entry answers.
type changedEntry struct {
	Success    bool      `json:"success"`
	PostID     string    `json:"postId,omitempty"`
	EntryID    string    `json:"entryId,omitempty"`
	Slug       string    `json:"slug"`
	Status     string    `json:"status"`
	Item       entryItem `json:"item"`
	PreviewURL string    `json:"previewUrl"`
	Notes      []string  `json:"notes,omitempty"` // pictures that stay links
}

func (p *Provider) tellEntry(ctx context.Context, v visit, id string, notes []string) (any, error) {
	entries, err := v.Entries(ctx, store.EntryQuery{ID: id})
	if err == nil && len(entries) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	items, err := p.entriesWith(ctx, v, entries, true)
	if err != nil {
		return nil, err
	}
	item := items[0]
	answer := changedEntry{Success: true, Slug: item.Slug, Status: item.Status, Item: item, PreviewURL: item.PreviewURL, Notes: notes}
	if item.Kind == store.KindPost {
		answer.PostID = id
	} else {
		answer.EntryID = id
	}
	return answer, nil
}

func createPost(p *Provider, ctx context.Context, v visit) (any, error) {
	collection, err := v.postCollection(ctx, v.args.text("collectionSlug"))
	if err != nil {
		return nil, err
	}
	e := store.Entry{
		CollectionID: collection.ID, Kind: collection.Kind, Slug: slugOf(v.args.text("slug")), Title: v.args.text("title"), Status: store.Draft,
		Author: v.args.text("author"), Excerpt: v.args.text("excerpt"),
	}
	if e.Content, err = p.postContent(ctx, v, v.args.object("content")); err != nil {
		return nil, err
	}
	e.FeaturedImage = coverImage(e.Content)
	notes := p.bring(ctx, v, e.Content, bodyField)
	id, err := v.addEntry(ctx, "collectionSlug", collection, e)
	if err != nil {
		return nil, err
	}
	return p.tellEntry(ctx, v, id, notes)
}

// postContent checks what a post says, and gives a copy of it: body is Markdown, cover names an image here and what it shows.
func (p *Provider) postContent(ctx context.Context, v visit, content map[string]any) (map[string]any, error) {
	fail := func(message string) (map[string]any, error) {
		return nil, &registry.Error{Code: registry.CodeInvalidInput, Field: "content", Message: message}
	}
	for name, value := range content {
		switch cover, isObject := value.(map[string]any); {
		case value == nil:
		case name == "body":
			if _, ok := value.(string); !ok {
				return fail("content.body: expected a text, as Markdown")
			}
		case name == "cover" && isObject:
			address, _ := cover["url"].(string)
			id, ok := layout.ImageID(address)
			if alt, isText := cover["alt"].(string); !ok || len(cover) > 2 || cover["alt"] != nil && !isText || len(cover) == 2 && alt == "" && cover["alt"] == nil {
				return fail(`content.cover: expected {"url", "alt"}, the url that of an image here, such as getImage gives: bring one with createImage or importImage`)
			}
			if err := p.haveImages(ctx, v, []string{id}); err != nil {
				return nil, err
			}
		case name == "tags":
			if !areTexts(value) {
				return fail("content.tags: expected a list of texts")
			}
		default:
			return fail(`content has "body", "cover" {"url", "alt"} and "tags", and no ` + short(name))
		}
	}
	return maps.Clone(content), nil
}

// areTexts reports whether a value is a list of texts.
func areTexts(value any) bool {
	list, ok := value.([]any)
	return ok && !slices.ContainsFunc(list, func(item any) bool { _, is := item.(string); return !is })
}

// coverImage is the image that a post's cover shows.
func coverImage(content map[string]any) *string {
	cover, _ := content["cover"].(map[string]any)
	address, _ := cover["url"].(string)
	if id, ok := layout.ImageID(address); ok {
		return &id
	}
	return nil
}

// post finds the post that a call names by its slug.
func (v visit) post(ctx context.Context) (store.Entry, error) {
	slug := slugOf(v.args.text("slug"))
	posts, err := v.Entries(ctx, store.EntryQuery{Kind: store.KindPost, Slug: slug})
	if err != nil || len(posts) > 0 {
		return append(posts, store.Entry{})[0], err
	}
	if pages, e := v.Pages(ctx, store.PageQuery{Slug: slug}); e == nil && len(pages) > 0 {
		return store.Entry{}, registry.Say(registry.CodeInvalidInput, said.SitePageNotPost, "slug", slug, "id", pages[0].ID).At("slug")
	}
	return store.Entry{}, store.ErrNotFound
}

// mayWrite refuses an author what is somebody else's or is to be published.
func (v visit) mayWrite(e store.Entry) error {
	if v.role != store.Author {
		return nil
	}
	if e.WrittenBy == nil || *e.WrittenBy != v.account || e.Status == store.Published || v.args.text("status") == store.Published || v.args.has("publishAt") {
		return registry.Say(registry.CodeUnauthorized, said.SiteAuthors)
	}
	return nil
}

// publishes reports whether a call would publish the post, now or later.
func publishes(v visit, e store.Entry) bool {
	return e.Status != store.Published && (v.args.text("status") == store.Published || v.args.has("publishAt"))
}

func touchEntry(e store.Entry) registry.Touch {
	return registry.Touch{Kind: e.Kind, ID: e.ID, Title: e.Title, Version: strconv.FormatInt(e.Version, 10)}
}

func updatePost(p *Provider, ctx context.Context, v visit) (any, error) {
	e, err := v.post(ctx)
	if err == nil {
		err = v.mayWrite(e)
	}
	locale := ""
	if err == nil {
		e, locale, err = v.saidIn(ctx, e)
	}
	if err != nil {
		return nil, err
	}
	if publishes(v, e) && !v.args.flag("confirmed") && v.approved == nil {
		item := p.entryItems([]store.Entry{e}, false)[0]
		return asked{Success: true, RequiresConfirmation: true, Message: "Publish 1 post?", Note: "Nothing was changed. Send the same again with confirmed: true.",
			Items: []map[string]any{{"id": e.ID, "slug": e.Slug, "title": e.Title, "status": e.Status, "previewUrl": item.PreviewURL}}}, nil
	}
	change, err := p.postContent(ctx, v, v.args.object("content"))
	if err != nil {
		return nil, err
	}
	if locale != "" {
		return p.translateEntry(ctx, v, e, "slug", locale, change)
	}
	featured, err := p.featured(ctx, v)
	if err != nil {
		return nil, err
	}
	due, err := v.args.moment("publishAt")
	if err != nil {
		return nil, err
	}
	notes := p.bring(ctx, v, change, bodyField)
	err = v.changeEntry(ctx, p, e.ID, func(e *store.Entry) error {
		if err := v.stillAt(e.Version, e.Title); err != nil {
			return err
		}
		v.args.setText(&e.Title, "title")
		v.args.setText(&e.Status, "status")
		if _, given := v.args["publishAt"]; given {
			e.PublishAt = due
		}
		v.args.setText(&e.Category, "category")
		v.args.setText(&e.Author, "author")
		e.Content = merged(e.Content, change)
		if change["cover"] != nil {
			e.FeaturedImage = coverImage(change)
		}
		if v.args.has("featuredImage") {
			e.FeaturedImage = featured
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return p.tellEntry(ctx, v, e.ID, notes)
}

// publishAt is the input of a tool that publishes later.
func publishAt() registry.InputField {
	return parentInput("publishAt", "When the house publishes the draft, as RFC 3339 such as 2026-12-24T18:00:00Z; it has to be confirmed as publishing has. null takes it back.")
}

// featured is the image that a call names as featuredImage.
func (p *Provider) featured(ctx context.Context, v visit) (*string, error) {
	if !v.args.has("featuredImage") {
		return nil, nil
	}
	id, err := v.imageID("featuredImage")
	if err == nil {
		err = p.haveImages(ctx, v, []string{id})
	}
	return &id, err
}

// asApproved refuses a call whose owner approved it for something that was changed since.
func (v visit) asApproved(now registry.Touch) error {
	same := func(t registry.Touch) bool { return t.ID == now.ID && t.Version == now.Version }
	if len(v.approved) > 0 && !slices.ContainsFunc(v.approved, same) {
		return registry.Say(registry.CodeInvalidInput, said.SiteChangedSince, "title", now.Title)
	}
	return nil
}

// entryThing is a post or entry that would be deleted.
func entryThing(e store.Entry) thing {
	return thing{Touch: touchEntry(e), shown: map[string]any{"id": e.ID, "slug": e.Slug, "title": e.Title, "status": e.Status}}
}

var postDeletion = deletion{
	noun: "post", question: said.SiteDeletePosts, key: "slugs", note: "To take a post out of sight and keep it, archive it instead: updatePost with status archived. What is deleted can be restored for 30 days.",
	find: func(ctx context.Context, v visit, keys []string) ([]thing, error) {
		posts, err := v.Entries(ctx, store.EntryQuery{Kind: store.KindPost, Slugs: keys})
		things := map[string]thing{}
		for _, e := range posts {
			things[e.Slug] = entryThing(e)
		}
		return inOrder(keys, things, "post", "slug"), err
	},
	delete: func(ctx context.Context, v visit, shown []registry.Touch) error { return v.DeleteEntries(ctx, shown) },
}
