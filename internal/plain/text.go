// Package plain reduces texts of strangers to what may travel on to people, agents and terminals: no control characters,
// no invisible marks, no keys, and no more than fits.
package plain

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Text drops what must not travel from a file to people, agents and terminals: control characters,
// bidirectional overrides, invisible marks. Newlines stay, tabs become spaces.
func Text(s string) string {
	if isPlain(s) {
		return s
	}
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r == '\t' || r == '\u00a0' || r == '\u2028' || r == '\u2029':
			return ' '
		case unicode.IsControl(r) || invisible(r):
			return -1
		}
		return r
	}, s)
}

func isPlain(s string) bool {
	for i := 0; i < len(s); i++ {
		if (s[i] < ' ' && s[i] != '\n') || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// invisible tells marks that change how other text looks without being seen. The joiner and the variation
// selector stay: emoji are made with them.
func invisible(r rune) bool {
	switch {
	case r == '\u200d' || r == '\ufe0f':
		return false
	case r >= '\u200b' && r <= '\u200f', r >= '\u202a' && r <= '\u202e', r >= '\u2060' && r <= '\u206f', r == '\u061c', r == '\ufeff', r == '\u00ad', r == '\ufffe':
		return true
	case r >= 0xe0000 && r <= 0xe007f: // tag characters can carry hidden text
		return true
	}
	return unicode.Is(unicode.Co, r)
}

// Line is cleanText on one line, trimmed and with single spaces.
func Line(s string) string { return strings.Join(strings.Fields(Text(s)), " ") }

// Clip cuts s to n runes and marks the cut.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	count := 0
	for i := range s {
		if count++; count > n {
			return strings.TrimRightFunc(s[:i], unicode.IsSpace) + "…"
		}
	}
	return s
}

// Slug keeps lower-case letters, digits and what joins them.
func Slug(s, joint string) string {
	var b strings.Builder
	gap := false
	for _, r := range strings.ToLower(s) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' {
			if gap && b.Len() > 0 {
				b.WriteString(joint)
			}
			gap = false
			b.WriteRune(r)
			continue
		}
		gap = true
	}
	return strings.Trim(b.String(), "_-")
}

// Address makes a part of an address of a title: lower-case letters without their accents, digits and hyphens. It is empty where the title's script
// has none of them.
func Address(title string) string {
	bare := strings.Map(func(r rune) rune {
		switch {
		case r == '_':
			return '-'
		case unicode.Is(unicode.Mn, r): // an accent
			return -1
		}
		return r
	}, norm.NFD.String(strings.ReplaceAll(strings.ToLower(title), "ß", "ss")))
	return Slug(bare, "-")
}

// Quote shows a name from a file in a message: bounded and without control characters.
func Quote(s string) string { return `"` + Short(s) + `"` }

// Short is quote without the marks.
func Short(s string) string { return Clip(Line(s), 60) }

// Cut cuts s to at most n bytes at a rune border.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
