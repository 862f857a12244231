package workflow

import (
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// corpus finds the shared corpus beside the project. Without it the test is skipped, in CI it fails.
func corpus(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
			continue
		}
		path := filepath.Join(dir, "..", "shared", "corpus")
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("the shared corpus is missing")
	}
	t.Skip("the shared corpus is not here")
	return ""
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func readJSON(t testing.TB, path string, into any) {
	t.Helper()
	if err := json.Unmarshal(readFile(t, path), into); err != nil {
		t.Fatal(err)
	}
}

// corpusFiles gives the bytes of every workflow of the corpus by name.
func corpusFiles(t testing.TB) map[string][]byte {
	t.Helper()
	dir := filepath.Join(corpus(t), "workflows")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, e := range entries {
		files[e.Name()] = readFile(t, filepath.Join(dir, e.Name()))
	}
	return files
}

type expectedNote struct {
	ID       json.Number `json:"id"`
	Type     string      `json:"type"`
	Mode     int         `json:"mode"`
	Title    string      `json:"title"`
	Text     string      `json:"text"`
	Subgraph string      `json:"subgraph"`
}

type expectedFacts struct {
	Format          Format         `json:"format"`
	Notes           []expectedNote `json:"notes"`
	NotesInDocument []json.Number  `json:"notes_document_order"`
	SubgraphNotes   []expectedNote `json:"subgraph_notes"`
	Nodes           int            `json:"node_count_total"`
	ActiveNodes     int            `json:"node_count_active"`
	ExecutableNodes int            `json:"node_count_executable_expanded"`
	Links           int            `json:"link_count"`
	LinksAll        int            `json:"link_count_all"`
	DanglingLinks   int            `json:"dangling_links"`
	ClassTypes      []string       `json:"class_types"`
	ClassTypesAll   []string       `json:"class_types_all"`
	OutputTypes     []string       `json:"output_types"`
	InputKinds      []string       `json:"input_kinds"`
	Muted           int            `json:"muted_count_all"`
	Bypassed        int            `json:"bypassed_count_all"`
	MaxDepth        int            `json:"max_subgraph_depth"`
}

func expectedOf(f Facts) expectedFacts {
	notes := func(in []Note) []expectedNote {
		out := []expectedNote{}
		for _, n := range in {
			out = append(out, expectedNote{json.Number(n.ID), n.Type, n.Mode, n.Title, n.Text, n.Subgraph})
		}
		return out
	}
	ids := []json.Number{}
	for _, id := range f.NotesInDocument {
		ids = append(ids, json.Number(id))
	}
	return expectedFacts{
		f.Format, notes(f.Notes), ids, notes(f.SubgraphNotes), f.Nodes, f.ActiveNodes, f.ExecutableNodes, f.Links, f.LinksAll, f.DanglingLinks,
		f.ClassTypes, f.ClassTypesAll, f.OutputTypes, f.InputKinds, f.Muted, f.Bypassed, f.MaxDepth,
	}
}

func TestFactsOfTheCorpus(t *testing.T) {
	t.Parallel()
	var expected struct {
		Workflows map[string]expectedFacts `json:"workflows"`
	}
	readJSON(t, filepath.Join(corpus(t), "expected.json"), &expected)
	files := corpusFiles(t)
	if len(files) != len(expected.Workflows) {
		t.Fatalf("%d files, %d expectations", len(files), len(expected.Workflows))
	}
	for name, data := range files {
		t.Run("A51 "+name, func(t *testing.T) {
			t.Parallel()
			w, err := Parse(data)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(expected.Workflows[name], expectedOf(w.Facts())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

var sharedInfo struct {
	once sync.Once
	info *ObjectInfo
	err  error
}

// testInfo is the object_info of the corpus, read once for all tests.
func testInfo(t testing.TB) *ObjectInfo {
	t.Helper()
	path := filepath.Join(corpus(t), "object_info.json")
	sharedInfo.once.Do(func() {
		data, err := os.ReadFile(path)
		if err == nil {
			sharedInfo.info, err = ParseObjectInfo(data)
		}
		sharedInfo.err = err
	})
	if sharedInfo.err != nil {
		t.Fatal(sharedInfo.err)
	}
	return sharedInfo.info
}
