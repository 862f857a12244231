package toolapi

type object = map[string]any

// Describe gives the routes as path items of the API's OpenAPI document, whose components have a response Problem.
func Describe() object {
	responses := func(more object) object {
		more["default"] = object{"$ref": "#/components/responses/Problem"}
		return more
	}
	told := func(about string, schema object) object {
		return object{"description": about, "content": object{"application/json": object{"schema": schema}}}
	}
	return object{
		"/tools": object{"get": object{
			"operationId": "listManifests", "tags": []string{"tools"}, "summary": "The tools, as manifests with their source",
			"responses": responses(object{"200": told("The tools", object{
				"type": "object", "required": []string{"tools"}, "properties": object{"tools": object{"type": "array", "items": listedSchema()}},
			})}),
		}},
		"/tools/register": object{"post": object{
			"operationId": "registerTool", "tags": []string{"operator"}, "summary": "Add a tool behind an HTTP endpoint, or replace the one of its name",
			"description": "The endpoint must be public, unless the operator allows it. Its headers are kept encrypted and shown nowhere.",
			"requestBody": object{"required": true, "content": object{"application/json": object{"schema": entrySchema()}}},
			"responses":   responses(object{"200": told("The tool, in place of the one before", registeredSchema()), "201": told("The tool", registeredSchema())}),
		}},
		"/tools/{name}": object{"delete": object{
			"operationId": "removeTool", "tags": []string{"operator"}, "summary": "Remove a tool that was registered",
			"parameters": []object{{"name": "name", "in": "path", "required": true, "schema": text()}},
			"responses":  responses(object{"204": object{"description": "It is called no more; calls under way end"}}),
		}},
	}
}

func text() object { return object{"type": "string"} }

// manifestSchema is what a tool takes, gives and promises.
func manifestSchema() object {
	whole := func(least, most int) object { return object{"type": "integer", "minimum": least, "maximum": most} }
	return object{
		"type": "object", "required": []string{"name", "description", "inputSchema", "outputSchema", "capability", "timeoutMs", "retryPolicy"},
		"properties": object{
			"name": text(), "description": text(),
			"inputSchema":  object{"type": "object", "description": "JSON Schema of an object"},
			"outputSchema": object{"type": "object", "description": "JSON Schema"},
			"capability":   object{"enum": []string{"read", "write"}},
			"timeoutMs":    object{"type": "integer", "description": "Of one attempt; 250 to 120000 where it is registered"},
			"retryPolicy":  object{"type": "object", "required": []string{"maxAttempts"}, "properties": object{"maxAttempts": whole(1, 5), "backoffMs": whole(0, 60_000)}},
			"idempotent":   object{"type": "boolean"},
		},
	}
}

func listedSchema() object {
	return object{"type": "object", "required": []string{"manifest", "source"}, "properties": object{
		"manifest": manifestSchema(), "source": object{"type": "string", "description": "file or api for remote tools, the service of all others"},
	}}
}

func entrySchema() object {
	return object{"type": "object", "required": []string{"manifest", "endpoint"}, "additionalProperties": false, "properties": object{
		"manifest": manifestSchema(), "endpoint": object{"type": "string", "format": "uri"},
		"staticHeaders": object{"type": "object", "additionalProperties": text(), "description": "Headers of each call, such as a key"},
		"enabled":       object{"type": "boolean", "default": true},
		"tool":          object{"type": "object", "description": "Further members of the definition, such as displayName, commandName or costingModel"},
	}}
}

func registeredSchema() object {
	return object{"type": "object", "required": []string{"name", "enabled"}, "properties": object{
		"name": text(), "enabled": object{"type": "boolean"}, "manifest": manifestSchema(), "source": text(),
		"problem": object{"type": "string", "description": "What of it can't be used, such as a command that another tool has"},
	}}
}
