package catalog

import (
	"math"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/lexicon"
	"github.com/signalbox/signalbox/registry"
)

// searchIndex leads from words and from meanings to the tools that they stand in. It is built once for a Snapshot,
// when it is first searched.
type searchIndex struct {
	lexicon  *lexicon.Lexicon
	tools    int
	terms    map[string][]posting
	sorted   []string // the terms, to look for those that begin alike
	spelling *lexicon.Spelling
	meanings [][]posting // by the meaning's place in the lexicon
	kinds    []toolKinds
	tasks    [][]int          // what each tool is plainly for, by its name or the first sentence about it
	places   map[string]int32 // tools by id
}

// posting is a tool and how much of it a term or a meaning is.
type posting struct {
	tool   int32
	weight float32
}

// field is one kind of place in a tool where words stand.
type field int

const (
	fieldName field = iota
	fieldTag
	fieldCategory
	fieldAbout // the first sentence of the description
	fieldRest
	fieldInput
	fields
)

// How much a word and a meaning count by where they stand. Authors put into the rest of a description, and into the
// names of inputs, much that the tool is not about.
var (
	wordWeights    = [fields]float64{fieldName: 3, fieldTag: 2.5, fieldCategory: 1.5, fieldAbout: 1.5, fieldRest: 0.5, fieldInput: 0.3}
	meaningWeights = [fields]float64{fieldName: 1, fieldTag: 1, fieldCategory: 0.6, fieldAbout: 0.9, fieldRest: 0.3}
)

// fieldTexts are a tool's words, by where they stand.
func fieldTexts(t *registry.Tool) [fields]string {
	about, rest := firstSentence(t.Description)
	texts := [fields]string{
		fieldName:     strings.Join(append([]string{t.DisplayName, t.ToolID, strings.TrimPrefix(t.CommandName, "/")}, t.Aliases...), " . "),
		fieldTag:      strings.Join(t.IntentTags, " . "),
		fieldCategory: t.Category + " . " + t.Service,
		fieldAbout:    about,
		fieldRest:     rest + " " + t.Guidance,
	}
	var inputs strings.Builder
	for _, f := range t.InputSchema {
		inputs.WriteString(f.Label() + " ")
	}
	texts[fieldInput] = inputs.String()
	return texts
}

// firstSentence parts the sentence that says what a tool does from what follows.
func firstSentence(text string) (first, rest string) {
	const longest, most = 200, 600
	text = text[:min(len(text), most)]
	end := strings.IndexAny(text, "\n")
	if dot := strings.Index(text, ". "); dot >= 0 && (end < 0 || dot < end) {
		end = dot
	}
	if end < 0 || end > longest {
		end = min(len(text), longest)
	}
	return text[:end], text[end:]
}

func newSearchIndex(tools []registry.Tool) *searchIndex {
	x := &searchIndex{lexicon: lexicon.Standard(), tools: len(tools), terms: make(map[string][]posting), places: make(map[string]int32, len(tools))}
	x.meanings = make([][]posting, len(x.lexicon.Meanings()))
	read, reader := make([]toolReading, len(tools)), x.lexicon.Reader()
	var lengths [fields]float64
	for i := range tools {
		read[i] = readTool(reader, &tools[i])
		for f, words := range read[i].words {
			lengths[f] += float64(len(words))
		}
	}
	for i := range tools {
		x.places[tools[i].ToolID] = int32(i)
		x.addTerms(int32(i), read[i], lengths)
		x.addMeanings(int32(i), read[i])
		x.kinds = append(x.kinds, kindsOf(&tools[i]))
	}
	for term := range x.terms {
		x.sorted = append(x.sorted, term)
	}
	slices.Sort(x.sorted)
	x.spelling = lexicon.NewSpelling(x.sorted)
	return x
}

// toolReading is what was understood of a tool's texts.
type toolReading struct {
	words    [fields][]string
	meanings map[int]float64
}

func readTool(reader *lexicon.Reader, t *registry.Tool) toolReading {
	r := toolReading{meanings: make(map[int]float64)}
	for f, text := range fieldTexts(t) {
		reading := reader.Read(text)
		for _, w := range reading.Words {
			r.words[f] = append(r.words[f], w.Stems...)
		}
		for _, said := range reading.Meanings {
			r.meanings[said.Meaning] = max(r.meanings[said.Meaning], min(said.Strength, 1.5)*meaningWeights[f])
		}
	}
	return r
}

// The constants of BM25: how soon repeating a word tells nothing new, and how much long texts are held against it.
const (
	bm25K = 1.2
	bm25B = 0.6
)

func (x *searchIndex) addTerms(tool int32, r toolReading, lengths [fields]float64) {
	weights := make(map[string]float64)
	for f, words := range r.words {
		if len(words) == 0 {
			continue
		}
		average := lengths[f] / float64(x.tools)
		each := wordWeights[f] / (1 - bm25B + bm25B*float64(len(words))/average)
		for _, w := range words {
			weights[w] += each
		}
	}
	for term, weight := range weights {
		x.terms[term] = append(x.terms[term], posting{tool, float32(weight * (bm25K + 1) / (bm25K + weight))})
	}
}

// plainly is from which weight on a tool is for a task, and a meaning is a task.
const plainly = 0.85

func (x *searchIndex) addMeanings(tool int32, r toolReading) {
	x.tasks = append(x.tasks, nil)
	for meaning, weight := range r.meanings {
		if weight >= plainly && x.lexicon.Meanings()[meaning].Weight >= plainly {
			x.tasks[tool] = append(x.tasks[tool], meaning)
		}
		x.meanings[meaning] = append(x.meanings[meaning], posting{tool, float32(weight)})
	}
}

// rarity is how much is told by something that so many of the tools have, at most about 1.
func (x *searchIndex) rarity(having int) float64 {
	return math.Log(1+float64(x.tools)/float64(having+1)) / math.Log(2+float64(x.tools))
}
