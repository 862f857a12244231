package mcp_test

import (
	"bufio"
	"context"
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
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/providers/mcp"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
	"github.com/signalbox/signalbox/registry/validate"
)

// TestMain is also the server program of the stdio tests.
func TestMain(m *testing.M) {
	if os.Getenv("SERVE_MCP") == "" {
		os.Exit(m.Run())
	}
	if os.Getenv("SERVE_MCP") == "ends" {
		fmt.Fprintln(os.Stderr, "Error: BOOKS_KEY is not set, said "+secret+"\n    at main.js:1\n\nNode.js v20")
		os.Exit(1)
	}
	if os.Getenv("SERVE_MCP") == "noisy" {
		fmt.Println("library is starting ...\n[INFO] listening\n{\"level\":\"info\",\"msg\":\"ready\"}\n\n{ jsonrpc: '2.0' }")
	}
	if os.Getenv("SERVE_MCP") == "tasks" {
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			if answer := withTask(lines.Bytes()); answer != "" {
				fmt.Println(answer)
			}
		}
		return
	}
	if err := newServer(nil).Run(context.Background(), &sdk.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// withTask answers as a server with a tool that runs as a task only, of which the library knows nothing, and one whose inputs are no object.
func withTask(message []byte) string {
	var m struct {
		ID     json.RawMessage
		Method string
	}
	if err := json.Unmarshal(message, &m); err != nil || m.ID == nil {
		return ""
	}
	result := `"error":{"code":-32601,"message":"not here"}`
	switch m.Method {
	case "initialize":
		result = `"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`
	case "tools/list":
		result = `"result":{"tools":[{"name":"quick","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}},{"name":"long","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}},{"name":"odd","inputSchema":{"type":"string"}}]}`
	}
	return `{"jsonrpc":"2.0","id":` + string(m.ID) + `,` + result + `}`
}

const secret = "sesame-1234567"

type query struct {
	Text  string `json:"text" jsonschema:"what to look for"`
	Limit int    `json:"limit,omitempty"`
}

// questions are what the server asks, by what is looked for.
var questions = map[string]*sdk.ElicitParams{
	"form": {Mode: "form", Message: "Which shelf?", RequestedSchema: map[string]any{"type": "object", "required": []string{"shelf"}, "properties": map[string]any{
		"mail":   map[string]any{"type": "string", "format": "email"},
		"shelf":  map[string]any{"type": "integer", "minimum": 1, "title": "Shelf " + secret},
		"lend":   map[string]any{"type": "boolean"},
		"colour": map[string]any{"type": "string", "oneOf": []any{map[string]any{"const": "#f00", "title": "Red"}, map[string]any{"const": "#0f0", "title": "Green"}}},
	}}},
	"two":    {Mode: "form", Message: "Sure?"},
	"page":   {Mode: "url", Message: "Please sign in", URL: "https://books.example/in?for=me", ElicitationID: "1"},
	"script": {Mode: "url", Message: "Please sign in", URL: "javascript:alert(1)", ElicitationID: "2"},
}

// heard is an answer in words.
func heard(said *sdk.ElicitResult) string {
	content, _ := json.Marshal(said.Content)
	return said.Action + " " + string(content) + ";"
}

// counted has, by the text of calls whose server says how far it is, the channel that is closed when that was heard.
var counted sync.Map

// newServer has a tool of each kind.
func newServer(calls *atomic.Int64) *sdk.Server {
	server := sdk.NewServer(&sdk.Implementation{Name: "library", Version: "1"}, nil)
	sdk.AddTool(server, &sdk.Tool{Name: "find", Title: "Find", Description: "Finds books.", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}},
		func(ctx context.Context, r *sdk.CallToolRequest, q query) (*sdk.CallToolResult, any, error) {
			if calls != nil {
				calls.Add(1)
			}
			if told, counts := counted.Load(q.Text); counts {
				token := r.Params.GetProgressToken()
				for _, p := range []*sdk.ProgressNotificationParams{{ProgressToken: "another's", Progress: 9, Total: 10}, {ProgressToken: token, Progress: 1, Total: 4, Message: "shelf one"}, {ProgressToken: token, Progress: 2, Message: "said " + secret}} {
					if err := r.Session.NotifyProgress(ctx, p); err != nil {
						return nil, nil, err
					}
				}
				select {
				case <-told.(chan struct{}):
				case <-ctx.Done():
				}
			}
			switch q.Text {
			case "fail":
				return nil, nil, errors.New("the shelf is empty, said " + secret)
			case "link":
				return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "done"}, &sdk.ResourceLink{URI: "shelf://1", Name: "one.txt"}, &sdk.ResourceLink{URI: "shelf://gone", Name: "two"}}}, nil, nil
			case "slow":
				select {
				case <-ctx.Done():
				case <-time.After(5 * time.Second): // the client's word that it gave up can get lost with its connection
				}
				return nil, nil, errors.New("nobody waits")
			case "ask":
				if said, asked := r.Params.InputResponses["shelf"].(*sdk.ElicitResult); asked {
					return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "asked: " + said.Action}}}, nil, nil
				}
				return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"shelf": &sdk.ElicitParams{Message: "Which shelf?", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}}}}}, nil, nil
			case "insist":
				if _, asked := r.Params.InputResponses["shelf"].(*sdk.ElicitResult); asked {
					return nil, nil, errors.New("no shelf, no book")
				}
				return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"shelf": &sdk.ElicitParams{Message: "Which shelf?", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}}}}}, nil, nil
			case "insist as before":
				if said, err := r.Session.Elicit(ctx, &sdk.ElicitParams{Message: "Which shelf?", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}}}); err != nil || said.Action != "accept" {
					return nil, nil, errors.New("no shelf, no book")
				}
			case "form", "page", "two", "script":
				if said, asked := r.Params.InputResponses["q"].(*sdk.ElicitResult); asked {
					if q.Text == "two" && r.Params.RequestState == "" {
						return &sdk.CallToolResult{RequestState: heard(said), InputRequests: sdk.InputRequestMap{"q": questions["form"]}}, nil, nil
					}
					return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: r.Params.RequestState + heard(said)}}}, nil, nil
				}
				return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"q": questions[q.Text]}}, nil, nil
			case "form as before", "page as before", "two as before", "script as before":
				kind, _, _ := strings.Cut(q.Text, " ")
				said, err := r.Session.Elicit(ctx, questions[kind])
				text := ""
				if err == nil && kind == "two" {
					text = heard(said)
					said, err = r.Session.Elicit(ctx, questions["form"])
				}
				if err != nil {
					return nil, nil, err
				}
				return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text + heard(said)}}}, nil, nil
			case "die":
				time.AfterFunc(50*time.Millisecond, func() { os.Exit(3) })
				return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "bye"}}}, nil, nil
			case "secrets":
				return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: strings.Join(os.Environ(), "\n")}}}, nil, nil
			}
			return &sdk.CallToolResult{Content: []sdk.Content{
				&sdk.TextContent{Text: fmt.Sprintf("found %s, %d", q.Text, q.Limit)}, &sdk.ImageContent{MIMEType: "image/png", Data: []byte("PNG")},
				&sdk.ResourceLink{URI: "https://books.example/1.pdf", Name: "1.pdf", MIMEType: "application/pdf"},
			}}, nil, nil
		})
	sdk.AddTool(server, &sdk.Tool{Name: "lend", Description: "Lends a book.", Annotations: &sdk.ToolAnnotations{IdempotentHint: true}},
		func(_ context.Context, _ *sdk.CallToolRequest, q query) (*sdk.CallToolResult, map[string]any, error) {
			if q.Text == "cover" {
				cover := &sdk.ImageContent{MIMEType: "image/png", Data: []byte("PNG")}
				return &sdk.CallToolResult{Content: []sdk.Content{cover}}, map[string]any{"content": []any{map[string]any{"type": "image", "data": cover.Data}}}, nil
			}
			return nil, map[string]any{"due": "tomorrow"}, nil
		})
	sdk.AddTool(server, &sdk.Tool{Name: "burn", Description: "Burns a book."},
		func(context.Context, *sdk.CallToolRequest, query) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "ashes"}}}, nil, nil
		})
	server.AddResource(&sdk.Resource{URI: "shelf://1", Name: "one"}, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: "shelf://1", Text: "chapter one"}}}, nil
	})
	return server
}

// library is a server over HTTP that wants a key and can go down.
type library struct {
	*httptest.Server
	server *sdk.Server
	calls  atomic.Int64
	down   atomic.Bool
}

func newLibrary(t *testing.T, stateless bool) *library {
	t.Helper()
	l := &library{}
	l.server = newServer(&l.calls)
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return l.server }, &sdk.StreamableHTTPOptions{Stateless: stateless})
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case l.down.Load():
			http.Error(w, "down", http.StatusServiceUnavailable)
		case r.Header.Get("Authorization") != "Bearer "+secret:
			http.Error(w, "who are you, "+r.Header.Get("Authorization"), http.StatusUnauthorized)
		default:
			handler.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() {
		l.CloseClientConnections()
		l.Close()
	})
	return l
}

func (l *library) config(more string) string {
	return fmt.Sprintf(`{"url":%q,"headers":{"Authorization":"Bearer ${LIBRARY_TOKEN}"}%s}`, l.URL, more)
}

func program(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`{"command":%q,"env":{"SERVE_MCP":"1","OWN":"${LIBRARY_TOKEN}"}}`, self)
}

type house struct {
	*mcp.Provider
	file    string
	changed chan struct{}
}

func newHouse(t *testing.T, servers map[string]string) *house {
	t.Helper()
	h := &house{file: filepath.Join(t.TempDir(), "mcp.json"), changed: make(chan struct{}, 16)}
	h.write(t, servers)
	h.Provider = mcp.New(mcp.Config{
		File: h.file, Guard: outbound.NewClient(nil), Version: "test", Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
		Changed: func() { h.changed <- struct{}{} },
		Lookup:  func(name string) (string, bool) { return secret, name == "LIBRARY_TOKEN" },
	})
	t.Cleanup(func() {
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return h
}

func (h *house) write(t *testing.T, servers map[string]string) {
	t.Helper()
	raw := map[string]json.RawMessage{}
	for name, text := range servers {
		raw[name] = json.RawMessage(text)
	}
	data, err := json.Marshal(map[string]any{"mcpServers": raw})
	if err == nil {
		err = os.WriteFile(h.file, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
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

func (h *house) call(t *testing.T, id, text string) (registry.Result, error) {
	t.Helper()
	tools, err := h.tools(t)
	if _, there := tools[id]; !there {
		t.Fatalf("no tool %s: %v", id, err)
	}
	return h.Call(t.Context(), registry.Call{RunID: "r", Tool: tools[id], Inputs: map[string]any{"text": text, "limit": json.Number("3")}})
}

func TestLoader(t *testing.T) {
	t.Parallel()
	registrytest.TestLoader(t, func(t *testing.T) registrytest.LoaderSetup {
		l := newLibrary(t, true)
		return registrytest.LoaderSetup{Loader: newHouse(t, map[string]string{"library": l.config("")}).Provider}
	})
}

func TestTools(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(*testing.T) string{
		"2026-07-28 over HTTP":         func(t *testing.T) string { return newLibrary(t, true).config("") },
		"2025-11-25 over HTTP":         func(t *testing.T) string { return newLibrary(t, false).config("") },
		"a program by standard in/out": program,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, map[string]string{"library": make(t)})
			t.Run("A72 its tools are ours, by annotations read or write and idempotent or not", func(t *testing.T) {
				tools, err := h.tools(t)
				if err != nil {
					t.Fatal(err)
				}
				for id, want := range map[string]string{"library.find": "read true", "library.lend": "write true", "library.burn": "write false"} {
					tool := tools[id]
					if got := fmt.Sprint(tool.Capability, " ", tool.Idempotent); got != want {
						t.Errorf("%s is %s, expected %s", id, got, want)
					}
				}
				find := tools["library.find"]
				if text := find.InputSchema[0]; len(tools) != 3 || text.Name != "text" || !text.Required || text.Description != "what to look for" || find.CommandName != "/library_find" || find.DisplayName != "Find" {
					t.Errorf("got %+v", find)
				}
			})
			t.Run("a call gives text, picture and link, each as what it is", func(t *testing.T) {
				result, err := h.call(t, "library.find", "go")
				if err != nil || len(result.Outputs) != 3 {
					t.Fatalf("got %+v, %v", result, err)
				}
				body, err := result.Outputs[1].Open(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer body.Close()
				picture, _ := io.ReadAll(body)
				if result.Outputs[0].Text != "found go, 3" || string(picture) != "PNG" || result.Outputs[1].Type != "image" || result.Outputs[2].Type != "file" || result.Outputs[2].Info.Name != "1.pdf" {
					t.Errorf("got %+v", result.Outputs)
				}
			})
			t.Run("a link to what only the server has is read from it, or stays a text", func(t *testing.T) {
				result, err := h.call(t, "library.find", "link")
				if err != nil || len(result.Outputs) != 3 || result.Outputs[0].Text != "done" || result.Outputs[1].Text != "chapter one" || result.Outputs[2].Text != "two shelf://gone" {
					t.Errorf("got %+v, %v", result.Outputs, err)
				}
			})
			t.Run("B20 structured content is the result, of the shape that the tool declares", func(t *testing.T) {
				result, err := h.call(t, "library.lend", "go")
				if err != nil || len(result.Outputs) != 1 || result.Outputs[0].Name != "result" || result.Outputs[0].Text != `{"due":"tomorrow"}` {
					t.Errorf("got %+v, %v", result, err)
				}
				tools, _ := h.tools(t)
				if data, declared := tools["library.lend"].OutputSchema.Data(); !declared || !strings.Contains(string(data.Schema), `"type":"object"`) || tools["library.find"].OutputSchema != nil {
					t.Errorf("got %+v", tools["library.lend"].OutputSchema)
				}
			})
			t.Run("B20 structured content does not repeat a picture", func(t *testing.T) {
				result, err := h.call(t, "library.lend", "cover")
				if err != nil || len(result.Outputs) != 2 || !strings.Contains(result.Outputs[0].Text, `"data": "(image/png, 3 bytes)"`) || result.Outputs[1].Type != "image" {
					t.Errorf("got %+v, %v", result, err)
				}
			})
			t.Run("B22 a failure is told without secrets", func(t *testing.T) {
				_, err := h.call(t, "library.find", "fail")
				if e := registry.AsError(err); e == nil || e.Code != registry.CodeProvider || !strings.Contains(e.Message, "the shelf is empty") || strings.Contains(e.Message, secret) {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

func TestPrograms(t *testing.T) {
	t.Setenv("ADMIN_TOKEN", "not-for-programs")
	h := newHouse(t, map[string]string{"library": program(t)})
	result, err := h.call(t, "library.find", "secrets")
	if err != nil {
		t.Fatal(err)
	}
	if text := result.Outputs[0].Text; strings.Contains(text, "not-for-programs") || !strings.Contains(text, "OWN="+secret) || !strings.Contains(text, "PATH=") {
		t.Errorf("a program's environment is %s", text)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	t.Run("what a program writes between its messages is passed over", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, map[string]string{"library": strings.Replace(program(t), `"SERVE_MCP":"1"`, `"SERVE_MCP":"noisy"`, 1)})
		if result, err := h.call(t, "library.find", "go"); err != nil || result.Outputs[0].Text != "found go, 3" {
			t.Errorf("got %+v, %v", result, err)
		}
	})
	t.Run("a program that does not start says why, without secrets", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, map[string]string{"library": strings.Replace(program(t), `"SERVE_MCP":"1"`, `"SERVE_MCP":"ends"`, 1)})
		if _, err := h.tools(t); err == nil || !strings.Contains(err.Error(), "it said: Error: BOOKS_KEY is not set, said ***") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a server that is switched off in the file is none, and a program starts in its folder", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, map[string]string{"off": `{"command":"/does/not/exist","disabled":true}`, "library": strings.Replace(program(t), "{", `{"cwd":"/","disabled":false,`, 1)})
		if tools, err := h.tools(t); err != nil || len(tools) != 3 {
			t.Errorf("got %d tools, %v", len(tools), err)
		}
	})
	t.Run("A40 a server that is down keeps its tools, and the others load", func(t *testing.T) {
		t.Parallel()
		first, second := newLibrary(t, true), newLibrary(t, true)
		h := newHouse(t, map[string]string{"first": first.config(""), "second": second.config("")})
		if tools, err := h.tools(t); err != nil || len(tools) != 6 {
			t.Fatalf("got %d tools, %v", len(tools), err)
		}
		first.down.Store(true)
		tools, err := h.tools(t)
		var partial *registry.PartialError
		if len(tools) != 6 || !errors.As(err, &partial) || !strings.Contains(err.Error(), "mcpServers.first") || strings.Contains(err.Error(), "second") || strings.Contains(err.Error(), secret) {
			t.Errorf("got %d tools, %v", len(tools), err)
		}
		_, err = h.Call(t.Context(), registry.Call{RunID: "r", Tool: tools["first.find"], Inputs: map[string]any{"text": "go"}})
		if e := registry.AsError(err); e == nil || e.Code != registry.CodeUnavailable || !e.Retryable {
			t.Errorf("a call that reads: %v", err)
		}
		first.down.Store(false)
		if _, err := h.call(t, "first.find", "go"); err != nil {
			t.Errorf("when it is back: %v", err)
		}
	})
	t.Run("a call that changes something and may have arrived is not made again", func(t *testing.T) {
		t.Parallel()
		l := newLibrary(t, true)
		h := newHouse(t, map[string]string{"library": l.config("")})
		tools, err := h.tools(t)
		if err != nil {
			t.Fatal(err)
		}
		l.down.Store(true)
		_, err = h.Call(t.Context(), registry.Call{RunID: "r", Tool: tools["library.burn"], Inputs: map[string]any{"text": "go"}})
		if e := registry.AsError(err); e == nil || e.Code != registry.CodeLost || e.Retryable {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a program that ended while idle is started anew for a call that only reads", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, map[string]string{"library": program(t)})
		if _, err := h.tools(t); err != nil {
			t.Fatal(err)
		}
		if _, err := h.call(t, "library.find", "die"); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); { // before it has gone, and after
			if result, err := h.call(t, "library.find", "go"); err != nil || result.Outputs[0].Text != "found go, 3" {
				t.Fatalf("got %+v, %v", result, err)
			}
		}
	})
	t.Run("a call takes no longer than its server may", func(t *testing.T) {
		t.Parallel()
		l := newLibrary(t, false)
		h := newHouse(t, map[string]string{"library": l.config(`,"timeoutMs":100`)})
		if _, err := h.tools(t); err != nil {
			t.Fatal(err)
		}
		if _, err := h.call(t, "library.find", "slow"); err == nil || registry.AsError(err).Code != registry.CodeTimeout {
			t.Errorf("got %v", err)
		}
	})
	t.Run("what a server asks is declined", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, map[string]string{"library": program(t)})
		if _, err := h.tools(t); err != nil {
			t.Fatal(err)
		}
		if result, err := h.call(t, "library.find", "ask"); err != nil || result.Outputs[0].Text != "asked: decline" {
			t.Errorf("got %+v, %v", result, err)
		}
	})
	t.Run("who called a server that asks is told what it asked", func(t *testing.T) {
		t.Parallel()
		for text, server := range map[string]string{"insist": program(t), "insist as before": newLibrary(t, false).config("")} {
			h := newHouse(t, map[string]string{"library": server})
			_, err := h.call(t, "library.find", text)
			if e := registry.AsError(err); e == nil || e.Message != "library wants to know something of you that can't be answered here: Which shelf?" {
				t.Errorf("%s: got %v", text, err)
			}
			if _, err = h.call(t, "library.find", "fail"); err == nil || strings.Contains(err.Error(), "shelf?") {
				t.Errorf("the next call: %v", err)
			}
		}
	})
	t.Run("what can't be used is listed as unavailable, with the reason", func(t *testing.T) {
		t.Parallel()
		over := func(events bool) string {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				message, _ := io.ReadAll(r.Body)
				switch answer := withTask(message); {
				case r.Method != http.MethodPost:
					w.WriteHeader(http.StatusMethodNotAllowed)
				case answer == "":
					w.WriteHeader(http.StatusAccepted)
				case events:
					w.Header().Set("Content-Type", "text/event-stream")
					fmt.Fprintf(w, "event: message\ndata: %s\n\n", answer)
				default:
					w.Header().Set("Content-Type", "application/json")
					fmt.Fprint(w, strings.ReplaceAll(answer, `,"`, ",\n\""))
				}
			}))
			t.Cleanup(s.Close)
			return fmt.Sprintf(`{"url":%q}`, s.URL)
		}
		for name, server := range map[string]string{
			"a program": strings.Replace(program(t), `"SERVE_MCP":"1"`, `"SERVE_MCP":"tasks"`, 1), "JSON": over(false), "events": over(true),
		} {
			tools, err := newHouse(t, map[string]string{"library": server}).tools(t)
			if quick := tools["library.quick"]; err != nil || quick.State() != registry.StateActive || len(tools) != 3 {
				t.Errorf("%s: got %v, %v", name, tools, err)
			}
			for id, want := range map[string]string{"library.long": "as a task only", "library.odd": "can't be read"} {
				if got := tools[id]; got.State() != registry.StateUnavailable || !strings.Contains(got.Status.Reason, want) || validate.Tool(got) != nil {
					t.Errorf("%s: %s is %+v, %v", name, id, got.Status, validate.Tool(got))
				}
			}
		}
	})
	t.Run("what is wrong in the file is named, and the others load", func(t *testing.T) {
		t.Parallel()
		l := newLibrary(t, true)
		bad := map[string]string{
			"both": `{"command":"x","url":"http://127.0.0.1"}`, "neither": `{}`, "scheme": `{"url":"ftp://x"}`, "unset": `{"url":"http://x","headers":{"A":"${NOBODY}"}}`,
			"price": `{"command":"x","usdPerCall":"-1"}`, "pattern": `{"command":"x","tools":["["]}`, "typo": `{"comand":"x"}`, "gone": `{"command":"/does/not/exist"}`,
		}
		all := map[string]string{"library": l.config("")}
		maps.Copy(all, bad)
		tools, err := newHouse(t, all).tools(t)
		if len(tools) != 3 || err == nil {
			t.Fatalf("got %d tools, %v", len(tools), err)
		}
		for name := range bad {
			if !strings.Contains(err.Error(), "mcpServers."+name) {
				t.Errorf("%s is not named in %v", name, err)
			}
		}
	})
	t.Run("a server that is taken out is called no more; tools and price are the operator's choice", func(t *testing.T) {
		t.Parallel()
		l := newLibrary(t, true)
		h := newHouse(t, map[string]string{"library": l.config(`,"tools":["f*","lend"],"usdPerCall":"0.005"`)})
		tools, err := h.tools(t)
		if _, burns := tools["library.burn"]; err != nil || len(tools) != 2 || burns || tools["library.find"].CostingModel.Rate != "0.005" {
			t.Errorf("got %v, %v", tools, err)
		}
		h.write(t, map[string]string{})
		if after, err := h.tools(t); err != nil || len(after) != 0 {
			t.Errorf("got %v, %v", after, err)
		}
		_, err = h.Call(t.Context(), registry.Call{RunID: "r", Tool: tools["library.find"], Inputs: map[string]any{"text": "go"}})
		if e := registry.AsError(err); e == nil || e.Code != registry.CodeUnavailable {
			t.Errorf("got %v", err)
		}
	})
	t.Run("A76 a server's word that its tools changed comes at once", func(t *testing.T) {
		t.Parallel()
		l := newLibrary(t, false)
		h := newHouse(t, map[string]string{"library": l.config("")})
		if _, err := h.tools(t); err != nil {
			t.Fatal(err)
		}
		l.server.RemoveTools("burn")
		select {
		case <-h.changed:
		case <-time.After(2 * time.Minute):
			t.Fatal("nothing came")
		}
		if tools, err := h.tools(t); err != nil || len(tools) != 2 {
			t.Errorf("got %v, %v", tools, err)
		}
	})
}

// TestServersOf2024 speaks to one that keeps a stream of events open and takes messages at another address.
func TestServersOf2024(t *testing.T) {
	t.Parallel()
	server := newServer(nil)
	l := httptest.NewServer(sdk.NewSSEHandler(func(*http.Request) *sdk.Server { return server }, nil))
	t.Cleanup(func() {
		l.CloseClientConnections()
		l.Close()
	})
	h := newHouse(t, map[string]string{"old": fmt.Sprintf(`{"type":"sse","url":%q}`, l.URL)})
	tools, err := h.Load(t.Context())
	if err != nil || len(tools) != 3 {
		t.Fatalf("%d tools: %v", len(tools), err)
	}
	for _, tool := range tools {
		if tool.ToolID != "old.find" {
			continue
		}
		result, err := h.Call(t.Context(), registry.Call{Tool: tool, Inputs: map[string]any{"text": "x"}})
		if err != nil || len(result.Outputs) != 3 || result.Outputs[0].Text != "found x, 0" {
			t.Errorf("%v: %v", result.Outputs, err)
		}
	}
}

// TestAServerLeadsNowhereElse has servers name an address of another host, by the first event of the protocol of 2024 and by a redirect: nothing goes there,
// least of all what opens the server.
func TestAServerLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	var strayed atomic.Int64
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { strayed.Add(1) }))
	defer inside.Close()
	for kind, answer := range map[string]http.HandlerFunc{
		"sse": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "event: endpoint\ndata: %s/messages\n\n", inside.URL)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		},
		"http": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, inside.URL, http.StatusTemporaryRedirect)
		},
	} {
		t.Run(kind, func(t *testing.T) {
			l := httptest.NewServer(answer)
			defer l.Close()
			defer l.CloseClientConnections()
			h := newHouse(t, map[string]string{"far": fmt.Sprintf(`{"type":%q,"url":%q,"headers":{"Authorization":"Bearer ${LIBRARY_TOKEN}"}}`, kind, l.URL)})
			if _, err := h.Load(t.Context()); err == nil {
				t.Error("it is a server like any other")
			}
			if n := strayed.Load(); n > 0 {
				t.Errorf("%d requests went elsewhere", n)
			}
		})
	}
}

func TestCloseWaitsForProgramsThatWereTakenOut(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ended := filepath.Join(t.TempDir(), "ended")
	h := newHouse(t, map[string]string{"files": fmt.Sprintf(`{"command":"sh","args":["-c","\"$0\"; : >\"$1\"",%q,%q],"env":{"SERVE_MCP":"1"}}`, self, ended)})
	if tools, err := h.tools(t); len(tools) == 0 {
		t.Fatal(err)
	}
	h.write(t, nil)
	if tools, err := h.tools(t); len(tools) > 0 {
		t.Fatal(tools, err)
	}
	if err := h.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(ended); err != nil {
		t.Errorf("the program goes on: %v", err)
	}
}
