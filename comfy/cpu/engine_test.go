package cpu_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image/color"
	"image/png"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"github.com/signalbox/signalbox/comfy/cpu"
	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/comfy/cpu/nodes"
)

// The clock of the regular expressions is shared by the whole program and ends by itself when no search is running.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/dlclark/regexp2.runClock"))
}

// run submits a prompt given as JSON and waits for its end.
func (s *server) run(t *testing.T, prompt string) map[string]any {
	t.Helper()
	answer := s.do(t, "POST", "/prompt", nil, []byte(`{"client_id": "c", "prompt": `+prompt+`}`))
	if answer.status != http.StatusOK {
		t.Fatalf("status %d: %s", answer.status, answer.body)
	}
	return s.finished(t, answer.json(t).(map[string]any)["prompt_id"].(string))
}

// failure gives type and message of the error that ended a run.
func failure(t *testing.T, entry map[string]any) (kind, text string) {
	t.Helper()
	m := message(entry, "execution_error")
	if m == nil {
		t.Fatalf("the run did not fail: %v", entry["status"])
	}
	return m["exception_type"].(string), m["exception_message"].(string)
}

func TestZeroConfigNeedsNoFolders(t *testing.T) {
	t.Parallel()
	e, err := cpu.New(cpu.Config{})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	e.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/api/prompt", nil))
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "queue_remaining") {
		t.Errorf("GET /api/prompt: %d %s", w.Code, w.Body)
	}
	for range 2 { // closing twice is allowed
		if err := e.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestNewRefusesAClassDeclaredTwice(t *testing.T) {
	t.Parallel()
	twice := append(nodes.All(), nodes.All()[0])
	if _, err := cpu.New(cpu.Config{Nodes: twice}); err == nil || !strings.Contains(err.Error(), nodes.All()[0].Spec.Class) {
		t.Errorf("error %v, want one that names the class", err)
	}
}

// stuck is a node that runs until its context ends.
func stuck(started chan<- struct{}) node.Node {
	return node.Node{
		Spec: node.Spec{Class: "Stuck", OutputNode: true, Required: []node.Input{node.Int("n")}},
		Run: func(ctx context.Context, _ *node.Call) (*node.Result, error) {
			started <- struct{}{}
			<-ctx.Done()
			return nil, ctx.Err()
		},
	}
}

func TestCloseDoesNotWaitForANodeBeyondItsTime(t *testing.T) {
	t.Parallel()
	started, release := make(chan struct{}, 1), make(chan struct{})
	deaf := stuck(started)
	deaf.Run = func(context.Context, *node.Call) (*node.Result, error) {
		started <- struct{}{}
		<-release
		return node.Out(), nil
	}
	e, err := cpu.New(cpu.Config{Nodes: []node.Node{deaf}})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(e)
	defer srv.Close()
	resp, err := srv.Client().Post(srv.URL+"/prompt", "application/json", strings.NewReader(`{"prompt": {"1": {"class_type": "Stuck", "inputs": {"n": 1}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	<-started
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.Close(over); !errors.Is(err, cpu.ErrBusy) {
		t.Errorf("Close: %v, want ErrBusy", err)
	}
	close(release)
}

func TestCloseEndsARunningPromptAndItsSockets(t *testing.T) {
	t.Parallel()
	started := make(chan struct{}, 1)
	e, err := cpu.New(cpu.Config{Nodes: []node.Node{stuck(started)}})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(e)
	defer srv.Close()
	conn, _, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(srv.URL, "http")+"/ws", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := srv.Client().Post(srv.URL+"/prompt", "application/json", strings.NewReader(`{"prompt": {"1": {"class_type": "Stuck", "inputs": {"n": 1}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	<-started
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := e.Close(ctx); err != nil {
		t.Fatal(err)
	}
	for {
		if _, _, err := conn.Read(ctx); err != nil {
			if ctx.Err() != nil {
				t.Error("the socket stays open")
			}
			return
		}
	}
}

func TestANodeThatPanicsEndsOnlyItsRun(t *testing.T) {
	t.Parallel()
	broken := node.Node{
		Spec: node.Spec{Class: "Broken", OutputNode: true},
		Run:  func(context.Context, *node.Call) (*node.Result, error) { panic("out of luck") },
	}
	srv := newServer(t, cpu.Config{Nodes: append(nodes.All(), broken)})
	kind, text := failure(t, srv.run(t, `{"1": {"class_type": "Broken", "inputs": {}}}`))
	if kind != "RuntimeError" || !strings.Contains(text, "out of luck") {
		t.Errorf("%s: %s", kind, text)
	}
	srv.run(t, `{"1": {"class_type": "PreviewAny", "inputs": {"source": "still here"}}}`)
}

func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	srv := newServer(t, cpu.Config{MaxPixels: 1 << 20, MaxMemory: 8 << 20})
	doubled := `{"0": {"class_type": "PrimitiveString", "inputs": {"value": "0123456789abcdef"}}`
	for i := 1; i <= 40; i++ {
		doubled += fmt.Sprintf(`, "%d": {"class_type": "StringConcatenate", "inputs": {"string_a": ["%d", 0], "string_b": ["%d", 0], "delimiter": ""}}`, i, i-1, i-1)
	}
	lists := `{"0": {"class_type": "PrimitiveInt", "inputs": {"value": 1}}`
	for i := 1; i <= 12; i++ {
		lists += fmt.Sprintf(`, "%d": {"class_type": "CreateList", "inputs": {`, i)
		for j := range 10 {
			lists += fmt.Sprintf(`"inputs.input%d": ["%d", 0],`, j, i-1)
		}
		lists = strings.TrimSuffix(lists, ",") + "}}"
	}
	for name, prompt := range map[string]string{
		"one large picture":   `{"1": {"class_type": "EmptyImage", "inputs": {"width": 16384, "height": 16384, "batch_size": 4096, "color": 0}}, "2": {"class_type": "PreviewImage", "inputs": {"images": ["1", 0]}}}`,
		"a long sound":        `{"1": {"class_type": "EmptyAudio", "inputs": {"duration": 1e12, "sample_rate": 192000, "channels": 2}}, "2": {"class_type": "PreviewAudio", "inputs": {"audio": ["1", 0]}}}`,
		"a text that doubles": doubled + `, "99": {"class_type": "StringLength", "inputs": {"string": ["40", 0]}}, "100": {"class_type": "PreviewAny", "inputs": {"source": ["99", 0]}}}`,
		"lists of lists":      lists + `, "100": {"class_type": "PreviewAny", "inputs": {"source": ["12", 0]}}}`,
		"many pictures": `{"1": {"class_type": "EmptyImage", "inputs": {"width": 512, "height": 512, "batch_size": 1, "color": 1}}, "2": {"class_type": "ImageInvert", "inputs": {"image": ["1", 0]}},
			"3": {"class_type": "ImageInvert", "inputs": {"image": ["2", 0]}}, "4": {"class_type": "PreviewImage", "inputs": {"images": ["3", 0]}}}`,
		"a power":                   `{"1": {"class_type": "PrimitiveInt", "inputs": {"value": 9}}, "2": {"class_type": "ComfyMathExpression", "inputs": {"expression": "a**9**9**9", "values.a": ["1", 0]}}, "3": {"class_type": "PreviewAny", "inputs": {"source": ["2", 0]}}}`,
		"a pattern that backtracks": `{"1": {"class_type": "RegexReplace", "inputs": {"string": "` + strings.Repeat("a", 60) + `!", "regex_pattern": "(a+)+$", "replace": ""}}, "2": {"class_type": "PreviewAny", "inputs": {"source": ["1", 0]}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			kind, text := failure(t, srv.run(t, prompt))
			t.Logf("%s: %s", kind, text)
		})
	}
}

// TestAFileNodeWithoutItsFile: a real server calls the node's own check whatever became of the input, and breaks off when the name is
// missing or not known yet.
func TestAFileNodeWithoutItsFile(t *testing.T) {
	t.Parallel()
	srv := newServer(t, cpu.Config{})
	for inputs, raised := range map[string]string{`{}`: "TypeError", `{"image": ["3", 0]}`: "AttributeError", `{"image": ["a.png"]}`: "AttributeError"} {
		answer := srv.do(t, "POST", "/prompt", nil, []byte(`{"prompt": {"1": {"class_type": "LoadImage", "inputs": `+inputs+`},
			"2": {"class_type": "PreviewImage", "inputs": {"images": ["1", 0]}}, "3": {"class_type": "PrimitiveString", "inputs": {"value": "a.png"}}}}`))
		for _, part := range []string{`"type": "exception_during_inner_validation"`, `"exception_type": "` + raised + `"`} {
			if answer.status != http.StatusBadRequest || !bytes.Contains(answer.body, []byte(part)) {
				t.Errorf("LoadImage with %s: %d %s, want %s", inputs, answer.status, answer.body, part)
			}
		}
	}
}

// TestANodeInACircleKeepsItsOtherErrors: both are told, the circle first.
func TestANodeInACircleKeepsItsOtherErrors(t *testing.T) {
	t.Parallel()
	srv := newServer(t, cpu.Config{})
	answer := srv.do(t, "POST", "/prompt", nil, []byte(`{"prompt": {"1": {"class_type": "ImageScaleBy", "inputs": {"image": ["3", 0], "upscale_method": "area"}},
		"2": {"class_type": "PreviewImage", "inputs": {"images": ["1", 0]}}, "3": {"class_type": "ImageInvert", "inputs": {"image": ["1", 0]}}}}`))
	var body struct {
		Nodes map[string]struct {
			Errors []struct{ Type string }
		} `json:"node_errors"`
	}
	if err := json.Unmarshal(answer.body, &body); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{"1": "[{dependency_cycle} {required_input_missing}]", "3": "[{dependency_cycle}]"} {
		if got := fmt.Sprint(body.Nodes[id].Errors); got != want {
			t.Errorf("node %s has %s, want %s", id, got, want)
		}
	}
}

// TestAGroupHasMembersWithoutAValue: all([true, None]) is false, and a null is None in a text. A null picture is an error of the node.
func TestAGroupHasMembersWithoutAValue(t *testing.T) {
	t.Parallel()
	srv := newServer(t, cpu.Config{})
	entry := srv.run(t, `{"1": {"class_type": "ComfyAndNode", "inputs": {"values.value0": true, "values.value1": null}}, "2": {"class_type": "PreviewAny", "inputs": {"source": ["1", 0]}},
		"3": {"class_type": "StringFormat", "inputs": {"f_string": "<{a}>", "values.a": null}}, "4": {"class_type": "PreviewAny", "inputs": {"source": ["3", 0]}}}`)
	if got := fmt.Sprint(entry["outputs"]); got != "map[2:map[text:[False]] 4:map[text:[<None>]]]" {
		t.Errorf("outputs %s", got)
	}
	entry = srv.run(t, `{"1": {"class_type": "EmptyImage", "inputs": {"width": 8, "height": 8, "batch_size": 1, "color": 0}},
		"2": {"class_type": "BatchImagesNode", "inputs": {"images.image0": ["1", 0], "images.image1": null}}, "3": {"class_type": "PreviewImage", "inputs": {"images": ["2", 0]}}}`)
	if got := message(entry, "execution_error"); got["node_id"] != "2" {
		t.Errorf("a null picture: %v", entry["status"])
	}
}

// TestViewOfLossyWebP: what Pillow makes of some pixels of the picture. Its brightness does not run through all of 0 to 255.
func TestViewOfLossyWebP(t *testing.T) {
	t.Parallel()
	srv := newServer(t, cpu.Config{})
	copyFile(t, filepath.Join(shared(t, "corpus", "golden", "inputs"), "scene48x40_q.webp"), filepath.Join(srv.input, "q.webp"))
	img, err := png.Decode(bytes.NewReader(srv.do(t, "GET", "/view?filename=q.webp&type=input&channel=rgb", nil, nil).body))
	if err != nil {
		t.Fatal(err)
	}
	for x, want := range map[int][3]int{0: {0, 136, 197}, 3: {50, 117, 167}, 7: {224, 36, 58}} {
		c := color.NRGBAModel.Convert(img.At(x, 20)).(color.NRGBA)
		for k, got := range []int{int(c.R), int(c.G), int(c.B)} {
			if got < want[k]-3 || got > want[k]+3 {
				t.Errorf("pixel %d is %v, want about %v", x, c, want)
			}
		}
	}
}

func TestFilesStayInTheirFolders(t *testing.T) {
	t.Parallel()
	srv := newServer(t, cpu.Config{})
	secret := filepath.Join(filepath.Dir(srv.input), "secret.png")
	copyFile(t, filepath.Join(shared(t, "corpus", "golden", "inputs"), "px1.png"), secret)
	if err := os.Symlink(secret, filepath.Join(srv.input, "link.png")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", ".", "..", "/", secret, "../secret.png", "a/../../secret.png", "link.png", `..\\secret.png`, "../secret.png [output]", "\u0000"} {
		prompt := fmt.Sprintf(`{"prompt": {"1": {"class_type": "LoadImage", "inputs": {"image": "%s"}}, "2": {"class_type": "PreviewImage", "inputs": {"images": ["1", 0]}}}}`, strings.ReplaceAll(name, "\x00", `\u0000`))
		answer := srv.do(t, "POST", "/prompt", nil, []byte(prompt))
		if answer.status != http.StatusBadRequest || !bytes.Contains(answer.body, []byte("Invalid image file")) {
			t.Errorf("LoadImage of %q: %d %.200s", name, answer.status, answer.body)
		}
	}
	for _, path := range []string{"/view?filename=link.png&type=input", "/view?filename=secret.png&type=input&subfolder=..", "/view?filename=..%2Fsecret.png&type=input"} {
		if answer := srv.do(t, "GET", path, nil, nil); answer.status < 400 || answer.status >= 500 {
			t.Errorf("GET %s: %d", path, answer.status)
		}
	}
	form := func(name, subfolder string) []byte {
		return []byte("--b\r\nContent-Disposition: form-data; name=\"image\"; filename=\"" + name + "\"\r\n\r\nx\r\n--b\r\nContent-Disposition: form-data; name=\"subfolder\"\r\n\r\n" + subfolder + "\r\n--b--\r\n")
	}
	for _, c := range [][2]string{{"../evil", ""}, {"x", ".."}, {"x", "/etc"}, {"../../evil", "a"}} {
		answer := srv.do(t, "POST", "/upload/image", map[string]string{"Content-Type": "multipart/form-data; boundary=b"}, form(c[0], c[1]))
		if answer.status != http.StatusBadRequest {
			t.Errorf("upload of %q into %q: %d %s", c[0], c[1], answer.status, answer.body)
		}
	}
	if answer := srv.do(t, "POST", "/upload/image", map[string]string{"Content-Type": "multipart/form-data; boundary=b"}, form("x.png", "deep/er")); answer.status != http.StatusOK {
		t.Errorf("upload into a subfolder: %d %s", answer.status, answer.body)
	}
}

// TestOddRequests: answers to what recordings do not hold, as ComfyUI 0.24 gives them.
func TestOddRequests(t *testing.T) {
	t.Parallel()
	srv := newServer(t, cpu.Config{})
	if err := os.WriteFile(filepath.Join(srv.input, "v.png"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method, path, body string
		status             int
		holds              string
	}{
		{"GET", "/view?filename=v.png[input]", "", 404, ""},
		{"GET", "/view?filename=v.png%20[input]", "", 200, "x"},
		{"POST", "/queue", `[]`, 200, ""},
		{"POST", "/queue", `"text"`, 200, ""},
		{"POST", "/queue", `["clear"]`, 500, ""},
		{"POST", "/queue", `3`, 500, ""},
		{"POST", "/history", `[]`, 200, ""},
		{"POST", "/prompt", `{"prompt": {"1": {"inputs": {}}}}`, 400, `"Node 'ID #1' has no class_type.`},
		{"POST", "/prompt", `{"prompt": {"1": {"inputs": {}}}}`, 400, `"node_title": null`},
		{"POST", "/prompt", `{"prompt": {"1": {"inputs": {}, "_meta": {"title": ""}}}}`, 400, `"Node 'ID #1' has no class_type.`},
	} {
		answer := srv.do(t, c.method, c.path, map[string]string{"Content-Type": "application/json"}, []byte(c.body))
		if answer.status != c.status || !strings.Contains(string(answer.body), c.holds) {
			t.Errorf("%s %s %s: %d %.300s", c.method, c.path, c.body, answer.status, answer.body)
		}
	}
}

// TestNamesOfUploads: a backslash escapes the character after it.
func TestNamesOfUploads(t *testing.T) {
	t.Parallel()
	srv := newServer(t, cpu.Config{})
	for sent, want := range map[string]string{
		`..\evil.png`: `"..evil.png"`, `a\\b.png`: `"a\\b.png"`, `say \"hi\".png`: `"say \"hi\".png"`, `\\server\x.png`: `"serverx.png"`, `/x/../y.png`: `"x/../y.png"`,
		`..\/evil.png`: "", `sub\/../../evil.png`: "",
	} {
		body := "--b\r\nContent-Disposition: form-data; name=\"image\"; filename=\"" + sent + "\"\r\n\r\n" + sent + "\r\n--b--\r\n"
		answer := srv.do(t, "POST", "/upload/image", map[string]string{"Content-Type": "multipart/form-data; boundary=b"}, []byte(body))
		if refused := want == ""; refused != (answer.status == 400) || !strings.Contains(string(answer.body), want) {
			t.Errorf("%s: %d %s, want %s", sent, answer.status, answer.body, want)
		}
	}
}

func TestBodiesThatEndTheRealServerDoNotEndThisOne(t *testing.T) {
	t.Parallel()
	srv := newServer(t, cpu.Config{MaxBody: 1 << 16})
	prompt := `{"1": {"class_type": "PreviewAny", "inputs": {"source": "x"}}}`
	for _, c := range []struct {
		path, body string
		status     int
	}{
		{"/prompt", `{"client_id": ["a"], "prompt": ` + prompt + `}`, 400},
		{"/prompt", `{"client_id": {"a": 1}, "prompt": ` + prompt + `}`, 400},
		{"/prompt", `{"extra_data": {"client_id": ["a"]}, "prompt": ` + prompt + `}`, 400},
		{"/prompt", strings.Repeat("[", 60000), 500},
		{"/prompt", `{"prompt": ` + strings.Repeat("9", 65000) + `}`, 500},
		{"/prompt", strings.Repeat(" ", 1<<17), 413},
		{"/interrupt", strings.Repeat(" ", 1<<17), 413},
		{"/prompt", `{"prompt": {"1": {"class_type": "PreviewAny", "inputs": {"source": ["1", 0]}}}}`, 400},
	} {
		if answer := srv.do(t, "POST", c.path, nil, []byte(c.body)); answer.status != c.status {
			t.Errorf("POST %s %.60s: status %d, want %d: %.200s", c.path, c.body, answer.status, c.status, answer.body)
		}
	}
	srv.run(t, prompt)
}

func TestALinkToItselfThroughAnUndeclaredInput(t *testing.T) {
	t.Parallel()
	srv := newServer(t, cpu.Config{})
	entry := srv.run(t, `{"1": {"class_type": "PreviewAny", "inputs": {"source": "x", "foo": ["1", 0]}}}`)
	if kind, _ := failure(t, entry); !strings.Contains(kind, "DependencyCycleError") {
		t.Errorf("exception type %s", kind)
	}
	if status := entry["status"].(map[string]any)["status_str"]; status != "success" || len(entry["outputs"].(map[string]any)) > 0 {
		t.Errorf("status %v, outputs %v; the real server says success and has none", status, entry["outputs"])
	}
}

func TestCustomComboPassesThePlaceOfItsChoiceOn(t *testing.T) {
	t.Parallel()
	srv := newServer(t, cpu.Config{})
	for in, want := range map[string]string{`"index": 2, "option1": "a", "option2": "b"`: "2", `"index": 1`: "1", `"option1": "a"`: "0"} {
		entry := srv.run(t, `{"1": {"class_type": "CustomCombo", "inputs": {"choice": "b", `+in+`}}, "2": {"class_type": "PreviewAny", "inputs": {"source": ["1", 1]}}}`)
		if got := fmt.Sprint(entry["outputs"].(map[string]any)["2"]); !strings.Contains(got, "["+want+"]") {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestHistoryIsBounded(t *testing.T) {
	t.Parallel()
	srv := newServer(t, cpu.Config{MaxHistory: 2})
	for _, text := range []string{"a", "b", "c"} {
		srv.run(t, `{"1": {"class_type": "PreviewAny", "inputs": {"source": "`+text+`"}}}`)
	}
	if n := len(srv.do(t, "GET", "/history", nil, nil).json(t).(map[string]any)); n != 2 {
		t.Errorf("%d entries, want 2", n)
	}
}

func TestUnknownLinkInAnUndeclaredInputFailsTheRun(t *testing.T) {
	t.Parallel()
	srv := newServer(t, cpu.Config{})
	kind, _ := failure(t, srv.run(t, `{"1": {"class_type": "PreviewAny", "inputs": {"source": "x", "foo": ["77", 0]}}}`))
	if !strings.Contains(kind, "NodeNotFound") {
		t.Errorf("exception type %s", kind)
	}
}

func TestCancelledContextOfARequestChangesNothing(t *testing.T) {
	t.Parallel()
	srv := newServer(t, cpu.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL+"/object_info", nil)
	if resp, err := srv.Client().Do(req); !errors.Is(err, context.Canceled) {
		resp.Body.Close()
		t.Errorf("error %v", err)
	}
	srv.run(t, `{"1": {"class_type": "PreviewAny", "inputs": {"source": "x"}}}`)
}

// alarm is a log handler that remembers complaints of the engine about itself.
type alarm struct {
	slog.Handler
	least slog.Level
	mu    sync.Mutex
	text  string
}

func (a *alarm) Enabled(context.Context, slog.Level) bool { return true }

func (a *alarm) Handle(_ context.Context, r slog.Record) error {
	if r.Level >= a.least {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.text += r.Message + "\n"
		r.Attrs(func(attr slog.Attr) bool { a.text += attr.String() + "\n"; return true })
	}
	return nil
}

func FuzzPrompt(f *testing.F) {
	for _, seed := range []string{
		`{}`, `[1]`, `5`, `"prompt"`, `null`, `{"prompt": {}}`, `{"prompt": null}`, `{"prompt": {"1": []}}`, `{"prompt": {"1": {"class_type": "X"}}}`,
		`{"prompt": {"1": {"class_type": "PreviewAny", "inputs": {"source": NaN}}}, "number": -Infinity, "front": 1}`,
		`{"prompt": {"1": {"class_type": "EmptyImage", "inputs": {"width": "8", "height": 8.5, "batch_size": true, "color": {"__value__": 1}}}, "2": {"class_type": "PreviewImage", "inputs": {"images": ["1", -1]}}}}`,
		`{"prompt": {"1": {"class_type": "ResizeImageMaskNode", "inputs": {"input": ["2", 0], "resize_type": "scale dimensions", "resize_type.width": 5, "scale_method": "area"}}, "2": {"class_type": "SolidMask", "inputs": {"value": 0.5, "width": 3, "height": 4}}, "3": {"class_type": "MaskPreview", "inputs": {"mask": ["1", 0]}}}}`,
		`{"prompt": {"1": {"class_type": "StringFormat", "inputs": {"values.a": 1.5, "f_string": "{a!r:>10} {a:08.3f} {{}}"}}, "2": {"class_type": "PreviewAny", "inputs": {"source": ["1", 0]}}}, "partial_execution_targets": ["2"]}`,
		`{"prompt": {"1": {"class_type": "ComfyMathExpression", "inputs": {"expression": "a if a > 1 else -2**a", "values.a": 3}}, "2": {"class_type": "PreviewAny", "inputs": {"source": ["1", 0]}}}}`,
		`{"prompt": {"1": {"class_type": "RegexReplace", "inputs": {"string": "abc", "regex_pattern": "(?P<x>b)[]c]?", "replace": "\\g<x>"}}, "2": {"class_type": "PreviewAny", "inputs": {"source": ["1", 0]}}}}`,
	} {
		f.Add([]byte(seed))
	}
	bell := &alarm{Handler: slog.DiscardHandler, least: slog.LevelWarn}
	e, err := cpu.New(cpu.Config{MaxPixels: 1 << 12, MaxMemory: 1 << 22, Logger: slog.New(bell)})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
		defer cancel()
		if err := e.Close(ctx); err != nil {
			f.Error(err)
		}
	})
	f.Fuzz(func(t *testing.T, body []byte) {
		w := httptest.NewRecorder()
		e.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "http://localhost/prompt", bytes.NewReader(body)))
		if w.Code != 200 && w.Code != 400 && w.Code != 500 {
			t.Errorf("status %d", w.Code)
		}
		for range 200 { // let the run end before the next body
			q := httptest.NewRecorder()
			e.ServeHTTP(q, httptest.NewRequest(http.MethodGet, "http://localhost/prompt", nil))
			if strings.Contains(q.Body.String(), `"queue_remaining": 0`) {
				break
			}
			time.Sleep(time.Millisecond)
		}
		bell.mu.Lock()
		defer bell.mu.Unlock()
		if bell.text != "" {
			t.Fatal(bell.text)
		}
	})
}
