package botapi

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// MaxText and MaxCaption bound a message and a caption, in UTF-16 code units after markup.
const (
	MaxText    = 4096
	MaxCaption = 1024
)

// HTML is the parse mode the program uses: only three characters need escaping.
const HTML = "HTML"

var htmlEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

// EscapeHTML makes text safe inside HTML markup, attributes included.
func EscapeHTML(text string) string { return htmlEscaper.Replace(text) }

// utf16Len counts UTF-16 code units, the unit of the service's limits and offsets.
func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		n += max(1, utf16.RuneLen(r)) // a broken byte counts as its replacement
	}
	return n
}

// Truncate shortens text to at most limit UTF-16 code units, ending in an ellipsis where it was cut.
func Truncate(text string, limit int) string {
	if utf16Len(text) <= limit {
		return text
	}
	return strings.TrimRight(text[:fitting(text, limit-1)], " \n\r\t") + "…"
}

// fitting returns how many bytes of text fit into limit code units, in whole grapheme clusters. A single
// cluster over the limit is cut between its code points, so that there is always progress.
func fitting(text string, limit int) int {
	// No code unit takes more than three bytes: what fits lies in this window, however long the text.
	text = text[:min(len(text), 3*limit+utf8.UTFMax)]
	used, pos, state := 0, 0, -1
	for rest := text; rest != ""; {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		n := utf16Len(cluster)
		if used+n > limit {
			if pos == 0 {
				return fittingRunes(cluster, limit)
			}
			return pos
		}
		used += n
		pos += len(cluster)
	}
	return pos
}

func fittingRunes(text string, limit int) int {
	used := 0
	for i, r := range text {
		used += max(1, utf16.RuneLen(r))
		if used > limit && i > 0 {
			return i
		}
	}
	return len(text)
}
