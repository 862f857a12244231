package mcp

import (
	"encoding/json"
	"fmt"

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
	if data, declared := tool.OutputSchema.Data(); declared {
		return dataSchema(data.Schema)
	}
	file := map[string]any{"type": "object", "required": []string{"url"}, "properties": map[string]any{
		"url": map[string]any{"type": "string"}, "ref": map[string]any{"type": "string", "description": "for inputs of other tools"},
		"mimeType": map[string]any{"type": "string"}, "name": map[string]any{"type": "string"},
		"width": map[string]any{"type": "integer"}, "height": map[string]any{"type": "integer"}, "bytes": map[string]any{"type": "integer"},
		"imageUrl": map[string]any{"type": "string", "description": "url, of a picture"}, "alt": map[string]any{"type": "string"},
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

// dataMember holds data whose schema is not that of an object, which the protocol wants.
const dataMember = "data"

// dataSchema is the schema of a tool's own data as the protocol takes it.
func dataSchema(raw json.RawMessage) (json.RawMessage, error) {
	if isObject(raw) {
		return raw, nil
	}
	outer := map[string]any{"type": "object", "required": []string{dataMember}, "properties": map[string]json.RawMessage{dataMember: raw}}
	var shared map[string]json.RawMessage
	if json.Unmarshal(raw, &shared) == nil { // true and false are schemas, too
		for _, key := range []string{"$schema", "$defs", "definitions"} { // references lead from the root
			if shared[key] != nil {
				outer[key] = shared[key]
			}
		}
	}
	return json.Marshal(outer)
}

func isObject(schema json.RawMessage) bool {
	var about struct {
		Type any `json:"type"`
	}
	return json.Unmarshal(schema, &about) == nil && about.Type == "object"
}

// structured is what a run gives to programs, as its tool's resultSchema says. ok is false where the answer has another shape.
func structured(run runs.Run, outputs map[string][]any) (content any, ok bool) {
	field, declared := run.Tool.OutputSchema.Data()
	if !declared {
		return map[string]any{"runId": run.ID, "costNanoUsd": int64(run.Cost), "outputs": outputs}, true
	}
	data, ok := run.Data()
	if ok && !isObject(field.Schema) {
		data = map[string]any{dataMember: data}
	}
	return data, ok
}

// envelopeKey is where a result's _meta tells the call in short: {ok, data | error, latencyMs, attempts, traceId}.
const envelopeKey = "signalbox/envelope"

func failureText(run runs.Run) string {
	cost := "nothing"
	if run.Cost > 0 {
		cost = run.Cost.String()
	}
	text := fmt.Sprintf("The run %s ended as %s and cost %s.", run.ID, run.Status, cost)
	if run.Error != nil {
		text = fmt.Sprintf("%s: %s (run %s, which cost %s)", run.Error.Code, run.Error.Message, run.ID, cost)
	}
	return text
}

// result is a run that is over, for model and program.
func (s *Server) result(c caller, run runs.Run) *sdk.CallToolResult {
	file := func(o runs.Output) any {
		told := fileBody{URL: s.address(c, run.AccountID, o), Ref: o.Media, Name: o.FileName, MIMEType: o.MIMEType, Width: o.Width, Height: o.Height, Bytes: o.Bytes, Alt: o.Alt}
		if o.Type == string(registry.TypeImage) {
			told.ImageURL = told.URL
		}
		return told
	}
	envelope, _ := run.Envelope(run.DataOf(file))
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
		content = append(content, &sdk.ResourceLink{URI: s.address(c, run.AccountID, o), Name: o.FileName, Title: o.Name, MIMEType: o.MIMEType, Size: &size})
	}
	content = append(content, &sdk.TextContent{Text: "It cost " + run.Cost.String() + ", run " + run.ID + "."})
	result := &sdk.CallToolResult{Meta: sdk.Meta{envelopeKey: envelope}, Content: content}
	if data, fits := structured(run, run.OutputsOf(file)); fits {
		result.StructuredContent = data
		return result
	}
	// Clients refuse a success that does not fit the schema, and its texts with it.
	result.IsError = true
	result.Content = append(content, &sdk.TextContent{Text: "It was done, so don't call it again for this. The answer only has another shape than the tool's outputSchema says."})
	return result
}

// address is where a stored file is fetched.
func (s *Server) address(c caller, owner string, o runs.Output) string {
	return c.base + s.cfg.FilePath(owner, o.Media, o.FileName)
}

type fileBody struct {
	URL      string `json:"url"`
	Ref      string `json:"ref"`
	Name     string `json:"name,omitempty"`
	MIMEType string `json:"mimeType,omitempty"`
	Width    int    `json:"width,omitempty"`
	Height   int    `json:"height,omitempty"`
	Bytes    int64  `json:"bytes,omitempty"`
	ImageURL string `json:"imageUrl,omitempty"` // the same as URL, of a picture: what planners look for
	Alt      string `json:"alt,omitempty"`      // what the picture shows
}

// refusal is an error that the model can read and act on.
func refusal(text string, envelope runs.Envelope) *sdk.CallToolResult {
	return &sdk.CallToolResult{Meta: sdk.Meta{envelopeKey: envelope}, IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}
