package siteapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/registry"
)

// shape is what an address answers.
type shape int

const (
	plainly shape = iota
	creates       // with 201
	finds         // one thing, which has to be there
)

// address is one address and what it does.
type address struct {
	method, path string // below Root
	summary      string
	shape        shape
	do           func(s server, in request) (any, error)
}

func (a address) pattern() string { return a.method + " " + Root + a.path }

// Reads are the patterns of the addresses that only look.
func Reads() []string { return patterns(true) }

// Changes are the patterns of the addresses that change something.
func Changes() []string { return patterns(false) }

func patterns(reads bool) (list []string) {
	for _, a := range addresses {
		if (a.method == http.MethodGet) == reads {
			list = append(list, a.pattern())
		}
	}
	return list
}

// ofPage calls a tool for the page that the path names.
func ofPage(tool string, inputs func(in request, page string) map[string]any) func(s server, in request) (any, error) {
	return func(s server, in request) (any, error) {
		page, err := s.page(in)
		if err != nil {
			return nil, err
		}
		return s.use(in, tool, inputs(in, page))
	}
}

// of calls a tool with inputs that path and query give.
func of(tool string, inputs func(in request) map[string]any) func(s server, in request) (any, error) {
	return func(s server, in request) (any, error) { return s.use(in, tool, inputs(in)) }
}

// one deletes what the path names, once ?confirmed=true says so and it was shown before.
func one(tool, key, part string) func(s server, in request) (any, error) {
	return of(tool, func(in request) map[string]any {
		inputs := query(in, []string{"confirmed"}, nil)
		inputs[key] = []any{in.PathValue(part)}
		return inputs
	})
}

func part(name, input string) func(in request) map[string]any {
	return func(in request) map[string]any { return map[string]any{input: in.PathValue(name)} }
}

func nothing(request) map[string]any { return nil }

// addresses are all there are.
var addresses = []address{
	{http.MethodGet, "/pages", "The pages, without their sections", plainly, of("getPage", func(in request) map[string]any {
		inputs := query(in, []string{"includeContent", "includeChildren"}, []string{"parentId"})
		if inputs["parentId"] == nil {
			inputs["all"] = true
		}
		return inputs
	})},
	{http.MethodPost, "/pages", "Create a page", creates, of("createPage", nothing)},
	{http.MethodGet, "/pages/{page}", "A page, by its slug or id", finds, ofPage("getPage", func(in request, page string) map[string]any {
		inputs := query(in, []string{"includeContent", "includeChildren"}, nil)
		inputs["id"] = page
		return inputs
	})},
	{http.MethodPatch, "/pages/{page}", "Change a page", plainly, ofPage("updatePage", func(_ request, page string) map[string]any { return map[string]any{"id": page} })},
	{http.MethodDelete, "/pages/{page}", "Show what would be deleted, or with ?confirmed=true delete what was shown", plainly, ofPage("deletePage", func(in request, page string) map[string]any {
		inputs := query(in, []string{"confirmed"}, nil)
		inputs["ids"] = []any{page}
		return inputs
	})},
	{http.MethodGet, "/pages/{page}/sections", "The sections of a page in their order", plainly, ofPage("getSection", func(in request, page string) map[string]any {
		inputs := query(in, []string{"includeContent"}, nil)
		inputs["pageId"] = page
		return inputs
	})},
	{http.MethodPost, "/pages/{page}/sections", "Create a section", creates, ofPage("createSection", func(_ request, page string) map[string]any { return map[string]any{"pageId": page} })},
	{http.MethodPost, "/pages/{page}/sections/order", "Put the sections into an order", plainly, server.order},
	{http.MethodPatch, "/pages/{page}/sections/{section}", "Change a section", plainly, of("updateSection", part("section", "pageSectionId"))},
	{http.MethodDelete, "/pages/{page}/sections/{section}", "Show what would be deleted, or with ?confirmed=true delete what was shown", plainly, one("deleteSection", "ids", "section")},
	{http.MethodPost, "/pages/{page}/sections/{section}/publish", "Publish a section, or give it another status", plainly, of("updateSection", func(in request) map[string]any {
		inputs := map[string]any{"pageSectionId": in.PathValue("section")}
		if in.body["status"] == nil {
			inputs["status"] = "published"
		}
		return inputs
	})},
	{http.MethodPost, "/pages/{page}/sections/{section}/visibility", "Hide a section or show it", plainly, server.visibility},
	{http.MethodGet, "/templates", "The templates of sections", plainly, of("getSectionTemplate", func(request) map[string]any { return map[string]any{"all": true} })},
	{http.MethodGet, "/navigations", "The menus", plainly, func(_ server, in request) (any, error) { return in.site.Navigations(in.Context(), in.account) }},
	{http.MethodGet, "/navigations/{navigation}", "The items of a menu", plainly, of("getNavItem", func(in request) map[string]any {
		return map[string]any{"navigationId": in.PathValue("navigation"), "all": true}
	})},
	{http.MethodPost, "/navigations/{navigation}/items", "Create an item", creates, of("createNavItem", part("navigation", "navigationId"))},
	{http.MethodPatch, "/navigations/{navigation}/items/{item}", "Change an item", plainly, of("updateNavItem", part("item", "id"))},
	{http.MethodDelete, "/navigations/{navigation}/items/{item}", "Show what would be deleted, or with ?confirmed=true delete what was shown", plainly, one("deleteNavItem", "ids", "item")},
	{http.MethodGet, "/collections", "The collections", plainly, func(_ server, in request) (any, error) { return in.site.Collections(in.Context(), in.account) }},
	{http.MethodGet, "/collections/{collection}/entries", "The entries of a collection", plainly, of("getEntry", func(in request) map[string]any {
		inputs := query(in, []string{"includeContent"}, []string{"status"})
		inputs["collectionId"], inputs["all"] = in.PathValue("collection"), true
		return inputs
	})},
	{http.MethodPost, "/collections/{collection}/entries", "Create an entry", creates, of("createEntry", part("collection", "collectionId"))},
	{http.MethodPatch, "/collections/{collection}/entries/{entry}", "Change an entry", plainly, of("updateEntry", part("entry", "id"))},
	{http.MethodDelete, "/collections/{collection}/entries/{entry}", "Show what would be deleted, or with ?confirmed=true delete what was shown", plainly, one("deleteEntry", "ids", "entry")},
	{http.MethodGet, "/posts", "The posts", plainly, of("getPost", func(in request) map[string]any {
		inputs := query(in, nil, []string{"collectionSlug", "status", "category"})
		inputs["all"] = true
		return inputs
	})},
	{http.MethodPost, "/posts", "Create a post, as a draft", creates, of("createPost", nothing)},
	{http.MethodGet, "/posts/{slug}", "A post", finds, of("getPost", part("slug", "slug"))},
	{http.MethodPatch, "/posts/{slug}", "Change a post", plainly, of("updatePost", part("slug", "slug"))},
	{http.MethodDelete, "/posts/{slug}", "Show what would be deleted, or with ?confirmed=true delete what was shown", plainly, one("deletePost", "slugs", "slug")},
	{http.MethodGet, "/media", "The images, or those that ?query= finds", plainly, of("getImage", func(in request) map[string]any {
		inputs := query(in, nil, []string{"query", "limit", "status"})
		if limit, ok := inputs["limit"].(string); ok {
			if _, err := strconv.Atoi(limit); err == nil {
				inputs["limit"] = jsonNumber(limit)
			}
		}
		if inputs["query"] == nil {
			inputs["all"] = true
		}
		return inputs
	})},
	{http.MethodPost, "/media", "Bring an image, as a form with a file, or by the reference of an upload as buffer", creates, of("createImage", nothing)},
	{http.MethodGet, "/media/{image}", "An image", finds, of("getImage", part("image", "id"))},
	{http.MethodPatch, "/media/{image}", "Change what is known of an image", plainly, of("updateImage", part("image", "id"))},
	{http.MethodDelete, "/media/{image}", "Show what would be deleted and where it is used, or with ?confirmed=true delete what was shown", plainly, one("deleteImage", "ids", "image")},
	{http.MethodGet, "/members", "Who has a role, for owners", plainly, func(_ server, in request) (any, error) { return in.site.Members(in.Context(), in.account) }},
	{http.MethodPut, "/members/{account}", "Give an account a role: owner, editor, author or none", plainly, server.member},
	{http.MethodGet, "/bin", "What was deleted within 30 days", plainly, func(_ server, in request) (any, error) { return in.site.Bin(in.Context(), in.account) }},
	{http.MethodPost, "/bin/{id}/restore", "Bring something back", plainly, func(s server, in request) (any, error) { return numbered(in, in.site.Restore) }},
	{http.MethodGet, "/history/{kind}/{id}", "The versions of something, the latest first: page, section, entry, translation, navItem or image", plainly, func(s server, in request) (any, error) {
		return in.site.History(in.Context(), in.account, in.PathValue("kind"), in.PathValue("id"))
	}},
	{http.MethodPost, "/history/{id}/restore", "Give something the content of one of its versions", plainly, func(s server, in request) (any, error) { return numbered(in, in.site.Revert) }},
	{http.MethodGet, "/sites", "The sites in which one has a role, and which: all other addresses take the slug of one as ?site=", plainly, func(_ server, in request) (any, error) { return in.site.Sites(in.Context(), in.account) }},
	{http.MethodPatch, "", "Say what the site is called: title, description, language", plainly, server.describe},
}

// jsonNumber is a whole number as JSON has it.
func jsonNumber(text string) any { return json.Number(text) }

// only refuses members of the body that are none of some.
func (in request) only(names ...string) error {
	for name := range in.body {
		if !slices.Contains(names, name) {
			return &registry.Error{Code: registry.CodeInvalidInput, Field: name, Message: fmt.Sprintf("unknown field %q", name)}
		}
	}
	return nil
}

// text is a member of the body that has to be a text; absent it is empty.
func (in request) text(name string) (string, error) {
	switch value := in.body[name].(type) {
	case nil:
		return "", nil
	case string:
		return value, nil
	}
	return "", &registry.Error{Code: registry.CodeInvalidInput, Field: name, Message: name + ": expected a text"}
}

func (s server) order(in request) (any, error) {
	if err := in.only("order"); err != nil {
		return nil, err
	}
	page, err := s.page(in)
	if err != nil {
		return nil, err
	}
	list, ok := in.body["order"].([]any)
	var ids []string
	for _, value := range list {
		id, isText := value.(string)
		ok = ok && isText
		ids = append(ids, id)
	}
	if !ok {
		return nil, &registry.Error{Code: registry.CodeInvalidInput, Field: "order", Message: `expected {"order": [ids]}, each section of the page once`}
	}
	if err := in.site.OrderSections(in.Context(), in.account, page, ids); err != nil {
		return nil, err
	}
	return in.site.Use(in.Context(), in.account, "getSection", map[string]any{"pageId": page}, nil)
}

func (s server) visibility(in request) (any, error) {
	if err := in.only("hidden"); err != nil {
		return nil, err
	}
	if _, ok := in.body["hidden"].(bool); !ok {
		return nil, &registry.Error{Code: registry.CodeInvalidInput, Field: "hidden", Message: `expected {"hidden": true} or {"hidden": false}`}
	}
	return s.use(in, "updateSection", map[string]any{"pageSectionId": in.PathValue("section")})
}

func (s server) member(in request) (any, error) {
	err := in.only("role")
	if err != nil {
		return nil, err
	}
	role, err := in.text("role")
	if err == nil {
		err = in.site.SetRole(in.Context(), in.account, in.PathValue("account"), role)
	}
	return map[string]any{"success": true, "account": in.PathValue("account"), "role": role}, err
}

// numbered does something with what the path names by a number.
func numbered(in request, do func(ctx context.Context, account string, id int64) error) (any, error) {
	if err := in.only(); err != nil {
		return nil, err
	}
	id, err := strconv.ParseInt(in.PathValue("id"), 10, 64)
	if err != nil {
		return nil, errNothing
	}
	return map[string]any{"success": true}, do(in.Context(), in.account, id)
}

func (s server) describe(in request) (any, error) {
	if err := in.only("title", "description", "language"); err != nil {
		return nil, err
	}
	var texts [3]string
	for i, name := range []string{"title", "description", "language"} {
		var err error
		if texts[i], err = in.text(name); err != nil {
			return nil, err
		}
	}
	return in.site.Describe(in.Context(), in.account, texts[0], texts[1], texts[2])
}

type object = map[string]any

var pathParts = regexp.MustCompile(`\{([a-z]+)\}`)

// Describe gives the addresses as path items of the API's OpenAPI document, whose components have a response Problem.
func Describe() object {
	paths := object{}
	for _, a := range addresses {
		item, _ := paths[Root+a.path].(object)
		if item == nil {
			item = object{}
			parameters := []object{{"name": siteParameter, "in": "query", "description": "The slug of a group's site; without it, the house's", "schema": object{"type": "string"}}}
			for _, found := range pathParts.FindAllStringSubmatch(a.path, -1) {
				parameters = append(parameters, object{"name": found[1], "in": "path", "required": true, "schema": object{"type": "string"}})
			}
			item["parameters"] = parameters
			paths[Root+a.path] = item
		}
		item[strings.ToLower(a.method)] = a.operation()
	}
	return paths
}

func (a address) operation() object {
	answers := object{"application/json": object{"schema": object{"type": "object"}}}
	code := "200"
	if a.shape == creates {
		code = "201"
	}
	name := strings.Map(func(r rune) rune {
		if r == '/' || r == '{' || r == '}' {
			return '_'
		}
		return r
	}, a.path)
	operation := object{
		"operationId": "site_" + strings.ToLower(a.method) + name, "tags": []string{"site"}, "summary": a.summary,
		"responses": object{code: object{"description": a.summary, "content": answers}, "default": object{"$ref": "#/components/responses/Problem"}},
	}
	if a.method == http.MethodPost || a.method == http.MethodPatch || a.method == http.MethodPut {
		operation["requestBody"] = object{"content": answers}
	}
	return operation
}
