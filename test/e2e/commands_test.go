//go:build unix

package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
)

func TestVersion(t *testing.T) {
	t.Parallel()
	if r := run(t, spec{dir: newDir(t), args: []string{"version"}}); r.code != 0 || !strings.HasPrefix(r.stdout, "signalbox ") || r.stderr != "" {
		t.Errorf("%+v", r)
	}
}

func TestDoctor(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	t.Run("all is well", func(t *testing.T) {
		t.Parallel()
		r := run(t, spec{args: []string{"doctor"}})
		if r.code != 0 || strings.Contains(r.stdout, "BAD") {
			t.Errorf("%+v", r)
		}
		for _, what := range []string{"configuration", "DATA_DIR", "WORKFLOWS_DIR", "database", "engine", "telegram", "LISTEN_ADDR"} {
			if !strings.Contains(r.stdout, what) {
				t.Errorf("nothing about %s in\n%s", what, r.stdout)
			}
		}
	})
	t.Run("it writes nothing and starts no database", func(t *testing.T) {
		t.Parallel()
		dir := newDir(t)
		r := run(t, spec{dir: filepath.Join(dir, "data"), args: []string{"doctor"}})
		made, err := filepath.Glob(filepath.Join(dir, "*"))
		made = slices.DeleteFunc(made, func(path string) bool { return filepath.Base(path) == "no-workflows" }) // of surroundings
		if r.code != 0 || err != nil || len(made) != 0 {
			t.Errorf("made %v, %v: %+v", made, err, r)
		}
	})
	t.Run("beside a running program, which it does not disturb", func(t *testing.T) {
		t.Parallel()
		p := start(t, spec{env: []string{"LISTEN_ADDR=" + closedPort(t)}})
		listen := "LISTEN_ADDR=" + strings.TrimPrefix(p.page, "http://")
		r := run(t, spec{dir: p.dir, args: []string{"doctor"}, env: []string{listen}})
		if r.code != 0 || !strings.Contains(r.stdout, "a running Signalbox") || !strings.Contains(r.stdout, "a Signalbox answers") {
			t.Errorf("%+v", r)
		}
		if r := run(t, spec{dir: p.dir, args: []string{"doctor", "--ready"}, env: []string{listen}}); r.code != 0 || r.stdout+r.stderr != "" {
			t.Errorf("%+v", r)
		}
		p.get("/readyz")
	})
	t.Run("what is wrong is named, with what to do, and no secret", func(t *testing.T) {
		t.Parallel()
		engine, api := "http://"+closedPort(t), "http://"+closedPort(t)
		token := "123456789:" + strings.Repeat("s3cret", 6)[:35]
		r := run(t, spec{args: []string{"doctor"}, env: []string{
			"COMFYUI_URLS=" + engine, "TELEGRAM_BOT_TOKEN=" + token, "TELEGRAM_API_URL=" + api,
			"DATABASE_URL=postgres://ann:" + secret + "@" + closedPort(t) + "/x",
		}})
		if !strings.Contains(r.stdout, "DATABASE_URL: database") || strings.Count(r.stdout, "refused") != 3 {
			t.Errorf("%s", r.stdout)
		}
		if r.code != 1 || strings.Count(r.stdout, "BAD") != 3 || strings.Count(r.stdout, "->") != 3 {
			t.Errorf("%+v", r)
		}
		if strings.Contains(r.stdout+r.stderr, secret) || strings.Contains(r.stdout+r.stderr, "s3cret") {
			t.Errorf("a secret is printed:\n%s%s", r.stdout, r.stderr)
		}
	})
	t.Run("data of another Postgres", func(t *testing.T) {
		t.Parallel()
		dir := newDir(t)
		version := filepath.Join(dir, "postgres", "data", "PG_VERSION")
		if err := os.MkdirAll(filepath.Dir(version), 0o700); err != nil {
			t.Fatal(err)
		}
		put(t, version, "99\n")
		r := run(t, spec{dir: dir, args: []string{"doctor"}})
		if r.code != 1 || !strings.Contains(r.stdout, "needs Postgres 99") || !strings.Contains(r.stdout, "-> install that version") {
			t.Errorf("%+v", r)
		}
	})
	t.Run("tools that are described wrongly", func(t *testing.T) {
		t.Parallel()
		dir := newDir(t)
		tools := filepath.Join(dir, "tools")
		if err := os.MkdirAll(tools, 0o755); err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(tools, "echo.tool.yaml"), "tool: {toolId: echo, displayName: Echo, inputSchema: {}, outputSchema: {a: {type: nonsense}}}\nhttp: {baseURL: https://clouds.example, submit: {path: /x}}\n")
		put(t, filepath.Join(tools, "odd.json"), `{"toolId": "odd", "service": "x", "displayName": "Odd", "inputShema": {}}`)
		r := run(t, spec{dir: dir, args: []string{"doctor"}, env: []string{"TOOLS_DIR=" + tools, "WORKFLOWS_DIR=" + filepath.Join(dir, "nowhere"), "AGENTS_DIR=" + filepath.Join(dir, "nobody"), "TELEGRAM_BOT_TOKE=1"}})
		if !strings.Contains(r.stdout, "TELEGRAM_BOT_TOKE is not a setting; did you mean TELEGRAM_BOT_TOKEN?") {
			t.Errorf("nothing about the variable that is misspelt in\n%s", r.stdout)
		}
		if r.code != 1 || !strings.Contains(r.stdout, "BAD  TOOLS_DIR") || !strings.Contains(r.stdout, "nonsense") || !strings.Contains(r.stdout, "inputShema") ||
			!strings.Contains(r.stdout, "BAD  WORKFLOWS_DIR  there is no folder "+filepath.Join(dir, "nowhere")) || !strings.Contains(r.stdout, "BAD  AGENTS_DIR     there is no folder "+filepath.Join(dir, "nobody")) {
			t.Errorf("%+v", r)
		}
	})
	t.Run("wrong values are listed", func(t *testing.T) {
		t.Parallel()
		r := run(t, spec{dir: newDir(t), args: []string{"doctor"}, env: []string{"LOG_LEVEL=loud"}})
		if r.code != 1 || !strings.Contains(r.stdout, "LOG_LEVEL") {
			t.Errorf("%+v", r)
		}
	})
}

// bundled copies bundled workflows into a new folder, under other names.
func bundled(t *testing.T, names map[string]string) string {
	t.Helper()
	dir := newDir(t)
	for to, from := range names {
		data, err := os.ReadFile(filepath.Join("../../workflows", from+".json"))
		if err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(dir, to+".json"), string(data))
	}
	return dir
}

// put writes a file as editors do: beside it and renamed.
func put(t *testing.T, file, content string) {
	t.Helper()
	if err := os.WriteFile(file+".part", []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".part", file); err != nil {
		t.Fatal(err)
	}
}

// contents reads a folder whole.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		files[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestFlash(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	flows := bundled(t, map[string]string{"extra": "sticker"})
	out := filepath.Join(newDir(t), "out")
	flash := spec{dir: newDir(t), args: []string{"flash", "--out", out}, env: []string{"WORKFLOWS_DIR=" + flows}}
	must := func(t *testing.T) map[string]string {
		t.Helper()
		if r := run(t, flash); r.code != 0 || !strings.Contains(r.stdout, "tools written to "+out) {
			t.Fatalf("%+v", r)
		}
		return contents(t, out)
	}
	first := must(t)
	t.Run("A63 A84 the same tools give the same bytes", func(t *testing.T) {
		if second := must(t); !maps.Equal(first, second) {
			t.Errorf("the second flash differs: %v and %v", slices.Sorted(maps.Keys(first)), slices.Sorted(maps.Keys(second)))
		}
	})
	t.Run("neither inner addresses nor templates are in the reduced file", func(t *testing.T) {
		reduced := first["tool_registry.embed.json"]
		if !strings.Contains(reduced, `"extra"`) || strings.Contains(reduced, "127.0.0.1") || strings.Contains(reduced, "asset:") {
			t.Errorf("%.600s", reduced)
		}
	})
	t.Run("a start from the file lists the same tools, without any engine", func(t *testing.T) {
		env := []string{
			"ADMIN_TOKEN=" + adminToken, "WORKFLOWS_DIR=" + flows,
			"TOOLS_FILE=" + filepath.Join(out, "tool_registry.generated.json"), "COMFYUI_URLS=http://" + closedPort(t),
		}
		p := start(t, spec{env: env})
		operator := client{t: t, page: p.page, key: adminToken} // who sees tools of services without a key, too
		listed := operator.tools()
		var flashed struct{ Tools []json.RawMessage }
		if err := json.Unmarshal([]byte(first["tool_registry.generated.json"]), &flashed); err != nil {
			t.Fatal(err)
		}
		for _, raw := range flashed.Tools {
			var tool struct{ ToolID string }
			if err := json.Unmarshal(raw, &tool); err != nil {
				t.Fatal(err)
			}
			if got := compact(t, listed[tool.ToolID]); got != compact(t, raw) {
				t.Errorf("%s was flashed as\n%s\nand is served as\n%s", tool.ToolID, compact(t, raw), got)
			}
		}
		if len(flashed.Tools) < 8 || len(listed) != len(flashed.Tools) {
			t.Errorf("%d tools were flashed, %d are served", len(flashed.Tools), len(listed))
		}
		p.stop(os.Interrupt)
	})
	t.Run("files of tools that are gone go", func(t *testing.T) {
		if first["tool_defs/extra.json"] == "" {
			t.Fatalf("no file of the tool among %v", slices.Sorted(maps.Keys(first)))
		}
		if err := os.Remove(filepath.Join(flows, "extra.json")); err != nil {
			t.Fatal(err)
		}
		after := must(t)
		if _, there := after["tool_defs/extra.json"]; there || strings.Contains(after["tool_registry.generated.json"], `"extra"`) || len(after) != len(first)-1 {
			t.Errorf("%v", slices.Sorted(maps.Keys(after)))
		}
	})
}

func compact(t *testing.T, raw []byte) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return err.Error()
	}
	return b.String()
}

func TestInspect(t *testing.T) {
	t.Parallel()
	broken := filepath.Join(newDir(t), "broken.json")
	put(t, broken, `{"nodes": [`)
	files := []string{"../../workflows/poster.json", "../../workflows/fluxgeneral.json"}
	abs := func(files ...string) (out []string) {
		for _, f := range files {
			a, err := filepath.Abs(f)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, a)
		}
		return out
	}
	t.Run("one object a line, in the order of the files", func(t *testing.T) {
		t.Parallel()
		r := run(t, spec{dir: newDir(t), args: append([]string{"inspect", "--json"}, abs(files...)...)})
		got := lines(r.stdout)
		if r.code != 0 || len(got) != 2 {
			t.Fatalf("%+v", r)
		}
		for i, line := range got {
			var o struct {
				File, Format string
				Tool         struct{ CommandName string }
				Notes        []string
				Nodes        int
				ClassTypes   []string
			}
			if err := json.Unmarshal([]byte(line), &o); err != nil {
				t.Fatal(err)
			}
			if o.File != abs(files[i])[0] || o.Format != "ui" || o.Tool.CommandName == "" || o.Nodes == 0 || len(o.ClassTypes) == 0 || len(o.Notes) == 0 {
				t.Errorf("%.400s", line)
			}
		}
	})
	t.Run("a broken file is an error of its own line, and code 1", func(t *testing.T) {
		t.Parallel()
		r := run(t, spec{dir: newDir(t), args: append([]string{"inspect", "--json", broken}, abs(files[0])...)})
		if got := lines(r.stdout); r.code != 1 || len(got) != 2 || !strings.Contains(got[0], `"error"`) || strings.Contains(got[1], `"error"`) {
			t.Errorf("%+v", r)
		}
	})
	t.Run("people get it in words", func(t *testing.T) {
		t.Parallel()
		r := run(t, spec{dir: newDir(t), args: append([]string{"inspect"}, abs(files[0])...)})
		if r.code != 0 || !strings.Contains(r.stdout, "/poster") {
			t.Errorf("%+v", r)
		}
	})
}

// startEngine runs `signalbox engine` and gives its address. At the end it is stopped, in time and in order.
func startEngine(t testing.TB) string {
	t.Helper()
	dir := newDir(t)
	p := launch(t, spec{dir: dir, args: []string{"engine", "--listen", "127.0.0.1:0", "--input", filepath.Join(dir, "in"), "--output", filepath.Join(dir, "out"), "--user", filepath.Join(dir, "user")}})
	address := regexp.MustCompile(`http://[0-9.:]+\d`)
	await(t, "the engine", func() bool { return address.MatchString(p.out.String()) || p.over() }, p.said)
	if p.over() {
		t.Fatalf("the engine ended: %s", p.said())
	}
	t.Cleanup(func() { p.stop(os.Interrupt) })
	return address.FindString(p.out.String())
}

func TestFlagsThatACommandDoesNotRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"engine", "--listen-addr", "127.0.0.1:0"}, "--listen-addr is where the page listens; engine takes --listen"},
		{[]string{"--listen-addr=127.0.0.1:0", "engine"}, "engine takes --listen"},
		{[]string{"engine", "--log-level=debug"}, "--log-level: engine does not read this setting"},
		{[]string{"version", "--data-dir", "x"}, "--data-dir: version does not read this setting"},
	} {
		if r := run(t, spec{dir: newDir(t), args: c.args}); r.code != 2 || r.stdout != "" || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%v: %+v", c.args, r)
		}
	}
	if r := run(t, spec{dir: newDir(t), args: []string{"version"}, env: []string{"LISTEN_ADDR=127.0.0.1:1"}}); r.code != 0 {
		t.Errorf("with the variable: %+v", r)
	}
}

// TestEngineStopsWhileBusy has startEngine stop an engine whose node takes longer than any stop may.
func TestEngineStopsWhileBusy(t *testing.T) {
	t.Parallel()
	page := startEngine(t)
	conn, _, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(page, "http")+"/ws?clientId=e2e", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.CloseNow() })
	const prompt = `{"client_id": "e2e", "prompt": {
		"1": {"class_type": "EmptyImage", "inputs": {"width": 4096, "height": 4096, "batch_size": 1, "color": 0}},
		"2": {"class_type": "ImageBlur", "inputs": {"image": ["1", 0], "blur_radius": 31, "sigma": 1.0}},
		"3": {"class_type": "PreviewImage", "inputs": {"images": ["2", 0]}}}}`
	res, err := http.Post(page+"/prompt", "application/json", strings.NewReader(prompt))
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Fatal(res.Status)
	}
	var event struct {
		Type string
		Data struct{ Node string }
	}
	for event.Type != "executing" || event.Data.Node != "2" {
		_, data, err := conn.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		event.Type, event.Data.Node = "", ""
		_ = json.Unmarshal(data, &event) // previews are no JSON
	}
}

func TestConvert(t *testing.T) {
	t.Parallel()
	t.Run("an engine runs what convert prints", func(t *testing.T) {
		t.Parallel()
		file, err := filepath.Abs("../../workflows/wallpaper.json")
		if err != nil {
			t.Fatal(err)
		}
		r := run(t, spec{dir: newDir(t), args: []string{"convert", file}})
		if r.code != 0 || !json.Valid([]byte(r.stdout)) {
			t.Fatalf("%+v", r)
		}
		engine := startEngine(t)
		res, err := http.Post(engine+"/prompt", "application/json", strings.NewReader(`{"prompt": `+r.stdout+`}`))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var answer struct {
			PromptID   string         `json:"prompt_id"`
			NodeErrors map[string]any `json:"node_errors"`
		}
		if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || res.StatusCode != http.StatusOK || len(answer.NodeErrors) > 0 {
			t.Fatalf("%d %v %v", res.StatusCode, err, answer)
		}
		history := ""
		await(t, "the prompt", func() bool {
			history = (&program{t: t, page: engine}).get("/history/" + answer.PromptID)
			return strings.Contains(history, "status_str")
		}, func() string { return history })
		if !strings.Contains(history, `"success"`) || !strings.Contains(history, ".png") {
			t.Errorf("%s", history)
		}
	})
	t.Run("what is no workflow gets one line", func(t *testing.T) {
		t.Parallel()
		file := filepath.Join(newDir(t), "x.json")
		put(t, file, `[1, 2]`)
		if r := run(t, spec{dir: newDir(t), args: []string{"convert", file}}); r.code != 1 || len(lines(r.stderr)) != 1 || r.stdout != "" {
			t.Errorf("%+v", r)
		}
	})
}

func TestGrant(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	s := spec{dir: seededDir(t), env: []string{"ADMIN_TOKEN=" + adminToken, "SIGNUP_CREDIT_USD=0.5"}}
	grant := func(args ...string) result {
		return run(t, spec{dir: s.dir, args: append([]string{"grant"}, args...), env: s.env})
	}
	p := start(t, s)
	c := newClient(p, "ann")
	if b := c.balance(); b.Available != 500_000_000 {
		t.Errorf("the sign-up credit is %+v", b)
	}
	if r := grant("api:ann", "2.25", "--key", "first"); r.code != 0 || !strings.Contains(r.stdout, "$2.75") {
		t.Errorf("while it runs: %+v", r)
	}
	if r := grant("api:ann", "2.25", "--key", "first"); r.code != 0 || !strings.Contains(r.stdout, "$2.75") {
		t.Errorf("the same once more: %+v", r)
	}
	if b := c.balance(); b.Available != 2_750_000_000 {
		t.Errorf("%+v", b)
	}
	p.stop(os.Interrupt)
	if r := grant("api:ann", "1"); r.code != 0 || !strings.Contains(r.stdout, "$3.75") {
		t.Errorf("while it is stopped: %+v", r)
	}
	for _, args := range [][]string{{"api:nobody", "1"}, {"api:ann", "-1"}, {"api:ann", "much"}, {"somebody else", "1"}} {
		if r := grant(args...); r.code == 0 || r.stdout != "" || len(lines(r.stderr)) > 2 {
			t.Errorf("%v: %+v", args, r)
		}
	}
	c.page = start(t, s).page
	if b := c.balance(); b.Available != 3_750_000_000 {
		t.Errorf("after the next start: %+v", b)
	}
}

// TestAccess keeps people and places out, and lets them in, beside the running program.
func TestAccess(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	s := spec{dir: seededDir(t), env: []string{"ADMIN_TOKEN=" + adminToken}}
	p := start(t, s)
	c := newClient(p, "ann")
	access := func(args ...string) result {
		return run(t, spec{dir: s.dir, args: append([]string{"access"}, args...), env: s.env})
	}
	for _, step := range []struct {
		do     string
		status int
	}{{"deny", http.StatusForbidden}, {"allow", http.StatusAccepted}} {
		if r := access(step.do, "api:ann"); r.code != 0 || !strings.Contains(r.stdout, "api:ann may") {
			t.Fatalf("%+v", r)
		}
		await(t, step.do, func() bool {
			status, _, err := c.do(t.Context(), "POST", "/api/run/wallpaper", map[string]any{"inputs": map[string]any{"width": 64, "height": 64}}, "")
			return err == nil && status == step.status
		}, p.said)
	}
	for _, whom := range []string{"telegram:1", "chat:telegram:-100", "space:discord:77", "role:discord:8"} {
		if r := access("allow", whom); r.code != 0 {
			t.Errorf("%s: %+v", whom, r)
		}
	}
	for _, args := range [][]string{{"allow", "ann"}, {"deny", "chat:telegram:"}, {"allow", "team:discord:1"}, {"maybe", "api:ann"}, {"remove", "0"}, {"remove", "telegram:2"}, {"remove", "ann"}} {
		if r := access(args...); r.code == 0 || r.stdout != "" || len(lines(r.stderr)) > 2 {
			t.Errorf("%v: %+v", args, r)
		}
	}
	if r := access("deny", "telegram:1", "--note", "spam"); r.code != 0 {
		t.Errorf("%+v", r)
	}
	list := access("list")
	table := lines(list.stdout)
	if list.code != 0 || len(table) != 6 || !strings.HasPrefix(table[0], "RULE") {
		t.Fatalf("%+v", list)
	}
	rule := func(whom string) string {
		i := slices.IndexFunc(table, func(line string) bool { return strings.Contains(line, whom) })
		if i < 0 {
			t.Fatalf("%s is not in the list:\n%s", whom, list.stdout)
		}
		return table[i]
	}
	if line := rule("telegram:1 "); !strings.Contains(line, "may not") || !strings.Contains(line, "everywhere") || !strings.Contains(line, "spam") {
		t.Errorf("the list has %s", line)
	}
	number, _, _ := strings.Cut(rule("role:discord:8"), " ")
	for _, whom := range []string{"api:ann", "telegram:1", "chat:telegram:-100", "space:discord:77", number} {
		if r := access("remove", whom); r.code != 0 || !strings.Contains(r.stdout, "is gone") {
			t.Errorf("%s: %+v", whom, r)
		}
	}
	if r := access("list"); r.code != 0 || !strings.Contains(r.stdout, "no rules") {
		t.Errorf("%+v", r)
	}
}

// gate is an engine in front of an engine that can hold prompts back.
type gate struct {
	*httptest.Server
	mu   sync.Mutex
	held chan struct{} // nil: open
}

func newGate(t testing.TB, engine string) *gate {
	t.Helper()
	target, err := url.Parse(engine)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:  func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ErrorLog: log.New(io.Discard, "", 0), // a program that is killed breaks off
	}
	g := &gate{}
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/prompt" && r.Method == http.MethodPost {
			g.mu.Lock()
			held := g.held
			g.mu.Unlock()
			if held != nil {
				<-held
			}
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(g.Close)
	return g
}

// hold keeps prompts back until release is called.
func (g *gate) hold() (release func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	held := make(chan struct{})
	g.held = held
	return sync.OnceFunc(func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.held = nil
		close(held)
	})
}

// TestReload changes the files in WORKFLOWS_DIR under a running program, whose engine is a process of its
// own.
func TestReload(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	flows := filepath.Join(newDir(t), "flows") // is not there at the start
	g := newGate(t, startEngine(t))
	p := start(t, spec{env: []string{
		"DATABASE_URL=" + postgrestest.DSN(postgrestest.New(t)), "ADMIN_TOKEN=" + adminToken,
		"WORKFLOWS_DIR=" + flows, "COMFYUI_URLS=" + g.URL, "SYNC_SCHEDULE=0 0 1 1 *", // only watching tells of changes
	}})
	c := newClient(p, "ann")
	source, err := os.ReadFile("../../workflows/wallpaper.json")
	if err != nil {
		t.Fatal(err)
	}
	withSize := func(w, h string) string { return strings.NewReplacer("1024", w, "640", h).Replace(string(source)) }
	tool := func() string { return string(c.tools()["tiny"]) }
	notices := func(t *testing.T, done func() bool) {
		t.Helper()
		began := time.Now()
		await(t, "the tool to be as its file is", done, tool)
		checkQuickest(t, "noticing a change", 10*time.Second, time.Since(began))
	}
	appears := func(t *testing.T, part string) {
		t.Helper()
		notices(t, func() bool { return strings.Contains(tool(), part) })
	}

	if err := os.Mkdir(flows, 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(flows, "tiny.json"), withSize("128", "64"))
	t.Run("A45 a file that is dropped in becomes a command", func(t *testing.T) {
		appears(t, `"commandName":"/tiny"`)
		if r := c.succeed("tiny", nil); r.Outputs[0].Width != 128 {
			t.Errorf("%+v", r)
		}
	})
	t.Run("A45 a changed file changes the tool, running jobs keep their old definition", func(t *testing.T) {
		release := g.hold()
		defer release()
		old := c.run("tiny", nil)
		put(t, filepath.Join(flows, "tiny.json"), withSize("96", "80"))
		appears(t, `"default":96`)
		release()
		if r := c.finished(old.RunID); r.Status != "succeeded" || r.Outputs[0].Width != 128 || r.ToolVersion != old.ToolVersion {
			t.Errorf("the run of before: %+v", r)
		}
		if r := c.succeed("tiny", nil); r.Outputs[0].Width != 96 || r.ToolVersion == old.ToolVersion {
			t.Errorf("a run of after: %+v", r)
		}
	})
	t.Run("a broken file keeps its tool and is told of", func(t *testing.T) {
		put(t, filepath.Join(flows, "tiny.json"), `{"nodes": [`)
		status := ""
		notices(t, func() bool {
			var answer json.RawMessage
			c.must(http.StatusOK, http.MethodGet, "/api/status", nil, &answer)
			status = string(answer)
			return strings.Contains(status, "tiny.json")
		})
		if tool() == "" {
			t.Error("the tool is gone")
		}
	})
	t.Run("A45 a removed file removes the tool", func(t *testing.T) {
		if err := os.Remove(filepath.Join(flows, "tiny.json")); err != nil {
			t.Fatal(err)
		}
		notices(t, func() bool { return tool() == "" })
	})
	p.stop(os.Interrupt)
}
