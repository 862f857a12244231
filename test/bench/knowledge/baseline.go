package main

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// baseline is what one would do with Postgres alone: a table of the sections with an index of their words, ranked by Postgres' own function. It
// knows nothing of meaning, misspelt words, how rare a word is, or who may read what.
type baseline struct{ pool *pgxpool.Pool }

// batch is as many sections as are written at once.
const batch = 2000

// read puts the sections that the house has into the baseline's table.
func (b baseline) read(ctx context.Context) (time.Duration, error) {
	if _, err := b.pool.Exec(ctx, `DROP TABLE IF EXISTS bench_sections; CREATE TABLE bench_sections (heading text, text text, words tsvector); CREATE INDEX ON bench_sections USING gin (words)`); err != nil {
		return 0, err
	}
	type section struct{ Heading, Text string }
	rows, err := b.pool.Query(ctx, `SELECT heading, text FROM knowledge_chunks ORDER BY id`)
	if err != nil {
		return 0, err
	}
	sections, err := pgx.CollectRows(rows, pgx.RowToStructByPos[section])
	if err != nil {
		return 0, err
	}
	return took(func() error {
		for begin := 0; begin < len(sections); begin += batch {
			var headings, texts []string
			for _, s := range sections[begin:min(begin+batch, len(sections))] {
				headings, texts = append(headings, s.Heading), append(texts, s.Text)
			}
			if _, err := b.pool.Exec(ctx, `INSERT INTO bench_sections SELECT h, t, setweight(to_tsvector('english', h), 'A') || to_tsvector('english', t)
				FROM unnest($1::text[], $2::text[]) AS n (h, t)`, headings, texts); err != nil {
				return err
			}
		}
		_, err := b.pool.Exec(ctx, `VACUUM (ANALYZE) bench_sections`)
		return err
	})
}

// find reads the ten best sections that have a word of a question.
func (b baseline) find(ctx context.Context, text string) error {
	_, err := b.pool.Exec(ctx, `SELECT heading, text FROM bench_sections, to_tsquery('english', replace(plainto_tsquery('english', $1)::text, '&', '|')) AS asked
		WHERE words @@ asked ORDER BY ts_rank(words, asked) DESC LIMIT 10`, text)
	return err
}

func took(do func() error) (time.Duration, error) {
	began := time.Now()
	err := do()
	return time.Since(began), err
}
