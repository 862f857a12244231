package document

import (
	"bytes"
	"fmt"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
)

// readMarkdown makes HTML of it, with the addresses of headings that most programs give them, and reads that.
func readMarkdown(data []byte) (Document, error) {
	d, body := cutFrontMatter(data)
	if len(body) > maxText {
		return d, fmt.Errorf("has %d bytes of text, more than %d", len(body), maxText)
	}
	m := goldmark.New(
		goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID(), parser.WithHeadingAttribute()),
		goldmark.WithRendererOptions(html.WithUnsafe()), // what is in HTML there is text, too
	)
	var page bytes.Buffer
	if err := m.Convert(body, &page); err != nil {
		return d, fmt.Errorf("is no Markdown that can be read: %w", err)
	}
	return fromHTML(d, page.Bytes())
}
