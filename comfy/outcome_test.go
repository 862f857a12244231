package comfy_test

import (
	"encoding/json"
	"image/png"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/comfy/comfytest"
	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/registry"
)

func TestFailures(t *testing.T) {
	t.Parallel()
	fail := func(t *testing.T, err error) *registry.Error {
		t.Helper()
		_, w, gate, c := modelRun(t)
		s, wait := w.watch(t, w.submit(t, c))
		gate.Next().Fail(err)
		if err := wait(); err != nil {
			t.Fatal(err)
		}
		if s.last().State != registry.RunFailed {
			t.Fatalf("%+v", s.last())
		}
		return failure(t, s.last().Err, registry.CodeProvider, strings.Contains(err.Error(), "Allocation on device"))
	}
	t.Run("an engine out of memory frees it, and the run is tried once more", func(t *testing.T) {
		t.Parallel()
		s, w, gate, c := modelRun(t)
		_, wait := w.watch(t, w.submit(t, c))
		gate.Next().Fail(node.Raise("torch.OutOfMemoryError", "Allocation on device 0 would exceed allowed memory."))
		if err := wait(); err != nil {
			t.Fatal(err)
		}
		if n := len(s.Calls("POST /free")); n != 1 || c.Tool.RetryPolicy == nil || c.Tool.RetryPolicy.MaxAttempts != 2 {
			t.Errorf("asked %d times to free memory, %+v", n, c.Tool.RetryPolicy)
		}
	})
	t.Run("people see which step failed; paths and prompt go to the log", func(t *testing.T) {
		t.Parallel()
		e := fail(t, node.Raise("RuntimeError", "/home/gpu/ComfyUI/nodes.py: bad prompt 'a fox'"))
		if e.Message != `the workflow failed at "Sampler"` || !strings.Contains(e.Cause.Error(), "nodes.py") {
			t.Errorf("%q, cause %v", e.Message, e.Cause)
		}
	})
	for _, c := range []struct{ kind, text, want string }{
		{"ValueError", "a picture batch of 70 x 640 x 1024 x 3 values is larger than this engine allows (134217728 values): make it smaller", `what "Sampler" makes is larger than this engine allows; make it smaller, or fewer`},
		{"MemoryError", "a picture batch of 4096 x 1 x 1 pixels is larger than this engine allows (1 pixels): make it smaller", `what "Sampler" makes is larger than this engine allows; make it smaller, or fewer`},
		{"ValueError", "The mask doesn't cover anything.", `the workflow failed at "Sampler": The mask doesn't cover anything`},
		{"builtins.Exception", "No face was found in the picture!", `the workflow failed at "Sampler": No face was found in the picture`},
		{"builtins.OSError", "[Errno 28] No space left on device: '/srv/output/a.png'", "the disk of the engine is full; try again later"},
		{"KeyError", "No face was found in the picture", `the workflow failed at "Sampler"`},
		{"ValueError", "can't read /srv/models/a.safetensors", `the workflow failed at "Sampler"`},
		{"ValueError", "no answer from 10.0.0.7 in time", `the workflow failed at "Sampler"`},
		{"ValueError", "the value of node 12 is wrong", `the workflow failed at "Sampler"`},
		{"RuntimeError", "mat1 and mat2 shapes cannot be multiplied", `the workflow failed at "Sampler"`},
		{"ValueError", "bad words: \"a secret fox\" is refused", `the workflow failed at "Sampler"`},
		{"ValueError", "too few frames\nat line 7 of run", `the workflow failed at "Sampler"`},
	} {
		t.Run("people are told "+c.text, func(t *testing.T) {
			t.Parallel()
			if e := fail(t, node.Raise(c.kind, "%s", c.text)); e.Message != c.want || !strings.Contains(e.Cause.Error(), c.text) {
				t.Errorf("%q, cause %v", e.Message, e.Cause)
			}
		})
	}
	for _, kind := range []string{"torch.OutOfMemoryError", "torch.cuda.OutOfMemoryError", "MemoryError"} {
		t.Run("people are told what to do about "+kind, func(t *testing.T) {
			t.Parallel()
			e := fail(t, node.Raise(kind, "Allocation on device 0 would exceed allowed memory."))
			if !strings.Contains(e.Message, "ran out of memory at \"Sampler\"; try a smaller size") {
				t.Error(e.Message)
			}
		})
	}
	t.Run("an error message counts though status_str says success", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		flow := strings.Replace(plainFlow, `"image": ["1", 0]`, `"image": ["1", 0], "extra": ["2", 0]`, 1)
		w, tool := oneTool(t, flow, s)
		ticket := w.submit(t, w.call(tool, nil))
		if p := w.poll(t, ticket); p.State != registry.RunFailed || p.Err.Code != registry.CodeProvider {
			t.Errorf("%+v", p)
		}
	})
	t.Run("an interrupted run is canceled, not failed", func(t *testing.T) {
		t.Parallel()
		_, w, gate, c := modelRun(t)
		ticket := w.submit(t, c)
		s, wait := w.watch(t, ticket)
		gate.Next()
		if err := w.provider.Cancel(t.Context(), ticket); err != nil {
			t.Fatal(err)
		}
		if err := wait(); err != nil || s.last().State != registry.RunCanceled || s.last().Err != nil {
			t.Errorf("%+v, %v", s.last(), err)
		}
	})
	t.Run("a history of another shape does not crash and does not lie", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		w, tool := oneTool(t, plainFlow, s)
		ticket := w.submit(t, w.call(tool, nil))
		w.poll(t, ticket)
		id := ticket.ProviderID
		for body, want := range map[string]registry.RunState{
			`{"` + id + `": {"outputs": {"3": {"images": [{"filename": "a.png"}]}}, "status": null}}`:                                               registry.RunSucceeded,
			`{"` + id + `": {"outputs": {"3": ["x"], "9": null}, "status": {"status_str": "success", "messages": [7, "x", ["y"]]}, "prompt": "p"}}`: registry.RunSucceeded,
			`{"` + id + `": {"outputs": [], "status": {"status_str": "error", "messages": null}}}`:                                                  registry.RunFailed,
			`{"` + id + `": {"status": {"status_str": "error", "messages": [["execution_error", {"node_id": 3, "exception_message": {}}]]}}}`:       registry.RunFailed,
			`{"` + id + `": {"status": {"status_str": "error", "messages": [["execution_interrupted", {"timestamp": "then"}]]}}}`:                   registry.RunCanceled,
		} {
			s.On("GET /history/", 1, comfytest.Answer(http.StatusOK, body))
			if p, err := w.provider.Poll(t.Context(), ticket); err != nil || p.State != want {
				t.Errorf("%s: %+v, %v", body, p, err)
			}
		}
	})
}

// results runs a workflow whose output node shows ui.
func results(t *testing.T, ui string) []registry.Output {
	t.Helper()
	s := comfytest.New(t, comfytest.Options{})
	w, tool := oneTool(t, resultFlow(t, ui), s)
	p := w.run(t, tool, nil)
	if p.State != registry.RunSucceeded {
		t.Fatalf("%+v", p)
	}
	return p.Result.Outputs
}

func TestResults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ ui, want string }{
		"several files stay several, in order": {`{"images": [{"filename": "b.png", "subfolder": "", "type": "output"}, {"filename": "a.png", "subfolder": "x", "type": "temp"}]}`, "image b.png, image a.png"},
		"a video under images is a video":      {`{"images": [{"filename": "a.mp4", "subfolder": "video", "type": "output"}], "animated": [true]}`, "video a.mp4"},
		"gifs hold videos and gifs":            {`{"gifs": [{"filename": "a.webm", "subfolder": "", "type": "output", "format": "video/webm", "fullpath": "/srv/a.webm"}, {"filename": "b.gif", "subfolder": "", "type": "output"}]}`, "video a.webm, image b.gif"},
		"sound":                                {`{"audio": [{"filename": "a.flac", "subfolder": "", "type": "output"}, {"filename": "odd", "subfolder": "", "type": "output"}]}`, "audio a.flac, audio odd"},
		"a 3D file":                            {`{"3d": [{"filename": "a.glb", "subfolder": "mesh", "type": "output"}]}`, "file a.glb"},
		"a 3D preview, which gives a path":     {`{"result": ["mesh\\a.glb", {"position": {}}, null]}`, "file a.glb"},
		"texts":                                {`{"text": ["one", ["two", "three"], null]}`, `text "one", text "two", text "three"`},
		"entries that are no files":            {`{"images": [7, null, "x", {"filename": 9}, {}], "other": [[[]]], "tags": [{"a": 1}]}`, ""},
		"nothing":                              {`{}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, o := range results(t, c.ui) {
				label := o.Info.Name
				if o.Type == "text" {
					quoted, _ := json.Marshal(o.Text)
					label = string(quoted)
				}
				got = append(got, o.Type+" "+label)
			}
			if s := strings.Join(got, ", "); s != c.want {
				t.Errorf("got %s, want %s", s, c.want)
			}
		})
	}
	t.Run("pictures meant for a socket are kept", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		w, tool := oneTool(t, strings.Replace(plainFlow, `"SaveImage", "inputs": {"images": ["2", 0], "filename_prefix": "plain"}`, `"SaveImageWebsocket", "inputs": {"images": ["2", 0]}`, 1), s)
		p := w.run(t, tool, nil)
		if p.State != registry.RunSucceeded || len(p.Result.Outputs) != 1 {
			t.Fatalf("%+v", p)
		}
		content, err := p.Result.Outputs[0].Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer content.Close()
		if _, err := png.Decode(content); err != nil {
			t.Error(err)
		}
	})
	t.Run("evil names are neither fetched nor shown", func(t *testing.T) {
		t.Parallel()
		for _, file := range []string{
			`"filename": "../../etc/passwd.png", "subfolder": ""`, `"filename": "/etc/passwd.png", "subfolder": ""`, `"filename": "..\\..\\a.png", "subfolder": ""`,
			`"filename": "C:a.png", "subfolder": ""`, `"filename": "a.png", "subfolder": "../.."`, `"filename": "a.png", "subfolder": "/etc"`,
			`"filename": "a.png", "subfolder": "x\\..\\.."`, `"filename": "a.png [input]", "subfolder": ""`, `"filename": "a.png", "subfolder": "\\\\host\\share"`,
			`"filename": "a\n.png", "subfolder": ""`, `"filename": "` + strings.Repeat("x", 5000) + `.png", "subfolder": ""`,
		} {
			outputs := results(t, `{"images": [{`+file+`, "type": "output"}, {"filename": "b.png", "subfolder": "", "type": "elsewhere"}]}`)
			if len(outputs) != 2 {
				t.Fatalf("%.60s: %d outputs", file, len(outputs))
			}
			for _, o := range outputs {
				if _, err := o.Open(t.Context()); err == nil {
					t.Errorf("%.60s was fetched", file)
				} else {
					failure(t, err, registry.CodeBadOutput, false)
				}
				if strings.ContainsAny(o.Info.Name, "/\\\n:") || len(o.Info.Name) > 255 {
					t.Errorf("name %.80q is shown", o.Info.Name)
				}
			}
		}
	})
	t.Run("a result may be opened again after an error", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		w, tool := oneTool(t, plainFlow, s)
		o := w.run(t, tool, nil).Result.Outputs[0]
		read := func() (int, error) {
			content, err := o.Open(t.Context())
			if err != nil {
				return 0, err
			}
			defer content.Close()
			data, err := io.ReadAll(content)
			return len(data), err
		}
		s.On("GET /view", 1, comfytest.Answer(http.StatusBadGateway, ""))
		_, err := read()
		failure(t, err, registry.CodeBadOutput, true)
		s.On("GET /view", 1, comfytest.Cut)
		if _, err := read(); err == nil {
			// The transport may have tried again by itself.
			t.Log("a cut connection was opened again")
		}
		s.On("GET /view", 1, comfytest.CutMidAnswer)
		if _, err := read(); err == nil {
			t.Error("half a file counts as whole")
		}
		s.On("GET /view", 1, func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			_, _ = io.WriteString(w, "<html><title>Sign in</title></html>")
		})
		_, err = read()
		failure(t, err, registry.CodeBadOutput, true)
		s.On("GET /view", 1, comfytest.Declare(1<<40))
		_, err = read()
		failure(t, err, registry.CodeBadOutput, false)
		if n, err := read(); n == 0 || err != nil {
			t.Errorf("%d bytes, %v", n, err)
		}
	})
}
