package main

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/providers/knowledge/knowledgetest"
)

// bm25 ranks the sections that the house has by plain BM25 (k1 1.2, b 0.75), with Postgres' English stems and stop words, title and heading counted once:
// what good answers are measured against. It is not made to be fast.
type bm25 struct{ pool *pgxpool.Pool }

// read counts the words of all sections.
func (b bm25) read(ctx context.Context) error {
	_, err := b.pool.Exec(ctx, `CREATE TABLE bench_words AS
		SELECT c.id AS chunk, w.lexeme, cardinality(w.positions)::float8 AS n, sum(cardinality(w.positions)) OVER (PARTITION BY c.id)::float8 AS length
		FROM knowledge_chunks c JOIN knowledge_documents d ON d.id = c.document_id, unnest(to_tsvector('english', d.title || ' ' || c.heading || ' ' || c.text)) AS w`)
	return err
}

const rank = `WITH sections AS (SELECT count(*)::float8 AS n, avg(length) AS length FROM (SELECT DISTINCT chunk, length FROM bench_words) each),
asked AS (SELECT lexeme FROM unnest(to_tsvector('english', $1))),
rare AS (SELECT lexeme, ln(1 + (sections.n - count(*) + 0.5) / (count(*) + 0.5)) AS idf FROM asked JOIN bench_words USING (lexeme), sections GROUP BY lexeme, sections.n),
best AS (
	SELECT chunk, sum(idf * w.n * 2.2 / (w.n + 1.2 * (0.25 + 0.75 * w.length / sections.length))) AS score FROM rare JOIN bench_words w USING (lexeme), sections
	GROUP BY chunk ORDER BY score DESC, chunk LIMIT 10
)
SELECT d.path, c.heading FROM best JOIN knowledge_chunks c ON c.id = best.chunk JOIN knowledge_documents d ON d.id = c.document_id ORDER BY score DESC, chunk`

func (b bm25) find(ctx context.Context, text string) (found knowledgetest.Found, err error) {
	rows, err := b.pool.Query(ctx, rank, text)
	if err != nil {
		return found, err
	}
	found.Places, err = pgx.CollectRows(rows, pgx.RowToStructByPos[knowledgetest.Place])
	return found, err
}
