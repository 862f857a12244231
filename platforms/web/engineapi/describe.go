package engineapi

type object = map[string]any

// Describe gives the routes as path items of the API's OpenAPI document, whose components have a response Problem.
func Describe() object {
	text := func(about string) object { return object{"type": "string", "description": about} }
	told := func(about string, schema object) object {
		return object{
			"200":     object{"description": about, "content": object{"application/json": object{"schema": schema}}},
			"default": object{"$ref": "#/components/responses/Problem"},
		}
	}
	return object{
		"/api/engines": object{"get": object{
			"operationId": "listEngines", "tags": []string{"operator"}, "summary": "The engines, how they are and what is wanted of them",
			"responses": told("The engines", object{"type": "object", "required": []string{"engines"}, "properties": object{
				"engines": object{"type": "array", "items": object{"type": "object", "required": []string{"name", "up"}, "properties": object{
					"name": text("host:port and path"), "up": object{"type": "boolean"}, "error": text("Why it is down"),
					"order": text("cordoned, draining or released; empty: it takes runs"), "tags": object{"type": "array", "items": text("name=value")},
					"memory": object{"type": "integer", "description": "Bytes of the first GPU"}, "free": object{"type": "integer", "description": "Bytes of them that are free"},
				}}},
			}}),
		}},
		"/api/engines/{engine}": object{"put": object{
			"operationId": "orderEngine", "tags": []string{"operator"}, "summary": "Cordon, drain or release an engine, or give it runs again",
			"description": "It holds here at once, in other processes within ten seconds, and over restarts. The audit log keeps who did it and why.",
			"parameters":  []object{{"name": "engine", "in": "path", "required": true, "schema": text("Its name; a slash is %2F")}},
			"requestBody": object{"required": true, "content": object{"application/json": object{"schema": object{
				"type": "object", "required": []string{"do", "why"}, "properties": object{
					"do": object{"enum": []string{"cordon", "drain", "release", "uncordon"}}, "why": text("The reason, at most 500 characters"),
				},
			}}}},
			"responses": told("What is wanted of it now", object{"type": "object", "required": []string{"engine", "order"}, "properties": object{"engine": text("Its name"), "order": text("cordoned, draining or released; empty: it takes runs")}}),
		}},
	}
}
