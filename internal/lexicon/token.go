package lexicon

import (
	"strings"
	"unicode"
)

// token is a word as it stands in a text, in lower case.
type token struct {
	text   string
	script script
}

// script says which languages a word may be of.
type script uint8

const (
	latin script = iota
	cyrillic
	han
)

func scriptOf(r rune) script {
	switch {
	case unicode.Is(unicode.Han, r):
		return han
	case unicode.Is(unicode.Cyrillic, r):
		return cyrillic
	}
	return latin
}

// tokens cuts a text into words. A new word begins where the script changes and where a capital follows a small
// letter, as in names of programs. Chinese is not cut: a run of its signs is one token.
func tokens(text string) []token {
	var found []token
	var word []rune
	flush := func() {
		if len(word) > 0 {
			found = append(found, token{strings.ToLower(string(word)), scriptOf(word[0])})
			word = word[:0]
		}
	}
	for _, r := range text {
		switch {
		case r == '\'' || r == '’' || unicode.Is(unicode.Mn, r):
			continue // what's is whats
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
			continue
		case len(word) > 0 && startsWord(word[len(word)-1], r):
			flush()
		}
		word = append(word, r)
	}
	flush()
	return found
}

func startsWord(before, r rune) bool {
	if unicode.IsLower(before) && unicode.IsUpper(r) {
		return true
	}
	return (scriptOf(before) == han) != (scriptOf(r) == han) && !unicode.IsDigit(before) && !unicode.IsDigit(r)
}
