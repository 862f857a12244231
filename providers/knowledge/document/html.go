package document

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// readHTML reads a page: its main part where it names one, without navigation.
func readHTML(data []byte) (Document, error) {
	d, body := cutFrontMatter(data)
	return fromHTML(d, body)
}

// tags are what Nunjucks puts between the HTML.
var tags = regexp.MustCompile(`(?s)\{%.*?%\}|\{#.*?#\}|\{\{.*?\}\}`)

// readNunjucks reads a page of HTML with a head in YAML and tags, which are left out.
func readNunjucks(data []byte) (Document, error) {
	d, body := cutFrontMatter(data)
	return fromHTML(d, tags.ReplaceAll(body, nil))
}

func fromHTML(d Document, data []byte) (Document, error) {
	root, err := html.Parse(bytes.NewReader(data))
	if err != nil {
		return d, fmt.Errorf("is no HTML that can be read: %w", err)
	}
	p := page{doc: d, sections: []Section{{}}}
	p.head(root)
	content := root
	if main := find(root, func(n *html.Node) bool { return n.DataAtom == atom.Main || attribute(n, "role") == "main" }); main != nil {
		content = main
	} else if article := find(root, func(n *html.Node) bool { return n.DataAtom == atom.Article }); article != nil && article.NextSibling == nil {
		content = article
	}
	p.walk(content)
	p.flush()
	if p.err != nil {
		return d, p.err
	}
	p.doc.Sections = p.sections
	return p.doc, nil
}

// page collects the sections of a page while it is walked.
type page struct {
	doc      Document
	sections []Section
	text     strings.Builder // of the last section
	size     int
	err      error
}

// head reads what the page says about itself, where its YAML does not.
func (p *page) head(root *html.Node) {
	if n := find(root, func(n *html.Node) bool { return n.DataAtom == atom.Html }); n != nil && p.doc.Language == "" {
		p.doc.Language = attribute(n, "lang")
	}
	if n := find(root, func(n *html.Node) bool { return n.DataAtom == atom.Title }); n != nil && p.doc.Title == "" {
		p.doc.Title = textOf(n)
	}
	if n := find(root, func(n *html.Node) bool {
		return n.DataAtom == atom.Meta && strings.EqualFold(attribute(n, "name"), "description")
	}); n != nil && p.doc.Summary == "" {
		p.doc.Summary = attribute(n, "content")
	}
}

// skipped are elements that are not the page's text.
var skipped = []atom.Atom{
	atom.Head, atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Nav, atom.Footer, atom.Aside, atom.Iframe, atom.Button, atom.Form, atom.Select, atom.Object,
}

// blocks are elements that stand on lines of their own.
var blocks = []atom.Atom{
	atom.P, atom.Div, atom.Section, atom.Article, atom.Main, atom.Ul, atom.Ol, atom.Dl, atom.Dd, atom.Dt, atom.Table, atom.Blockquote, atom.Figure, atom.Figcaption, atom.Header, atom.Details, atom.Summary, atom.Hr,
}

func (p *page) walk(n *html.Node) {
	switch {
	case p.err != nil || slices.Contains(skipped, n.DataAtom) && n.Type == html.ElementNode:
		return
	case n.Type == html.TextNode:
		p.write(p.collapsed(n.Data))
		return
	case n.Type != html.ElementNode:
		p.children(n)
		return
	}
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		p.heading(n)
	case atom.Pre:
		p.code(n)
	case atom.Br:
		p.write("\n")
	case atom.Li:
		p.write("\n- ")
		p.children(n)
	case atom.Tr:
		p.write("\n")
		p.children(n)
	case atom.Td, atom.Th:
		p.children(n)
		p.write(" ")
	default:
		if slices.Contains(blocks, n.DataAtom) {
			p.write("\n\n")
			defer p.write("\n\n")
		}
		p.children(n)
	}
}

func (p *page) children(n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		p.walk(c)
	}
}

// write adds to the text of the last section.
func (p *page) write(text string) {
	if p.size += len(text); p.size > maxText {
		p.err = fmt.Errorf("has more than %d bytes of text", maxText)
		return
	}
	p.text.WriteString(text)
}

// heading begins a section.
func (p *page) heading(n *html.Node) {
	p.flush()
	if len(p.sections) >= maxSections {
		p.err = fmt.Errorf("has more than %d headings", maxSections)
		return
	}
	s := Section{Heading: textOf(n), Anchor: attribute(n, "id"), Level: int(n.Data[1] - '0')}
	if named := find(n, func(n *html.Node) bool { return attribute(n, "id")+attribute(n, "name") != "" }); s.Anchor == "" && named != nil {
		s.Anchor = attribute(named, "id")
		if s.Anchor == "" {
			s.Anchor = attribute(named, "name")
		}
	}
	p.sections = append(p.sections, s)
}

// flush puts the text so far into the last section.
func (p *page) flush() {
	p.sections[len(p.sections)-1].Text = p.text.String()
	p.text.Reset()
}

// code keeps a block of code as it is.
func (p *page) code(n *html.Node) {
	last := &p.sections[len(p.sections)-1]
	last.Code = true
	if marked := find(n, func(n *html.Node) bool { return codeLanguage(n) != "" }); marked != nil {
		last.Languages = append(last.Languages, codeLanguage(marked))
	}
	p.write("\n\n" + textOf(n) + "\n\n")
}

// codeLanguage is the language that a block of code names by its class.
func codeLanguage(n *html.Node) string {
	for class := range strings.FieldsSeq(attribute(n, "class")) {
		for _, prefix := range []string{"language-", "lang-", "highlight-source-"} {
			if language, is := strings.CutPrefix(class, prefix); is {
				return strings.ToLower(language)
			}
		}
	}
	return ""
}

// find gives the first node, in the order of the page, that is as wanted.
func find(n *html.Node, wanted func(*html.Node) bool) *html.Node {
	if n.Type == html.ElementNode && wanted(n) {
		return n
	}
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && wanted(d) {
			return d
		}
	}
	return nil
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// textOf is all text inside a node, as it stands there.
func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

var blanks = regexp.MustCompile(`[ \t\r\n]+`)

// collapsed is a text as HTML shows it behind what is there: all white space is one blank, and none at the begin of a line.
func (p *page) collapsed(text string) string {
	text = blanks.ReplaceAllString(text, " ")
	if so := p.text.String(); so == "" || strings.HasSuffix(so, "\n") || strings.HasSuffix(so, " ") {
		return strings.TrimPrefix(text, " ")
	}
	return text
}
