package webtools

import (
	"bytes"
	"errors"
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
)

// readable is the title and the text of a page: what stands in its main part or article, without menus, forms and scripts.
func readable(raw []byte, base *url.URL, markdown bool) (title, content string, err error) {
	decoded, err := charset.NewReader(bytes.NewReader(raw), "text/html")
	if err != nil {
		return "", "", errors.New("the page can't be read")
	}
	document, err := html.Parse(decoded)
	if err != nil {
		return "", "", errors.New("the page can't be read")
	}
	if node := first(document, atom.Title); node != nil {
		title = words(node)
	}
	body := first(document, atom.Main)
	if body == nil {
		body = first(document, atom.Article)
	}
	if body == nil {
		body = first(document, atom.Body)
	}
	w := writer{base: base, markdown: markdown}
	if body != nil {
		w.node(body)
	}
	return title, w.text(), nil
}

// first finds an element, in the order of the page.
func first(n *html.Node, kind atom.Atom) *html.Node {
	for child := range n.Descendants() {
		if child.Type == html.ElementNode && child.DataAtom == kind {
			return child
		}
	}
	return nil
}

// words are the texts within a node, with single blanks.
func words(n *html.Node) string {
	var all []string
	for child := range n.Descendants() {
		if child.Type == html.TextNode {
			all = append(all, child.Data)
		}
	}
	return strings.Join(strings.Fields(strings.Join(all, " ")), " ")
}

// writer writes a page as text. Lines are blocks; within one, blanks are single.
type writer struct {
	base     *url.URL
	markdown bool
	out      strings.Builder
	line     strings.Builder
	prefix   string // of the next line
	lists    int    // how deep in lists
	listed   bool   // the last line was an item
}

// deepest bounds how far elements are followed into each other.
const deepest = 200

// skipped are elements that are no text of a page.
var skipped = map[atom.Atom]bool{
	atom.Script: true, atom.Style: true, atom.Noscript: true, atom.Template: true, atom.Nav: true, atom.Footer: true, atom.Aside: true, atom.Form: true, atom.Button: true,
	atom.Iframe: true, atom.Svg: true, atom.Select: true, atom.Head: true,
}

// blocks are elements that begin a line.
var blocks = map[atom.Atom]bool{
	atom.P: true, atom.Div: true, atom.Section: true, atom.Article: true, atom.Main: true, atom.Header: true, atom.Ul: true, atom.Ol: true, atom.Table: true, atom.Tr: true, atom.Blockquote: true,
	atom.Figure: true, atom.Figcaption: true, atom.Dl: true, atom.Dt: true, atom.Dd: true, atom.Details: true, atom.Summary: true, atom.Hr: true, atom.Pre: true, atom.Li: true,
	atom.H1: true, atom.H2: true, atom.H3: true, atom.H4: true, atom.H5: true, atom.H6: true,
}

func (w *writer) node(n *html.Node) { w.nested(n, 0) }

func (w *writer) nested(n *html.Node, depth int) {
	if depth > deepest {
		return
	}
	switch n.Type {
	case html.TextNode:
		w.add(n.Data)
		return
	case html.ElementNode:
		if skipped[n.DataAtom] || attribute(n, "hidden") != nil || hasValue(n, "aria-hidden", "true") {
			return
		}
	}
	if blocks[n.DataAtom] {
		w.end()
		w.begin(n)
	}
	before, after := w.marks(n)
	w.line.WriteString(before)
	for child := range n.ChildNodes() {
		w.nested(child, depth+1)
	}
	w.line.WriteString(after)
	switch {
	case n.DataAtom == atom.Br:
		w.end()
	case n.DataAtom == atom.Td || n.DataAtom == atom.Th:
		w.line.WriteString(" | ")
	case blocks[n.DataAtom]:
		w.end()
		if n.DataAtom == atom.Ul || n.DataAtom == atom.Ol {
			w.lists--
		}
	}
}

// begin marks what kind of line follows.
func (w *writer) begin(n *html.Node) {
	switch n.DataAtom {
	case atom.Ul, atom.Ol:
		w.lists++
	case atom.Li:
		w.prefix = strings.Repeat("  ", max(w.lists-1, 0)) + "- "
	case atom.Blockquote:
		if w.markdown {
			w.prefix = "> "
		}
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		if w.markdown {
			w.prefix = strings.Repeat("#", int(n.Data[1]-'0')) + " "
		}
	}
}

// marks are what stands around words in Markdown.
func (w *writer) marks(n *html.Node) (before, after string) {
	if !w.markdown {
		return "", ""
	}
	switch n.DataAtom {
	case atom.B, atom.Strong:
		return "**", "**"
	case atom.I, atom.Em:
		return "*", "*"
	case atom.Code:
		return "`", "`"
	case atom.A:
		if address := attribute(n, "href"); address != nil && words(n) != "" {
			if to, err := w.base.Parse(*address); err == nil && (to.Scheme == "http" || to.Scheme == "https") {
				return "[", "](" + to.String() + ")"
			}
		}
	}
	return "", ""
}

func attribute(n *html.Node, name string) *string {
	for _, a := range n.Attr {
		if a.Key == name {
			return &a.Val
		}
	}
	return nil
}

func hasValue(n *html.Node, name, value string) bool {
	found := attribute(n, name)
	return found != nil && *found == value
}

func (w *writer) add(text string) {
	if strings.TrimSpace(text) == "" {
		w.line.WriteString(" ")
		return
	}
	w.line.WriteString(text)
}

// end ends a line, if there is anything on it.
func (w *writer) end() {
	line := strings.Trim(strings.Join(strings.Fields(w.line.String()), " "), "| ")
	w.line.Reset()
	if line == "" {
		return
	}
	item := strings.HasPrefix(strings.TrimLeft(w.prefix, " "), "- ")
	switch {
	case w.out.Len() == 0:
	case item && w.listed:
		w.out.WriteString("\n")
	default:
		w.out.WriteString("\n\n")
	}
	w.out.WriteString(w.prefix + line)
	w.prefix, w.listed = "", item
}

func (w *writer) text() string {
	w.end()
	return strings.TrimSpace(w.out.String())
}
