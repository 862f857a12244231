package index

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	snippetBytes = 400
	stemBytes    = 5 // of a lexeme, by which its forms are known in a text
)

// snippet is the part of a text that has the most of the question, from the begin of a line or sentence.
func (s *search) snippet(text string) string {
	if len(text) <= snippetBytes {
		return text
	}
	lower := strings.ToLower(text)
	best, most := 0, -1
	for start := 0; start < len(text); {
		end := min(start+snippetBytes, len(lower))
		if n := s.countIn(lower[min(start, end):end]); n > most {
			best, most = start, n
		}
		next := strings.IndexFunc(text[start:], func(r rune) bool { return r == '\n' || r == '.' || r == '。' })
		if next < 0 {
			break
		}
		_, size := utf8.DecodeRuneInString(text[start+next:])
		start += next + size
	}
	part := strings.TrimLeftFunc(text[best:], unicode.IsSpace)
	if len(part) <= snippetBytes {
		return part
	}
	part = strings.ToValidUTF8(part[:snippetBytes], "")
	if at := strings.LastIndexAny(part, " \n"); at > snippetBytes/2 {
		part = part[:at]
	}
	return part + "…"
}

// countIn counts the words of the question that a text, in lower case, has.
func (s *search) countIn(text string) (n int) {
	for _, t := range s.terms {
		if t.chunks > 0 && strings.Contains(text, t.lexeme[:min(len(t.lexeme), stemBytes)]) {
			n++
		}
	}
	return n
}
