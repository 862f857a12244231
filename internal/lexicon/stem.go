package lexicon

import (
	"strings"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
)

// language is one of those that the lexicon knows, or that of names, which have no endings.
type language uint8

const (
	names language = iota
	en
	de
	es
	ru
	zh
	languages // how many there are
)

var codes = [languages]string{"names", "en", "de", "es", "ru", "zh"}

func languageOf(code string) (language, bool) {
	code, _, _ = strings.Cut(strings.ToLower(code), "-")
	for l, c := range codes {
		if language(l) != names && c == code {
			return language(l), true
		}
	}
	return names, false
}

// of are the languages that words of a script may be of.
func (s script) languages() []language {
	switch s {
	case cyrillic:
		return []language{ru}
	case han:
		return []language{zh}
	}
	return []language{en, de, es}
}

// accents are left off after stemming, as many people do while they type.
var accents = strings.NewReplacer("ä", "a", "ö", "o", "ü", "u", "ß", "ss", "á", "a", "é", "e", "í", "i", "ó", "o", "ú", "u", "ñ", "n", "à", "a", "è", "e", "ç", "c", "ё", "е", "й", "и")

// stem takes the ending off a word in lower case, so that its forms meet.
func stem(word string, l language) string {
	env := snowballstem.NewEnv(word)
	switch l {
	case en:
		english.Stem(env)
	case de:
		german.Stem(env)
	case es:
		spanish.Stem(env)
	case ru:
		env.SetCurrent(strings.ReplaceAll(word, "ё", "е"))
		russian.Stem(env)
	}
	return accents.Replace(env.Current())
}
