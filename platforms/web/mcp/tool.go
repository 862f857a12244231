package mcp

import (
	"encoding/json"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// describe is a tool of the registry as clients see it.
func describe(tool *registry.Tool) (*sdk.Tool, error) {
	input, err := tool.InputSchema.JSONSchema()
	if err != nil {
		return nil, err
	}
	output, err := resultSchema(tool)
	if err != nil {
		return nil, err
	}
	openWorld, destructive := true, false
	return &sdk.Tool{
		Name: nameOf(tool.ToolID), Title: tool.DisplayName, Description: tool.About(), InputSchema: input, OutputSchema: output,
		Annotations: &sdk.ToolAnnotations{
			Title: tool.DisplayName, ReadOnlyHint: tool.Capability == registry.CapabilityRead, IdempotentHint: tool.Idempotent,
			DestructiveHint: &destructive, OpenWorldHint: &openWorld,
		},
	}, nil
}

// resultSchema says what structured results look like. It is kept for every tool, and as bytes it takes a tenth of
// what it takes as maps.
func resultSchema(tool *registry.Tool) (json.RawMessage, error) {
	file := map[string]any{"type": "object", "required": []string{"url"}, "properties": map[string]any{
		"url": map[string]any{"type": "string"}, "ref": map[string]any{"type": "string", "description": "for inputs of other tools"},
		"mimeType": map[string]any{"type": "string"}, "name": map[string]any{"type": "string"},
		"width": map[string]any{"type": "integer"}, "height": map[string]any{"type": "integer"}, "bytes": map[string]any{"type": "integer"},
	}}
	properties := map[string]any{}
	for _, o := range tool.OutputSchema {
		one := map[string]any{"type": "string"}
		if o.Type != "text" {
			one = file
		}
		properties[o.Name] = map[string]any{"type": "array", "items": one, "description": o.Description}
	}
	return json.Marshal(map[string]any{
		"type": "object", "required": []string{"runId", "outputs", "costNanoUsd"},
		"properties": map[string]any{
			"runId": map[string]any{"type": "string"}, "costNanoUsd": map[string]any{"type": "integer", "description": "what was charged, in billionths of a US dollar"},
			"outputs": map[string]any{"type": "object", "properties": properties, "description": "results by name, each a list"},
		},
	})
}

// envelopeKey is where a result's _meta tells the call in short: {ok, data | error, latencyMs, attempts, traceId}.
const envelopeKey = "signalbox/envelope"

// result is a run that is over, for model and program.
func (s *Server) result(c caller, run runs.Run) *sdk.CallToolResult {
	outputs := run.DataOf(func(o runs.Output) any {
		return fileBody{URL: s.address(c, o), Ref: o.Media, Name: o.FileName, MIMEType: o.MIMEType, Width: o.Width, Height: o.Height, Bytes: o.Bytes}
	})
	envelope, _ := run.Envelope(outputs)
	if run.Status != runs.StatusSucceeded {
		return refusal(failureText(run), envelope)
	}
	content := []sdk.Content{}
	for _, o := range run.Outputs {
		if o.Type == "text" {
			content = append(content, &sdk.TextContent{Text: o.Text})
			continue
		}
		size := o.Bytes
		content = append(content, &sdk.ResourceLink{URI: s.address(c, o), Name: o.FileName, Title: o.Name, MIMEType: o.MIMEType, Size: &size})
	}
	content = append(content, &sdk.TextContent{Text: "It cost " + run.Cost.String() + ", run " + run.ID + "."})
	return &sdk.CallToolResult{Meta: sdk.Meta{envelopeKey: envelope}, Content: content, StructuredContent: map[string]any{"runId": run.ID, "costNanoUsd": int64(run.Cost), "outputs": outputs}}
}

// address is where a stored file is fetched.
func (s *Server) address(c caller, o runs.Output) string {
	return c.base + s.cfg.FilePath(o.Media, o.FileName)
}

type fileBody struct {
	URL      string `json:"url"`
	Ref      string `json:"ref"`
	Name     string `json:"name,omitempty"`
	MIMEType string `json:"mimeType,omitempty"`
	Width    int    `json:"width,omitempty"`
	Height   int    `json:"height,omitempty"`
	Bytes    int64  `json:"bytes,omitempty"`
}

// refusal is an error that the model can read and act on.
func refusal(text string, envelope runs.Envelope) *sdk.CallToolResult {
	return &sdk.CallToolResult{Meta: sdk.Meta{envelopeKey: envelope}, IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}
