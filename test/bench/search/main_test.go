package main

import (
	"os"
	"testing"

	"github.com/signalbox/signalbox/internal/upstream/embeddings"
	"github.com/signalbox/signalbox/internal/upstream/embeddings/embeddingstest"
	"github.com/signalbox/signalbox/registry"
)

// folder has the requests; where it is absent the test is skipped, on a build server it fails.
const folder = "../../../../shared/corpus/requests"

// The goals hold for requests of all kinds, and by themselves for those that the search was not developed on.
func TestGoals(t *testing.T) {
	t.Parallel()
	tools, requests := corpus(t)
	all := asked(t, tools, requests, embeddings.Config{})
	held := keep(all, func(a answer) bool { return a.half() == "held" })
	for name, c := range map[string]struct {
		got, least float64
	}{
		"D8 English, held out: the right tool is among the first five":         {measured(keep(held, english)).recall[1], 0.75},
		"D8 other languages, held out: the right tool is among the first five": {measured(keep(held, others)).recall[1], 0.5},
		"D8 hardly ever does one that is merely alike come first":              {1 - measured(keep(all, needsTool)).tempted, 0.92},
		"D8 who asks for no tool is offered none":                              {wellMet(keep(all, func(a answer) bool { return !needsTool(a) }), keep(all, needsTool)), 1},
	} {
		t.Run(name, func(t *testing.T) {
			if c.got < c.least {
				t.Errorf("got %.3f, want %.3f at least", c.got, c.least)
			}
		})
	}
}

// The imitation's vectors know no more than which words texts share: the least that any model knows.
func TestGoalsWithVectors(t *testing.T) {
	t.Parallel()
	tools, requests := corpus(t)
	service := embeddingstest.New(t, 512)
	words := asked(t, tools, requests, embeddings.Config{})
	both := asked(t, tools, requests, embeddings.Config{URL: service.URL, Model: embeddingstest.Model, Key: embeddingstest.Key})
	for name, c := range map[string]struct {
		got, least float64
	}{
		"D8 English: the right tool is among the first five":                 {measured(keep(both, english)).recall[1], 0.9},
		"D8 other languages: poor vectors take away nothing that words find": {measured(keep(both, others)).recall[1], measured(keep(words, others)).recall[1]},
		"D8 hardly ever does one that is merely alike come first":            {1 - measured(keep(both, needsTool)).tempted, 0.92},
	} {
		t.Run(name, func(t *testing.T) {
			if c.got < c.least {
				t.Errorf("got %.3f, want %.3f at least", c.got, c.least)
			}
		})
	}
	t.Run("a model that the service does not have is told", func(t *testing.T) {
		if _, err := newSearch(t.Context(), tools, embeddings.Config{URL: service.URL, Model: "another", Key: embeddingstest.Key}); err == nil {
			t.Error("no error")
		}
	})
}

func english(a answer) bool { return needsTool(a) && a.Language == "en" }
func others(a answer) bool  { return needsTool(a) && a.Language != "en" }

func corpus(t *testing.T) ([]registry.Tool, []request) {
	t.Helper()
	if _, err := os.Stat(folder); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	tools, requests, err := load(folder)
	if err != nil {
		t.Fatal(err)
	}
	return tools, requests
}

func asked(t *testing.T, tools []registry.Tool, requests []request, service embeddings.Config) []answer {
	t.Helper()
	search, err := newSearch(t.Context(), tools, service)
	if err != nil {
		t.Fatal(err)
	}
	return answers(t.Context(), search, requests)
}
