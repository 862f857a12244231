package index

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/edit"
)

const (
	likeShare    = 0.35 // of their trigrams that two words have in common, at least, to be taken for one another
	shortLetters = 5    // words of at most so many letters may differ by one, longer ones by more
	stemLetters  = 5    // of a lexeme, at least, that a word may begin with whose ending is misspelt
	mostEnding   = 6    // letters that such an ending has
	mostWrong    = 8    // words of a question that are looked at
	mostLike     = 3    // words that one is taken for
	looksAlike   = 60   // words that are looked at closely
)

const alike = `WITH near AS MATERIALIZED (
	SELECT w.word, t.source_id, t.lexeme, count(*) AS common, min(w.parts) AS parts FROM knowledge_sources s, ` + namesOf + `, unnest($4::text[], $5::text[], $6::text[], $7::int[]) AS w (language, word, part, parts)
		JOIN knowledge_trigrams t ON t.trigram = w.part WHERE t.source_id = s.id AND s.language = w.language AND ` + scope + `
	GROUP BY w.word, t.source_id, t.lexeme HAVING count(*) >= greatest(1, min(w.parts) * 3 / 10) AND length(t.lexeme) BETWEEN length(w.word) - $9 AND length(w.word) + 2
), nearest AS (
	SELECT *, row_number() OVER (PARTITION BY word ORDER BY common DESC, length(lexeme), lexeme) AS place FROM near
)
SELECT n.word, n.lexeme, sum(l.chunks), max(n.common) FROM nearest n JOIN knowledge_lexemes l USING (source_id, lexeme) WHERE n.place <= $8 AND l.chunks > 0 GROUP BY n.word, n.lexeme`

// correct adds, for each word that no passage has and that is none of the language's, those that are written alike.
func (s *search) correct(ctx context.Context) error {
	var languages, words, parts []string
	var counts []int
	wrong := 0
	for _, t := range s.terms {
		if t.chunks > 0 || len([]rune(t.lexeme)) < 3 || s.isWord(t) || wrong >= mostWrong {
			continue
		}
		wrong++
		list := trigrams(t.lexeme)
		for _, part := range list {
			languages, words, parts, counts = append(languages, t.language), append(words, t.lexeme), append(parts, part), append(counts, len(list))
		}
	}
	defer s.measure()
	if wrong == 0 {
		return nil
	}
	rows, err := s.Pool.Query(ctx, alike, s.query.Account, s.query.ToolID, s.query.Shared, languages, words, parts, counts, looksAlike, mostEnding)
	if err != nil {
		return err
	}
	found := map[string][]term{}
	var word string
	var common int
	var t term
	_, err = pgx.ForEachRow(rows, []any{&word, &t.lexeme, &t.chunks, &common}, func() error {
		if share, is := meant(word, t.lexeme, common); is {
			found[word] = append(found[word], term{lexeme: t.lexeme, chunks: t.chunks, share: share, idf: s.idf(t.chunks)})
		}
		return nil
	})
	for i := range s.terms {
		s.replace(&s.terms[i], found[s.terms[i].lexeme])
	}
	return err
}

// meant tells whether a word may be misspelt for another one with which it has so many trigrams in common, and what that one then counts.
func meant(word, other string, common int) (share float64, is bool) {
	most := 1 + len([]rune(word))/(shortLetters+1)
	d := min(edit.Distance(word, other, most), endings(word, other))
	shared := float64(common) / float64(len(trigrams(word))+len(trigrams(other))-common)
	if d > most || shared < likeShare && d > 1 {
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
	for _, m := range meant[:min(len(meant), mostLike)] {
		m.language = t.language
		s.more = append(s.more, m)
	}
}

// isWord tells whether a word is spelt as it should be, as far as that is known.
func (s *search) isWord(t term) bool {
	return s.Dictionary != nil && s.Dictionary.Knows(strings.TrimFunc(t.word, func(r rune) bool { return !unicode.IsLetter(r) }))
}
