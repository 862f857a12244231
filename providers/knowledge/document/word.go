package document

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// readWord reads the text of a Word file (ECMA-376): a zip whose word/document.xml has paragraphs (w:p) of texts (w:t), and
// whose headings have a style Heading1 to Heading9, or an outline level.
func readWord(data []byte) (Document, error) {
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return Document{}, fmt.Errorf("is no Word file: %w", err)
	}
	file, err := partOf(archive, "word/document.xml")
	if err != nil {
		return Document{}, fmt.Errorf("is no Word file: %w", err)
	}
	defer file.Close()
	w := word{sections: []Section{{}}}
	if err := w.read(io.LimitReader(file, maxUnpacked)); err != nil {
		return Document{}, err
	}
	w.flush()
	d := Document{Sections: w.sections}
	if core, err := partOf(archive, "docProps/core.xml"); err == nil {
		defer core.Close()
		var about struct {
			Title       string `xml:"title"`
			Description string `xml:"description"`
		}
		if xml.NewDecoder(io.LimitReader(core, maxFrontMatter)).Decode(&about) == nil {
			d.Title, d.Summary = about.Title, about.Description
		}
	}
	return d, nil
}

// partOf opens a part by its name. To open it as a file in a file system would have all folders listed first, of which there may be very many.
func partOf(archive *zip.Reader, name string) (io.ReadCloser, error) {
	i := slices.IndexFunc(archive.File, func(f *zip.File) bool { return f.Name == name })
	if i < 0 {
		return nil, errors.New("it has no " + name)
	}
	return archive.File[i].Open()
}

// maxNested is how deep elements may be in each other: each costs memory until it ends.
const maxNested = 512

// word collects the sections of a Word file while it is read.
type word struct {
	sections  []Section
	text      strings.Builder // of the last section
	paragraph strings.Builder
	level     int // of the paragraph, as a heading; 0: it is none
	size      int
}

func (w *word) read(r io.Reader) error {
	tokens := xml.NewDecoder(r)
	inText, depth := false, 0
	for {
		token, err := tokens.Token()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("the text of this Word file can't be read: %w", err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			inText = t.Name.Local == "t"
			if depth++; depth > maxNested {
				return fmt.Errorf("the text of this Word file has more than %d elements in each other", maxNested)
			}
			w.start(t)
		case xml.EndElement:
			inText = false
			depth--
			if t.Name.Local == "p" {
				if err := w.end(); err != nil {
					return err
				}
			}
		case xml.CharData:
			if inText {
				w.paragraph.Write(t)
			}
		}
	}
}

func (w *word) start(t xml.StartElement) {
	value := func() string {
		for _, a := range t.Attr {
			if a.Name.Local == "val" {
				return a.Value
			}
		}
		return ""
	}
	switch t.Name.Local {
	case "p":
		w.level = 0
	case "pStyle":
		style := strings.ToLower(strings.ReplaceAll(value(), " ", ""))
		if number, is := strings.CutPrefix(style, "heading"); is && len(number) == 1 && number >= "1" && number <= "9" {
			w.level = min(int(number[0]-'0'), 6)
		} else if style == "title" {
			w.level = 1
		}
	case "outlineLvl":
		if v := value(); len(v) == 1 && v >= "0" && v <= "8" {
			w.level = min(int(v[0]-'0')+1, 6)
		}
	case "tab":
		w.paragraph.WriteByte(' ')
	case "br", "cr":
		w.paragraph.WriteByte('\n')
	}
}

// end ends a paragraph.
func (w *word) end() error {
	text := w.paragraph.String()
	w.paragraph.Reset()
	if w.size += len(text); w.size > maxText {
		return fmt.Errorf("has more than %d bytes of text", maxText)
	}
	if w.level == 0 || strings.TrimSpace(text) == "" {
		w.text.WriteString(text + "\n\n")
		return nil
	}
	if len(w.sections) >= maxSections {
		return fmt.Errorf("has more than %d headings", maxSections)
	}
	w.flush()
	w.sections = append(w.sections, Section{Heading: text, Level: w.level})
	return nil
}

// flush puts the text so far into the last section.
func (w *word) flush() {
	w.sections[len(w.sections)-1].Text = w.text.String()
	w.text.Reset()
}
