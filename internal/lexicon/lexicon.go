package lexicon

import (
	"cmp"
	_ "embed" // for the two files
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

//go:embed meanings.json
var meaningsFile []byte

//go:embed speech.json
var speechFile []byte

// Kind is what goes into a task or comes out of it: image, video, audio, file or text.
type Kind string

// Nothing is what comes with a request that has no file.
const Nothing Kind = "nothing"

// Meaning is a task, a thing or an act that people speak of.
type Meaning struct {
	ID     string
	Wider  []int   // the meanings that this one is a case of
	Takes  Kind    // the kind of file that the task works on, empty where it needs none
	Gives  Kind    // what comes of it, empty where that says nothing
	Weight float64 // how much it tells: acts and kinds tell less than tasks
	// Unsaid is the kind of file with which, or Nothing, without which, the task is meant where no task is named.
	Unsaid Kind
}

// Lexicon is what is known of speech. It is read-only and may be shared.
type Lexicon struct {
	meanings []Meaning
	phrases  []phrase
	starts   map[key][]int32 // phrases by each of their words
	chinese  []chinesePhrase
	stop     map[key]bool
	known    map[string]uint8 // words as they are written in phrases and stop lists, with the languages they are of
	small    map[string]bool  // greetings and the like, as their words joined by blanks
	smallZh  []string
	spelling *Spelling
}

// key is the stem of a word in a language.
type key struct {
	language language
	stem     string
}

// phrase is some words that, together, speak of a meaning.
type phrase struct {
	meaning int
	keys    []key
	ordered bool // the words follow each other; otherwise they stand near each other in any order
}

// links are words that join a phrase's words with what follows: a picture of something is not something of a picture.
var links = []string{"of", "with", "von", "mit", "de", "con", "с", "про"}

// chinesePhrase is some strings that all stand in a text.
type chinesePhrase struct {
	meaning int
	parts   []string
}

// entry is a meaning as it stands in the file. In its lists, a comma parts phrases, a hyphen joins words that
// follow each other, and a plus joins parts of a Chinese phrase.
type entry struct {
	ID     string   `json:"id"`
	Is     []string `json:"is"`
	Takes  Kind     `json:"takes"`
	Gives  Kind     `json:"gives"`
	Weight float64  `json:"weight"`
	Unsaid Kind     `json:"unsaid"`
	En     string   `json:"en"`
	De     string   `json:"de"`
	Es     string   `json:"es"`
	Ru     string   `json:"ru"`
	Zh     string   `json:"zh"`
	Names  string   `json:"names"`
}

func (e entry) texts() [languages]string {
	return [languages]string{names: e.Names, en: e.En, de: e.De, es: e.Es, ru: e.Ru, zh: e.Zh}
}

// Standard is the lexicon that comes with the program.
var Standard = sync.OnceValue(func() *Lexicon {
	l, err := parse(meaningsFile, speechFile)
	if err != nil {
		panic(err) // the files are part of the program
	}
	return l
})

func parse(meanings, speech []byte) (*Lexicon, error) {
	var entries []entry
	if err := json.Unmarshal(meanings, &entries); err != nil {
		return nil, fmt.Errorf("meanings.json: %w", err)
	}
	var words struct{ Stop, SmallTalk map[string]string }
	if err := json.Unmarshal(speech, &words); err != nil {
		return nil, fmt.Errorf("speech.json: %w", err)
	}
	l := &Lexicon{starts: make(map[key][]int32), stop: make(map[key]bool), known: make(map[string]uint8), small: make(map[string]bool)}
	for code, list := range words.Stop {
		l.addStop(code, list)
	}
	if err := l.addMeanings(entries); err != nil {
		return nil, err
	}
	for code, list := range words.SmallTalk {
		l.addSmallTalk(code, list)
	}
	l.spelling = NewSpelling(l.words())
	return l, nil
}

func (l *Lexicon) addMeanings(entries []entry) error {
	places := make(map[string]int, len(entries))
	for i, e := range entries {
		if _, taken := places[e.ID]; taken || e.ID == "" {
			return fmt.Errorf("meanings.json: entry %d has the id %q, which is empty or taken", i, e.ID)
		}
		places[e.ID] = i
	}
	for i, e := range entries {
		m := Meaning{ID: e.ID, Takes: e.Takes, Gives: e.Gives, Weight: e.Weight, Unsaid: e.Unsaid}
		m.Weight = cmp.Or(m.Weight, 1)
		for _, wider := range e.Is {
			place, ok := places[wider]
			if !ok {
				return fmt.Errorf("meanings.json: %s is a %s, which is not there", e.ID, wider)
			}
			m.Wider = append(m.Wider, place)
		}
		l.meanings = append(l.meanings, m)
		for of, list := range e.texts() {
			l.addPhrases(i, language(of), list)
		}
	}
	return nil
}

func (l *Lexicon) addPhrases(meaning int, of language, list string) {
	for text := range strings.SplitSeq(list, ", ") {
		if of == zh {
			l.addChinese(meaning, text)
			continue
		}
		p := phrase{meaning: meaning, ordered: of == names || strings.Contains(text, "-")}
		for _, t := range tokens(text) {
			l.known[t.text] |= 1 << of
			if k := (key{of, stem(t.text, of)}); !slices.Contains(p.keys, k) {
				p.keys = append(p.keys, k)
			}
		}
		if n := len(p.keys); n > 1 && slices.Contains(links, p.keys[n-1].stem) {
			p.ordered = true
		}
		for _, k := range p.keys {
			l.starts[k] = append(l.starts[k], int32(len(l.phrases)))
		}
		if len(p.keys) > 0 {
			l.phrases = append(l.phrases, p)
		}
	}
}

func (l *Lexicon) addChinese(meaning int, text string) {
	if text != "" {
		l.chinese = append(l.chinese, chinesePhrase{meaning, strings.Split(strings.ToLower(text), "+")})
	}
}

func (l *Lexicon) addStop(code, list string) {
	of, _ := languageOf(code)
	for word := range strings.FieldsSeq(list) {
		l.known[word] |= 1 << of
		l.stop[key{of, stem(word, of)}] = true
	}
}

func (l *Lexicon) addSmallTalk(code, list string) {
	for text := range strings.SplitSeq(list, ", ") {
		if code == codes[zh] {
			l.smallZh = append(l.smallZh, text)
			continue
		}
		l.small[joined(tokens(text))] = true
	}
}

func joined(words []token) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.text
	}
	return strings.Join(texts, " ")
}

// words are all that were read, to look for near ones.
func (l *Lexicon) words() []string {
	return slices.Sorted(maps.Keys(l.known))
}

// Meanings are all that the lexicon knows; a Reading names them by their place.
func (l *Lexicon) Meanings() []Meaning { return l.meanings }
