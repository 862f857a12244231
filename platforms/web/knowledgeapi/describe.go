package knowledgeapi

type object = map[string]any

// Describe gives the routes as path items of the API's OpenAPI document, whose components have a response Problem.
func Describe() object {
	text := object{"type": "string"}
	source := object{"type": "object", "required": []string{"name", "title", "toolId", "mine", "access", "origin", "chunks"}, "properties": object{
		"name": text, "title": text, "toolId": text, "mine": object{"type": "boolean"}, "access": object{"enum": []string{"public", "house", "listed"}},
		"origin": object{"enum": []string{"folder", "file", "site", "upload"}}, "chunks": object{"type": "integer", "description": "Passages that are there now"},
		"problem": object{"type": "string", "description": "Why it could not be read the last time"},
	}}
	told := func(about string, schema object) object {
		return object{"description": about, "content": object{"application/json": object{"schema": schema}}}
	}
	refused := object{"$ref": "#/components/responses/Problem"}
	return object{
		"/api/knowledge/sources": object{
			"get": object{
				"operationId": "listKnowledgeSources", "tags": []string{"tools"}, "summary": "The sources of documents that you may read",
				"responses": object{"200": told("The sources", object{"type": "object", "required": []string{"sources"}, "properties": object{"sources": object{"type": "array", "items": source}}}), "default": refused},
			},
			"post": object{
				"operationId": "addKnowledgeSource", "tags": []string{"tools"}, "summary": "Add a source of documents: a site, or an uploaded file",
				"description": "It is read after the answer; the list tells how many passages there are. Without access it is your own; with it, which is for operators, the house's.",
				"requestBody": object{"required": true, "content": object{"application/json": object{"schema": object{
					"type": "object", "required": []string{"name"}, "additionalProperties": false, "properties": object{
						"name": text, "title": text, "description": text,
						"url":      object{"type": "string", "format": "uri", "description": "Of a site with a sitemap, or of the sitemap"},
						"upload":   object{"type": "string", "description": "Reference from POST /api/uploads, of a document or a zip of documents"},
						"filename": object{"type": "string", "description": "Of the upload: its ending says what it is"},
						"access": object{"anyOf": []object{{"enum": []string{"me", "public", "house"}},
							{"type": "array", "items": text, "description": "Accounts, platform:id, and names of groups"}}},
					},
				}}}},
				"responses": object{"202": told("The source, which is being read", source), "default": refused},
			},
		},
		"/api/knowledge/sources/{name}": object{"delete": object{
			"operationId": "removeKnowledgeSource", "tags": []string{"tools"}, "summary": "Remove a source that was added",
			"parameters": []object{{"name": "name", "in": "path", "required": true, "schema": text},
				{"name": "house", "in": "query", "schema": object{"type": "boolean", "description": "It is the house's; for operators"}}},
			"responses": object{"204": object{"description": "Nobody finds it any more"}, "default": refused},
		}},
	}
}
