package web

import (
	"net/http"

	"github.com/signalbox/signalbox/registry"
)

// openapi describes the API in OpenAPI 3.1, with one operation for each public tool.
func (s *Server) openapi(w http.ResponseWriter, r *http.Request) {
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
		body, err := toolRequest(t)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		paths[t.RunPath()] = post("run_"+t.ToolID, t.DisplayName, nil, body)
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
func toolRequest(t *registry.Tool) (map[string]any, error) {
	inputs, err := t.InputSchema.JSONSchema()
	if err != nil {
		return nil, err
	}
	return map[string]any{"type": "object", "required": []string{"inputs"}, "properties": map[string]any{"inputs": inputs}}, nil
}
