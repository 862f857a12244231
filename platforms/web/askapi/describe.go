package askapi

type object = map[string]any

// Describe gives the route as a path item of the API's OpenAPI document, whose components have a response Problem.
func Describe() object {
	text, count := object{"type": "string"}, object{"type": "integer"}
	call := object{"type": "object", "required": []string{"round", "tool"}, "properties": object{
		"round": object{"type": "integer", "description": "Calls of one round run at the same time"}, "tool": text,
		"arguments": object{"type": "object"}, "runId": object{"type": "string", "description": "Of a call that must be approved, too: confirm that run"},
		"result": object{"type": "object", "required": []string{"ok"}, "properties": object{"ok": object{"type": "boolean"}}, "description": "ok with data, or error with code and message"},
	}}
	card := object{"type": "object", "required": []string{"runId", "summary", "hash"}, "description": "What waits for your approval: confirm the run with this hash, or don't", "properties": object{
		"runId": text, "hash": text, "summary": object{"type": "object"},
	}}
	attachment := object{"anyOf": []object{text, {"type": "object", "properties": object{"type": object{"enum": []string{"image", "video", "audio", "file"}}, "ref": text, "url": text, "name": text}}}}
	answer := object{
		"type": "object", "required": []string{"answer", "model", "stop", "rounds", "calls", "cards", "usage", "traceId"}, "properties": object{
			"id":     object{"type": "string", "description": "Of the question, whose page is /history/questions/{id}"},
			"answer": text, "model": text, "stop": object{"enum": []string{"answered", "planned", "rounds", "calls", "tokens", "money", "day", "day_money"}}, "rounds": count, "traceId": text,
			"calls": object{"type": "array", "items": call}, "cards": object{"type": "array", "items": card}, "conversation": text,
			"notice": object{"type": "string", "description": "Which bound ended the question"}, "plan": object{"type": "object", "description": "Valid by planSchema; nobody has applied it"},
			"usage": object{"type": "object", "properties": object{"input": count, "cacheRead": count, "cacheWrite": count, "output": count, "costNanoUsd": count}, "description": "Tokens, and what the model's service charges for them, billionths of a US dollar"},
		},
	}
	return object{"/api/ask": object{"post": object{
		"operationId": "ask", "tags": []string{"tools"}, "summary": "Put a question to a model that works with the tools",
		"description": "What only reads runs and is paid by the account; what changes something waits to be approved. The answer comes when all is done, or, with Accept: text/event-stream, " +
			"as events while it comes: text (what the model says; replace: it begins anew), step (a call, and once more with its result), card (something waits for approval), done (the whole).",
		"requestBody": object{"required": true, "content": object{"application/json": object{"schema": object{
			"type": "object", "required": []string{"question"}, "properties": object{
				"question": text, "intents": object{"type": "array", "items": text, "description": "Tags of tools that the question is about: the model gets these tools, and those that the question names."},
				"model":         object{"enum": []string{"anthropic", "openai"}},
				"conversation":  object{"type": "string", "maxLength": maxConversation, "description": "A name of yours: questions of one name know what was said before"},
				"budgetNanoUsd": object{"type": "integer", "minimum": 0, "description": "What tools that only read may cost for this question without being approved one by one"},
				"planSchema":    object{"type": "object", "description": "JSON Schema of a plan that you want; the answer then has it as plan"},
				"attachments":   object{"type": "array", "maxItems": maxAttachments, "items": attachment},
			},
		}}}},
		"responses": object{
			"200":     object{"description": "The answer and what was done for it", "content": object{"application/json": object{"schema": answer}, "text/event-stream": object{"schema": text}}},
			"default": object{"$ref": "#/components/responses/Problem"},
		},
	}}}
}

// DescribeForget gives the route by which a conversation is forgotten.
func DescribeForget() object {
	return object{"/api/conversations/{id}": object{"delete": object{
		"operationId": "forgetConversation", "tags": []string{"tools"}, "summary": "Forget what was said in a conversation with a model",
		"parameters": []object{{"$ref": "#/components/parameters/id"}},
		"responses":  object{"204": object{"description": "It is forgotten"}, "default": object{"$ref": "#/components/responses/Problem"}},
	}}}
}
