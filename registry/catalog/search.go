package catalog

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/signalbox/signalbox/registry"
)

// SearchOptions narrow a search. The zero value searches what everybody may be offered.
type SearchOptions struct {
	Audience        registry.Audience
	Limit           int  // zero means 10
	WithUnavailable bool // also deprecated and unavailable tools
	Service         string
	Category        string
}

// Match is a tool that was found, shared and read-only, with its score; higher is better.
type Match struct {
	Tool  *registry.Tool
	Score float64
}

const defaultSearchLimit = 10

// How much a word counts by where it stands.
const (
	weightName        = 6
	weightTag         = 4
	weightCategory    = 3
	weightDescription = 1.5
	weightInput       = 0.5
)

// How much a word counts by how it was found. Words that merely begin alike or mean the same as the
// one asked for must lose against the word itself.
const (
	likeExact   = 1.0
	likeMeaning = 0.6
	likePrefix  = 0.7
	likeTypo    = 0.5
)

// Search finds tools by words of plain speech in names, commands, aliases, tags, categories and
// descriptions, best first. Word endings, slips of the finger and common synonyms are forgiven. Tools
// that the audience may not see are never found. An empty query finds nothing.
func (s *Snapshot) Search(query string, o SearchOptions) []Match {
	if o.Limit <= 0 {
		o.Limit = defaultSearchLimit
	}
	var matches []Match
	for i, score := range s.index.scores(query) {
		t := &s.tools[i]
		if score > 0 && o.allows(t) {
			matches = append(matches, Match{t, score})
		}
	}
	slices.SortFunc(matches, func(a, b Match) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.Tool.ToolID, b.Tool.ToolID))
	})
	return matches[:min(len(matches), o.Limit)]
}

func (o SearchOptions) allows(t *registry.Tool) bool {
	if !t.ListedFor(o.Audience) || (!o.WithUnavailable && t.State() != registry.StateActive) {
		return false
	}
	return (o.Service == "" || t.Service == o.Service) && (o.Category == "" || strings.EqualFold(t.Category, o.Category))
}

// searchIndex maps word stems to the tools they stand in.
type searchIndex struct {
	tools    int
	postings map[string][]posting
	stems    []string // sorted, to look for near ones
}

type posting struct {
	tool   int32
	weight float32
}

func newSearchIndex(tools []registry.Tool) *searchIndex {
	x := &searchIndex{tools: len(tools), postings: make(map[string][]posting)}
	for i := range tools {
		for stem, weight := range toolWords(&tools[i]) {
			x.postings[stem] = append(x.postings[stem], posting{int32(i), weight})
		}
	}
	x.stems = make([]string, 0, len(x.postings))
	for stem := range x.postings {
		x.stems = append(x.stems, stem)
	}
	slices.Sort(x.stems)
	return x
}

// toolWords weighs each stem by the best place it stands in.
func toolWords(t *registry.Tool) map[string]float32 {
	words := make(map[string]float32)
	add := func(text string, weight float32) {
		for _, stem := range stems(text) {
			words[stem] = max(words[stem], weight)
		}
	}
	add(t.DisplayName, weightName)
	add(t.ToolID, weightName)
	add(t.CommandName, weightName)
	for _, alias := range t.Aliases {
		add(alias, weightName)
	}
	for _, tag := range t.IntentTags {
		add(tag, weightTag)
	}
	add(t.Category, weightCategory)
	add(t.Service, weightCategory)
	add(t.Description, weightDescription)
	for _, f := range t.InputSchema {
		add(f.Label()+" "+string(f.Type), weightInput)
	}
	return words
}

// scores sums for each tool what the query's words are worth to it. A word that few tools have is
// worth more, and so is a tool that answers more of the words.
func (x *searchIndex) scores(query string) map[int32]float64 {
	total := make(map[int32]float64)
	hits := make(map[int32]int)
	words := stems(query)
	for _, word := range words {
		for tool, score := range x.wordScores(word) {
			total[tool] += score
			hits[tool]++
		}
	}
	for tool := range total {
		total[tool] *= 1 + float64(hits[tool])/float64(len(words))
	}
	return total
}

func (x *searchIndex) wordScores(word string) map[int32]float64 {
	best := make(map[int32]float64)
	for stem, likeness := range x.alike(word) {
		found := x.postings[stem]
		rarity := math.Log(1 + float64(x.tools)/float64(len(found)))
		for _, p := range found {
			best[p.tool] = max(best[p.tool], likeness*rarity*float64(p.weight))
		}
	}
	return best
}

// alike gives the known stems that a word of the query may mean. Typing errors are looked for only
// where nothing else is found, as a word that exists was hardly mistyped.
func (x *searchIndex) alike(word string) map[string]float64 {
	found := make(map[string]float64)
	if _, ok := x.postings[word]; ok {
		found[word] = likeExact
	}
	for _, synonym := range synonyms[word] {
		if _, ok := x.postings[synonym]; ok && found[synonym] == 0 {
			found[synonym] = likeMeaning
		}
	}
	if len(word) >= 3 {
		start, _ := slices.BinarySearch(x.stems, word)
		for _, stem := range x.stems[start:] {
			if !strings.HasPrefix(stem, word) {
				break
			}
			found[stem] = max(found[stem], likePrefix)
		}
	}
	if len(found) == 0 && len(word) >= 4 {
		x.addMistyped(word, found)
	}
	return found
}

func (x *searchIndex) addMistyped(word string, found map[string]float64) {
	limit := 1
	if len(word) >= 8 {
		limit = 2
	}
	for _, stem := range x.stems {
		if d := registry.EditDistance(word, stem, limit); d <= limit {
			found[stem] = likeTypo / float64(d)
			for _, synonym := range synonyms[stem] {
				if _, ok := x.postings[synonym]; ok {
					found[synonym] = max(found[synonym], likeTypo*likeMeaning/float64(d))
				}
			}
		}
	}
}

// stems cuts text into lower-case words without the ones that say nothing and without common English
// endings. CamelCase and digits are boundaries of words too, and the whole is kept beside its parts.
func stems(text string) []string {
	var found []string
	for _, chunk := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		parts := camelParts(chunk)
		if len(parts) > 1 {
			parts = append(parts, chunk)
		}
		for _, part := range parts {
			word := stem(strings.ToLower(part))
			if word != "" && !stopWords[word] && !slices.Contains(found, word) {
				found = append(found, word)
			}
		}
	}
	return found
}

func camelParts(s string) []string {
	var parts []string
	start, runes := 0, []rune(s)
	for i := 1; i < len(runes); i++ {
		if unicode.IsLower(runes[i-1]) && unicode.IsUpper(runes[i]) {
			parts = append(parts, string(runes[start:i]))
			start = i
		}
	}
	return append(parts, string(runes[start:]))
}

// stem takes endings off so that remove, removes, removed, removing and removal meet.
func stem(word string) string {
	for _, ending := range []string{"ations", "ation", "ings", "ing", "ions", "ion", "als", "al", "ers", "er", "ors", "or", "ies", "ied", "es", "ed", "s", "e", "y"} {
		base, ok := strings.CutSuffix(word, ending)
		if !ok || len(base) < 3 {
			continue
		}
		if n := len(base); n > 3 && base[n-1] == base[n-2] && base[n-1] != 'l' && base[n-1] != 's' {
			base = base[:n-1] // cropping, crop
		}
		return base
	}
	return word
}

var stopWords = wordSet(`a an the and or of to in on at for from with by into as is are be it its this that these those
	me my i you your we us our can could would please want need like make give do does some any what which how tool use using`)

// synonyms lead from a stem to others of the same meaning in this trade.
var synonyms = meaningGroups(
	"picture image photo pic photograph illustration",
	"video clip movie film animation footage",
	"animate video motion",
	"remove erase delete cut cutout eliminate strip",
	"background backdrop bg",
	"transparent cutout background",
	"upscale enlarge bigger larger hires superresolution enhance",
	"generate create draw paint render produce",
	"edit change modify alter retouch",
	"inpaint fill repair mask fix replace",
	"outpaint extend expand uncrop",
	"voice speech speak talk tts read narrate",
	"music song melody track tune",
	"audio sound",
	"3d mesh model sculpture object",
	"sticker emoji",
	"text caption describe transcribe words",
	"style look filter",
	"crop trim cut",
	"resize scale size",
	"blend mix merge combine",
	"face portrait person head",
	"search find lookup browse",
)

func wordSet(words string) map[string]bool {
	set := make(map[string]bool)
	for _, w := range strings.Fields(words) {
		set[w], set[stem(w)] = true, true
	}
	return set
}

func meaningGroups(groups ...string) map[string][]string {
	meanings := make(map[string][]string)
	for _, group := range groups {
		words := strings.Fields(group)
		for _, w := range words {
			for _, other := range words {
				if w != other {
					meanings[stem(w)] = append(meanings[stem(w)], stem(other))
				}
			}
		}
	}
	return meanings
}
