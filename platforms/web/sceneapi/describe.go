package sceneapi

// Describe is what the routes add to the API's OpenAPI document.
func Describe() map[string]any {
	problem := map[string]any{"$ref": "#/components/responses/Problem"}
	ok := func(description, mime string, schema map[string]any) map[string]any {
		return map[string]any{"description": description, "content": map[string]any{mime: map[string]any{"schema": schema}}}
	}
	object := map[string]any{"type": "object"}
	text := map[string]any{"type": "string"}
	parameter := func(name, in, description string, schema map[string]any) map[string]any {
		return map[string]any{"name": name, "in": in, "required": in == "path", "description": description, "schema": schema}
	}
	return map[string]any{
		"/api/scenes": map[string]any{"get": map[string]any{
			"operationId": "listScenes", "summary": "Your drawings, the one changed last first", "tags": []string{"drawings"},
			"responses": map[string]any{"200": ok("The drawings.", "application/json", object), "default": problem},
		}},
		"/api/scenes/{file}": map[string]any{"get": map[string]any{
			"operationId": "getScene", "summary": "A drawing as svg, png, jpg, webp, pdf or json", "tags": []string{"drawings"},
			"parameters": []any{
				parameter("file", "path", "The drawing's id and the format, such as ID.png.", text),
				parameter("board", "query", "Id of the board to show; without it all that lies on the page.", text),
				parameter("scale", "query", "Pixels for a pixel of the drawing, 0.05 to 8.", map[string]any{"type": "number"}),
			},
			"responses": map[string]any{"200": map[string]any{"description": "The drawing."}, "default": problem},
		}},
		"/api/scenes/{id}/events": map[string]any{"get": map[string]any{
			"operationId": "watchScene", "summary": "Told when a drawing changes", "tags": []string{"drawings"},
			"parameters": []any{parameter("id", "path", "The drawing's id.", text)},
			"responses":  map[string]any{"200": ok("An event named scene for each version.", "text/event-stream", text), "default": problem},
		}},
		"/api/scenes/{id}/operations": map[string]any{"post": map[string]any{
			"operationId": "editScene", "summary": "Change a drawing, as one step that can be undone", "tags": []string{"drawings"},
			"parameters":  []any{parameter("id", "path", "The drawing's id.", text)},
			"requestBody": map[string]any{"required": true, "content": map[string]any{"application/json": map[string]any{"schema": edit()}}},
			"responses":   map[string]any{"200": ok("The new version, and the shape that each operation was about.", "application/json", object), "default": problem},
		}},
	}
}

// edit is the schema of an edit.
func edit() map[string]any {
	return map[string]any{"type": "object", "required": []string{"id", "version", "operations"}, "properties": map[string]any{
		"id":      map[string]any{"type": "string", "format": "uuid", "description": "Of your making: sent again, the edit is done once."},
		"version": map[string]any{"type": "integer", "description": "The version that you know. Where a shape was changed since, 409 is answered; changes of other shapes are merged."},
		"operations": map[string]any{"type": "array", "minItems": 1, "items": map[string]any{"type": "object", "required": []string{"tool"}, "properties": map[string]any{
			"tool":   map[string]any{"type": "string", "description": "A tool that draws, such as create-rectangle or delete-shape; modify-shape, for shapes of all types; undo or redo, by itself."},
			"inputs": map[string]any{"type": "object", "description": "The tool's inputs."},
		}}},
	}}
}
