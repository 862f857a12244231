package embeddings_test

import (
	"context"
	"iter"
	"math"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/internal/upstream/embeddings"
	"github.com/signalbox/signalbox/internal/upstream/embeddings/embeddingstest"
	"github.com/signalbox/signalbox/providers/knowledge/index"
)

func client(t *testing.T, s *embeddingstest.Server, key string) *embeddings.Client {
	t.Helper()
	c, err := embeddings.New(embeddings.Config{URL: s.URL, Model: embeddingstest.Model, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestEmbed(t *testing.T) {
	t.Parallel()
	s := embeddingstest.New(t, 1536)
	c := client(t, s, embeddingstest.Key)
	t.Run("E37 each text gets its own vector, of length 1 and the model's dimension", func(t *testing.T) {
		got, err := c.Embed(t.Context(), []string{"pears", "figs and plums", "pears"})
		if err != nil || len(got) != 3 {
			t.Fatal(got, err)
		}
		length := 0.0
		for i, x := range got[1] {
			length += float64(x) * float64(x)
			if got[0][i] != got[2][i] {
				t.Fatal("the same text has two vectors")
			}
		}
		if len(got[0]) != 1536 || math.Abs(length-1) > 1e-5 {
			t.Errorf("dimension %d, length %f", len(got[0]), length)
		}
	})
	t.Run("answers that do not fit are errors, and none shows the key", func(t *testing.T) {
		for name, body := range map[string]string{
			"no JSON": "no", "nothing": `{"data":[]}`, "one too few": `{"data":[{"index":0,"embedding":[1]}]}`, "twice": `{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`,
			"beside": `{"data":[{"index":0,"embedding":[1]},{"index":7,"embedding":[1]}]}`, "two dimensions": `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}]}`,
			"empty": `{"data":[{"index":0,"embedding":[]},{"index":1,"embedding":[]}]}`, "zero": `{"data":[{"index":0,"embedding":[0]},{"index":1,"embedding":[0]}]}`,
		} {
			s.Break(body)
			if got, err := c.Embed(t.Context(), []string{"a", "b"}); err == nil || strings.Contains(err.Error(), embeddingstest.Key) {
				t.Errorf("%s: %v, %v", name, got, err)
			}
		}
		s.Break("")
		if _, err := client(t, s, "sk-wrong").Embed(t.Context(), []string{"a"}); err == nil || strings.Contains(err.Error(), "sk-wrong") {
			t.Errorf("a wrong key: %v", err)
		}
	})
}

func TestIndexWithAService(t *testing.T) {
	t.Parallel()
	s := embeddingstest.New(t, 96)
	pool := postgrestest.New(t)
	save := func(x *index.Index) index.Source {
		t.Helper()
		source := index.Source{ToolID: "guideRag", Name: "guide", Title: "Guide", Origin: index.OriginFolder, Access: index.AccessPublic}
		id, err := x.Save(t.Context(), source)
		if err != nil {
			t.Fatal(err)
		}
		source.ID = id
		return source
	}
	refresh := func(x *index.Index, texts ...string) {
		t.Helper()
		if _, err := x.Refresh(t.Context(), save(x), items(texts)); err != nil {
			t.Fatal(err)
		}
	}
	missing := func() (n int) {
		t.Helper()
		if err := pool.QueryRow(t.Context(), `SELECT count(*) FROM knowledge_chunks WHERE embedding IS NULL`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	x := index.New(index.Config{Pool: pool, Embedder: client(t, s, embeddingstest.Key)})
	refresh(x, "Pears ripen in autumn.", "Figs ripen in summer.")
	asked := s.Texts()
	if asked != 2 || missing() != 0 {
		t.Errorf("%d texts were embedded, %d are missing", asked, missing())
	}
	t.Run("E37 a service that is away costs no document and no answer; what it missed follows", func(t *testing.T) {
		s.Break("no")
		refresh(x, "Pears ripen in autumn.", "Figs ripen in summer.", "Plums ripen in July.")
		found, err := x.Search(t.Context(), index.Query{Text: "plums"})
		if err != nil || len(found.Results) == 0 || missing() != 1 {
			t.Errorf("%+v (%v), %d without a vector", found, err, missing())
		}
		s.Break("")
		refresh(x, "Pears ripen in autumn.", "Figs ripen in summer.", "Plums ripen in July.")
		if missing() != 0 {
			t.Errorf("%d are missing still", missing())
		}
	})
	t.Run("E36 another dimension, or no service any more, makes them anew", func(t *testing.T) {
		var dimension int
		if err := pool.QueryRow(t.Context(), `SELECT dimension FROM knowledge_sources`).Scan(&dimension); err != nil || dimension != 96 {
			t.Errorf("dimension %d (%v)", dimension, err)
		}
		alone := index.New(index.Config{Pool: pool})
		refresh(alone, "Pears ripen in autumn.", "Figs ripen in summer.", "Plums ripen in July.")
		if missing() != 3 {
			t.Errorf("vectors of a model that is not used any more: %d of 3 are gone", missing())
		}
		if found, err := alone.Search(t.Context(), index.Query{Text: "figs"}); err != nil || len(found.Results) == 0 {
			t.Errorf("%+v (%v)", found, err)
		}
	})
}

// items are documents of one passage each.
func items(texts []string) iter.Seq2[index.Item, error] {
	return func(yield func(index.Item, error) bool) {
		for _, text := range texts {
			item := index.Item{Path: text, Hash: []byte(text), Read: func(context.Context) (index.Document, error) {
				return index.Document{Title: "Fruit", Chunks: []index.Chunk{{Heading: "Fruit", Text: text, SourcePath: text, Breadcrumbs: []string{"Fruit"}}}}, nil
			}}
			if !yield(item, nil) {
				return
			}
		}
	}
}

func TestDot(t *testing.T) {
	t.Parallel()
	for n := range 33 {
		a, b, want := make([]float32, n), make([]float32, n), 0.0
		for i := range n {
			a[i], b[i] = float32(i+1), float32(2*i-n)
			want += float64(a[i]) * float64(b[i])
		}
		if got := embeddings.Dot(a, b); got != want {
			t.Errorf("of %d members: %v, want %v", n, got, want)
		}
	}
	if got := embeddings.Dot([]float32{1}, []float32{1, 0}); got != 0 {
		t.Errorf("vectors of different models have %v in common", got)
	}
}
