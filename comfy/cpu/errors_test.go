package cpu_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/comfy/cpu"
)

// otherwise are the error cases in which this engine differs from the recorded server, and why.
var otherwise = map[string]string{
	"prompt-load-image-absolute":   "an absolute path is refused, the real server opens it",
	"prompt-load-image-empty":      "an empty name is refused, the real server opens the folder",
	"prompt-load-image-dir":        "a folder is refused, the real server tries to open it",
	"prompt-sampler-without-model": "KSampler needs a model and is not declared",
	"prompt-node-replacement":      "the real server fails over its own replacement table; here the class is unknown",
}

// errorCase is one entry of errors.json.
type errorCase struct {
	ID      string `json:"id"`
	Died    bool   `json:"server_died"`
	Request struct {
		Method  string            `json:"method"`
		Path    string            `json:"path"`
		Headers map[string]string `json:"headers"`
		Body    string            `json:"body"`
		Base64  string            `json:"body_base64"`
	} `json:"request"`
	Response struct {
		Status  int               `json:"status"`
		Headers map[string]string `json:"headers"`
		Kind    string            `json:"body_kind"`
		Body    any               `json:"body"`
		Number  string            `json:"number_type"`
		Run     map[string]any    `json:"run"`
	} `json:"response"`
}

// errorServer has the input folder that the recordings of errors.json and http/ began with.
func errorServer(t testing.TB) *server {
	t.Helper()
	inputs := shared(t, "corpus", "golden", "inputs")
	srv := newServer(t, cpu.Config{})
	for from, to := range map[string]string{"px1.png": "a.png", "grad48x32.png": "grad48x32.png", "alpha31x17.png": "alpha31x17.png"} {
		copyFile(t, filepath.Join(inputs, from), filepath.Join(srv.input, to))
	}
	return srv
}

func TestGoldenErrors(t *testing.T) {
	t.Parallel()
	var cases []errorCase
	readJSON(t, shared(t, "corpus", "golden", "errors.json"), &cases)
	srv := errorServer(t)
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) { // one server, and no case may see another's cached nodes
			if reason := otherwise[c.ID]; reason != "" {
				srv.refused(t, c, reason)
				return
			}
			srv.errorCase(t, c)
		})
	}
}

func (s *server) request(t *testing.T, c errorCase) reply {
	t.Helper()
	body := []byte(c.Request.Body)
	if c.Request.Base64 != "" {
		var err error
		if body, err = base64.StdEncoding.DecodeString(c.Request.Base64); err != nil {
			t.Fatal(err)
		}
	}
	s.do(t, "POST", "/free", nil, []byte(`{"free_memory": true}`))
	return s.do(t, c.Request.Method, c.Request.Path, c.Request.Headers, body)
}

// refused checks that a case that differs on purpose is answered with a clean 400.
func (s *server) refused(t *testing.T, c errorCase, reason string) {
	answer := s.request(t, c)
	if answer.status != http.StatusBadRequest {
		t.Errorf("%s: status %d, want 400: %.300s", reason, answer.status, answer.body)
	}
}

func (s *server) errorCase(t *testing.T, c errorCase) {
	answer := s.request(t, c)
	if c.Died {
		if answer.status >= 500 {
			t.Errorf("status %d, must be refused or ignored", answer.status)
		}
		return
	}
	if answer.status != c.Response.Status {
		t.Fatalf("status %d, want %d: %.500s", answer.status, c.Response.Status, answer.body)
	}
	for _, name := range []string{"Content-Type", "Allow"} {
		if want := c.Response.Headers[strings.ToLower(name)]; want != "" && answer.header.Get(name) != want {
			t.Errorf("%s: %q, want %q", name, answer.header.Get(name), want)
		}
	}
	if c.Response.Kind != "json" {
		if want, _ := c.Response.Body.(string); want != string(answer.body) {
			t.Errorf("body %.200q, want %.200q", answer.body, want)
		}
		return
	}
	got := answer.json(t)
	if d := sameAnswer(c.Response.Body, got); d != "" {
		t.Error(d)
	}
	if c.Response.Run != nil {
		s.compareRun(t, c, got.(map[string]any))
	}
}

// sameAnswer compares answers to POST /prompt. With several faulty outputs the real server walks them in a random order,
// which shows in the order of a cycle and in which output is blamed; the recorded order is brought to this one's.
func sameAnswer(want, got any) string {
	w, _ := want.(map[string]any)
	g, _ := got.(map[string]any)
	wn, _ := w["node_errors"].(map[string]any)
	gn, _ := g["node_errors"].(map[string]any)
	for id, e := range wn {
		theirs, _ := gn[id].(map[string]any)
		if theirs == nil {
			continue
		}
		for i, one := range e.(map[string]any)["errors"].([]any) {
			if list, ok := theirs["errors"].([]any); ok && i < len(list) && one.(map[string]any)["type"] == "dependency_cycle" {
				rotateCycle(one.(map[string]any), list[i].(map[string]any))
			}
		}
	}
	return same(want, got)
}

// rotateCycle makes two descriptions of a cycle equal when they name the same nodes in the same order, from another start.
func rotateCycle(want, got map[string]any) {
	w, okW := want["extra_info"].(map[string]any)["cycle_nodes"].([]any)
	g, okG := got["extra_info"].(map[string]any)["cycle_nodes"].([]any)
	if !okW || !okG || len(w) != len(g) {
		return
	}
	for shift := range g {
		equal := true
		for i := range w {
			equal = equal && w[i] == g[(i+shift)%len(g)]
		}
		if equal {
			got["extra_info"].(map[string]any)["cycle_nodes"] = w
			got["details"] = want["details"]
		}
	}
}

// compareRun follows an accepted prompt to its end.
func (s *server) compareRun(t *testing.T, c errorCase, accepted map[string]any) {
	if number, _ := accepted["number"].(json.Number); (c.Response.Number == "float") != strings.ContainsAny(string(number), ".NI") && c.Response.Number != "" {
		if text, isText := accepted["number"].(string); !isText || text != "NaN" {
			t.Errorf("number %v, want %s", accepted["number"], c.Response.Number)
		}
	}
	entry := s.finished(t, accepted["prompt_id"].(string))
	prompt := entry["prompt"].([]any)
	want := c.Response.Run
	if want["stored_inputs"] != nil {
		stored := map[string]any{}
		for id, n := range prompt[2].(map[string]any) {
			stored[id] = n.(map[string]any)["inputs"]
		}
		if d := same(want["stored_inputs"], stored); d != "" {
			t.Errorf("stored inputs: %s", d)
		}
	}
	status := entry["status"].(map[string]any)["status_str"]
	if status != want["status"] {
		t.Fatalf("status %v, want %v: %.500v", status, want["status"], entry["status"])
	}
	if d := same(map[string]any{"prompt": []any{0, 0, 0, 0, want["outputs_to_execute"]}}, map[string]any{"prompt": []any{0, 0, 0, 0, prompt[4]}}); d != "" {
		t.Errorf("outputs to execute: %s", d)
	}
	if d := same(want["extra_data"], prompt[3]); d != "" {
		t.Errorf("extra_data: %s", d)
	}
	if d := same(want["outputs"], entry["outputs"]); d != "" {
		t.Errorf("outputs: %s", d)
	}
	if w, ok := want["error"].(map[string]any); ok {
		all := message(entry, "execution_error")
		got := map[string]any{}
		for k := range w {
			got[k] = all[k]
		}
		if d := same(w, got); d != "" {
			t.Errorf("error: %s", d)
		}
		if inputs, ok := want["current_inputs"]; ok {
			if d := same(map[string]any{"current_inputs": inputs}, map[string]any{"current_inputs": all["current_inputs"]}); d != "" {
				t.Errorf("current inputs: %s", d)
			}
		}
	}
}
