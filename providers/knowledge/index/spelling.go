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

// alike finds for each misspelt word those that have the most trigrams in common with it. Rows are put together by lexeme first, whose order is that of bytes, and words
// are known by their place: texts in the order of a language are dear to sort, and there are thousands.
const alike = `WITH near AS MATERIALIZED (
	SELECT t.lexeme, w.place, t.source_id, count(*) AS common FROM knowledge_sources s, ` + namesOf + `, unnest($4::text[], $5::int[], $6::int[], $7::text[], $8::int[]) AS w (language, place, letters, part, parts)
		JOIN knowledge_trigrams t ON t.trigram = w.part WHERE t.source_id = s.id AND s.language = w.language AND length(t.lexeme) BETWEEN w.letters - $10 AND w.letters + 2 AND ` + scope + `
	GROUP BY t.lexeme, w.place, t.source_id HAVING count(*) >= greatest(1, min(w.parts) * 3 / 10)
)
SELECT w.place, n.lexeme, sum(l.chunks), max(n.common) FROM (SELECT DISTINCT unnest($5::int[]) AS place) w
	CROSS JOIN LATERAL (SELECT source_id, lexeme, common FROM near WHERE near.place = w.place ORDER BY common DESC, length(lexeme), lexeme LIMIT $9) n
	JOIN knowledge_lexemes l USING (source_id, lexeme) WHERE l.chunks > 0 GROUP BY w.place, n.lexeme`

// correct adds, for each word that no passage has and that is none of the language's, those that are written alike.
func (s *search) correct(ctx context.Context) error {
	var languages, words, parts []string
	var places, letters, counts []int
	wrong := 0
	for _, t := range s.terms {
		size := len([]rune(t.lexeme))
		if t.chunks > 0 || size < 3 || s.isWord(t) || wrong >= mostWrong {
			continue
		}
		wrong++
		place := slices.Index(words, t.lexeme) // it may be asked for in several languages
		if place < 0 {
			place, words = len(words), append(words, t.lexeme)
		}
		list := trigrams(t.lexeme)
		for _, part := range list {
			languages, places, letters, parts, counts = append(languages, t.language), append(places, place), append(letters, size), append(parts, part), append(counts, len(list))
		}
	}
	defer s.measure()
	if len(words) == 0 {
		return nil
	}
	rows, err := s.Pool.Query(ctx, alike, s.query.Account, s.query.ToolID, s.query.Shared, languages, places, letters, parts, counts, looksAlike, mostEnding)
	if err != nil {
		return err
	}
	found := map[string][]term{}
	var place, common int
	var t term
	_, err = pgx.ForEachRow(rows, []any{&place, &t.lexeme, &t.chunks, &common}, func() error {
		word := words[place]
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
