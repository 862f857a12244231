package site_test

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/providers/content"
	"github.com/signalbox/signalbox/providers/content/contenttest"
	"github.com/signalbox/signalbox/providers/content/site"
	"github.com/signalbox/signalbox/providers/content/store"
	"github.com/signalbox/signalbox/registry"
)

type object = contenttest.Object

// public is a house whose site is visited.
type public struct {
	*contenttest.House
	site   *site.Server
	t      testing.TB
	member bool
}

func newPublic(t testing.TB, change ...func(*site.Config)) *public {
	t.Helper()
	p := &public{House: contenttest.New(t), t: t}
	thumbnails := assets.NewThumbnails(p.Pool)
	open := func(ctx context.Context, ref registry.Media) (io.ReadCloser, error) {
		file, _, err := p.Files.OpenMedia(ctx, ref)
		return file, err
	}
	cfg := site.Config{
		Store: p.Store, Slug: store.House, Templates: p.Templates, Base: &url.URL{Scheme: "https", Host: "bot.example", Path: "/site"}, Key: []byte("a key that nobody else has"), Open: open, SignIn: "/signin",
		Picture: func(ctx context.Context, ref registry.Media, side int) (string, []byte, error) {
			return thumbnails.Shown(ctx, assets.Ref(ref), side, func(ctx context.Context) (io.ReadCloser, error) { return open(ctx, ref) })
		},
		Member: func(context.Context) bool { return p.member },
	}
	for _, c := range change {
		c(&cfg)
	}
	var err error
	if p.site, err = site.New(cfg); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *public) get(path string, header ...string) *httptest.ResponseRecorder {
	p.t.Helper()
	r := httptest.NewRequest("GET", path, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	p.site.ServeHTTP(w, r)
	return w
}

// shows checks that a page is there and says some words, and others, after "not", it does not.
func (p *public) shows(path string, words ...string) string {
	p.t.Helper()
	w := p.get(path)
	page := w.Body.String()
	if w.Code != http.StatusOK {
		p.t.Errorf("%s: %d", path, w.Code)
	}
	want := true
	for _, word := range words {
		if word == "not" {
			want = false
			continue
		}
		if strings.Contains(page, word) != want {
			p.t.Errorf("%s: has %q: %v", path, word, !want)
		}
	}
	return page
}

func (p *public) missing(path string) {
	p.t.Helper()
	if w := p.get(path); w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "There is nothing at this address") {
		p.t.Errorf("%s: %d", path, w.Code)
	}
}

func (p *public) published(slug, title, body string, more ...object) {
	p.t.Helper()
	inputs := object{"collectionSlug": "blog", "slug": slug, "title": title, "content": object{"body": body}}
	for _, m := range more {
		maps.Copy(inputs, m)
	}
	p.Do("createPost", inputs)
	p.Do("updatePost", object{"slug": slug, "status": "published", "confirmed": true})
}

var live = object{"status": "published"}

func TestVisitorsSeeWhatIsPublished(t *testing.T) {
	t.Parallel()
	p := newPublic(t)
	about := p.Page("about", object{"meta": object{"title": "About us", "description": "Who we are"}})
	section := p.Section(about, "richText", object{"body": "We are four."})
	t.Run("a page with nothing published is a draft: not there, not in the map", func(t *testing.T) {
		p.missing("/site/about")
		p.shows("/site/sitemap.xml", "not", "about")
	})
	t.Run("D42 D43 D37 sections are seen as they are published and shown, at once", func(t *testing.T) {
		p.Do("updateSection", object{"pageSectionId": section, "status": "published"})
		p.shows("/site/about", "We are four.", "<title>About us", `<meta name="description" content="Who we are">`, `<link rel="canonical" href="https://bot.example/site/about">`, `<h1 class="heading">About</h1>`)
		p.shows("/site/sitemap.xml", "<loc>https://bot.example/site/about</loc>")
		p.Section(about, "richText", object{"body": "hidden words"}, live, object{"hidden": true})
		p.Section(about, "richText", object{"body": "draft words"})
		p.shows("/site/about", "not", "hidden words", "draft words")
		p.Do("updateSection", object{"pageSectionId": section, "hidden": true})
		p.missing("/site/about")
		p.Do("updateSection", object{"pageSectionId": section, "hidden": false})
	})
	t.Run("indexing false keeps a page out of the map and of search engines", func(t *testing.T) {
		p.shows("/site/about", "not", `content="noindex"`)
		p.Do("updatePage", object{"id": about, "indexing": false})
		p.shows("/site/about", `<meta name="robots" content="noindex">`)
		p.shows("/site/sitemap.xml", "not", "/about")
	})
	t.Run("D72 menus show what is visible and published, one level in another", func(t *testing.T) {
		more := p.Do("createNavItem", object{"navigationId": "main", "label": "More", "targetType": "placeholder"})["navItemId"]
		item := p.Do("createNavItem", object{"navigationId": "main", "label": "Who", "targetType": "page", "targetId": about, "parentId": more})["navItemId"]
		draft := p.Page("unfinished")
		p.Do("createNavItem", object{"navigationId": "footer", "label": "Unfinished", "targetType": "page", "targetId": draft})
		p.shows("/site/about", `<span>More</span>`, `<a href="/site/about">Who</a>`, "not", "Unfinished")
		p.Do("updateNavItem", object{"id": item, "visible": false})
		p.shows("/site/about", "not", "Who</a>")
	})
	t.Run("a page for members asks to sign in, and is in no map, search or store of others", func(t *testing.T) {
		secret := p.Page("secret", object{"meta": object{"access": "members"}})
		p.Section(secret, "richText", object{"body": "xylophone inside"}, live)
		if w := p.get("/site/secret"); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/signin?next=%2Fsite%2Fsecret" {
			t.Errorf("%d, %v", w.Code, w.Header())
		}
		p.shows("/site/sitemap.xml", "not", "secret")
		p.shows("/site/search?q=xylophone", "not", "inside")
		p.member = true
		p.shows("/site/secret", "xylophone inside")
		p.member = false
		if w := p.get("/site/secret"); w.Code != http.StatusSeeOther {
			t.Errorf("what a member saw was kept for others: %d", w.Code)
		}
	})
	t.Run("what is nowhere is told in the site's style", func(t *testing.T) {
		p.missing("/site/nothing")
		p.missing("/site/blog/nothing")
		p.missing("/site/a/b/c")
		for _, odd := range []string{"/site/x%00", "/site/%ff", "/site/blog/%00", "/site/card/%00.png"} { // which no database takes
			p.missing(odd)
		}
		p.missing("/site/home")
		for _, path := range []string{"/site/../x", "/sites"} {
			if w := p.get(path); w.Code == http.StatusOK {
				t.Errorf("%s: %d", path, w.Code)
			}
		}
	})
	t.Run("the page home is the start", func(t *testing.T) {
		p.Section(p.Page("home"), "hero", object{"heading": "Good morning"}, live)
		p.shows("/site/", "<h1>Good morning</h1>", "not", `class="heading"`)
	})
}

func TestPosts(t *testing.T) {
	t.Parallel()
	p := newPublic(t)
	cover := p.Image("mugs.png", 1)
	p.Do("createPost", object{"collectionSlug": "blog", "slug": "draft", "title": "A draft", "content": object{"body": "x"}})
	p.published("mugs", "New mugs & more", "Each *autumn*.\n\n# Inside\n\nText.", object{"author": "Ann", "content": object{"body": "Each *autumn*.\n\n# Inside\n\nText.", "cover": object{"url": cover, "alt": "Three mugs"}}})
	t.Run("D56 D57 a post with its cover, author and a description for search engines; drafts are not there", func(t *testing.T) {
		page := p.shows("/site/blog/mugs", "<h1>New mugs &amp; more</h1>", "<em>autumn</em>", "By Ann", `alt="Three mugs"`, `width="64" height="48"`, `property="og:image" content="https://bot.example/site/media/`, `<h2 id="inside">Inside</h2>`)
		ld := regexp.MustCompile(`(?s)<script type="application/ld\+json">(.*?)</script>`).FindStringSubmatch(page)
		if len(ld) != 2 || !strings.Contains(ld[1], `"@type":"BlogPosting"`) || !strings.Contains(ld[1], `"headline":"New mugs \u0026 more"`) {
			t.Errorf("JSON-LD: %v", ld)
		}
		p.missing("/site/blog/draft")
		p.missing("/site/glossary/mugs")
		p.shows("/site/blog", "New mugs &amp; more", "not", "A draft")
	})
	t.Run("feeds are well-formed, with addresses and dates", func(t *testing.T) {
		for path, kind := range map[string]string{"/site/blog/feed.xml": "application/rss+xml", "/site/blog/atom.xml": "application/atom+xml"} {
			w := p.get(path)
			var any struct {
				XMLName xml.Name
				Inner   string `xml:",innerxml"`
			}
			if err := xml.Unmarshal(w.Body.Bytes(), &any); err != nil || !strings.HasPrefix(w.Header().Get("Content-Type"), kind) {
				t.Errorf("%s: %v, %v", path, err, w.Header())
			}
			if !strings.Contains(any.Inner, "https://bot.example/site/blog/mugs") || strings.Contains(any.Inner, "A draft") || !strings.Contains(any.Inner, "Each autumn.") {
				t.Errorf("%s: %s", path, any.Inner)
			}
		}
		p.missing("/site/nowhere/feed.xml")
	})
	t.Run("long lists are turned, the newest first", func(t *testing.T) {
		for i := range 13 {
			p.published(fmt.Sprintf("post-%d", i), fmt.Sprintf("Post %d", i), "x")
		}
		p.shows("/site/blog", "Post 12", "Post 1<", `href="/site/blog?page=2"`, "not", "Post 0<")
		p.shows("/site/blog?page=2", "Post 0<", "New mugs", `content="noindex"`)
		p.missing("/site/blog?page=9")
	})
	t.Run("D184 an archived post is gone", func(t *testing.T) {
		p.Do("updatePost", object{"slug": "mugs", "status": "archived"})
		p.missing("/site/blog/mugs")
	})
	t.Run("search finds pages and posts by the beginning of a word", func(t *testing.T) {
		p.published("kettle", "The kettle", "It whistles beautifully in the morning.")
		p.shows("/site/search?q=whistl", "The kettle", "/site/blog/kettle", "whistles beautifully")
		p.shows("/site/search?q="+url.QueryEscape("zzz' | <script>"), "Nothing was found", "not", "<script>")
	})
}

func drawsCards(c *site.Config) {
	c.Card = func(_ context.Context, title, site string) ([]byte, error) { return []byte(title + " of " + site), nil }
}

func TestCards(t *testing.T) {
	t.Parallel()
	var drawn atomic.Int64
	p := newPublic(t, drawsCards, func(c *site.Config) {
		draw := c.Card
		c.Card = func(ctx context.Context, title, site string) ([]byte, error) {
			drawn.Add(1)
			return draw(ctx, title, site)
		}
	})
	p.Section(p.Page("about"), "richText", object{"body": "Words."}, live)
	p.Section(p.Page("pictured"), "imageText", object{"image": p.Image("mug.png", 1)}, live)
	p.Section(p.Page("inner", object{"meta": object{"access": "members"}}), "richText", object{"body": "x"}, live)
	p.Section(p.Page("draft"), "richText", object{"body": "x"})
	p.Do("updatePage", object{"id": p.Items("getPage", object{"slug": "about"})[0]["id"], "locale": "de", "name": "Über uns", "status": "published"})
	t.Run("what has no picture has a card with its title, in its language", func(t *testing.T) {
		p.shows("/site/about", `property="og:image" content="https://bot.example/site/card/about.png"`)
		p.shows("/site/de/about", `property="og:image" content="https://bot.example/site/card/de/about.png"`)
		p.shows("/site/", `property="og:image" content="https://bot.example/site/card/blog.png"`) // which it shows as long as there is no home
		p.shows("/site/pictured", "/site/media/", "not", "/site/card/")
		for path, want := range map[string]string{"about": "about of bot.example", "de/about": "Über uns of bot.example", "-": "Blog of bot.example"} {
			w := p.get("/site/card/" + path + ".png")
			if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "image/png" || !strings.EqualFold(w.Body.String(), want) {
				t.Errorf("%s: %d %v %s", path, w.Code, w.Header(), w.Body)
			}
		}
	})
	t.Run("it is drawn once, whatever is asked behind its address", func(t *testing.T) {
		before := drawn.Load()
		for _, query := range []string{"", "?1", "?page=2"} {
			if w := p.get("/site/card/pictured.png" + query); w.Code != http.StatusOK {
				t.Errorf("%q: %d", query, w.Code)
			}
		}
		if n := drawn.Load() - before; n != 1 {
			t.Errorf("it was drawn %d times", n)
		}
	})
	t.Run("what not everybody sees has none", func(t *testing.T) {
		p.member = true
		for _, path := range []string{"inner", "draft", "nowhere", "../site/about", ""} {
			if w := p.get("/site/card/" + path + ".png"); w.Code == http.StatusOK {
				t.Errorf("%s has a card: %s", path, w.Body)
			}
		}
		p.shows("/site/inner", "not", "og:image")
	})
}

// TestProposals has calls wait for their owner's word.
func TestProposals(t *testing.T) {
	t.Parallel()
	waiting := map[string]registry.Call{}
	var p *public
	p = newPublic(t, func(c *site.Config) {
		c.Rehearse = func(ctx context.Context, proposal string, in *store.Store) error {
			call, waits := waiting[proposal]
			if !waits {
				return errors.New("nothing waits")
			}
			return p.Rehearse(ctx, in, call)
		}
	})
	about := p.Page("about")
	hero := p.Section(about, "hero", object{"heading": "Hello"}, object{"status": "published"})
	p.Do("createPost", object{"collectionSlug": "blog", "slug": "mugs", "title": "New mugs", "content": object{"body": "Red ones."}})
	mugs := p.Items("getPost", object{"slug": "mugs"})[0]["id"].(string)
	// proposed lets a call wait, and gives the path at which its draft is shown.
	proposed := func(kind, id, tool string, inputs object) (path, name string) {
		t.Helper()
		call, err := p.Prepare(contenttest.Operator, tool, inputs)
		if err != nil {
			t.Fatal(err)
		}
		look, err := p.Preview(t.Context(), call)
		if err != nil {
			t.Fatal(err)
		}
		call.Preview, name = &look, content.Proposal(call)
		waiting[name] = call
		link, err := url.Parse(p.site.Proposed(p.site.Preview(kind, id), name))
		if err != nil {
			t.Fatal(err)
		}
		return link.RequestURI(), name
	}
	t.Run("a draft is shown as it would be, while that waits, and nothing is changed", func(t *testing.T) {
		path, name := proposed("entry", mugs, "updatePost", object{"slug": "mugs", "title": "Blue mugs", "content": object{"body": "Blue *ones*."}})
		p.shows(path, "Blue mugs", "Blue <em>ones</em>.", "This is a preview", "not", "Red ones.")
		p.shows(p.path("entry", mugs), "New mugs", "Red ones.", "not", "Blue")
		if post := p.Items("getPost", object{"slug": "mugs"})[0]; post["title"] != "New mugs" || post["version"] != json.Number("1") {
			t.Errorf("the post is %v", post)
		}
		delete(waiting, name)
		p.shows(path, "Red ones.", "not", "Blue")
	})
	t.Run("sections too, those that are new and those in another language", func(t *testing.T) {
		path, _ := proposed("page", about, "createSection", object{"pageId": about, "templateKey": "richText", "content": object{"body": "A new one."}})
		p.shows(path, "Hello", "A new one.")
		path, _ = proposed("page", about, "updateSection", object{"pageSectionId": hero, "locale": "de", "content": object{"heading": "Hallo"}})
		p.shows(path+"&locale=de", "Hallo")
		p.shows("/site/about", "Hello", "not", "A new one.", "Hallo")
	})
	t.Run("what was changed since is shown as it is", func(t *testing.T) {
		path, _ := proposed("page", about, "updateSection", object{"pageSectionId": hero, "content": object{"heading": "Good day"}})
		p.shows(path, "Good day", "not", "Hello")
		p.Do("updateSection", object{"pageSectionId": hero, "content": object{"heading": "Welcome"}})
		p.shows(path, "Welcome", "not", "Good day")
	})
	t.Run("nobody sees it by another link", func(t *testing.T) {
		path, name := proposed("entry", mugs, "updatePost", object{"slug": "mugs", "title": "Secret mugs"})
		p.shows(path, "Secret mugs")
		p.shows(p.path("entry", mugs)+"&of="+name, "New mugs", "not", "Secret")
		p.shows(strings.Replace(path, "by=", "by=0", 1), "New mugs", "not", "Secret")
		p.missing(strings.Replace(path, "sig=", "sig=0", 1))
	})
}

// path is where the draft of something is shown as it is.
func (p *public) path(kind, id string) string {
	p.t.Helper()
	link, err := url.Parse(p.site.Preview(kind, id))
	if err != nil {
		p.t.Fatal(err)
	}
	return link.RequestURI()
}

func TestPreviews(t *testing.T) {
	t.Parallel()
	clock := clocktest.NewManual(time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC))
	p := newPublic(t, func(c *site.Config) { c.Now = clock.Now })
	about := p.Page("about")
	p.Section(about, "richText", object{"body": "Only a draft."})
	link, err := url.Parse(p.site.Preview("page", about))
	if err != nil {
		t.Fatal(err)
	}
	path := link.RequestURI()
	t.Run("a signed link shows a draft, told as such, and is kept by nobody", func(t *testing.T) {
		p.shows(path, "Only a draft.", "This is a preview", `content="noindex"`)
		if h := p.get(path).Header(); h.Get("Cache-Control") != "private, no-store" || h.Get("X-Robots-Tag") != "noindex" {
			t.Errorf("got %v", h)
		}
		p.missing("/site/about")
	})
	t.Run("without a good signature there is nothing", func(t *testing.T) {
		other := p.Page("other")
		for _, bad := range []string{"/site/preview/page/" + about, path + "0", strings.Replace(path, about, other, 1), strings.Replace(path, "/page/", "/entry/", 1), strings.Replace(path, "until=", "until=9", 1), "/site/preview/page/x" + path[strings.Index(path, "?"):]} {
			p.missing(bad)
		}
	})
	t.Run("it works for a week", func(t *testing.T) {
		clock.Advance(7 * 24 * time.Hour)
		p.shows(path, "Only a draft.")
		clock.Advance(25 * time.Hour)
		p.missing(path)
	})
}

func TestNothingRuns(t *testing.T) {
	t.Parallel()
	p := newPublic(t)
	image := p.Image("mug.png", 1)
	bad := strings.Join([]string{
		`<script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, `[click](javascript:alert(1))`, `![x](javascript:alert(1))`, `<iframe src="https://evil.example"></iframe>`, `[a](data:text/html,<script>1</script>)`,
		`![pixel](https://evil.example/pixel.png)`, `<style>body{display:none}</style>`, `<svg onload=alert(1)>`, `![mine](` + image + `)`,
	}, "\n\n")
	p.published("bad", `<script>alert("title")</script>`, bad, object{"author": `"><script>alert(2)</script>`, "excerpt": "<b onclick=x>"})
	p.Section(p.Page("bad-page", object{"name": "<script>x</script>", "meta": object{"title": "</title><script>x</script>"}}), "hero", object{"heading": "<script>x</script>", "text": bad}, live)
	for _, path := range []string{"/site/blog/bad", "/site/bad-page", "/site/blog", "/site/search?q=click"} {
		t.Run(path, func(t *testing.T) {
			w := p.get(path)
			page := regexp.MustCompile(`(?s)<script type="application/ld\+json">.*?</script>`).ReplaceAllString(w.Body.String(), "")
			for _, found := range regexp.MustCompile(`(?i)<script|<iframe|<style|<svg|<[a-z]+[^>"]* on[a-z]+=|(href|src)="?(javascript|data):|src="https?://evil`).FindAllString(page, -1) {
				t.Errorf("the page has %q", found)
			}
			csp := w.Header().Get("Content-Security-Policy")
			if !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "script-src") || strings.Contains(csp, "unsafe") || len(w.Result().Cookies()) > 0 {
				t.Errorf("headers: %v", w.Header())
			}
		})
	}
	t.Run("pictures of the site are shown, those of others are links", func(t *testing.T) {
		p.shows("/site/blog/bad", `alt="mine"`, `srcset="/site/media/`, `<a href="https://evil.example/pixel.png"`)
	})
}

func TestMedia(t *testing.T) {
	t.Parallel()
	p := newPublic(t)
	id := p.Do("createImage", object{"buffer": p.Picture("wide.png", 1000, 500, 1), "filename": "wide.png"})["imageId"].(string)
	hash := strings.TrimPrefix(id, "asset:")
	p.Section(p.Page("shop"), "imageText", object{"image": id}, live)
	t.Run("pictures come in sizes, with their own, lazily", func(t *testing.T) {
		p.shows("/site/shop", fmt.Sprintf(`srcset="/site/media/%s/320 320w, /site/media/%s/640 640w, /site/media/%s/960 960w, /site/media/%s/1280 1000w"`, hash, hash, hash, hash), `width="1000" height="500"`, `loading="lazy"`)
	})
	t.Run("each size is what it says, and asked for again before it is shown much later: it may have been taken down", func(t *testing.T) {
		w := p.get("/site/media/" + hash + "/320")
		if kind := http.DetectContentType(w.Body.Bytes()); w.Code != http.StatusOK || kind != "image/jpeg" || w.Header().Get("Cache-Control") != "public, max-age=300" {
			t.Errorf("%d %s %v", w.Code, kind, w.Header())
		}
		if w := p.get("/site/media/"+hash+"/320", "If-None-Match", w.Header().Get("ETag")); w.Code != http.StatusNotModified {
			t.Errorf("again: %d", w.Code)
		}
	})
	t.Run("what was taken down is not shown again to who has seen it", func(t *testing.T) {
		seen := p.get("/site/media/" + hash + "/640").Header().Get("ETag")
		const hide = `INSERT INTO asset_owners (account_id, hash, kind, size, hidden_at) VALUES ($1, $2, 'upload', 1, now()) ON CONFLICT (account_id, hash) DO UPDATE SET hidden_at = now()`
		if _, err := p.Pool.Exec(t.Context(), hide, contenttest.Operator, hash); err != nil {
			t.Fatal(err)
		}
		if w := p.get("/site/media/"+hash+"/640", "If-None-Match", seen); seen == "" || w.Code != http.StatusNotFound {
			t.Errorf("%d %v", w.Code, w.Header())
		}
		if _, err := p.Pool.Exec(t.Context(), `UPDATE asset_owners SET hidden_at = NULL`); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("nothing else of the house's files is served, nor another size", func(t *testing.T) {
		stranger := strings.TrimPrefix(p.Picture("private.png", 10, 10, 7), "asset:") // stored, and in no site
		for _, path := range []string{stranger + "/320", hash + "/321", hash, hash + "/0320", "../x/320"} {
			if w := p.get("/site/media/" + path); w.Code == http.StatusOK {
				t.Errorf("%s: %d", path, w.Code)
			}
		}
	})
	t.Run("D86 D119 the credit of a photographer is shown with the picture", func(t *testing.T) {
		photo := p.Picture("photo.png", 20, 20, 8)
		err := p.AddImage(t.Context(), p.Store.In(p.Site, contenttest.Operator), contenttest.Operator, store.Image{
			ID: photo, Filename: "photo.png", Description: "A lake", Attribution: object{"html": `Photo by <a href="https://unsplash.com/@ann">Ann</a><script>x</script>`},
		})
		if err != nil {
			t.Fatal(err)
		}
		p.Section(p.Page("lake"), "imageText", object{"image": photo}, live)
		p.shows("/site/lake", `Photo by <a href="https://unsplash.com/@ann"`, `alt="A lake"`, "not", "<script>x")
	})
}

func TestKeptPages(t *testing.T) {
	t.Parallel()
	clock := clocktest.NewManual(time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC))
	p := newPublic(t, func(c *site.Config) { c.Now = clock.Now })
	section := p.Section(p.Page("about"), "richText", object{"body": "Before"}, live)
	t.Run("a page has a tag, which spares it", func(t *testing.T) {
		w := p.get("/site/about")
		if again := p.get("/site/about", "If-None-Match", w.Header().Get("ETag")); again.Code != http.StatusNotModified || again.Body.Len() > 0 {
			t.Errorf("%d", again.Code)
		}
	})
	t.Run("what this process changes is seen at once, what another changes within two seconds", func(t *testing.T) {
		p.Do("updateSection", object{"pageSectionId": section, "content": object{"body": "After"}})
		p.shows("/site/about", "After")
		if _, err := p.Pool.Exec(t.Context(), `UPDATE site_sections SET content = '{"body": "Elsewhere"}'`); err != nil {
			t.Fatal(err)
		}
		clock.Advance(2 * time.Second)
		p.shows("/site/about", "Elsewhere")
	})
	t.Run("HEAD and other methods", func(t *testing.T) {
		for method, want := range map[string]int{"HEAD": 200, "POST": 405, "DELETE": 405} {
			w := httptest.NewRecorder()
			p.site.ServeHTTP(w, httptest.NewRequest(method, "/site/about", nil))
			if w.Code != want || method == "HEAD" && w.Body.Len() > 0 {
				t.Errorf("%s: %d", method, w.Code)
			}
		}
	})
}

func TestThemes(t *testing.T) {
	t.Parallel()
	p := newPublic(t, func(c *site.Config) {
		c.Theme = fstest.MapFS{"theme/layout.html": {Data: []byte(`<title>{{.Title}}</title><link href="{{.Style}}">{{.Body}}`)}}
	})
	p.Section(p.Page("about"), "richText", object{"body": "Mine"}, live)
	page := p.shows("/site/about", "<title>About</title>", "Mine", "not", "skip")
	style := regexp.MustCompile(`href="([^"]+)"`).FindStringSubmatch(page)
	if w := p.get(style[1]); w.Code != http.StatusOK || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/css") {
		t.Errorf("%s: %d, %v", style[1], w.Code, w.Header())
	}
	if _, err := site.New(site.Config{Base: &url.URL{}, Theme: fstest.MapFS{"theme/layout.html": {Data: []byte(`{{`)}}}); err == nil || !strings.Contains(err.Error(), "layout.html") {
		t.Errorf("got %v", err)
	}
}

func TestRobots(t *testing.T) {
	t.Parallel()
	p := newPublic(t, func(c *site.Config) { c.Base = &url.URL{Scheme: "https", Host: "www.example.com"} })
	p.shows("/robots.txt", "Sitemap: https://www.example.com/sitemap.xml", "Disallow: /preview/")
	if got := []string{p.site.Page("home"), p.site.Entry("blog", "y")}; !slices.Equal(got, []string{"/", "/blog/y"}) {
		t.Errorf("got %v", got)
	}
}

func TestExport(t *testing.T) {
	t.Parallel()
	p := newPublic(t, drawsCards)
	p.Section(p.Page("home"), "latestPosts", object{}, live)
	p.Section(p.Page("alone"), "imageText", object{"image": p.Image("mug.png", 1)}, live) // nothing links to it
	p.Section(p.Page("inner", object{"meta": object{"access": "members"}}), "richText", object{"body": "x"}, live)
	p.Page("draft")
	for i := range 13 {
		p.published(fmt.Sprintf("post-%d", i), fmt.Sprintf("Post %d", i), "x")
	}
	files := map[string]string{}
	err := p.site.Export(t.Context(), func(name string, content []byte) error {
		files[name] = string(content)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"index.html", "404.html", "alone/index.html", "blog/index.html", "blog-page-2/index.html", "blog/post-0/index.html", "blog/feed.xml", "blog/atom.xml", "card/-.png", "card/blog/post-0.png", "sitemap.xml", "robots.txt"} {
		if files[name] == "" {
			t.Errorf("there is no %s", name)
		}
	}
	for name, content := range files {
		if strings.Contains(name, "inner") || strings.Contains(name, "draft") || strings.Contains(name, "search") || strings.Contains(name, "..") {
			t.Errorf("%s was written", name)
		}
		if !strings.HasSuffix(name, ".html") {
			continue
		}
		for _, found := range regexp.MustCompile(`(?:href|src)="(/site/[^"#?]*)["#?]`).FindAllStringSubmatch(content, -1) {
			to := strings.Trim(strings.TrimPrefix(found[1], "/site"), "/")
			if files[to] == "" && files[strings.TrimPrefix(to+"/index.html", "/")] == "" && to != "search" {
				t.Errorf("%s leads to %s, which is not there", name, found[1])
			}
		}
	}
	if !strings.Contains(files["blog/index.html"], `href="/site/blog-page-2/"`) {
		t.Error("the further pages of a list are not linked")
	}
}
