package graph_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/comfy/graph/graphtest"
)

func expectedOf(f graph.Facts) graphtest.Facts {
	notes := func(in []graph.Note) []graphtest.Note {
		out := []graphtest.Note{}
		for _, n := range in {
			out = append(out, graphtest.Note{ID: json.Number(n.ID), Type: n.Type, Mode: n.Mode, Title: n.Title, Text: n.Text, Subgraph: n.Subgraph})
		}
		return out
	}
	ids := []json.Number{}
	for _, id := range f.NotesInDocument {
		ids = append(ids, json.Number(id))
	}
	return graphtest.Facts{
		Format: f.Format, Notes: notes(f.Notes), NotesInDocument: ids, SubgraphNotes: notes(f.SubgraphNotes), Nodes: f.Nodes, ActiveNodes: f.ActiveNodes, ExecutableNodes: f.ExecutableNodes, Links: f.Links, LinksAll: f.LinksAll, DanglingLinks: f.DanglingLinks,
		ClassTypes: f.ClassTypes, ClassTypesAll: f.ClassTypesAll, OutputTypes: f.OutputTypes, InputKinds: f.InputKinds, Muted: f.Muted, Bypassed: f.Bypassed, MaxDepth: f.MaxDepth,
	}
}

func TestFactsOfTheCorpus(t *testing.T) {
	t.Parallel()
	var expected struct {
		Workflows map[string]graphtest.Facts `json:"workflows"`
	}
	graphtest.ReadJSON(t, filepath.Join(graphtest.Corpus(t), "expected.json"), &expected)
	files := graphtest.Files(t)
	if len(files) != len(expected.Workflows) {
		t.Fatalf("%d files, %d expectations", len(files), len(expected.Workflows))
	}
	for name, data := range files {
		t.Run("A51 "+name, func(t *testing.T) {
			t.Parallel()
			w, err := graph.Parse(data)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(expected.Workflows[name], expectedOf(w.Facts())); diff != "" {
				t.Error(diff)
			}
		})
	}
}
