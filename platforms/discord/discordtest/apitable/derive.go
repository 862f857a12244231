package apitable

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Bodies are the schemas of the requests that the test server imitates.
func Bodies() []string {
	return []string{
		"MessageCreateRequest", "MessageEditRequestPartial", "IncomingWebhookRequestPartial", "IncomingWebhookUpdateRequestPartial",
		"CreateMessageInteractionCallbackRequest", "UpdateMessageInteractionCallbackRequest", "ModalInteractionCallbackRequest",
		"ApplicationCommandAutocompleteCallbackRequest", "PongInteractionCallbackRequest",
		"ApplicationCommandCreateRequest", "ApplicationCommandUpdateRequest", "ApplicationCommandPatchRequestPartial",
		"CreatePrivateChannelRequest", "CreateTextThreadWithMessageRequest",
	}
}

// Derive makes the table from discord-openapi.json in dir. Only what requests can carry is kept, with these
// corrections: properties that are not listed are forbidden, so that they can be reported; bit fields may
// be strings of digits; and fields newer than the file are added.
func Derive(dir string) (*Table, error) {
	data, err := os.ReadFile(filepath.Join(dir, "discord-openapi.json"))
	if err != nil {
		return nil, err
	}
	var file struct {
		Info       struct{ Version string }
		Paths      map[string]map[string]json.RawMessage
		Components struct{ Schemas map[string]json.RawMessage }
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("discord-openapi.json: %w", err)
	}
	t := &Table{Version: "Discord API v" + file.Info.Version, Schemas: map[string]any{}}
	for path, methods := range file.Paths {
		for method := range methods {
			if method != "parameters" {
				t.Operations = append(t.Operations, strings.ToUpper(method)+" "+path)
			}
		}
	}
	slices.Sort(t.Operations)
	for _, name := range Bodies() {
		if err := t.take(file.Components.Schemas, name); err != nil {
			return nil, err
		}
	}
	t.correct()
	return t, nil
}

// take copies a schema and all it refers to.
func (t *Table) take(all map[string]json.RawMessage, name string) error {
	if _, done := t.Schemas[name]; done {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(all[name]))
	dec.UseNumber()
	var schema map[string]any
	if err := dec.Decode(&schema); err != nil {
		return fmt.Errorf("schema %s: %w", name, err)
	}
	t.Schemas[name] = schema
	var referred []string
	reduce(schema, &referred)
	for _, r := range referred {
		if err := t.take(all, r); err != nil {
			return err
		}
	}
	return nil
}

// reduce strips prose from a schema, closes its objects and collects what it refers to.
func reduce(schema map[string]any, referred *[]string) {
	for _, prose := range []string{"title", "description", "x-discord-union"} {
		if _, isText := schema[prose].(string); isText {
			delete(schema, prose)
		}
	}
	if f, _ := schema["format"].(string); f != "uri" && f != "date-time" {
		delete(schema, "format")
	}
	if ref, ok := schema["$ref"].(string); ok {
		name := strings.TrimPrefix(ref, "#/components/schemas/")
		*referred = append(*referred, name)
		schema["$ref"] = "#/$defs/" + name
	}
	if properties, ok := schema["properties"].(map[string]any); ok {
		if _, open := schema["additionalProperties"]; !open {
			schema["additionalProperties"] = false
		}
		for name, p := range properties {
			property, _ := p.(map[string]any)
			reduce(property, referred)
			if name == "default_member_permissions" {
				properties[name] = map[string]any{"anyOf": []any{property, map[string]any{"type": "string", "pattern": "^[0-9]+$"}}}
			}
		}
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if inner, ok := schema[key].(map[string]any); ok {
			reduce(inner, referred)
		}
	}
	for _, key := range []string{"oneOf", "anyOf", "allOf"} {
		branches, _ := schema[key].([]any)
		for _, b := range branches {
			if branch, ok := b.(map[string]any); ok {
				reduce(branch, referred)
			}
		}
	}
}

// correct lets ids be numbers, as the service does and its documentation shows, and adds what the
// documentation has and the description lacks: nsfw and file_types.
func (t *Table) correct() {
	if id, ok := t.Schemas["SnowflakeType"].(map[string]any); ok {
		id["type"] = []any{"string", "integer"}
	}
	for _, name := range []string{"ApplicationCommandAttachmentOption", "FileUploadComponentForModalRequest"} {
		t.add(name, "file_types", map[string]any{
			"type": []any{"array", "null"}, "maxItems": 10,
			"items": map[string]any{"type": "string", "pattern": `^(image|video|audio|\.[A-Za-z0-9]+)$`},
		})
	}
	for _, name := range []string{"ApplicationCommandCreateRequest", "ApplicationCommandUpdateRequest", "ApplicationCommandPatchRequestPartial"} {
		t.add(name, "nsfw", map[string]any{"type": []any{"boolean", "null"}})
	}
}

// add gives a schema one more property.
func (t *Table) add(schema, property string, value map[string]any) {
	s, _ := t.Schemas[schema].(map[string]any)
	if properties, ok := s["properties"].(map[string]any); ok {
		properties[property] = value
	}
}

// Encode writes the table the way api.json is kept: one schema per line.
func (t *Table) Encode() ([]byte, error) {
	var b bytes.Buffer
	head, err := json.Marshal(t.Version)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(&b, "{\"version\":%s,\n\"operations\":[\n", head)
	for i, o := range t.Operations {
		fmt.Fprintf(&b, "%q%s\n", o, comma(i, len(t.Operations)))
	}
	b.WriteString("],\n\"schemas\":{\n")
	names := make([]string, 0, len(t.Schemas))
	for name := range t.Schemas {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		line, err := json.Marshal(t.Schemas[name])
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%q:%s%s\n", name, line, comma(i, len(names)))
	}
	b.WriteString("}}\n")
	return b.Bytes(), nil
}

func comma(i, n int) string {
	if i == n-1 {
		return ""
	}
	return ","
}
