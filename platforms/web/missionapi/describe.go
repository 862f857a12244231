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
	mission := missionSchema()
	return object{
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

func draftSchema() object {
	text := object{"type": "string"}
	leg := object{"type": "object", "required": []string{"tool", "inputs", "order"}, "properties": object{
		"agent": text, "tool": text, "summary": text, "order": object{"type": "integer", "minimum": 1, "description": "1, 2, 3 as they stand"},
		"inputs":     object{"type": "object", "description": `A value may be {"$output": {"leg": 1, "name": "image"}}`},
		"depends_on": object{"type": "array", "items": object{"type": "integer"}, "description": "Legs that have to succeed before; missing: the one before, empty: none"},
		"amount":     object{"type": "string", "description": "What the service takes for it, in currency"},
	}}
	return object{"type": "object", "required": []string{"title", "legs"}, "properties": object{
		"title": text, "currency": object{"type": "string", "pattern": "^[A-Z]{3}$", "default": "USD"}, "escalationUrl": object{"type": "string", "description": "Where to turn when something can't be taken back"},
		"legs": object{"type": "array", "minItems": 1, "maxItems": 32, "items": leg},
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
