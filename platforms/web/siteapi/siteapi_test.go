package siteapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/platforms/web/siteapi"
	"github.com/signalbox/signalbox/providers/content/contenttest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

type object = contenttest.Object

// api is a site over HTTP.
type api struct {
	*contenttest.House
	t       *testing.T
	handler http.Handler
	account string // who asks
}

func newAPI(t *testing.T) *api {
	a := &api{House: contenttest.New(t), t: t, account: contenttest.Operator}
	a.handler = siteapi.Handler(siteapi.Config{
		Site: func(slug string, _ bool) siteapi.Site { return a.In(slug) }, Media: a.Files, Caller: func(context.Context) (users.Account, bool) { return users.Account{ID: a.account}, true },
		Put: func(ctx context.Context, _ string, r io.Reader, name string) (registry.Media, error) {
			ref, _, err := a.Files.Keep(ctx, r, assets.Meta{Name: name})
			return ref, err
		},
	})
	return a
}

// ask sends a request and gives the answer, which has to have a status.
func (a *api) ask(want int, method, path string, body any) object {
	a.t.Helper()
	raw, kind := new(bytes.Buffer), "application/json"
	switch b := body.(type) {
	case nil:
	case *multipart.Writer:
		a.t.Fatal("send the form's bytes")
	case form:
		raw, kind = b.content, b.kind
	default:
		if err := json.NewEncoder(raw).Encode(b); err != nil {
			a.t.Fatal(err)
		}
	}
	r := httptest.NewRequest(method, siteapi.Root+path, raw)
	r.Header.Set("Content-Type", kind)
	w := httptest.NewRecorder()
	a.handler.ServeHTTP(w, r)
	var answer object
	d := json.NewDecoder(w.Body)
	d.UseNumber()
	if err := d.Decode(&answer); err != nil || w.Code != want {
		a.t.Fatalf("%s %s: %d, expected %d: %v, %v", method, path, w.Code, want, answer, err)
	}
	return answer
}

// status sends a request to a whole address and gives the status of its answer.
func (a *api) status(method, address string, body any) int {
	a.t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		a.t.Fatal(err)
	}
	w := httptest.NewRecorder()
	a.handler.ServeHTTP(w, httptest.NewRequest(method, address, bytes.NewReader(raw)))
	return w.Code
}

type form struct {
	content *bytes.Buffer
	kind    string
}

// same checks that an address and a tool give the same.
func (a *api) same(path, tool string, inputs object) {
	a.t.Helper()
	if d := cmp.Diff(a.Do(tool, inputs), a.ask(200, "GET", path, nil)); d != "" {
		a.t.Errorf("%s and %s differ: %s", path, tool, d)
	}
}

func TestLanguages(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	page := a.Page("about")
	a.Do("createPost", object{"collectionSlug": "blog", "slug": "mugs", "title": "Mugs", "content": object{"body": "B"}})
	entry := a.Do("createEntry", object{"collectionId": "glossary", "slug": "kiln", "title": "Kiln"})["entryId"].(string)
	for path, change := range map[string]object{"/pages/about": {"name": "Über uns"}, "/posts/mugs": {"title": "Tassen"}, "/collections/glossary/entries/" + entry: {"title": "Ofen"}} {
		change["locale"] = "de"
		a.ask(200, "PATCH", path, change)
		a.account = contenttest.Author
		gone := object{"locale": "de", "status": "archived"}
		a.ask(403, "PATCH", path, gone)
		a.account = contenttest.Operator
		a.ask(200, "PATCH", path, gone)
		a.ask(422, "PATCH", path, gone)
	}
	a.ask(200, "PATCH", "/pages/about", object{"locale": "de", "name": "Wir"})
	if got := a.ask(200, "GET", "/pages/about?includeContent=true", nil)["items"].([]any)[0].(object)["translations"].([]any); len(got) != 1 || got[0].(object)["title"] != "Wir" {
		t.Errorf("got %v", got)
	}
	a.same("/pages/"+page+"?includeContent=true", "getPage", object{"id": page, "includeContent": true})
}

func TestPages(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	t.Run("D133 D134 D135 D136 pages", func(t *testing.T) {
		made := a.ask(201, "POST", "/pages", object{"name": "About", "slug": "about", "meta": object{"a": 1}})
		a.Page("other")
		a.same("/pages", "getPage", object{"all": true})
		a.same("/pages?includeContent=true", "getPage", object{"all": true, "includeContent": true})
		a.same("/pages/about", "getPage", object{"slug": "about"})
		a.same("/pages/"+made["pageId"].(string)+"?includeChildren=true", "getPage", object{"slug": "about", "includeChildren": true})
		changed := a.ask(200, "PATCH", "/pages/about", object{"name": "Us", "meta": object{"b": 2}})
		if d := cmp.Diff(changed["page"], any(a.Items("getPage", object{"slug": "about"})[0])); d != "" || changed["page"].(object)["name"] != "Us" {
			t.Error(d)
		}
		a.ask(404, "GET", "/pages/nothing", nil)
		a.ask(404, "PATCH", "/pages/nothing", object{"name": "x"})
		if got := a.ask(422, "POST", "/pages", object{"name": "About", "slug": "about"}); got["field"] != "slug" || got["code"] != "invalid_input" {
			t.Errorf("got %v", got)
		}
		a.ask(422, "POST", "/pages", object{"name": "About", "slug": "b", "colour": "red"})
		a.ask(422, "POST", "/pages", []any{1})
	})
	t.Run("D138 D139 D140 D141 D142 D143 sections", func(t *testing.T) {
		one := a.ask(201, "POST", "/pages/about/sections", object{"templateKey": "hero", "content": object{"heading": "Hi"}})["pageSectionId"].(string)
		two := a.ask(201, "POST", "/pages/about/sections", object{"templateKey": "richText"})["pageSectionId"].(string)
		page := a.Items("getPage", object{"slug": "about"})[0]["id"]
		a.same("/pages/about/sections?includeContent=true", "getSection", object{"pageId": page, "includeContent": true})
		if got := a.ask(200, "POST", "/pages/about/sections/"+one+"/publish", nil)["section"].(object)["status"]; got != "published" {
			t.Errorf("got %v", got)
		}
		if got := a.ask(200, "POST", "/pages/about/sections/"+one+"/publish", object{"status": "unpublished"})["section"].(object)["status"]; got != "unpublished" {
			t.Errorf("got %v", got)
		}
		if got := a.ask(200, "POST", "/pages/about/sections/"+one+"/visibility", object{"hidden": true})["section"].(object)["hidden"]; got != true {
			t.Errorf("got %v", got)
		}
		a.ask(422, "POST", "/pages/about/sections/"+one+"/visibility", object{})
		ordered := a.ask(200, "POST", "/pages/about/sections/order", object{"order": []any{two, one}})
		if d := cmp.Diff(ordered, a.Do("getSection", object{"pageId": page})); d != "" || ordered["items"].([]any)[0].(object)["pageSectionId"] != two {
			t.Error(d, ordered)
		}
		for _, bad := range []any{object{"order": []any{one}}, object{"order": []any{one, one}}, object{"order": "x"}, object{}} {
			a.ask(422, "POST", "/pages/about/sections/order", bad)
		}
		if got := a.ask(200, "PATCH", "/pages/about/sections/"+one, object{"content": object{"heading": "Ho"}}); got["section"].(object)["content"].(object)["heading"] != "Ho" {
			t.Errorf("got %v", got)
		}
		if got := a.ask(200, "DELETE", "/pages/about/sections/"+one, nil); got["requiresConfirmation"] != true {
			t.Errorf("got %v", got)
		}
		a.ask(200, "DELETE", "/pages/about/sections/"+one+"?confirmed=true", nil)
		if got := a.Items("getSection", object{"pageId": page}); len(got) != 1 {
			t.Errorf("got %v", got)
		}
	})
	t.Run("D137 a page is shown, then deleted, and comes back from the bin", func(t *testing.T) {
		if got := a.ask(200, "DELETE", "/pages/about?confirmed=true", nil); got["requiresConfirmation"] != true {
			t.Errorf("confirmed before it was shown: %v", got)
		}
		if got := a.ask(200, "DELETE", "/pages/about?confirmed=true", nil); len(got["deleted"].([]any)) != 1 {
			t.Errorf("got %v", got)
		}
		a.ask(404, "GET", "/pages/about", nil)
		bin := a.ask(200, "GET", "/bin", nil)["items"].([]any)
		a.ask(200, "POST", fmt.Sprintf("/bin/%v/restore", bin[0].(object)["id"]), nil)
		a.ask(200, "GET", "/pages/about", nil)
		a.ask(404, "POST", "/bin/999999/restore", nil)
		a.ask(404, "POST", "/bin/x/restore", nil)
		a.Do("updatePage", object{"id": a.Items("getPage", object{"slug": "about"})[0]["id"], "isProtected": true})
		if got := a.ask(409, "DELETE", "/pages/about", nil); got["success"] != false {
			t.Errorf("got %v", got)
		}
	})
}

func TestHistory(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	page := a.Page("about")
	section := a.Section(page, "richText", object{"body": "first"}, object{"status": "published"})
	image := a.Image("mug.png", 1)
	item := a.Do("createNavItem", object{"navigationId": "main", "label": "One", "targetType": "placeholder"})["navItemId"].(string)
	entry := a.Do("createEntry", object{"collectionId": "glossary", "slug": "mug", "title": "Mug", "content": object{"body": "first"}})["entryId"].(string)
	changes := []struct {
		kind, id, tool string
		change         object
	}{
		{"page", page, "updatePage", object{"id": page, "name": "Us", "meta": object{"a": 1}}}, {"section", section, "updateSection", object{"pageSectionId": section, "content": object{"body": "second"}}},
		{"image", image, "updateImage", object{"id": image, "description": "Another", "tags": []any{"b"}}}, {"navItem", item, "updateNavItem", object{"id": item, "label": "Two"}},
		{"entry", entry, "updateEntry", object{"id": entry, "title": "Cup", "content": object{"body": "second"}, "status": "published"}},
	}
	for _, c := range changes {
		a.Do(c.tool, c.change)
		versions := a.ask(200, "GET", "/history/"+c.kind+"/"+c.id, nil)["items"].([]any)
		if len(versions) != 2 || versions[0].(object)["changedBy"] != contenttest.Operator {
			t.Errorf("%s: %v", c.kind, versions)
			continue
		}
		a.ask(200, "POST", fmt.Sprintf("/history/%v/restore", versions[1].(object)["id"]), nil)
	}
	if got := a.Items("getPage", object{"id": page})[0]; got["name"] != "About" || len(got["meta"].(object)) != 0 {
		t.Errorf("page: %v", got)
	}
	if got := a.Items("getSection", object{"pageSectionId": section, "includeContent": true})[0]; got["content"].(object)["body"] != "first" || got["status"] != "published" || got["version"] != json.Number("3") {
		t.Errorf("section: %v", got)
	}
	if got := a.Items("getImage", object{"query": "mug"}); len(got) != 1 || got[0]["description"] != "mug" {
		t.Errorf("image: %v", got)
	}
	if got := a.Items("getNavItem", object{"id": item})[0]["label"]; got != "One" {
		t.Errorf("item: %v", got)
	}
	if got := a.Items("getEntry", object{"id": entry, "includeContent": true})[0]; got["title"] != "Mug" || got["content"].(object)["body"] != "first" || got["status"] != "published" {
		t.Errorf("entry: %v", got)
	}
	a.ask(404, "POST", "/history/999999/restore", nil)
}

func TestMenusEntriesAndMedia(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	t.Run("D144 D145 D146 menus", func(t *testing.T) {
		if got := a.ask(200, "GET", "/navigations", nil)["items"].([]any); len(got) != 2 || got[0].(object)["slug"] != "footer" || got[1].(object)["slug"] != "main" {
			t.Errorf("got %v", got)
		}
		item := a.ask(201, "POST", "/navigations/main/items", object{"label": "Shop", "targetType": "url", "url": "/site/shop"})["navItemId"].(string)
		a.same("/navigations/main", "getNavItem", object{"navigationId": "main", "all": true})
		a.same("/navigations/footer", "getNavItem", object{"navigationId": "footer", "all": true})
		a.ask(422, "GET", "/navigations/nowhere", nil)
		a.ask(200, "PATCH", "/navigations/main/items/"+item, object{"visible": false})
		a.ask(200, "DELETE", "/navigations/main/items/"+item, nil)
		a.ask(200, "DELETE", "/navigations/main/items/"+item+"?confirmed=true", nil)
		if got := a.Items("getNavItem", object{"navigationId": "main", "all": true}); len(got) != 0 {
			t.Errorf("got %v", got)
		}
	})
	t.Run("D147 D148 D149 entries", func(t *testing.T) {
		if got := a.ask(200, "GET", "/collections", nil)["items"].([]any); len(got) != 2 || got[0].(object)["slug"] != "blog" {
			t.Errorf("got %v", got)
		}
		entry := a.ask(201, "POST", "/collections/glossary/entries", object{"slug": "mug", "title": "Mug", "content": object{"body": "x"}})["entryId"].(string)
		a.same("/collections/glossary/entries", "getEntry", object{"collectionId": "glossary", "all": true})
		a.same("/collections/glossary/entries?includeContent=true&status=draft", "getEntry", object{"collectionId": "glossary", "includeContent": true, "status": "draft"})
		a.ask(200, "PATCH", "/collections/glossary/entries/"+entry, object{"status": "published"})
		a.ask(200, "DELETE", "/collections/glossary/entries/"+entry, nil)
		a.ask(200, "DELETE", "/collections/glossary/entries/"+entry+"?confirmed=true", nil)
		if got := a.Items("getEntry", object{"all": true}); len(got) != 0 {
			t.Errorf("got %v", got)
		}
	})
	t.Run("posts", func(t *testing.T) {
		a.ask(201, "POST", "/posts", object{"collectionSlug": "blog", "slug": "new", "title": "New", "content": object{"body": "x"}})
		a.same("/posts", "getPost", object{"all": true})
		a.same("/posts/new", "getPost", object{"slug": "new"})
		if got := a.ask(200, "PATCH", "/posts/new", object{"status": "published"}); got["requiresConfirmation"] != true {
			t.Errorf("got %v", got)
		}
		a.ask(200, "PATCH", "/posts/new", object{"status": "published", "confirmed": true})
		a.ask(200, "DELETE", "/posts/new", nil)
		a.ask(404, "GET", "/posts/nothing", nil)
	})
	t.Run("D150 D151 D152 media", func(t *testing.T) {
		var content bytes.Buffer
		w := multipart.NewWriter(&content)
		part, err := w.CreateFormFile("file", "blue-kettle.png")
		if err != nil {
			t.Fatal(err)
		}
		file, _, err := a.Files.OpenMedia(t.Context(), a.Picture("x.png", 20, 10, 3))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(part, file); err != nil {
			t.Fatal(err)
		}
		file.Close()
		w.Close()
		made := a.ask(201, "POST", "/media", form{&content, w.FormDataContentType()})
		id := made["imageId"].(string)
		if got := made["image"].(object); got["filename"] != "blue-kettle.png" || got["width"] != json.Number("20") {
			t.Errorf("got %v", made)
		}
		a.ask(201, "POST", "/media", object{"buffer": a.Picture("y.png", 10, 10, 4), "filename": "y.png"})
		a.same("/media", "getImage", object{"all": true})
		a.same("/media?limit=1", "getImage", object{"all": true, "limit": 1})
		a.same("/media?query=kettles", "getImage", object{"query": "kettles"})
		a.same("/media/"+id, "getImage", object{"id": id})
		a.ask(200, "PATCH", "/media/"+id, object{"description": "A kettle"})
		a.ask(200, "DELETE", "/media/"+id, nil)
		a.ask(200, "DELETE", "/media/"+id+"?confirmed=true", nil)
		a.ask(404, "GET", "/media/"+id, nil)
	})
	t.Run("D153 D154 nothing makes or deletes navigations, collections and languages", func(t *testing.T) {
		for _, pattern := range siteapi.Changes() {
			if strings.HasSuffix(pattern, "/navigations") || strings.HasSuffix(pattern, "/collections") || strings.Contains(pattern, "locale") {
				t.Errorf("%s", pattern)
			}
		}
	})
}

func TestRights(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	as := func(account string, want int, method, path string, body any) {
		t.Helper()
		a.account = account
		a.ask(want, method, path, body)
		a.account = contenttest.Operator
	}
	t.Run("who has no role sees nothing and does nothing", func(t *testing.T) {
		for _, pattern := range append(siteapi.Reads(), siteapi.Changes()...) {
			method, path, _ := strings.Cut(pattern, " ")
			if strings.HasSuffix(path, "/sites") {
				a.account = contenttest.Stranger
				if got := a.ask(200, "GET", "/sites", nil); got["count"] != json.Number("0") {
					t.Errorf("somebody without a role has %v", got)
				}
				continue
			}
			path = strings.NewReplacer("{account}", contenttest.Author, "{id}", "1").Replace(strings.TrimPrefix(path, siteapi.Root))
			body := map[string]any{"PUT": object{"role": "owner"}, "POST": object{"hidden": true}}[method]
			if strings.HasSuffix(path, "/order") {
				body = object{"order": []any{}}
			}
			a.account = contenttest.Stranger
			raw, _ := json.Marshal(body)
			w := httptest.NewRecorder()
			a.handler.ServeHTTP(w, httptest.NewRequest(method, siteapi.Root+path, bytes.NewReader(raw)))
			if w.Code != http.StatusForbidden && w.Code != http.StatusUnprocessableEntity {
				t.Errorf("%s: %d %s", pattern, w.Code, w.Body)
			}
		}
		a.account = contenttest.Operator
	})
	t.Run("owners give roles, and nobody else", func(t *testing.T) {
		for _, account := range []string{contenttest.Editor, contenttest.Author, contenttest.Stranger} {
			as(account, 403, "PUT", "/members/"+contenttest.Stranger, object{"role": "owner"})
			as(account, 403, "GET", "/members", nil)
		}
		as(contenttest.Stranger, 403, "GET", "/pages", nil)
		a.ask(200, "PUT", "/members/"+contenttest.Stranger, object{"role": "editor"})
		as(contenttest.Stranger, 201, "POST", "/pages", object{"name": "Mine", "slug": "mine"})
		if got := a.ask(200, "GET", "/members", nil)["count"]; got != json.Number("3") {
			t.Errorf("%v members", got)
		}
		a.ask(200, "PUT", "/members/"+contenttest.Stranger, object{"role": "none"})
		as(contenttest.Stranger, 403, "GET", "/pages", nil)
		a.ask(422, "PUT", "/members/"+contenttest.Stranger, object{"role": "king"})
		a.ask(422, "PUT", "/members/nobody", object{"role": "owner"})
	})
	t.Run("owners say what the site is called", func(t *testing.T) {
		as(contenttest.Editor, 403, "PATCH", "", object{"title": "Mine"})
		if got := a.ask(200, "PATCH", "", object{"title": "Kiln", "language": "de"}); got["title"] != "Kiln" || got["language"] != "de" {
			t.Errorf("got %v", got)
		}
		a.ask(422, "PATCH", "", object{"title": 3})
	})
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	paths := siteapi.Describe()
	for _, pattern := range append(siteapi.Reads(), siteapi.Changes()...) {
		method, path, _ := strings.Cut(pattern, " ")
		item, _ := paths[path].(map[string]any)
		if item[strings.ToLower(method)] == nil {
			t.Errorf("%s is not described", pattern)
		}
	}
}
