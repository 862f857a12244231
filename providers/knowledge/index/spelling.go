package index

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/jackc/pgx/v5"
)

const (
	likeShare   = 0.35 // of their trigrams that two words have in common, at least, to be taken for one another
	shortLetter = 5    // words of at most so many letters may differ by one
	mostLike    = 3    // words that one is taken for
)

const alike = `SELECT t.lexeme, l.chunks, count(*) FROM knowledge_trigrams t JOIN knowledge_lexemes l USING (source_id, lexeme) JOIN knowledge_sources s ON s.id = t.source_id, ` + namesOf + `
WHERE ` + scope + ` AND s.language = $4 AND t.trigram = ANY ($5) AND l.chunks > 0 AND length(t.lexeme) BETWEEN $6 AND $7
GROUP BY t.source_id, t.lexeme, l.chunks`

// correct adds, for each word that no passage has and that is none of the language's, those that are written alike.
func (s *search) correct(ctx context.Context) error {
	var more []term
	for i, t := range s.terms {
		if t.chunks > 0 || len([]rune(t.lexeme)) < 3 || s.isWord(t) {
			continue
		}
		like, err := s.alike(ctx, t)
		if err != nil {
			return err
		}
		if len(like) > 0 {
			s.terms[i].idf = like[0].idf // it is as rare as the word that is meant
		}
		more = append(more, like...)
	}
	s.measure()
	s.terms = append(s.terms, more...)
	return nil
}

// isWord tells whether a word is spelt as it should be, as far as that is known.
func (s *search) isWord(t term) bool {
	return s.Dictionary != nil && s.Dictionary.Knows(strings.TrimFunc(t.word, func(r rune) bool { return !unicode.IsLetter(r) }))
}

// alike gives the words that are written most like one.
func (s *search) alike(ctx context.Context, t term) ([]term, error) {
	parts, letters := trigrams(t.lexeme), len([]rune(t.lexeme))
	rows, err := s.Pool.Query(ctx, alike, s.query.Account, s.query.ToolID, s.query.Shared, t.language, parts, letters-2, letters+2)
	if err != nil {
		return nil, err
	}
	found := map[string]term{}
	var lexeme string
	var chunks, common int
	_, err = pgx.ForEachRow(rows, []any{&lexeme, &chunks, &common}, func() error {
		shared := float64(common) / float64(len(parts)+len(trigrams(lexeme))-common)
		d := distance(t.lexeme, lexeme)
		if most := 1 + letters/(shortLetter+1); d > most || shared < likeShare && d > 1 {
			return nil
		}
		l := found[lexeme]
		found[lexeme] = term{language: t.language, lexeme: lexeme, chunks: l.chunks + chunks, share: 0.9 - 0.2*float64(d)}
		return nil
	})
	var list []term
	for _, l := range found {
		l.idf = s.idf(l.chunks)
		list = append(list, l)
	}
	slices.SortFunc(list, func(a, b term) int {
		return cmp.Or(cmp.Compare(b.share, a.share), cmp.Compare(b.chunks, a.chunks), cmp.Compare(a.lexeme, b.lexeme))
	})
	return list[:min(len(list), mostLike)], err
}
