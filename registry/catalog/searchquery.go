package catalog

import (
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/lexicon"
	"github.com/signalbox/signalbox/registry"
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
	worthNear    = 6    // less than of a task that was named: where words are sure, vectors only choose among what they found
)

// query is one request while its tools are scored.
type query struct {
	index   *searchIndex
	options SearchOptions
	parts   []part
	scores  []float64 // by tool
}

// part is something that speaks for tools: a meaning or a word of the request.
type part struct {
	name   string
	worths []posting // ordered by tool
}

// query scores all tools for a request.
func (x *searchIndex) query(text string, o SearchOptions) *query {
	q := &query{index: x, options: o, scores: make([]float64, x.tools)}
	reading := x.lexicon.Read(text, o.Language)
	if reading.SmallTalk || len(reading.Words)+len(reading.Meanings) == 0 {
		return q
	}
	reading.Meanings = x.orUnsaid(x.fitting(reading.Meanings, o.Has), o.Has)
	tasks := x.wanted(reading)
	for _, said := range tasks {
		q.addMeaning(said)
	}
	for _, word := range reading.Words {
		q.addWord(word)
	}
	q.addNear()
	wanted := x.gives(reading)
	for i := range q.scores {
		if q.scores[i] > 0 {
			q.scores[i] *= x.kinds[i].fit(o.Has) * x.kinds[i].giving(wanted) * x.focus(int32(i), tasks)
		}
	}
	return q
}

// besides is how much each task that a tool is for, and nobody asked for, is held against it.
const besides = 0.1

// focus says by how much a tool's score changes for the tasks that it is for besides: of two tools that would do, the one
// that does just that is meant.
func (x *searchIndex) focus(tool int32, wanted []lexicon.Said) float64 {
	other := 0
	for _, task := range x.tasks[tool] {
		if !slices.ContainsFunc(wanted, func(s lexicon.Said) bool { return s.Meaning == task }) {
			other++
		}
	}
	return 1 / (1 + besides*float64(min(other, 3)))
}

// found are the tools that something speaks for.
func (q *query) found() []int32 {
	var places []int32
	for i, score := range q.scores {
		if score > 0 {
			places = append(places, int32(i))
		}
	}
	return places
}

// why names what speaks for a tool, the tasks first, at most five.
func (q *query) why(tool int32) []string {
	reasons := []string{}
	for _, p := range q.parts {
		_, ok := slices.BinarySearchFunc(p.worths, tool, func(w posting, tool int32) int { return int(w.tool - tool) })
		if ok && len(reasons) < 5 && !slices.Contains(reasons, p.name) {
			reasons = append(reasons, p.name)
		}
	}
	if main := q.index.kinds[tool].main; main != "" && slices.Contains(q.options.Has, main) {
		reasons = append(reasons, "takes "+string(main))
	}
	return reasons
}

func (q *query) add(name string, worths []posting, each float64) {
	q.parts = append(q.parts, part{name, worths})
	for _, w := range worths {
		q.scores[w.tool] += each * float64(w.weight)
	}
}

func (q *query) addMeaning(said lexicon.Said) {
	m := q.index.lexicon.Meanings()[said.Meaning]
	having := q.index.meanings[said.Meaning]
	q.add(m.ID, having, worthMeaning*said.Strength*m.Weight*q.index.rarity(len(having)))
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

// fitting lets tasks count less that work on another kind of file than what was sent: who sends a video and wants it as a
// cartoon does not ask for a picture.
func (x *searchIndex) fitting(said []lexicon.Said, has []registry.InputType) []lexicon.Said {
	const other = 0.6
	if !slices.ContainsFunc(has, registry.InputType.IsMedia) {
		return said
	}
	fit := slices.Clone(said)
	for i, s := range fit {
		if takes := registry.InputType(x.lexicon.Meanings()[s.Meaning].Takes); takes.IsMedia() && !slices.Contains(has, takes) {
			fit[i].Strength *= other
		}
	}
	return fit
}

// What is meant where no task is named.
const (
	sureTask   = 0.8 // how sure a task must be to be named
	sureUnsaid = 0.6
)

// orUnsaid adds what is mostly meant where a request names no task: who sends a picture and says "a hat on him" wants
// it changed, who sends nothing and says "a dragon over Berlin" wants it painted.
func (x *searchIndex) orUnsaid(said []lexicon.Said, has []registry.InputType) []lexicon.Said {
	if has == nil {
		return said
	}
	with := lexicon.Nothing
	if i := slices.IndexFunc(has, registry.InputType.IsMedia); i >= 0 {
		with = lexicon.Kind(has[i])
	}
	meanings := x.lexicon.Meanings()
	if slices.ContainsFunc(said, func(s lexicon.Said) bool { return s.Strength*meanings[s.Meaning].Weight >= sureTask }) {
		return said
	}
	i := slices.IndexFunc(meanings, func(m lexicon.Meaning) bool { return m.Unsaid == with })
	if i < 0 || slices.ContainsFunc(said, func(s lexicon.Said) bool { return s.Meaning == i }) {
		return said
	}
	return append(said, lexicon.Said{Meaning: i, Strength: sureUnsaid})
}

// gives is the kind of file that a request wants, by the surest of the tasks that it speaks of, or nothing.
func (x *searchIndex) gives(r lexicon.Reading) string {
	for _, said := range r.Meanings {
		if m := x.lexicon.Meanings()[said.Meaning]; m.Gives != "" {
			return string(m.Gives)
		}
	}
	return ""
}

// addWord adds what a word of the request is worth to the tools, by the best of the forms that it may have.
func (q *query) addWord(word lexicon.Word) {
	worth := float64(worthWord)
	if !word.Known {
		worth *= worthUnknown
	}
	var all [][]posting
	for term, likeness := range q.index.alike(word) {
		having := q.index.terms[term]
		all = append(all, weighted(having, likeness*q.index.rarity(len(having))))
	}
	q.add(word.Text, best(all), worth)
}

func weighted(postings []posting, by float64) []posting {
	scaled := make([]posting, len(postings))
	for i, p := range postings {
		scaled[i] = posting{p.tool, float32(by * float64(p.weight))}
	}
	return scaled
}

// best joins lists of postings; of a tool that stands in several the weightiest is kept.
func best(lists [][]posting) []posting {
	if len(lists) == 1 {
		return lists[0]
	}
	joined := slices.Concat(lists...)
	slices.SortFunc(joined, func(a, b posting) int {
		if a.tool != b.tool {
			return int(a.tool - b.tool)
		}
		return int(b.weight*1000 - a.weight*1000)
	})
	return slices.CompactFunc(joined, func(a, b posting) bool { return a.tool == b.tool })
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
		for _, form := range append([]string{word.Text}, word.Stems...) { // terms are stems: "wallpap" is too far from "walpaper"
			for _, term := range x.spelling.Near(form) {
				found[term] = likeTypo
			}
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

// addNear adds what vectors tell.
func (q *query) addNear() {
	worths := make([]posting, 0, len(q.options.Near))
	for id, nearness := range q.options.Near {
		if tool, ok := q.index.places[id]; ok {
			worths = append(worths, posting{tool, float32(nearness)})
		}
	}
	slices.SortFunc(worths, func(a, b posting) int { return int(a.tool - b.tool) })
	q.add("alike in meaning", worths, worthNear)
}
