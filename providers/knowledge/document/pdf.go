package document

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ledongthuc/pdf"
)

const maxPages = 2000

// readPDF reads the text of a PDF file, a section for each page. What is only a picture of text is not read.
func readPDF(data []byte) (Document, error) {
	file, err := pdf.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return Document{}, fmt.Errorf("is no PDF that can be read: %w", err)
	}
	if n := file.NumPage(); n > maxPages {
		return Document{}, fmt.Errorf("has %d pages, more than %d", n, maxPages)
	}
	d := Document{Title: file.Trailer().Key("Info").Key("Title").Text()}
	size := 0
	for i := range file.NumPage() {
		page := file.Page(i + 1)
		if page.V.IsNull() {
			continue
		}
		text, err := pageText(page)
		if err != nil {
			return d, fmt.Errorf("page %d: %w", i+1, err)
		}
		if strings.TrimSpace(text) == "" {
			continue // a picture, or empty
		}
		if size += len(text); size > maxText {
			return d, fmt.Errorf("has more than %d bytes of text", maxText)
		}
		d.Sections = append(d.Sections, Section{Heading: "Page " + strconv.Itoa(i+1), Anchor: "page=" + strconv.Itoa(i+1), Level: 2, Text: text})
	}
	if len(d.Sections) == 0 {
		return Document{}, errors.New("has no text: its pages are pictures or empty; a program for scans (OCR) puts text behind them")
	}
	return d, nil
}

// pageText gives the lines of a page from top to bottom.
func pageText(page pdf.Page) (string, error) {
	rows, err := page.GetTextByRow()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, row := range rows {
		for _, word := range row.Content {
			b.WriteString(word.S)
		}
		b.WriteByte('\n')
	}
	return b.String(), nil
}
