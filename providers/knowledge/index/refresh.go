package index

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/locks"
	"github.com/signalbox/signalbox/internal/postgres/session"
)

// batchChunks is how many chunks are written in one transaction, at least.
const batchChunks = 2000

// manyChunks are so many that the database is told at once; it notices fewer by itself in time.
const manyChunks = 500

// form changes when chunks or words are made in another way, so that all is made anew.
const form = 2

// Change says what a refresh did.
type Change struct {
	Written, Removed, Kept int      // documents
	Problems               []string // of all documents that can't be read, by their paths
}

// Changed reports whether there was anything new.
func (c Change) Changed() bool { return c.Written+c.Removed > 0 }

// Refresh makes the documents of a source those that items gives: what has another hash is read and written, what is missing goes, the
// rest is not touched. An error of items ends it before anything is removed. One process at a time refreshes a source.
func (x *Index) Refresh(ctx context.Context, s Source, items iter.Seq2[Item, error]) (done Change, err error) {
	conn, err := session.Open(ctx, x.Pool)
	if err != nil {
		return done, fmt.Errorf("refresh %s: %w", s.Name, err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) // and with it the lock is given up
	key := fmt.Sprint(s.ID)
	if _, err := conn.Exec(ctx, `SELECT pg_advisory_lock(`+locks.Knowledge+`)`, key); err != nil {
		return done, fmt.Errorf("refresh %s: %w", s.Name, err)
	}
	r := refresh{Index: x, source: s}
	if err := r.run(ctx, items); err != nil {
		return r.done, fmt.Errorf("refresh %s: %w", s.Name, err)
	}
	return r.done, nil
}

// refresh is one under way.
type refresh struct {
	*Index
	source  Source
	before  map[string][]byte // hashes by path
	pending []written
	chunks  int // in pending
	wrote   int // chunks
	done    Change

	anew      bool // all is written again
	noVectors bool // the embedder is away
	filled    bool // vectors were added to chunks that had none
}

// written is a document that is to be written.
type written struct {
	path, problem string
	hash          []byte
	Document
}

func (r *refresh) run(ctx context.Context, items iter.Seq2[Item, error]) error {
	if err := r.known(ctx); err != nil {
		return err
	}
	seen := map[string]bool{}
	for item, err := range items {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil && !seen[item.Path] {
			seen[item.Path] = true
			err = r.take(ctx, item)
		}
		if err != nil {
			return err
		}
	}
	if err := r.flush(ctx); err != nil {
		return err
	}
	if err := r.remove(ctx, seen); err != nil {
		return err
	}
	if r.done.Changed() {
		if err := r.sweep(ctx); err != nil {
			return err
		}
	}
	if r.wrote >= manyChunks {
		// Without it a search reads the table beside the index, and plans by what was there before.
		if _, err := r.Pool.Exec(ctx, `VACUUM (ANALYZE) knowledge_postings, knowledge_lexemes, knowledge_chunks`); err != nil {
			return err
		}
	}
	if err := r.fill(ctx); err != nil {
		return err
	}
	rows, _ := r.Pool.Query(ctx, `UPDATE knowledge_sources s SET refreshed_at = now() WHERE id = $1 RETURNING `+sourceColumns, r.source.ID)
	now, err := pgx.CollectExactlyOneRow(rows, scanSource)
	if err != nil {
		return err
	}
	rows, _ = r.Pool.Query(ctx, `SELECT problem FROM knowledge_documents WHERE source_id = $1 AND problem <> '' ORDER BY path`, r.source.ID)
	if r.done.Problems, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
		return err
	}
	return r.warm(ctx, now)
}

// warm reads what is kept in memory of a source, so that the first who searches does not wait for it.
func (r *refresh) warm(ctx context.Context, s Source) error {
	if _, err := r.lexemesOf(ctx, s); err != nil || r.Embedder == nil {
		return err
	}
	_, err := r.vectorsOf(ctx, s)
	return err
}

// sweep deletes the lexemes that are in no chunk any more.
func (r *refresh) sweep(ctx context.Context) error {
	_, err := r.Pool.Exec(ctx, `DELETE FROM knowledge_lexemes WHERE source_id = $1 AND chunks = 0`, r.source.ID)
	return err
}

// known reads which documents there are, and how they were made.
func (r *refresh) known(ctx context.Context) error {
	r.before = map[string][]byte{}
	var language string
	var chunks int
	err := r.Pool.QueryRow(ctx, `SELECT language, embeddings, chunks FROM knowledge_sources WHERE id = $1`, r.source.ID).Scan(&language, &r.source.embeddings, &chunks)
	switch {
	case err != nil:
		return err
	case r.source.Language == "" && chunks > 0:
		r.source.Language = language
	case r.source.Language != language:
		r.anew = true
	}
	rows, _ := r.Pool.Query(ctx, `SELECT path, hash FROM knowledge_documents WHERE source_id = $1`, r.source.ID)
	var path string
	var hash []byte
	_, err = pgx.ForEachRow(rows, []any{&path, &hash}, func() error {
		r.before[path] = bytes.Clone(hash)
		return nil
	})
	return err
}

// take reads an item if it is new.
func (r *refresh) take(ctx context.Context, item Item) error {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %x", form, item.Hash))
	if !r.anew && bytes.Equal(r.before[item.Path], sum[:]) {
		r.done.Kept++
		return nil
	}
	d, err := item.Read(ctx)
	if r.Embedder == nil || item.Embeddings != r.Embedder.Model() {
		for i := range d.Chunks {
			d.Chunks[i].Embedding = nil
		}
	}
	w := written{path: item.Path, hash: sum[:], Document: d}
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		w.problem = err.Error()
	}
	r.pending = append(r.pending, w)
	r.chunks += len(d.Chunks)
	if r.chunks >= batchChunks {
		return r.flush(ctx)
	}
	return nil
}

// remove deletes the documents that are not there any more.
func (r *refresh) remove(ctx context.Context, seen map[string]bool) error {
	gone := slices.DeleteFunc(slices.Sorted(maps.Keys(r.before)), func(path string) bool { return seen[path] })
	if len(gone) == 0 {
		return nil
	}
	r.done.Removed = len(gone)
	return pgx.BeginFunc(ctx, r.Pool, func(tx pgx.Tx) error {
		if err := r.drop(ctx, tx, gone); err != nil {
			return err
		}
		return r.count(ctx, tx)
	})
}

// flush writes what is pending.
func (r *refresh) flush(ctx context.Context) error {
	if len(r.pending) == 0 {
		return nil
	}
	if err := r.embed(ctx); err != nil {
		return err
	}
	if r.source.Language == "" {
		if err := r.findLanguage(ctx); err != nil {
			return err
		}
	}
	err := pgx.BeginFunc(ctx, r.Pool, func(tx pgx.Tx) error {
		var paths []string
		for _, w := range r.pending {
			paths = append(paths, w.path)
		}
		if err := r.drop(ctx, tx, paths); err != nil {
			return err
		}
		if err := r.write(ctx, tx); err != nil {
			return err
		}
		return r.count(ctx, tx)
	})
	r.done.Written += len(r.pending)
	r.wrote += r.chunks
	r.pending, r.chunks = nil, 0
	return err
}

// drop deletes documents and all that was made of them.
func (r *refresh) drop(ctx context.Context, tx pgx.Tx, paths []string) error {
	batch := &pgx.Batch{}
	const old = `WITH old AS MATERIALIZED (SELECT c.id, w.lexeme FROM knowledge_documents d JOIN knowledge_chunks c ON c.document_id = d.id, unnest(c.words) AS w
		WHERE d.source_id = $1 AND d.path = ANY ($2)) `
	batch.Queue(old+`UPDATE knowledge_lexemes l SET chunks = l.chunks - o.n FROM (SELECT lexeme, count(*) AS n FROM old GROUP BY lexeme) o
		WHERE l.source_id = $1 AND l.lexeme = o.lexeme`, r.source.ID, paths)
	batch.Queue(old+`DELETE FROM knowledge_postings p USING old o WHERE p.source_id = $1 AND p.lexeme = o.lexeme AND p.chunk_id = o.id`, r.source.ID, paths)
	batch.Queue(`DELETE FROM knowledge_documents WHERE source_id = $1 AND path = ANY ($2)`, r.source.ID, paths)
	return tx.SendBatch(ctx, batch).Close()
}

// columns are the rows of chunks, by column, as one statement takes them.
type columns struct {
	document                          []int64
	heading, summary, text, url, path []string
	headWords, crumbWords, words      []string
	crumbs, langs                     []string // JSON arrays: those of Postgres have to be of one length
	code                              []bool
	embedding                         [][]byte
}

const insertChunks = `WITH new AS (
	INSERT INTO knowledge_chunks (source_id, document_id, heading, summary, text, url, source_path, breadcrumbs, has_code, code_langs, embedding, words)
	SELECT $1, document, heading, summary, text, url, path, ARRAY(SELECT jsonb_array_elements_text(crumbs::jsonb)), code,
		ARRAY(SELECT jsonb_array_elements_text(langs::jsonb)), embedding,
		setweight(to_tsvector($2::regconfig, head_words), 'A') || to_tsvector($2::regconfig, crumb_words) || to_tsvector($2::regconfig, words)
	FROM unnest($3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::boolean[], $15::bytea[])
		AS t (document, heading, summary, text, url, path, head_words, crumb_words, words, crumbs, langs, code, embedding)
	RETURNING id, words
), posted AS (
	INSERT INTO knowledge_postings (source_id, lexeme, chunk_id, weight)
	SELECT $1, w.lexeme, new.id, (cardinality(w.weights) + ($16::real - 1) * cardinality(array_positions(w.weights, 'A')))
		/ (1 - $17::real + $17::real * length(new.words) / $18::real)
	FROM new, unnest(new.words) AS w ORDER BY w.lexeme, new.id
	RETURNING lexeme
)
INSERT INTO knowledge_lexemes AS l (source_id, lexeme, chunks)
SELECT $1, lexeme, count(*) FROM posted GROUP BY lexeme ORDER BY lexeme
ON CONFLICT (source_id, lexeme) DO UPDATE SET chunks = l.chunks + excluded.chunks`

// write adds the pending documents.
func (r *refresh) write(ctx context.Context, tx pgx.Tx) error {
	var paths, titles, problems []string
	var hashes [][]byte
	for _, w := range r.pending {
		paths, titles, problems, hashes = append(paths, w.path), append(titles, w.Title), append(problems, w.problem), append(hashes, w.hash)
	}
	rows, _ := tx.Query(ctx, `INSERT INTO knowledge_documents (source_id, path, title, hash, problem)
		SELECT $1, * FROM unnest($2::text[], $3::text[], $4::bytea[], $5::text[]) RETURNING path, id`, r.source.ID, paths, titles, hashes, problems)
	ids := map[string]int64{}
	var path string
	var id int64
	if _, err := pgx.ForEachRow(rows, []any{&path, &id}, func() error { ids[path] = id; return nil }); err != nil {
		return err
	}
	c := r.columns(ids)
	if len(c.document) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, insertChunks, r.source.ID, r.source.Language, c.document, c.heading, c.summary, c.text, c.url, c.path, c.headWords, c.crumbWords, c.words, c.crumbs, c.langs, c.code,
		c.embedding, headingWeight, lengthShare, usualLength)
	return err
}

func (r *refresh) columns(ids map[string]int64) (c columns) {
	for _, w := range r.pending {
		for _, k := range w.Chunks {
			c.document = append(c.document, ids[w.path])
			c.heading, c.summary, c.text, c.url, c.path = append(c.heading, k.Heading), append(c.summary, k.Summary), append(c.text, k.Text), append(c.url, k.URL), append(c.path, k.SourcePath)
			above := k.Breadcrumbs
			if n := len(above); n > 0 && above[n-1] == k.Heading {
				above = above[:n-1]
			}
			c.headWords, c.crumbWords, c.words = append(c.headWords, segment(k.Heading)), append(c.crumbWords, segment(strings.Join(above, "\n"))), append(c.words, segment(k.Text))
			c.crumbs, c.langs, c.code = append(c.crumbs, jsonList(k.Breadcrumbs)), append(c.langs, jsonList(k.CodeLangs)), append(c.code, k.HasCode)
			c.embedding = append(c.embedding, packed(k.Embedding))
		}
	}
	return c
}

// count notes how many chunks there are, and that they are others.
func (r *refresh) count(ctx context.Context, tx pgx.Tx) error {
	_, err := tx.Exec(ctx, `UPDATE knowledge_sources SET version = version + 1, language = $2, chunks = (SELECT count(*) FROM knowledge_chunks WHERE source_id = $1) WHERE id = $1`,
		r.source.ID, r.source.Language)
	return err
}
