package content

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/providers/content/store"
	"github.com/signalbox/signalbox/registry"
)

// resultName is the only output of each tool.
const resultName = "result"

// tool is a tool and what it does.
type tool struct {
	id, title, about string
	noun, names      string // what it works on, and the input that names one
	capability       registry.Capability
	role             store.Role // the least that is needed
	inputs           registry.InputSchema
	answers          json.RawMessage // JSON Schema
	do               func(p *Provider, ctx context.Context, v visit) (any, error)
	preview          func(p *Provider, ctx context.Context, v visit) (registry.Preview, error) // nil: its capability is what there is to tell
}

// What the tools answer.
var (
	gives = json.RawMessage(`{"type": "object", "required": ["success", "count", "items"], "properties": {
		"success": {"type": "boolean"}, "count": {"type": "integer"}, "items": {"type": "array", "items": {"type": "object"}}}}`)
	changes = json.RawMessage(`{"type": "object", "required": ["success"], "properties": {
		"success": {"type": "boolean"}, "requiresConfirmation": {"type": "boolean"}, "message": {"type": "string"}, "items": {"type": "array", "items": {"type": "object"}}}}`)
	deletes = json.RawMessage(`{"type": "object", "required": ["success"], "properties": {
		"success": {"type": "boolean"}, "requiresConfirmation": {"type": "boolean"}, "message": {"type": "string"}, "note": {"type": "string"},
		"items": {"type": "array", "items": {"type": "object"}}, "deleted": {"type": "array", "items": {"type": "object"}}}}`)
)

// tools are all 25, by families.
func tools() []tool {
	return slices.Concat(pageTools(), sectionTools(), imageTools(), postTools(), navigationTools(), entryTools())
}

// definition is the tool as the registry has it.
func (t tool) definition() registry.Tool {
	return registry.Tool{
		ToolID: t.id, Service: Service, DisplayName: t.title, Description: t.about, Listing: registry.Listing{Category: "internal", Kind: "content"},
		InputSchema: t.inputs, OutputSchema: registry.OutputSchema{{Name: resultName, Type: "text", Description: "A JSON object.", Schema: t.answers}},
		Execution: registry.Execution{Capability: t.capability, DeliveryMode: registry.DeliveryImmediate, TimeoutMs: 30_000}, Advice: registry.Advice{IntentTags: []string{"site", t.noun}},
		Metadata: map[string]any{"menu": false}, // few have a role in a site
	}
}

// known refuses inputs that the tool does not have. Callers with schemas did so before.
func (t tool) known(inputs map[string]any) error {
	for name := range inputs {
		if _, ok := t.inputs.Get(name); ok {
			continue
		}
		var names []string
		for _, f := range t.inputs {
			names = append(names, f.Name)
		}
		return registry.Say(registry.CodeInvalidInput, said.SiteNoInput, "tool", t.id, "name", short(name), "names", strings.Join(names, ", ")+t.hint(name)).At(name)
	}
	for _, f := range t.inputs {
		if f.Required && inputs[f.Name] == nil {
			return registry.Say(registry.CodeInvalidInput, said.SiteNeeds, "tool", t.id, "name", f.Name, "about", f.Description).At(f.Name)
		}
	}
	return nil
}

// hint says what has taken the place of inputs that tools once had.
func (t tool) hint(name string) string {
	switch name {
	case "updates":
		return "; send what changes beside the id, not in an object"
	case "newLabel", "href", "location", "labels":
		return "; an item is named by its id, which getNavItem tells, and its menu by navigationId"
	case "pageSectionIds":
		return "; the sections are named by ids"
	}
	return ""
}

// told says of an error that there is nothing of the kind, where that is what it is.
func (t tool) told(err error) error {
	if errors.Is(err, store.ErrNotFound) && registry.AsError(err).Code == registry.CodeInternal {
		err = &registry.Error{Code: registry.CodeInvalidInput, Field: t.names, Message: t.missing(), Cause: err}
	}
	return err
}

// missing says that there is nothing of the kind.
func (t tool) missing() string {
	finder := "get" + strings.ToUpper(t.noun[:1]) + t.noun[1:]
	return "there is no such " + t.noun + " in this site: " + finder + " finds what there is"
}

// confirmed is the input of tools that show before they act.
func confirmed() registry.InputField {
	return flagInput("confirmed", "true carries out what the call before without it has shown.")
}
