// Package knowledgetest judges what a search finds by questions whose right answers are known, and makes documents to search in.
package knowledgetest

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/signalbox/signalbox/providers/knowledge/index"
)

// Question is asked, and has right answers; none: nothing in the documents answers it.
type Question struct {
	ID       string  `json:"id"`
	Kind     string  `json:"kind"`
	Text     string  `json:"query"`
	Relevant []Place `json:"relevant"`
	Pair     string  `json:"pair"`
}

// Place is a section of a document; without a heading it is the document.
type Place struct {
	Path    string `json:"path"`
	Heading string `json:"heading"`
}

// Found is what was found, best first.
type Found struct {
	Places []Place
	Score  float64 // of the first
	Hint   bool    // it is said what to do
}

// Questions reads a file {"queries": [...]}.
func Questions(file string) ([]Question, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var list struct {
		Queries []Question `json:"queries"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return list.Queries, nil
}

// Figures tell how well the questions of one kind are answered, each from 0 to 1. By document: whether a right one is among the first three, which
// share of them is (of three at most), the reciprocal rank of the first right one; nDCG among the first ten, where a right section gains 2, and the first
// section of a right document 1 where it is another; and whether a right section is among the first three.
type Figures struct {
	N                                int
	Hit3, Recall3, MRR, NDCG, Place3 float64
	Best                             []float64 // scores of the first results, ascending
	Hints                            int       // that came with nothing
}

// All is the kind of all questions that have an answer in the documents, and say enough to find it.
const All = "all"

// apart are the kinds that are no part of All.
var apart = []string{"pair_bad", "foreign", "negative"}

// Judge asks all questions, and gives the figures by kind, and those of All.
func Judge(ctx context.Context, questions []Question, ask func(ctx context.Context, text string) (Found, error)) (map[string]Figures, error) {
	sums := map[string]Figures{}
	for _, q := range questions {
		found, err := ask(ctx, q.Text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", q.ID, err)
		}
		kinds := []string{q.Kind, All}
		if slices.Contains(apart, q.Kind) {
			kinds = kinds[:1]
		}
		for _, kind := range kinds {
			f := sums[kind]
			f.add(q, found)
			sums[kind] = f
		}
	}
	for kind, f := range sums {
		n := float64(f.N)
		f.Hit3, f.Recall3, f.MRR, f.NDCG, f.Place3 = f.Hit3/n, f.Recall3/n, f.MRR/n, f.NDCG/n, f.Place3/n
		slices.Sort(f.Best)
		sums[kind] = f
	}
	return sums, nil
}

func (f *Figures) add(q Question, found Found) {
	f.N++
	f.Best = append(f.Best, found.Score)
	if len(found.Places) == 0 && found.Hint {
		f.Hints++
	}
	right, first := map[string]bool{}, map[string]bool{}
	for _, r := range q.Relevant {
		right[r.Path] = true
	}
	if len(right) == 0 {
		return
	}
	rank, seen, place := 0.0, map[string]bool{}, 0.0
	for i, p := range found.Places[:min(10, len(found.Places))] {
		if !seen[p.Path] {
			seen[p.Path] = true
			if right[p.Path] && rank == 0 {
				rank = 1 / float64(len(seen))
			}
		}
		if i < 3 && right[p.Path] {
			first[p.Path] = true
			if gain(q, p) == 2 {
				place = 1
			}
		}
	}
	f.Hit3 += min(1, float64(len(first)))
	f.Recall3 += float64(len(first)) / float64(min(3, len(right)))
	f.MRR, f.Place3, f.NDCG = f.MRR+rank, f.Place3+place, f.NDCG+ndcg(q, found.Places)
}

// gain is what a place is worth.
func gain(q Question, p Place) (most float64) {
	for _, r := range q.Relevant {
		if r.Path != p.Path {
			continue
		}
		if r.Heading == "" || plain(r.Heading) == plain(p.Heading) {
			return 2
		}
		most = 1
	}
	return most
}

func ndcg(q Question, places []Place) float64 {
	sum, ideal, seen := 0.0, 0.0, map[string]bool{}
	for i, p := range places[:min(10, len(places))] {
		if g := gain(q, p); g == 2 || !seen[p.Path] {
			sum += g / math.Log2(float64(i+2))
		}
		seen[p.Path] = true
	}
	for i := range min(10, len(q.Relevant)) {
		ideal += 2 / math.Log2(float64(i+2))
	}
	return min(1, sum/ideal)
}

// plain is a heading without marks and case.
func plain(heading string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, heading))
}

// FoundIn is an answer as it is judged.
func FoundIn(a index.Answer) Found {
	found := Found{Hint: a.Foreign != ""}
	for _, r := range a.Results {
		found.Places = append(found.Places, Place{r.Path, r.Heading})
	}
	if len(a.Results) > 0 {
		found.Score = a.Results[0].Score
	}
	return found
}

// Below counts the scores that are below what all but a share of the others reach.
func Below(scores, others []float64, share float64) (n int) {
	others = slices.Sorted(slices.Values(others))
	for _, s := range scores {
		if s < others[int(share*float64(len(others)))] {
			n++
		}
	}
	return n
}
