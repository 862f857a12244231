package lexicon

import (
	"cmp"
	"slices"

	"github.com/signalbox/signalbox/internal/edit"
)

// Spelling finds words that look like one that was mistyped. It is read-only and may be shared.
type Spelling struct {
	words []string
	grams map[[3]rune][]int32
}

// NewSpelling knows the words given, which it keeps.
func NewSpelling(words []string) *Spelling {
	s := &Spelling{words: words, grams: make(map[[3]rune][]int32)}
	for i, w := range words {
		for _, g := range trigrams(w) {
			s.grams[g] = append(s.grams[g], int32(i))
		}
	}
	return s
}

// trigrams are all runs of three letters of a word, with its ends marked.
func trigrams(word string) [][3]rune {
	runes := append(append([]rune{'^'}, []rune(word)...), '$')
	grams := make([][3]rune, 0, len(runes))
	for i := 0; i+2 < len(runes); i++ {
		grams = append(grams, [3]rune(runes[i:i+3]))
	}
	return grams
}

// mistakes is how many slips are forgiven in a word: one from four letters on, two from seven.
func mistakes(word string) int {
	switch n := len([]rune(word)); {
	case n < 4:
		return 0
	case n < 7:
		return 1
	}
	return 2
}

// Near gives the known words that a mistyped one may have been, nearest first, at most five. Words that share no
// three letters with it are not looked at, but for the swap of two letters of a short word.
func (s *Spelling) Near(word string) []string {
	limit := mistakes(word)
	if limit == 0 {
		return nil
	}
	type near struct {
		word     string
		distance int
	}
	var found []near
	for _, i := range s.sharing(word) {
		candidate := s.words[i]
		if d := edit.Distance(word, candidate, limit); d <= limit && mistakes(candidate) > 0 {
			found = append(found, near{candidate, d})
		}
	}
	slices.SortFunc(found, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.word, b.word))
	})
	words := make([]string, 0, 5)
	for _, n := range found[:min(len(found), 5)] {
		if n.distance == found[0].distance {
			words = append(words, n.word)
		}
	}
	return words
}

// sharing are the places of the words that share a run of three letters with one, or with it after a swap of two
// neighbours.
func (s *Spelling) sharing(word string) []int32 {
	var places []int32
	for _, form := range swapped(word) {
		for _, g := range trigrams(form) {
			places = append(places, s.grams[g]...)
		}
	}
	slices.Sort(places)
	return slices.Compact(places)
}

// swapped are a short word and what becomes of it when two neighbours change places: too few of its trigrams
// outlive a swap to find it otherwise.
func swapped(word string) []string {
	forms := []string{word}
	runes := []rune(word)
	if len(runes) > 6 {
		return forms
	}
	for i := 0; i+1 < len(runes); i++ {
		form := slices.Clone(runes)
		form[i], form[i+1] = form[i+1], form[i]
		forms = append(forms, string(form))
	}
	return forms
}
