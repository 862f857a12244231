package cpu_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// httpStep is one request of a sequence with the recorded answer.
type httpStep struct {
	Note    string `json:"note"`
	Request struct {
		Method    string            `json:"method"`
		Path      string            `json:"path"`
		Headers   map[string]string `json:"headers"`
		Body      json.RawMessage   `json:"body"`
		Multipart []struct {
			Name     string  `json:"name"`
			Value    string  `json:"value"`
			File     string  `json:"file"`
			Data     *string `json:"data"`
			Filename string  `json:"filename"`
			Type     string  `json:"ct"`
		} `json:"multipart"`
	} `json:"request"`
	Response struct {
		Status  int               `json:"status"`
		Headers map[string]string `json:"headers"`
		Kind    string            `json:"body_kind"`
		Body    any               `json:"body"`
		File    string            `json:"file"`
		Size    int               `json:"size"`
	} `json:"response"`
}

func TestGoldenHTTP(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(shared(t, "corpus", "golden", "http"), "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no sequences: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			t.Parallel()
			var sequence struct {
				Steps []httpStep `json:"steps"`
			}
			readJSON(t, file, &sequence)
			srv := errorServer(t)
			for i, step := range sequence.Steps {
				if problem := srv.httpStep(t, filepath.Dir(file), step); problem != "" {
					t.Errorf("step %d %s %s (%s): %s", i, step.Request.Method, step.Request.Path, step.Note, problem)
				}
			}
		})
	}
}

// form writes the multipart body as the recording client did, names unescaped.
func (s httpStep) form(t *testing.T) []byte {
	t.Helper()
	const boundary = "goldenboundary"
	var b bytes.Buffer
	for _, part := range s.Request.Multipart {
		fmt.Fprintf(&b, "--%s\r\nContent-Disposition: form-data; name=%q", boundary, part.Name)
		data := []byte(part.Value)
		if part.File != "" || part.Data != nil {
			fmt.Fprintf(&b, "; filename=\"%s\"", part.Filename)
			kind := part.Type
			if kind == "" {
				kind = "application/octet-stream"
			}
			fmt.Fprintf(&b, "\r\nContent-Type: %s", kind)
			if part.File != "" {
				var err error
				if data, err = os.ReadFile(filepath.Join(shared(t, "corpus", "golden", "inputs"), part.File)); err != nil {
					t.Fatal(err)
				}
			} else {
				data = []byte(*part.Data)
			}
		}
		fmt.Fprintf(&b, "\r\n\r\n%s\r\n", data)
	}
	fmt.Fprintf(&b, "--%s--\r\n", boundary)
	return b.Bytes()
}

func (s *server) httpStep(t *testing.T, dir string, step httpStep) string {
	body := []byte(step.Request.Body)
	var text string
	if json.Unmarshal(step.Request.Body, &text) == nil && len(step.Request.Body) > 0 {
		body = []byte(text)
	}
	if len(step.Request.Multipart) > 0 {
		body = step.form(t)
	}
	answer := s.do(t, step.Request.Method, step.Request.Path, step.Request.Headers, body)
	if answer.status != step.Response.Status {
		return fmt.Sprintf("status %d, want %d: %.300s", answer.status, step.Response.Status, answer.body)
	}
	for _, name := range []string{"Content-Type", "Allow", "Content-Disposition"} {
		if want := step.Response.Headers[strings.ToLower(name)]; want != "" && answer.header.Get(name) != want {
			return fmt.Sprintf("%s: %q, want %q", name, answer.header.Get(name), want)
		}
	}
	if step.Request.Path == "/prompt" && answer.status == 200 {
		if id, ok := answer.json(t).(map[string]any)["prompt_id"].(string); ok {
			s.finished(t, id) // the recording waited for each
			s.waitIdle(t)
		}
	}
	switch step.Response.Kind {
	case "json":
		got := answer.json(t)
		if strings.Contains(step.Request.Path, "sort_by=execution_duration") {
			// How long a run took differs from the recording: only what is listed counts.
			sortJobs(step.Response.Body)
			sortJobs(got)
		}
		return same(step.Response.Body, got)
	case "text":
		if want, _ := step.Response.Body.(string); step.Request.Method != "HEAD" && want != string(answer.body) {
			return fmt.Sprintf("body %.200q, want %.200q", answer.body, want)
		}
		return ""
	}
	want, err := os.ReadFile(filepath.Join(dir, step.Response.File))
	if err != nil {
		t.Fatal(err)
	}
	return sameFile(want, answer.body)
}

func sortJobs(v any) {
	jobs, _ := v.(map[string]any)["jobs"].([]any)
	slices.SortFunc(jobs, func(a, b any) int {
		return strings.Compare(fmt.Sprint(a.(map[string]any)["id"]), fmt.Sprint(b.(map[string]any)["id"]))
	})
}

// waitIdle waits until the queue is empty.
func (s *server) waitIdle(t testing.TB) {
	t.Helper()
	for range 5000 {
		if strings.Contains(string(s.do(t, "GET", "/prompt", nil, nil).body), `"queue_remaining": 0`) {
			return
		}
	}
	t.Fatal("the queue does not empty")
}

// sameFile compares files: equal bytes, or pictures whose pixels are equal (PNG) or alike (others).
func sameFile(want, got []byte) string {
	if bytes.Equal(want, got) {
		return ""
	}
	w, kind, err := image.Decode(bytes.NewReader(want))
	if err != nil {
		return fmt.Sprintf("bytes differ: %d, want %d", len(got), len(want))
	}
	g, kindGot, err := image.Decode(bytes.NewReader(got))
	if err != nil {
		return err.Error()
	}
	if kind != kindGot || w.Bounds().Size() != g.Bounds().Size() {
		return fmt.Sprintf("%s of %v, want %s of %v", kindGot, g.Bounds().Size(), kind, w.Bounds().Size())
	}
	// What an encoder loses on noise is its own affair: other kinds are judged by likeness.
	if worst, mean := visibleDistance(w, g); mean > 40 || kind == "png" && worst > 0 {
		return fmt.Sprintf("%s pixels differ by %.1f, mean %.2f", kind, worst, mean)
	}
	return ""
}

// visibleDistance is the distance over black: what lies under full transparency does not count.
func visibleDistance(a, b image.Image) (worst, mean float64) {
	return pixelDistance(flat{a}, flat{b})
}

// flat shows a picture with its colours multiplied by alpha.
type flat struct{ image.Image }

func (f flat) At(x, y int) color.Color {
	c := pixel(f.Image.At(x, y))
	part := func(v uint16) uint16 { return uint16(uint32(v) * uint32(c.A) / 0xffff) }
	return color.NRGBA64{R: part(c.R), G: part(c.G), B: part(c.B), A: c.A}
}
