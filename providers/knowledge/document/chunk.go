package document

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of a chunk, in bytes.
const (
	chunkBytes   = 1600 // where a section is longer, it is cut
	summaryBytes = 240
)

// Chunk is a passage that is found by itself: a section, or a part of a long one.
type Chunk struct {
	Heading     string
	Anchor      string
	Summary     string   // its first sentences
	Text        string   // of a section without any, the headings in it, or its own
	Breadcrumbs []string // the document's title, and the headings above and this one
	HasCode     bool
	Languages   []string // of its code
}

// Chunks cuts a document into passages, in its order.
func (d Document) Chunks() []Chunk {
	d.Sections = d.introduced()
	var chunks []Chunk
	var above []Section // the headings that the present section stands under
	for i, s := range d.Sections {
		for len(above) > 0 && above[len(above)-1].Level >= s.Level {
			above = above[:len(above)-1]
		}
		crumbs := []string{d.Title}
		for _, h := range above {
			crumbs = addCrumb(crumbs, h.Heading)
		}
		crumbs = addCrumb(crumbs, s.Heading)
		if s.Anchor == "" && len(above) > 0 {
			s.Anchor = above[len(above)-1].Anchor // the nearest place that has an address
		}
		if s.Level > 0 {
			above = append(above, s)
		}
		text := s.Text
		if text == "" {
			text = cmp.Or(d.below(i), s.Heading)
		}
		for _, part := range cut(text, chunkBytes) {
			c := Chunk{Heading: s.Heading, Anchor: s.Anchor, Summary: shorten(oneLine(part), summaryBytes), Text: part, Breadcrumbs: crumbs, HasCode: s.Code, Languages: s.Languages}
			c.Heading = cmp.Or(c.Heading, d.Title)
			chunks = append(chunks, c)
		}
	}
	return chunks
}

// introduced are the sections with the summary before them, where none of them says it: many a page tells what it is about nowhere else.
func (d Document) introduced() []Section {
	if d.Summary == "" || slices.ContainsFunc(d.Sections, func(s Section) bool { return strings.Contains(oneLine(s.Text), d.Summary) }) {
		return d.Sections
	}
	if len(d.Sections) == 0 || d.Sections[0].Level > 0 && !strings.EqualFold(d.Sections[0].Heading, d.Title) {
		return slices.Insert(slices.Clone(d.Sections), 0, Section{Text: d.Summary})
	}
	sections := slices.Clone(d.Sections)
	sections[0].Text = strings.TrimSpace(d.Summary + "\n\n" + sections[0].Text)
	return sections
}

// addCrumb adds a heading that does not only say again what stands there.
func addCrumb(crumbs []string, heading string) []string {
	if heading == "" || strings.EqualFold(crumbs[len(crumbs)-1], heading) {
		return crumbs
	}
	return append(crumbs, heading)
}

// below lists the headings in a section that has nothing else.
func (d Document) below(at int) string {
	var names []string
	for _, s := range d.Sections[at+1:] {
		if s.Level <= d.Sections[at].Level {
			break
		}
		names = append(names, s.Heading)
	}
	return shorten(strings.Join(names, ", "), chunkBytes)
}

// cut cuts a text into parts of at most so many bytes: between paragraphs if it can, else between lines, sentences or words. There is
// always one.
func cut(text string, most int) []string {
	var parts []string
	for len(text) > most {
		at := lastOf(text[:most], "\n\n", "\n", ". ", "。", " ")
		parts = append(parts, strings.TrimSpace(text[:at]))
		text = strings.TrimSpace(text[at:])
	}
	return append(parts, text)
}

// lastOf finds the end of the last of the first separator that is not too near to the begin.
func lastOf(text string, separators ...string) int {
	for _, s := range separators {
		if at := strings.LastIndex(text, s); at > len(text)/3 {
			return at + len(s)
		}
	}
	return len(text) - partial(text)
}

// partial counts the bytes at the end of a cut text that are the begin of a character.
func partial(text string) int {
	for n := 1; n <= min(utf8.UTFMax, len(text)); n++ {
		if at := len(text) - n; utf8.RuneStart(text[at]) {
			if utf8.FullRuneInString(text[at:]) {
				return 0
			}
			return n
		}
	}
	return 0
}

// shorten cuts a line at a sentence or word.
func shorten(line string, most int) string {
	if len(line) <= most {
		return line
	}
	return strings.TrimSpace(line[:lastOf(line[:most], ". ", " ")]) + "…"
}
