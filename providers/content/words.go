package content

import (
	_ "embed"
	"path"
	"strings"
	"unicode"
)

// synonymLines are words of one meaning, a meaning a line: the first one stands for all.
//
//go:embed synonyms.txt
var synonymLines string

// synonyms gives, by word, the words that stand for its meanings.
func synonyms() map[string][]string {
	found := map[string][]string{}
	for line := range strings.Lines(synonymLines) {
		words := strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == '\n' })
		for _, word := range words {
			word = strings.TrimSpace(word)
			found[word] = append(found[word], strings.TrimSpace(words[0]))
		}
	}
	return found
}

// wordsOf are the words of a text in small letters.
func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// expanded adds to a text the words that stand for what it says, so that a search finds it by words of the same meaning.
func expanded(text string) string {
	meanings := synonyms()
	words := wordsOf(text)
	for i := range words {
		for _, form := range forms(words[i]) {
			words = append(words, meanings[form]...)
		}
		if i+1 < len(words) {
			words = append(words, meanings[words[i]+" "+words[i+1]]...)
		}
	}
	return strings.Join(words, " ")
}

// forms are a word and what it is without an ending of English plurals.
func forms(word string) []string {
	all := []string{word}
	for _, ending := range [][2]string{{"ies", "y"}, {"es", ""}, {"s", ""}} {
		if stem, ok := strings.CutSuffix(word, ending[0]); ok && len(stem) > 2 {
			all = append(all, stem+ending[1])
		}
	}
	return all
}

// searchWords are a query's words with those that stand for their meanings.
func searchWords(query string) string { return expanded(query) }

// nameWords are the words in a file's name.
func nameWords(filename string) string {
	name := strings.TrimSuffix(filename, path.Ext(filename))
	return strings.Join(wordsOf(name), " ")
}

// maxTags is how many tags are made of a name and prompt.
const maxTags = 12

// tagsOf makes tags of a text: its longer words, each once.
func tagsOf(text string) []string {
	tags := []string{}
	for _, word := range distinct(wordsOf(text)) {
		letters := strings.ContainsFunc(word, unicode.IsLetter)
		if digits := strings.ContainsFunc(word, unicode.IsDigit); letters && !digits && len([]rune(word)) > 3 && len(tags) < maxTags {
			tags = append(tags, word)
		}
	}
	return tags
}
