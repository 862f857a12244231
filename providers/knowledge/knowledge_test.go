package knowledge_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/providers/knowledge"
	"github.com/signalbox/signalbox/providers/knowledge/document"
	"github.com/signalbox/signalbox/providers/knowledge/index"
	"github.com/signalbox/signalbox/providers/knowledge/wordvec"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/validate"
)

// house is a provider with a folder of its own.
type house struct {
	*knowledge.Provider
	t       *testing.T
	pool    *pgxpool.Pool
	dir     string
	changed atomic.Int64 // how often the tools were to be loaded again
	uploads map[string]string
}

func newHouse(t *testing.T, change ...func(*knowledge.Config)) *house {
	t.Helper()
	h := &house{t: t, pool: postgrestest.New(t), dir: t.TempDir(), uploads: map[string]string{}}
	words := wordvec.New()
	texts, err := i18n.Load()
	if err != nil {
		t.Fatal(err)
	}
	cfg := knowledge.Config{
		Index: index.New(index.Config{Pool: h.pool, Embedder: words, Dictionary: words}), Texts: texts, Dir: h.dir,
		Changed: func(context.Context) { h.changed.Add(1) },
		Upload: func(_ context.Context, account, ref string) (io.ReadCloser, registry.MediaInfo, error) {
			content, there := h.uploads[account+" "+ref]
			if !there {
				return nil, registry.MediaInfo{}, errors.New("there is no such file of yours")
			}
			return io.NopCloser(strings.NewReader(content)), registry.MediaInfo{Name: filepath.Base(ref)}, nil
		},
	}
	for _, f := range change {
		f(&cfg)
	}
	if h.Provider, err = knowledge.New(cfg); err != nil {
		t.Fatal(err)
	}
	return h
}

// write puts files into the folder; an empty content deletes one.
func (h *house) write(files map[string]string) {
	h.t.Helper()
	for name, content := range files {
		at := filepath.Join(h.dir, name)
		err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(content), 0o600))
		if content == "" {
			err = os.Remove(at)
		}
		if err != nil {
			h.t.Fatal(err)
		}
	}
}

// tools reads all sources, and gives their tools by id.
func (h *house) tools() map[string]registry.Tool {
	h.t.Helper()
	if err := h.Sync(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
	list, err := h.Load(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	tools := map[string]registry.Tool{}
	for _, tool := range list {
		if err := validate.Tool(tool); err != nil {
			h.t.Error(err)
		}
		tools[tool.ToolID] = tool
	}
	return tools
}

// call runs a tool and gives its outputs by name.
func (h *house) call(account, tool string, inputs map[string]any, shared ...bool) (map[string]string, error) {
	h.t.Helper()
	result, err := h.Call(h.t.Context(), registry.Call{
		UserID: account, Tool: registry.Tool{ToolID: tool, DisplayName: tool}, Inputs: inputs, Context: registry.CallContext{Shared: len(shared) > 0},
	})
	outputs := map[string]string{}
	for _, o := range result.Outputs {
		outputs[o.Name] = o.Text
	}
	return outputs, err
}

func (h *house) docs(account, question string, shared ...bool) string {
	h.t.Helper()
	said, err := h.call(account, knowledge.DocsToolID, map[string]any{"question": question}, shared...)
	if err != nil {
		h.t.Fatal(err)
	}
	return said["answer"]
}

func (h *house) account(id, language string) string {
	h.t.Helper()
	account := uuid.Must(uuid.NewV7()).String() // as accounts are made: those of one minute begin alike
	if _, err := h.pool.Exec(h.t.Context(), `INSERT INTO users (id, language) VALUES ($1, $2)`, account, language); err != nil {
		h.t.Fatal(err)
	}
	if _, err := h.pool.Exec(h.t.Context(), `INSERT INTO user_identities (platform, external_id, user_id) VALUES ('web', $1, $2)`, id, account); err != nil {
		h.t.Fatal(err)
	}
	return account
}

// dayAfter reads the sources a day later.
func (h *house) dayAfter() {
	h.t.Helper()
	if _, err := h.pool.Exec(h.t.Context(), `UPDATE knowledge_sources SET refreshed_at = refreshed_at - interval '1 day'`); err != nil {
		h.t.Fatal(err)
	}
	h.tools()
}

const guide = `---
title: Boards
desc: All about boards.
---
# Boards
Boards are layers that hold other layers.

## Create a board {#create}
Press B, and draw a rectangle.

` + "```js\npenpot.createBoard()\n```\n"

func TestDesignStyles(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.write(map[string]string{
		"designStyles/source.yaml":  "title: Design styles\naccess: public\n",
		"designStyles/brutalism.md": "# Brutalism\nRaw blocks, black borders and system fonts. Contrast comes before comfort.",
		"designStyles/swiss.md":     "# Swiss style\nA strict grid, sans-serif type and white space carry the message.",
	})
	tool := h.tools()["designStylesRag"]
	if _, ok := tool.InputSchema.Get("query"); !ok || len(tool.InputSchema) != 1 || !slices.Equal(tool.Aliases, []string{"design-styles-rag"}) || tool.Kind != "rag" {
		t.Fatalf("%+v", tool)
	}
	t.Run("E132 design-styles-rag finds styles by what they are made of", func(t *testing.T) {
		said, err := h.call("", "designStylesRag", map[string]any{"query": "strict grid, white space"})
		if err != nil {
			t.Fatal(err)
		}
		var results []index.Result
		if err := json.Unmarshal([]byte(said["results"]), &results); err != nil || len(results) == 0 || len(results) > 10 || results[0].Title != "Swiss style" {
			t.Errorf("%s (%v)", said["results"], err)
		}
	})
	t.Run("E132 and fails where nobody gives the styles", func(t *testing.T) {
		if _, err := newHouse(t).call("", "designStylesRag", map[string]any{"query": "grid"}); registry.AsError(err).Code != registry.CodeUnavailable {
			t.Errorf("%v", err)
		}
	})
}

func TestSourcesAreTools(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.write(map[string]string{
		"penpotUserGuide/source.yaml":     "title: The guide\ndescription: How to design.\nurl: https://help.example/\naccess: public\nexclude: [drafts]\n",
		"penpotUserGuide/boards.md":       guide,
		"penpotUserGuide/drafts/later.md": "# Drafts\nNobody shall see the wombat.",
		"penpotUserGuide/.git/config.md":  "# Hidden\nNor the numbat.",
		"penpotUserGuide/picture.png":     "no document",
		"secret/source.yaml":              "access: [web:ann]\n",
		"secret/plan.txt":                 "The plan is to plant quinces in spring.",
	})
	tools := h.tools()
	tool := tools["penpotUserGuideRag"]
	t.Run("E1 E26 E28 the definition has all that is asked for, and its other name leads to it", func(t *testing.T) {
		if tool.Kind != "rag" || tool.Category != "knowledge" || tool.Capability != registry.CapabilityRead || tool.DisplayName != "The guide" || !strings.HasPrefix(tool.Description, "How to design.") ||
			tool.Metadata["ragContentFile"] != "penpotUserGuide" || tool.Metadata["database"] == "" || tool.Metadata["instance"] == "" || !slices.Equal(tool.Aliases, []string{"penpot-user-guide-rag"}) {
			t.Errorf("%+v", tool)
		}
	})
	t.Run("E30 the description says how to ask, and in which language", func(t *testing.T) {
		if !strings.Contains(tool.Description, "related words") || !strings.Contains(tool.Description, "Ask in English.") {
			t.Error(tool.Description)
		}
	})
	t.Run("only /docs is a command, and what not everybody may read is in no list", func(t *testing.T) {
		if tools["docs"].CommandName != "/docs" || tool.CommandName != "" || tool.Visibility != registry.VisibilityPublic || tools["secretRag"].Visibility != registry.VisibilityHidden {
			t.Errorf("%q %q %q %q", tools["docs"].CommandName, tool.CommandName, tool.Visibility, tools["secretRag"].Visibility)
		}
	})
	t.Run("E3 E27 E32 E33 E34 E35 E131 a question gives passages with title, snippet, address and breadcrumbs", func(t *testing.T) {
		said, err := h.call("", "penpotUserGuideRag", map[string]any{"query": "how to create a board"})
		if err != nil {
			t.Fatal(err)
		}
		var results []index.Result
		if err := json.Unmarshal([]byte(said["results"]), &results); err != nil || len(results) == 0 || len(results) > 10 {
			t.Fatalf("%s (%v)", said["results"], err)
		}
		r := results[0]
		if r.Title != "Boards" || r.Heading != "Create a board" || !strings.Contains(r.Snippet, "Press B") || len(r.Snippet) > 500 || r.URL != "https://help.example/boards/#create" ||
			!slices.Equal(r.Breadcrumbs, []string{"Boards", "Create a board"}) || !r.HasCode || !slices.Equal(r.CodeLangs, []string{"js"}) {
			t.Errorf("%+v", r)
		}
	})
	t.Run("E131 a source that somebody may not read is unavailable, as one that is not there", func(t *testing.T) {
		_, hidden := h.call(h.account("ben", ""), "secretRag", map[string]any{"query": "quinces"})
		_, missing := h.call("", "nothingRag", map[string]any{"query": "quinces"})
		if registry.AsError(hidden).Code != registry.CodeUnavailable || registry.AsError(missing).Code != registry.CodeUnavailable ||
			strings.ReplaceAll(hidden.Error(), "secret", "") != strings.ReplaceAll(missing.Error(), "nothing", "") {
			t.Errorf("%v, %v", hidden, missing)
		}
		if said, err := h.call(h.account("ann", ""), "secretRag", map[string]any{"query": "quinces"}); err != nil || !strings.Contains(said["results"], "plant quinces") {
			t.Errorf("its reader gets %v (%v)", said, err)
		}
	})
	t.Run("nothing about that is an answer, with a hint", func(t *testing.T) {
		for _, query := range []string{"wombat", "numbat"} {
			if said, err := h.call("", "penpotUserGuideRag", map[string]any{"query": query}); err != nil || said["results"] != "[]" || said["hint"] == "" {
				t.Errorf("%s: %v (%v)", query, said, err)
			}
		}
		if said, err := h.call("", "penpotUserGuideRag", map[string]any{"query": "wie geht das mit der Zeichnung"}); err != nil || !strings.Contains(said["hint"], "English") {
			t.Errorf("E29 %v (%v)", said, err)
		}
	})
	t.Run("E83 who is told the documents' language, and asks in it with their terms, gets the passages", func(t *testing.T) {
		vague, err := h.call("", "penpotUserGuideRag", map[string]any{"query": "wie lege ich das an"})
		if err != nil || !strings.Contains(vague["hint"], "in English: ask in that language") {
			t.Fatalf("%v (%v)", vague, err)
		}
		said, err := h.call("", "penpotUserGuideRag", map[string]any{"query": "create a board: shortcut, size"})
		if err != nil || said["hint"] != "" || !strings.Contains(said["results"], "Press B") {
			t.Errorf("%v (%v)", said, err)
		}
	})
	t.Run("a change of files changes the tools, and is told", func(t *testing.T) {
		before := h.changed.Load()
		if h.tools(); h.changed.Load() != before {
			t.Error("with nothing new the tools are loaded again")
		}
		h.write(map[string]string{"penpotUserGuide/boards.md": "", "penpotUserGuide/source.yaml": "title: Another\naccess: house\n", "penpotUserGuide/new.md": "# New\nAbout kumquats."})
		if tools := h.tools(); tools["penpotUserGuideRag"].DisplayName != "Another" || h.changed.Load() == before {
			t.Errorf("%+v", tools["penpotUserGuideRag"])
		}
		if said := h.docs(h.account("dan", ""), "kumquats"); !strings.Contains(said, "kumquats") {
			t.Error(said)
		}
		if said := h.docs("", "kumquats"); strings.Contains(said, "kumquats") {
			t.Errorf("what is the house's is told to nobody in particular: %s", said)
		}
		if err := os.RemoveAll(filepath.Join(h.dir, "penpotUserGuide")); err != nil {
			t.Fatal(err)
		}
		if _, there := h.tools()["penpotUserGuideRag"]; there {
			t.Error("a folder that is gone is still a tool")
		}
	})
}

func TestBrokenSources(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.write(map[string]string{"good/a.md": "# Good\nPears.", "bad/source.yaml": "access: nobody\n", "bad/a.md": "# Bad", "odd/broken.pdf": "%PDF-1.7 no", "odd/fine.md": "# Fine\nPlums.", "cut.zip": "PK no zip"})
	tools := h.tools()
	if tools["goodRag"].Status != nil {
		t.Errorf("the good one: %+v", tools["goodRag"].Status)
	}
	for id, reason := range map[string]string{"badRag": "expected public, house", "cutRag": "zip"} {
		if s := tools[id].Status; s == nil || s.State != registry.StateUnavailable || !strings.Contains(s.Reason, reason) {
			t.Errorf("%s: %+v", id, s)
		}
	}
	ann := h.account("ann", "")
	odd := func(what string, chunks int, problem string) {
		t.Helper()
		h.tools()
		list, err := h.Readable(t.Context(), ann)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(list, func(s index.Source) bool { return s.Name == "odd" })
		if i < 0 || list[i].Chunks != chunks || !strings.Contains(list[i].Problem, problem) || problem == "" && list[i].Problem != "" {
			t.Errorf("%s: %+v, want %q", what, list, problem)
		}
	}
	odd("a folder with one broken file", 1, "broken.pdf: is no PDF")
	h.write(map[string]string{"odd/another.md": "# Another\nFigs."})
	odd("with another file that can be read", 2, "broken.pdf: is no PDF")
	h.write(map[string]string{"odd/no.docx": "no Word file"})
	odd("with another one that can't", 2, "; nor can 1 more of 4 documents be read")
	for _, name := range []string{"broken.pdf", "no.docx"} {
		if err := os.Remove(filepath.Join(h.dir, "odd", name)); err != nil {
			t.Fatal(err)
		}
	}
	odd("without them", 2, "")
	h.write(map[string]string{"scans/broken.pdf": "%PDF-1.7 no"})
	h.tools()
	if _, err := h.call(ann, knowledge.DocsToolID, map[string]any{"question": "plums in scans"}); err == nil || !strings.Contains(err.Error(), `nothing of the source "scans" could be read: broken.pdf: is no PDF`) {
		t.Errorf("a question to a source of which nothing could be read: %v", err)
	}
	h.write(map[string]string{"bad/source.yaml": "access: public\n"})
	if s := h.tools()["badRag"].Status; s != nil {
		t.Errorf("after it was mended: %+v", s)
	}
	h.write(map[string]string{"good/source.yaml": "language: klingon\n"})
	if said := h.docs(h.account("ben", ""), "pears"); h.tools()["goodRag"].Status != nil || !strings.Contains(said, "Pears") {
		t.Errorf("a source whose source.yaml broke: %s", said)
	}
}

// TestHostileSources has folders and archives of strangers that want more than to be read.
func TestHostileSources(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	archive := func(heads ...zip.FileHeader) string {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		for _, head := range heads {
			if _, err := w.CreateRaw(&head); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	many := make([]zip.FileHeader, 50_001)
	for i := range many {
		many[i].Name = fmt.Sprint(i, ".md")
	}
	h.write(map[string]string{
		"good/a.md": "# Good\nPears.", "secret.txt": "# Secret\nQuinces.", "leak/a.md": "# Leak",
		"less.zip": archive(zip.FileHeader{Name: "a.md", UncompressedSize64: 1<<63 + 5}),
		"deep.zip": archive(zip.FileHeader{Name: strings.Repeat("a/", 30_000) + "a.md"}),
		"many.zip": archive(many...),
	})
	if err := os.Symlink(filepath.Join(h.dir, "secret.txt"), filepath.Join(h.dir, "leak", "b.md")); err != nil {
		t.Fatal(err)
	}
	tools := h.tools()
	if tools["goodRag"].Status != nil {
		t.Errorf("the good one: %+v", tools["goodRag"].Status)
	}
	for id, reason := range map[string]string{"lessRag": "a.md", "deepRag": "folders", "manyRag": "files", "leakRag": "b.md"} {
		if s := tools[id].Status; s == nil || !strings.Contains(s.Reason, reason) {
			t.Errorf("%s: %+v", id, s)
		}
	}
	if said := h.docs(h.account("ann", ""), "quinces"); strings.Contains(said, "Quinces") {
		t.Errorf("what a link leads to outside of its folder is read: %s", said)
	}
}

func TestDocs(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(c *knowledge.Config) {
		c.Language = func(_ context.Context, account string) string { return map[bool]string{true: "de"}[account != ""] }
	})
	h.write(map[string]string{
		"guide/source.yaml": "title: The guide\nurl: https://help.example\n", "guide/boards.md": guide,
		"notes/pears.txt":     "Pears are harvested in autumn, with the board of the harvest.",
		"private/source.yaml": "access: [web:ann]\n", "private/plan.txt": "The plan is to plant quinces.",
	})
	h.tools()
	ann := h.account("ann", "de")
	t.Run("passages are numbered, with their sources", func(t *testing.T) {
		said := h.docs(ann, "how to create a board")
		if !strings.HasPrefix(said, "1. Boards › Create a board\n") || !strings.Contains(said, "https://help.example/boards/#create") {
			t.Error(said)
		}
	})
	t.Run("a model gets the same passages as data, people do not", func(t *testing.T) {
		for planner, want := range map[string]int{"": 1, "anthropic": 2} {
			result, err := h.Call(t.Context(), registry.Call{
				UserID: ann, Tool: registry.Tool{ToolID: knowledge.DocsToolID}, Inputs: map[string]any{"question": "how to create a board"}, Context: registry.CallContext{PlannerProvider: planner},
			})
			if err != nil || len(result.Outputs) != want {
				t.Fatalf("%q: %+v (%v)", planner, result.Outputs, err)
			}
			var results []index.Result
			if last := result.Outputs[want-1].Text; want == 2 && (json.Unmarshal([]byte(last), &results) != nil || len(results) == 0 || results[0].URL != "https://help.example/boards/#create") {
				t.Error(last)
			}
		}
	})
	t.Run("a source can be named", func(t *testing.T) {
		for _, question := range []string{"board in notes", "board IN Notes"} {
			if said := h.docs(ann, question); !strings.Contains(said, "notes: pears.txt") || strings.Contains(said, "help.example") {
				t.Errorf("%s: %s", question, said)
			}
		}
		if said := h.docs(ann, "layers in The guide"); !strings.Contains(said, "help.example") {
			t.Error(said)
		}
		_, err := h.call(ann, knowledge.DocsToolID, map[string]any{"question": "board", "source": "nowhere"})
		if registry.AsError(err).Code != registry.CodeInvalidInput {
			t.Error(err)
		}
		_, err = h.call(h.account("ben", ""), knowledge.DocsToolID, map[string]any{"question": "quinces", "source": "private"})
		if registry.AsError(err).Code != registry.CodeInvalidInput {
			t.Errorf("somebody else's: %v", err)
		}
	})
	t.Run("nothing about that is said in the asker's language", func(t *testing.T) {
		if said := h.docs(ann, "xylophone"); said != "Darüber steht in den Dokumenten hier nichts." {
			t.Error(said)
		}
		if said := h.docs("", "xylophone"); said != "There is nothing about that in the documents here." {
			t.Error(said)
		}
	})
	t.Run("E29 a name in a question of another language is found, with a hint", func(t *testing.T) {
		said := h.docs(ann, "wie rufe ich createBoard im Programm auf")
		if !strings.HasPrefix(said, "1. Boards › Create a board\n") || !strings.Contains(said, "Die Dokumente sind") {
			t.Error(said)
		}
	})
	t.Run("where others read along, what is not everybody's is not told", func(t *testing.T) {
		if said := h.docs(ann, "quinces"); !strings.Contains(said, "plant quinces") {
			t.Error(said)
		}
		if said := h.docs(ann, "quinces", true); strings.Contains(said, "quinces") {
			t.Error(said)
		}
		if said := h.docs(ann, "quinces in private", true); strings.Contains(said, "plant") {
			t.Error(said)
		}
	})
}

func TestBuiltFiles(t *testing.T) {
	t.Parallel()
	words := wordvec.New()
	dir := t.TempDir()
	folder := filepath.Join(dir, "penpotUserGuide")
	for name, content := range map[string]string{"source.yaml": "title: The guide\nurl: https://help.example\naccess: public\n", "boards.md": guide, "z/pears.txt": "Pears are harvested in autumn.", "broken.docx": "no"} {
		at := filepath.Join(folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	build := func(e index.Embedder) []byte {
		t.Helper()
		var b bytes.Buffer
		built, err := knowledge.Build(t.Context(), &b, folder, document.Reader{}, e)
		if err != nil || built.Documents != 2 || built.Chunks != 3 || len(built.Problems) != 1 {
			t.Fatalf("%+v (%v)", built, err)
		}
		return b.Bytes()
	}
	first := build(words)
	t.Run("E39 the same documents give the same file", func(t *testing.T) {
		later := time.Now().Add(time.Hour)
		if err := os.Chtimes(filepath.Join(folder, "boards.md"), later, later); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(build(words), first) || bytes.Equal(build(nil), first) {
			t.Error("it is another one, or the embeddings don't matter")
		}
	})
	file, damaged := filepath.Join(dir, "guide.knowledge"), filepath.Join(dir, "damaged.knowledge")
	write := func(name string, data []byte) {
		t.Helper()
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(file, first)
	t.Run("E28 E40 it is loaded and searched; E37 also without embeddings", func(t *testing.T) {
		h := newHouse(t, func(c *knowledge.Config) { c.Files, c.Dir = []string{file}, "" })
		began := time.Now()
		tool := h.tools()["penpotUserGuideRag"]
		if took := time.Since(began); tool.Status != nil || tool.DisplayName != "The guide" || took > 10*time.Second {
			t.Errorf("%+v after %v", tool, took)
		}
		if said := h.docs("", "create a board"); !strings.Contains(said, "https://help.example/boards/#create") {
			t.Error(said)
		}
		write(file, build(nil))
		defer write(file, first)
		h.tools()
		if said := h.docs("", "harvesting pears"); !strings.Contains(said, "autumn") {
			t.Error(said)
		}
	})
	t.Run("it may take the place of the folder that it was built of, and of two at once the first counts", func(t *testing.T) {
		h := newHouse(t, func(c *knowledge.Config) { c.Files = []string{file} })
		h.write(map[string]string{"penpotUserGuide/a.md": "# Folder\nMedlars."})
		if h.tools(); !strings.Contains(h.docs(h.account("ann", ""), "medlars"), "Medlars") || strings.Contains(h.docs("", "harvesting pears"), "autumn") {
			t.Error("the file counts")
		}
		if err := os.RemoveAll(filepath.Join(h.dir, "penpotUserGuide")); err != nil {
			t.Fatal(err)
		}
		if h.tools(); !strings.Contains(h.docs("", "harvesting pears"), "autumn") {
			t.Error("the file does not count, although the folder is gone")
		}
	})
	t.Run("E40 a damaged one disables its own tool only, wherever it is damaged", func(t *testing.T) {
		h := newHouse(t, func(c *knowledge.Config) { c.Files, c.Dir = []string{file, damaged}, "" })
		for name, data := range map[string][]byte{"cut": first[:len(first)-9], "half": first[:len(first)/2], "one bit": slices.Concat(first[:200], []byte{first[200] ^ 1}, first[201:]), "empty": {}, "text": []byte("no"), "missing": nil} {
			if os.Remove(damaged); data != nil {
				write(damaged, data)
			}
			tools := h.tools()
			if s := tools["damagedRag"].Status; s == nil || s.State != registry.StateUnavailable || s.Reason == "" {
				t.Errorf("%s: %+v", name, s)
			}
			if tools["penpotUserGuideRag"].Status != nil {
				t.Errorf("%s: it takes the other one along", name)
			}
		}
		write(file, first[:len(first)-9])
		defer write(file, first)
		if s := h.tools()["penpotUserGuideRag"].Status; s == nil || s.State != registry.StateUnavailable {
			t.Errorf("one that was good before: %+v", s)
		}
	})
}

// zipped makes a zip of files.
func zipped(t *testing.T, files map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, content := range files {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(f, content)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestAddedSources(t *testing.T) {
	t.Parallel()
	var fetched atomic.Int64
	pages := map[string]string{
		"/sitemap.xml": `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><sitemap><loc>HOST/docs.xml</loc></sitemap><sitemap><loc>https://elsewhere.example/x.xml</loc></sitemap></sitemapindex>`,
		"/docs.xml": `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>HOST/guide/</loc><lastmod>2026-01-01</lastmod></url><url><loc>HOST/gone/</loc></url>
			<url><loc>https://elsewhere.example/y</loc></url></urlset>`,
		"/guide/": `<html lang="en"><head><title>Guide</title></head><body><nav>Menu of marmots</nav><main><h1>Guide</h1><h2 id="figs">Figs</h2><p>Figs ripen in summer.</p></main></body></html>`,
	}
	site := httptest.NewServer(nil)
	t.Cleanup(site.Close)
	site.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/guide") {
			fetched.Add(1)
		}
		page, there := pages[r.URL.Path]
		if !there {
			http.NotFound(w, r)
			return
		}
		io.WriteString(w, strings.ReplaceAll(page, "HOST", site.URL))
	})
	at, err := url.Parse(site.URL)
	if err != nil {
		t.Fatal(err)
	}
	h := newHouse(t, func(c *knowledge.Config) { c.Guard = outbound.NewClient([]string{at.Host}) })
	ann, ben := h.account("ann", ""), h.account("ben", "")
	add := func(w knowledge.Wanted) error {
		_, err := h.Add(t.Context(), w)
		return err
	}
	t.Run("a site is read by its sitemap, on its own host only, and a page again only after its date changed", func(t *testing.T) {
		if err := add(knowledge.Wanted{Name: "site", URL: site.URL, Access: knowledge.Access{Level: index.AccessHouse}}); err != nil {
			t.Fatal(err)
		}
		h.tools()
		if said := h.docs(ann, "when do figs ripen"); !strings.Contains(said, site.URL+"/guide/#figs") {
			t.Error(said)
		}
		if said := h.docs(ann, "marmots"); strings.Contains(said, "Menu") {
			t.Errorf("navigation is no text: %s", said)
		}
		h.dayAfter()
		if n := fetched.Load(); n != 1 {
			t.Errorf("an unchanged page was fetched %d times", n)
		}
	})
	t.Run("uploads are their owner's alone", func(t *testing.T) {
		h.uploads[ann+" asset:1/notes.zip"] = zipped(t, map[string]string{"a.md": "# Diary\nToday I saw a pangolin.", "b.html": "<h1>Other</h1>"})
		if err := add(knowledge.Wanted{Name: "diary", Upload: "asset:1", Filename: "notes.zip", Owner: ann, Uploader: ann}); err != nil {
			t.Fatal(err)
		}
		h.tools()
		if said := h.docs(ann, "pangolin in diary"); !strings.Contains(said, "pangolin") {
			t.Error(said)
		}
		if said := h.docs(ben, "pangolin"); strings.Contains(said, "saw") {
			t.Error(said)
		}
		if err := add(knowledge.Wanted{Name: "stolen", Upload: "asset:1", Filename: "notes.zip", Owner: ben, Uploader: ben}); registry.AsError(err).Code != registry.CodeInvalidInput {
			t.Errorf("somebody else's upload: %v", err)
		}
		h.uploads[ben+" asset:4/notes.md"] = "# Mine\nA tapir slept."
		if err := add(knowledge.Wanted{Name: "notes", Title: "The plan to leave", Description: "How to get away.", Upload: "asset:4", Filename: "notes.md", Owner: ben, Uploader: ben}); err != nil {
			t.Fatal(err)
		}
		for id, tool := range h.tools() {
			if told := fmt.Sprintf("%+v", tool); strings.Contains(told, "plan to leave") || strings.Contains(told, "get away") || strings.Contains(told, "asset:4") {
				t.Errorf("whoever guesses %s is told %s", id, told)
			}
		}
		h.uploads[ben+" asset:1/notes.zip"] = zipped(t, map[string]string{"a.md": "# Mine\nA heron stood there."})
		if err := add(knowledge.Wanted{Name: "diary", Upload: "asset:1", Filename: "notes.zip", Owner: ben, Uploader: ben}); err != nil {
			t.Errorf("one of the same name, of somebody who came in the same minute: %v", err)
		}
		h.tools()
		if said := h.docs(ben, "heron in diary"); !strings.Contains(said, "stood") || strings.Contains(said, "pangolin") {
			t.Error(said)
		}
		if err := h.Remove(t.Context(), "diary", ben); err != nil {
			t.Error(err)
		}
		if err := h.Remove(t.Context(), "diary", ben); registry.AsError(err).Code != registry.CodeLost {
			t.Errorf("removed by somebody else: %v", err)
		}
		if err := h.Remove(t.Context(), "diary", ann); err != nil {
			t.Error(err)
		}
		if said := h.docs(ann, "pangolin"); strings.Contains(said, "saw") {
			t.Error(said)
		}
	})
	t.Run("two people have a source of one name", func(t *testing.T) {
		for _, who := range []string{ann, ben} {
			h.uploads[who+" asset:5/a.md"] = "# Shared name\nAn okapi of " + who
			if err := add(knowledge.Wanted{Name: "same", Upload: "asset:5", Filename: "a.md", Owner: who, Uploader: who}); err != nil {
				t.Fatal(err)
			}
		}
		again, err := h.Add(t.Context(), knowledge.Wanted{Name: "Same", Upload: "asset:5", Filename: "a.md", Owner: ann, Uploader: ann})
		if _, there := h.tools()[again.ToolID]; err != nil || again.Name != "same" || !there {
			t.Errorf("added again, by another case, it is %+v (%v), which is no tool", again, err)
		}
		for _, who := range []string{ann, ben} {
			if said := h.docs(who, "okapi in same"); !strings.Contains(said, who) {
				t.Error(said)
			}
			if err := h.Remove(t.Context(), "same", who); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("what can't be a source is refused with its reason", func(t *testing.T) {
		h.write(map[string]string{"folder/a.md": "# A\nText."})
		h.tools()
		for name, w := range map[string]knowledge.Wanted{
			"no name": {URL: site.URL, Owner: ann}, "neither": {Name: "x", Owner: ann}, "both": {Name: "x", URL: site.URL, Upload: "asset:1", Owner: ann},
			"no address": {Name: "x", URL: "ftp://x", Owner: ann}, "inside": {Name: "x", URL: "http://127.0.0.2:1/", Owner: ann}, "password": {Name: "x", URL: "https://a:b@example.com", Owner: ann},
			"taken": {Name: "folder", URL: site.URL, Access: knowledge.Access{Level: index.AccessHouse}}, "unsupported": {Name: "x", Upload: "asset:2", Filename: "x.exe", Owner: ann, Uploader: ann},
		} {
			h.uploads[ann+" asset:2/x.exe"] = "MZ"
			if err := add(w); registry.AsError(err).Code != registry.CodeInvalidInput || len(registry.AsError(err).Message) < 10 {
				t.Errorf("%s: %v", name, err)
			}
		}
		for i := range 25 {
			h.uploads[ann+" asset:3/a.md"] = "# A"
			if err := add(knowledge.Wanted{Name: fmt.Sprint("n", i), Upload: "asset:3", Filename: "a.md", Owner: ann, Uploader: ann}); (err == nil) != (i < 20) {
				t.Errorf("source %d of one person: %v", i+1, err)
			}
		}
	})
	t.Run("a site that can't be read keeps what it had, and says why", func(t *testing.T) {
		delete(pages, "/sitemap.xml")
		h.dayAfter()
		if said := h.docs(ann, "when do figs ripen"); !strings.Contains(said, "#figs") {
			t.Error(said)
		}
		list, err := h.Readable(t.Context(), ben)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			if s.Name == "site" && !strings.Contains(s.Problem, "404") {
				t.Errorf("%+v", s)
			}
		}
	})
}
