package comfy

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/signalbox/signalbox/comfy/api"
	"github.com/signalbox/signalbox/comfy/binding"
	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/comfy/loader"
	"github.com/signalbox/signalbox/registry"
)

// shared is the folder of recordings beside the project. Without it the test is skipped, on a build server it fails.
func shared(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
	dir = filepath.Join(dir, "..", "shared")
	if _, err := os.Stat(dir); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	return dir
}

// line is one line of a transcript.
type line struct {
	Who  string          `json:"who"`
	Dir  string          `json:"dir"`
	Type string          `json:"type"`
	Body json.RawMessage `json:"body"`
}

// promptName gives the id that stands for <P1>, <P2> ... also in binary frames.
func promptName(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

func readTranscript(t *testing.T, path string) []line {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 9; i > 0; i-- {
		data = bytes.ReplaceAll(data, fmt.Appendf(nil, "<P%d>", i), []byte(promptName(i)))
	}
	data = bytes.ReplaceAll(data, []byte("<prompt_id>"), []byte(promptName(1)))
	var lines []line
	scan := bufio.NewScanner(bytes.NewReader(data))
	scan.Buffer(nil, 16<<20)
	for n := 0; scan.Scan(); n++ {
		text := bytes.ReplaceAll(scan.Bytes(), []byte(`"<ts>"`), fmt.Appendf(nil, "%d", 1_700_000_000_000+n))
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			t.Fatalf("line %d: %v", n+1, err)
		}
		lines = append(lines, l)
	}
	return lines
}

// replay is a server that says over a socket what one connection of a transcript heard, and answers about one prompt.
type replay struct {
	t       *testing.T
	dir     string
	frames  []line
	id      string
	history json.RawMessage // as recorded, or nil
	final   string          // the event that told how the prompt ended, or ""
	over    atomic.Bool
	played  chan struct{}
	end     chan struct{}
}

func (p *replay) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/ws":
		p.play(w, r)
	case "/queue":
		running := []any{[]any{0, p.id, map[string]any{}, map[string]any{}, []any{}}}
		if p.over.Load() {
			running = []any{}
		}
		p.answer(w, map[string]any{"queue_running": running, "queue_pending": []any{}})
	case "/history/" + p.id:
		entry := p.history
		if entry == nil { // the transcript did not ask; the messages are those of the socket
			status := "error"
			if p.final == "execution_success" {
				status = "success"
			}
			entry = fmt.Appendf(nil, `{"outputs": {}, "status": {"status_str": %q, "completed": true, "messages": [[%q, {"node_id": "1"}]]}}`, status, p.final)
		}
		p.answer(w, map[string]any{p.id: entry})
	default:
		p.t.Errorf("unexpected call %s", r.URL.Path)
	}
}

func (p *replay) answer(w http.ResponseWriter, v any) {
	if err := json.NewEncoder(w).Encode(v); err != nil {
		p.t.Error(err)
	}
}

func (p *replay) play(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		p.t.Error(err)
		return
	}
	defer conn.CloseNow()
	for _, f := range p.frames {
		kind, data := websocket.MessageText, []byte(f.Body)
		if f.Type == "binary" {
			var b struct{ File string }
			if err := json.Unmarshal(f.Body, &b); err != nil {
				p.t.Error(err)
			}
			if data, err = os.ReadFile(filepath.Join(p.dir, b.File)); err != nil {
				p.t.Error(err)
			}
			kind = websocket.MessageBinary
		}
		if e, ok := api.DecodeText(data); ok && e.Type == "executing" && e.Node == "" && e.PromptID == p.id {
			p.over.Store(true)
		}
		if conn.Write(r.Context(), kind, data) != nil {
			break // the client has heard enough
		}
	}
	close(p.played)
	<-p.end
}

// TestGoldenTranscripts plays what a real server said to our client.
func TestGoldenTranscripts(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(shared(t), "corpus", "golden", "protocol")
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(files) < 20 {
		t.Fatalf("%d transcripts, %v", len(files), err)
	}
	var played atomic.Int32
	t.Cleanup(func() {
		if n := played.Load(); n < 30 && !t.Failed() {
			t.Errorf("only %d runs were played", n)
		}
	})
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".jsonl"), func(t *testing.T) {
			t.Parallel()
			lines := readTranscript(t, file)
			for n, prompt := range promptsOf(t, lines) {
				for _, who := range []string{"A", "B"} {
					if replayTo(t, dir, lines, who, promptName(n+1), prompt) {
						played.Add(1)
					}
				}
			}
		})
	}
}

// promptsOf lists the prompts that were accepted under an id, in order; one that was submitted twice is there once.
func promptsOf(t *testing.T, lines []line) []graph.Prompt {
	t.Helper()
	var prompts []graph.Prompt
	var last graph.Prompt
	for _, l := range lines {
		var b struct {
			Method, Path string
			Status       int
			Body         json.RawMessage
		}
		if l.Who != "http" || json.Unmarshal(l.Body, &b) != nil {
			continue
		}
		var request struct{ Prompt graph.Prompt }
		if b.Method == http.MethodPost && b.Path == "/prompt" && json.Unmarshal(b.Body, &request) == nil {
			last = request.Prompt
		}
		var answer struct {
			PromptID string `json:"prompt_id"`
		}
		if b.Status == http.StatusOK && json.Unmarshal(b.Body, &answer) == nil && answer.PromptID == promptName(len(prompts)+1) {
			prompts = append(prompts, last)
		}
	}
	return prompts
}

// replayTo plays what one connection heard to a watcher of one prompt; false when it did not hear of the prompt's end.
func replayTo(t *testing.T, dir string, lines []line, who, id string, prompt graph.Prompt) bool {
	t.Helper()
	p := &replay{t: t, dir: dir, id: id, played: make(chan struct{}), end: make(chan struct{})}
	for _, l := range lines {
		if l.Who == who && l.Dir == "recv" {
			p.frames = append(p.frames, l)
			if e, ok := api.DecodeText(l.Body); ok && e.PromptID == id && strings.HasPrefix(e.Type, "execution_") && e.Type != "execution_start" && e.Type != "execution_cached" {
				p.final = e.Type
			}
		}
		var b struct{ Body map[string]json.RawMessage }
		if l.Who == "http" && l.Type == "response" && json.Unmarshal(l.Body, &b) == nil && b.Body[id] != nil {
			p.history = b.Body[id]
		}
	}
	if p.final == "" {
		return false
	}
	server := httptest.NewServer(p)
	defer server.Close()
	defer close(p.end)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	fleet := NewFleet([]*url.URL{u}, FleetConfig{})
	provider := NewProvider(ProviderConfig{Fleet: fleet, Workflows: loader.New(loader.Config{Engines: fleet}), ReconcileEvery: time.Hour})
	tpl := &loader.Template{Binding: &binding.Binding{}}
	for _, n := range prompt {
		if n.Class != "SaveImageWebsocket" && strings.HasPrefix(n.Class, "Save") || strings.HasPrefix(n.Class, "Preview") {
			tpl.Binding.Outputs = append(tpl.Binding.Outputs, binding.Output{Name: n.ID, Node: n.ID, Type: "image"})
		}
	}
	ticket, err := newPlan(tpl, prompt).ticket(registry.Call{Handle: id}, fleet.engines[0], id)
	if err != nil {
		t.Fatal(err)
	}
	var last registry.Progress
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	err = provider.Watch(ctx, ticket, func(r registry.Progress) {
		if r.HasFraction && (r.Fraction < last.Fraction || r.Fraction > 1) {
			t.Errorf("%s: progress goes from %v to %v", who, last.Fraction, r.Fraction)
		}
		last = r
	})
	want := map[string]registry.RunState{
		"execution_success": registry.RunSucceeded, "execution_error": registry.RunFailed, "execution_interrupted": registry.RunCanceled,
	}[p.final]
	if strings.HasPrefix(filepath.Base(t.Name()), "partial-run") {
		want = registry.RunFailed // half a result is none
	}
	if err != nil || last.State != want {
		t.Errorf("%s: prompt %s ended as %s (%v), %v; the server said %s", who, id, last.State, last.Err, err, p.final)
	}
	if want == registry.RunSucceeded && p.history != nil && len(tpl.Binding.Outputs) > 0 && len(last.Result.Outputs) == 0 {
		t.Errorf("%s: prompt %s has no outputs: %s", who, id, p.history)
	}
	return true
}

// TestGoldenHistories reads what a real server remembered of its runs.
func TestGoldenHistories(t *testing.T) {
	t.Parallel()
	root := filepath.Join(shared(t), "corpus", "golden")
	data, err := os.ReadFile(filepath.Join(root, "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		ID, Kind, Outcome string
		Files             []string
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, c := range cases {
		data, err := os.ReadFile(filepath.Join(root, "nodes", c.ID, "history.json"))
		if c.Kind != "node" || err != nil {
			continue // refused, or recorded elsewhere
		}
		read++
		var h api.HistoryEntry
		if err := json.Unmarshal(bytes.ReplaceAll(data, []byte(`"<ts>"`), []byte("1")), &h); err != nil {
			t.Errorf("%s: %v", c.ID, err)
			continue
		}
		o := h.Outcome()
		if o.Success != (c.Outcome == "success") || o.Interrupted || !o.Success && (o.NodeID == "" || o.Exception == "") {
			t.Errorf("%s: %+v, the recording says %s", c.ID, o, c.Outcome)
		}
		files, texts := 0, 0
		for id := range h.Outputs {
			for _, r := range h.Results(id) {
				if r.Kind == "text" {
					texts++
				} else if files++; r.File.Check() != nil && !strings.Contains(r.File.Filename, "<") {
					t.Errorf("%s: %v", c.ID, r.File.Check())
				}
			}
		}
		stored := 0
		for _, name := range c.Files {
			if ext := filepath.Ext(name); ext != ".json" && ext != ".txt" {
				stored++
			}
		}
		if files != stored || o.Success && files+texts == 0 && !strings.Contains(c.ID, "Websocket") && !strings.Contains(c.ID, "ToFolder") {
			t.Errorf("%s: %d files and %d texts, the recording has %d files", c.ID, files, texts, stored)
		}
	}
	if read < 400 {
		t.Errorf("only %d histories", read)
	}
}
