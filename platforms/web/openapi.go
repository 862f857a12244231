package web

import (
	"net/http"

	"github.com/signalbox/signalbox/registry"
)

// openapi describes the API in OpenAPI 3.1, with one operation for each public tool.
func (s *Server) openapi(w http.ResponseWriter, _ *http.Request) {
	paths := map[string]any{
		"/api/tools":             get("listTools", "The tools, as ToolDefinitions", nil),
		"/api/tools/{id}":        get("getTool", "One tool", idParameter()),
		"/api/status":            get("getStatus", "Loaders and engines with their last error", nil),
		"/api/runs":              get("listRuns", "Your runs, newest first", nil),
		"/api/runs/{id}":         get("getRun", "One run", idParameter()),
		"/api/runs/{id}/events":  get("followRun", "The run as server-sent events until it is over", idParameter()),
		"/api/runs/{id}/cancel":  post("cancelRun", "Cancel a run; it costs nothing", idParameter(), nil),
		"/api/runs/{id}/confirm": post("confirmRun", "Confirm a run that waits for it", idParameter(), nil),
		"/api/balance":           get("getBalance", "Your balance in nano-dollars", nil),
		"/api/uploads":           post("upload", "Store a file to use as a media input", nil, nil),
		"/api/quote/{id}":        post("quote", "What a run of a tool would cost", idParameter(), nil),
		"/api/keys":              post("createKey", "Make an account with a key (operators)", nil, nil),
	}
	for _, t := range s.cfg.Registry.Snapshot().Public() {
		paths[t.RunPath()] = post("run_"+t.ToolID, t.DisplayName, nil, toolRequest(t))
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"openapi": "3.1.0",
		"info":    map[string]any{"title": "Signalbox", "version": s.cfg.Version},
		"paths":   paths,
		"components": map[string]any{"securitySchemes": map[string]any{
			"key": map[string]any{"type": "http", "scheme": "bearer"},
		}},
		"security": []any{map[string]any{"key": []any{}}},
	})
}

func get(id, summary string, parameters []any) map[string]any {
	return map[string]any{"get": operation(id, summary, parameters)}
}

func post(id, summary string, parameters []any, body map[string]any) map[string]any {
	op := operation(id, summary, parameters)
	if body != nil {
		op["requestBody"] = map[string]any{"content": map[string]any{"application/json": map[string]any{"schema": body}}}
	}
	return map[string]any{"post": op}
}

func operation(id, summary string, parameters []any) map[string]any {
	op := map[string]any{
		"operationId": id, "summary": summary,
		"responses": map[string]any{
			"2XX":     map[string]any{"description": "Success"},
			"default": map[string]any{"description": "A problem (RFC 9457)", "content": map[string]any{"application/problem+json": map[string]any{}}},
		},
	}
	if parameters != nil {
		op["parameters"] = parameters
	}
	return op
}

func idParameter() []any {
	return []any{map[string]any{"name": "id", "in": "path", "required": true, "schema": map[string]any{"type": "string"}}}
}

// toolRequest is the JSON Schema of a tool's request body.
func toolRequest(t *registry.Tool) map[string]any {
	properties := map[string]any{}
	required := []string{}
	for _, f := range t.InputSchema {
		properties[f.Name] = fieldSchema(f)
		if f.Required && f.Default == nil {
			required = append(required, f.Name)
		}
	}
	return map[string]any{
		"type": "object", "required": []string{"inputs"},
		"properties": map[string]any{"inputs": map[string]any{
			"type": "object", "properties": properties, "required": required, "additionalProperties": false,
		}},
	}
}

func fieldSchema(f registry.InputField) map[string]any {
	schema := map[string]any{"title": f.Label()}
	switch {
	case f.Type == registry.TypeBoolean:
		schema["type"] = "boolean"
	case f.Type == registry.TypeNumber && f.Integer:
		schema["type"] = "integer"
	case f.Type == registry.TypeNumber:
		schema["type"] = "number"
	default:
		schema["type"] = "string"
	}
	if f.Description != "" {
		schema["description"] = f.Description
	}
	if f.Type.IsMedia() {
		schema["description"] = f.Description + " (" + string(f.Type) + ": a reference from /api/uploads, an https address, or a data URI)"
	}
	if f.Default != nil {
		schema["default"] = f.Default
	}
	if f.Min != "" {
		schema["minimum"] = f.Min
	}
	if f.Max != "" {
		schema["maximum"] = f.Max
	}
	if len(f.Choices) > 0 {
		var allowed []any
		for _, c := range f.Choices {
			allowed = append(allowed, c.Value)
		}
		schema["enum"] = allowed
	}
	if f.Multiple {
		return map[string]any{"title": f.Label(), "type": "array", "items": schema}
	}
	return schema
}
