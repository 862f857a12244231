package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
)

// keyed sends a key with each request.
type keyed string

func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(k))
	return http.DefaultTransport.RoundTrip(r)
}

// callMCP calls a tool as an MCP client.
func (c client) callMCP(tool string, inputs map[string]any) *sdk.CallToolResult {
	c.t.Helper()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil).Connect(c.t.Context(),
		&sdk.StreamableClientTransport{Endpoint: c.page + "/mcp", HTTPClient: &http.Client{Transport: keyed(c.key)}}, nil)
	if err != nil {
		c.t.Error(err)
		return nil
	}
	defer session.Close()
	result, err := session.CallTool(c.t.Context(), &sdk.CallToolParams{Name: tool, Arguments: inputs})
	if err != nil {
		c.t.Error(err)
	}
	return result
}

// TestMCPServer is an MCP client at the whole program.
func TestMCPServer(t *testing.T) {
	t.Parallel()
	page := start(t, "--admin-token", remoteAdmin)
	_, answer := client{t, page, remoteAdmin}.do("POST", "/api/keys", `{"name":"agent","spendLimitUsd":"0.5"}`)
	key := strings.Split(strings.SplitAfter(answer, `"key":"`)[1], `"`)[0]
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		session, err := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil).Connect(t.Context(),
			&sdk.StreamableClientTransport{Endpoint: page + "/mcp", HTTPClient: &http.Client{Transport: keyed(key)}}, &sdk.ClientSessionOptions{ProtocolVersion: version})
		if err != nil {
			t.Fatal(err)
		}
		result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "wallpaper", Arguments: map[string]any{"colors": 5, "width": 320, "height": 200}})
		if err != nil || result.IsError {
			t.Fatalf("%s: %+v, %v", version, result, err)
		}
		link, ok := result.Content[0].(*sdk.ResourceLink)
		if !ok || !strings.HasPrefix(link.URI, page+"/files/") || link.MIMEType != "image/png" {
			t.Errorf("%s: A74 the picture is %+v", version, result.Content[0])
		}
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestRestrictedKeysOwnNoSites has keys that an operator made for themselves: one with a spending limit and one of an agent have nothing of an
// operator on the house's site neither, by tools or by addresses.
func TestRestrictedKeysOwnNoSites(t *testing.T) {
	t.Parallel()
	pool := postgrestest.New(t)
	page := start(t, "--api-rate", "0", "--admin-token", remoteAdmin, "--database-url", postgrestest.DSN(pool))
	keyOf := func(restrictions string) client {
		_, answer := client{t, page, remoteAdmin}.do(http.MethodPost, "/api/keys", `{"name":"program"`+restrictions+`}`)
		var made struct{ Key string }
		if err := json.Unmarshal([]byte(answer), &made); err != nil || made.Key == "" {
			t.Fatalf("no key was made: %s", answer)
		}
		return client{t, page, made.Key}
	}
	operator, limited, agents := keyOf(""), keyOf(`,"spendLimitUsd":"0.5","allRuns":true`), keyOf(`,"agent":true,"allRuns":true`)
	if _, err := pool.Exec(t.Context(), `UPDATE users SET operator = true`); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ method, path, body string }{
		{http.MethodPost, "/api/site/pages", `{"name":"Ours","slug":"ours"}`},
		{http.MethodGet, "/api/site/members", ""},
		{http.MethodPost, "/api/run/createPage", `{"inputs":{"name":"Ours","slug":"ours2"}}`},
		{http.MethodPost, "/api/run/getPage", `{"inputs":{"all":true}}`},
	} {
		for kind, restricted := range map[string]client{"with a spending limit": limited, "of an agent": agents} {
			if status, answer := restricted.do(c.method, c.path, c.body); status != http.StatusForbidden {
				t.Errorf("%s %s by an operator's key %s: %d %s", c.method, c.path, kind, status, answer)
			}
		}
		if status, answer := operator.do(c.method, c.path, c.body); status >= 300 {
			t.Errorf("%s %s by the operator: %d %s", c.method, c.path, status, answer)
		}
	}
	leg := `"legs":[{"tool":"getPage","inputs":{"all":true},"order":1}]`
	_, answer := operator.do(http.MethodPost, "/api/chains", `{"name":"Look","command":"/look_at_pages","visibility":"private",`+leg+`}`)
	var chain struct{ ChainID string }
	if err := json.Unmarshal([]byte(answer), &chain); err != nil || chain.ChainID == "" {
		t.Fatalf("no chain was made: %s", answer)
	}
	for _, c := range []struct{ path, body string }{{"/api/run/chain-" + chain.ChainID, `{"inputs":{}}`}, {"/api/missions", `{"title":"Look",` + leg + `}`}} {
		for kind, restricted := range map[string]client{"with a spending limit": limited, "of an agent": agents} {
			if status, answer := restricted.do(http.MethodPost, c.path, c.body); status != http.StatusForbidden {
				t.Errorf("%s by an operator's key %s: %d %s", c.path, kind, status, answer)
			}
		}
		if status, answer := operator.do(http.MethodPost, c.path, c.body); status >= 300 {
			t.Errorf("%s by the operator: %d %s", c.path, status, answer)
		}
	}
	t.Run("keys that see only what was made by them", func(t *testing.T) {
		for kind, key := range map[string]client{"with a spending limit": keyOf(`,"spendLimitUsd":"0.5"`), "of an agent": keyOf(`,"agent":true`), "for some tools": keyOf(`,"tools":["*"]`)} {
			t.Run(kind, func(t *testing.T) {
				seesOnlyItsOwn(client{t, page, operator.key}, client{t, page, key.key}, kind == "for some tools")
			})
		}
	})
}

// seesOnlyItsOwn has an owner make one of each thing, all with a mark, and looks for the mark in whatever a key of theirs is answered by operations that the
// API describes, and by MCP.
func seesOnlyItsOwn(owner, key client, namesChains bool) {
	t := key.t
	t.Helper()
	const mark = "zanzibar"
	makes := func(by client, path, body, member string) string {
		t.Helper()
		_, answer := by.do(http.MethodPost, path, body)
		var made map[string]any
		if err := json.Unmarshal([]byte(answer), &made); err != nil || made[member] == nil {
			t.Fatalf("POST %s: %s", path, answer)
		}
		return fmt.Sprint(made[member])
	}
	leg := `"legs":[{"tool":"draw","inputs":{"text":"quote: ` + mark + `"},"summary":"` + mark + `","order":1}]`
	drew, output := owner.run("draw", `{"text":"poster for Friday: `+mark+`"}`)
	var drawings struct{ Scenes []struct{ ID, Title string } }
	if _, answer := owner.do(http.MethodGet, "/api/scenes", ""); json.Unmarshal([]byte(answer), &drawings) != nil || len(drawings.Scenes) == 0 || !strings.Contains(strings.ToLower(drawings.Scenes[0].Title), mark) {
		t.Fatalf("the owner's drawing is not there: %s %s %s", drew, output, answer)
	}
	drawing := drawings.Scenes[0].ID
	run := makes(owner, "/api/run/draw", `{"inputs":{"text":"quote: `+mark+`"}}`, "runId")
	command := strings.ToLower(strings.NewReplacer("/", "", "-", "_").Replace("c" + run[len(run)-12:]))
	chain := makes(owner, "/api/chains", `{"name":"`+mark+`","command":"/`+command+`","visibility":"private",`+leg+`}`, "chainId")
	mission := makes(owner, "/api/missions", `{"title":"`+mark+`",`+leg+`}`, "missionId")
	key.run("draw", `{"text":"poster for Friday: its own"}`)
	if namesChains {
		if status, answer := key.do(http.MethodGet, "/api/tools/chain-"+chain, ""); status != http.StatusOK {
			t.Errorf("a chain that its list names is no tool to it: %d %s", status, answer)
		}
	}

	_, document := owner.do(http.MethodGet, "/openapi.json", "")
	var described struct{ Paths map[string]map[string]any }
	if err := json.Unmarshal([]byte(document), &described); err != nil {
		t.Fatal(err)
	}
	look := func(method, path, body string) {
		ctx, stop := context.WithTimeout(t.Context(), 10*time.Second) // a stream that should not be open
		defer stop()
		r, err := http.NewRequestWithContext(ctx, method, key.page+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+key.key)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if bytes.Contains(bytes.ToLower(text), []byte(mark)) || res.StatusCode == http.StatusTooManyRequests || res.StatusCode >= 500 && res.StatusCode != http.StatusServiceUnavailable || err != nil {
			t.Errorf("%s %s: %d %s %v", method, path, res.StatusCode, text, err)
		}
	}
	n := 0
	for path, operations := range described.Paths {
		if strings.HasPrefix(path, "/api/run/") || path == "/api/tools/{id}" && namesChains {
			continue
		}
		for method := range operations {
			paths := []string{path}
			if strings.Contains(path, "{") {
				paths = nil
				for _, id := range []string{drawing, drawing + ".svg", drawing + ".json", run, chain, "chain-" + chain, mission} {
					paths = append(paths, regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(path, id))
				}
			}
			for _, at := range paths {
				n++
				look(strings.ToUpper(method), at, cmp.Or(map[string]string{"get": " "}[method], `{}`))
			}
		}
	}
	if n < 100 {
		t.Errorf("%d requests are all that the document describes", n)
	}
	for _, path := range []string{"/api/tools?q=" + mark, "/api/gallery?q=" + mark, "/api/runs?toolId=draw", "/api/missions", "/api/chains", "/api/scenes"} {
		look(http.MethodGet, path, "")
	}
	look(http.MethodPost, "/api/scenes/"+drawing+"/operations", `{"id":"`+run+`","version":1,"operations":[{"tool":"undo","inputs":{}}]}`)
	look(http.MethodPost, "/api/run/draw?wait=5", `{"inputs":{"text":"svg","scene":"`+drawing+`"}}`)
	for _, words := range []map[string]any{{"text": "svg", "scene": drawing}, {"text": "undo", "scene": drawing}, {"text": "svg"}} {
		if result, err := json.Marshal(key.callMCP("draw", words)); err != nil || bytes.Contains(bytes.ToLower(result), []byte(mark)) {
			t.Errorf("draw %v over MCP: %s, %v", words, result, err)
		}
	}
	if _, answer := key.do(http.MethodGet, "/api/scenes", ""); !namesChains && (json.Unmarshal([]byte(answer), &drawings) != nil || len(drawings.Scenes) != 1) {
		t.Errorf("its own drawings are %s", answer)
	}
	if status, _ := owner.do(http.MethodGet, "/api/scenes/"+drawing+".json", ""); status != http.StatusOK {
		t.Errorf("the owner's drawing: %d", status)
	}
}

// TestMCPServers is the whole program with the tools of an MCP server.
func TestMCPServers(t *testing.T) {
	t.Parallel()
	library := sdk.NewServer(&sdk.Implementation{Name: "library"}, nil)
	sdk.AddTool(library, &sdk.Tool{Name: "greet", Description: "Greets.", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}},
		func(_ context.Context, _ *sdk.CallToolRequest, in struct {
			Name string `json:"name"`
		}) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "hello " + in.Name}}}, nil, nil
		})
	server := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return library }, nil))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	file := filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(file, fmt.Appendf(nil, `{"mcpServers":{"library":{"url":%q}}}`, server.URL), 0o600); err != nil {
		t.Fatal(err)
	}
	page := start(t, "--admin-token", remoteAdmin, "--mcp-servers", file)
	if status, output := (client{t, page, remoteAdmin}).run("library.greet", `{"name":"Ann"}`); status != "succeeded" || output != "hello Ann" {
		t.Errorf("A72 %s: %s", status, output)
	}
}

// TestMCPToolsThatCannotRun has the operator see which tools of an MCP server can't be used, and why.
func TestMCPToolsThatCannotRun(t *testing.T) {
	t.Parallel()
	answers := map[string]string{
		"initialize": `"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`,
		"tools/list": `"result":{"tools":[{"name":"quick","inputSchema":{"type":"object"}},{"name":"long","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}},
			{"name":"not a name","inputSchema":{"type":"object"}},{"name":"odd","inputSchema":{"type":"object","properties":{"":{"type":"string"}}}}]}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil || m.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, m.ID, cmp.Or(answers[m.Method], `"error":{"code":-32601,"message":"not here"}`))
	}))
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(file, fmt.Appendf(nil, `{"mcpServers":{"library":{"url":%q}}}`, server.URL), 0o600); err != nil {
		t.Fatal(err)
	}
	operator := client{t, start(t, "--admin-token", remoteAdmin, "--mcp-servers", file), remoteAdmin}
	for path, wants := range map[string][]string{
		"/operator/tools":    {"library.quick", "library.not_a_name", "library.long", "its MCP server runs it as a task only"},
		"/operator/errors":   {"library.odd", "inputSchema"},
		"/tool/library.long": {"MCP server runs it as a task only"},
	} {
		status, page := operator.do(http.MethodGet, path, "")
		for _, want := range wants {
			if status != http.StatusOK || !strings.Contains(page, want) {
				t.Errorf("%s does not say %q: %d", path, want, status)
			}
		}
	}
	if status, answer := operator.do(http.MethodPost, "/api/run/library.long", `{"inputs":{}}`); status < 400 || !strings.Contains(answer, "as a task only") {
		t.Errorf("a run: %d %s", status, answer)
	}
}
