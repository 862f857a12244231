package remote_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/internal/seal"
	"github.com/signalbox/signalbox/providers/remote"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
)

// endpoint records what it gets and answers as it is told.
type endpoint struct {
	*httptest.Server
	mu     sync.Mutex
	got    []received
	answer func(w http.ResponseWriter, r *http.Request)
}

type received struct {
	method, path string
	header       http.Header
	body         map[string]json.RawMessage
}

func newEndpoint(t *testing.T, answer func(http.ResponseWriter, *http.Request)) *endpoint {
	t.Helper()
	e := &endpoint{answer: answer}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		one := received{method: r.Method, path: r.URL.RequestURI(), header: r.Header.Clone()}
		if err := json.NewDecoder(r.Body).Decode(&one.body); err != nil {
			t.Errorf("the request is no JSON: %v", err)
		}
		e.mu.Lock()
		e.got = append(e.got, one)
		e.mu.Unlock()
		e.answer(w, r)
	}))
	t.Cleanup(e.Close)
	return e
}

func (e *endpoint) received() []received {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.got)
}

func says(text string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, text) }
}

const secret = "sesame-1234567"

// entry is a manifest file's entry; change alters it by path, such as manifest.timeoutMs.
func entry(endpoint string, change map[string]any) map[string]any {
	e := map[string]any{
		"manifest": map[string]any{
			"name": "pim.getProduct", "description": "A product by its SKU.", "capability": "read", "timeoutMs": 3000, "idempotent": true,
			"retryPolicy":  map[string]any{"maxAttempts": 2},
			"inputSchema":  json.RawMessage(`{"type":"object","properties":{"sku":{"type":"string"},"tags":{"type":"array","items":{"enum":["a","b"]}}},"required":["sku"],"additionalProperties":false}`),
			"outputSchema": json.RawMessage(`{"type":"object","properties":{"sku":{"type":"string"},"title":{"type":"string"}},"required":["sku","title"]}`),
		},
		"endpoint": endpoint, "staticHeaders": map[string]any{"X-Api-Key": secret},
	}
	for path, value := range change {
		at := e
		first, last, nested := strings.Cut(path, ".")
		for nested {
			at = at[first].(map[string]any)
			first, last, nested = strings.Cut(last, ".")
		}
		if value == nil {
			delete(at, first)
		} else {
			at[first] = value
		}
	}
	return e
}

func write(t *testing.T, path string, entries ...any) {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"tools": entries})
	if err == nil {
		err = os.WriteFile(path, raw, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// house is a provider with its database and the file that it reads.
type house struct {
	*remote.Provider
	file  string
	pool  *pgxpool.Pool
	store *registrytest.Specs
	logs  *bytes.Buffer
	allow []string
}

func newHouse(t *testing.T, entries ...any) *house {
	t.Helper()
	h := &house{file: filepath.Join(t.TempDir(), "tools.json"), pool: postgrestest.New(t), store: &registrytest.Specs{}, logs: &bytes.Buffer{}}
	write(t, h.file, entries...)
	h.restart()
	return h
}

// sealer encrypts by a key of the tests.
func sealer(key byte) seal.Sealer {
	s, err := seal.New(bytes.Repeat([]byte{key}, 32))
	if err != nil {
		panic(err) // the key has 32 bytes
	}
	return s
}

// restart makes the provider anew, as a start of the program does.
func (h *house) restart() {
	h.Provider = remote.New(remote.Config{File: h.file, Pool: h.pool, Seal: sealer(1), Store: h.store, Guard: outbound.NewClient(h.allow), SiteID: "bot.example", Logger: slog.New(slog.NewJSONHandler(h.logs, nil))})
}

func (h *house) tools(t *testing.T) (map[string]registry.Tool, error) {
	t.Helper()
	list, err := h.Load(t.Context())
	byID := map[string]registry.Tool{}
	for _, tool := range list {
		byID[tool.ToolID] = tool
	}
	return byID, err
}

func (h *house) call(t *testing.T, name string, inputs map[string]any) registry.Call {
	t.Helper()
	tools, err := h.tools(t)
	tool, there := tools[name]
	if !there {
		t.Fatalf("no tool %s among %v: %v", name, slices.Collect(maps.Keys(tools)), err)
	}
	return registry.Call{RunID: "run-1", UserID: "ann", Tool: tool, Inputs: inputs}
}

func (h *house) register(t *testing.T, entry any) (remote.Registration, error) {
	t.Helper()
	raw, err := json.Marshal(entry)
	if err != nil {
		t.Fatal(err)
	}
	return h.Register(t.Context(), raw, "op")
}

const product = `{"data":{"sku":"A-1","title":"Chair"}}`

func sku(value string) map[string]any { return map[string]any{"sku": value} }

func wantCode(t *testing.T, err error, code registry.Code, retryable bool) *registry.Error {
	t.Helper()
	e := registry.AsError(err)
	if e == nil || e.Code != code || e.Retryable != retryable {
		t.Fatalf("got %v (%+v), expected %s, retryable %t", err, e, code, retryable)
	}
	if strings.Contains(e.Message, secret) {
		t.Errorf("the message is %q", e.Message)
	}
	return e
}

func TestLoader(t *testing.T) {
	t.Parallel()
	registrytest.TestLoader(t, func(t *testing.T) registrytest.LoaderSetup {
		h := newHouse(t, entry("http://127.0.0.1:1/x", nil))
		return registrytest.LoaderSetup{Loader: h.Provider}
	})
}

func TestFile(t *testing.T) {
	t.Parallel()
	t.Run("B62 B63 B76 the exact shape is read and the manifest kept unchanged", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, entry("http://127.0.0.1:1/x", nil))
		tools, err := h.tools(t)
		if err != nil {
			t.Fatal(err)
		}
		tool := tools["pim.getProduct"]
		want, _ := registry.CanonicalJSON(entry("", nil)["manifest"])
		got, _ := registry.CanonicalJSON(tool.Metadata["manifest"])
		if string(got) != string(want) {
			t.Errorf("the manifest is\n%s, expected\n%s", got, want)
		}
		if tool.CommandName != "/pim_getproduct" || tool.Capability != registry.CapabilityRead || !tool.Idempotent || tool.RetryPolicy.MaxAttempts != 2 || tool.Metadata["source"] != "file" {
			t.Errorf("the tool is %+v", tool)
		}
	})
	t.Run("B63 our richer shape adds members of the definition", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, entry("http://127.0.0.1:1/x", map[string]any{"tool": map[string]any{
			"displayName": "Product", "commandName": "/product", "costingModel": map[string]any{"rate": 0.01, "unit": "request", "rateSource": "static"},
			"outputSchema": map[string]any{"title": map[string]any{"name": "title", "type": "text"}},
		}}))
		tools, err := h.tools(t)
		if tool := tools["pim.getProduct"]; err != nil || tool.DisplayName != "Product" || tool.CommandName != "/product" || tool.CostingModel.Rate != "0.01" || tool.OutputSchema[0].Name != "title" {
			t.Errorf("got %+v, %v", tool, err)
		}
		write(t, h.file, entry("http://127.0.0.1:1/x", map[string]any{"tool": map[string]any{"service": "comfyui"}}))
		if _, err := h.tools(t); err == nil || !strings.Contains(err.Error(), "tool.service") {
			t.Errorf("another's service: %v", err)
		}
	})
	t.Run("B64 a missing file is a warning, and the others' tools are there", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		if err := os.Remove(h.file); err != nil {
			t.Fatal(err)
		}
		_, err := h.Load(t.Context())
		var partial *registry.PartialError
		if !errors.As(err, &partial) || !strings.Contains(err.Error(), "no such file") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("B65 an error names the entry, and good entries still load", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, entry("http://127.0.0.1:1/x", nil), entry("http://127.0.0.1:1/x", map[string]any{"manifest.name": "bad.one", "manifest.capability": "delete"}), "no object",
			entry("http://127.0.0.1:1/y", map[string]any{"manifest.name": "PIM.getproduct"}))
		tools, err := h.tools(t)
		if len(tools) != 1 || err == nil {
			t.Fatalf("got %d tools, %v", len(tools), err)
		}
		for _, want := range []string{"bad.one", "capability", "entry 3", "there twice"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%v does not tell of %q", err, want)
			}
		}
	})
	t.Run("an entry that breaks keeps what it was", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, entry("http://127.0.0.1:1/x", nil))
		before, _ := h.tools(t)
		write(t, h.file, entry("ftp://x", nil))
		after, err := h.tools(t)
		if err == nil || len(after) != 1 || len(before) != 1 {
			t.Errorf("got %v, %v", after, err)
		}
	})
}

func TestManifestRules(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for name, c := range map[string]struct {
		path  string
		value any
		want  string
	}{
		"B5 a name with blanks":               {"manifest.name", "pim get", "manifest.name"},
		"B6 an empty description":             {"manifest.description", " ", "manifest.description"},
		"B7 an input that is no object":       {"manifest.inputSchema", map[string]any{"type": "string"}, "manifest.inputSchema"},
		"B8 an output that is no schema":      {"manifest.outputSchema", map[string]any{"type": "nope"}, "manifest.outputSchema"},
		"no output schema":                    {"manifest.outputSchema", nil, "is missing; expected a JSON Schema"},
		"B9 a third capability":               {"manifest.capability", "delete", "manifest.capability"},
		"B81 a timeout of 249":                {"manifest.timeoutMs", 249, "manifest.timeoutMs"},
		"B81 no attempts":                     {"manifest.retryPolicy.maxAttempts", 0, "maxAttempts"},
		"B81 six attempts":                    {"manifest.retryPolicy.maxAttempts", 6, "maxAttempts"},
		"B81 one and a half attempts":         {"manifest.retryPolicy.maxAttempts", 1.5, "maxAttempts"},
		"B12 a back-off before the beginning": {"manifest.retryPolicy.backoffMs", -1, "backoffMs"},
		"B58 another scheme":                  {"endpoint", "ftp://127.0.0.1/x", "endpoint"},
		"B58 a user in the address":           {"endpoint", "http://ann:pw@127.0.0.1/x", "endpoint"},
		"B59 a header that ends":              {"staticHeaders", map[string]any{"X-Key": "a\r\nb"}, "staticHeaders"},
		"B69 a header of ours":                {"staticHeaders", map[string]any{"content-type": "text/plain"}, "staticHeaders"},
		"an unknown member":                   {"manifest.timeout", 5, `manifest.timeout: unknown key; did you mean "timeoutMs"?`},
	} {
		t.Run(name+" is refused", func(t *testing.T) {
			t.Parallel()
			_, err := h.register(t, entry("http://127.0.0.1:1/x", map[string]any{c.path: c.value}))
			if e := wantCode(t, err, registry.CodeInvalidInput, false); !strings.Contains(e.Message, c.want) {
				t.Errorf("the error %q does not tell of %s", e.Message, c.want)
			}
		})
	}
}

func TestCall(t *testing.T) {
	t.Parallel()
	t.Run("B14 B15 B16 B17 B18 B66 B67 B68 B69 B70 one POST with name, arguments, five fields and headers", func(t *testing.T) {
		t.Parallel()
		e := newEndpoint(t, says(product))
		h := newHouse(t, entry(e.URL+"/tools/get?v=2", nil))
		c := h.call(t, "pim.getProduct", map[string]any{"sku": "A-1", "tags": []any{"a"}})
		c.Context = registry.CallContext{SiteID: "shop.example", SessionID: "chat-7", TraceID: "trace-9", PlannerProvider: "anthropic"}
		result, err := h.Call(t.Context(), c)
		if err != nil || len(result.Outputs) != 1 || !strings.Contains(result.Outputs[0].Text, `"title": "Chair"`) {
			t.Fatalf("got %+v, %v", result, err)
		}
		got := e.received()[0]
		if got.method != "POST" || got.path != "/tools/get?v=2" || got.header.Get("Content-Type") != "application/json" || got.header.Get("X-Api-Key") != secret {
			t.Errorf("got %s %s with %v", got.method, got.path, got.header)
		}
		want := map[string]string{
			"toolName": `"pim.getProduct"`, "arguments": `{"sku":"A-1","tags":["a"]}`,
			"context": `{"siteId":"shop.example","sessionId":"chat-7","userId":"ann","traceId":"trace-9","plannerProvider":"anthropic"}`,
		}
		for name, value := range want {
			if string(got.body[name]) != value {
				t.Errorf("%s is %s, expected %s", name, got.body[name], value)
			}
		}
		if len(got.body) != len(want) || !strings.Contains(h.logs.String(), `"traceId":"trace-9"`) || strings.Contains(h.logs.String(), secret) {
			t.Errorf("the body has %d members; logged: %s", len(got.body), h.logs)
		}
	})
	t.Run("B16 an absent userId is absent, and a run without a planner is its own trace", func(t *testing.T) {
		t.Parallel()
		e := newEndpoint(t, says(product))
		h := newHouse(t, entry(e.URL, nil))
		c := h.call(t, "pim.getProduct", sku("A-1"))
		c.UserID = ""
		if _, err := h.Call(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		if got := string(e.received()[0].body["context"]); got != `{"siteId":"bot.example","sessionId":"run-1","traceId":"run-1","plannerProvider":"none"}` {
			t.Errorf("got %s", got)
		}
	})
	t.Run("B7 an input that breaks the schema never leaves", func(t *testing.T) {
		t.Parallel()
		e := newEndpoint(t, says(product))
		h := newHouse(t, entry(e.URL, nil))
		for want, inputs := range map[string]map[string]any{"sku": {}, "/tags/0": {"sku": "A", "tags": []any{"c"}}, "more": {"sku": "A", "more": true}} {
			_, err := h.Call(t.Context(), h.call(t, "pim.getProduct", inputs))
			if e := wantCode(t, err, registry.CodeInvalidInput, false); !strings.Contains(e.Message, want) {
				t.Errorf("%v: %q does not tell of %s", inputs, e.Message, want)
			}
		}
		if n := len(e.received()); n != 0 {
			t.Errorf("%d requests were made", n)
		}
	})
	t.Run("B8 B20 B70 an answer without data, or that does not conform, is an error", func(t *testing.T) {
		t.Parallel()
		for _, body := range []string{`{"sku":"A-1","title":"Chair"}`, `{"data":{"sku":"A-1"}}`, `{"data":null}`, `<html>`, ``} {
			h := newHouse(t, entry(newEndpoint(t, says(body)).URL, nil))
			_, err := h.Call(t.Context(), h.call(t, "pim.getProduct", sku("A-1")))
			wantCode(t, err, registry.CodeBadOutput, false)
		}
	})
	t.Run("B21 B22 B23 B71 B86 status and first 200 characters are told, without secrets; repeating is advised where it may help", func(t *testing.T) {
		t.Parallel()
		long := "down " + secret + " " + strings.Repeat("ä", 400)
		for status, c := range map[int]struct {
			code      registry.Code
			retryable bool
		}{
			400: {registry.CodeProvider, false}, 404: {registry.CodeProvider, false}, 403: {registry.CodeUnauthorized, false}, 302: {registry.CodeProvider, false},
			429: {registry.CodeRateLimited, true}, 500: {registry.CodeProvider, true}, 503: {registry.CodeProvider, true},
		} {
			e := newEndpoint(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status); io.WriteString(w, long) })
			h := newHouse(t, entry(e.URL, nil))
			_, err := h.Call(t.Context(), h.call(t, "pim.getProduct", sku("A-1")))
			failure := wantCode(t, err, c.code, c.retryable)
			if !strings.Contains(failure.Message, fmt.Sprint(status)) || strings.Count(failure.Message, "ä") < 180 || len([]rune(failure.Message)) > 240 {
				t.Errorf("%d: %q", status, failure.Message)
			}
		}
	})
	t.Run("B10 B72 a slow endpoint is cut within 50 ms of the limit", func(t *testing.T) {
		t.Parallel()
		done := make(chan struct{})
		e := newEndpoint(t, func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-r.Context().Done():
			case <-done:
			}
		})
		t.Cleanup(func() { close(done) })
		h := newHouse(t, entry(e.URL, map[string]any{"manifest.timeoutMs": 250}))
		over := time.Hour
		for range 20 { // on a machine that runs other tests as well the best of a few tries counts
			c := h.call(t, "pim.getProduct", sku("A-1"))
			began := time.Now()
			_, err := h.Call(t.Context(), c)
			took := time.Since(began) - 250*time.Millisecond
			wantCode(t, err, registry.CodeTimeout, true)
			if took < 0 {
				t.Fatalf("it was cut %s too early", -took)
			}
			if over = min(over, took); over <= 50*time.Millisecond {
				return
			}
		}
		t.Errorf("it was never cut less than %s after the limit", over)
	})
	t.Run("a write that may have arrived is not advised to be repeated", func(t *testing.T) {
		t.Parallel()
		e := newEndpoint(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGatewayTimeout) })
		h := newHouse(t, entry(e.URL, map[string]any{"manifest.capability": "write", "manifest.idempotent": false}))
		_, err := h.Call(t.Context(), h.call(t, "pim.getProduct", sku("A-1")))
		wantCode(t, err, registry.CodeProvider, false)
	})
	t.Run("outputs that the definition names are members of the data", func(t *testing.T) {
		t.Parallel()
		e := newEndpoint(t, says(`{"data":{"sku":"A-1","title":"Chair","photo":"https://cdn.example/a.png"}}`))
		h := newHouse(t, entry(e.URL, map[string]any{"tool": map[string]any{"outputSchema": map[string]any{
			"photo": map[string]any{"name": "photo", "type": "image"}, "title": map[string]any{"name": "title", "type": "text"},
		}}}))
		result, err := h.Call(t.Context(), h.call(t, "pim.getProduct", sku("A-1")))
		if err != nil || len(result.Outputs) != 2 || result.Outputs[0].Open == nil || result.Outputs[1].Text != "Chair" {
			t.Errorf("got %+v, %v", result.Outputs, err)
		}
	})
}

func TestIdempotency(t *testing.T) {
	t.Parallel()
	t.Run("B13 B83 an identical call in one trace is made once, also after a restart, whatever the order of keys", func(t *testing.T) {
		t.Parallel()
		e := newEndpoint(t, says(product))
		h := newHouse(t, entry(e.URL, nil))
		calls := 0
		call := func(inputs map[string]any, trace string, want int) {
			t.Helper()
			calls++
			c := h.call(t, "pim.getProduct", inputs)
			c.Context.TraceID, c.RunID = trace, fmt.Sprint("run-", calls)
			result, err := h.Call(t.Context(), c)
			if err != nil || !strings.Contains(result.Outputs[0].Text, "Chair") {
				t.Errorf("got %+v, %v", result, err)
			}
			if n := len(e.received()); n != want {
				t.Errorf("after call %d: %d requests, expected %d", calls, n, want)
			}
		}
		call(map[string]any{"sku": "A-1", "tags": []any{"a"}}, "one", 1)
		call(map[string]any{"tags": []any{"a"}, "sku": "A-1"}, "one", 1)
		h.restart()
		call(map[string]any{"sku": "A-1", "tags": []any{"a"}}, "one", 1)
		call(map[string]any{"sku": "A-1", "tags": []any{"b"}}, "one", 2)
		call(map[string]any{"sku": "A-1", "tags": []any{"a"}}, "two", 3)
	})
	t.Run("B13 B83 an answer is remembered for the account and the site that asked, and for nobody else", func(t *testing.T) {
		t.Parallel()
		e := newEndpoint(t, says(product))
		h := newHouse(t, entry(e.URL, nil))
		for i, asker := range []struct {
			user, site string
			want       int
		}{{"ann", "", 1}, {"ben", "", 2}, {"", "", 3}, {"ann", "shop", 4}, {"ben", "", 4}, {"ann", "", 4}} {
			c := h.call(t, "pim.getProduct", sku("A-1"))
			c.UserID, c.Context.TraceID, c.Context.SiteID, c.RunID = asker.user, "one", asker.site, fmt.Sprint("run-", i)
			if _, err := h.Call(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			if n := len(e.received()); n != asker.want {
				t.Errorf("after call %d, by %q on %q: %d requests, expected %d", i, asker.user, asker.site, n, asker.want)
			}
		}
	})
	t.Run("B83 a remembered result has a lifetime, and a failure is not remembered", func(t *testing.T) {
		t.Parallel()
		status := http.StatusServiceUnavailable
		e := newEndpoint(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status); io.WriteString(w, product) })
		h := newHouse(t, entry(e.URL, nil))
		now := time.Now()
		h.Provider = remote.New(remote.Config{File: h.file, Pool: h.pool, Seal: sealer(1), Store: h.store, Guard: outbound.NewClient(nil), Lifetime: time.Hour, Now: func() time.Time { return now }})
		_, err := h.Call(t.Context(), h.call(t, "pim.getProduct", sku("A-1")))
		wantCode(t, err, registry.CodeProvider, true)
		status = http.StatusOK
		for i, want := range []int{2, 2, 3} {
			if i == 2 {
				now = now.Add(time.Hour + time.Second)
			}
			if _, err := h.Call(t.Context(), h.call(t, "pim.getProduct", sku("A-1"))); err != nil || len(e.received()) != want {
				t.Errorf("call %d: %d requests, expected %d: %v", i, len(e.received()), want, err)
			}
		}
	})
	t.Run("B13 a tool that is not idempotent is called each time", func(t *testing.T) {
		t.Parallel()
		e := newEndpoint(t, says(product))
		h := newHouse(t, entry(e.URL, map[string]any{"manifest.idempotent": false}))
		for range 2 {
			if _, err := h.Call(t.Context(), h.call(t, "pim.getProduct", sku("A-1"))); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(e.received()); n != 2 {
			t.Errorf("%d requests", n)
		}
	})
}

func TestRegistration(t *testing.T) {
	t.Parallel()
	t.Run("B56 a registered tool is there at once, and after a restart; B59 its headers go with each call", func(t *testing.T) {
		t.Parallel()
		e := newEndpoint(t, says(product))
		h := newHouse(t)
		h.allow = []string{"127.0.0.1"}
		h.restart()
		r, err := h.register(t, entry(e.URL, nil))
		if err != nil || r.Name != "pim.getProduct" || !r.Enabled || r.Replaced {
			t.Fatalf("got %+v, %v", r, err)
		}
		for range 2 {
			c := h.call(t, "pim.getProduct", sku("A-1"))
			c.RunID = fmt.Sprint(len(e.received()))
			if raw, _ := registry.Encode(c.Tool); bytes.Contains(raw, []byte(secret)) || bytes.Contains(raw, []byte(e.URL)) {
				t.Errorf("the definition shows headers or endpoint: %s", raw)
			}
			if _, err := h.Call(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			h.restart()
		}
		if got := e.received(); len(got) != 2 || got[1].header.Get("X-Api-Key") != secret {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("B58 an endpoint inside is refused, also when the name leads inside only later", func(t *testing.T) {
		t.Parallel()
		e := newEndpoint(t, says(product))
		h := newHouse(t)
		for _, address := range []string{e.URL, "http://169.254.169.254/latest", "http://localhost:1/x", "http://[::1]:1/"} {
			_, err := h.register(t, entry(address, nil))
			if e := wantCode(t, err, registry.CodeInvalidInput, false); !strings.Contains(e.Message, "OUTBOUND_ALLOW") {
				t.Errorf("%s: %s", address, e.Message)
			}
		}
		h.allow = []string{"127.0.0.1"}
		h.restart()
		if _, err := h.register(t, entry(e.URL, nil)); err != nil {
			t.Fatal(err)
		}
		h.allow = nil
		h.restart()
		_, err := h.Call(t.Context(), h.call(t, "pim.getProduct", sku("A-1")))
		wantCode(t, err, registry.CodeUnavailable, false)
		if n := len(e.received()); n != 0 {
			t.Errorf("%d requests were made", n)
		}
	})
	t.Run("B5 B61 B84 one of the same name in any case is replaced; a run accepted before is called as it was", func(t *testing.T) {
		t.Parallel()
		old, fresh := newEndpoint(t, says(product)), newEndpoint(t, says(product))
		h := newHouse(t)
		h.allow = []string{"127.0.0.1"}
		h.restart()
		if _, err := h.register(t, entry(old.URL, nil)); err != nil {
			t.Fatal(err)
		}
		accepted := h.call(t, "pim.getProduct", sku("A-1"))
		if _, err := h.Call(t.Context(), accepted); err != nil {
			t.Fatal(err)
		}
		r, err := h.register(t, entry(fresh.URL, map[string]any{"manifest.name": " PIM.getProduct ", "staticHeaders": map[string]any{"X-Api-Key": "other"}}))
		if err != nil || !r.Replaced || r.Name != "PIM.getProduct" {
			t.Fatalf("got %+v, %v", r, err)
		}
		accepted.RunID = "run-2"
		if _, err := h.Call(t.Context(), accepted); err != nil || len(old.received()) != 2 || old.received()[1].header.Get("X-Api-Key") != secret {
			t.Errorf("%v; the old endpoint got %+v", err, old.received())
		}
		if _, err := h.Call(t.Context(), h.call(t, "PIM.getProduct", sku("B-1"))); err != nil || len(fresh.received()) != 1 {
			t.Errorf("%v; the new endpoint got %+v", err, fresh.received())
		}
		h.restart()
		accepted.RunID = "run-3"
		_, err = h.Call(t.Context(), accepted) // the old headers are gone, and the new ones are not for the old endpoint
		wantCode(t, err, registry.CodeUnavailable, false)
		if err := r.Undo(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := h.Call(t.Context(), accepted); err != nil || len(old.received()) != 3 {
			t.Errorf("after undoing: %v; the old endpoint got %d", err, len(old.received()))
		}
	})
	t.Run("B61 B84 a disabled or removed tool is neither listed nor called; a call under way ends", func(t *testing.T) {
		t.Parallel()
		reached, goOn := make(chan struct{}), make(chan struct{})
		e := newEndpoint(t, func(w http.ResponseWriter, _ *http.Request) {
			reached <- struct{}{}
			<-goOn
			io.WriteString(w, product)
		})
		h := newHouse(t, entry(e.URL, nil))
		h.allow = []string{"127.0.0.1"}
		h.restart()
		accepted := h.call(t, "pim.getProduct", sku("A-1"))
		done := make(chan error, 1)
		go func() {
			_, err := h.Call(t.Context(), accepted)
			done <- err
		}()
		<-reached
		if r, err := h.register(t, entry(e.URL, map[string]any{"enabled": false})); err != nil || r.Enabled {
			t.Errorf("got %+v, %v", r, err)
		}
		close(goOn)
		if err := <-done; err != nil {
			t.Errorf("the call under way: %v", err)
		}
		if tools, err := h.tools(t); err != nil || len(tools) != 0 {
			t.Errorf("listed are %v, %v", tools, err)
		}
		accepted.RunID = "run-2"
		_, err := h.Call(t.Context(), accepted)
		wantCode(t, err, registry.CodeUnavailable, false)
		if err := h.Remove(t.Context(), "pim.GETproduct"); err != nil {
			t.Error(err)
		}
		if tools, _ := h.tools(t); len(tools) != 1 {
			t.Errorf("the file's tool did not come back: %v", tools)
		}
		wantCode(t, h.Remove(t.Context(), "pim.getProduct"), registry.CodeInvalidInput, false)
		wantCode(t, h.Remove(t.Context(), "nothing"), registry.CodeLost, false)
	})
}

// headersOf is how the headers of the one registered tool lie in the database.
func (h *house) headersOf(t *testing.T) (text string) {
	t.Helper()
	if err := h.pool.QueryRow(t.Context(), `SELECT headers FROM remote_tools`).Scan(&text); err != nil {
		t.Fatal(err)
	}
	return text
}

func TestHeadersAreEncrypted(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, says(product))
	setup := func(t *testing.T) *house {
		h := newHouse(t)
		h.allow = []string{"127.0.0.1"}
		h.restart()
		if _, err := h.register(t, entry(e.URL, nil)); err != nil {
			t.Fatal(err)
		}
		return h
	}
	t.Run("B59 headers are no text in the database", func(t *testing.T) {
		t.Parallel()
		h := setup(t)
		var whole string
		if err := h.pool.QueryRow(t.Context(), `SELECT remote_tools::text FROM remote_tools`).Scan(&whole); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(whole, secret) || strings.Contains(whole, "X-Api-Key") {
			t.Errorf("the row is %s", whole)
		}
	})
	t.Run("B59 headers that an earlier version kept as text are encrypted at the next load, and still sent", func(t *testing.T) {
		t.Parallel()
		h := setup(t)
		if _, err := h.pool.Exec(t.Context(), `UPDATE remote_tools SET headers = '{"X-Api-Key":"`+secret+`-2"}'`); err != nil {
			t.Fatal(err)
		}
		h.restart()
		before := len(e.received())
		for range 2 { // as they were read, and as they were encrypted
			c := h.call(t, "pim.getProduct", sku("A-2"))
			c.RunID = fmt.Sprint("upgraded ", len(e.received()))
			if _, err := h.Call(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			h.restart()
		}
		if text := h.headersOf(t); strings.Contains(text, secret) {
			t.Errorf("they are still %s", text)
		}
		for _, r := range e.received()[before:] {
			if got := r.header.Get("X-Api-Key"); strings.HasSuffix(got, "-2") {
				return
			}
		}
		t.Error("they are not sent any more")
	})
	t.Run("headers that can't be decrypted take their tool away, no other, until it is registered again", func(t *testing.T) {
		t.Parallel()
		h := setup(t)
		accepted := h.call(t, "pim.getProduct", sku("A-1"))
		write(t, h.file, entry(e.URL, map[string]any{"manifest.name": "other.tool"}))
		lost := remote.New(remote.Config{File: h.file, Pool: h.pool, Seal: sealer(2), Store: h.store, Guard: outbound.NewClient(h.allow)})
		h.Provider = lost
		tools, err := h.tools(t)
		if _, other := tools["other.tool"]; len(tools) != 1 || !other || err == nil || !strings.Contains(err.Error(), "register it again") {
			t.Errorf("%v, %v", slices.Collect(maps.Keys(tools)), err)
		}
		_, err = h.Call(t.Context(), accepted)
		wantCode(t, err, registry.CodeUnavailable, false)
		if r, err := h.register(t, entry(e.URL, nil)); err != nil || !r.Replaced {
			t.Errorf("%+v, %v", r, err)
		}
		if tools, err := h.tools(t); err != nil || len(tools) != 2 {
			t.Errorf("after registering it again: %v, %v", slices.Collect(maps.Keys(tools)), err)
		}
	})
}
