package missionapi

type object = map[string]any

// Describe gives the routes as path items of the API's OpenAPI document, whose components have a parameter id and a response Problem.
func Describe() object {
	id := []object{{"$ref": "#/components/parameters/id"}}
	told := func(code, about string, schema object) object {
		return object{code: object{"description": about, "content": object{"application/json": object{"schema": schema}}}, "default": object{"$ref": "#/components/responses/Problem"}}
	}
	taking := func(schema object) object {
		return object{"required": true, "content": object{"application/json": object{"schema": schema}}}
	}
	mission, chain := missionSchema(), chainSchema()
	chains := object{"type": "object", "required": []string{"chains"}, "properties": object{"chains": object{"type": "array", "items": chain}}}
	return object{
		"/api/chains": object{
			"get": object{"operationId": "listChains", "tags": []string{"missions"}, "summary": "Your chains, the one changed last first", "responses": told("200", "The chains", chains)},
			"post": object{
				"operationId": "createChain", "tags": []string{"missions"}, "summary": "Write a mission down as a tool of your own, with the inputs that it exposes",
				"requestBody": taking(chain), "responses": told("201", "The chain, which can be run as toolId", chain),
			},
		},
		"/api/chains/{id}": object{
			"get":    object{"operationId": "getChain", "tags": []string{"missions"}, "summary": "A chain", "parameters": id, "responses": told("200", "The chain", chain)},
			"put":    object{"operationId": "changeChain", "tags": []string{"missions"}, "summary": "A new version of a chain", "parameters": id, "requestBody": taking(chain), "responses": told("200", "The chain", chain)},
			"delete": object{"operationId": "deleteChain", "tags": []string{"missions"}, "summary": "End a chain; its runs under way come to their end", "parameters": id, "responses": object{"204": object{"description": "It is gone"}, "default": object{"$ref": "#/components/responses/Problem"}}},
		},
		"/api/missions": object{
			"post": object{
				"operationId": "planMission", "tags": []string{"missions"}, "summary": "Plan several runs under one confirmation; nothing is done yet",
				"description": "The answer has the price of each leg and a hash over all of it, by which its owner confirms within ten minutes. The same Idempotency-Key gives the same mission.",
				"requestBody": taking(draftSchema()), "responses": told("201", "The mission, to be confirmed", mission),
			},
			"get": object{
				"operationId": "listMissions", "tags": []string{"missions"}, "summary": "Your missions, newest first",
				"parameters": []object{{"name": "before", "in": "query", "description": "Id of the last one that you have", "schema": object{"type": "string"}}},
				"responses":  told("200", "At most a hundred", object{"type": "object", "required": []string{"missions"}, "properties": object{"missions": object{"type": "array", "items": mission}}}),
			},
		},
		"/api/missions/{id}": object{"get": object{
			"operationId": "getMission", "tags": []string{"missions"}, "summary": "A mission", "parameters": id, "responses": told("200", "The mission", mission),
		}},
		"/api/missions/{id}/events": object{"get": object{
			"operationId": "followMission", "tags": []string{"missions"}, "summary": "Each state of a mission as a server-sent event named mission", "parameters": id,
			"responses": object{"200": object{"description": "Events, until it is over", "content": object{"text/event-stream": object{"schema": object{"type": "string"}}}}, "default": object{"$ref": "#/components/responses/Problem"}},
		}},
		"/api/missions/{id}/confirm": object{"post": object{
			"operationId": "confirmMission", "tags": []string{"missions"}, "summary": "Let a mission go ahead as it was shown", "parameters": id,
			"requestBody": taking(object{"type": "object", "required": []string{"hash"}, "properties": object{"hash": object{"type": "string"}}}), "responses": told("200", "The mission, which runs", mission),
		}},
		"/api/missions/{id}/cancel": object{"post": object{
			"operationId": "cancelMission", "tags": []string{"missions"}, "summary": "End a mission; what was done is taken back", "parameters": id, "responses": told("200", "The mission", mission),
		}},
	}
}

func chainSchema() object {
	text := object{"type": "string"}
	exposed := object{"type": "object", "required": []string{"name", "leg", "input"}, "properties": object{"name": text, "leg": object{"type": "integer", "minimum": 1}, "input": text, "label": text}}
	return object{"type": "object", "required": []string{"name", "command", "visibility", "legs"}, "properties": object{
		"chainId": text, "toolId": text, "version": object{"type": "integer"}, "name": text, "command": object{"type": "string", "description": "Such as /poster_of_the_day"}, "description": text,
		"visibility": object{"enum": []string{"private", "public"}}, "currency": text, "escalationUrl": text,
		"legs": object{"type": "array", "minItems": 1, "maxItems": 32, "items": legSchema()}, "exposed": object{"type": "array", "items": exposed, "description": "Inputs of legs that are inputs of the chain"},
	}}
}

func legSchema() object {
	text := object{"type": "string"}
	return object{"type": "object", "required": []string{"tool", "inputs", "order"}, "properties": object{
		"agent": text, "tool": text, "summary": text, "order": object{"type": "integer", "minimum": 1, "description": "1, 2, 3 as they stand"},
		"inputs":     object{"type": "object", "description": `A value may be {"$output": {"leg": 1, "name": "image"}}`},
		"depends_on": object{"type": "array", "items": object{"type": "integer"}, "description": "Legs that have to succeed before; missing: the one before, empty: none"},
		"amount":     object{"type": "string", "description": "What the service takes for it, in currency"},
	}}
}

func draftSchema() object {
	text := object{"type": "string"}
	return object{"type": "object", "required": []string{"title", "legs"}, "properties": object{
		"title": text, "currency": object{"type": "string", "pattern": "^[A-Z]{3}$", "default": "USD"}, "escalationUrl": object{"type": "string", "description": "Where to turn when something can't be taken back"},
		"independent": object{"type": "boolean", "default": false, "description": "The legs need nothing of each other: all begin at once, and one that fails costs nothing but itself"},
		"legs":        object{"type": "array", "minItems": 1, "items": legSchema(), "description": "At most 32; of independent ones as many as a batch may have here"},
	}}
}

func missionSchema() object {
	text := object{"type": "string"}
	leg := object{"type": "object", "required": []string{"order", "tool", "summary", "status", "quoteNanoUsd"}, "properties": object{
		"order": object{"type": "integer"}, "tool": text, "summary": text, "runId": text,
		"status":       object{"enum": []string{"pending", "awaiting_confirmation", "running", "succeeded", "failed", "canceled", "skipped"}},
		"quoteNanoUsd": object{"type": "object", "properties": object{"low": object{"type": "integer"}, "high": object{"type": "integer"}}},
		"rollback":     object{"type": "object", "properties": object{"status": object{"enum": []string{"undone", "too_late", "refused", "exhausted", "impossible"}}}},
	}}
	return object{"type": "object", "required": []string{"missionId", "status", "hash", "totals", "legs"}, "properties": object{
		"missionId": text, "hash": text, "totals": object{"type": "object", "additionalProperties": text},
		"status": object{"enum": []string{"awaiting_confirmation", "running", "succeeded", "rolling_back", "rolled_back", "rollback_incomplete", "failed", "canceled"}},
		"legs":   object{"type": "array", "items": leg},
	}}
}
