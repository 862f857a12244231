package index

import (
	"context"
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/upstream/embeddings"
)

// embedBatch is how many texts are embedded at once.
const embedBatch = 64

// vectors are the embeddings of a source, in memory: the database has no index of them, and all are compared.
type vectors struct {
	dimension int
	ids       []int64
	values    []float32 // of all, one after the other
}

// embed gives the pending chunks their vectors. Where that fails they are kept without, for a later refresh.
func (r *refresh) embed(ctx context.Context) error {
	for i := range r.pending {
		if r.noVectors {
			break
		}
		if err := Embed(ctx, r.Embedder, r.pending[i].Chunks); err != nil {
			r.embedFailed(err)
		}
	}
	return ctx.Err()
}

// Embed gives those chunks their vectors that have none; without an embedder it does nothing.
func Embed(ctx context.Context, e Embedder, chunks []Chunk) error {
	if e == nil {
		return nil
	}
	var missing []*Chunk
	for i := range chunks {
		if chunks[i].Embedding == nil {
			missing = append(missing, &chunks[i])
		}
	}
	for part := range slices.Chunk(missing, embedBatch) {
		texts := make([]string, len(part))
		for i, c := range part {
			texts[i] = meaningOf(c.Breadcrumbs, c.Text)
		}
		found, err := e.Embed(ctx, texts)
		if err != nil {
			return err
		}
		for i, v := range found {
			part[i].Embedding = append([]float32{}, v...) // not nil: there is none
		}
	}
	return nil
}

func (r *refresh) embedFailed(err error) {
	r.noVectors = true
	r.Logger.Warn("passages are kept without embeddings until the next refresh", "source", r.source.Name, "error", err)
}

// meaningOf is the text of which a passage's vector is made.
func meaningOf(breadcrumbs []string, text string) string {
	return strings.Join(breadcrumbs, ". ") + ".\n" + text
}

// fill gives vectors to the chunks that have none: those of an embedder that was away, or is a new one.
func (r *refresh) fill(ctx context.Context) error {
	model := ""
	if r.Embedder != nil {
		model = r.Embedder.Model()
	}
	if model != r.source.embeddings {
		if _, err := r.Pool.Exec(ctx, `UPDATE knowledge_chunks SET embedding = NULL WHERE source_id = $1 AND $2 AND embedding IS NOT NULL`, r.source.ID, r.source.embeddings != ""); err != nil {
			return err
		}
	}
	for after := int64(0); model != "" && !r.noVectors; {
		last, err := r.fillSome(ctx, after)
		if err != nil {
			return err
		}
		if last == after {
			break
		}
		after = last
	}
	_, err := r.Pool.Exec(ctx, `UPDATE knowledge_sources s SET embeddings = $2, version = version + 1,
		dimension = coalesce((SELECT length(embedding) / 4 FROM knowledge_chunks WHERE source_id = s.id AND embedding <> '' LIMIT 1), 0)
		WHERE id = $1 AND ($3 OR embeddings <> $2)`, r.source.ID, model, r.done.Changed() || r.filled)
	return err
}

// fillSome takes the next chunks without a vector after an id, and gives the last one's.
func (r *refresh) fillSome(ctx context.Context, after int64) (int64, error) {
	rows, _ := r.Pool.Query(ctx, `SELECT id, breadcrumbs, text FROM knowledge_chunks WHERE source_id = $1 AND id > $2 AND embedding IS NULL ORDER BY id LIMIT $3`, r.source.ID, after, embedBatch)
	var ids []int64
	var texts []string
	var id int64
	var crumbs []string
	var text string
	_, err := pgx.ForEachRow(rows, []any{&id, &crumbs, &text}, func() error {
		ids, texts = append(ids, id), append(texts, meaningOf(crumbs, text))
		return nil
	})
	if err != nil || len(ids) == 0 {
		return after, err
	}
	found, err := r.Embedder.Embed(ctx, texts)
	if err != nil {
		r.embedFailed(err)
		return after, ctx.Err()
	}
	stored := make([][]byte, len(found))
	for i, v := range found {
		stored[i] = packed(append([]float32{}, v...))
		r.filled = r.filled || len(v) > 0
	}
	_, err = r.Pool.Exec(ctx, `UPDATE knowledge_chunks c SET embedding = n.embedding FROM unnest($1::bigint[], $2::bytea[]) AS n (id, embedding)
		WHERE c.id = n.id AND n.embedding IS NOT NULL`, ids, stored)
	return ids[len(ids)-1], err
}

// packed is a vector as it is kept.
func packed(v []float32) []byte {
	if v == nil {
		return nil
	}
	b := make([]byte, 0, 4*len(v))
	for _, f := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
	}
	return b
}

// byMeaning ranks passages by how near their vectors are to that of the question. An embedder that is away is no error: words are enough.
func (s *search) byMeaning(ctx context.Context, asked string) ([]hit, error) {
	if s.Embedder == nil || !s.Embedder.Covers(asked) {
		return nil, nil
	}
	question, err := s.Embedder.Ask(ctx, s.query.Text)
	if err != nil || question == nil {
		if err != nil {
			s.Logger.Warn("a question is answered by its words alone", "error", err)
		}
		return nil, ctx.Err()
	}
	var near nearest
	for _, source := range s.sources {
		if !s.Embedder.Covers(source.Language) {
			continue
		}
		v, err := s.vectorsOf(ctx, source)
		if err != nil {
			return nil, err
		}
		if v.dimension != len(question) {
			continue
		}
		for i, id := range v.ids {
			near.add(hit{id: id, score: embeddings.Dot(v.values[i*v.dimension:(i+1)*v.dimension], question)})
		}
	}
	return near.best(), nil
}

// nearest keeps the best of many hits, without sorting all of them.
type nearest struct {
	hits  []hit
	least float64 // a hit below is none of the best
}

func (n *nearest) add(h hit) {
	if h.score < n.least && len(n.hits) >= candidates {
		return
	}
	if n.hits = append(n.hits, h); len(n.hits) == 4*candidates {
		n.hits = n.best()
		n.least = n.hits[candidates-1].score
	}
}

func (n *nearest) best() []hit {
	slices.SortFunc(n.hits, better)
	return n.hits[:min(len(n.hits), candidates)]
}

// vectorsOf gives the embeddings of a source as they are now; none where they are another model's.
func (x *Index) vectorsOf(ctx context.Context, s Source) (vectors, error) {
	if s.embeddings != x.Embedder.Model() {
		return vectors{}, nil
	}
	return x.vectors.of(s, func() (v vectors, err error) {
		rows, _ := x.Pool.Query(ctx, `SELECT id, embedding FROM knowledge_chunks WHERE source_id = $1 AND embedding <> '' ORDER BY id`, s.ID)
		var id int64
		var raw []byte
		_, err = pgx.ForEachRow(rows, []any{&id, &raw}, func() error {
			if v.dimension == 0 {
				v.dimension = len(raw) / 4
				v.ids, v.values = make([]int64, 0, s.Chunks), make([]float32, 0, s.Chunks*v.dimension)
			}
			if len(raw) != 4*v.dimension {
				return nil // of another dimension: the model was exchanged under its name
			}
			v.ids = append(v.ids, id)
			for i := range v.dimension {
				v.values = append(v.values, math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:])))
			}
			return nil
		})
		return v, errs.Wrap(err, "read embeddings")
	})
}
