package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
)

// request is one line of requests.json.
type request struct {
	ID          string               `json:"id"`
	Language    string               `json:"lang"`
	Text        string               `json:"text"`
	Attachments []registry.InputType `json:"attachments"`
	Steps       [][]string           `json:"steps"`
	Tempting    []string             `json:"tempting"`
}

// answer is what a search found for a request.
type answer struct {
	request
	matches []catalog.Match
}

func options(r request) catalog.SearchOptions {
	return catalog.SearchOptions{
		Audience: registry.Insiders, Limit: 10, WithUnavailable: true,
		Has: append([]registry.InputType{}, r.Attachments...),
	}
}

// answers asks all requests of a catalogue.
func answers(ctx context.Context, search catalog.Searcher, requests []request) []answer {
	found := make([]answer, 0, len(requests))
	for _, r := range requests {
		found = append(found, answer{r, search(ctx, r.Text, options(r))})
	}
	return found
}

// place gives the place of the first match that is one of the ids, or -1.
func (a answer) place(ids []string) int {
	return slices.IndexFunc(a.matches, func(m catalog.Match) bool { return slices.Contains(ids, m.Tool.ToolID) })
}

func (a answer) tempted() bool {
	tempting, right := a.place(a.Tempting), a.place(slices.Concat(a.Steps...))
	return tempting >= 0 && (right < 0 || tempting < right)
}

func (a answer) best() float64 {
	if len(a.matches) == 0 {
		return 0
	}
	return a.matches[0].Score
}

func keep(answers []answer, which func(answer) bool) []answer {
	var kept []answer
	for _, a := range answers {
		if which(a) {
			kept = append(kept, a)
		}
	}
	return kept
}

func needsTool(a answer) bool { return len(a.Steps) > 0 }

func printTable(out io.Writer, name string, answers []answer) {
	asked := keep(answers, needsTool)
	fmt.Fprintf(out, "%-18s %4s %8s %8s %9s %8s\n", name, "n", "recall@1", "recall@5", "recall@10", "tempted")
	rows := []struct {
		name  string
		which func(answer) bool
	}{
		{"all", func(answer) bool { return true }},
		{"english", func(a answer) bool { return a.Language == "en" }},
		{"other languages", func(a answer) bool { return a.Language != "en" }},
		{"with a file", func(a answer) bool { return len(a.Attachments) > 0 }},
		{"without", func(a answer) bool { return len(a.Attachments) == 0 }},
		{"two tools", func(a answer) bool { return len(a.Steps) > 1 }},
	}
	for _, row := range rows {
		printRow(out, row.name, keep(asked, row.which))
	}
	none := keep(answers, func(a answer) bool { return !needsTool(a) })
	fmt.Fprintf(out, "%-18s %4d %17s\n\n", "no tool", len(none), fmt.Sprintf("well met %.3f", wellMet(none, asked)))
}

func printRow(out io.Writer, name string, answers []answer) {
	if len(answers) == 0 {
		return
	}
	f := measured(answers)
	fmt.Fprintf(out, "%-18s %4d %8.3f %8.3f %9.3f %8.3f\n", name, len(answers), f.recall[0], f.recall[1], f.recall[2], f.tempted)
}

// figures are those of some requests.
type figures struct {
	recall  [3]float64 // among the first 1, 5 and 10
	tempted float64
}

func measured(answers []answer) figures {
	var f figures
	steps := 0.0
	for _, a := range answers {
		for _, step := range a.Steps {
			steps++
			for i, k := range []int{1, 5, 10} {
				if place := a.place(step); place >= 0 && place < k {
					f.recall[i]++
				}
			}
		}
		if a.tempted() {
			f.tempted++
		}
	}
	for i := range f.recall {
		f.recall[i] /= steps
	}
	f.tempted /= float64(len(answers))
	return f
}

// wellMet is the share of requests for no tool whose best match is worse than those of nine in ten of the others.
func wellMet(none, asked []answer) float64 {
	scores := make([]float64, 0, len(asked))
	for _, a := range asked {
		scores = append(scores, a.best())
	}
	slices.Sort(scores)
	if len(none) == 0 || len(scores) == 0 {
		return 1
	}
	limit, met := scores[len(scores)/10], 0
	for _, a := range none {
		if a.best() < limit {
			met++
		}
	}
	return float64(met) / float64(len(none))
}

func printMisses(out io.Writer, answers []answer) {
	for _, a := range answers {
		missed := slices.ContainsFunc(a.Steps, func(step []string) bool { return a.place(step) < 0 || a.place(step) >= 5 })
		if !missed && !a.tempted() && (needsTool(a) || len(a.matches) == 0) {
			continue
		}
		fmt.Fprintf(out, "%s %s %q %v\n  wanted %v, tempting %v\n", a.ID, a.Language, a.Text, a.Attachments, first(slices.Concat(a.Steps...)), first(a.Tempting))
		for _, m := range a.matches[:min(len(a.matches), 6)] {
			fmt.Fprintf(out, "  %6.2f %-30s %s\n", m.Score, m.Tool.ToolID, strings.Join(m.Why, ", "))
		}
	}
}

func first(ids []string) []string { return ids[:min(len(ids), 5)] }
