package content_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/edit"
	"github.com/signalbox/signalbox/providers/content/contenttest"
	"github.com/signalbox/signalbox/registry"
)

// looks gives what a call would do, in the operator's name.
func looks(t *testing.T, h *contenttest.House, tool string, inputs object) (registry.Call, registry.Preview) {
	t.Helper()
	c, err := h.Prepare(contenttest.Operator, tool, inputs)
	if err != nil {
		t.Fatal(err)
	}
	look, err := h.Preview(t.Context(), c)
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	c.Preview = &look
	return c, look
}

// told writes changes as lines, what goes in [- -] and what comes in [+ +].
func told(look registry.Preview) string {
	var b strings.Builder
	for _, c := range look.Changes {
		fmt.Fprintf(&b, "%s: ", c.Field)
		for _, p := range c.Pieces {
			b.WriteString(map[edit.Kind]string{edit.Gone: "[-" + p.Text + "-]", edit.New: "[+" + p.Text + "+]", edit.Same: p.Text}[p.Kind])
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestChangesAreToldBefore(t *testing.T) {
	t.Parallel()
	h := contenttest.New(t)
	picture, other := h.Image("mug.png", 1), h.Image("jug.png", 2)
	about, contact := h.Page("about", object{"meta": object{"description": "Who we are"}}), h.Page("contact")
	hero := h.Section(about, "hero", object{"heading": "Hello all", "image": picture})
	h.Do("createPost", object{"collectionSlug": "blog", "slug": "mugs", "title": "New mugs", "content": object{"body": "Here they are.", "cover": object{"url": picture, "alt": "A mug"}}})
	entry := h.Do("createEntry", object{"collectionId": "glossary", "slug": "mug", "title": "Mug", "content": object{"body": "A cup."}})["entryId"].(string)
	item := h.Do("createNavItem", object{"navigationId": "main", "label": "About", "targetType": "page", "targetId": about})["navItemId"].(string)

	for name, c := range map[string]struct {
		tool   string
		inputs object
		want   string
		title  string // of what would change
		link   string // the end of it
	}{
		"a post, word by word": {
			"updatePost", object{"slug": "mugs", "title": "New mugs", "content": object{"body": "Here they all are."}},
			"content.body: Here they [+all +]are.\n", "New mugs", "",
		},
		"a picture is told by its name": {
			"updatePost", object{"slug": "mugs", "content": object{"cover": object{"url": other, "alt": "A mug"}}},
			"featuredImage: [-mug.png-][+jug.png+]\ncontent.cover.url: [-mug.png-][+jug.png+]\n", "New mugs", "",
		},
		"publishing": {"updatePost", object{"slug": "mugs", "status": "published", "confirmed": true}, "status: [-draft-][+published+]\n", "New mugs", ""},
		"what another language says": {
			"updatePost", object{"slug": "mugs", "locale": "de", "title": "Neue Becher"}, "title: [+Neue Becher+]\n", "New mugs (de)", "?locale=de",
		},
		"a page": {
			"updatePage", object{"id": contact, "name": "Contact us", "parentId": about, "meta": object{"description": "Write to us"}},
			"name: [-Contact-][+Contact us+]\nparentId: [+About+]\nmeta.description: [+Write to us+]\n", "Contact", "/page/" + contact,
		},
		"a page is published with its sections": {"updatePage", object{"id": about, "status": "published"}, "status.1.hero: [-draft-][+published+]\n", "About", "/page/" + about},
		"a page in another language": {
			"updatePage", object{"id": about, "locale": "de", "name": "Über uns"}, "name: [+Über uns+]\n", "About (de)", "/page/" + about + "?locale=de",
		},
		"a section": {
			"updateSection", object{"pageSectionId": hero, "content": object{"heading": "Hello you"}, "imageField": "image", "imageId": other, "hidden": true},
			"hidden: [-false-][+true+]\ncontent.heading: Hello [-all-][+you+]\ncontent.image: [-mug.png-][+jug.png+]\n", "hero", "/page/" + about,
		},
		"a section in another language": {
			"updateSection", object{"pageSectionId": hero, "locale": "de", "content": object{"heading": "Hallo"}}, "content.heading: [+Hallo+]\n", "hero (de)", "/page/" + about + "?locale=de",
		},
		"an entry":    {"updateEntry", object{"id": entry, "content": object{"body": nil}}, "content.body: [-A cup.-]\n", "Mug", "/entry/" + entry},
		"a menu item": {"updateNavItem", object{"id": item, "targetId": contact, "visible": false}, "targetId: [-About-][+Contact+]\nvisible: [-true-][+false+]\n", "About", ""},
		"an image":    {"updateImage", object{"id": picture, "tags": []any{"mug", "red"}}, "tags: [+mug, red+]\n", "mug.png", ""},
		"a new post": {
			"createPost", object{"collectionSlug": "blog", "slug": "jugs", "title": "Jugs", "content": object{"body": "Soon."}},
			"collectionSlug: [+Blog+]\ntitle: [+Jugs+]\nslug: [+jugs+]\ncontent.body: [+Soon.+]\n", "", "",
		},
		"a new page":      {"createPage", object{"name": "Team", "slug": "team", "parentId": about}, "name: [+Team+]\nslug: [+team+]\nparentId: [+About+]\n", "", ""},
		"a new section":   {"createSection", object{"pageId": about, "templateKey": "hero", "content": object{"heading": "Hi"}, "sortOrder": 0}, "pageId: [+About+]\ntemplateKey: [+hero+]\nsortOrder: [+0+]\ncontent.heading: [+Hi+]\n", "", "/page/" + about},
		"a new menu item": {"createNavItem", object{"navigationId": "footer", "label": "Shop", "targetType": "url", "url": "https://shop.example"}, "navigationId: [+Footer+]\nlabel: [+Shop+]\ntargetType: [+url+]\nurl: [+https://shop.example+]\n", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, look := looks(t, h, c.tool, c.inputs)
			if got := told(look); got != c.want || look.Capability != registry.CapabilityWrite {
				t.Errorf("it is told as\n%swant\n%s", got, c.want)
			}
			if title := append(look.Touches, registry.Touch{})[0].Title; title != c.title || len(look.Touches) > 1 || !strings.HasSuffix(look.Link, c.link) {
				t.Errorf("it touches %v, link %q", look.Touches, look.Link)
			}
		})
	}
	t.Run("nothing was changed by looking", func(t *testing.T) {
		posts, pages := h.Items("getPost", object{"all": true}), h.Items("getPage", object{"all": true})
		if len(posts) != 1 || posts[0]["title"] != "New mugs" || len(pages) != 2 || len(h.Items("getNavItem", object{"navigationId": "footer", "all": true})) != 0 {
			t.Errorf("%v %v", posts, pages)
		}
	})
}

func TestWhatIsToldIsBounded(t *testing.T) {
	t.Parallel()
	h := contenttest.New(t)
	content, other := object{}, object{}
	for i := range 60 {
		content[fmt.Sprintf("field%02d", i)], other[fmt.Sprintf("field%02d", i)] = strings.Repeat("old ", 4000), strings.Repeat("new ", 4000)
	}
	entry := h.Do("createEntry", object{"collectionId": "glossary", "slug": "long", "title": "Long", "content": content})["entryId"].(string)
	_, look := looks(t, h, "updateEntry", object{"id": entry, "content": other})
	if n := len(told(look)); n > 1500 || len(look.Changes) < 2 || look.Untold != 60-len(look.Changes) {
		t.Errorf("%d bytes, %d changes, %d untold", n, len(look.Changes), look.Untold)
	}
}

func TestApprovedChangesAreOfWhatWasShown(t *testing.T) {
	t.Parallel()
	h := contenttest.New(t)
	page := h.Page("about")
	section := h.Section(page, "hero", object{"heading": "Hello"})
	item := h.Do("createNavItem", object{"navigationId": "main", "label": "About", "targetType": "page", "targetId": page})["navItemId"].(string)
	entry := h.Do("createEntry", object{"collectionId": "glossary", "slug": "mug", "title": "Mug"})["entryId"].(string)
	picture := h.Image("mug.png", 1)
	h.Do("createPost", object{"collectionSlug": "blog", "slug": "mugs", "title": "Mugs", "content": object{"body": "Here."}})

	for name, c := range map[string]struct {
		tool              string
		inputs, meanwhile object
	}{
		"a post":                     {"updatePost", object{"slug": "mugs", "title": "A"}, object{"slug": "mugs", "title": "B"}},
		"a post in another language": {"updatePost", object{"slug": "mugs", "title": "A", "locale": "de"}, object{"slug": "mugs", "title": "B", "locale": "de"}},
		"a page":                     {"updatePage", object{"id": page, "name": "A"}, object{"id": page, "name": "B"}},
		"a section":                  {"updateSection", object{"pageSectionId": section, "hidden": true}, object{"pageSectionId": section, "content": object{"heading": "B"}}},
		"an entry":                   {"updateEntry", object{"id": entry, "title": "A"}, object{"id": entry, "title": "B"}},
		"a menu item":                {"updateNavItem", object{"id": item, "label": "A"}, object{"id": item, "label": "B"}},
		"an image":                   {"updateImage", object{"id": picture, "description": "A"}, object{"id": picture, "description": "B"}},
	} {
		t.Run(name, func(t *testing.T) {
			call, _ := looks(t, h, c.tool, c.inputs)
			h.Do(c.tool, c.meanwhile)
			if _, err := h.Carry(call); err == nil || !strings.Contains(err.Error(), "changed") {
				t.Fatalf("what was changed in between is changed: %v", err)
			}
			again, _ := looks(t, h, c.tool, c.inputs)
			if _, err := h.Carry(again); err != nil {
				t.Errorf("shown again it is not changed: %v", err)
			}
		})
	}
	t.Run("another post under the same slug is another thing", func(t *testing.T) {
		call, _ := looks(t, h, "updatePost", object{"slug": "mugs", "title": "C"})
		id := h.Items("getPost", object{"slug": "mugs"})[0]["id"]
		h.Do("updateEntry", object{"id": id, "slug": "jugs"})
		h.Do("createPost", object{"collectionSlug": "blog", "slug": "mugs", "title": "Others", "content": object{"body": "Here."}})
		if _, err := h.Carry(call); err == nil {
			t.Error("it is changed")
		}
	})
}

// closed has no files, and says so when one is asked for.
type closed struct{ t *testing.T }

func (c closed) OpenMedia(_ context.Context, ref registry.Media) (io.ReadCloser, registry.MediaInfo, error) {
	c.t.Errorf("%s was fetched", ref)
	return nil, registry.MediaInfo{}, io.EOF
}

func TestLookingRefusesWhatTheCallWould(t *testing.T) {
	t.Parallel()
	h := contenttest.New(t)
	h.Do("createPost", object{"collectionSlug": "blog", "slug": "mugs", "title": "Mugs", "content": object{"body": "Here."}})
	for name, c := range map[string]struct {
		tool   string
		inputs object
		want   string
	}{
		"a post that is not there": {"updatePost", object{"slug": "none", "title": "A"}, "there is no such post"},
		"a page that is not there": {"createSection", object{"pageId": "00000000-0000-4000-8000-00000000abcd", "templateKey": "hero"}, "page"},
		"content that is none":     {"updatePost", object{"slug": "mugs", "content": object{"colour": "red"}}, "has \"body\""},
	} {
		t.Run(name, func(t *testing.T) {
			call, err := h.Prepare(contenttest.Operator, c.tool, c.inputs)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := h.Preview(t.Context(), call); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("it says %v", err)
			}
		})
	}
	t.Run("pictures from elsewhere are not fetched before", func(t *testing.T) {
		call, err := h.Prepare(contenttest.Operator, "updatePost", object{"slug": "mugs", "content": object{"body": "![A mug](https://elsewhere.example/mug.png)"}})
		if err != nil {
			t.Fatal(err)
		}
		call.Media = closed{t}
		if look, err := h.Preview(t.Context(), call); err != nil || !strings.Contains(told(look), "elsewhere.example") {
			t.Errorf("%v, %v", look, err)
		}
	})
}
