package catalog_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/registry/registrytest"
)

// readAll gives the content of every file below dir by its path.
func readAll(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		relative, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(relative)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func flash(t testing.TB, dir string, meta catalog.FlashMeta, tools ...registry.Tool) *catalog.Snapshot {
	t.Helper()
	s := catalog.NewSnapshot(tools, noon)
	if err := catalog.Flash(dir, s, meta); err != nil {
		t.Fatal(err)
	}
	return s
}

func fluxTool(t testing.TB) registry.Tool {
	tool := mustDecode(t, registrytest.Complete)
	tool.Visibility, tool.Status = "", nil
	return tool
}

func TestFlash(t *testing.T) {
	t.Parallel()
	meta := catalog.FlashMeta{Now: noon, SourceVersion: "v1"}
	later := catalog.FlashMeta{Now: noon.Add(time.Hour), SourceVersion: "v1"}

	t.Run("A63 twice without change gives identical bytes", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		flash(t, dir, meta, fluxTool(t), simple("b"))
		before := readAll(t, dir)
		flash(t, dir, later, simple("b"), fluxTool(t))
		after := readAll(t, dir)
		if len(before) != 5 || len(after) != 5 {
			t.Errorf("files: %d, %d", len(before), len(after))
		}
		for name, text := range before {
			if after[name] != text {
				t.Errorf("%s changed", name)
			}
		}
	})
	t.Run("A66 time and source version stand outside the hashed part", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		type head struct{ GeneratedAt, SourceVersion, ContentHash string }
		read := func() (h head) {
			if err := json.Unmarshal([]byte(readAll(t, dir)[catalog.FlashFile]), &h); err != nil {
				t.Fatal(err)
			}
			return h
		}
		flash(t, dir, meta, simple("a"))
		first := read()
		flash(t, dir, catalog.FlashMeta{Now: noon.Add(time.Hour), SourceVersion: "v2"}, simple("a"))
		second := read()
		flash(t, dir, catalog.FlashMeta{Now: noon.Add(2 * time.Hour), SourceVersion: "v2"}, simple("a"), simple("b"))
		third := read()
		if first.GeneratedAt != "2026-05-01T12:00:00Z" || first.SourceVersion != "v1" || first.ContentHash != second.ContentHash ||
			second.SourceVersion != "v2" || third.ContentHash == second.ContentHash || third.GeneratedAt != "2026-05-01T14:00:00Z" {
			t.Errorf("%+v\n%+v\n%+v", first, second, third)
		}
	})
	t.Run("A46 A64 A67 the file is loaded with no network and equals all tools", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		hidden := mustDecode(t, registrytest.Complete)
		hidden.ToolID, hidden.CommandName, hidden.APIPath, hidden.Aliases = "hiddenflux", "", "", nil
		hidden.Visibility = registry.VisibilityHidden
		s := flash(t, dir, meta, fluxTool(t), simple("b"), hidden)
		r := newRegistry(t, catalog.Config{Loaders: []registry.Loader{catalog.NewFlashLoader("flash", filepath.Join(dir, catalog.FlashFile))}})
		mustReload(t, r)
		want, got := clones(s), clones(r.Snapshot())
		if len(got) != len(want) {
			t.Fatalf("%d tools, want %d", len(got), len(want))
		}
		for i := range want {
			want[i].APIPath = want[i].RunPath() // the file has it written out
			if mustEncode(t, got[i]) != mustEncode(t, want[i]) {
				t.Errorf("differs:\n%s\n%s", mustEncode(t, got[i]), mustEncode(t, want[i]))
			}
		}
	})
	t.Run("A16 A67 what nests as deep as it may is loaded again", func(t *testing.T) {
		t.Parallel()
		definition := func(levels int) string {
			return `{"toolId":"deep","service":"s","displayName":"Deep","inputSchema":{},"metadata":{"x":` + strings.Repeat("[", levels) + strings.Repeat("]", levels) + `}}`
		}
		levels := 0
		for decodes := true; decodes; levels++ {
			_, err := registry.DecodeTool([]byte(definition(levels + 1)))
			decodes = err == nil
		}
		dir := t.TempDir()
		flash(t, dir, meta, mustDecode(t, definition(levels-1)))
		r := newRegistry(t, catalog.Config{Loaders: []registry.Loader{catalog.NewFlashLoader("flash", filepath.Join(dir, catalog.FlashFile))}})
		mustReload(t, r)
		if levels < 32 || r.Snapshot().Len() != 1 {
			t.Errorf("%d levels, %d tools", levels, r.Snapshot().Len())
		}
		built := simple("built") // by a loader, in Go
		built.Metadata = mustDecode(t, definition(levels-1)).Metadata
		built.Metadata = map[string]any{"x": []any{built.Metadata["x"]}}
		if _, err := newRegistry(t, catalog.Config{Loaders: []registry.Loader{fixed("l", built)}}).Reload(t.Context()); err == nil {
			t.Error("a definition that can't be read again was taken")
		}
	})
	t.Run("A67 a file changed by hand is refused", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		flash(t, dir, meta, simple("a"))
		path := filepath.Join(dir, catalog.FlashFile)
		text := strings.Replace(readAll(t, dir)[catalog.FlashFile], "Tool a", "Tool x", 1)
		write(t, path, text)
		_, err := catalog.NewFlashLoader("flash", path).Load(t.Context())
		wantContains(t, err, "contentHash", "flash it again")
		write(t, path, text[:len(text)/2])
		_, err = catalog.NewFlashLoader("flash", path).Load(t.Context())
		wantContains(t, err, "ends too early")
	})
	t.Run("A65 one file for each tool, those of removed tools go, foreign ones stay", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		flash(t, dir, meta, simple("a"), simple("b"))
		foreign := filepath.Join(dir, catalog.FlashToolsDir, "mine.json")
		write(t, foreign, mustEncode(t, simple("mine")))
		flash(t, dir, meta, simple("b"))
		files := readAll(t, dir)
		if files["tool_defs/a.json"] != "" || files["tool_defs/b.json"] == "" || files["tool_defs/mine.json"] == "" {
			t.Errorf("files: %v", files)
		}
		if tool := mustDecode(t, files["tool_defs/b.json"]); tool.ToolID != "b" || tool.Version == "" {
			t.Errorf("got %+v", tool)
		}
	})
	t.Run("A65 a foreign file is not overwritten", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		flash(t, dir, meta)
		write(t, filepath.Join(dir, catalog.FlashToolsDir, "a.json"), "my notes")
		err := catalog.Flash(dir, catalog.NewSnapshot([]registry.Tool{simple("a")}, noon), meta)
		wantContains(t, err, "a.json", "not from an earlier flash")
	})
	t.Run("A65 ids become safe and different file names", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		ids := []string{"../up", "a/b", "CON", "pim.getProduct", ".hidden", "Same", "same", "ü", strings.Repeat("/x", 64)[1:]}
		var tools []registry.Tool
		for _, id := range ids {
			tool := simple("x")
			tool.ToolID, tool.CommandName = id, ""
			tools = append(tools, tool)
		}
		flash(t, dir, meta, tools...)
		files := readAll(t, dir)
		folded := make(map[string]bool)
		for name := range files {
			if strings.ContainsAny(filepath.Base(name), `/\:`) || len(filepath.Base(name)) > 220 || folded[strings.ToLower(name)] {
				t.Errorf("unsafe name %q", name)
			}
			folded[strings.ToLower(name)] = true
		}
		if len(files) != len(ids)+3 || files["tool_defs/pim.getProduct.json"] == "" || files["tool_defs/same.json"] == "" {
			t.Errorf("files: %v", len(files))
		}
		flash(t, dir, meta)
		if left := readAll(t, dir); len(left) != 3 {
			t.Errorf("left over: %v", len(left))
		}
	})
	t.Run("A66 A21 A49 the Markdown catalogue tells inputs, price and command", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		secret := simple("inner")
		secret.Visibility = registry.VisibilityInternal
		odd := simple("odd")
		odd.DisplayName = "a | b <script>"
		flash(t, dir, meta, fluxTool(t), secret, odd)
		page := readAll(t, dir)[catalog.FlashMarkdown]
		for _, want := range []string{"### Flux General", "Draws a picture", "`/fluxgeneral`", "by the machine that runs it, per second",
			"| prompt | string | yes |  |  | What to draw |", "| width | number | no | 1024 | 64 to 2048, in steps of 8 |  |", "euler, DPM++ 2M", `a \| b &lt;script&gt;`} {
			if !strings.Contains(page, want) {
				t.Errorf("lacks %q:\n%s", want, page)
			}
		}
		if strings.Contains(page, "inner") {
			t.Error("A81 shows an internal tool")
		}
	})
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestEmbed(t *testing.T) {
	t.Parallel()
	tool := fluxTool(t)
	tool.Description = "Draws. Engine http://10.0.0.5:8188/prompt and gpu-1.lan:8188, localhost:9000, [fd00::1]:80, https://gpu/x. " +
		"Key sk-proj-abcdefghijklmnop1234, token: hunter2hunter2, Bearer abcdefghijklmnopqrst. " +
		"Docs https://example.org/help?token=abc and https://me:pw@example.org/x and ratio 16:9 v1.2."
	tool.InputSchema = append(tool.InputSchema,
		registry.InputField{Name: "apiKey", Type: registry.TypeString, Default: "abc123"},
		registry.InputField{Name: "server", Type: registry.TypeString, Default: "ws://192.168.1.4/ws"},
		registry.InputField{Name: "tokens", Type: registry.TypeNumber, Default: json.Number("77")})
	tool.Metadata = map[string]any{"engine": "http://10.0.0.9"}
	inner, hidden := simple("inner"), simple("hiddentool")
	inner.Visibility, hidden.Visibility = registry.VisibilityInternal, registry.VisibilityHidden
	data, err := catalog.Embed(catalog.NewSnapshot([]registry.Tool{tool, inner, hidden}, noon))
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	t.Run("A68 no secrets, internal addresses or internal tools", func(t *testing.T) {
		t.Parallel()
		for _, bad := range []string{"10.0.0", "gpu-1", "localhost", "fd00", "https://gpu", "sk-proj", "hunter2", "Bearer a", "token=abc", "me:pw", "abc123", "192.168", "inner", "hiddentool", "metadata", "/api/internal"} {
			if strings.Contains(text, bad) {
				t.Errorf("shows %q", bad)
			}
		}
	})
	t.Run("A68 A61 what is needed to choose and start a tool stays", func(t *testing.T) {
		t.Parallel()
		for _, good := range []string{"fluxgeneral", "Draws.", "https://example.org/help", "https://example.org/x", "16:9 v1.2", `"max": 18446744073709551615`, "dpmpp_2m", `"price"`, `"outputSchema"`} {
			if !strings.Contains(text, good) {
				t.Errorf("lacks %q:\n%s", good, text)
			}
		}
	})
	t.Run("A68 it parses as JSON", func(t *testing.T) {
		t.Parallel()
		var back struct{ Tools []map[string]any }
		if err := json.Unmarshal(data, &back); err != nil || len(back.Tools) != 1 {
			t.Errorf("got %v, %v", back, err)
		}
	})
}

func TestStubs(t *testing.T) {
	t.Parallel()
	odd := simple("9 lives! {{x}}")
	odd.CommandName = ""
	odd.DisplayName = "*/ \n package"
	odd.InputSchema = registry.InputSchema{
		{Name: "a`b", Type: "string"}, {Name: "a b", Type: "number", Required: true}, {Name: "a-b", Type: "image", Multiple: true},
		{Name: "type", Type: "boolean"}, {Name: "nested", Type: "string", Schema: json.RawMessage(`{}`), Required: true},
	}
	twin := simple("9-lives-x")
	s := catalog.NewSnapshot([]registry.Tool{fluxTool(t), odd, twin, simple("runner"), simple("commands")}, noon)
	source, err := catalog.Stubs(s, "stubs")
	if err != nil {
		t.Fatal(err)
	}
	t.Run("A71 the stub compiles", func(t *testing.T) {
		t.Parallel()
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, "tool_stubs.go", source, 0)
		if err != nil {
			t.Fatal(err)
		}
		check := types.Config{Importer: importer.ForCompiler(files, "source", nil)}
		p, err := check.Check("stubs", files, []*ast.File{file}, nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, source)
		}
		for _, name := range []string{"Fluxgeneral", "FluxgeneralInputs", "Commands", "Runner"} {
			if p.Scope().Lookup(name) == nil {
				t.Errorf("lacks %s", name)
			}
		}
	})
	t.Run("A71 it has a handler for each command", func(t *testing.T) {
		t.Parallel()
		if !bytes.Contains(source, []byte(`"/fluxgeneral": func(`)) {
			t.Errorf("lacks the command:\n%s", source)
		}
	})
	t.Run("A71 it is written only when asked for", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		flash(t, dir, catalog.FlashMeta{Now: noon, StubsPackage: "tools"}, simple("a"))
		if !strings.Contains(readAll(t, dir)[catalog.FlashStubs], "package tools") {
			t.Error("not written")
		}
		if _, err := catalog.Stubs(s, "not a name"); err == nil {
			t.Error("a bad package name is accepted")
		}
	})
}

func TestFileLoader(t *testing.T) {
	t.Parallel()
	t.Run("A45 A72 a folder of definitions, in any of the forms", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		write(t, filepath.Join(dir, "one.json"), mustEncode(t, simple("one")))
		write(t, filepath.Join(dir, "sub", "more.JSON"), `{"tools":[`+mustEncode(t, simple("two"))+`,`+mustEncode(t, simple("three"))+`]}`)
		write(t, filepath.Join(dir, ".git", "x.json"), "rubbish")
		write(t, filepath.Join(dir, ".tmp.json"), "rubbish")
		write(t, filepath.Join(dir, "readme.txt"), "rubbish")
		tools, err := catalog.NewFileLoader("tools", dir).Load(t.Context())
		if err != nil || len(tools) != 3 {
			t.Errorf("got %d tools, %v", len(tools), err)
		}
	})
	t.Run("a missing folder holds no tools", func(t *testing.T) {
		t.Parallel()
		if tools, err := catalog.NewFileLoader("tools", filepath.Join(t.TempDir(), "nope")).Load(t.Context()); err != nil || len(tools) != 0 {
			t.Errorf("got %v, %v", tools, err)
		}
	})
	t.Run("A40 a broken file is named and keeps its last good tools", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		write(t, filepath.Join(dir, "a.json"), mustEncode(t, simple("a")))
		write(t, filepath.Join(dir, "b.json"), mustEncode(t, simple("b")))
		r := newRegistry(t, catalog.Config{Loaders: []registry.Loader{catalog.NewFileLoader("tools", dir)}})
		mustReload(t, r)
		write(t, filepath.Join(dir, "a.json"), `{"toolId": "a", `)
		_, err := r.Reload(t.Context())
		wantContains(t, err, "a.json: line 1")
		if r.Snapshot().Len() != 2 || r.Problems()[0].Source != "a.json" {
			t.Errorf("%d tools, %v", r.Snapshot().Len(), r.Problems())
		}
		if err := os.Remove(filepath.Join(dir, "a.json")); err != nil {
			t.Fatal(err)
		}
		mustReload(t, r)
		if r.Snapshot().Len() != 1 {
			t.Error("the tool of a removed file stays")
		}
	})
	t.Run("A4 one id in two files names both", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		write(t, filepath.Join(dir, "a.json"), mustEncode(t, simple("x")))
		write(t, filepath.Join(dir, "b.json"), strings.Replace(mustEncode(t, simple("x")), "Tool x", "Other", 1))
		tools, err := catalog.NewFileLoader("tools", dir).Load(t.Context())
		wantContains(t, err, "b.json", "a.json", `"x"`)
		if len(tools) != 1 || tools[0].DisplayName != "Tool x" {
			t.Errorf("got %v", tools)
		}
	})
	t.Run("A4 the same definition in two files is no mistake", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		write(t, filepath.Join(dir, "a.json"), mustEncode(t, simple("x")))
		write(t, filepath.Join(dir, "b.json"), "[ "+mustEncode(t, simple("x"))+" ]")
		tools, err := catalog.NewFileLoader("tools", dir).Load(t.Context())
		if err != nil || len(tools) != 1 {
			t.Errorf("got %v, %v", tools, err)
		}
	})
	t.Run("A10 a definition that is refused names its file, and the last good one stays", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		write(t, filepath.Join(dir, "a.json"), mustEncode(t, simple("a")))
		loader := catalog.NewFileLoader("tools", dir)
		if _, err := loader.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, "a.json"), `{"toolId":"a","service":"s","displayName":"A"}`)
		write(t, filepath.Join(dir, "b.json"), `{"service":"s","displayName":"B","inputSchema":{}}`)
		tools, err := loader.Load(t.Context())
		wantContains(t, err, `a.json: tool "a": inputSchema: is missing`, "b.json: toolId: is missing")
		if len(tools) != 1 || tools[0].DisplayName != "Tool a" {
			t.Errorf("got %v", tools)
		}
	})
}
