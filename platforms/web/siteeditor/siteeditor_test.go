package siteeditor_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/browsertest"
	"github.com/signalbox/signalbox/platforms/web/siteapi"
	"github.com/signalbox/signalbox/platforms/web/siteeditor"
	"github.com/signalbox/signalbox/providers/content/contenttest"
	"github.com/signalbox/signalbox/providers/content/site"
	"github.com/signalbox/signalbox/providers/content/store"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

type object = contenttest.Object

// desk is the editor with the site and its addresses, as the program mounts them, for one account.
type desk struct {
	*contenttest.House
	*httptest.Server
	t       *testing.T
	account string
	made    string // what a run of the account made
}

func newDesk(t *testing.T, account string) *desk {
	d := &desk{House: contenttest.New(t), t: t, account: account}
	mux := http.NewServeMux()
	d.Server = httptest.NewServer(mux)
	t.Cleanup(d.Close)
	base, err := url.Parse(d.URL + "/site")
	if err != nil {
		t.Fatal(err)
	}
	open := func(ctx context.Context, ref registry.Media) (io.ReadCloser, error) {
		file, _, err := d.Files.OpenMedia(ctx, ref)
		return file, err
	}
	public, err := site.NewSites(site.Config{
		Store: d.Store, Slug: store.House, Templates: d.Templates, Base: base, Key: []byte("a key that nobody else has"), Open: open,
		Picture: func(ctx context.Context, ref registry.Media, _ int) (string, []byte, error) {
			return "", nil, assets.ErrNoThumbnail
		},
		Member: func(context.Context) bool { return false },
	})
	if err != nil {
		t.Fatal(err)
	}
	caller := func(context.Context) (users.Account, bool) { return users.Account{ID: d.account}, true }
	editor, err := siteeditor.Handler(siteeditor.Config{Caller: caller, CSRF: func(context.Context) string { return "token" }})
	if err != nil {
		t.Fatal(err)
	}
	api := siteapi.Handler(siteapi.Config{Site: func(slug string, _ bool) siteapi.Site { return d.In(slug) }, Media: d.Files, Caller: caller, Put: func(ctx context.Context, _ string, r io.Reader, name string) (registry.Media, error) {
		ref, _, err := d.Files.Keep(ctx, r, assets.Meta{Name: name})
		return ref, err
	}})
	mux.Handle(siteeditor.Root, editor)
	mux.Handle("/api/site", api)
	mux.Handle("/api/site/", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Header.Get("X-CSRF-Token") != "token" {
			t.Errorf("%s %s came without the page's token", r.Method, r.URL)
		}
		api.ServeHTTP(w, r)
	}))
	mux.HandleFunc("GET /api/runs", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"runs": [{"outputs": [{"type": "image", "alt": "A fox", "url": "/files/00/%s/fox.png"}]}]}`, strings.TrimPrefix(d.made, "asset:"))
	})
	mux.Handle("/site/", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		before, after, found := strings.Cut(strings.TrimPrefix(r.URL.Path, "/site"), "/preview/")
		if kind, id, _ := strings.Cut(after, "/"); found && !r.URL.Query().Has("sig") { // the tools of tests don't sign
			http.Redirect(w, r, public.Of(cmp.Or(strings.Trim(before, "/"), store.House)).Preview(kind, id), http.StatusFound)
			return
		}
		public.ServeHTTP(w, r)
	}))
	return d
}

// press presses the first button with a label within what a selector finds.
func press(t *testing.T, ctx context.Context, within, label string) {
	t.Helper()
	button := `[...document.querySelectorAll('` + within + ` button')].find((b) => (b.getAttribute('aria-label') ?? b.textContent).trim().startsWith('` + label + `') && !b.disabled && document.body.ariaBusy !== 'true')`
	browsertest.Becomes(t, ctx, `Boolean(`+button+`)`)
	if !browsertest.Is(t, ctx, `(`+button+`.click(), true)`) {
		t.Fatalf("%s was not pressed", label)
	}
}

// write puts a text into a field as if it was typed, and leaves the field.
func write(t *testing.T, ctx context.Context, field, text string) {
	t.Helper()
	browsertest.Becomes(t, ctx, `Boolean(document.querySelector('`+field+`'))`)
	if !browsertest.Is(t, ctx, `(() => { const f = document.querySelector('`+field+`'); f.value = '`+text+`'; f.dispatchEvent(new Event('change', { bubbles: true })); return true })()`) {
		t.Fatalf("%s was not written", field)
	}
}

func (d *desk) open(window browsertest.Window) context.Context {
	d.t.Helper()
	ctx := browsertest.Open(d.t, window)
	browsertest.Do(d.t, ctx, chromedp.Navigate(d.URL+siteeditor.Root), chromedp.WaitVisible(chromedp.CSS("#things li, #things form")))
	return ctx
}

func (d *desk) sections(page string) []object {
	d.t.Helper()
	return d.Items("getSection", object{"pageId": page, "includeContent": true})
}

// visitors is what everybody sees at an address of the site.
func (d *desk) visitors(path string) string {
	d.t.Helper()
	response, err := http.Get(d.URL + "/site/" + path)
	if err != nil {
		d.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return string(body)
}

func TestEditorInABrowser(t *testing.T) {
	t.Parallel()
	t.Run("a page is written, previewed, reordered, published and restored", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t, contenttest.Operator)
		page := d.Page("story")
		one := d.Section(page, "richText", object{"body": "First words."})
		d.Section(page, "quote", object{"text": "Second words."})
		ctx := d.open(browsertest.Desktop)
		press(t, ctx, "#things li", "Story")
		write(t, ctx, `[data-id="`+one+`"] textarea[name=body]`, "Better words.")
		browsertest.Becomes(t, ctx, `document.getElementById('told').textContent === 'Saved.'`)
		if got := d.sections(page)[0]["content"].(object)["body"]; got != "Better words." {
			t.Errorf("the draft says %v", got)
		}
		browsertest.Becomes(t, ctx, `document.getElementById('preview').src.includes('/site/preview/page/')`)
		browsertest.Accessible(t, ctx, "editor of a page")
		browsertest.Shot(t, ctx, "site-editor-page")
		press(t, ctx, `[data-id="`+one+`"]`, "Move down")
		browsertest.Becomes(t, ctx, `document.querySelectorAll('#sections > li')[1]?.dataset.id === '`+one+`'`)
		if got := d.sections(page)[1]["pageSectionId"]; got != one {
			t.Errorf("the second section is %v", got)
		}
		press(t, ctx, `[data-id="`+one+`"]`, "Publish")
		browsertest.Becomes(t, ctx, `document.querySelector('[data-id="`+one+`"] .state').textContent === 'published'`)
		if page := d.visitors("story"); !strings.Contains(page, "Better words.") || strings.Contains(page, "Second words.") {
			t.Errorf("visitors see %s", page)
		}
		press(t, ctx, `.head`, "Unpublish")
		browsertest.Becomes(t, ctx, `document.querySelector('.head .state').textContent === 'draft'`)
		press(t, ctx, `.head`, "Publish")
		browsertest.Becomes(t, ctx, `document.querySelectorAll('.state').length > 2 && [...document.querySelectorAll('.section .state')].every((s) => s.textContent === 'published')`)
		browsertest.Shot(t, ctx, "site-editor-published")
		if page := d.visitors("story"); !strings.Contains(page, "Better words.") || !strings.Contains(page, "Second words.") {
			t.Errorf("visitors see %s", page)
		}
		press(t, ctx, `[data-id="`+one+`"]`, "History")
		browsertest.Becomes(t, ctx, `document.querySelectorAll('.versions li').length > 0`)
		if !browsertest.Is(t, ctx, `(() => { const all = document.querySelectorAll('.versions button'); all[all.length - 1].click(); return true })()`) {
			t.Fatal("nothing to restore")
		}
		browsertest.Becomes(t, ctx, `document.querySelector('[data-id="`+one+`"] textarea[name=body]')?.value === 'First words.'`)
		if page := d.visitors("story"); !strings.Contains(page, "First words.") {
			t.Errorf("visitors see %s", page)
		}
		press(t, ctx, ".tabs", "Title and menu")
		write(t, ctx, "input[name=title]", "The pottery")
		press(t, ctx, "#work .head", "Save")
		browsertest.Becomes(t, ctx, `document.getElementById('told').textContent === 'Saved.'`)
		press(t, ctx, "#work", "Add to the menu")
		browsertest.Becomes(t, ctx, `document.querySelector('#menu li span')?.textContent === 'Story'`)
		browsertest.Accessible(t, ctx, "editor of the site as a whole")
		browsertest.Shot(t, ctx, "site-editor-whole")
		if page := d.visitors(""); !strings.Contains(page, "The pottery") || !strings.Contains(page, `<a href="/site/story">`) {
			t.Errorf("visitors see %s", page)
		}
	})
	t.Run("of two editors the later is told what changed, and overwrites nothing unasked", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t, contenttest.Editor)
		d.Do("createPost", object{"collectionSlug": "blog", "slug": "mugs", "title": "Mugs", "content": object{"body": "Old."}})
		d.Do("updatePost", object{"slug": "mugs", "status": "published", "confirmed": true})
		phone := browsertest.Phone
		phone.Expected = func(_, address string) bool { return address == d.URL+"/api/site/posts/mugs" } // refused: somebody else was first
		ctx := d.open(phone)
		press(t, ctx, ".tabs", "Posts")
		press(t, ctx, "#things li", "Mugs")
		browsertest.Becomes(t, ctx, `Boolean(document.querySelector('textarea[name=body]'))`)
		if !browsertest.Is(t, ctx, browsertest.Fits) {
			t.Error("the editor is wider than a phone")
		}
		browsertest.Accessible(t, ctx, "editor of a post")
		browsertest.Shot(t, ctx, "site-editor-post-phone")
		d.Do("updatePost", object{"slug": "mugs", "content": object{"body": "Theirs."}})
		write(t, ctx, "textarea[name=body]", "Mine.")
		press(t, ctx, ".head", "Save")
		browsertest.Becomes(t, ctx, `document.querySelector('.differs')?.textContent.includes('Mine.') && document.querySelector('.differs').textContent.includes('Theirs.')`)
		body := func() any { return d.Items("getPost", object{"slug": "mugs"})[0]["content"].(object)["body"] }
		if body() != "Theirs." {
			t.Errorf("the post says %v", body())
		}
		press(t, ctx, ".choice", "Save mine")
		browsertest.Becomes(t, ctx, `document.getElementById('told').textContent === 'Saved.' && document.querySelector('textarea[name=body]')?.value === 'Mine.'`)
		if body() != "Mine." {
			t.Errorf("the post says %v", body())
		}
	})
	t.Run("a picture of one's own results comes into the media", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t, contenttest.Editor)
		d.made = d.Picture("fox.png", 40, 30, 1)
		window := browsertest.Desktop
		window.Expected = func(_, address string) bool {
			return strings.HasPrefix(address, d.URL+"/files/") || strings.HasPrefix(address, d.URL+"/uploads/")
		} // files are served elsewhere
		ctx := d.open(window)
		press(t, ctx, ".tabs", "Pictures")
		press(t, ctx, "#work", "From my results")
		press(t, ctx, "#work", "Put it into the site")
		browsertest.Becomes(t, ctx, `document.querySelectorAll('.pictures li textarea[name=description]').length === 1`)
		if images := d.Items("getImage", object{"all": true}); len(images) != 1 || images[0]["id"] != d.made {
			t.Errorf("the site has %v", images)
		}
	})
	t.Run("a page is said in another language and published in it", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t, contenttest.Editor)
		page := d.Page("story")
		section := d.Section(page, "richText", object{"body": "First words."}, object{"status": "published"})
		ctx := d.open(browsertest.Desktop)
		press(t, ctx, "#things li", "Story")
		write(t, ctx, `.languages input[name=newLocale]`, "de")
		press(t, ctx, ".languages", "Add")
		browsertest.Becomes(t, ctx, `document.getElementById('locale')?.value === 'de' && document.querySelector('[data-id="`+section+`"] textarea[name=body]')?.placeholder === 'First words.'`)
		write(t, ctx, `.head input[name=name]`, "Geschichte")
		press(t, ctx, ".head > .row:last-child", "Save")
		browsertest.Becomes(t, ctx, `document.querySelector('.head input[name=name]').value === 'Geschichte' && document.getElementById('told').textContent === 'Saved.'`)
		write(t, ctx, `[data-id="`+section+`"] textarea[name=body]`, "Erste Worte.")
		press(t, ctx, `[data-id="`+section+`"]`, "Save")
		browsertest.Becomes(t, ctx, `document.querySelector('[data-id="`+section+`"] textarea[name=body]')?.value === 'Erste Worte.'`)
		browsertest.Becomes(t, ctx, `document.getElementById('preview').src.includes('locale=de')`)
		browsertest.Accessible(t, ctx, "editor of another language")
		browsertest.Shot(t, ctx, "site-editor-language")
		if got := d.visitors("de/story"); strings.Contains(got, "Erste Worte.") {
			t.Error("a draft in German is seen by visitors")
		}
		press(t, ctx, ".head", "Publish")
		browsertest.Becomes(t, ctx, `document.querySelector('.head .state').textContent === 'published'`)
		if got := d.visitors("de/story"); !strings.Contains(got, "Erste Worte.") || !strings.Contains(got, "Geschichte") {
			t.Errorf("visitors see %s", got)
		}
		if got := d.visitors("story"); !strings.Contains(got, "First words.") {
			t.Errorf("visitors see %s", got)
		}
		press(t, ctx, ".head", "Remove this language")
		browsertest.Becomes(t, ctx, `document.getElementById('locale')?.value === '' && document.querySelectorAll('#locale option').length === 1`)
	})
	t.Run("who works on a group's site alone comes there, and who works on two chooses", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t, contenttest.Stranger)
		group, err := d.Store.SwitchOn(t.Context(), store.Group{Platform: "telegram", Place: "chat:1"}, store.Site{Slug: "painters", Title: "Painters", Language: "en"}, contenttest.Stranger)
		if err != nil {
			t.Fatal(err)
		}
		d.Page("house-page")
		ctx := d.open(browsertest.Desktop)
		browsertest.Becomes(t, ctx, `location.search === '?site=painters'`)
		write(t, ctx, "#things input[name=new]", "Our kiln")
		press(t, ctx, "#things", "Add")
		press(t, ctx, "#work", "Add section")
		browsertest.Becomes(t, ctx, `document.querySelectorAll('#sections > li').length === 1 && document.getElementById('preview').src.includes('/site/painters/preview/page/')`)
		pages, err := d.Store.In(group, "").Pages(t.Context(), store.PageQuery{Content: true})
		if err != nil || len(pages) != 1 || pages[0].Slug != "our-kiln" || len(pages[0].Sections) != 1 {
			t.Errorf("the group has %+v, %v", pages, err)
		}
		if err := d.Store.SetRole(t.Context(), d.Site, contenttest.Stranger, store.Editor); err != nil {
			t.Fatal(err)
		}
		browsertest.Do(t, ctx, chromedp.Navigate(d.URL+siteeditor.Root+"?site=painters"), chromedp.WaitVisible("#site"))
		browsertest.Accessible(t, ctx, "editor of a group's site")
		browsertest.Shot(t, ctx, "site-editor-group")
		if !browsertest.Is(t, ctx, `(() => { const s = document.getElementById('site'); s.value = 'house'; s.dispatchEvent(new Event('change')); return true })()`) {
			t.Fatal("no site was chosen")
		}
		browsertest.Becomes(t, ctx, `location.search === '' && document.getElementById('things')?.textContent.includes('House-page')`)
	})
	t.Run("who has no role is told so", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t, contenttest.Stranger)
		refused := browsertest.Desktop
		refused.Expected = func(_, address string) bool { return strings.HasPrefix(address, d.URL+"/api/site/") }
		ctx := browsertest.Open(t, refused)
		browsertest.Do(t, ctx, chromedp.Navigate(d.URL+siteeditor.Root))
		browsertest.Becomes(t, ctx, `document.getElementById('told').textContent.includes('no role')`)
	})
}
