package index

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/jackc/pgx/v5"
)

// MaxResults bounds what one search gives (E38).
const MaxResults = 10

const (
	maxQueryBytes = 4000
	headingWeight = 2.0  // of a word in the heading, to one in the text or in a heading above
	lengthShare   = 0.8  // b of BM25: how much the length of a passage counts
	usualLength   = 50.0 // of a passage, in different words
	saturation    = 2.0  // k1 of BM25: how soon a word counts no more when it is repeated
	candidates    = 60   // passages that are looked at closely
	besideShare   = 0.1  // of what its document has beyond a passage that counts for this one
	// mostPostings bounds what is read to find candidates: the most frequent words of a long question then only count in these.
	mostPostings = 8_000
	// weighty words of a question are what a passage is measured by: none has all of a long one's.
	weighty = 4
)

// Query is what is asked for.
type Query struct {
	Text    string
	Account string // who asks; empty: somebody without an account
	ToolID  string // of the source to look in; empty: in all
	Shared  bool   // others read the answer, too: only what is everybody's is looked at
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
	// Score tells how much of what was asked for the best passages have, less for each place: from 0 to 1, comparable between questions.
	Score float64 `json:"score"`
}

// Answer is what a search found, best first.
type Answer struct {
	Results []Result
	// Foreign is the language that the documents are in, by its English name, where the question is in another one; else empty.
	Foreign string
}

// Search finds the best passages among those that the asker may read. ErrUnknown: there is no such tool for them.
func (x *Index) Search(ctx context.Context, q Query) (Answer, error) {
	if q.Limit <= 0 || q.Limit > MaxResults {
		q.Limit = MaxResults
	}
	q.Text = storable(q.Text[:min(len(q.Text), maxQueryBytes)])
	sources, err := x.readable(ctx, q.Account, q.ToolID, q.Shared)
	if err != nil {
		return Answer{}, err
	}
	if len(sources) == 0 && q.ToolID != "" {
		return Answer{}, ErrUnknown
	}
	s := search{Index: x, query: q, sources: slices.DeleteFunc(sources, func(s Source) bool { return s.Chunks == 0 })}
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
	more    []term  // that stand for misspelt ones
	whole   float64 // the score of a passage that has all weighty words of the question, as often as counts
	answer  Answer
}

// term is a lexeme that is looked for, in the sources of one language.
type term struct {
	language string
	lexeme   string
	word     string  // as it was written, in lower case
	chunks   int     // that have it
	share    float64 // of the word's weight, where it stands for another that is written alike
	idf      float64
}

// hit is a passage by its id.
type hit struct {
	id       int64
	document int64
	score    float64
	whole    float64 // that its document has, each word by the passage that has the most of it
}

func (s *search) run(ctx context.Context) error {
	if len(s.sources) == 0 {
		return nil
	}
	if err := s.read(ctx); err != nil {
		return err
	}
	s.terms = append(s.terms, s.more...)
	words, err := s.byWords(ctx, s.terms)
	if err != nil {
		return err
	}
	has := s.has(words)
	asked, err := s.asked(ctx, has)
	if err != nil {
		return err
	}
	meaning, err := s.byMeaning(ctx, asked)
	if err != nil {
		return err
	}
	if len(meaning) == 0 && has < enough && s.answer.Foreign != "" {
		if words, err = s.byWords(ctx, s.names()); err != nil {
			return err
		}
		has = s.has(words)
	}
	if has == 0 && (len(meaning) == 0 || meaning[0].score < nearEnough) {
		if usual := usualLanguage(s.sources); s.answer.Foreign == "" && s.strange(usual) {
			s.answer.Foreign = usual
		}
		return nil
	}
	return s.show(ctx, fuse(has, beside(words), meaning), has)
}

// has tells how much of the question the best passage has.
func (s *search) has(words []hit) float64 {
	if len(words) == 0 {
		return 0
	}
	return min(1, words[0].score/s.whole)
}

// names are the terms that are the same in all languages: in a question in other letters than the documents what is in theirs, and what is written as
// no word is, such as SVG, mp3 and getUser.
func (s *search) names() []term {
	script := scriptOfLanguage(s.answer.Foreign)
	other := scriptOf(s.query.Text) != script
	is := map[string]bool{}
	for word := range strings.FieldsSeq(s.query.Text) {
		name := isName(word)
		for part := range strings.FieldsSeq(segment(word)) {
			key := strings.ToLower(part)
			is[key] = is[key] || name || other && strings.ContainsFunc(part, func(r rune) bool { return unicode.Is(script, r) })
		}
	}
	return slices.DeleteFunc(slices.Clone(s.terms), func(t term) bool { return !is[t.word] })
}

// isName reports whether a word has a capital behind another letter, or letters and digits.
func isName(word string) bool {
	letter, capital, digit := false, false, false
	for _, r := range word {
		capital = capital || letter && unicode.IsUpper(r)
		letter = letter || unicode.IsLetter(r)
		digit = digit || unicode.IsDigit(r)
	}
	return capital || letter && digit
}

// beside ranks passages again: of two that have as much of the question, the one in a document with more of it is the better answer. So a page whose
// sections each have some words of a long question is before one that has the same words over and over.
func beside(words []hit) []hit {
	list := slices.Clone(words)
	for i, h := range list {
		list[i].score += besideShare * (h.whole - h.score)
	}
	slices.SortFunc(list, better)
	return list
}

// better orders hits, the best first.
func better(a, b hit) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id)) }

const (
	enough     = 0.25 // of a question in another language a passage has to have
	certain    = 0.35 // of a question; it is in the language of the documents then
	nearEnough = 0.6  // a passage has to be in meaning that has no word of the question
)

// asked gives the language of the question, and notes whether it is another one than those of the documents.
func (s *search) asked(ctx context.Context, has float64) (string, error) {
	usual := usualLanguage(s.sources)
	if has >= certain {
		return usual, nil
	}
	language, _, err := s.languageOf(ctx, strings.Fields(s.query.Text), usual)
	if err == nil && language == usual && scriptOf(s.query.Text) != scriptOfLanguage(usual) {
		language = "simple"
	}
	if usual != "simple" && !slices.ContainsFunc(s.sources, func(o Source) bool { return o.Language == language }) {
		s.answer.Foreign = usual
	}
	return language, err
}

// usualLanguage is that of the most passages, as far as it is known.
func usualLanguage(sources []Source) string {
	passages := map[string]int{}
	for _, s := range sources {
		passages[s.Language] += s.Chunks
	}
	usual := "simple"
	for _, s := range sources {
		if s.Language != "simple" && (usual == "simple" || passages[s.Language] > passages[usual]) {
			usual = s.Language
		}
	}
	return usual
}

// strange reports whether most words of the question are none of a language: short questions have no words that tell theirs. One such word is a name,
// rather.
func (s *search) strange(language string) bool {
	if s.Dictionary == nil || !s.Dictionary.Covers(language) {
		return false
	}
	unknown, all := 0, 0
	for _, t := range s.terms {
		if t.language != language {
			continue
		}
		if all++; t.chunks == 0 && !s.isWord(t) {
			unknown++
		}
	}
	return unknown > 1 && 2*unknown > all
}

// scriptOf tells in which letters most of a text is, as far as it matters.
func scriptOf(text string) *unicode.RangeTable {
	counts := map[*unicode.RangeTable]int{}
	for _, r := range text {
		for _, script := range []*unicode.RangeTable{unicode.Latin, unicode.Cyrillic, unicode.Han} {
			if unicode.Is(script, r) {
				counts[script]++
			}
		}
	}
	best := unicode.Latin
	for script, n := range counts {
		if n > counts[best] {
			best = script
		}
	}
	return best
}

func scriptOfLanguage(configuration string) *unicode.RangeTable {
	if configuration == "russian" {
		return unicode.Cyrillic
	}
	return unicode.Latin
}

// read makes terms of the question.
func (s *search) read(ctx context.Context) error {
	rows, _ := s.Pool.Query(ctx, `SELECT language, lexeme, min(lower(word)) FROM unnest($1::text[]) language, unnest($2::text[]) word, unnest(to_tsvector(language::regconfig, word))
		GROUP BY 1, 2 ORDER BY 1, 2`, languagesOf(s.sources), strings.Fields(segment(s.query.Text)))
	terms, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (term, error) {
		t := term{share: 1}
		err := row.Scan(&t.language, &t.lexeme, &t.word)
		return t, err
	})
	if err != nil || len(terms) == 0 {
		return err
	}
	s.terms = terms
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
	rows, _ := s.Pool.Query(ctx, `SELECT s.language, l.lexeme, sum(l.chunks) FROM knowledge_lexemes l JOIN knowledge_sources s ON s.id = l.source_id, `+namesOf+`
		WHERE `+scope+` AND l.lexeme = ANY ($4) GROUP BY 1, 2`, s.query.Account, s.query.ToolID, s.query.Shared, lexemes)
	var t term
	_, err := pgx.ForEachRow(rows, []any{&t.language, &t.lexeme, &t.chunks}, func() error {
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

// measure finds what a passage can reach.
func (s *search) measure() {
	weights := map[string][]float64{}
	for _, t := range s.terms {
		weights[t.language] = append(weights[t.language], t.idf)
	}
	for _, list := range weights {
		slices.SortFunc(list, func(a, b float64) int { return cmp.Compare(b, a) })
		sum := 0.0
		for _, w := range list[:min(len(list), weighty)] {
			sum += w
		}
		s.whole = max(s.whole, sum)
	}
}

const byWords = `WITH mine AS MATERIALIZED (
	SELECT s.id, s.language FROM knowledge_sources s, ` + namesOf + ` WHERE ` + scope + `
), terms AS MATERIALIZED (
	SELECT mine.id AS source_id, t.lexeme, t.weight, t.strong FROM mine JOIN unnest($4::text[], $5::text[], $6::float8[], $7::boolean[]) AS t (language, lexeme, weight, strong) USING (language)
), strong AS MATERIALIZED (
	SELECT p.source_id, p.chunk_id, p.lexeme, t.weight * p.weight / (p.weight + $8) AS score FROM terms t JOIN knowledge_postings p USING (source_id, lexeme) WHERE t.strong
), chosen AS MATERIALIZED (
	SELECT source_id, chunk_id FROM strong GROUP BY source_id, chunk_id ORDER BY sum(score) DESC, chunk_id LIMIT $9
), parts AS (
	SELECT chunk_id, lexeme, score FROM chosen JOIN strong USING (source_id, chunk_id)
	UNION ALL
	SELECT c.chunk_id, t.lexeme, t.weight * p.weight / (p.weight + $8) FROM chosen c JOIN terms t USING (source_id)
		CROSS JOIN LATERAL (SELECT weight FROM knowledge_postings WHERE source_id = c.source_id AND lexeme = t.lexeme AND chunk_id = c.chunk_id OFFSET 0) p WHERE NOT t.strong
)
SELECT p.chunk_id, k.document_id, p.lexeme, p.score FROM parts p JOIN knowledge_chunks k ON k.id = p.chunk_id ORDER BY p.chunk_id, p.lexeme`

// byWords ranks passages by the terms that they have.
func (s *search) byWords(ctx context.Context, terms []term) ([]hit, error) {
	slices.SortFunc(terms, func(a, b term) int {
		return cmp.Or(cmp.Compare(b.idf*b.share, a.idf*a.share), cmp.Compare(a.lexeme, b.lexeme), cmp.Compare(a.language, b.language))
	})
	var languages, lexemes []string
	var weights []float64
	var strong []bool
	postings := 0
	for _, t := range terms {
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
	rows, _ := s.Pool.Query(ctx, byWords, s.query.Account, s.query.ToolID, s.query.Shared, languages, lexemes, weights, strong, saturation, candidates)
	parts, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p part, err error) {
		err = row.Scan(&p.chunk, &p.document, &p.lexeme, &p.score)
		return p, err
	})
	return summed(parts), err
}

// part is what a passage has of one term.
type part struct {
	chunk, document int64
	lexeme          string
	score           float64
}

// summed makes hits of the parts, which come by passage.
func summed(parts []part) []hit {
	type place struct {
		document int64
		lexeme   string
	}
	most, whole := map[place]float64{}, map[int64]float64{}
	var hits []hit
	for _, p := range parts {
		if len(hits) == 0 || hits[len(hits)-1].id != p.chunk {
			hits = append(hits, hit{id: p.chunk, document: p.document})
		}
		hits[len(hits)-1].score += p.score
		if at := (place{p.document, p.lexeme}); p.score > most[at] {
			whole[p.document] += p.score - most[at]
			most[at] = p.score
		}
	}
	for i := range hits {
		hits[i].whole = whole[hits[i].document]
	}
	slices.SortFunc(hits, better)
	return hits
}

const (
	// rankOffset is the constant of reciprocal rank fusion: how little the first places are above the next. It is small, since the lists are short.
	rankOffset = 10
	// A passage that has so little of the question was not found by its words, and one with so much surely was.
	doubtful, sure = 0.15, 0.35
	// leastWords and leastMeaning are what each rank counts even where the other one is to be trusted.
	leastWords, leastMeaning = 0.6, 0.2
)

// fuse makes one rank of two. The less of the question the best passage has, the more its meaning counts. The scores of what it gives are from 0 to
// 1.
func fuse(has float64, words, meaning []hit) []hit {
	trust := max(0, min(1, (has-doubtful)/(sure-doubtful)))
	fused := map[int64]float64{}
	add := func(list []hit, weight float64) {
		for i, h := range list {
			fused[h.id] += weight / float64(rankOffset+i+1)
		}
	}
	add(words, max(leastWords, trust))
	add(meaning, max(leastMeaning, 1-trust))
	var list []hit
	for id, score := range fused {
		list = append(list, hit{id: id, score: score})
	}
	slices.SortFunc(list, better)
	for i := range list[1:] {
		list[i+1].score /= list[0].score
	}
	if len(list) > 0 {
		list[0].score = 1
	}
	return list
}

const showChunks = `SELECT f.place, d.title, c.heading, c.text, c.url, c.source_path, c.breadcrumbs, c.summary, c.has_code, c.code_langs, s.title, c.document_id
FROM unnest($4::bigint[]) WITH ORDINALITY AS f (id, place) JOIN knowledge_chunks c USING (id) JOIN knowledge_documents d ON d.id = c.document_id JOIN knowledge_sources s ON s.id = c.source_id, ` + namesOf + `
WHERE ` + scope + ` ORDER BY f.place`

// show reads the passages that were found, the best one of each section.
func (s *search) show(ctx context.Context, found []hit, has float64) error {
	found = found[:min(len(found), candidates/2)]
	ids := make([]int64, len(found))
	for i, h := range found {
		ids[i] = h.id
	}
	rows, err := s.Pool.Query(ctx, showChunks, s.query.Account, s.query.ToolID, s.query.Shared, ids)
	if err != nil {
		return err
	}
	defer rows.Close()
	seen := map[string]bool{}
	for rows.Next() && len(s.answer.Results) < s.query.Limit {
		var r Result
		var text string
		var place int
		var document int64
		if err := rows.Scan(&place, &r.Title, &r.Heading, &text, &r.URL, &r.Path, &r.Breadcrumbs, &r.Summary, &r.HasCode, &r.CodeLangs, &r.Source, &document); err != nil {
			return err
		}
		section := fmt.Sprint(document, " ", strings.Join(r.Breadcrumbs, "\n"))
		if seen[section] {
			continue
		}
		seen[section] = true
		r.Snippet, r.Score = s.snippet(text), math.Round(1000*has*found[place-1].score)/1000
		s.answer.Results = append(s.answer.Results, r)
	}
	return rows.Err()
}
