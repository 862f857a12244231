package httptools_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/providers/httptools"
	"github.com/signalbox/signalbox/registry"
)

// script is a service that answers each method and path by a function, notes what came, and fails the test for any other.
type script struct {
	*httptest.Server
	mu   sync.Mutex
	came []string // method, path, key and body
}

func newScript(t *testing.T, answers map[string]func(w http.ResponseWriter, r *http.Request, body string)) *script {
	t.Helper()
	s := &script{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		s.mu.Lock()
		s.came = append(s.came, fmt.Sprintf("%s %s key=%s %s", r.Method, r.URL.RequestURI(), r.Header.Get("X-Key"), body))
		s.mu.Unlock()
		answer, known := answers[r.Method+" "+r.URL.EscapedPath()]
		if !known {
			t.Errorf("unknown address: %s %s", r.Method, r.URL)
			w.WriteHeader(http.StatusTeapot)
			return
		}
		answer(w, r, string(body))
	}))
	t.Cleanup(s.Close)
	return s
}

// says answers with JSON.
func says(text string) func(http.ResponseWriter, *http.Request, string) {
	return func(w http.ResponseWriter, _ *http.Request, _ string) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, text)
	}
}

func (s *script) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.came...)
}

func submit(t *testing.T, h *house, id string, inputs map[string]any) (registry.Ticket, registry.Progress) {
	t.Helper()
	ticket, err := h.Jobs().Submit(t.Context(), registry.Call{RunID: "r", Handle: "handle", Tool: h.tool(t, id), Inputs: inputs, Media: h.store})
	if err != nil {
		t.Fatal(err)
	}
	progress, err := h.Jobs().Poll(t.Context(), ticket)
	if err != nil {
		t.Fatal(err)
	}
	return ticket, progress
}

const queueTool = `
tool:
  toolId: queue
  displayName: Queue
  inputSchema: {prompt: {type: string}}
  outputSchema: {picture: {type: image}}
  webhookStrategy:
    expectedStatusField: status
    successValue: COMPLETED
    pendingValues: [IN_QUEUE]
    failures: [{path: [error_type]}]
    resultPath: [images, "*", url]
    errorPath: [error_type]
    idPath: [request_id]
http:
  baseURL: %s
  headers: {X-Key: "${QUEUE_KEY}"}
  submit: {path: /models/a/b/requests, headers: {Idempotency-Key: "{{run.handle}}"}, body: {prompt: "{{prompt}}"}}
  poll: {url: "{{submitted.status_url}}"}
  result: {url: "{{submitted.response_url}}"}
  cancel: {method: PUT, url: "{{submitted.cancel_url}}"}
`

// TestAddressesFromAnswers has a queue name all its addresses, as the router of Comfy does.
func TestAddressesFromAnswers(t *testing.T) {
	t.Setenv("QUEUE_KEY", "very-secret")
	said := `{"status": "COMPLETED"}`
	elsewhere := newScript(t, map[string]func(http.ResponseWriter, *http.Request, string){"GET /status": func(w http.ResponseWriter, r *http.Request, _ string) { says(said)(w, r, "") }})
	var own *script
	address := func() string { return own.URL }
	own = newScript(t, map[string]func(http.ResponseWriter, *http.Request, string){
		"POST /models/a/b/requests": func(w http.ResponseWriter, r *http.Request, _ string) {
			if r.Header.Get("Idempotency-Key") != "handle" {
				t.Errorf("the handle is %q", r.Header.Get("Idempotency-Key"))
			}
			says(fmt.Sprintf(`{"request_id": "7", "status": "IN_QUEUE", "status_url": "%s/status?x=%%2F", "response_url": "%s/response", "cancel_url": "%s/cancel"}`, elsewhere.URL, address(), address()))(w, r, "")
		},
		"GET /response": says(`{"images": [{"url": "data:image/png;base64,YQ=="}]}`),
		"PUT /cancel":   says(`{"status": "CANCELLATION_REQUESTED"}`),
	})
	h := newHouse(t, map[string]string{"queue.tool.yaml": fmt.Sprintf(queueTool, own.URL)})
	ticket, got := submit(t, h, "queue", map[string]any{"prompt": "x"})
	if got.State != registry.RunSucceeded || read(t, got.Result.Outputs[0]) != "a" {
		t.Fatalf("got %+v", got)
	}
	if asked := elsewhere.requests(); len(asked) != 1 || asked[0] != "GET /status?x=%2F key= " {
		t.Errorf("a host that is not listed got %q", asked)
	}
	h.restart() // the ticket is enough
	if err := h.Jobs().Cancel(t.Context(), ticket); err != nil {
		t.Error(err)
	}
	if all := own.requests(); !strings.HasPrefix(all[len(all)-1], "PUT /cancel key=very-secret") {
		t.Errorf("stopping: %q", all)
	}
	said = `{"status": "COMPLETED", "error_type": "content_policy_violation"}`
	if got, err := h.Jobs().Poll(t.Context(), ticket); err != nil || got.State != registry.RunFailed || !strings.Contains(got.Err.Message, "content_policy_violation") {
		t.Errorf("failure inside a success: %+v, %v", got, err)
	}
	listed := strings.Replace(fmt.Sprintf(queueTool, own.URL), "  headers: {X", "  hosts: ["+strings.TrimPrefix(elsewhere.URL, "http://")+"]\n  headers: {X", 1)
	h = newHouse(t, map[string]string{"queue.tool.yaml": listed})
	submit(t, h, "queue", map[string]any{"prompt": "x"})
	if asked := elsewhere.requests(); !strings.Contains(asked[len(asked)-1], "key=very-secret") {
		t.Errorf("a host that is listed got %q", asked)
	}
}

// TestUploads sends files ahead: a place is asked for, the file goes there without the key, and its name goes into the run.
func TestUploads(t *testing.T) {
	t.Setenv("CLOUDS_API_KEY", "very-secret")
	store := newScript(t, map[string]func(http.ResponseWriter, *http.Request, string){"POST /put": func(w http.ResponseWriter, _ *http.Request, body string) {
		if policy, file := strings.Index(body, `name="policy"`), strings.Index(body, "a cat"); policy < 0 || file < policy || !strings.Contains(body, "cat.png") {
			t.Errorf("the parts are %q", body)
		}
		w.WriteHeader(http.StatusNoContent)
	}})
	own := newScript(t, map[string]func(http.ResponseWriter, *http.Request, string){
		"POST /uploads": says(fmt.Sprintf(`{"uploadUrl": "%s/put", "fields": {"policy": "p"}, "uri": "cloud://1"}`, store.URL)),
		"POST /make": func(w http.ResponseWriter, r *http.Request, body string) {
			says(fmt.Sprintf(`{"text": %q}`, body))(w, r, "")
		},
	})
	file := fmt.Sprintf(`
tool:
  toolId: clouds
  displayName: Clouds
  inputSchema: {photo: {type: image}, more: {type: image, multiple: true}}
  outputSchema: {answer: {type: text}}
http:
  baseURL: %s
  headers: {X-Key: "${CLOUDS_API_KEY}"}
  upload:
    inputs: [photo, more]
    steps:
      - {path: /uploads, body: {filename: "{{file.name}}", type: "{{file.type}}"}}
      - {url: "{{uploaded.uploadUrl}}", multipart: true, body: {$with: "{{uploaded.fields}}", file: "{{file}}"}}
    as: "{{uploaded.uri}}"
  submit: {path: /make, body: {photo: "{{photo}}", more: "{{more}}", secret: "${CLOUDS_API_KEY}", text: "${of} nothing"}}
`, own.URL)
	h := newHouse(t, map[string]string{"clouds.tool.yaml": file})
	cat := registry.SpecRef([]byte("a cat"))
	got, err := h.call(t, h.tool(t, "clouds"), map[string]any{"photo": cat, "more": []any{cat}})
	if err != nil || got["text"] != `{"more":["cloud://1"],"photo":"cloud://1","secret":"very-secret","text":"${of} nothing"}` {
		t.Errorf("got %v, %v", got, err)
	}
	if put := store.requests(); len(put) != 2 || strings.Contains(strings.Join(put, " "), "very-secret") {
		t.Errorf("the store got %q", put)
	}
	t.Run("no secret of a body goes to a host that is not listed", func(t *testing.T) {
		h.write(t, "clouds.tool.yaml", strings.Replace(file, `{$with: "{{uploaded.fields}}"`, `{key: "${CLOUDS_API_KEY}"`, 1))
		if _, err := h.call(t, h.tool(t, "clouds"), map[string]any{"photo": cat}); err == nil || len(store.requests()) != 2 {
			t.Errorf("got %v, and the store %q", err, store.requests())
		}
	})
	if up := own.requests(); !strings.Contains(up[0], `{"filename":"cat.png","type":"image/png"}`) {
		t.Errorf("the place was asked for by %q", up[0])
	}
}

// TestBodies has a service that echoes what bodies become.
func TestBodies(t *testing.T) {
	t.Parallel()
	server := echo(t)
	tool := func(body, more string) string {
		return fmt.Sprintf(`{"tool": {"toolId": "a", "displayName": "A", "inputSchema": {"n": {"type": "number"}, "on": {"type": "boolean"}, "mode": {"type": "string"}, "nothing": {"type": "string"}, "photo": {"type": "image"}, "photos": {"type": "image", "multiple": true}},
			"outputSchema": {"answer": {"type": "text"}}}, "http": {"baseURL": %q, "tables": {"size": {"wide 5": [16, 9], "*": "?"}}, "submit": {"path": "/x", "body": %s%s}}}`, server.URL, body, more)
	}
	cat := registry.SpecRef([]byte("a cat"))
	all := map[string]any{"n": json.Number("5"), "on": false, "mode": "wide", "photo": cat, "photos": []any{cat, cat}}
	for body, want := range map[string]string{
		`{"s": "{{n|text}}", "b": "{{on|text}}", "u": "{{n}}s"}`:                                                                                                `{"b":"false","s":"5","u":"5s"}`,
		`{"t": "{{size[mode, n]}}", "o": "{{size[n]}}"}`:                                                                                                        `{"o":"?","t":[16,9]}`,
		`{"p": "{{photo|base64}}", "m": "{{photo|mime}}", "d": "{{photos.1|data}}", "x": "{{photos.2}}"}`:                                                       `{"d":"data:image/png;base64,YSBjYXQ=","m":"image/png","p":"YSBjYXQ="}`,
		`{"a": {"$if": "on", "x": 1}, "b": {"$if": "!on", "x": 1}, "c": {"$if": "mode=wide", "$value": 2}, "d": {"$if": "mode!=wide"}, "e": {"$if": "photos"}}`: `{"b":{"x":1},"c":2,"e":{}}`,
		`{"l": [1, {"$each": "photos", "i": "{{index}}", "u": "{{item|base64}}"}, {"$if": "on"}, 2], "m": {"$each": "nothing", "u": "{{item}}"}}`:               `{"l":[1,{"i":1,"u":"YSBjYXQ="},{"i":2,"u":"YSBjYXQ="},2]}`,
	} {
		h := newHouse(t, map[string]string{"a.tool.json": tool(body, "")})
		if got, err := h.call(t, h.tool(t, "a"), all); err != nil || got["body"] != want {
			t.Errorf("%s\ngot  %v, %v\nwant %s", body, got["body"], err, want)
		}
	}
	t.Run("in parts: one for each of a list, objects as JSON, files last and as they are", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, map[string]string{"a.tool.json": tool(`{"n": "{{n}}", "a_files": "{{photos}}", "request": {"mode": "{{mode}}"}}`, `, "multipart": true`)})
		got, err := h.call(t, h.tool(t, "a"), all)
		body, _ := got["body"].(string)
		kind, _ := got["type"].(string)
		if err != nil || !strings.HasPrefix(kind, "multipart/form-data; boundary=") || strings.Count(body, `name="a_files"; filename="cat.png"`) != 2 || strings.Count(body, "\r\n\r\na cat\r\n") != 2 {
			t.Errorf("got %v, %v", got, err)
		}
		if n, json, file := strings.Index(body, `name="n"`), strings.Index(body, "application/json\r\n\r\n{\"mode\":\"wide\"}"), strings.Index(body, "a cat"); n < 0 || json < 0 || file < n || file < json {
			t.Errorf("the parts are %s", body)
		}
	})
}

// TestResultsOfAllKinds has results in hex, and as the body of an answer that also says what it cost.
func TestResultsOfAllKinds(t *testing.T) {
	t.Parallel()
	own := newScript(t, map[string]func(http.ResponseWriter, *http.Request, string){
		"POST /hex": says(`{"data": {"audio": "6d616465"}}`),
		"POST /bytes": func(w http.ResponseWriter, _ *http.Request, _ string) {
			w.Header().Set("Content-Type", "audio/mpeg")
			w.Header().Set("X-Units", "250")
			_, _ = io.WriteString(w, "made")
		},
		"POST /filtered": func(w http.ResponseWriter, _ *http.Request, _ string) {
			w.Header().Set("Content-Type", "audio/mpeg")
			w.Header().Set("Finish-Reason", "CONTENT_FILTERED")
			_, _ = io.WriteString(w, "noise")
		},
	})
	for path, want := range map[string]string{"/hex": "made for 0.5", "/bytes": "made for 0.25", "/filtered": "a refusal"} {
		h := newHouse(t, map[string]string{"a.tool.yaml": fmt.Sprintf(`
tool:
  toolId: a
  displayName: A
  inputSchema: {n: {type: number}}
  outputSchema: {sound: {type: audio}}
  costingModel: {rate: 1, unit: request, rateSource: api}
  webhookStrategy:
    expectedStatusField: status
    successValue: done
    defaultStatus: done
    failures: [{path: [$http, headers, finish-reason], not: [SUCCESS], means: refused}]
    resultPath: [data, audio]
http:
  baseURL: %s
  resultEncoding: hex
  submit: {path: %s, body: {}}
  price: {asOf: 2026-11, usd: n / 10, charge: units / 1000, answer: {units: [$http, headers, x-units]}}
`, own.URL, path)})
		result, err := h.Calls().Call(t.Context(), registry.Call{Tool: h.tool(t, "a"), Inputs: map[string]any{"n": json.Number("5")}})
		got := fmt.Sprint(err)
		if err == nil {
			got = read(t, result.Outputs[0]) + " for " + decimal.Plain(json.Number(result.Usage.CostUSD))
		}
		if path == "/filtered" && registry.AsError(err) != nil && registry.AsError(err).Code == registry.CodeRefused {
			continue
		}
		if got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// TestRetryAfterBetween has a service that works and says when it wants to be asked again.
func TestRetryAfterBetween(t *testing.T) {
	t.Parallel()
	own := newScript(t, map[string]func(http.ResponseWriter, *http.Request, string){
		"POST /jobs": says(`{"id": "a/b c"}`),
		"GET /jobs/a/b%20c": func(w http.ResponseWriter, r *http.Request, _ string) {
			w.Header().Set("Retry-After", "20")
			says(`{"state": "working"}`)(w, r, "")
		},
	})
	h := newHouse(t, map[string]string{"a.tool.yaml": fmt.Sprintf(`
tool:
  toolId: a
  displayName: A
  inputSchema: {}
  outputSchema: {picture: {type: image}}
  webhookStrategy: {expectedStatusField: state, successValue: done, idPath: [id]}
http: {baseURL: %s, submit: {path: /jobs, body: {}}, poll: {path: "/jobs/{{task.id|path}}"}}
`, own.URL)})
	now := time.Unix(1_800_000_000, 0)
	h.Tools = httptools.New(httptools.Config{Dir: h.dir, Store: h.store, Guard: h.line.Client(), Now: func() time.Time { return now }})
	ticket, _ := submit(t, h, "a", nil)
	for _, step := range []struct{ after, asked int }{{19, 2}, {1, 3}, {5, 3}} {
		now = now.Add(time.Duration(step.after) * time.Second)
		if got, err := h.Jobs().Poll(t.Context(), ticket); err != nil || got.State != registry.RunRunning || len(own.requests()) != step.asked {
			t.Errorf("after %d seconds more: %+v, %v, asked %d times", step.after, got, err, len(own.requests()))
		}
	}
}

func TestSeveralToolsInAFile(t *testing.T) {
	t.Parallel()
	server := echo(t)
	file := fmt.Sprintf(`
tool:
  displayName: Echo
  inputSchema: {zebra: {type: string, required: true}, apple: {type: number}}
  outputSchema: {answer: {type: text}}
http: {baseURL: %s, headers: {X: "1"}, submit: {path: /a, body: {z: "{{zebra}}"}}}
tools:
  - tool: {toolId: one, commandName: /one}
  - tool: {toolId: two, displayName: Two, inputSchema: {apple: null, berry: {type: string}}}
    http: {submit: {path: /two, body: {b: "{{berry}}"}}}
`, server.URL)
	h := newHouse(t, map[string]string{"e.tool.yaml": file})
	two := h.tool(t, "two")
	if len(two.InputSchema) != 2 || two.InputSchema[0].Name != "zebra" || two.InputSchema[1].Name != "berry" || two.DisplayName != "Two" {
		t.Errorf("the second is %+v", two)
	}
	for id, want := range map[string]string{"one": `/a {"z":"x"}`, "two": `/two {"b":"y","z":"x"}`} {
		got, err := h.call(t, h.tool(t, id), map[string]any{"zebra": "x", "berry": "y"})
		if err != nil || fmt.Sprint(got["path"], " ", got["body"]) != want {
			t.Errorf("%s: %v, %v", id, got, err)
		}
	}
	h.write(t, "e.tool.yaml", strings.Replace(file, "{{berry}}", "{{cherry}}", 1))
	if tools, err := h.Load(t.Context()); len(tools) != 2 || err == nil || !strings.Contains(err.Error(), "tools[1] two") || !strings.Contains(err.Error(), "{{cherry}}") {
		t.Errorf("a broken one: %d tools, %v", len(tools), err)
	}
	h.write(t, "e.tool.yaml", strings.Replace(file, "toolId: two", "toolId: one", 1))
	if tools, err := h.Load(t.Context()); len(tools) != 2 || err == nil || !strings.Contains(err.Error(), "toolId one is already that of another in the file") {
		t.Errorf("one id twice: %d tools, %v", len(tools), err)
	}
}

// TestSignedCallbacks checks what is called back about a run by the scheme and the secret that its file names.
func TestSignedCallbacks(t *testing.T) {
	t.Setenv("CLOUDS_WEBHOOK_SECRET", "octosecret")
	const body = `{"event":"run.done","id":"r1"}`
	file := `
tool:
  toolId: a
  displayName: A
  inputSchema: {}
  outputSchema: {picture: {type: image}}
  webhookStrategy: {expectedStatusField: state, successValue: done, idPath: [id]}
http:
  baseURL: https://clouds.example
  callback: {%s, secret: "${CLOUDS_WEBHOOK_SECRET}"}
  submit: {path: /jobs, body: {webhook_url: "{{run.callback}}", webhook_secret: "${CLOUDS_WEBHOOK_SECRET}"}}
  poll: {path: "/jobs/{{task.id}}"}
`
	at := time.Unix(1_700_000_000, 0)
	for scheme, c := range map[string]struct {
		secret, header, right string
	}{
		"scheme: sha256, header: X-Sig": {"octosecret", "X-Sig", "sha256=e739d3aaa0952bec0b580745a61cf5e02fbcd4382def9e16943393b2667af626"},
		"scheme: v1, header: X-Sig":     {"whsec_test", "X-Sig", "t=1700000000,v1=81bbc6b7002beee17d7c218d96aa509b9a89c848ee25369f1c6caff91ac3d304"},
		"scheme: standard":              {"whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", "Webhook-Signature", "v1,dzGPBWCUjZ/rCOCMn8WxuuV34N0DxNixD+JTggeemP0="},
	} {
		t.Setenv("CLOUDS_WEBHOOK_SECRET", c.secret)
		h := newHouse(t, map[string]string{"a.tool.yaml": fmt.Sprintf(file, scheme)})
		tool := h.tool(t, "a")
		check := func(value, body string) error {
			header := http.Header{"Webhook-Id": {"msg_1"}, "Webhook-Timestamp": {"1700000000"}}
			header.Set(c.header, value)
			return h.Jobs().CheckCallback(t.Context(), tool, registry.CallbackRequest{Header: header, Body: []byte(body), At: at})
		}
		if err := check(c.right, body); err != nil {
			t.Errorf("%s: %v", scheme, err)
		}
		for _, err := range []error{check("", body), check(c.right, body+" ")} {
			if err == nil {
				t.Errorf("%s: a forged one is taken", scheme)
			}
		}
	}
}
