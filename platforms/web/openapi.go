package web

import (
	"bytes"
	"cmp"
	"maps"
	"net/http"
	"slices"

	"github.com/signalbox/signalbox/registry"
)

// openapi describes the API in OpenAPI 3.1, with one operation for each public tool (A9, A48).
func (s *Server) openapi(w http.ResponseWriter, r *http.Request) {
	document, err := s.catalogue().openapi()
	if err != nil {
		s.fail(w, r, err)
		return
	}
	document.serve(w, r)
}

// object is a JSON object.
type object = map[string]any

// document draws the description of the API from a snapshot.
func (s *Server) document(snapshot *registry.Snapshot) (object, error) {
	paths := fixedPaths()
	if s.cfg.Hooks != nil {
		maps.Copy(paths, hookPaths())
	}
	for _, m := range s.cfg.Mounts {
		maps.Copy(paths, m.Describe)
	}
	for _, t := range snapshot.Public() {
		op, err := toolOperation(t)
		if err != nil {
			return nil, err
		}
		paths[t.RunPath()] = object{"post": op}
	}
	base := "/"
	if s.cfg.Public != nil {
		base = s.cfg.Public.Scheme + "://" + s.cfg.Public.Host
	}
	return object{
		"openapi": "3.1.0",
		"info": object{
			"title": "Signalbox", "version": cmp.Or(s.cfg.Version, "0"),
			"description": "Each tool is an operation. Amounts are integers of nano-dollars: 1000000000 is one US dollar. Refusals are problems by RFC 9457.",
		},
		"servers":           []object{{"url": base}},
		"jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
		"paths":             paths,
		"tags":              []object{{"name": "tools"}, {"name": "runs"}, {"name": "account"}, {"name": "operator"}},
		"security":          []object{{"key": []string{}}, {"session": []string{}}},
		"components": object{
			"securitySchemes": object{
				"key":     object{"type": "http", "scheme": "bearer", "description": "An API key: made on the page under API, or by POST /api/keys."},
				"session": object{"type": "apiKey", "in": "cookie", "name": s.cookieName(sessionCookie), "description": "The page's session. What changes something also needs the header X-CSRF-Token."},
			},
			"schemas":    schemas(),
			"responses":  object{"Problem": object{"description": "A refusal: what was wrong, and what to do", "content": object{"application/problem+json": object{"schema": ref("Problem")}}}},
			"parameters": parameters(),
		},
	}, nil
}

// operation is one operation of the document; answers are its good responses by status.
type operation struct {
	id, tag, summary, about string
	parameters              []object
	body                    object
	answers                 object
}

func (o operation) draw() object {
	responses := object{"default": object{"$ref": "#/components/responses/Problem"}}
	maps.Copy(responses, o.answers)
	drawn := object{"operationId": o.id, "summary": o.summary, "tags": []string{o.tag}, "responses": responses}
	if o.about != "" {
		drawn["description"] = o.about
	}
	if o.parameters != nil {
		drawn["parameters"] = o.parameters
	}
	if o.body != nil {
		drawn["requestBody"] = o.body
	}
	return drawn
}

// fixedPaths are the operations that are there whatever the tools are.
func fixedPaths() object {
	id := []object{parameter("id")}
	return object{
		"/api/tools": object{"get": operation{
			id: "listTools", tag: "tools", summary: "The tools, as ToolDefinitions", about: "With q: those that a request in plain words asks for, best first, each with score and why. Without: all of them; send the answer's ETag as If-None-Match to be told 304 while nothing has changed.",
			parameters: append(searchParameters(), parameter("ifNoneMatch")),
			answers:    object{"200": answer("The tools", list("tools", ref("Tool"))), "304": object{"description": "Nothing has changed"}},
		}.draw()},
		"/api/tools/{id}": object{"get": operation{id: "getTool", tag: "tools", summary: "One tool", parameters: id, answers: ok("The tool", ref("Tool"))}.draw()},
		"/api/quote/{id}": object{"post": operation{id: "quote", tag: "tools", summary: "What a run of a tool would cost", parameters: id, body: jsonBody(inputsOf(object{"type": "object"})), answers: ok("The price", ref("Quote"))}.draw()},
		"/api/runs":       object{"get": operation{id: "listRuns", tag: "runs", summary: "Your runs, newest first", parameters: runFilters(), answers: ok("The runs", list("runs", ref("Run")))}.draw()},
		"/api/runs/{id}": object{"get": operation{id: "getRun", tag: "runs", summary: "One run", parameters: id, answers: ok("The run", ref("Run"))}.draw(),
			"delete": operation{id: "deleteRun", tag: "runs", summary: "Delete a run with its files; it is canceled first", about: "What it cost stays in the books. Links to its files end.", parameters: id,
				answers: object{"204": object{"description": "It is gone"}}}.draw()},
		"/api/runs/{id}/outputs/{n}": object{"delete": operation{id: "deleteOutput", tag: "runs", summary: "Delete one result of a run", parameters: append(slices.Clone(id), object{"name": "n", "in": "path", "required": true, "description": "Its place in outputs, from 0", "schema": object{"type": "integer", "minimum": 0}}),
			answers: object{"204": object{"description": "It is gone"}}}.draw()},
		"/api/runs/{id}/events": object{"get": followRun(id)},
		"/api/runs/{id}/envelope": object{"get": operation{id: "getEnvelope", tag: "runs", summary: "A run that is over, as the envelope that planners take", parameters: id, answers: object{
			"200": answer("Data or error", ref("Envelope")), "202": answer("The run is under way", ref("Run")),
		}}.draw()},
		"/api/runs/{id}/preview": object{"get": operation{id: "getPreview", tag: "runs", summary: "A picture of how far a run is", parameters: id, answers: object{
			"200": object{"description": "The picture", "content": object{"image/*": object{}}}, "204": object{"description": "There is none"},
		}}.draw()},
		"/api/runs/{id}/cancel": object{"post": operation{id: "cancelRun", tag: "runs", summary: "Cancel a run; it costs nothing, or the time that it ran where its quote says so", parameters: id, answers: ok("The run", ref("Run"))}.draw()},
		"/api/runs/{id}/confirm": object{"post": operation{id: "confirmRun", tag: "runs", summary: "Confirm a run that waits for it", parameters: id,
			about: "A person's word to exactly what the run's confirmation says, within its time. With summaryHash, anything else than what was shown is refused (409, summary-hash-mismatch), as is what is too old (summary-expired). An agent's key, a key with a spending limit, and a request that names a planner approve nothing.",
			body: jsonBody(object{"type": "object", "properties": object{"summaryHash": object{"type": "string", "description": "confirmation.summaryHash of the run, as it was shown"},
				"granted": object{"type": "array", "items": object{"type": "string"}, "description": "which of confirmation.personal may go to the service; absent: all"}}}), answers: object{"202": answer("The run", ref("Run"))}}.draw()},
		"/api/runs/{id}/answer": object{"post": operation{id: "answerRun", tag: "runs", summary: "Answer what a run's service asks its owner", parameters: id,
			about: "The call waits for it; one answer counts. A value that does not fit is told with its field (422), and the question stays open; one that is over is told, too (409, question-over). Only the owner answers: an agent's key, a key with a spending limit, and a request that names a planner are refused.",
			body: jsonBody(record(object{"question": object{"type": "string", "format": "uuid", "description": "question.id of the run"},
				"action": object{"type": "string", "enum": []string{"accept", "decline", "cancel"}, "description": "decline: no; cancel: neither yes nor no. The call goes on after each"},
				"values": object{"type": "object", "description": "by the names in question.fields; with accept only"}}, "question", "action")), answers: object{"202": answer("The run", ref("Run"))}}.draw()},
		"/api/balance": object{"get": operation{id: "getBalance", tag: "account", summary: "Your balance", answers: ok("The balance", ref("Balance"))}.draw()},
		"/api/uploads": object{"post": operation{id: "upload", tag: "account", summary: "Store a file to use as a media input", body: uploadBody(),
			parameters: []object{{"name": "name", "in": "query", "description": "The file's name, where the body is the file itself", "schema": text()}},
			answers:    object{"201": answer("The stored file; give its ref as an input", ref("Upload"))}}.draw()},
		"/api/keys": object{
			"get": operation{id: "listKeys", tag: "account", summary: "Your API keys", answers: ok("The keys", list("keys", ref("Key")))}.draw(),
			"post": operation{id: "createKey", tag: "account", summary: "Make an API key", about: "Of your account; with ADMIN_TOKEN: of the account that name names, which is made where there is none.",
				body: jsonBody(ref("KeyWanted")), answers: object{"201": answer("The key; it is told only now", ref("NewKey"))}}.draw(),
		},
		"/api/keys/{id}": object{"delete": operation{id: "revokeKey", tag: "account", summary: "End an API key", parameters: id, answers: object{"204": object{"description": "It is refused from now on"}}}.draw()},
		"/api/status":    object{"get": operation{id: "getStatus", tag: "operator", summary: "Loaders and engines with their last error", answers: ok("The status", object{"type": "object"})}.draw()},
		"/api/changes":   object{"get": operation{id: "listChanges", tag: "operator", summary: "What changed in the catalogue", answers: ok("The changes", list("changes", object{"type": "object"}))}.draw()},
		"/api/invitations": object{
			"get": operation{id: "listInvitations", tag: "operator", summary: "Invitations and what became of them", answers: ok("The invitations", list("invitations", ref("Invitation")))}.draw(),
			"post": operation{id: "invite", tag: "operator", summary: "Make a link that lets one person in", body: jsonBody(ref("NewInvitation")),
				answers: object{"201": answer("The invitation; its address is told only now", ref("Invitation"))}}.draw(),
		},
		"/api/invitations/{id}": object{"delete": operation{id: "revokeInvitation", tag: "operator", summary: "Withdraw an invitation", parameters: id, answers: object{"204": object{"description": "It opens nothing from now on"}}}.draw()},
	}
}

func followRun(id []object) object {
	return operation{
		id: "followRun", tag: "runs", summary: "A run as server-sent events until it is over",
		about:      "Each event is named run and holds the whole run. Reconnect with Last-Event-ID; who knows the end already gets 204.",
		parameters: append(id[:1:1], object{"name": "Last-Event-ID", "in": "header", "description": "The id of the last event you have", "schema": text()}),
		answers: object{
			"200": object{"description": "The events", "content": object{"text/event-stream": object{"schema": text()}}},
			"204": object{"description": "You know the end"},
		},
	}.draw()
}

// toolOperation is the operation of one tool.
func toolOperation(t *registry.Tool) (object, error) {
	inputs, err := t.InputSchema.JSONSchema()
	if err != nil {
		return nil, err
	}
	// What the API takes for media is more than a reference: it fetches and stores the others.
	inputs = bytes.ReplaceAll(inputs, []byte(`"^(asset:[0-9a-f]{64}|https://.+)$"`), []byte(`"^(asset:[0-9a-f]{64}|https?://.+|data:[^,]*,.*)$"`))
	drawn := operation{
		id: "run_" + t.ToolID, tag: "tools", summary: t.DisplayName, about: t.Description, parameters: []object{parameter("idempotencyKey"), parameter("quote"), parameter("siteId"), parameter("sessionId"), parameter("traceId"), parameter("traceparent"), parameter("plannerProvider")},
		body: object{"required": needsInput(t), "content": object{
			"application/json":    object{"schema": inputsOf(inputs), "example": object{"inputs": exampleOf(t)}},
			"multipart/form-data": object{"schema": formOf(t)},
		}},
		answers: object{
			"202": withLocation(answer("The run was taken on", ref("Run"))),
			"200": withLocation(answer("The run is over already, e.g. when the request was repeated", ref("Run"))),
			"403": withLocation(object{
				"description": "A model asked for what somebody has to approve first (tool_requires_approval, or tool_auto_run_disabled under a strict policy): nothing was run. The problem holds the run that waits; the same call in the same trace finds it again.",
				"content":     object{"application/problem+json": object{"schema": ref("Problem")}},
			}),
		},
	}.draw()
	drawn["x-signalbox-tool"] = object{"toolId": t.ToolID, "version": t.Version, "costingModel": t.CostingModel}
	if t.State() == registry.StateDeprecated {
		drawn["deprecated"] = true
	}
	return drawn, nil
}

func needsInput(t *registry.Tool) bool {
	for _, f := range t.InputSchema {
		if f.Required && f.Default == nil {
			return true
		}
	}
	return false
}

// formOf is the schema of a tool's inputs as a form, in which media are files.
func formOf(t *registry.Tool) object {
	properties := object{"inputs": object{"type": "string", "contentMediaType": "application/json", "description": "All inputs that are no files, as a JSON object, in place of a part for each"}}
	for _, f := range t.InputSchema {
		part := object{"type": "string"}
		if f.Type.IsMedia() {
			part["contentMediaType"] = "application/octet-stream"
		}
		if f.Multiple {
			part = object{"type": "array", "items": part}
		}
		if about := f.Description; about != "" {
			part["description"] = about
		}
		properties[f.Name] = part
	}
	return object{"type": "object", "properties": properties}
}

// exampleOf gives inputs that a run takes: what is required, and a few defaults.
func exampleOf(t *registry.Tool) object {
	example := object{}
	for _, f := range t.InputSchema {
		if !f.Required && (f.Advanced || f.Default == nil) || f.Seed {
			continue
		}
		value := f.Default
		if value == nil {
			value = sampleOf(f)
		}
		if _, isList := value.([]any); f.Multiple && !isList {
			value = []any{value}
		}
		example[f.Name] = value
	}
	return example
}

func sampleOf(f registry.InputField) any {
	switch {
	case len(f.Choices) > 0:
		return f.Choices[0].Value
	case f.Type.IsMedia():
		return "https://example.org/" + string(f.Type)
	case f.Type == registry.TypeBoolean:
		return true
	case f.Type == registry.TypeNumber && f.Min != "":
		return f.Min
	case f.Type == registry.TypeNumber:
		return 1
	}
	return "a red bicycle"
}

func ref(name string) object { return object{"$ref": "#/components/schemas/" + name} }

func parameter(name string) object { return object{"$ref": "#/components/parameters/" + name} }

func text() object { return object{"type": "string"} }

func list(name string, of object) object {
	return object{"type": "object", "required": []string{name}, "properties": object{name: object{"type": "array", "items": of}}}
}

func answer(about string, schema object) object {
	return object{"description": about, "content": object{"application/json": object{"schema": schema}}}
}

func ok(about string, schema object) object { return object{"200": answer(about, schema)} }

func withLocation(answer object) object {
	answer["headers"] = object{"Location": object{"description": "The run's address", "schema": text()}}
	return answer
}

func jsonBody(schema object) object {
	return object{"content": object{"application/json": object{"schema": schema}}}
}

// inputsOf is the schema of a body that holds inputs.
func inputsOf(inputs any) object {
	return object{"type": "object", "required": []string{"inputs"}, "additionalProperties": false, "properties": object{"inputs": inputs}}
}

func uploadBody() object {
	file := object{"type": "string", "contentMediaType": "application/octet-stream"}
	return object{"required": true, "content": object{
		"multipart/form-data":      object{"schema": object{"type": "object", "required": []string{"file"}, "properties": object{"file": file}}},
		"application/octet-stream": object{"schema": object{}},
	}}
}

func parameters() object {
	return object{
		"id":              object{"name": "id", "in": "path", "required": true, "schema": text()},
		"idempotencyKey":  object{"name": "Idempotency-Key", "in": "header", "description": "A repeated request with the same key gives the first one's run.", "schema": object{"type": "string", "maxLength": maxIdempotencyKey}},
		"quote":           object{"name": quoteHeader, "in": "header", "description": "The sealed `quote` of /api/quote/{id}: the run is started at that price, or refused with 409", "schema": text()},
		"siteId":          contextHeader(siteHeader, "The site for which the call is made; without it, this house"),
		"sessionId":       contextHeader(sessionHeader, "The conversation in which the call is made"),
		"traceId":         contextHeader(traceHeader, "The trace that the call belongs to: it is in logs, events, calls of remote tools and the result"),
		"traceparent":     object{"name": "traceparent", "in": "header", "description": "W3C Trace Context; its trace id counts where X-Trace-Id is not there", "schema": text()},
		"plannerProvider": contextHeader(plannerHeader, "The model that plans, such as anthropic, openai or gemini. A request that names one is the model's: what changes something waits for the owner's approval"),
		"ifNoneMatch":     object{"name": "If-None-Match", "in": "header", "schema": text()},
	}
}

func contextHeader(name, about string) object {
	return object{"name": name, "in": "header", "description": about, "schema": object{"type": "string", "maxLength": 200}}
}

func searchParameters() []object {
	return []object{
		{"name": "q", "in": "query", "description": "A request in plain words, in English, German, Spanish, Russian or Chinese", "schema": text()},
		{"name": "has", "in": "query", "description": "What comes with the request, such as image,text. Tools that need what does not come sink.", "schema": text()},
		{"name": "limit", "in": "query", "schema": object{"type": "integer", "minimum": 1, "maximum": maxFound, "default": 10}},
		{"name": "language", "in": "query", "description": "A hint, such as de, for words that several languages have", "schema": text()},
	}
}

func runFilters() []object {
	return []object{
		{"name": "toolId", "in": "query", "schema": text()},
		{"name": "status", "in": "query", "schema": ref("RunStatus")},
		{"name": "before", "in": "query", "description": "Only runs older than the one with this id", "schema": object{"type": "string", "format": "uuid"}},
		{"name": "limit", "in": "query", "schema": object{"type": "integer", "minimum": 1, "maximum": 200, "default": 50}},
	}
}

// schemas are the shapes of the API's answers.
func schemas() object {
	amount := object{"type": "integer", "format": "int64", "description": "Nano-dollars"}
	moment := object{"type": "string", "format": "date-time"}
	return object{
		"RunStatus":  object{"type": "string", "enum": statuses},
		"QuoteRange": record(object{"low": amount, "high": amount}, "low", "high"),
		"Quote": record(object{"quoteNanoUsd": ref("QuoteRange"), "rate": text(), "unit": text(), "source": text(), "basis": text(), "text": text(),
			"billCanceled": object{"type": "boolean", "description": "Its owner pays for the time that it ran also when they cancel it"},
			"quote":        object{"type": "string", "description": "Sealed, for the header X-Quote of the run"}, "expiresAt": moment}, "quoteNanoUsd", "text", "quote", "expiresAt"),
		"Output": record(object{
			"name": text(), "type": text(), "mimeType": text(), "url": object{"type": "string", "format": "uri"}, "text": text(),
			"imageUrl": object{"type": "string", "format": "uri", "description": "url, of a picture"}, "alt": object{"type": "string", "description": "What the picture shows, where its service says so"},
			"width": object{"type": "integer"}, "height": object{"type": "integer"}, "bytes": object{"type": "integer"},
		}, "name", "type"),
		"Run": record(object{
			"runId": object{"type": "string", "format": "uuid"}, "toolId": text(), "toolVersion": text(), "status": ref("RunStatus"),
			"progress":         object{"type": []string{"number", "null"}, "minimum": 0, "maximum": 1, "description": "Null while no real figure is known"},
			"remainingSeconds": object{"type": "integer", "description": "How long it will go on, by how long such runs took; absent while that is not known"},
			"stage":            text(), "queuePosition": object{"type": "integer"},
			"notice": object{"type": "string", "enum": []string{"waiting", "moved", "anew"}},
			"inputs": object{"type": "object"}, "sources": object{"type": "object", "additionalProperties": text(), "description": "Where each input came from"},
			"outputs": object{"type": "array", "items": ref("Output")}, "quoteNanoUsd": ref("QuoteRange"), "costNanoUsd": amount,
			"receipt":   object{"type": "object", "description": "Rate, unit, units and source of the cost"},
			"error":     record(object{"code": text(), "message": text(), "retryable": object{"type": "boolean"}}, "code", "message"),
			"createdAt": moment, "startedAt": moment, "endedAt": moment,
			"traceId":      object{"type": "string", "description": "As the request named it, else the run's id"},
			"latencyMs":    object{"type": "integer", "description": "Once over: all attempts and all waiting, but for that for an approval"},
			"attempts":     object{"type": "integer", "description": "Executions"},
			"confirmation": ref("Confirmation"), "question": ref("Question"),
		}, "runId", "toolId", "toolVersion", "status", "progress", "inputs", "outputs", "quoteNanoUsd", "costNanoUsd", "createdAt"),
		"Question": record(object{
			"id": object{"type": "string", "format": "uuid"}, "message": object{"type": "string", "description": "The service's own words"},
			"fields":  object{"type": "array", "items": object{"type": "object"}, "description": "What is asked for, as in the inputSchema of a tool; none: whether the owner agrees"},
			"openUrl": object{"type": "string", "format": "uri", "description": "A page that the owner is asked to open; agents' keys don't get it"}, "expiresAt": moment,
			"url": object{"type": "string", "format": "uri", "description": "The page on which the owner can answer"},
		}, "id", "message", "fields", "expiresAt", "url"),
		"Confirmation": record(object{
			"kind": text(), "summaryHash": object{"type": "string", "description": "What the owner affirms: tool, version, inputs, personal data and price, by SHA-256"},
			"personal": object{"type": "array", "items": text(), "description": "Personal data that goes to the service"}, "promiseNanoUsd": amount, "expiresAt": moment,
			"url": object{"type": "string", "format": "uri", "description": "The page on which the owner can confirm"},
		}, "kind", "summaryHash", "promiseNanoUsd", "expiresAt", "url"),
		"Envelope": record(object{
			"ok":        object{"type": "boolean", "description": "True only with data, false only with error"},
			"data":      object{"type": "object", "description": "The outputs by name, each a list of texts or files", "additionalProperties": object{"type": "array", "items": object{}}},
			"error":     record(object{"code": object{"type": "string", "enum": toolCodes}, "message": object{"type": "string", "maxLength": 240}, "retryable": object{"type": "boolean"}}, "code", "message", "retryable"),
			"latencyMs": object{"type": "integer"}, "attempts": object{"type": "integer"}, "traceId": text(),
		}, "ok", "latencyMs", "attempts"),
		"Problem": record(object{
			"type": text(), "title": text(), "status": object{"type": "integer"}, "detail": text(), "code": text(), "field": text(),
			"missing": object{"type": "array", "items": text()}, "retryable": object{"type": "boolean"}, "retryAfter": object{"type": "integer", "description": "Seconds"},
			"envelope": ref("Envelope"), "run": ref("Run"),
		}, "type", "title", "status", "detail", "code", "retryable"),
		"Balance": record(object{
			"balanceNanoUsd": amount, "heldNanoUsd": amount,
			"points": record(object{"balance": text(), "held": text(), "usdPerPoint": text()}, "balance", "held", "usdPerPoint"), // where the house shows points
		}, "balanceNanoUsd", "heldNanoUsd"),
		"Upload": record(object{"ref": object{"type": "string", "pattern": "^asset:[0-9a-f]{64}$"}, "url": object{"type": "string", "format": "uri"}, "info": object{"type": "object"}}, "ref", "url"),
		"Tool":   object{"type": "object", "required": []string{"toolId", "service", "displayName", "inputSchema"}, "properties": object{"toolId": text(), "service": text(), "displayName": text(), "description": text(), "commandName": text(), "apiPath": text(), "inputSchema": object{"type": "object"}, "outputSchema": object{"type": "object"}}},
		"Key":    record(object{"id": object{"type": "integer", "format": "int64"}, "label": text(), "hint": text(), "createdAt": moment, "lastUsedAt": moment, "spendLimitNanoUsd": object{"type": "integer", "format": "int64", "description": "What its runs may cost in a calendar month, in nano-dollars; absent: no limit"}, "agent": object{"type": "boolean"}}, "id", "label", "hint", "createdAt"),
		"KeyWanted": object{"type": "object", "properties": object{
			"label": text(), "name": text(),
			"spendLimitUsd": object{"type": "string", "description": "What the key's runs may cost in a calendar month, in US dollars", "examples": []string{"5", "0.50"}},
			"agent":         object{"type": "boolean", "description": "A model acts with it: what changes something waits for the owner's approval, which the key can't give"},
		}},
		"NewKey": record(object{"key": text(), "accountId": text()}, "key", "accountId"),
		"NewInvitation": object{"type": "object", "properties": object{
			"note": text(), "creditUsd": object{"type": "string", "examples": []string{"2.50"}},
			"forDays": object{"type": "integer", "minimum": 1, "maximum": maxInvitationDays, "default": invitationDays},
		}},
		"Invitation": record(object{
			"id": text(), "note": text(), "creditNanoUsd": amount, "url": object{"type": "string", "format": "uri"},
			"createdAt": moment, "expiresAt": moment, "usedAt": moment, "usedBy": text(), "revokedAt": moment,
		}, "id", "note", "creditNanoUsd", "createdAt", "expiresAt"),
	}
}

func record(properties object, required ...string) object {
	return object{"type": "object", "properties": properties, "required": required}
}
