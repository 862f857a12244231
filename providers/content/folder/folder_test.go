package folder_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/signalbox/signalbox/providers/content/contenttest"
	"github.com/signalbox/signalbox/providers/content/folder"
	"github.com/signalbox/signalbox/providers/content/store"
)

type object = contenttest.Object

// links are short paths.
type links struct{}

func (links) PageIn(locale, slug string) string { return path.Join("/", locale, slug) }
func (links) EntryIn(locale, collection, slug string) string {
	return path.Join("/", locale, collection, slug)
}

// noon is when imports happen.
var noon = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

// desk is a site that folders come into.
type desk struct {
	*contenttest.House
	t       *testing.T
	away    map[string][]byte // pictures elsewhere
	fetched []string          // their addresses, as they were asked for
}

func newDesk(t *testing.T) *desk {
	return &desk{House: contenttest.New(t), t: t, away: map[string][]byte{}}
}

// bring imports a folder and gives what was told, by file.
func (d *desk) bring(files fstest.MapFS, replace bool) map[string]folder.Result {
	d.t.Helper()
	site := d.Store.In(d.Site, "")
	told := map[string]folder.Result{}
	err := folder.Import(d.t.Context(), files, folder.Config{
		Content: site, Links: links{}, Language: "en", Replace: replace, Now: func() time.Time { return noon },
		Keep: func(ctx context.Context, content io.Reader, name string) (string, error) {
			return d.KeepPicture(ctx, "", name, content)
		},
		Fetch: func(_ context.Context, address string) (io.ReadCloser, error) {
			d.fetched = append(d.fetched, address)
			if content, there := d.away[address]; there {
				return io.NopCloser(bytes.NewReader(content)), nil
			}
			return nil, errors.New("404 Not Found")
		},
		Add: func(ctx context.Context, image store.Image) error { return d.AddImage(ctx, site, "", image) },
	}, func(r folder.Result) { told[r.File] = r })
	if err != nil {
		d.t.Fatal(err)
	}
	return told
}

// version changes with everything in the site.
func (d *desk) version() int64 {
	d.t.Helper()
	site, err := d.Store.Site(d.t.Context(), store.House)
	if err != nil {
		d.t.Fatal(err)
	}
	return site.Version
}

func (d *desk) page(slug string) object {
	d.t.Helper()
	pages := d.Items("getPage", object{"slug": slug, "includeContent": true})
	if len(pages) != 1 {
		d.t.Fatalf("there are %d pages %s", len(pages), slug)
	}
	return pages[0]
}

// body is the text of a page.
func (d *desk) body(slug string) string {
	d.t.Helper()
	return d.page(slug)["sections"].([]any)[0].(object)["content"].(object)["body"].(string)
}

func (d *desk) post(slug string) object {
	d.t.Helper()
	posts := d.Items("getPost", object{"slug": slug})
	if len(posts) != 1 {
		d.t.Fatalf("there are %d posts %s", len(posts), slug)
	}
	return posts[0]
}

func file(content string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(content)} }

func picture(t *testing.T, width int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, 8))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// blogFolder is a folder as generators of sites have them.
func blogFolder(t *testing.T) fstest.MapFS {
	return fstest.MapFS{
		"index.md":       file("# Welcome\n\nSee [the team](about/team.md#ann) and [mugs](posts/2026-01-02-new-mugs.md).\n"),
		"about/index.md": file("---\ntitle: About us\ndescription: Who we are\ncover: ../img/kiln.png\nweight: 3\n---\n\nText.\n"),
		"about/team.md":  file("---\ntitle: \"The team\"\ndraft: true\n---\n# The team\n\n![Ann at work](../img/a%20b.png \"Ann\")\n\n[Elsewhere](https://example.com) [gone](gone.md)\n"),
		"posts/2026-01-02-new-mugs.md": file("---\r\ntitle: New mugs\r\nauthor: [Ann, Bo]\r\ntags: [clay, mugs]\r\ncategories: [Shop, clay]\r\nexcerpt: |\r\n  Three of them.\r\ncover: {image: /img/kiln.png, alt: The kiln}\r\n---\r\n" +
			"![](/img/kiln.png)\r\n\r\n![far](https://pictures.example/far.png) ![gone](https://pictures.example/gone.png)\r\n"),
		"blog/later.md":       file("---\ntitle: Later\ndate: 2026-12-24 18:00:00 +0100\n---\nSoon."),
		"glossary/glaze.md":   file("# Glaze\n\nWhat shines."),
		"static/img/kiln.png": {Data: picture(t, 9)},
		"img/a b.png":         {Data: picture(t, 7)},
		"img/kiln.png":        {Data: picture(t, 9)},
		".git/x.md":           file("no"),
		"notes.txt":           file("no"),
	}
}

func TestImport(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.away["https://pictures.example/far.png"] = picture(t, 5)
	files := blogFolder(t)
	told := d.bring(files, false)
	t.Run("each file becomes a page, a post or an entry, by its folder and its head", func(t *testing.T) {
		kinds := map[string]string{}
		for name, r := range told {
			kinds[name] = string(r.Outcome) + " " + r.Kind + " " + r.Slug
		}
		want := map[string]string{
			"index.md": "added page home", "about/index.md": "added page about", "about/team.md": "added page team", "posts/2026-01-02-new-mugs.md": "added post new-mugs",
			"blog/later.md": "added post later", "glossary/glaze.md": "added entry glaze",
		}
		if !maps.Equal(kinds, want) {
			t.Errorf("got %v", told)
		}
	})
	t.Run("pages stand below that of their folder, drafts are drafts, titles are said once", func(t *testing.T) {
		team := d.page("team")
		if team["parentId"] != d.page("about")["id"] || team["status"] != "draft" || d.page("about")["status"] != "published" || d.page("home")["name"] != "Welcome" {
			t.Errorf("got %v", team)
		}
		if body := d.body("team"); strings.Contains(body, "# The team") {
			t.Errorf("the title is in the text: %s", body)
		}
		if meta := d.page("about")["meta"].(object); meta["description"] != "Who we are" || !strings.HasPrefix(meta["image"].(string), "asset:") {
			t.Errorf("got %v", meta)
		}
	})
	t.Run("links between files lead from page to page", func(t *testing.T) {
		if got := d.body("home"); got != "\nSee [the team](/team#ann) and [mugs](/blog/new-mugs).\n" {
			t.Errorf("got %q", got)
		}
		if got := d.body("team"); !strings.Contains(got, "[Elsewhere](https://example.com) [gone](gone.md)") {
			t.Errorf("got %q", got)
		}
	})
	t.Run("a post has date, authors, category, tags, excerpt, cover", func(t *testing.T) {
		post := d.post("new-mugs")
		content := post["content"].(object)
		if post["publishedAt"] != "2026-01-02T00:00:00Z" || post["author"] != "Ann, Bo" || post["category"] != "Shop" || post["excerpt"] != "Three of them." || post["status"] != "published" ||
			!slices.Equal(content["tags"].([]any), []any{"clay", "mugs"}) || content["cover"].(object)["alt"] != "The kiln" || post["featuredImage"] != content["cover"].(object)["url"] {
			t.Errorf("got %v", post)
		}
		d.Do("updatePost", object{"slug": "new-mugs", "content": object{"tags": []any{"clay", "mugs"}}})
	})
	t.Run("what has a date to come waits for it", func(t *testing.T) {
		if post := d.post("later"); post["status"] != "draft" || post["publishAt"] != "2026-12-24T17:00:00Z" {
			t.Errorf("got %v", post)
		}
	})
	t.Run("pictures are brought from the folder and from elsewhere, each once; what can't be had stays a link and is told", func(t *testing.T) {
		images := d.Items("getImage", object{"all": true})
		if len(images) != 3 {
			t.Errorf("got %v", images)
		}
		if found := d.Items("getImage", object{"query": "Ann at work"}); len(found) != 1 || !strings.Contains(d.body("team"), "![Ann at work]("+found[0]["id"].(string)+` "Ann")`) {
			t.Errorf("got %v, %s", found, d.body("team"))
		}
		body := d.post("new-mugs")["content"].(object)["body"].(string)
		if strings.Contains(body, "far.png") || !strings.Contains(body, "![gone](https://pictures.example/gone.png)") || !strings.Contains(strings.Join(told["posts/2026-01-02-new-mugs.md"].Notes, "\n"), "line 12: the picture https://pictures.example/gone.png stays a link: 404") {
			t.Errorf("got %s, %v", body, told["posts/2026-01-02-new-mugs.md"].Notes)
		}
	})
	t.Run("what has no place in the site is told", func(t *testing.T) {
		if notes := told["about/index.md"].Notes; !slices.Equal(notes, []string{"line 5: weight has no place here"}) {
			t.Errorf("got %q", notes)
		}
		if notes := told["about/team.md"].Notes; !slices.Equal(notes, []string{"line 9: the link to gone.md leads to nothing that was imported"}) {
			t.Errorf("got %q", notes)
		}
	})
	t.Run("a second run changes nothing, with and without replacing", func(t *testing.T) {
		before := d.version()
		for _, replace := range []bool{false, true} {
			for name, r := range d.bring(files, replace) {
				if r.Outcome != folder.Same {
					t.Errorf("%s: %+v", name, r)
				}
			}
		}
		if after := d.version(); after != before {
			t.Errorf("the site's version was %d and is %d", before, after)
		}
	})
	t.Run("what is there under the same slug is told and left, and replaced where that is asked for", func(t *testing.T) {
		changed := fstest.MapFS{"about.md": file("# About all of us\n\nNew text."), "posts/new-mugs.md": file("# Newer mugs\n\nNew text.")}
		before := d.version()
		for name, r := range d.bring(changed, false) {
			if r.Outcome != folder.Left || !strings.Contains(r.Message, "--replace") {
				t.Errorf("%s: %+v", name, r)
			}
		}
		if d.version() != before {
			t.Error("it was changed")
		}
		section := d.Section(d.page("about")["id"].(string), "quote", object{"text": "Good."})
		for name, r := range d.bring(changed, true) {
			if r.Outcome != folder.Replaced {
				t.Errorf("%s: %+v", name, r)
			}
		}
		if d.body("about") != "\nNew text." || d.page("about")["name"] != "About all of us" || len(d.Items("getSection", object{"pageSectionId": section})) != 1 {
			t.Errorf("got %v", d.page("about"))
		}
		if post := d.post("new-mugs"); post["title"] != "Newer mugs" || post["publishedAt"] != "2026-01-02T00:00:00Z" || post["content"].(object)["cover"] != nil {
			t.Errorf("got %v", post)
		}
	})
}

func TestPicturesFromElsewhereAreAskedForOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.away["https://pictures.example/far.png"] = picture(t, 1)
	text := "# A page\n\n![far](https://pictures.example/far.png) ![gone](https://pictures.example/gone.png)\n"
	for name, r := range d.bring(fstest.MapFS{"one.md": file(text), "two.md": file(text)}, false) {
		if r.Outcome != folder.Added || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "gone.png stays a link: 404") {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if len(d.fetched) != 2 {
		t.Errorf("asked for %q", d.fetched)
	}
}

func TestBrokenFiles(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	broken := map[string]struct {
		content string
		line    int
		says    string
	}{
		"yaml.md":         {"---\ntitle: a\ntags: [b\n---\nText", 3, "no YAML"},
		"open.md":         {"---\ntitle: a\n", 1, "does not end"},
		"toml.md":         {"+++\ntitle = \"a\"\n+++\n", 1, "TOML"},
		"list.md":         {"---\n- a\n---\n", 2, "no list of names"},
		"date.md":         {"---\ntitle: a\n\ndate: soon\n---\n", 4, `"soon" is no date`},
		"draft.md":        {"---\ntitle: a\ndraft: perhaps\n---\n", 3, "true or false"},
		"title.md":        {"---\ntitle: [a]\n---\n", 2, "expected a text"},
		"untitled.md":     {"Text only.", 1, "no title"},
		"slug.md":         {"---\ntitle: a\nslug: A b\n---\n", 3, "none"},
		"language.md":     {"---\ntitle: a\nlanguage: klingon-x\n---\n", 3, "no language"},
		"alone.md":        {"---\ntitle: a\nlanguage: de\n---\nx", 0, "has no page alone"},
		"kind.md":         {"---\ntitle: a\ntype: recipe\n---\n", 3, "page, post or one of blog, glossary"},
		"picture.md":      {"---\ntitle: a\n---\nText\n\n![x](nowhere.png)\n", 6, "nowhere.png is not there"},
		"cover.md":        {"---\ntitle: a\ncover: nowhere.png\n---\n", 3, "nowhere.png is not there"},
		"outside.md":      {"# a\n\n![x](../../etc/passwd)\n", 3, "is not there"},
		"svg.md":          {"# a\n\n![x](x.svg)\n", 3, "svg"},
		"bytes.md":        {"# a\n\xff", 2, "UTF-8"},
		"large.md":        {strings.Repeat("# a\n", 1<<20+1), 0, "at most 4194304"},
		"zero.md":         {"# a\n\n\x00", 3, "zero byte"},
		"posts/_index.md": {"# Posts\n", 0, "would hide the list of the collection blog"},
		"glossary.md":     {"# Words\n", 0, "would hide the list of the collection glossary"},
		"z/other.md":      {"---\ntitle: a\nslug: good\n---\n", 0, "that of good.md"},
	}
	files := fstest.MapFS{"good.md": file("# Good\n\nText."), "x.svg": file(`<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>`)}
	for name, b := range broken {
		files[name] = file(b.content)
	}
	told := d.bring(files, false)
	for name, want := range broken {
		if got := told[name]; got.Outcome != folder.Broken || got.Line != want.line || !strings.Contains(got.Message, want.says) || strings.Contains(got.Message, "\n") {
			t.Errorf("%s: got %+v, want line %d and %q", name, got, want.line, want.says)
		}
	}
	if told["good.md"].Outcome != folder.Added || len(d.Items("getPage", object{"all": true})) != 1 || len(d.Items("getImage", object{"all": true})) != 0 {
		t.Errorf("a broken file cost more than itself: %v", told["good.md"])
	}
	t.Run("a post's slug that another collection has is refused by the database and told", func(t *testing.T) {
		d.Do("createPost", object{"collectionSlug": "blog", "slug": "taken", "title": "Taken", "content": object{"body": "x"}})
		_, err := d.Pool.Exec(t.Context(), `INSERT INTO site_collections (site_id, slug, title, kind) VALUES ($1, 'news', 'News', 'post')`, d.Site.ID)
		if err != nil {
			t.Fatal(err)
		}
		if got := d.bring(fstest.MapFS{"news/taken.md": file("# Again")}, false)["news/taken.md"]; got.Outcome != folder.Broken || !strings.Contains(got.Message, "slug") {
			t.Errorf("got %+v", got)
		}
	})
}

func TestImportOfSeveralLanguages(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	files := fstest.MapFS{
		"about.md":        file("---\ntitle: About us\nlanguage: en\n---\nWe are [four](blog/four.md)."),
		"de/about.md":     file("---\ntitle: Über uns\nlanguage: de\ndescription: Wer wir sind\n---\nWir sind [vier](blog/four.md). ![Ofen](/img/kiln.png)"),
		"blog/four.md":    file("# Four\n\nOf us."),
		"de/blog/four.md": file("---\ntitle: Vier\nlang: de\ntags: [wir]\ndraft: true\n---\nVon uns."),
		"img/kiln.png":    {Data: picture(t, 9)},
	}
	german := func(items []object) object { return items[0]["translations"].([]any)[0].(object) }
	page := func() object { return german(d.Items("getPage", object{"slug": "about", "includeContent": true})) }
	told := d.bring(files, false)
	for name := range files {
		if r := told[name]; strings.HasSuffix(name, ".md") && (r.Outcome != folder.Added || len(r.Notes) > 0) {
			t.Errorf("%s: %+v", name, r)
		}
	}
	t.Run("a file in another language is what the page of its slug says in it", func(t *testing.T) {
		got := page()
		section := d.page("about")["sections"].([]any)[0].(object)["pageSectionId"].(string)
		body, _ := got["content"].(object)[section].(object)["body"].(string)
		if got["locale"] != "de" || got["title"] != "Über uns" || got["about"] != "Wer wir sind" || got["status"] != "published" || !strings.HasPrefix(body, "Wir sind [vier](/de/blog/four). ![Ofen](asset:") {
			t.Errorf("got %v", got)
		}
		if d.page("about")["name"] != "About us" || d.body("about") != "We are [four](/blog/four)." || len(d.Items("getPage", object{"all": true})) != 1 {
			t.Errorf("the site's own is %v", d.page("about"))
		}
	})
	t.Run("and so is a post, a draft by itself", func(t *testing.T) {
		got := german([]object{d.post("four")})
		if got["title"] != "Vier" || got["status"] != "draft" || got["content"].(object)["body"] != "Von uns." || d.post("four")["status"] != "published" {
			t.Errorf("got %v", got)
		}
	})
	t.Run("a second run changes nothing, with and without replacing", func(t *testing.T) {
		before := d.version()
		for _, replace := range []bool{false, true} {
			for name, r := range d.bring(files, replace) {
				if r.Outcome != folder.Same {
					t.Errorf("%s: %+v", name, r)
				}
			}
		}
		if after := d.version(); after != before {
			t.Errorf("the site's version was %d and is %d", before, after)
		}
	})
	t.Run("what is said otherwise there is left, and replaced where that is asked for", func(t *testing.T) {
		changed := fstest.MapFS{"about.md": file("---\ntitle: Wir\nlanguage: de\n---\nNeu.")}
		if r := d.bring(changed, false)["about.md"]; r.Outcome != folder.Left || page()["title"] != "Über uns" {
			t.Errorf("got %+v", r)
		}
		if r := d.bring(changed, true)["about.md"]; r.Outcome != folder.Replaced || page()["title"] != "Wir" || d.page("about")["name"] != "About us" {
			t.Errorf("got %+v, %v", r, page())
		}
	})
}
