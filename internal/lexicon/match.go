package lexicon

import (
	"cmp"
	"slices"
	"strings"
)

// hit is a phrase that was found in a sentence.
type hit struct {
	meaning  int
	places   []int // of its words, ascending
	strength float64
}

// meaningsOf finds what a sentence speaks of. A phrase that is part of a longer one says nothing by itself: who
// removes a background deletes nothing.
func (l *Lexicon) meaningsOf(s sentence) []Said {
	hits := l.hits(s)
	said := make(map[int]float64)
	for _, h := range hits {
		if !slices.ContainsFunc(hits, h.within) {
			said[h.meaning] = max(said[h.meaning], h.strength)
		}
	}
	for _, h := range l.chineseHits(s.raw) {
		said[h.meaning] = max(said[h.meaning], h.strength)
	}
	found := make([]Said, 0, len(said))
	for meaning, strength := range said {
		found = append(found, Said{meaning, strength})
	}
	slices.SortFunc(found, func(a, b Said) int {
		return cmp.Or(cmp.Compare(b.Strength, a.Strength), cmp.Compare(a.Meaning, b.Meaning))
	})
	return found
}

func (h hit) within(other hit) bool {
	if len(other.places) <= len(h.places) {
		return false
	}
	return !slices.ContainsFunc(h.places, func(place int) bool { return !slices.Contains(other.places, place) })
}

func (l *Lexicon) hits(s sentence) []hit {
	places := make(map[key][]int)
	for i, w := range s.words {
		for k := range w.keys {
			if len(l.starts[k]) > 0 {
				places[k] = append(places[k], i)
			}
		}
	}
	var hits []hit
	seen := make(map[int32]bool)
	for k := range places {
		for _, i := range l.starts[k] {
			if seen[i] {
				continue
			}
			seen[i] = true
			if found := l.phrases[i].find(places); found != nil {
				hits = append(hits, hit{l.phrases[i].meaning, found, s.strength(l.phrases[i], found)})
			}
		}
	}
	return hits
}

// find gives the places of a phrase's words where they stand together, or nil.
func (p phrase) find(places map[key][]int) []int {
	for _, k := range p.keys {
		if len(places[k]) == 0 {
			return nil
		}
	}
	for _, start := range places[p.keys[0]] {
		if found := p.around(start, places); found != nil {
			return found
		}
	}
	return nil
}

// apart is by how many words those of a phrase may stand further apart than one after the other.
const apart = 4

// around finds the phrase's words about the place of its first one.
func (p phrase) around(start int, places map[key][]int) []int {
	found := []int{start}
	for n, k := range p.keys[1:] {
		place := nearest(places[k], start+n+1, found)
		if place < 0 || (p.ordered && place != start+n+1) {
			return nil
		}
		found = append(found, place)
	}
	slices.Sort(found)
	if found[len(found)-1]-found[0] > len(found)-1+apart {
		return nil
	}
	return found
}

// nearest gives the place nearest to the one wanted that is not taken, or -1.
func nearest(places []int, wanted int, taken []int) int {
	best := -1
	for _, p := range places {
		if !slices.Contains(taken, p) && (best < 0 || abs(p-wanted) < abs(best-wanted)) {
			best = p
		}
	}
	return best
}

func abs(n int) int { return max(n, -n) }

// strength is how sure it is that a phrase was meant.
func (s sentence) strength(p phrase, places []int) float64 {
	sure := 1.0
	for i, k := range p.keys {
		best := 0.0
		for _, place := range places {
			best = max(best, s.words[place].keys[k])
		}
		if i == 0 || best < sure {
			sure = min(sure, best)
		}
	}
	switch of := p.keys[0].language; {
	case of == names || of == s.guess:
	case s.guess == names:
		sure *= sureUnknown
	case of == en:
		sure *= sureForeign
	default:
		sure *= 0.2
	}
	return sure * min(surest, sureWord+sureLonger*float64(len(p.keys)-1))
}

// chineseHits finds phrases by their signs; where one lies within another of the same text, the longer counts.
func (l *Lexicon) chineseHits(raw string) []hit {
	if !strings.ContainsFunc(raw, func(r rune) bool { return scriptOf(r) == han }) {
		return nil
	}
	var hits []hit
	var texts []string
	for _, p := range l.chinese {
		signs := 0
		for _, part := range p.parts {
			if !strings.Contains(raw, part) {
				signs = 0
				break
			}
			signs += len([]rune(part))
		}
		if signs > 0 {
			hits = append(hits, hit{p.meaning, nil, min(surest, 0.6+0.3*float64(signs))})
			texts = append(texts, strings.Join(p.parts, "+"))
		}
	}
	var kept []hit
	for i, h := range hits {
		inside := slices.ContainsFunc(texts, func(t string) bool { return t != texts[i] && strings.Contains(t, texts[i]) })
		if !inside {
			kept = append(kept, h)
		}
	}
	return kept
}
