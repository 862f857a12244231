package site

import (
	"bytes"
	"html"
	"html/template"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	goldmarkhtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/signalbox/signalbox/providers/content/layout"
	"github.com/signalbox/signalbox/providers/content/markdown"
	"github.com/signalbox/signalbox/providers/content/store"
)

// clean is the list of elements that texts of people may have.
var clean = sync.OnceValue(func() *bluemonday.Policy {
	p := bluemonday.UGCPolicy()
	p.AllowAttrs("srcset", "sizes", "loading").OnElements("img")
	p.RequireNoFollowOnLinks(false)
	p.AllowAttrs("class").Matching(bluemonday.SpaceSeparatedTokens).OnElements("code", "sup", "section", "div")
	return p
})

// Markdown makes safe HTML. Its headings begin below the page's own; pictures are those of the site, others become links, since nothing
// of a page comes from elsewhere.
func (v *view) Markdown(source string) template.HTML {
	if source == "" {
		return ""
	}
	md := goldmark.New(
		goldmark.WithExtensions(extension.GFM, extension.Footnote), markdown.Bounds,
		goldmark.WithParserOptions(parser.WithAutoHeadingID(), parser.WithASTTransformers(util.Prioritized(lower{}, 100))),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(images{v}, 100))),
	)
	var out bytes.Buffer
	if err := md.Convert([]byte(source), &out); err != nil {
		return template.HTML("<p>" + html.EscapeString(source) + "</p>")
	}
	return template.HTML(clean().SanitizeBytes(out.Bytes()))
}

// lower puts the headings of a text below the page's own, without a gap between a heading and the one above it.
type lower struct{}

// Transform changes the tree.
func (lower) Transform(document *ast.Document, _ text.Reader, _ parser.Context) {
	var headings []*ast.Heading
	least := 6
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if h, is := n.(*ast.Heading); is && entering {
			headings, least = append(headings, h), min(least, h.Level)
		}
		return ast.WalkContinue, nil
	})
	above := 1
	for _, h := range headings {
		h.Level = min(h.Level-least+2, above+1, 6)
		above = h.Level
	}
}

// images writes the pictures of texts.
type images struct{ v *view }

// RegisterFuncs says what it writes.
func (i images) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindImage, i.write)
}

func (i images) write(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	n := node.(*ast.Image)
	address, alt := string(n.Destination), string(plainText(n, source))
	id, ok := layout.ImageID(address)
	picture := i.v.Picture(id)
	switch {
	case ok && picture != nil:
		var b strings.Builder
		b.WriteString(`<img src="` + html.EscapeString(picture.Src) + `" srcset="` + html.EscapeString(picture.Srcset) + `" sizes="(min-width: 45rem) 42rem, 100vw" loading="lazy" alt="` + html.EscapeString(alt) + `"`)
		if picture.Width > 0 {
			b.WriteString(` width="` + itoa(picture.Width) + `" height="` + itoa(picture.Height) + `"`)
		}
		b.WriteString(">" + string(picture.Credit))
		_, _ = w.WriteString(b.String())
	case !goldmarkhtml.IsDangerousURL(n.Destination) && layout.SafeURL(address) && !ok:
		_, _ = w.WriteString(`<a href="` + html.EscapeString(address) + `">` + html.EscapeString(orText(alt, address)) + `</a>`)
	default:
		_, _ = w.WriteString(html.EscapeString(alt))
	}
	return ast.WalkSkipChildren, nil
}

func orText(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// plainText is the text within a node.
func plainText(n ast.Node, source []byte) []byte {
	var out []byte
	_ = ast.Walk(n, func(child ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, is := child.(*ast.Text); is && entering {
			out = append(out, t.Segment.Value(source)...)
			if t.SoftLineBreak() || t.HardLineBreak() {
				out = append(out, ' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return out
}

// excerptLength is how many characters of a text stand for it where it has no excerpt.
const excerptLength = 180

// plainParser reads texts for what they say.
var plainParser = goldmark.New(markdown.Bounds).Parser()

// excerpt is what lists show of an entry.
func excerpt(e store.Entry) string {
	if e.Excerpt != "" {
		return e.Excerpt
	}
	body, _ := e.Content["body"].(string)
	source := []byte(body)
	document := plainParser.Parse(text.NewReader(source))
	for n := document.FirstChild(); n != nil; n = n.NextSibling() {
		if n.Kind() != ast.KindParagraph {
			continue
		}
		words := strings.Join(strings.Fields(string(plainText(n, source))), " ")
		if words == "" {
			continue
		}
		if utf8.RuneCountInString(words) <= excerptLength {
			return words
		}
		short := string([]rune(words)[:excerptLength])
		if at := strings.LastIndexByte(short, ' '); at > excerptLength/2 {
			short = short[:at]
		}
		return short + "…"
	}
	return ""
}
