package lexicon

import (
	"slices"
	"strings"
)

// Reading is what was understood of a text.
type Reading struct {
	Language string // en, de, es, ru or zh; empty where the words don't tell
	Words    []Word
	Meanings []Said
	// SmallTalk says that the text is a greeting, a word of thanks or the like, and asks for nothing.
	SmallTalk bool
}

// Word is a word that carries meaning.
type Word struct {
	Text  string   // in lower case
	Stems []string // in the languages that it may be of; the signs of a Chinese text in pairs
	Known bool     // it stands in the lexicon
}

// Said is a meaning that a text speaks of, by its place in Meanings.
type Said struct {
	Meaning  int
	Strength float64 // how sure it is: 1 for a plain word, more for phrases, less for what was mistyped
}

// How sure a meaning is.
const (
	sureWord     = 1.0 // one word
	sureLonger   = 0.4 // each word that a phrase has beyond the first
	surest       = 2.0
	sureMistyped = 0.7 // a word that is nearly it
	sureForeign  = 0.6 // English words in a text of another language
	sureUnknown  = 0.9 // the language of the text is not known
)

// sentence is a text while it is read.
type sentence struct {
	words []word
	raw   string // lower case, for Chinese
	guess language
}

// word is a token with what it may mean.
type word struct {
	token
	keys  map[key]float64     // the stems that it may be, and how sure
	stems map[language]string // its own stems
	known bool
}

// Read understands what a person wrote, slips of the finger included. The language (a code, or empty) is a hint for
// texts whose words don't tell.
func (l *Lexicon) Read(text, hint string) Reading {
	return l.read(l.sentence(text, hint, l.typed))
}

// Reader understands many texts that were written with care, such as the definitions of tools. It remembers words
// and must not be used by several goroutines at once.
type Reader struct {
	lexicon *Lexicon
	words   map[token]word
}

// Reader gives a new one.
func (l *Lexicon) Reader() *Reader { return &Reader{l, make(map[token]word)} }

// Read understands a text as it stands.
func (r *Reader) Read(text string) Reading {
	return r.lexicon.read(r.lexicon.sentence(text, "", r.word))
}

func (r *Reader) word(t token) word {
	w, ok := r.words[t]
	if !ok {
		w = r.lexicon.written(t)
		r.words[t] = w
	}
	return w
}

func (l *Lexicon) read(s sentence) Reading {
	r := Reading{SmallTalk: l.smallTalk(s)}
	if s.guess != names {
		r.Language = codes[s.guess]
	}
	if r.SmallTalk {
		return r
	}
	r.Words = l.contentWords(s)
	r.Meanings = l.meaningsOf(s)
	return r
}

func (l *Lexicon) sentence(text, hint string, word func(token) word) sentence {
	s := sentence{raw: strings.ToLower(text)}
	found := tokens(text)
	s.guess = l.guess(found, hint)
	for _, t := range found {
		for _, part := range l.parts(t) {
			s.words = append(s.words, word(part))
		}
	}
	return s
}

// guess tells the language of a text by its script and the words that only one language has.
func (l *Lexicon) guess(words []token, hint string) language {
	var votes [languages]float64
	for _, w := range words {
		of := w.script.languages()
		if len(of) == 1 {
			votes[of[0]] += 2
			continue
		}
		marks := l.known[w.text] &^ (1 << names)
		for _, one := range of {
			if marks == 1<<one {
				votes[one]++
			} else if marks&(1<<one) != 0 {
				votes[one] += 0.3
			}
		}
		if strings.ContainsAny(w.text, "äöüß") {
			votes[de]++
		} else if strings.ContainsAny(w.text, "áéíóúñ") {
			votes[es]++
		}
	}
	if hinted, ok := languageOf(hint); ok {
		votes[hinted] += 0.5
	}
	best, second := names, 0.0
	for one := range votes {
		if votes[one] > votes[best] {
			best, second = language(one), votes[best]
		} else if language(one) != best {
			second = max(second, votes[one])
		}
	}
	if votes[best] <= second {
		return names
	}
	return best
}

// typed finds the stems that a token may be: as it is written, or, where it is not known so, those of the words that
// look like it.
func (l *Lexicon) typed(t token) word {
	w := l.written(t)
	if w.known || t.script == han {
		return w
	}
	for _, near := range l.spelling.Near(t.text) {
		l.addKeys(w.keys, near, t.script, sureMistyped)
	}
	return w
}

// written finds the stems that a token may be as it is written.
func (l *Lexicon) written(t token) word {
	w := word{token: t, keys: make(map[key]float64), stems: make(map[language]string)}
	if t.script == han {
		return w
	}
	for _, of := range t.script.languages() {
		w.stems[of] = stem(t.text, of)
	}
	l.addKeys(w.keys, t.text, t.script, 1)
	w.known = l.known[t.text] != 0 || l.meansSomething(w.keys)
	return w
}

func (l *Lexicon) addKeys(keys map[key]float64, text string, s script, sure float64) {
	add := func(k key) { keys[k] = max(keys[k], sure) }
	add(key{names, accents.Replace(text)})
	for _, of := range s.languages() {
		add(key{of, stem(text, of)})
	}
}

func (l *Lexicon) meansSomething(keys map[key]float64) bool {
	for k := range keys {
		if len(l.starts[k]) > 0 || l.stop[k] {
			return true
		}
	}
	return false
}

// parts cuts a long word that is not known into two that are, as German needs: Hintergrundmusik is Hintergrund and
// Musik. Any other word is its only part.
func (l *Lexicon) parts(t token) []token {
	const shortest, longest = 4, 64 // each way to cut a word is looked up: in one of thousands of letters that takes seconds
	runes := []rune(t.text)
	if len(runes) < 2*shortest || len(runes) > longest || t.script == han || l.isWord(t.text, t.script) {
		return []token{t}
	}
	for cut := len(runes) - shortest; cut >= shortest; cut-- {
		first, second := string(runes[:cut]), string(runes[cut:])
		for _, link := range []string{"", "s", "n", "en"} {
			base, ok := strings.CutSuffix(first, link)
			if ok && len([]rune(base)) >= shortest && l.isWord(base, t.script) && l.isWord(second, t.script) {
				return []token{{base, t.script}, {second, t.script}}
			}
		}
	}
	return []token{t}
}

func (l *Lexicon) isWord(text string, s script) bool {
	if l.known[text] != 0 {
		return true
	}
	for _, of := range s.languages() {
		if len(l.starts[key{of, stem(text, of)}]) > 0 {
			return true
		}
	}
	return false
}

// smallTalk reports whether a text is nothing but greetings and words without meaning.
func (l *Lexicon) smallTalk(s sentence) bool {
	if len(s.words) == 0 {
		return false
	}
	if s.guess == zh {
		rest := s.raw
		for _, greeting := range l.smallZh {
			rest = strings.ReplaceAll(rest, greeting, "")
		}
		return rest != s.raw && !strings.ContainsFunc(rest, func(r rune) bool {
			return scriptOf(r) == han && !l.stop[key{zh, string(r)}]
		})
	}
	found := make([]token, len(s.words))
	for i, w := range s.words {
		found[i] = w.token
	}
	return l.onlySmallTalk(found)
}

// onlySmallTalk reports whether words can be parted into known greetings, and fill words between them.
func (l *Lexicon) onlySmallTalk(words []token) bool {
	greeted := false
	for len(words) > 0 {
		n := l.greeting(words)
		switch {
		case n > 0:
			greeted, words = true, words[n:]
		case greeted && l.empty(words[0]):
			words = words[1:]
		default:
			return false
		}
	}
	return greeted
}

// greeting counts the words of the longest greeting that a text begins with.
func (l *Lexicon) greeting(words []token) int {
	for n := min(len(words), 5); n > 0; n-- {
		if l.small[joined(words[:n])] {
			return n
		}
	}
	return 0
}

// empty reports whether a word carries no meaning in any language that it may be of.
func (l *Lexicon) empty(t token) bool {
	return slices.ContainsFunc(t.script.languages(), func(of language) bool { return l.stop[key{of, stem(t.text, of)}] })
}

// contentWords are the words that say something, with their stems.
func (l *Lexicon) contentWords(s sentence) []Word {
	var words []Word
	for _, w := range s.words {
		switch {
		case w.script == han:
			words = append(words, Word{Text: w.text, Stems: pairs(w.text)})
		case !l.stop[key{s.languageOf(w.token), w.stems[s.languageOf(w.token)]}]:
			words = append(words, Word{w.text, s.stems(w), w.known})
		}
	}
	return words
}

// languageOf is the language that a word is taken to be of.
func (s sentence) languageOf(t token) language {
	of := t.script.languages()
	if slices.Contains(of, s.guess) {
		return s.guess
	}
	return of[0]
}

// stems are the word's stems in the language of the text and in English, which most tools are described in.
func (s sentence) stems(w word) []string {
	found := []string{w.stems[s.languageOf(w.token)]}
	if english := w.stems[en]; w.script == latin && english != found[0] {
		found = append(found, english)
	}
	return found
}

// pairs cuts a Chinese text into all pairs of neighbours, as words are mostly of two signs.
func pairs(text string) []string {
	runes := []rune(text)
	if len(runes) < 2 {
		return []string{text}
	}
	found := make([]string, 0, len(runes)-1)
	for i := range len(runes) - 1 {
		found = append(found, string(runes[i:i+2]))
	}
	return found
}
