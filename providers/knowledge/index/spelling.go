package index

import (
	"cmp"
	"context"
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/edit"
)

const (
	likeShare    = 0.35 // of their trigrams that two words have in common, at least, to be taken for one another
	leastShared  = 0.3  // of a word's trigrams that another one has, at least
	shortLetters = 5    // words of at most so many letters may differ by one, longer ones by more
	stemLetters  = 5    // of a lexeme, at least, that a word may begin with whose ending is misspelt
	mostEnding   = 6    // letters that such an ending has
	mostWrong    = 8    // words of a question that are looked at
	mostLike     = 3    // words that one is taken for
)

// lexeme is one that passages of a source have. Those of a source are kept in memory, some forty bytes each, and all are compared with a misspelt word:
// that is sooner done than asking the database for those written alike.
type lexeme struct {
	text    string
	chunks  int    // that have it
	letters uint64 // which letters it has, each by one bit; some share theirs
}

// lexemesOf gives the lexemes of a source as they are now.
func (x *Index) lexemesOf(ctx context.Context, s Source) ([]lexeme, error) {
	return x.lexemes.of(s, func() ([]lexeme, error) {
		rows, _ := x.Pool.Query(ctx, `SELECT lexeme, chunks FROM knowledge_lexemes WHERE source_id = $1 AND chunks > 0`, s.ID)
		return pgx.CollectRows(rows, func(row pgx.CollectableRow) (l lexeme, err error) {
			err = row.Scan(&l.text, &l.chunks)
			l.letters = lettersOf(l.text)
			return l, err
		})
	})
}

func lettersOf(word string) (set uint64) {
	for _, r := range word {
		set |= 1 << (r % 64)
	}
	return set
}

// correct adds, for each word that no passage has and that is none of the language's, those that are written alike.
func (s *search) correct(ctx context.Context) error {
	wrong := 0
	for i := range s.terms {
		t := &s.terms[i]
		if t.chunks > 0 || utf8.RuneCountInString(t.lexeme) < 3 || s.isWord(*t) || wrong >= mostWrong {
			continue
		}
		wrong++
		found, err := s.alike(ctx, t)
		if err != nil {
			return err
		}
		s.replace(t, found)
	}
	s.measure()
	return nil
}

// alike finds the lexemes in the sources of a term's language that it may be misspelt for.
func (s *search) alike(ctx context.Context, t *term) ([]term, error) {
	chunks, shares := map[string]int{}, map[string]float64{}
	most, letters := mayDiffer(t.lexeme), lettersOf(t.lexeme)
	for _, source := range s.sources {
		if source.Language != t.language {
			continue
		}
		lexemes, err := s.lexemesOf(ctx, source)
		if err != nil {
			return nil, err
		}
		for _, l := range lexemes {
			// A letter that is replaced takes one out of the set and puts one in: this rules out nearly all without comparing.
			if bits.OnesCount64(l.letters^letters) > 2*most && !strings.HasPrefix(t.lexeme, l.text) {
				continue
			}
			if share, is := meant(t.lexeme, l.text); is {
				chunks[l.text] += l.chunks
				shares[l.text] = share
			}
		}
	}
	var found []term
	for text, n := range chunks {
		found = append(found, term{language: t.language, lexeme: text, chunks: n, share: shares[text], idf: s.idf(n)})
	}
	return found, nil
}

// mayDiffer is by how many letters a word may differ from the one it is meant for.
func mayDiffer(word string) int { return 1 + utf8.RuneCountInString(word)/(shortLetters+1) }

// meant tells whether a word may be misspelt for another one, and what that one then counts.
func meant(word, other string) (share float64, is bool) {
	most := mayDiffer(word)
	d := min(edit.Distance(word, other, most), endings(word, other))
	if d > most {
		return 0, false
	}
	a, b := trigrams(word), trigrams(other)
	common := 0
	for _, part := range a {
		if _, has := slices.BinarySearch(b, part); has {
			common++
		}
	}
	if common < max(1, int(leastShared*float64(len(a)))) || d > 1 && float64(common) < likeShare*float64(len(a)+len(b)-common) {
		return 0, false
	}
	return 0.9 - 0.2*float64(d), true
}

// endings counts two letters where a word is a lexeme and an ending: one that is misspelt, as in navigaton, is not taken away by the dictionary. Else it is
// more than any word may differ by.
func endings(word, lexeme string) int {
	ending, is := strings.CutPrefix(word, lexeme)
	if is && len([]rune(lexeme)) >= stemLetters && len([]rune(ending)) <= mostEnding {
		return 2
	}
	return len(word)
}

// replace adds the words that one is most likely meant for. It is as rare as they are.
func (s *search) replace(t *term, meant []term) {
	if len(meant) == 0 {
		return
	}
	slices.SortFunc(meant, func(a, b term) int {
		return cmp.Or(cmp.Compare(b.share, a.share), cmp.Compare(b.chunks, a.chunks), cmp.Compare(a.lexeme, b.lexeme))
	})
	t.idf = meant[0].idf
	s.more = append(s.more, meant[:min(len(meant), mostLike)]...)
}

// isWord tells whether a word is spelt as it should be, as far as that is known.
func (s *search) isWord(t term) bool {
	return s.Dictionary != nil && s.Dictionary.Knows(strings.TrimFunc(t.word, func(r rune) bool { return !unicode.IsLetter(r) }))
}
