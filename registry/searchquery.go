package registry

import (
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/lexicon"
)

// How much a word counts by how it was found.
const (
	likeExact  = 1.0
	likePrefix = 0.6
	likeTypo   = 0.5
)

// What the parts of a score are worth against each other.
const (
	worthMeaning = 10
	worthWord    = 4
	worthWider   = 0.35 // of the task that the one asked for is a case of
	worthUnknown = 0.6  // of a word that the lexicon does not know: most are what a picture shows
	worthNear    = 10
)

// WeakScore is the score below which hardly anything speaks for a tool.
const WeakScore = 1.5

// finding is what speaks for a tool.
type finding struct {
	score   float64
	reasons []string
}

// why are the reasons, the weightiest first, at most five.
func (f finding) why() []string {
	return f.reasons[:min(len(f.reasons), 5)]
}

// search scores all tools for a request.
func (x *searchIndex) search(query string, o SearchOptions) map[int32]finding {
	reading := x.lexicon.Read(query, o.Language)
	found := make(map[int32]finding)
	if reading.SmallTalk {
		return found
	}
	x.scoreMeanings(reading, found)
	x.scoreWords(reading, found)
	x.scoreNear(o.Near, found)
	for tool, f := range found {
		factor, reason := x.kinds[tool].fit(o.Has)
		f.score *= factor
		if reason != "" {
			f.reasons = append(f.reasons, reason)
		}
		found[tool] = f
	}
	return found
}

func (x *searchIndex) scoreMeanings(r lexicon.Reading, found map[int32]finding) {
	wanted := x.wanted(r)
	for _, said := range wanted {
		m := x.lexicon.Meanings()[said.Meaning]
		having := x.meanings[said.Meaning]
		worth := worthMeaning * said.Strength * m.Weight * x.rarity(len(having))
		for _, p := range having {
			f := found[p.tool]
			f.score += worth * float64(p.weight)
			f.reasons = append(f.reasons, m.ID)
			found[p.tool] = f
		}
	}
}

// wanted are the meanings that a request speaks of, and, for less, those that they are cases of; surest first.
func (x *searchIndex) wanted(r lexicon.Reading) []lexicon.Said {
	wanted := slices.Clone(r.Meanings)
	for _, said := range r.Meanings {
		for _, wider := range x.lexicon.Meanings()[said.Meaning].Wider {
			if !slices.ContainsFunc(wanted, func(s lexicon.Said) bool { return s.Meaning == wider }) {
				wanted = append(wanted, lexicon.Said{Meaning: wider, Strength: said.Strength * worthWider})
			}
		}
	}
	return wanted
}

func (x *searchIndex) scoreWords(r lexicon.Reading, found map[int32]finding) {
	for _, word := range r.Words {
		worth := float64(worthWord)
		if !word.Known {
			worth *= worthUnknown
		}
		for tool, score := range x.wordScores(word) {
			f := found[tool]
			f.score += worth * score
			f.reasons = append(f.reasons, word.Text)
			found[tool] = f
		}
	}
}

// wordScores is what a word of the request is worth to the tools, the best of all forms that it may have.
func (x *searchIndex) wordScores(word lexicon.Word) map[int32]float64 {
	best := make(map[int32]float64)
	for term, likeness := range x.alike(word) {
		having := x.terms[term]
		worth := likeness * x.rarity(len(having))
		for _, p := range having {
			best[p.tool] = max(best[p.tool], worth*float64(p.weight))
		}
	}
	return best
}

// alike gives the terms that a word of the request may mean. Mistakes are looked for only where nothing else is
// found, as a word that exists was hardly mistyped.
func (x *searchIndex) alike(word lexicon.Word) map[string]float64 {
	found := make(map[string]float64)
	for _, stem := range word.Stems {
		if _, ok := x.terms[stem]; ok {
			found[stem] = likeExact
		}
	}
	if len(word.Text) >= 4 {
		x.addLonger(word.Text, found)
	}
	if len(found) == 0 && !word.Known {
		for _, term := range x.spelling.Near(word.Text) {
			found[term] = likeTypo
		}
	}
	return found
}

// addLonger adds the terms that begin with the word, as ids of tools often do.
func (x *searchIndex) addLonger(word string, found map[string]float64) {
	start, _ := slices.BinarySearch(x.sorted, word)
	for _, term := range x.sorted[start:] {
		if !strings.HasPrefix(term, word) {
			break
		}
		found[term] = max(found[term], likePrefix)
	}
}

func (x *searchIndex) scoreNear(near map[string]float64, found map[int32]finding) {
	for id, nearness := range near {
		if tool, ok := x.places[id]; ok {
			f := found[tool]
			f.score += worthNear * nearness
			f.reasons = append(f.reasons, "alike in meaning")
			found[tool] = f
		}
	}
}
