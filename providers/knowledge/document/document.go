// Package document reads files of many kinds as headed text: Markdown, HTML, Nunjucks pages, plain text, PDF and Word.
//
// All of it is bounded, since files come from strangers: a file that is too large, too deep or broken is an error, never a
// crash.
package document

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// Bounds of one file.
const (
	MaxBytes    = 32 << 20 // of a file as it is stored
	maxUnpacked = 64 << 20 // of a part of a Word file
	maxText     = 8 << 20  // of the text that is drawn from it
	maxSections = 20_000
)

// ErrUnsupported is in the chain of an error where the kind of file is none that is read.
var ErrUnsupported = errors.New("this kind of file is not read")

// Document is what was read from a file.
type Document struct {
	Title    string
	Summary  string // as the document itself gives it, or empty
	Language string // BCP 47, as the document itself says it, or empty
	Sections []Section
}

// Section is what stands below one heading, up to the next.
type Section struct {
	Heading string
	Anchor  string // the fragment of its address, or empty
	Level   int    // 1 to 6; 0 before the first heading
	Text    string // paragraphs, one a line, with empty lines between; code as it is
	Code    bool   // there are code blocks
	// Languages are those of the code blocks, as they name them.
	Languages []string
}

// readers are the kinds of files, by the ending of their names.
var readers = map[string]func(data []byte) (Document, error){
	".md": readMarkdown, ".markdown": readMarkdown, ".html": readHTML, ".htm": readHTML, ".njk": readNunjucks,
	".txt": readText, ".pdf": readPDF, ".docx": readWord,
}

// Supported tells by its name whether a file is of a kind that is read.
func Supported(name string) bool { return readers[strings.ToLower(path.Ext(name))] != nil }

// Read reads a file of a kind that its name's ending tells, in this process: for PDF files of strangers there is Reader. A document without a title is named
// after the file.
func Read(name string, data []byte) (d Document, err error) {
	read := readers[strings.ToLower(path.Ext(name))]
	if read == nil {
		return d, fmt.Errorf("%s: %w; expected .md, .html, .njk, .txt, .pdf or .docx", name, ErrUnsupported)
	}
	if len(data) > MaxBytes {
		return d, fmt.Errorf("%s: has %d bytes, more than %d", name, len(data), MaxBytes)
	}
	if d, err = guarded(read, data); err != nil {
		return Document{}, fmt.Errorf("%s: %w", name, err)
	}
	d.tidy(name)
	return d, nil
}

// guarded calls a reader: those of foreign formats give up by a panic, too.
func guarded(read func(data []byte) (Document, error), data []byte) (d Document, err error) {
	defer func() {
		if p := recover(); p != nil {
			d, err = Document{}, fmt.Errorf("can't be read: %v", p)
		}
	}()
	return read(data)
}

// tidy makes texts that can be stored and shown, and names what has no name.
func (d *Document) tidy(name string) {
	d.Title, d.Summary = oneLine(d.Title), oneLine(d.Summary)
	for i := range d.Sections {
		s := &d.Sections[i]
		s.Heading, s.Text = oneLine(s.Heading), cleanText(s.Text)
		slices.Sort(s.Languages)
		s.Languages = slices.Compact(s.Languages)
	}
	d.Sections = slices.DeleteFunc(d.Sections, func(s Section) bool { return s.Heading == "" && s.Text == "" })
	if d.Title == "" && len(d.Sections) > 0 && d.Sections[0].Level == 1 {
		d.Title = d.Sections[0].Heading
	}
	if d.Title == "" {
		base := path.Base(name)
		d.Title = strings.TrimSuffix(base, path.Ext(base))
	}
}

// oneLine is a text with single blanks between its words.
func oneLine(text string) string { return strings.Join(strings.Fields(storable(text)), " ") }

// storable is a text without what Postgres does not take.
func storable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "")
}

// cleanText keeps lines, and at most one empty line between them.
func cleanText(text string) string {
	var b strings.Builder
	empty := 0
	for line := range strings.Lines(storable(text)) {
		line = strings.TrimRight(line, " \t\r\n")
		if line == "" {
			empty++
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n\n"[:1+min(empty, 1)])
		}
		b.WriteString(line)
		empty = 0
	}
	return b.String()
}

// readText reads plain text; the first line is no heading, since nothing says so.
func readText(data []byte) (Document, error) {
	data = bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))
	if !utf8.Valid(data) && bytes.IndexByte(data, 0) >= 0 {
		return Document{}, errors.New("is no text in UTF-8")
	}
	if len(data) > maxText {
		return Document{}, fmt.Errorf("has %d bytes of text, more than %d", len(data), maxText)
	}
	return Document{Sections: []Section{{Text: string(data)}}}, nil
}

// frontMatter is the head that some kinds of files have, in YAML between two lines of dashes.
type frontMatter struct {
	Title       string `yaml:"title"`
	Desc        string `yaml:"desc"`
	Description string `yaml:"description"`
	Summary     string `yaml:"summary"`
	Lang        string `yaml:"lang"`
}

const (
	maxFrontMatter = 64 << 10
	// maxRead is how much of a head is given to the library, in bytes: it needs the square of it for lists in lists.
	maxRead = 8 << 10
)

// readFrontMatter reads what is known of the members of a head; false where it is none. No aliases are taken: a few lines of them make gigabytes.
func readFrontMatter(text []byte) (head frontMatter, ok bool) {
	var known strings.Builder
	taken := false
	for line := range strings.Lines(string(text)) {
		if c := line[0]; c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			name, _, isMember := strings.Cut(line, ":")
			if !isMember && !strings.ContainsRune("#-]}", rune(c)) {
				return head, false
			}
			taken = slices.Contains([]string{"title", "desc", "description", "summary", "lang"}, strings.Trim(name, "\"' \t"))
		}
		if taken {
			known.WriteString(line)
		}
	}
	if known.Len() > maxRead || slices.ContainsFunc(lexer.Tokenize(known.String()), func(t *token.Token) bool { return t.Type == token.AliasType }) {
		return head, false
	}
	return head, yaml.Unmarshal([]byte(known.String()), &head) == nil
}

// cutFrontMatter gives the document that the head of a file describes, and the rest of the file. A head that is no YAML is part of
// the text.
func cutFrontMatter(data []byte) (Document, []byte) {
	text := bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	if string(bytes.TrimSpace(first)) != "---" {
		return Document{}, text
	}
	end := bytes.Index(rest, []byte("\n---"))
	if end < 0 || end > maxFrontMatter {
		return Document{}, text
	}
	head, ok := readFrontMatter(rest[:end])
	if !ok {
		return Document{}, text
	}
	_, body, _ := bytes.Cut(rest[end+1:], []byte("\n"))
	d := Document{Title: head.Title, Summary: head.Desc, Language: head.Lang}
	if d.Summary == "" {
		d.Summary = head.Description + head.Summary
	}
	return d, body
}
