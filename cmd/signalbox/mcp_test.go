package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// keyed sends a key with each request.
type keyed string

func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(k))
	return http.DefaultTransport.RoundTrip(r)
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
