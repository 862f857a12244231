package mcp

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
)

// searchTool finds tools of the registry for clients that do not want to read all of them. It is no run and costs nothing.
const searchTool = "searchTools"

// searchInput is what the tool takes.
var searchInput = json.RawMessage(`{"type":"object","required":["query"],"additionalProperties":false,"properties":{` +
	`"query":{"type":"string","description":"what should be done, in plain words of any of five languages"},` +
	`"has":{"type":"string","description":"what there is to work on, such as image,text"},` +
	`"limit":{"type":"integer","minimum":1,"maximum":50}}}`)

func describeSearch() *sdk.Tool {
	closed := false
	return &sdk.Tool{
		Name: searchTool, Title: "Search tools", InputSchema: searchInput,
		Description: "Finds the tools that a task asks for, best first, with what speaks for each. Use it before you choose one of many.",
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &closed},
	}
}

func (s *Server) search(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	c, known := callerOf(req)
	if !known {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the request came without a key"}
	}
	var in struct {
		Query string
		Has   *string
		Limit int
	}
	if err := json.Unmarshal(req.Params.Arguments, &in); err != nil || in.Query == "" {
		return toldRefusal(registry.Errorf(registry.CodeInvalidInput, `expected {"query":"what should be done"}`)), nil
	}
	o := catalog.SearchOptions{Audience: c.audience(), Limit: min(in.Limit, 50)}
	if in.Has != nil {
		kinds, err := catalog.ParseKinds(*in.Has)
		if err != nil {
			return toldRefusal(err), nil
		}
		o.Has = kinds
	}
	found := []catalog.Brief{}
	for _, m := range s.cfg.Search(ctx, in.Query, o) {
		found = append(found, m.Brief())
	}
	answer := map[string]any{"tools": found}
	text, err := json.Marshal(answer)
	if err != nil {
		return nil, err
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(text)}}, StructuredContent: answer}, nil
}

func toldRefusal(err error) *sdk.CallToolResult {
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: err.Error()}}}
}
