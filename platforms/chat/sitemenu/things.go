package sitemenu

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
)

// thing is a post, a page, a picture, a section or a template, as the site's tools tell it.
type thing struct {
	ID, Slug, Title, Name, Description, Filename, Status string
	Category, Author, URL, PreviewURL                    string
	PageSectionID, PageID, TemplateKey, Key, Error       string
	Content                                              map[string]any
	UpdatedAt                                            time.Time
	Fields                                               []struct{ Name, Type string }
}

// answer is what a tool of the site answers; each tool sets some of the members.
type answer struct {
	Success, RequiresConfirmation bool
	Items                         []thing
	ImageID, URL                  string
	Section                       thing
}

// The states that visitors see, and don't.
const (
	published   = "published"
	unpublished = "unpublished" // of sections
	draft       = "draft"
)

// kind is one of the kinds of things that have lists: the tools for it, and the names of their inputs.
type kind struct {
	noun                string // in keys of texts
	get, update, remove string // tools
	one, several        string // the inputs that name one, and those to be deleted
	name                string // the input of update with what people call it
	edits               []string
}

// body is the text of a post, which is a member of its content.
const body = "body"

// The kinds, in the order of the menu.
func kinds() []kind {
	return []kind{
		{"post", "getPost", "updatePost", "deletePost", "slug", "slugs", "title", []string{"title", body, "category", "author"}},
		{"page", "getPage", "updatePage", "deletePage", "id", "ids", "name", []string{"name", "slug"}},
		{"image", "getImage", "updateImage", "deleteImage", "id", "ids", "description", []string{"description"}},
	}
}

// kindOf gives the kind of a noun, or the first.
func kindOf(noun string) kind {
	for _, k := range kinds() {
		if k.noun == noun {
			return k
		}
	}
	return kinds()[0]
}

// key is what names a thing to the tools of its kind.
func (k kind) key(one thing) string {
	if k.one == "slug" {
		return one.Slug
	}
	return one.ID
}

// title is what people call a thing.
func (t thing) title() string {
	return cmp.Or(t.Title, t.Name, t.Description, t.Filename, t.Slug, t.ID)
}

// value is what a thing has for an input of the tool that updates it.
func (t thing) value(name string) string {
	if name == body {
		text, _ := t.Content[body].(string)
		return text
	}
	return map[string]string{"title": t.Title, "name": t.Name, "slug": t.Slug, "description": t.Description, "category": t.Category, "author": t.Author}[name]
}

// use carries out a tool of the site for the sender.
func use(ctx context.Context, t *turn.Turn, tool string, inputs map[string]any) (answer, error) {
	var a answer
	here, err := t.Site(ctx)
	if err != nil {
		return a, err
	}
	raw, err := t.Services.Site.Use(ctx, here.Slug, t.Account.ID, tool, inputs)
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		return a, fmt.Errorf("answer of %s: %w", tool, err)
	}
	return a, nil
}

// most is how many pictures a list has; of the others there are all.
const most = 200

// list gets all things of a kind, the latest first where they have a time.
func (k kind) list(ctx context.Context, t *turn.Turn) ([]thing, error) {
	inputs := map[string]any{"all": true}
	if k.noun == "image" {
		inputs["limit"] = json.Number(fmt.Sprint(most))
	}
	a, err := use(ctx, t, k.get, inputs)
	return a.Items, err
}

// find gets one thing; ok is false where there is none any more.
func (k kind) find(ctx context.Context, t *turn.Turn, key string) (one thing, ok bool, err error) {
	a, err := use(ctx, t, k.get, map[string]any{k.one: key})
	if err != nil || len(a.Items) == 0 {
		return thing{}, false, err
	}
	return a.Items[0], true, nil
}

// field is an input that is typed by hand, as the tool describes it.
func (k kind) field(t *turn.Turn, name string) registry.InputField {
	if tool, ok := t.Tools.ByID(k.update); ok {
		if f, ok := tool.InputSchema.Get(name); ok {
			return f
		}
	}
	return registry.InputField{Name: name, Type: registry.TypeString, DisplayName: t.Say.Line("sitework.field." + name), Multiline: name == body}
}

// change updates a thing by what was typed.
func (k kind) change(ctx context.Context, t *turn.Turn, key string, values map[string]string) error {
	inputs := map[string]any{k.one: key}
	for name, value := range values {
		if name == body {
			inputs["content"] = map[string]any{body: value}
			continue
		}
		inputs[name] = value
	}
	_, err := use(ctx, t, k.update, inputs)
	return err
}
