package api

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
)

// object is a JSON object.
type object = map[string]any

// fixedDocument is the part of the document that does not depend on the configuration and the tools.
//
//go:embed openapi.yaml
var fixedDocument []byte

// description describes the API in OpenAPI 3.1, with one operation for each public tool (A9, A48).
type description struct {
	site    door.Site
	version string
	hooks   bool
	gallery bool
	mounted []object // the paths of what is mounted
}

// toolTemplate is the member of the fixed document that holds what the operations of all tools share.
const toolTemplate = "x-tool-operation"

// document draws the description from a snapshot.
func (d *description) document(snapshot *catalog.Snapshot, to registry.Audience) (object, error) {
	document := object{}
	fixed, err := yaml.YAMLToJSON(fixedDocument)
	if err == nil {
		err = json.Unmarshal(fixed, &document)
	}
	if err != nil {
		return nil, fmt.Errorf("web: openapi.yaml: %w", err)
	}
	template := member(document, toolTemplate)
	delete(document, toolTemplate)
	paths := member(document, "paths")
	if !d.hooks {
		maps.DeleteFunc(paths, func(path string, _ any) bool { return strings.HasPrefix(path, "/api/webhooks") })
	}
	if !d.gallery {
		maps.DeleteFunc(paths, func(path string, _ any) bool {
			return path == "/api/gallery" || strings.HasSuffix(path, "/favorite") || strings.HasSuffix(path, "/rating")
		})
	}
	for _, described := range d.mounted {
		maps.Copy(paths, described)
	}
	for _, t := range snapshot.Listed(to) {
		operation, err := toolOperation(template, t)
		if err != nil {
			return nil, err
		}
		paths[t.RunPath()] = object{"post": operation}
	}
	base := "/"
	if !d.site.Local() {
		base = d.site.Public.Scheme + "://" + d.site.Public.Host
	}
	document["servers"] = []object{{"url": base}}
	member(document, "info")["version"] = cmp.Or(d.version, "0")
	member(document, "components", "securitySchemes", "session")["name"] = d.site.SessionCookie()
	return document, nil
}

// member finds an object inside another; an empty one where there is none.
func member(o object, path ...string) object {
	for _, name := range path {
		inner, ok := o[name].(object)
		if !ok {
			return object{}
		}
		o = inner
	}
	return o
}

// mediaPattern is what the API takes for a file: more than a reference, since it fetches and stores the others.
const mediaPattern = `^(asset:[0-9a-f]{64}|https?://.+|data:[^,]*,.*)$`

// toolOperation is the operation of one tool; template is what those of all tools share.
func toolOperation(template object, t *registry.Tool) (object, error) {
	inputs, err := t.InputSchema.JSONSchemaWithMedia(mediaPattern)
	if err != nil {
		return nil, err
	}
	drawn := maps.Clone(template)
	maps.Copy(drawn, object{
		"operationId": "run_" + t.ToolID, "summary": t.DisplayName,
		"requestBody": object{"required": needsInput(t), "content": object{
			"application/json":    object{"schema": inputsOf(inputs), "example": object{"inputs": exampleOf(t)}},
			"multipart/form-data": object{"schema": formOf(t)},
		}},
		"x-signalbox-tool": object{"toolId": t.ToolID, "version": t.Version, "costingModel": publicCosting(t.CostingModel)},
	})
	if t.Description != "" {
		drawn["description"] = t.Description
	}
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
	case len(f.Schema) > 0:
		for _, sample := range []any{object{}, []any{}, 1, true} {
			if _, refused := registry.CheckValue(f, sample); refused == nil {
				return sample
			}
		}
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

// inputsOf is the schema of a body that holds inputs.
func inputsOf(inputs any) object {
	return object{"type": "object", "required": []string{"inputs"}, "additionalProperties": false, "properties": object{"inputs": inputs}}
}

// publicCosting is a costing model without whose account its share goes to.
func publicCosting(m *registry.CostingModel) *registry.CostingModel {
	if m == nil || m.Share == nil {
		return m
	}
	public, share := *m, *m.Share
	share.Author = ""
	public.Share = &share
	return &public
}
