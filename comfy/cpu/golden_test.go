package cpu_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mewkiz/flac"
	_ "golang.org/x/image/webp"

	"github.com/signalbox/signalbox/comfy/cpu"
	"github.com/signalbox/signalbox/comfy/cpu/nodes"
	"github.com/signalbox/signalbox/comfy/cpu/pyval"
)

// unimplemented are the classes of the golden cases that this engine does not have, and why.
var unimplemented = map[string]string{
	"GetVideoComponents": "no video decoder in Go",
	"LoadVideo":          "no video decoder in Go",
	"SaveVideo":          "no video encoder in Go",
	"Video Slice":        "no video decoder in Go",
	"CreateVideo":        "no video encoder in Go",
	"SaveAudioMP3":       "no MP3 encoder in Go",
	"KSampler":           "needs a model",
}

// approximate are implemented classes whose pixels are not judged, and why.
var approximate = map[string]string{
	"LTXVPreprocess": "the losses of H.264 are imitated with those of JPEG",
}

// shared finds a file of the shared collection beside the project; the test is skipped where there is none.
func shared(t testing.TB, parts ...string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = up
	}
	path := filepath.Join(append([]string{dir, "..", "shared"}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the shared collection is missing: %s", err)
		}
		t.Skipf("the shared collection is missing: %s", err)
	}
	return path
}

func readJSON(t testing.TB, path string, v any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := decodeJSON(data, v); err != nil {
		t.Fatalf("%s: %s", path, err)
	}
}

// decodeJSON keeps numbers as texts and lets Python's NaN pass as a text.
func decodeJSON(data []byte, v any) error {
	parsed, err := pyval.Parse(data)
	if err != nil {
		return err
	}
	d := json.NewDecoder(strings.NewReader(pyval.Dumps(plain(parsed))))
	d.UseNumber()
	return d.Decode(v)
}

// plain makes texts of numbers that JSON does not have.
func plain(v any) any {
	switch v := v.(type) {
	case *pyval.Dict:
		for _, k := range v.Keys() {
			v.Set(k, plain(v.At(k)))
		}
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return pyval.Dumps(v)
		}
	}
	return v
}

// server is an engine with its folders.
type server struct {
	*httptest.Server
	input, output, temp string
}

func newServer(t testing.TB, cfg cpu.Config) *server {
	t.Helper()
	dir := t.TempDir()
	s := &server{input: filepath.Join(dir, "input"), output: filepath.Join(dir, "output"), temp: filepath.Join(dir, "temp")}
	cfg.Input, cfg.Output, cfg.Temp = s.input, s.output, s.temp
	e, err := cpu.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s.Server = httptest.NewServer(e)
	t.Cleanup(func() {
		if err := e.Close(t.Context()); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
		s.Server.CloseClientConnections()
		s.Server.Close()
	})
	return s
}

func copyTree(t testing.TB, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// reply is an answer, read to its end.
type reply struct {
	status int
	header http.Header
	body   []byte
}

func (r reply) json(t testing.TB) any {
	t.Helper()
	var v any
	if err := decodeJSON(r.body, &v); err != nil {
		t.Fatalf("answer %d is not JSON: %s: %.300s", r.status, err, r.body)
	}
	return v
}

func (s *server) do(t testing.TB, method, path string, header map[string]string, body []byte) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range header {
		req.Header.Set(k, strings.ReplaceAll(v, "<host>", strings.TrimPrefix(s.URL, "http://")))
	}
	resp, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{resp.StatusCode, resp.Header, data}
}

func (s *server) submit(t testing.TB, prompt any) reply {
	t.Helper()
	body, err := json.Marshal(map[string]any{"prompt": prompt, "client_id": "golden"})
	if err != nil {
		t.Fatal(err)
	}
	return s.do(t, "POST", "/prompt", map[string]string{"Content-Type": "application/json"}, body)
}

// finished waits for the history entry of a prompt.
func (s *server) finished(t testing.TB, id string) map[string]any {
	t.Helper()
	deadline := time.Now().Add(5 * time.Minute)
	for {
		all := s.do(t, "GET", "/history/"+id, nil, nil).json(t).(map[string]any)
		if entry, ok := all[id].(map[string]any); ok {
			return entry
		}
		if time.Now().After(deadline) {
			t.Fatalf("prompt %s does not end", id)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// ---- normalisation and comparison ----

// normalized replaces what differs from run to run, by the rules of the collection's README.
func normalized(v any, key string) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, x := range v {
			switch k {
			case "timestamp", "create_time", "execution_start_time", "execution_end_time":
				out[k] = "<ts>"
			case "traceback":
				out[k] = "<traceback>"
			case "tooltip", "output_tooltips", "description": // texts of our own
			case "is_changed": // a trace of the real server's cache in the prompts it saves
			case "current_inputs":
				out[k] = keysOf(x)
			default:
				out[k] = normalized(x, k)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		inner := key
		if key == "prompt" {
			inner = "" // the members of a queue item are no queue items
		}
		for i := range v {
			out[i] = normalized(v[i], inner)
		}
		switch key {
		case "dependent_outputs", "executed", "current_outputs", "errors":
			sort.Slice(out, func(i, j int) bool { return fmt.Sprint(out[i]) < fmt.Sprint(out[j]) })
		case "prompt":
			if len(out) == 5 {
				out[0] = "<number>"
				if list, ok := out[4].([]any); ok {
					sort.Slice(list, func(i, j int) bool { return fmt.Sprint(list[i]) < fmt.Sprint(list[j]) })
				}
			}
		}
		return out
	case json.Number:
		if f, err := v.Float64(); err == nil && !strings.ContainsAny(v.String(), ".eE") {
			return v
		} else if err == nil {
			if f == math.Trunc(f) && math.Abs(f) < 1e15 {
				return json.Number(strconv.FormatFloat(f, 'f', -1, 64))
			}
			return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
		}
		return v
	case string:
		switch key {
		case "prompt_id":
			return "<uuid>"
		}
		return v
	}
	return v
}

func keysOf(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	keys := []string{}
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// ownWords are the exception types that a node raises on purpose, whose message must be equal.
func ownWords(kind string) bool { return kind == "ValueError" || kind == "Exception" }

// looseErrors makes the texts of Python's own exceptions equal where both sides have one.
func looseErrors(want, got any) {
	w, okW := want.(map[string]any)
	g, okG := got.(map[string]any)
	if !okW || !okG {
		if lw, ok := want.([]any); ok {
			if lg, ok := got.([]any); ok && len(lw) == len(lg) {
				for i := range lw {
					looseErrors(lw[i], lg[i])
				}
			}
		}
		return
	}
	kind, _ := w["exception_type"].(string)
	if kind != "" && !strings.Contains(kind, "Interrupt") && (!ownWords(kind) || strings.Contains(fmt.Sprint(w["exception_message"]), "<path>")) {
		for _, k := range []string{"exception_type", "exception_message"} {
			if text, ok := g[k].(string); ok && strings.TrimSpace(text) != "" {
				g[k] = w[k]
			}
		}
	}
	if t, _ := w["type"].(string); strings.HasPrefix(t, "exception_during") {
		if text, ok := g["details"].(string); ok && text != "" {
			g["details"] = w["details"]
		}
	}
	if text, ok := w["details"].(string); ok && strings.HasPrefix(text, "Exception when validating node") && strings.HasPrefix(fmt.Sprint(g["details"]), "Exception when validating node") {
		g["details"] = text
	}
	for k := range w {
		looseErrors(w[k], g[k])
	}
}

// same reports the first difference of two JSON values.
func same(want, got any) string {
	w, g := normalized(want, ""), normalized(got, "")
	looseErrors(w, g)
	return difference("", w, g)
}

func difference(path string, w, g any) string {
	if s, ok := w.(string); ok && (s == "<uuid>" || s == "<prompt_id>" || s == "<number>" || s == "<ts>" || s == "<sid>" || s == "<traceback>" || s == "<tensor text>") {
		if g == nil {
			return path + ": missing, want " + s
		}
		return ""
	}
	switch w := w.(type) {
	case map[string]any:
		g, ok := g.(map[string]any)
		if !ok {
			return fmt.Sprintf("%s: want an object, got %.200v", path, g)
		}
		for k := range g {
			if _, ok := w[k]; !ok {
				return fmt.Sprintf("%s.%s: not expected: %.200v", path, k, g[k])
			}
		}
		for k := range w {
			if _, ok := g[k]; !ok {
				return fmt.Sprintf("%s.%s: missing, want %.200v", path, k, w[k])
			}
			if d := difference(path+"."+k, w[k], g[k]); d != "" {
				return d
			}
		}
		return ""
	case []any:
		l, ok := g.([]any)
		if !ok || len(l) != len(w) {
			return fmt.Sprintf("%s: want %.300v, got %.300v", path, w, g)
		}
		for i := range w {
			if d := difference(fmt.Sprintf("%s[%d]", path, i), w[i], l[i]); d != "" {
				return d
			}
		}
		return ""
	case string:
		if text, ok := g.(string); ok && wildcard(w).MatchString(text) {
			return ""
		}
	}
	if !reflect.DeepEqual(w, g) {
		return fmt.Sprintf("%s: want %.400q, got %.400q", path, fmt.Sprint(w), fmt.Sprint(g))
	}
	return ""
}

// wildcard lets <n> stand for the number of a file, <path> for a path.
func wildcard(want string) *regexp.Regexp {
	p := regexp.QuoteMeta(want)
	p = strings.ReplaceAll(p, "<n>", `\d+`)
	p = strings.ReplaceAll(p, "<path>", `\S+`)
	p = strings.ReplaceAll(p, "<uuid>", `[0-9a-f-]{36}`)
	p = strings.ReplaceAll(p, "<rand>", `(?:[a-z]{5})`)
	return regexp.MustCompile(`(?s)^` + p + `$`)
}

// ---- node cases ----

// goldenCase is one entry of index.json.
type goldenCase struct {
	ID        string         `json:"id"`
	Kind      string         `json:"kind"`
	Subject   string         `json:"subject"`
	Classes   []string       `json:"classes"`
	Outcome   string         `json:"outcome"`
	Files     []string       `json:"files"`
	Params    map[string]any `json:"params"`
	Note      string         `json:"note"`
	Tolerance struct {
		Name string      `json:"name"`
		Max  json.Number `json:"max_abs"`
	} `json:"tolerance"`
}

// score counts cases by class.
type score struct {
	mu            sync.Mutex
	passed, total map[string]int
}

func (s *score) add(class string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total[class]++
	if ok {
		s.passed[class]++
	}
}

func (s *score) report(t *testing.T) {
	var lines []string
	all, good := 0, 0
	for class, n := range s.total {
		lines = append(lines, fmt.Sprintf("%-32s %d/%d", class, s.passed[class], n))
		all += n
		good += s.passed[class]
	}
	sort.Strings(lines)
	t.Logf("golden node cases: %d of %d\n%s", good, all, strings.Join(lines, "\n"))
}

func TestGoldenNodes(t *testing.T) {
	t.Parallel()
	root := shared(t, "corpus", "golden")
	var cases []goldenCase
	readJSON(t, filepath.Join(root, "index.json"), &cases)
	srv := newServer(t, cpu.Config{})
	copyTree(t, filepath.Join(root, "inputs"), srv.input)
	known := map[string]bool{}
	for _, n := range nodes.All() {
		known[n.Spec.Class] = true
	}
	counts := &score{passed: map[string]int{}, total: map[string]int{}}
	t.Run("cases", func(t *testing.T) {
		for _, c := range cases {
			if c.Kind != "node" {
				continue
			}
			t.Run(c.ID, func(t *testing.T) { // one server, and no case may see another's cached nodes
				for _, class := range c.Classes {
					if reason := unimplemented[class]; reason != "" {
						t.Logf("not implemented: %s: %s", class, reason)
						return
					}
					if !known[class] {
						counts.add(c.Subject, false)
						t.Fatalf("class %s is neither implemented nor listed as unimplemented", class)
					}
				}
				srv.nodeCase(t, root, c)
				counts.add(c.Subject, !t.Failed())
			})
		}
	})
	counts.report(t)
}

func (s *server) nodeCase(t *testing.T, root string, c goldenCase) {
	dir := filepath.Join(root, "nodes", c.ID)
	var prompt json.RawMessage // as it stands, since the order of members settles the order of nodes
	readJSON(t, filepath.Join(dir, "prompt.json"), &prompt)
	s.do(t, "POST", "/free", nil, []byte(`{"free_memory": true}`))
	answer := s.submit(t, prompt)
	if wanted := filepath.Join(dir, "response.json"); slices.Contains(c.Files, "response.json") {
		var want map[string]any
		readJSON(t, wanted, &want)
		body := want
		if b, ok := want["body"].(map[string]any); ok {
			body = b
		}
		if d := same(body, answer.json(t)); d != "" {
			t.Errorf("answer to POST /prompt: %s", d)
		}
	}
	if c.Outcome == "rejected" {
		if answer.status != http.StatusBadRequest {
			t.Errorf("status %d, want 400: %.400s", answer.status, answer.body)
		}
		return
	}
	if answer.status != http.StatusOK {
		t.Fatalf("status %d: %.600s", answer.status, answer.body)
	}
	got := s.finished(t, answer.json(t).(map[string]any)["prompt_id"].(string))
	var want map[string]any
	readJSON(t, filepath.Join(dir, "history.json"), &want)
	if e, ok := want[fmt.Sprint(want["prompt_id"])].(map[string]any); ok {
		want = e
	}
	if c.Outcome == "execution_error" {
		compareFailure(t, want, got)
		return
	}
	status := got["status"].(map[string]any)
	if status["status_str"] != "success" {
		t.Fatalf("the run failed: %.800v", status["messages"])
	}
	for _, member := range []string{"prompt", "status", "meta"} {
		if d := same(map[string]any{member: want[member]}, map[string]any{member: got[member]}); d != "" {
			t.Errorf("history entry: %s", d)
		}
	}
	s.compareOutputs(t, dir, c, want["outputs"], got["outputs"])
}

// message finds the data of one event of a history entry.
func message(entry map[string]any, event string) map[string]any {
	status, _ := entry["status"].(map[string]any)
	list, _ := status["messages"].([]any)
	for _, m := range list {
		if pair := m.([]any); pair[0] == event {
			return pair[1].(map[string]any)
		}
	}
	return nil
}

func compareFailure(t *testing.T, want, got map[string]any) {
	w, g := message(want, "execution_error"), message(got, "execution_error")
	if g == nil {
		t.Fatalf("the run must fail with %v: %v", w["exception_message"], got["status"])
	}
	if d := same(w, g); d != "" {
		t.Errorf("execution_error: %s", d)
	}
}

// compareOutputs judges the outputs of all nodes and the files they name.
func (s *server) compareOutputs(t *testing.T, dir string, c goldenCase, want, got any) {
	w, _ := want.(map[string]any)
	g, _ := got.(map[string]any)
	if len(w) != len(g) {
		t.Errorf("outputs of nodes %v, want %v", keysOf(g), keysOf(w))
	}
	for id, ui := range w {
		for key, items := range ui.(map[string]any) {
			theirs, _ := items.([]any)
			node, _ := g[id].(map[string]any)
			ours, _ := node[key].([]any)
			if len(ours) != len(theirs) {
				t.Errorf("node %s %s: %d items, want %d", id, key, len(ours), len(theirs))
				continue
			}
			for i := range theirs {
				s.compareItem(t, dir, c, fmt.Sprintf("%s_%s_%d", id, key, i), theirs[i], ours[i])
			}
		}
	}
}

func (s *server) compareItem(t *testing.T, dir string, c goldenCase, name string, want, got any) {
	t.Helper()
	if c.Tolerance.Name == "none" {
		return
	}
	file, isFile := want.(map[string]any)
	if !isFile || file["filename"] == nil {
		compareText(t, c.Tolerance.Name, name, want, got)
		return
	}
	// Independent output nodes may run in any order, which shows in the numbers of files with one prefix.
	if d := same(anyNumber(want), got); d != "" {
		t.Errorf("%s: %s", name, d)
		return
	}
	ref := got.(map[string]any)
	path := fmt.Sprintf("/view?filename=%s&subfolder=%s&type=%s", queryEscape(ref["filename"]), queryEscape(ref["subfolder"]), queryEscape(ref["type"]))
	answer := s.do(t, "GET", path, nil, nil)
	if answer.status != http.StatusOK {
		t.Errorf("%s: GET %s: %d", name, path, answer.status)
		return
	}
	matches, _ := filepath.Glob(filepath.Join(dir, name+".*"))
	if len(matches) != 1 {
		t.Errorf("%s: no golden file", name)
		return
	}
	golden, err := os.ReadFile(matches[0])
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Ext(matches[0]) == ".flac" {
		compareSound(t, name, golden, answer.body)
		return
	}
	comparePicture(t, c, name, golden, answer.body)
}

var fileNumber = regexp.MustCompile(`_\d{5}`)

func anyNumber(v any) any {
	file := v.(map[string]any)
	out := map[string]any{}
	maps.Copy(out, file)
	out["filename"] = fileNumber.ReplaceAllString(fmt.Sprint(file["filename"]), "_<n>")
	return out
}

func queryEscape(v any) string {
	return strings.NewReplacer(" ", "%20", "&", "%26", "+", "%2B", "#", "%23").Replace(fmt.Sprint(v))
}

func compareText(t *testing.T, tolerance, name string, want, got any) {
	t.Helper()
	a, b := fmt.Sprint(want), fmt.Sprint(got)
	if a == b {
		return
	}
	if tolerance == "numtext" {
		x, errX := strconv.ParseFloat(a, 64)
		y, errY := strconv.ParseFloat(b, 64)
		if errX == nil && errY == nil && math.Abs(x-y) <= 1e-6*math.Max(1, math.Abs(x)) {
			return
		}
	}
	t.Errorf("%s: want %.300q, got %.300q", name, a, b)
}

func compareSound(t *testing.T, name string, want, got []byte) {
	t.Helper()
	w, rateW := sound(t, want)
	g, rateG := sound(t, got)
	if rateW != rateG || len(w) != len(g) || len(w[0]) != len(g[0]) {
		t.Errorf("%s: %d Hz, %d channels, %d samples, want %d, %d, %d", name, rateG, len(g), len(g[0]), rateW, len(w), len(w[0]))
		return
	}
	worst := 0.0
	for i := range w {
		for j := range w[i] {
			worst = max(worst, math.Abs(w[i][j]-g[i][j]))
		}
	}
	if worst > 2.0/32768 {
		t.Errorf("%s: samples differ by %.1f of 32768", name, worst*32768)
	}
}

func sound(t *testing.T, data []byte) (wave [][]float64, rate uint32) {
	t.Helper()
	stream, err := flac.New(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	wave = make([][]float64, stream.Info.NChannels)
	for {
		f, err := stream.ParseNext()
		if err == io.EOF {
			return wave, stream.Info.SampleRate
		}
		if err != nil {
			t.Fatal(err)
		}
		for i, sub := range f.Subframes {
			for _, v := range sub.Samples {
				wave[i] = append(wave[i], float64(v)/float64(int64(1)<<(stream.Info.BitsPerSample-1)))
			}
		}
	}
}

// pictureRule is what a tolerance allows, in units of 1/255.
type pictureRule struct{ max, mean float64 }

var pictureRules = map[string]pictureRule{
	"exact": {0, 0}, "float": {1, 1}, "smooth": {1, 1}, "cubic": {2, 0.6}, "lanczos": {2, 0.6}, "decode2": {2, 2},
	"jpeg444": {4, 1}, "jpeg420": {6, 1.5}, "jpegodd": {255, 18}, "lossy": {48, 6}, "deep": {64.0 / 257, 1}, "rng": {1, 1}, "palette": {0, 0},
}

func comparePicture(t *testing.T, c goldenCase, name string, want, got []byte) {
	t.Helper()
	if isAnimation(want) {
		if w, g := want[:4], got[:min(4, len(got))]; !bytes.Equal(w, g) {
			t.Errorf("%s: another kind of file: %q, want %q", name, g, w)
		}
		return
	}
	w, _, err := image.Decode(bytes.NewReader(want))
	if err != nil {
		t.Fatalf("%s: golden: %s", name, err)
	}
	g, _, err := image.Decode(bytes.NewReader(got))
	if err != nil {
		t.Errorf("%s: %s", name, err)
		return
	}
	if w.Bounds().Size() != g.Bounds().Size() {
		t.Errorf("%s: size %v, want %v", name, g.Bounds().Size(), w.Bounds().Size())
		return
	}
	compareChunks(t, name, want, got)
	rule, ok := pictureRules[c.Tolerance.Name]
	if !ok || approximate[c.Subject] != "" {
		return // judged by being a picture of the right size
	}
	worst, mean := pixelDistance(w, g)
	if strings.Contains(c.Note, "at most 2 percent of pixels") && mean <= 255*0.02 {
		return
	}
	if worst > rule.max+1e-9 || (rule.mean > 0 && mean > rule.mean) {
		if c.Tolerance.Name == "palette" && paletteAllowed(t, c, w, g) {
			return
		}
		t.Errorf("%s: pixels differ by %.2f (mean %.3f), %s allows %.2f (mean %.2f)", name, worst, mean, c.Tolerance.Name, rule.max, rule.mean)
	}
}

// compareChunks compares the JSON texts that PNG files carry.
func compareChunks(t *testing.T, name string, want, got []byte) {
	t.Helper()
	w, g := textChunks(want), textChunks(got)
	for key, text := range w {
		var a, b any
		if err := decodeJSON([]byte(text), &a); err != nil {
			t.Fatalf("%s: golden chunk %s: %s", name, key, err)
		}
		if err := decodeJSON([]byte(g[key]), &b); err != nil {
			t.Errorf("%s: chunk %s: %s: %.100q", name, key, err, g[key])
			continue
		}
		if d := same(a, b); d != "" {
			t.Errorf("%s: chunk %s%s", name, key, d)
		}
	}
}

// textChunks reads the tEXt chunks of a PNG file; of any other file it finds none.
func textChunks(data []byte) map[string]string {
	texts := map[string]string{}
	if !bytes.HasPrefix(data, []byte("\x89PNG")) {
		return texts
	}
	for rest := data[8:]; len(rest) >= 12; {
		n := int(binary.BigEndian.Uint32(rest))
		if len(rest) < n+12 {
			break
		}
		if string(rest[4:8]) == "tEXt" {
			key, text, _ := strings.Cut(string(rest[8:8+n]), "\x00")
			texts[key] = text
		}
		rest = rest[n+12:]
	}
	return texts
}

// paletteAllowed accepts another palette than Pillow's: no more colours than asked for, and a mean error to the source of
// at most 1.15 times the golden's.
func paletteAllowed(t *testing.T, c goldenCase, want, got image.Image) bool {
	t.Helper()
	limit, err := strconv.Atoi(fmt.Sprint(c.Params["colors"]))
	name, ok := c.Params["input"].(string)
	if err != nil || !ok {
		return false
	}
	f, err := os.Open(filepath.Join(shared(t, "corpus", "golden", "inputs"), name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	source, _, err := image.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	colours := map[color.Color]bool{}
	b := got.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			colours[got.At(x, y)] = true
		}
	}
	_, errorWant := pixelDistance(source, want)
	_, errorGot := pixelDistance(source, got)
	return len(colours) <= limit && errorGot <= 1.15*errorWant
}

// isAnimation tells pictures of several frames, which this test's decoders do not read.
func isAnimation(data []byte) bool {
	return bytes.Contains(data[:min(len(data), 200)], []byte("acTL")) || bytes.Contains(data[:min(len(data), 60)], []byte("ANIM"))
}

// pixel gives a colour as it stands in the file; the standard conversion would multiply by alpha and divide again.
func pixel(c color.Color) color.NRGBA64 {
	if n, ok := c.(color.NRGBA); ok {
		return color.NRGBA64{R: uint16(n.R) * 257, G: uint16(n.G) * 257, B: uint16(n.B) * 257, A: uint16(n.A) * 257}
	}
	return color.NRGBA64Model.Convert(c).(color.NRGBA64)
}

func pixelDistance(a, b image.Image) (worst, mean float64) {
	size := a.Bounds().Size()
	sum := 0.0
	for y := range size.Y {
		for x := range size.X {
			p := pixel(a.At(a.Bounds().Min.X+x, a.Bounds().Min.Y+y))
			q := pixel(b.At(b.Bounds().Min.X+x, b.Bounds().Min.Y+y))
			for _, d := range []float64{float64(p.R) - float64(q.R), float64(p.G) - float64(q.G), float64(p.B) - float64(q.B), float64(p.A) - float64(q.A)} {
				d = math.Abs(d) / 257
				worst = max(worst, d)
				sum += d
			}
		}
	}
	return worst, sum / float64(4*size.X*size.Y)
}
