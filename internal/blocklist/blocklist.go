// Package blocklist finds words and patterns that an operator does not want in texts, however they are written: in capitals, with accents
// or invisible marks, with signs that look alike, or with spaces and marks between the letters.
package blocklist

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// List is what is looked for. The zero value and nil find nothing. It does not change and may be used by many at a time.
type List struct {
	words    [len(readings)]map[rune][]*word // as each reading spells them, by their first letter
	patterns []*regexp.Regexp
}

// word is an entry of letters alone, with the places at which one of its words ends and another begins.
type word struct {
	entry   string // as it stands in the list
	letters string
	ends    map[int]bool // by bytes of letters
	prefix  bool
}

// maxSteps bounds the patterns of a list together, as they are compiled: a repetition such as {1000} multiplies what stands before it.
const maxSteps = 100_000

// Parse reads an entry a line; empty lines, and those that begin with #, say nothing. A word is found as a whole word, with * behind it as
// the beginning of one. A pattern is a regular expression (RE2), which looks at the text in lower case and without accents.
func Parse(words, patterns string) (*List, error) {
	l := &List{}
	for i := range l.words {
		l.words[i] = map[rune][]*word{}
		for _, entry := range lines(words) {
			w := wordOf(entry, readings[i])
			if w.letters == "" {
				return nil, fmt.Errorf("%.60q: found no letters, expected a word", entry)
			}
			first := firstOf(w.letters)
			l.words[i][first] = append(l.words[i][first], w)
		}
	}
	steps := 0
	for _, entry := range lines(patterns) {
		p, err := regexp.Compile("(?i)" + entry)
		if err != nil {
			return nil, fmt.Errorf("%.60q is no regular expression: %w", entry, err)
		}
		if p.MatchString("") {
			return nil, fmt.Errorf("%.60q finds every text, expected a pattern that needs a letter", entry)
		}
		if steps += stepsOf(p); steps > maxSteps {
			return nil, fmt.Errorf("%.60q: the patterns are too much to look for in each text, expected fewer of them or shorter repetitions", entry)
		}
		l.patterns = append(l.patterns, p)
	}
	return l, nil
}

// stepsOf is how many instructions a pattern is compiled to.
func stepsOf(p *regexp.Regexp) int {
	parsed, err := syntax.Parse(p.String(), syntax.Perl)
	if err != nil {
		panic(err) // it is compiled already
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		panic(err)
	}
	return len(program.Inst)
}

func lines(text string) (entries []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			entries = append(entries, line)
		}
	}
	return entries
}

func wordOf(entry string, one rune) *word {
	text, prefix := strings.CutSuffix(entry, "*")
	w := &word{entry: entry, ends: map[int]bool{}, prefix: prefix}
	for _, t := range tokensOf(bare(text), one) {
		w.letters += t.letters
		w.ends[len(w.letters)] = true
	}
	return w
}

func firstOf(letters string) rune {
	first, _ := utf8.DecodeRuneInString(letters)
	return first
}

// Find gives the entry that a text has, as it stands in the list.
func (l *List) Find(text string) (entry string, found bool) {
	if l == nil || len(l.words[0]) == 0 && len(l.patterns) == 0 {
		return "", false
	}
	text = bare(text)
	for i, one := range readings {
		tokens := tokensOf(text, one)
		for j, t := range tokens {
			for _, w := range l.words[i][firstOf(t.letters)] {
				if w.begins(tokens[j:]) {
					return w.entry, true
				}
			}
		}
	}
	alike := strings.Map(lookAlike, text)
	for _, p := range l.patterns {
		if p.MatchString(text) || p.MatchString(alike) {
			return strings.TrimPrefix(p.String(), "(?i)"), true
		}
	}
	return "", false
}

// bare is a text in lower case without accents and invisible marks; what Unicode knows as another form of a letter is that letter.
func bare(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(text))
	return norm.NFC.String(text)
}

// token is a run of letters and digits.
type token struct {
	letters string
	single  bool // it is one letter
	apart   bool // a space stands before it, not only marks
}

// readings are what 1, | and ! may stand for, the same throughout a text.
var readings = [...]rune{'i', 'l'}

// tokensOf splits a bare text. Digits and signs in a word stand for the letters that they look like. Signs of writing that knows no spaces
// are a token each.
func tokensOf(text string, one rune) (tokens []token) {
	apart, begin := true, -1
	for i, r := range text {
		if partOfWord(r) {
			if begin < 0 {
				begin = i
			}
			continue
		}
		if begin >= 0 {
			tokens = appendTokens(tokens, text[begin:i], one, apart)
			begin, apart = -1, false
		}
		apart = apart || unicode.IsSpace(r)
	}
	if begin >= 0 {
		tokens = appendTokens(tokens, text[begin:], one, apart)
	}
	return tokens
}

func appendTokens(tokens []token, run string, one rune, apart bool) []token {
	var current strings.Builder
	flush := func() {
		if letters := current.String(); letters != "" {
			tokens = append(tokens, token{letters: letters, single: len([]rune(letters)) == 1, apart: apart})
			apart = false
		}
		current.Reset()
	}
	run = strings.TrimRight(run, "!|") // the end of a sentence, rather than of a word
	hasLetter := strings.ContainsFunc(run, unicode.IsLetter)
	for _, r := range run {
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) {
			flush()
			current.WriteRune(r)
			flush()
			continue
		}
		switch {
		case hasLetter && strings.ContainsRune("1|!", r):
			r = one
		case hasLetter || unicode.IsLetter(r):
			r = lookAlike(r)
		case !unicode.IsDigit(r):
			continue
		}
		current.WriteRune(r)
	}
	flush()
	return tokens
}

// partOfWord reports whether a sign may be read as part of a word.
func partOfWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("@$|!", r)
}

// begins reports whether tokens that follow each other, from the first on, spell the entry. Between two of them the entry has a gap as well,
// or there are only marks, or a space beside a single letter, as in "b a d".
func (w *word) begins(tokens []token) bool {
	spelled := ""
	for i, t := range tokens {
		if i > 0 && t.apart && !w.ends[len(spelled)] && !t.single && !tokens[i-1].single {
			return false
		}
		spelled += t.letters
		if spelled == w.letters || w.prefix && strings.HasPrefix(spelled, w.letters) {
			return true
		}
		if !strings.HasPrefix(w.letters, spelled) {
			return false
		}
	}
	return false
}

// lookAlike is the Latin letter that a letter, digit or sign is easily taken for; others stay.
func lookAlike(r rune) rune {
	if i := strings.IndexRune(alike, r); i >= 0 {
		return rune(latin[len([]rune(alike[:i]))])
	}
	return r
}

// alike are the signs, latin what they look like, each at the same place: Cyrillic, Greek, Armenian and others, then digits and signs.
const (
	alike = "авеёкмнорстухіїјѕԁһѵԛԝгзьп" + "αβεηικμνορτυχωγ" + "ոսօհցլ" + "ıɑɡɩʏɪøłđħß" + "034578@$"
	latin = "abeekmhopctyxiijsdhvqwrebn" + "abenikuvoptuxwy" + "nuohgl" + "iagiyioldhs" + "oeastbas"
)
