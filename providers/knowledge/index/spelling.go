package index

import (
	"cmp"
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
)

const (
	likeShare   = 0.35 // of their trigrams that two words have in common, at least, to be taken for one another
	shortLetter = 5    // words of at most so many letters may differ by one
	mostLike    = 3    // words that one is taken for
)

const alike = `SELECT t.lexeme, l.chunks, count(*) FROM knowledge_trigrams t JOIN knowledge_lexemes l USING (source_id, lexeme) JOIN knowledge_sources s ON s.id = t.source_id, ` + namesOf + `
WHERE ` + readable + ` AND ($2 = '' OR s.tool_id = $2) AND s.language = $3 AND t.trigram = ANY ($4) AND l.chunks > 0 AND length(t.lexeme) BETWEEN $5 AND $6
GROUP BY t.source_id, t.lexeme, l.chunks`

// correct adds, for each word that no passage has, those that are written alike. What a passage can reach at most counts the word itself.
func (s *search) correct(ctx context.Context) error {
	var more []term
	for _, t := range s.terms {
		s.whole += t.idf
		if letters := len([]rune(t.lexeme)); t.chunks > 0 || letters < 3 {
			continue
		}
		like, err := s.alike(ctx, t)
		if err != nil {
			return err
		}
		more = append(more, like...)
	}
	s.terms = append(s.terms, more...)
	return nil
}

// alike gives the words that are written most like one.
func (s *search) alike(ctx context.Context, t term) ([]term, error) {
	parts, letters := trigrams(t.lexeme), len([]rune(t.lexeme))
	rows, err := s.Pool.Query(ctx, alike, s.query.Account, s.query.ToolID, t.language, parts, letters-2, letters+2)
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
