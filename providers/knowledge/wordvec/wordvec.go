// Package wordvec tells by a table of word vectors how near English texts are in meaning, without any service.
//
// The table holds the most frequent English words of GloVe's vectors of 100 dimensions (Pennington, Socher and Manning, 2014; public domain,
// PDDL 1.0), each number in 8 bits; gen makes it. A text's vector is the mean of those of its words, frequent ones counted less (Arora, Liang and
// Ma, "A Simple but Tough-to-Beat Baseline for Sentence Embeddings", 2017).
package wordvec

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"unicode"
)

//go:embed english.gz
var english []byte

// Dimension is that of the vectors.
const Dimension = 100

// Model is the name of what makes the vectors.
const Model = "words-en-100"

// Table knows the vectors of words. It is unpacked when it is asked first: a house without documents has no use for its megabytes.
type Table struct{ words func() words }

type words struct {
	rank    map[string]int // of words by frequency, from 0
	vectors []int8         // of all words, one after the other
}

// New makes the table that comes with the program.
func New() *Table {
	return &Table{sync.OnceValue(func() words {
		w, err := unpack()
		if err != nil {
			panic(fmt.Errorf("the table of word vectors: %w", err)) // the tests read it
		}
		return w
	})}
}

func unpack() (words, error) {
	unpacked, err := gzip.NewReader(bytes.NewReader(english))
	if err != nil {
		return words{}, err
	}
	data, err := io.ReadAll(unpacked)
	if err != nil {
		return words{}, err
	}
	list, raw, _ := bytes.Cut(data, []byte("\n\n"))
	w := words{rank: map[string]int{}, vectors: make([]int8, len(raw))}
	for i, b := range raw {
		w.vectors[i] = int8(b)
	}
	for word := range strings.SplitSeq(string(list), "\n") {
		w.rank[word] = len(w.rank)
	}
	if len(raw) != len(w.rank)*Dimension {
		return words{}, errors.New("it is damaged")
	}
	return w, nil
}

// Model names the table.
func (t *Table) Model() string { return Model }

// Covers tells whether a language is English.
func (t *Table) Covers(language string) bool { return language == "english" }

// Knows tells whether a word, in lower case, is one of the frequent ones of English.
func (t *Table) Knows(word string) bool {
	_, known := t.words().rank[word]
	return known
}

// Embed gives the vector of each text: of length 1, or nil where it has no word that is known.
func (t *Table) Embed(_ context.Context, texts []string) ([][]float32, error) {
	list := make([][]float32, len(texts))
	for i, text := range texts {
		list[i] = t.words().vector(text)
	}
	return list, nil
}

// Ask is Embed of one text.
func (t *Table) Ask(_ context.Context, text string) ([]float32, error) {
	return t.words().vector(text), nil
}

// common is how frequent a word may be until it counts half.
const common = 1e-4

func (w words) vector(text string) []float32 {
	var sum [Dimension]float64
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) }) {
		rank, known := w.rank[word]
		if !known {
			continue
		}
		frequency := 0.1 / (float64(rank) + 10) // by Zipf's law, in English
		weight := common / (common + frequency)
		for i, v := range w.vectors[rank*Dimension : (rank+1)*Dimension] {
			sum[i] += weight * float64(v)
		}
	}
	length := 0.0
	for _, v := range sum {
		length += v * v
	}
	if length == 0 {
		return nil
	}
	vector := make([]float32, Dimension)
	for i, v := range sum {
		vector[i] = float32(v / math.Sqrt(length))
	}
	return vector
}
