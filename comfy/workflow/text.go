package workflow

import (
	"strings"
	"unicode"
)

// cleanText drops what must not travel from a file to people, agents and terminals: control characters,
// bidirectional overrides, invisible marks. Newlines stay, tabs become spaces.
func cleanText(s string) string {
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

// cleanLine is cleanText on one line, trimmed and with single spaces.
func cleanLine(s string) string { return strings.Join(strings.Fields(cleanText(s)), " ") }

// clipRunes cuts s to n runes and marks the cut.
func clipRunes(s string, n int) string {
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
