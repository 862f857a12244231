package knowledgetest

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
)

// Vectors stands for a service that makes vectors: an index.Embedder of texts in any language. Texts that have words in common are near to each other.
type Vectors struct{ Dimension int }

// noise is what the vectors of words are parts of.
var noise = sync.OnceValue(func() []float32 {
	r := rand.New(rand.NewPCG(3, 3))
	list := make([]float32, 1<<18)
	for i := range list {
		list[i] = float32(r.NormFloat64())
	}
	return list
})

// Model names the vectors.
func (v Vectors) Model() string { return fmt.Sprint("made-", v.Dimension) }

// Covers says that there are vectors for every language.
func (v Vectors) Covers(string) bool { return true }

// Embed gives each text the sum of the vectors of its words, made as long as 1.
func (v Vectors) Embed(_ context.Context, texts []string) ([][]float32, error) {
	list := make([][]float32, len(texts))
	for i, text := range texts {
		list[i] = v.vector(text)
	}
	return list, nil
}

// Ask is Embed of one text.
func (v Vectors) Ask(_ context.Context, text string) ([]float32, error) { return v.vector(text), nil }

func (v Vectors) vector(text string) []float32 {
	sum := make([]float32, v.Dimension)
	for word := range strings.FieldsSeq(text) {
		h := fnv.New32a()
		h.Write([]byte(word))
		at := int(h.Sum32()) % (len(noise()) - v.Dimension)
		for i, x := range noise()[at : at+v.Dimension] {
			sum[i] += x
		}
	}
	length := 0.0
	for _, x := range sum {
		length += float64(x) * float64(x)
	}
	for i := range sum {
		sum[i] /= float32(max(math.Sqrt(length), 1e-9))
	}
	return sum
}
