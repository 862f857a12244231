package comfy

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/comfy/workflow"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
)

// testTracker follows a prompt of the nodes 1 to 4.
func testTracker() *tracker {
	clock := time.Unix(0, 0)
	now := func() time.Time { clock = clock.Add(time.Second); return clock }
	return newTracker("p", map[string]string{"1": "Load", "2": "Sample", "3": "Decode", "4": "Save"}, now)
}

func executing(node string) Event { return Event{Type: "executing", PromptID: "p", Node: node} }

func states(of map[string]string) Event {
	e := Event{Type: "progress_state", PromptID: "p", States: map[string]NodeState{}}
	for id, s := range of {
		e.States[id] = NodeState{State: s, Max: 1}
	}
	return e
}

func TestTracker(t *testing.T) {
	t.Parallel()
	check := func(t *testing.T, tr *tracker, stage string, fraction float64) {
		t.Helper()
		if p := tr.progress(); p.Stage != stage || p.Fraction < fraction-1e-9 || p.Fraction > fraction+1e-9 {
			t.Errorf("at %q %v, expected %q %v", p.Stage, p.Fraction, stage, fraction)
		}
	}
	t.Run("a lazy node that is come back to counts once, when it is done", func(t *testing.T) {
		t.Parallel()
		tr := testTracker()
		for _, e := range []Event{states(map[string]string{"3": "running"}), executing("3"), executing("1")} {
			tr.apply(e)
		}
		check(t, tr, "Load", 0)
		for _, e := range []Event{states(map[string]string{"1": "finished", "3": "running"}), executing("3"), states(map[string]string{"3": "finished"}), executing("4")} {
			tr.apply(e)
		}
		check(t, tr, "Save", 0.5)
		if tr.timings["3"] != 2*time.Second {
			t.Errorf("the lazy node took %s", tr.timings["3"])
		}
	})
	t.Run("a blocked branch does not stop it", func(t *testing.T) {
		t.Parallel()
		tr := testTracker()
		if v := tr.apply(Event{Type: "execution_error", PromptID: "p", Node: "9"}); v != maybeOver {
			t.Errorf("verdict %v", v)
		}
		if v := tr.apply(executing("2")); v != news {
			t.Errorf("verdict %v", v)
		}
		tr.apply(Event{Type: "progress", PromptID: "p", Node: "2", Value: 1, Max: 2})
		check(t, tr, "Sample", 18.0/39)
	})
	t.Run("other prompts, other nodes, nonsense and repetitions change nothing", func(t *testing.T) {
		t.Parallel()
		tr := testTracker()
		tr.apply(executing("2"))
		for _, e := range []Event{
			{Type: "executing", PromptID: "q", Node: "4"}, {Type: "execution_success", PromptID: "q"}, executing("2"), {Type: "new_in_2031", PromptID: "p"}, {Type: "status"},
		} {
			if v := tr.apply(e); v != nothing {
				t.Errorf("%+v: verdict %v", e, v)
			}
		}
		tr.apply(Event{Type: "progress", PromptID: "p", Node: "1", Value: 1, Max: 1})
		tr.apply(Event{Type: "progress", PromptID: "p", Node: "2", Value: 1, Max: 0})
		tr.apply(Event{Type: "progress", PromptID: "p", Node: "2", Value: -5, Max: 1})
		check(t, tr, "Sample", 0)
		tr.apply(Event{Type: "progress", PromptID: "p", Node: "2", Value: 500, Max: 1})
		check(t, tr, "Sample", 0.25)
		tr.apply(Event{Type: "progress", PromptID: "p", Node: "2", Value: 0, Max: 1})
		check(t, tr, "Sample", 0.25) // never back
	})
	t.Run("nodes made at run time do not fill the bar", func(t *testing.T) {
		t.Parallel()
		tr := testTracker()
		for _, id := range []string{"2:1", "2:2", "2:3", "2:4", "2:5"} {
			tr.apply(executing(id))
			tr.apply(Event{Type: "executed", PromptID: "p", Node: id})
		}
		check(t, tr, "", 0)
	})
	step := func(node string, value float64) Event {
		return Event{Type: "progress", PromptID: "p", Node: node, Value: value, Max: 100}
	}
	t.Run("steps of a node of which nothing is known move the figure over most of its way", func(t *testing.T) {
		t.Parallel()
		tr := testTracker()
		tr.apply(executing("1"))
		tr.apply(executing("2"))
		last := tr.progress().Fraction
		for value := 5.0; value <= 95; value += 5 {
			tr.apply(step("2", value))
			p := tr.progress()
			if p.Fraction <= last {
				t.Fatalf("at %v of 100 steps: %v after %v", value, p.Fraction, last)
			}
			last = p.Fraction
		}
		if last < 0.85 || tr.progress().Rest != 0 {
			t.Errorf("at the end of the steps %v, rest %s", last, tr.progress().Rest)
		}
		tr.apply(executing("3"))
		tr.apply(step("3", 50)) // a second node that takes its time
		if p := tr.progress(); p.Fraction <= last || p.Fraction >= 1 {
			t.Errorf("then %v after %v", p.Fraction, last)
		}
	})
	t.Run("steps that come without word of their node tell that it runs", func(t *testing.T) {
		t.Parallel()
		tr := testTracker()
		tr.apply(step("2", 50))
		if p := tr.progress(); p.Stage != "Sample" || p.Fraction < 0.4 {
			t.Errorf("%+v", p)
		}
	})
	t.Run("nodes weigh what they usually take, and the rest is told", func(t *testing.T) {
		t.Parallel()
		clock := time.Unix(0, 0)
		tr := newTracker("p", map[string]string{"1": "Load", "2": "Sample", "3": "Decode", "4": "Save"}, func() time.Time { return clock })
		tr.usual = map[string]float64{"1": 30, "2": 16, "3": 4}
		near := func(what string, p registry.Progress, fraction float64, rest time.Duration) {
			t.Helper()
			if math.Abs(p.Fraction-fraction) > 0.02 || (p.Rest-rest).Abs() > time.Second/2 {
				t.Errorf("%s: %v, rest %s; expected %v and %s", what, p.Fraction, p.Rest, fraction, rest)
			}
		}
		tr.apply(Event{Type: "execution_cached", PromptID: "p", Nodes: []string{"1"}})
		near("at the start", tr.progress(), 0, 20*time.Second)
		tr.apply(executing("2"))
		clock = clock.Add(8 * time.Second)
		near("without steps, by the clock", tr.progress(), 0.4, 12*time.Second)
		tr.apply(step("2", 80)) // quicker than ever
		near("by its steps", tr.progress(), 0.64, 6*time.Second)
		clock = clock.Add(2 * time.Second)
		tr.apply(executing("3"))
		near("at the next", tr.progress(), 0.8, 4*time.Second)
		clock = clock.Add(time.Hour)
		near("overdue", tr.progress(), 0.99, 0)
	})
	t.Run("what is cached counts as done", func(t *testing.T) {
		t.Parallel()
		tr := testTracker()
		tr.apply(Event{Type: "execution_cached", PromptID: "p", Nodes: []string{"1", "2", "3", "4"}})
		check(t, tr, "", 1)
	})
}

func TestDecodeBinary(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		frame string
		want  Event
		ok    bool
	}{
		"a preview":              {"\x00\x00\x00\x01\x00\x00\x00\x02png", Event{Type: "preview", Image: []byte("png")}, true},
		"a preview with data":    {"\x00\x00\x00\x04\x00\x00\x00\x0f{\"node_id\":\"7\"}jpg", Event{Type: "preview", Node: "7", Image: []byte("jpg")}, true},
		"a text":                 {"\x00\x00\x00\x03\x00\x00\x00\x0212hello", Event{Type: "text", Node: "12", Text: "hello"}, true},
		"nothing":                {"", Event{}, false},
		"too short":              {"\x00\x00\x00\x01\x00", Event{}, false},
		"a length past the end":  {"\x00\x00\x00\x03\xff\xff\xff\xff1", Event{}, false},
		"data past the end":      {"\x00\x00\x00\x04\x00\x00\x00\x7f{}", Event{}, false},
		"data that is no JSON":   {"\x00\x00\x00\x04\x00\x00\x00\x02{{x", Event{}, false},
		"an event of the future": {"\x00\x00\x00\x09\x00\x00\x00\x02xx", Event{}, false},
	} {
		got, ok := decodeBinary([]byte(c.frame))
		if ok != c.ok || got.Type != c.want.Type || got.Node != c.want.Node || got.Text != c.want.Text || string(got.Image) != string(c.want.Image) {
			t.Errorf("%s: %+v %v", name, got, ok)
		}
	}
}

// FuzzDecode feeds frames of any content: no crash, and nothing beyond the frame is read.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"type":"progress_state","data":{"nodes":{"1":{"value":1,"max":2,"state":"running"}}}}`))
	f.Add([]byte("\x00\x00\x00\x04\x00\x00\x00\x02{}x"))
	f.Fuzz(func(t *testing.T, data []byte) {
		tr := testTracker()
		for _, decode := range []func([]byte) (Event, bool){decodeText, decodeBinary} {
			if e, ok := decode(data); ok {
				e.PromptID = "p"
				tr.apply(e)
			}
		}
		if p := tr.progress(); p.Fraction < 0 || p.Fraction > 1 {
			t.Errorf("fraction %v", p.Fraction)
		}
		var h HistoryEntry
		if decodeLoosely(data, &h) == nil {
			h.Outcome()
			h.Executed()
			for id := range h.Outputs {
				h.Results(id)
			}
		}
	})
}

func TestCappedBody(t *testing.T) {
	t.Parallel()
	for size, whole := range map[int]bool{9: true, 10: true, 11: false} {
		data, err := io.ReadAll(&cappedBody{ReadCloser: io.NopCloser(strings.NewReader(strings.Repeat("x", size))), left: 10, name: "a.png"})
		if (err == nil) != whole || whole && len(data) != size {
			t.Errorf("%d bytes: read %d, %v", size, len(data), err)
		}
	}
}

func TestGPUName(t *testing.T) {
	t.Parallel()
	for device, want := range map[string]string{
		"cuda:0 NVIDIA GeForce RTX 4090 : cudaMallocAsync": "NVIDIA GeForce RTX 4090", "cuda:1 NVIDIA A100-SXM4-80GB : native": "NVIDIA A100-SXM4-80GB",
		"cpu": "cpu", "mps": "mps", "AMD Radeon RX 7900": "AMD Radeon RX 7900", "": "",
	} {
		if got := gpuName(device); got != want {
			t.Errorf("%q gives %q", device, got)
		}
	}
}

func objectInfo(t *testing.T, text string) *graph.ObjectInfo {
	t.Helper()
	info, err := graph.ParseObjectInfo([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func TestMissing(t *testing.T) {
	t.Parallel()
	const other = `"KSampler": {"input": {"required": {"sampler_name": [["euler"], {}], "denoise": ["FLOAT", {}]}}}`
	info := func(loader string) *graph.ObjectInfo {
		return objectInfo(t, `{`+other+`, "Loader": {"input": {"required": {`+loader+`}}}}`)
	}
	need := workflow.Requirements{Classes: []string{"KSampler", "Loader"}, Models: []workflow.Model{{Folder: "checkpoints", Name: "sd/a.safetensors"}}}
	for name, c := range map[string]struct {
		loader string
		lacks  []string
	}{
		"offered":                       {`"ckpt_name": [["b.safetensors", "sd/a.safetensors"], {}]`, nil},
		"offered in the newer form":     {`"ckpt_name": ["COMBO", {"options": ["sd/a.safetensors"]}]`, nil},
		"offered by a Windows server":   {`"ckpt_name": [["sd\\a.safetensors"], {}]`, nil},
		"not offered":                   {`"ckpt_name": [["b.safetensors"], {}]`, []string{"the model sd/a.safetensors"}},
		"no models at all":              {`"ckpt_name": [[], {}]`, []string{"the model sd/a.safetensors"}},
		"a list that the editor loads":  {`"ckpt_name": ["COMBO", {"remote": {"route": "/internal/files"}}]`, nil},
		"a plain text":                  {`"ckpt_name": ["STRING", {}]`, nil},
		"offered in a branch of a node": {`"mode": ["COMFY_DYNAMICCOMBO_V3", {"options": [{"key": "one", "inputs": {"required": {"ckpt_name": ["COMBO", {"options": ["sd/a.safetensors"]}]}}}]}]`, nil},
	} {
		if got := missing(info(c.loader), need); !slices.Equal(got, c.lacks) {
			t.Errorf("%s: lacks %q, expected %q", name, got, c.lacks)
		}
	}
	need.Classes = []string{"KSampler", "Gone"}
	if got := missing(info(`"ckpt_name": [[], {}]`), need); !slices.Contains(got, "the node Gone") {
		t.Errorf("lacks %q", got)
	}
	prompt := graph.Prompt{{ID: "1", Class: "Loader", Inputs: graph.Inputs{{Name: "ckpt_name", Value: "sd/a.safetensors"}, {Name: "x", Value: "a/b"}}}}
	spell(info(`"ckpt_name": [["sd\\a.safetensors"], {}]`), prompt)
	if v, _ := prompt[0].Inputs.Get("ckpt_name"); v != `sd\a.safetensors` {
		t.Errorf("the prompt says %v, the server would not know it", v)
	}
	if v, _ := prompt[0].Inputs.Get("x"); v != "a/b" {
		t.Errorf("x became %v", v)
	}
}

func TestRefusalWords(t *testing.T) {
	t.Parallel()
	detail := func(kind, input string) ErrorDetail {
		return ErrorDetail{Type: kind, Message: "secret /srv/x", Details: "secret", ExtraInfo: map[string]any{"input_name": input, "received_value": "secret"}}
	}
	e := &PromptError{Status: http.StatusBadRequest, NodeErrors: map[string]NodeError{
		"1": {ClassType: "A", Errors: []ErrorDetail{detail("required_input_missing", "image"), detail("value_smaller_than_min", "width")}},
		"2": {ClassType: "B", Errors: []ErrorDetail{detail("value_bigger_than_max", "height"), detail("return_type_mismatch", "x")}},
		"3": {ClassType: "B", Errors: []ErrorDetail{detail("value_bigger_than_max", "height")}},
	}}
	if got := refusalWords(e); got != "A.image is missing, A.width is too small, B.height is too large, B: return type mismatch" {
		t.Error(got)
	}
	if got := refusalWords(&PromptError{}); got != "it does not say why" {
		t.Error(got)
	}
}

func TestUploadName(t *testing.T) {
	t.Parallel()
	ref := "asset:" + strings.Repeat("0123456789abcdef", 4)
	for _, c := range []struct {
		ref, want string
		info      registry.MediaInfo
	}{
		{ref, "signalbox_0123456789abcdef0123456789abcdef.png", registry.MediaInfo{Name: "my holiday.jpg", MIMEType: "image/png"}},
		{ref, "signalbox_0123456789abcdef0123456789abcdef.jpg", registry.MediaInfo{MIMEType: "image/jpeg; charset=binary"}},
		{ref, "signalbox_0123456789abcdef0123456789abcdef.mov", registry.MediaInfo{MIMEType: "video/quicktime"}},
		{ref, "signalbox_0123456789abcdef0123456789abcdef.mp3", registry.MediaInfo{MIMEType: "audio/mpeg"}},
		{ref, "signalbox_0123456789abcdef0123456789abcdef.m4a", registry.MediaInfo{MIMEType: "audio/mp4"}},
		{ref, "signalbox_0123456789abcdef0123456789abcdef.glb", registry.MediaInfo{MIMEType: "model/gltf-binary"}},
		{ref, "signalbox_0123456789abcdef0123456789abcdef.exr", registry.MediaInfo{Name: "x.EXR", MIMEType: "image/x-exr"}},
		{ref, "signalbox_0123456789abcdef0123456789abcdef.bin", registry.MediaInfo{Name: "x.p/../h"}},
		{"https://x/../../a b.png", "signalbox_httpsxabpng.bin", registry.MediaInfo{}},
	} {
		if got := uploadName(c.ref, c.info); got != c.want {
			t.Errorf("%+v gives %s, expected %s", c.info, got, c.want)
		}
	}
}

func TestQueueOrder(t *testing.T) {
	t.Parallel()
	var items []queueItem
	if err := json.Unmarshal([]byte(`[[5, "c", {}], [-1, "a", {"1": {}}], [0.5, "b"]]`), &items); err != nil {
		t.Fatal(err)
	}
	sortByNumber(items)
	if items[0].promptID != "a" || items[1].promptID != "b" || items[2].promptID != "c" {
		t.Errorf("%+v", items)
	}
	for _, bad := range []string{`[{}]`, `[[]]`, `[["x", "y"]]`, `[7]`} {
		if err := json.Unmarshal([]byte(bad), &items); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

func TestTemplatesInMemoryAreBounded(t *testing.T) {
	t.Parallel()
	store := &registrytest.Specs{}
	w := NewWorkflows(WorkflowsConfig{Store: store})
	for i := range 10 * recentTemplates {
		tool := toolWithTemplate(store.AddFile("", "", fmt.Appendf(nil, `{"binding": {"prompt": {}}, "need": {"classes": ["C%d"]}}`, i)))
		if _, err := w.forTool(t.Context(), tool); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(w.recent); n > recentTemplates {
		t.Errorf("%d templates are kept", n)
	}
	if _, err := w.forTool(t.Context(), toolWithTemplate(store.AddFile("", "", []byte(`{}`)))); err == nil || errors.Unwrap(err) != nil && strings.Contains(err.Error(), "%!") {
		t.Error(err)
	}
}

func toolWithTemplate(ref string) registry.Tool {
	return registry.Tool{ToolID: "t", Metadata: map[string]any{templateKey: ref}}
}

func TestARunWithinOneMillisecondTookSomeTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		start, end string
		want       time.Duration
	}{{"1000", "1000", time.Millisecond}, {"1000", "1250", 250 * time.Millisecond}, {"1000", "900", 0}, {"0", "0", 0}} {
		var e HistoryEntry
		raw := `{"status": {"status_str": "success", "messages": [["execution_start", {"timestamp": ` + c.start + `}], ["execution_success", {"timestamp": ` + c.end + `}]]}}`
		if err := json.Unmarshal([]byte(raw), &e); err != nil {
			t.Fatal(err)
		}
		if got := e.Outcome().RunTime; got != c.want {
			t.Errorf("%s to %s: %s, want %s", c.start, c.end, got, c.want)
		}
	}
}
