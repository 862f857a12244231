package askapi

type object = map[string]any

// Describe gives the route as a path item of the API's OpenAPI document, whose components have a response Problem.
func Describe() object {
	text, count := object{"type": "string"}, object{"type": "integer"}
	call := object{"type": "object", "required": []string{"round", "tool", "result"}, "properties": object{
		"round": object{"type": "integer", "description": "Calls of one round run at the same time"}, "tool": text,
		"arguments": object{"type": "object"}, "runId": object{"type": "string", "description": "Of a call that must be approved, too: confirm that run"},
		"result": object{"type": "object", "required": []string{"ok"}, "properties": object{"ok": object{"type": "boolean"}}, "description": "ok with data, or error with code and message"},
	}}
	return object{"/api/ask": object{"post": object{
		"operationId": "ask", "tags": []string{"tools"}, "summary": "Put a question to a model that works with the tools",
		"description": "What only reads runs and is paid by the account; what changes something waits to be approved. The answer comes when all is done.",
		"requestBody": object{"required": true, "content": object{"application/json": object{"schema": object{
			"type": "object", "required": []string{"question"}, "properties": object{"question": text, "intents": object{"type": "array", "items": text, "description": "Tags of tools that the question is about: the model gets these tools, and those that the question names."}, "model": object{"enum": []string{"anthropic", "openai"}}},
		}}}},
		"responses": object{
			"200": object{"description": "The answer and what was done for it", "content": object{"application/json": object{"schema": object{
				"type": "object", "required": []string{"answer", "model", "stop", "rounds", "calls", "traceId"}, "properties": object{
					"answer": text, "model": text, "stop": object{"enum": []string{"answered", "rounds"}}, "rounds": count, "traceId": text, "calls": object{"type": "array", "items": call},
				},
			}}}},
			"default": object{"$ref": "#/components/responses/Problem"},
		},
	}}}
}
