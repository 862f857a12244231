package index

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// MaxResults bounds what one search gives (E38).
const MaxResults = 10

const (
	maxQueryBytes = 4000
	headingWeight = 3.0 // of a word in a heading, to one in the text
	crumbWeight   = 1.5 // of a word in the title or a heading above
	lengthShare   = 0.6 // b of BM25: how much the length of a passage counts
	usualLength   = 60  // of a passage, in different words
	saturation    = 1.2 // k1 of BM25: how soon a word counts no more when it is repeated
	candidates    = 100 // passages that are looked at closely
	// mostPostings bounds what is read to find candidates: the most frequent words of a long question then only count in these.
	mostPostings = 20_000
)

// Query is what is asked for.
type Query struct {
	Text    string
	Account string // who asks; empty: somebody without an account
	ToolID  string // of the source to look in; empty: in all
	Limit   int    // at most MaxResults, which 0 means
}

// Result is a passage that was found.
type Result struct {
	Title       string   `json:"title"` // of the document
	Heading     string   `json:"heading"`
	Snippet     string   `json:"snippet"`
	URL         string   `json:"url"`
	Path        string   `json:"path"` // of the document in its source
	Breadcrumbs []string `json:"breadcrumbs"`
	Summary     string   `json:"summary"`
	HasCode     bool     `json:"hasCode"`
	CodeLangs   []string `json:"codeLangs"`
	Source      string   `json:"source"` // its title
	// Score tells how much of what was asked for the passage has: from 0 to 1, comparable between questions.
	Score float64 `json:"score"`
}

// Answer is what a search found, best first.
type Answer struct {
	Results []Result
	// Foreign is the language that the documents are in, as its English name, where the question is in another one; else empty.
	Foreign string
}

// Search finds the best passages among those that the asker may read. ErrUnknown: there is no such tool for them.
func (x *Index) Search(ctx context.Context, q Query) (Answer, error) {
	if q.Limit <= 0 || q.Limit > MaxResults {
		q.Limit = MaxResults
	}
	q.Text = strings.ToValidUTF8(q.Text[:min(len(q.Text), maxQueryBytes)], "")
	sources, err := x.Sources(ctx, q.Account, q.ToolID)
	if err != nil {
		return Answer{}, err
	}
	if len(sources) == 0 && q.ToolID != "" {
		return Answer{}, ErrUnknown
	}
	s := search{Index: x, query: q, sources: sources}
	if err := s.run(ctx); err != nil {
		return Answer{}, fmt.Errorf("search the documents: %w", err)
	}
	return s.answer, nil
}

// search is one under way.
type search struct {
	*Index
	query   Query
	sources []Source
	terms   []term
	whole   float64 // the score of a passage that has all words of the question, as often as counts
	answer  Answer
}

// term is a lexeme that is looked for, in the sources of one language.
type term struct {
	language string
	lexeme   string
	chunks   int     // that have it
	share    float64 // of the word's weight, where it stands for another that is written alike
	idf      float64
}

func (s *search) run(ctx context.Context) error {
	if len(s.sources) == 0 {
		return nil
	}
	if err := s.read(ctx); err != nil {
		return err
	}
	found, err := s.byWords(ctx)
	if err != nil {
		return err
	}
	if err := s.show(ctx, found); err != nil {
		return err
	}
	return s.foreign(ctx)
}

// read makes terms of the question.
func (s *search) read(ctx context.Context) error {
	rows, err := s.Pool.Query(ctx, `SELECT DISTINCT language, lexeme FROM unnest($1::text[]) language, unnest(to_tsvector(language::regconfig, $2))`, languagesOf(s.sources), segment(s.query.Text))
	if err != nil {
		return err
	}
	s.terms, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (term, error) {
		t := term{share: 1}
		err := row.Scan(&t.language, &t.lexeme)
		return t, err
	})
	if err != nil {
		return err
	}
	if err := s.weigh(ctx); err != nil {
		return err
	}
	return s.correct(ctx)
}

// weigh counts the passages that have each term.
func (s *search) weigh(ctx context.Context) error {
	var lexemes []string
	for _, t := range s.terms {
		lexemes = append(lexemes, t.lexeme)
	}
	rows, err := s.Pool.Query(ctx, `SELECT s.language, l.lexeme, sum(l.chunks) FROM knowledge_lexemes l JOIN knowledge_sources s ON s.id = l.source_id, `+namesOf+`
		WHERE `+readable+` AND ($2 = '' OR s.tool_id = $2) AND l.lexeme = ANY ($3) GROUP BY 1, 2`, s.query.Account, s.query.ToolID, lexemes)
	if err != nil {
		return err
	}
	var t term
	_, err = pgx.ForEachRow(rows, []any{&t.language, &t.lexeme, &t.chunks}, func() error {
		for i := range s.terms {
			if s.terms[i].language == t.language && s.terms[i].lexeme == t.lexeme {
				s.terms[i].chunks = t.chunks
			}
		}
		return nil
	})
	for i := range s.terms {
		s.terms[i].idf = s.idf(s.terms[i].chunks)
	}
	return err
}

// idf says how much a term counts that so many passages have.
func (s *search) idf(chunks int) float64 {
	all := 0
	for _, source := range s.sources {
		all += source.Chunks
	}
	n := float64(min(chunks, all))
	return math.Log(1 + (float64(all)-n+0.5)/(n+0.5))
}

// hit is a passage by its id.
type hit struct {
	id    int64
	score float64
}

const byWords = `WITH mine AS MATERIALIZED (
	SELECT s.id, s.language FROM knowledge_sources s, ` + namesOf + ` WHERE ` + readable + ` AND ($2 = '' OR s.tool_id = $2)
), terms AS MATERIALIZED (
	SELECT mine.id AS source_id, t.lexeme, t.weight, t.strong FROM mine JOIN unnest($3::text[], $4::text[], $5::float8[], $6::boolean[]) AS t (language, lexeme, weight, strong) USING (language)
), chosen AS MATERIALIZED (
	SELECT p.source_id, p.chunk_id FROM terms t JOIN knowledge_postings p USING (source_id, lexeme) WHERE t.strong
	GROUP BY p.source_id, p.chunk_id ORDER BY sum(t.weight * p.weight / (p.weight + $7)) DESC, p.chunk_id LIMIT $8
)
SELECT c.chunk_id, sum(t.weight * p.weight / (p.weight + $7)) FROM chosen c JOIN terms t USING (source_id) JOIN knowledge_postings p USING (source_id, lexeme, chunk_id)
GROUP BY c.chunk_id ORDER BY 2 DESC, 1`

// byWords ranks passages by the terms that they have.
func (s *search) byWords(ctx context.Context) ([]hit, error) {
	slices.SortFunc(s.terms, func(a, b term) int {
		return cmp.Or(cmp.Compare(b.idf*b.share, a.idf*a.share), cmp.Compare(a.lexeme, b.lexeme), cmp.Compare(a.language, b.language))
	})
	var languages, lexemes []string
	var weights []float64
	var strong []bool
	postings := 0
	for _, t := range s.terms {
		if t.chunks == 0 {
			continue
		}
		postings += t.chunks
		languages, lexemes, weights = append(languages, t.language), append(lexemes, t.lexeme), append(weights, t.idf*t.share)
		strong = append(strong, postings <= mostPostings || len(strong) == 0)
	}
	if len(lexemes) == 0 {
		return nil, nil
	}
	rows, err := s.Pool.Query(ctx, byWords, s.query.Account, s.query.ToolID, languages, lexemes, weights, strong, saturation, candidates)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (h hit, err error) {
		err = row.Scan(&h.id, &h.score)
		return h, err
	})
}

const showChunks = `SELECT d.title, c.heading, c.text, c.url, c.source_path, c.breadcrumbs, c.summary, c.has_code, c.code_langs, s.title, s.language, c.document_id
FROM unnest($3::bigint[]) WITH ORDINALITY AS f (id, place) JOIN knowledge_chunks c USING (id) JOIN knowledge_documents d ON d.id = c.document_id JOIN knowledge_sources s ON s.id = c.source_id, ` + namesOf + `
WHERE ` + readable + ` AND ($2 = '' OR s.tool_id = $2) ORDER BY f.place`

// show reads the passages that were found, the best one of each section.
func (s *search) show(ctx context.Context, found []hit) error {
	ids, scores := make([]int64, len(found)), map[int]float64{}
	for i, h := range found {
		ids[i], scores[i] = h.id, h.score
	}
	rows, err := s.Pool.Query(ctx, showChunks, s.query.Account, s.query.ToolID, ids)
	if err != nil {
		return err
	}
	defer rows.Close()
	seen := map[string]bool{}
	for i := 0; rows.Next() && len(s.answer.Results) < s.query.Limit; i++ {
		var r Result
		var text, language string
		var document int64
		if err := rows.Scan(&r.Title, &r.Heading, &text, &r.URL, &r.Path, &r.Breadcrumbs, &r.Summary, &r.HasCode, &r.CodeLangs, &r.Source, &language, &document); err != nil {
			return err
		}
		section := fmt.Sprint(document, " ", strings.Join(r.Breadcrumbs, "\n"))
		if seen[section] {
			continue
		}
		seen[section] = true
		r.Snippet, r.Score = s.snippet(text), found[i].score/s.whole
		s.answer.Results = append(s.answer.Results, r)
	}
	return rows.Err()
}

func (s *search) snippet(text string) string { return text[:min(len(text), 300)] }

// foreign tells whether the question is in another language than the documents.
func (s *search) foreign(ctx context.Context) error { return nil }
