package httptools_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/providers/httptools"
	"github.com/signalbox/signalbox/providers/vidu/vidutest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
)

type house struct {
	*httptools.Tools
	dir   string
	store *registrytest.Specs
	line  *registrytest.Line
}

func newHouse(t *testing.T, files map[string]string) *house {
	t.Helper()
	h := &house{dir: t.TempDir(), store: &registrytest.Specs{}}
	h.store.AddFile("cat.png", "image/png", []byte("a cat"))
	for name, text := range files {
		h.write(t, name, text)
	}
	guard := outbound.NewClient([]string{"127.0.0.1"})
	h.line = registrytest.NewLine(t, guard.Transport)
	h.restart()
	return h
}

// restart makes the tools anew, as a start of the program does.
func (h *house) restart() {
	h.Tools = httptools.New(httptools.Config{Dir: h.dir, Store: h.store, Guard: h.line.Client()})
}

func (h *house) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(h.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (h *house) tool(t *testing.T, id string) registry.Tool {
	t.Helper()
	tools, err := h.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		if tool.ToolID == id {
			return tool
		}
	}
	t.Fatalf("no tool %s among %d", id, len(tools))
	return registry.Tool{}
}

// echo is a service that answers at once with what it got.
func echo(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]any{"path": r.URL.EscapedPath(), "query": r.URL.RawQuery, "method": r.Method, "type": r.Header.Get("Content-Type"), "body": string(body)})
	}))
	t.Cleanup(server.Close)
	return server
}

const echoTool = `
tool:
  toolId: echo
  displayName: Echo
  commandName: /echo
  inputSchema:
    zebra: {type: string, required: true}
    apple: {type: number}
    photo: {type: image}
  outputSchema:
    answer: {type: text}
http:
  baseURL: %s/v1
  submit:
    path: /say/{{zebra}}
    query: {n: "{{apple}}", fixed: "yes"}
    body:
      text: "{{zebra}}"
      number: "{{apple}}"
      mixed: "<{{apple}}>"
      nested: [{picture: "{{photo}}"}, "{{apple}}", 3]
      call: "{{run.handle}}"
`

func (h *house) call(t *testing.T, tool registry.Tool, inputs map[string]any) (map[string]any, error) {
	t.Helper()
	result, err := h.Calls().Call(t.Context(), registry.Call{RunID: "r", Handle: "handle", Tool: tool, Inputs: inputs, Media: h.store})
	if err != nil {
		return nil, err
	}
	var answer map[string]any
	if err := json.Unmarshal([]byte(result.Outputs[0].Text), &answer); err != nil {
		t.Fatalf("%v: %s", err, result.Outputs[0].Text)
	}
	return answer, nil
}

func TestAToolWithoutGo(t *testing.T) {
	t.Parallel()
	server := echo(t)
	h := newHouse(t, map[string]string{"echo.tool.yaml": fmt.Sprintf(echoTool, server.URL)})
	tool := h.tool(t, "echo")
	t.Run("A78 the order of inputs is the file's", func(t *testing.T) {
		t.Parallel()
		var names []string
		for _, f := range tool.InputSchema {
			names = append(names, f.Name)
		}
		if got := strings.Join(names, " "); got != "zebra apple photo" {
			t.Errorf("got %s", got)
		}
	})
	t.Run("values keep their types, and stay in their places", func(t *testing.T) {
		t.Parallel()
		got, err := h.call(t, tool, map[string]any{"zebra": `a/b "c"`, "apple": json.Number("18446744073709551615"), "photo": registry.SpecRef([]byte("a cat"))})
		if err != nil {
			t.Fatal(err)
		}
		want := `{"call":"handle","mixed":"<18446744073709551615>","nested":[{"picture":"data:image/png;base64,YSBjYXQ="},18446744073709551615,3],"number":18446744073709551615,"text":"a/b \"c\""}`
		if got["path"] != "/v1/say/a%2Fb%20%22c%22" || got["query"] != "fixed=yes&n=18446744073709551615" || got["method"] != "POST" {
			t.Errorf("got %v", got)
		}
		var a, b any
		if json.Unmarshal(fmt.Append(nil, got["body"]), &a) != nil || json.Unmarshal([]byte(want), &b) != nil || fmt.Sprint(a) != fmt.Sprint(b) || !strings.Contains(fmt.Sprint(got["body"]), "18446744073709551615,3") {
			t.Errorf("got  %s\nwant %s", got["body"], want)
		}
	})
	t.Run("what is not given is left out", func(t *testing.T) {
		t.Parallel()
		got, err := h.call(t, tool, map[string]any{"zebra": "x"})
		if err != nil || got["body"] != `{"call":"handle","mixed":"\u003c\u003e","nested":[{},3],"text":"x"}` || got["query"] != "fixed=yes" {
			t.Errorf("got %v, %v", got, err)
		}
	})
	t.Run("a value can't lead to another folder", func(t *testing.T) {
		t.Parallel()
		for _, value := range []string{".", ".."} {
			_, err := h.call(t, tool, map[string]any{"zebra": value})
			if e := registry.AsError(err); e == nil || e.Code != registry.CodeInvalidInput || e.Field != "zebra" {
				t.Errorf("%s: got %v", value, err)
			}
		}
		if got, err := h.call(t, tool, map[string]any{}); err != nil || got["path"] != "/v1/say/" {
			t.Errorf("without a value: got %v, %v", got, err)
		}
	})
	t.Run("a run accepted before its file changed is called as it was", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, map[string]string{"echo.tool.yaml": fmt.Sprintf(echoTool, server.URL)})
		old := h.tool(t, "echo")
		h.write(t, "echo.tool.yaml", strings.Replace(fmt.Sprintf(echoTool, server.URL), "/say/", "/shout/", 1))
		changed := h.tool(t, "echo")
		h.restart()
		for tool, want := range map[*registry.Tool]string{&old: "/v1/say/x", &changed: "/v1/shout/x"} {
			if got, err := h.call(t, *tool, map[string]any{"zebra": "x"}); err != nil || got["path"] != want {
				t.Errorf("got %v, %v; expected %s", got, err, want)
			}
		}
	})
}

func TestSecrets(t *testing.T) {
	t.Setenv("CLOUDS_API_KEY", "very-secret")
	t.Setenv("ADMIN_TOKEN", "operator")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprintf(w, "bad key %s, %s", r.Header.Get("Authorization"), r.URL.Query().Get("key"))
	}))
	t.Cleanup(server.Close)
	with := func(value string) string {
		return strings.Replace(fmt.Sprintf(echoTool, server.URL), "http:\n", "http:\n  headers: {Authorization: \""+value+"\"}\n  query: {key: \""+value+"\"}\n", 1)
	}
	t.Run("come from the environment, and are in no error", func(t *testing.T) {
		h := newHouse(t, map[string]string{"echo.tool.yaml": with("Bearer ${CLOUDS_API_KEY}")})
		tool := h.tool(t, "echo")
		_, err := h.call(t, tool, map[string]any{"zebra": "x"})
		e := registry.AsError(err)
		if e == nil || !strings.Contains(fmt.Sprint(e.Cause), "Bearer ***, Bearer ***") || strings.Contains(fmt.Sprint(e, e.Cause), "very-secret") {
			t.Errorf("got %v, %v", e, e.Cause)
		}
		if encoded, err := registry.Encode(tool); err != nil || bytes.Contains(encoded, []byte("very-secret")) {
			t.Errorf("the definition shows the secret: %s, %v", encoded, err)
		}
		for _, data := range h.store.Contents() {
			if bytes.Contains(data, []byte("very-secret")) {
				t.Errorf("a spec shows the secret: %s", data)
			}
		}
	})
	for _, value := range []string{"${NO_SUCH_KEY}", "${ADMIN_TOKEN}", "${HOME}", "${TELEGRAM_BOT_TOKEN}"} {
		t.Run("refused: "+value, func(t *testing.T) {
			h := newHouse(t, map[string]string{"echo.tool.yaml": with(value)})
			var partial *registry.PartialError
			if tools, err := h.Load(t.Context()); len(tools) != 0 || !errors.As(err, &partial) || !strings.Contains(err.Error(), value[2:len(value)-1]) {
				t.Errorf("%d tools, %v", len(tools), err)
			}
		})
	}
}

// viduTool describes a real service that works for a while, with nothing but data.
const viduTool = `
tool:
  toolId: clips
  displayName: Clips
  inputSchema:
    prompt: {type: string, required: true}
    duration: {type: number, integer: true, min: 1, max: 16}
  outputSchema:
    video: {type: video}
  costingModel: {rate: 0.000337, unit: request, rateSource: api}
  webhookStrategy:
    expectedStatusField: state
    successValue: success
    pendingValues: [created, queueing]
    resultPath: [creations, "0", url]
    errorPath: [err_code]
    costPath: [credits]
    idPath: [%s]
http:
  baseURL: %s
  headers: {Authorization: "Token ${VIDU_TEST_KEY}"}
  submit:
    path: /text2video
    body: {model: viduq3-pro, prompt: "{{prompt}}", duration: "{{duration}}", payload: "{{run.handle}}", callback_url: "{{run.callback}}"}
  poll: {path: "/tasks/{{task.id}}/creations"}
  cancel: {path: "/tasks/{{task.id}}/cancel", body: {id: "{{task.id}}"}}
  usdPerCost: "0.005"
`

func viduHouse(t *testing.T) (*house, *vidutest.Server) {
	t.Helper()
	server := vidutest.New(t)
	return newHouse(t, map[string]string{"video/clips.tool.yml": fmt.Sprintf(viduTool, "task_id", server.BaseURL())}), server
}

// TestOwnWords has services refuse values, and name files in odd places.
func TestOwnWords(t *testing.T) {
	t.Parallel()
	answer, status := `{"error": {"message": "the prompt is  too short"}}`, http.StatusUnprocessableEntity
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	run := func(path string) (registry.Result, error) {
		h := newHouse(t, map[string]string{"odd.tool.yml": fmt.Sprintf(`
tool:
  toolId: odd
  displayName: Odd
  inputSchema: {prompt: {type: string, required: true}}
  outputSchema: {picture: {type: image}}
  webhookStrategy: {expectedStatusField: state, successValue: ok, resultPath: %s, errorPath: [error, message]}
http:
  baseURL: %s
  submit: {path: /make, body: {prompt: "{{prompt}}"}}
`, path, server.URL)})
		return h.Calls().Call(t.Context(), registry.Call{RunID: "r", Handle: "r", Tool: h.tool(t, "odd"), Inputs: map[string]any{"prompt": "x"}})
	}
	_, err := run("[images]")
	if e := registry.AsError(err); e == nil || e.Code != registry.CodeInvalidInput || !strings.HasSuffix(e.Message, "did not accept the values: the prompt is too short") {
		t.Errorf("a refusal: %v", err)
	}
	answer, status = `{"state": "ok", "images": [{"url": "https://x.example/1.png", "seed": 1}, {"url": "https://x.example/2.png"}]}`, http.StatusOK
	if _, err := run("[images]"); err == nil || !strings.Contains(err.Error(), "(seed, url)") {
		t.Errorf("a list of objects: %v", err)
	}
	if result, err := run(`[images, "*", url]`); err != nil || len(result.Outputs) != 2 {
		t.Errorf("each of a list: %+v, %v", result, err)
	}
}

func TestARealServiceAsData(t *testing.T) {
	t.Setenv("VIDU_TEST_KEY", vidutest.Key)
	call := func(tool registry.Tool, handle string) registry.Call {
		return registry.Call{RunID: "run-" + handle, Handle: handle, Tool: tool, Inputs: map[string]any{"prompt": "a cat", "duration": json.Number("8")}, CallbackURL: "https://bot.example/cb"}
	}
	t.Run("A78 submit, wait, fetch, price", func(t *testing.T) {
		h, server := viduHouse(t)
		ticket, err := h.Jobs().Submit(t.Context(), call(h.tool(t, "clips"), "handle"))
		if err != nil {
			t.Fatal(err)
		}
		sent := server.Tasks()[0].Body
		if sent["prompt"] != "a cat" || sent["duration"] != json.Number("8") || sent["payload"] != "handle" || sent["callback_url"] != "https://bot.example/cb" {
			t.Errorf("sent %v", sent)
		}
		h.restart() // the ticket is enough to go on
		if got, err := h.Jobs().Poll(t.Context(), ticket); err != nil || got.State != registry.RunQueued {
			t.Errorf("got %+v, %v", got, err)
		}
		server.Change(ticket.ProviderID, func(task *vidutest.Task) { task.State = "processing" })
		if got, err := h.Jobs().Poll(t.Context(), ticket); err != nil || got.State != registry.RunRunning || got.Unknown != "processing" {
			t.Errorf("got %+v, %v", got, err)
		}
		server.Finish(ticket.ProviderID)
		got, err := h.Jobs().Poll(t.Context(), ticket)
		if err != nil || got.State != registry.RunSucceeded || got.Result.Usage.CostUSD != "0.300000000000" {
			t.Fatalf("got %+v, %v", got, err)
		}
		body, err := got.Result.Outputs[0].Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer body.Close()
		if data, err := io.ReadAll(body); err != nil || string(data) != "video "+ticket.ProviderID+".mp4" {
			t.Errorf("read %q, %v", data, err)
		}
	})
	t.Run("failure in the service's words, cancelling, and what is unknown", func(t *testing.T) {
		h, server := viduHouse(t)
		tool := h.tool(t, "clips")
		ticket, err := h.Jobs().Submit(t.Context(), call(tool, "one"))
		if err != nil {
			t.Fatal(err)
		}
		server.Change(ticket.ProviderID, func(task *vidutest.Task) { task.State, task.ErrCode = "failed", "CreationPolicyViolation" })
		if got, err := h.Jobs().Poll(t.Context(), ticket); err != nil || got.State != registry.RunFailed || !strings.Contains(got.Err.Message, "CreationPolicyViolation") {
			t.Errorf("got %+v, %v", got, err)
		}
		second, err := h.Jobs().Submit(t.Context(), call(tool, "two"))
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := h.Jobs().Cancel(t.Context(), second); err != nil {
				t.Error(err)
			}
		}
		if got, err := h.Jobs().Poll(t.Context(), second); err != nil || got.State != registry.RunCanceled {
			t.Errorf("got %+v, %v", got, err)
		}
		second.ProviderID = "1"
		if _, err := h.Jobs().Poll(t.Context(), second); registry.AsError(err) == nil || registry.AsError(err).Code != registry.CodeLost {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a run that may have arrived is lost rather than made twice", func(t *testing.T) {
		h, server := viduHouse(t)
		c := call(h.tool(t, "clips"), "one")
		c.Repeated = true
		if _, err := h.Jobs().Submit(t.Context(), c); registry.AsError(err) == nil || registry.AsError(err).Code != registry.CodeLost || len(server.Tasks()) != 0 {
			t.Errorf("got %v, with %d tasks", err, len(server.Tasks()))
		}
	})
}

// TestContracts: the service tells a run that is sent again in none of these, as most do.
func TestContracts(t *testing.T) {
	t.Setenv("VIDU_TEST_KEY", vidutest.Key)
	t.Run("jobs", func(t *testing.T) {
		registrytest.TestSubmitter(t, func(t *testing.T) registrytest.SubmitterSetup {
			h, server := viduHouse(t)
			tool, n := h.tool(t, "clips"), 0
			change := func(f func(*vidutest.Task)) func(registry.Ticket) {
				return func(ticket registry.Ticket) { server.Change(ticket.ProviderID, f) }
			}
			return registrytest.SubmitterSetup{
				Submitter: h.Jobs(), Line: h.line, Secret: vidutest.Key, Restart: func() registry.Submitter { h.restart(); return h.Jobs() },
				Call: func() registry.Call {
					n++
					return registry.Call{RunID: fmt.Sprint("run-", n), Handle: fmt.Sprint("handle-", n), Tool: tool, Inputs: map[string]any{"prompt": "a cat"}}
				},
				Received: func() int { return len(server.Tasks()) },
				Finish:   func(ticket registry.Ticket) { server.Finish(ticket.ProviderID) },
				Fail:     change(func(task *vidutest.Task) { task.State, task.ErrCode = "failed", "CreationPolicyViolation" }),
				Puzzle:   change(func(task *vidutest.Task) { task.State = "dreaming" }),
				Hollow:   change(func(task *vidutest.Task) { task.State = "success" }),
				Expire:   change(func(task *vidutest.Task) { task.State, task.Made = "success", []string{server.URL + "/made/expired"} }),
			}
		})
	})
	t.Run("calls", func(t *testing.T) {
		registrytest.TestCaller(t, func(t *testing.T) registrytest.CallerSetup {
			var received atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				received.Add(1)
				io.WriteString(w, `{"state": "done", "text": "hello", "credits": 2}`)
			}))
			t.Cleanup(server.Close)
			file := strings.Replace(fmt.Sprintf(echoTool, server.URL), "http:\n", `  costingModel: {rate: 0.01, unit: request, rateSource: api}
  webhookStrategy: {expectedStatusField: state, successValue: done, resultPath: [text], costPath: [credits]}
http:
  headers: {Authorization: "Token ${VIDU_TEST_KEY}"}
`, 1)
			h := newHouse(t, map[string]string{"echo.tool.yaml": file})
			tool := h.tool(t, "echo")
			return registrytest.CallerSetup{
				Caller: h.Calls(), Line: h.line, Secret: vidutest.Key,
				Call: func() registry.Call {
					return registry.Call{RunID: "r", Handle: "h", Tool: tool, Inputs: map[string]any{"zebra": "x"}}
				},
				Received: func() int { return int(received.Load()) },
			}
		})
	})
}

func TestLoader(t *testing.T) {
	t.Parallel()
	server := echo(t)
	good := fmt.Sprintf(echoTool, server.URL)
	registrytest.TestLoader(t, func(t *testing.T) registrytest.LoaderSetup {
		return registrytest.LoaderSetup{Loader: newHouse(t, map[string]string{"echo.tool.yaml": good})}
	})
	t.Run("A40 a broken file keeps its last good tool and tells what is wrong", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, map[string]string{"a.tool.yaml": good, "b.tool.yaml": strings.ReplaceAll(good, "echo", "other")})
		if tools, err := h.Load(t.Context()); err != nil || len(tools) != 2 {
			t.Fatalf("%d tools, %v", len(tools), err)
		}
		h.write(t, "b.tool.yaml", "tool: [")
		tools, err := h.Load(t.Context())
		if len(tools) != 2 || err == nil || !strings.Contains(err.Error(), "b.tool.yaml") {
			t.Errorf("%d tools, %v", len(tools), err)
		}
	})
	t.Run("other files are none of ours", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, map[string]string{"plain.json": "{}", ".hidden.tool.yaml": "x", ".git/a.tool.yaml": "x"})
		if tools, err := h.Load(t.Context()); err != nil || len(tools) != 0 {
			t.Errorf("%d tools, %v", len(tools), err)
		}
	})
	t.Run("one id in two files is refused by name", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, map[string]string{"a.tool.yaml": good, "b.tool.yaml": good})
		if tools, err := h.Load(t.Context()); len(tools) != 1 || err == nil || !strings.Contains(err.Error(), "a.tool.yaml") {
			t.Errorf("%d tools, %v", len(tools), err)
		}
	})
}

func TestCheck(t *testing.T) {
	t.Parallel()
	good := fmt.Sprintf(echoTool, "https://clouds.example")
	for name, c := range map[string]struct{ old, new, want string }{
		"an address":                 {"baseURL: https://clouds.example/v1", "baseURL: clouds", "http.baseURL"},
		"a placeholder":              {"{{zebra}}\"", "{{zebar}}\"", "{{zebar}}"},
		"a member":                   {"  submit:", "  submits:", "submits"},
		"a service of its own":       {"  toolId:", "  service: x\n  toolId:", "tool.service"},
		"no result":                  {"    answer: {type: text}", "    {}", "tool.outputSchema"},
		"poll without an id":         {"  submit:", "  poll: {path: /x}\n  submit:", "idPath"},
		"cancel without poll":        {"  submit:", "  cancel: {path: /x}\n  submit:", "http.cancel"},
		"a path":                     {"path: /say", "path: say", "http.submit.path"},
		"a price":                    {"  submit:", "  usdPerCost: \"-1\"\n  submit:", "usdPerCost"},
		"a way to send files":        {"  submit:", "  media: mail\n  submit:", "http.media"},
		"the definition":             {"type: number", "type: nummber", "nummber"},
		"the task before it is made": {"{{run.handle}}", "{{task.id}}", "{{task.id}}"},
		"no YAML":                    {"tool:", "tool: [", "YAML"},
		"a host":                     {"  submit:", "  hosts: [\"https://x\"]\n  submit:", "http.hosts"},
		"a token of one secret":      {"  submit:", "  jwt: {issuer: x}\n  submit:", "http.jwt"},
		"a secret of the program's":  {"text: \"{{zebra}}\"", "text: \"${ADMIN_TOKEN}\"", "ADMIN_TOKEN"},
		"a form of a placeholder":    {"{{zebra}}\"", "{{zebra|loud}}\"", "{{zebra|loud}}"},
		"a table that is not there":  {"{{zebra}}\"", "{{size[zebra]}}\"", "http.tables"},
		"a key of a table":           {"  submit:\n    path: /say/{{zebra}}", "  tables: {size: {a: 1}}\n  submit:\n    path: /say/{{size[zebar]}}", "{{zebar}}"},
		"a condition":                {"{picture: \"{{photo}}\"}", "{$if: foto, picture: \"{{photo}}\"}", "{{foto}}"},
		"path and url":               {"    path: /say", "    url: https://x.example\n    path: /say", "both path and url"},
		"a pause of submit":          {"    path: /say", "    everySeconds: 5\n    path: /say", "everySeconds"},
		"an encoding":                {"  submit:", "  resultEncoding: rot13\n  submit:", "resultEncoding"},
		"a result without a reading": {"  submit:", "  result: {path: /x}\n  submit:", "http.result"},
		"an upload of no file":       {"  submit:", "  upload: {inputs: [apple], steps: [{path: /u}], as: x}\n  submit:", "upload.inputs"},
		"a bound of one file":        {"  submit:", "  most: {photo: \"8\"}\n  submit:", "http.most"},
		"a signature":                {"  submit:", "  callback: {scheme: md5, secret: x}\n  submit:", "http.callback"},
		"a price without a source":   {"  submit:", "  price: {asOf: 2026-01, usd: \"1\"}\n  submit:", "rateSource: api"},
		"a price without a date":     {"  submit:", "  price: {usd: \"1\"}\n  submit:", "asOf"},
		"a formula":                  {"  submit:", "  price: {asOf: 2026-01, usd: apple *}\n  submit:", "price.usd"},
		"a name in a formula":        {"  submit:", "  price: {asOf: 2026-01, usd: pear * 2}\n  submit:", "pear"},
		"a measure":                  {"  submit:", "  price: {asOf: 2026-01, usd: weight(apple)}\n  submit:", "weight(apple)"},
		"a charge without an answer": {"  submit:", "  price: {asOf: 2026-01, usd: apple, charge: units}\n  submit:", "charge and answer"},
		"a price by the token":       {"http:\n", "  costingModel: {rate: 1, unit: token, rateSource: static}\nhttp:\n", "unit: token"},
		"a price by uncounted time": {"http:\n", "  costingModel: {rate: 1, unit: second, rateSource: static}\n" +
			"  webhookStrategy: {expectedStatusField: a, successValue: b, durationTracking: false, idPath: [id]}\nhttp:\n  poll: {path: /x}\n", "durationTracking"},
	} {
		path := filepath.Join(t.TempDir(), "x.tool.yaml")
		changed := strings.Replace(good, c.old, c.new, 1)
		if changed == good {
			t.Fatalf("%s: nothing changed", name)
		}
		if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, _, err := httptools.Check(path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, expected it to name %s", name, err, c.want)
		}
	}
}

func TestAnswersAtOnce(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/seed":
			io.WriteString(w, `{"seed": 18446744073709551615}`)
		case "/lines":
			io.WriteString(w, "7 samurai\n")
		case "/busy":
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	t.Cleanup(server.Close)
	for path, want := range map[string]string{
		"/seed":  "{\n  \"seed\": 18446744073709551615\n}",
		"/lines": "7 samurai\n",
		"/busy":  "the service has a problem of its own", // and not its address, which is the operator's own
	} {
		h := newHouse(t, map[string]string{"a.tool.json": fmt.Sprintf(`{"tool": {"toolId": "a", "displayName": "A", "inputSchema": {}, "outputSchema": {"text": {"type": "text"}}},
			"http": {"baseURL": %q, "submit": {"path": %q}}}`, server.URL, path)})
		result, err := h.Calls().Call(t.Context(), registry.Call{Tool: h.tool(t, "a")})
		got := fmt.Sprint(err)
		if err == nil {
			got = result.Outputs[0].Text
		}
		if !strings.Contains(got, want) || strings.Contains(got, "127.0.0.1") {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

func TestPicturesAtOnce(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/bytes":
			w.Header().Set("Content-Type", "image/png")
			io.WriteString(w, "picture")
		case "/list":
			io.WriteString(w, `{"ok": "yes", "data": {"image": ["cGljdHVyZQ==", "data:image/png;base64,cGljdHVyZQ=="], "caption": "a cat"}, "used": 0.25}`)
		case "/failed":
			io.WriteString(w, `{"ok": "failed", "why": "no paint"}`)
		}
	}))
	t.Cleanup(server.Close)
	file := func(path string) string {
		return fmt.Sprintf(`{"tool": {"toolId": "p", "displayName": "Painter", "inputSchema": {}, "outputSchema": {"image": {"type": "image"}, "caption": {"type": "text"}},
			"webhookStrategy": {"expectedStatusField": "ok", "successValue": "yes", "durationTracking": false, "resultPath": ["data"], "errorPath": ["why"], "costPath": ["used"]}},
			"http": {"baseURL": %q, "submit": {"path": %q}}}`, server.URL, path)
	}
	for path, want := range map[string]string{"/bytes": "image:picture", "/list": "image:picture image:picture caption:a cat", "/failed": "Painter failed: no paint"} {
		h := newHouse(t, map[string]string{"p.tool.json": file(path)})
		result, err := h.Calls().Call(t.Context(), registry.Call{Tool: h.tool(t, "p")})
		var got []string
		for _, o := range result.Outputs {
			got = append(got, o.Name+":"+o.Text+read(t, o))
		}
		if err != nil {
			got = []string{registry.AsError(err).Message}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, expected %s", path, got, want)
		}
		if path == "/list" && result.Usage.CostUSD != "0.250000000000" {
			t.Errorf("cost %s", result.Usage.CostUSD)
		}
	}
}

func read(t *testing.T, o registry.Output) string {
	t.Helper()
	if o.Open == nil {
		return ""
	}
	body, err := o.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	data, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestToolsThatOnlyCallBack(t *testing.T) {
	t.Parallel()
	text := strings.Replace(fmt.Sprintf(echoTool, "https://service.example"), "http:\n", "  webhookStrategy: {expectedStatusField: state, successValue: done}\nhttp:\n", 1)
	h := newHouse(t, map[string]string{"echo.tool.yaml": strings.Replace(text, "{{run.handle}}", "{{run.callback}}", 1)})
	t.Run("without an address to report to it is unavailable, and sends nothing", func(t *testing.T) {
		tool := h.tool(t, "echo")
		if tool.State() != registry.StateUnavailable || !strings.Contains(tool.Status.Reason, "PUBLIC_URL") {
			t.Errorf("%+v", tool.Status)
		}
		for _, err := range []error{h.Jobs().Ready(t.Context(), tool), func() error {
			_, err := h.Jobs().Submit(t.Context(), registry.Call{RunID: "r", Handle: "h", Tool: tool, Inputs: map[string]any{"zebra": "x"}, Media: h.store})
			return err
		}()} {
			if e := registry.AsError(err); e == nil || e.Code != registry.CodeUnavailable {
				t.Errorf("got %v", err)
			}
		}
	})
	h.Tools = httptools.New(httptools.Config{Dir: h.dir, Store: h.store, Guard: h.line.Client(), Reports: func(context.Context, string) ([]httptools.Report, error) {
		return []httptools.Report{{Body: []byte(`{"state": "done"}`)}}, nil
	}})
	tool := h.tool(t, "echo")
	t.Run("A14 A87 what is immediate never waits for a callback", func(t *testing.T) {
		if tool.Service != httptools.Service {
			t.Errorf("by its strategy it waits, and is run by %s", tool.Service)
		}
		for name, change := range map[string][2]string{
			"no strategy":    {"  webhookStrategy: {expectedStatusField: state, successValue: done}\n", ""},
			"its own choice": {"  toolId: echo\n", "  toolId: echo\n  deliveryMode: immediate\n"},
		} {
			h.write(t, "echo.tool.yaml", strings.Replace(strings.Replace(text, "{{run.handle}}", "{{run.callback}}", 1), change[0], change[1], 1))
			if tool := h.tool(t, "echo"); tool.Service != httptools.ServiceNow {
				t.Errorf("%s: run by %s", name, tool.Service)
			}
		}
	})
	t.Run("one that may have been sent is waited for, not sent again", func(t *testing.T) {
		ticket, err := h.Jobs().Submit(t.Context(), registry.Call{RunID: "r", Handle: "h", Repeated: true, Tool: tool, CallbackURL: "https://bot.example/cb", Inputs: map[string]any{"zebra": "x"}, Media: h.store})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := h.Jobs().Poll(t.Context(), ticket); err != nil || got.State != registry.RunSucceeded {
			t.Errorf("%+v, %v", got, err)
		}
	})
}
