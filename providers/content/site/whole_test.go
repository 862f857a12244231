package site_test

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/browsertest"
	"github.com/signalbox/signalbox/providers/content/contenttest"
	"github.com/signalbox/signalbox/providers/content/store"
)

// TestWholeSite walks over all that a visitor can reach: each page is valid HTML, each link leads somewhere, axe finds nothing.
func TestWholeSite(t *testing.T) {
	t.Parallel()
	p := newPublic(t)
	furnish(p)
	p.published("syntax", "All of Markdown", "", object{"content": object{"tags": []any{"a & b", "<c>"}, "body": strings.Join([]string{
		"# One\n\n## One\n\nText[^1] with ~~marks~~, <b>HTML</b>, https://example.com and [inner](#one-1).", "[^1]: A note.", "1. one\n   - two\n\n     three\n2. four", "- [x] done\n- [ ] open",
		"| a | b |\n|:--|--:|\n| 1 | `2` |", "```go\nfunc main() {}\n```", "> quote\n> > deeper", "---", "<div><p>broken", "[a [b](/site/)](https://example.com)", "line  \nbreak &amp; &lt;",
	}, "\n\n")}})
	p.shows("/site/blog/syntax", `<li>a &amp; b</li><li>&lt;c&gt;</li>`, `"keywords":["a \u0026 b"`)
	p.shows("/site/blog/feed.xml", "<category>a &amp; b</category><category>&lt;c&gt;</category>")
	for i := range 13 {
		p.published(fmt.Sprintf("more-%d", i), fmt.Sprintf("More & <more> %d", i), "*x*")
	}
	pages := p.walk()
	if len(pages) < 20 {
		t.Fatalf("only %d pages were reached: %v", len(pages), slices.Sorted(maps.Keys(pages)))
	}
	t.Run("HTML is valid on each page", func(t *testing.T) {
		for path, page := range pages {
			for _, fault := range faults(page) {
				t.Errorf("%s: %s", path, fault)
			}
		}
	})
	t.Run("each link and picture leads to something, down to its place on the page", func(t *testing.T) {
		for path, page := range pages {
			for _, to := range addresses(page) {
				if fault := p.leads(path, to); fault != "" {
					t.Errorf("%s: %q %s", path, to, fault)
				}
			}
		}
	})
	t.Run("axe finds nothing on any page", func(t *testing.T) {
		server := httptest.NewServer(p.site)
		t.Cleanup(server.Close)
		ctx := browsertest.Open(t, browsertest.Phone)
		for path := range pages {
			browsertest.Do(t, ctx, chromedp.Navigate(server.URL+path), chromedp.WaitVisible(chromedp.CSS("main")))
			browsertest.Accessible(t, ctx, path)
		}
	})
}

// walk gives the pages that can be reached from the start, the search and the map, by their paths.
func (p *public) walk() map[string]string {
	p.t.Helper()
	pages := map[string]string{}
	queue := []string{"/site/", "/site/search?q=mugs"}
	for len(queue) > 0 {
		path := queue[0]
		queue = queue[1:]
		if _, seen := pages[path]; seen {
			continue
		}
		w := p.get(path)
		if w.Code != http.StatusOK || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
			continue
		}
		pages[path] = w.Body.String()
		for _, to := range addresses(pages[path]) {
			if u, err := url.Parse(to); err == nil && u.Host == "" && strings.HasPrefix(u.Path, "/site/") {
				u.Fragment = ""
				queue = append(queue, u.String())
			}
		}
	}
	return pages
}

// addresses lists what a page leads to or loads.
func addresses(page string) (list []string) {
	z := html.NewTokenizer(strings.NewReader(page))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		token := z.Token()
		for _, a := range token.Attr {
			switch {
			case a.Key == "href" && token.DataAtom != atom.Base, a.Key == "src", a.Key == "action":
				list = append(list, a.Val)
			case a.Key == "srcset":
				for candidate := range strings.SplitSeq(a.Val, ", ") {
					list = append(list, strings.Fields(candidate)[0])
				}
			}
		}
	}
	return list
}

// leads says what is wrong with an address on a page.
func (p *public) leads(from, address string) string {
	base, err := url.Parse("https://bot.example" + from)
	if err != nil {
		return err.Error()
	}
	to, err := base.Parse(address)
	switch {
	case err != nil:
		return err.Error()
	case to.Scheme == "mailto", to.Scheme == "https" && to.Host != base.Host:
		return ""
	case to.Host != base.Host:
		return "is of an odd kind"
	}
	w := p.get(to.RequestURI())
	if w.Code != http.StatusOK {
		return fmt.Sprintf("is answered by %d", w.Code)
	}
	if place := to.Fragment; place != "" && !strings.Contains(w.Body.String(), `id="`+place+`"`) {
		return "names a place that the page does not have"
	}
	return ""
}

// faults lists what is wrong with a page's HTML: what a browser would put elsewhere, close by itself or read otherwise than it is written.
func faults(page string) (list []string) {
	fault := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if !strings.HasPrefix(page, "<!doctype html>") && !strings.HasPrefix(page, "<!DOCTYPE html>") {
		fault("it does not begin with a doctype")
	}
	written, ids, open := []string{}, map[string]bool{}, []string{}
	z := html.NewTokenizer(strings.NewReader(page))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		token := z.Token()
		switch kind {
		case html.StartTagToken, html.SelfClosingTagToken:
			written = append(written, strings.Join(append(open, token.Data), ">"))
			attributes := map[string]string{}
			for _, a := range token.Attr {
				attributes[a.Key] = a.Val
			}
			if id, has := attributes["id"]; has && (id == "" || ids[id] || strings.ContainsAny(id, " \t\n")) {
				fault("the id %q is empty, is there twice or has a space", id)
			}
			ids[attributes["id"]] = true
			if _, has := attributes["alt"]; token.DataAtom == atom.Img && !has {
				fault("a picture has no alt")
			}
			if token.DataAtom == 0 {
				fault("there is no element %s", token.Data)
			}
			if !void[token.DataAtom] {
				open = append(open, token.Data)
			}
		case html.EndTagToken:
			if len(open) == 0 || open[len(open)-1] != token.Data {
				fault("</%s> closes %v", token.Data, open)
				return list
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		fault("%v stay open", open)
	}
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		fault("%v", err)
		return list
	}
	if read := elements(root, nil); !slices.Equal(read, written) {
		for i := range min(len(read), len(written)) {
			if read[i] != written[i] {
				fault("%s is read as %s", written[i], read[i])
				break
			}
		}
		if len(read) != len(written) {
			fault("%d elements are read as %d", len(written), len(read))
		}
	}
	return list
}

// void are the elements that have no end.
var void = map[atom.Atom]bool{
	atom.Area: true, atom.Base: true, atom.Br: true, atom.Col: true, atom.Embed: true, atom.Hr: true, atom.Img: true, atom.Input: true, atom.Link: true, atom.Meta: true, atom.Source: true, atom.Track: true, atom.Wbr: true,
}

// elements are those of a tree in their order, each with those around it.
func elements(n *html.Node, around []string) (list []string) {
	if n.Type == html.ElementNode {
		around = append(slices.Clone(around), n.Data)
		list = append(list, strings.Join(around, ">"))
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		list = append(list, elements(child, around)...)
	}
	return list
}

func TestFaultsAreFound(t *testing.T) {
	t.Parallel()
	page := func(body string) string {
		return "<!doctype html><html><head><title>x</title></head><body>" + body + "</body></html>"
	}
	if got := faults(page(`<p id="a">x<br><img src="/x" alt=""></p>`)); got != nil {
		t.Errorf("got %v", got)
	}
	for _, bad := range []string{"<p><div>x</div></p>", `<a href="/x"><a href="/y">z</a></a>`, "<ul><li>x</ul>", `<p id="a"></p><p id="a"></p>`, `<img src="/x">`, "<b><i>x</b></i>", "<table><tr><td>x</td></tr></table>", "<frobnicate>x</frobnicate>", "<p>x"} {
		if faults(page(bad)) == nil {
			t.Errorf("nothing is wrong with %s", bad)
		}
	}
}

// An SVG runs scripts where it is opened by itself: no tool takes one, and one that came into the table otherwise is not sent.
func TestSVGIsInert(t *testing.T) {
	t.Parallel()
	p := newPublic(t)
	id, _, err := p.Files.Keep(t.Context(), bytes.NewReader([]byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`)), assets.Meta{Name: "x.svg"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.As(contenttest.Operator, "createImage", object{"buffer": id, "filename": "x.svg"}); err == nil {
		t.Error("createImage took it")
	}
	if err := p.AddImage(t.Context(), p.Store.In(p.Site, ""), "", store.Image{ID: id, Filename: "x.svg"}); err != nil {
		t.Fatal(err)
	}
	for _, side := range []string{"320", "1920"} {
		if w := p.get("/site/media/" + strings.TrimPrefix(id, "asset:") + "/" + side); w.Code != http.StatusNotFound || strings.Contains(w.Body.String(), "svg") {
			t.Errorf("%s: %d %v", side, w.Code, w.Header())
		}
	}
}
