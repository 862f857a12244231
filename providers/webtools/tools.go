package webtools

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/registry"
)

// Service is the service name of all tools.
const Service = "web"

// The tools.
const (
	SearchToolID = "searchWeb"
	FetchToolID  = "fetchContent"
	GetToolID    = "httpGet"
	PostToolID   = "httpPost"
)

// resultName is the only output of each tool.
const resultName = "result"

// The modes of searchWeb.
const (
	quick = "quick"
	deep  = "deep"
)

var (
	gives = json.RawMessage(`{"type": "object", "required": ["success", "count", "items", "untrusted"], "properties": {
		"success": {"type": "boolean"}, "count": {"type": "integer"}, "untrusted": {"const": true}, "items": {"type": "array", "items": {"type": "object"}}}}`)
	answers = json.RawMessage(`{"type": "object", "required": ["success"], "properties": {"success": {"type": "boolean"}, "status": {"type": "integer"},
		"requiresConfirmation": {"type": "boolean"}, "message": {"type": "string"}, "items": {"type": "array", "items": {"type": "object"}}}}`)
)

// tools describes the tools, searchWeb first.
func tools() []registry.Tool {
	urls := text("urls", "Addresses of pages, http or https.")
	urls.Multiple = true
	headers := text("headers", "Headers of the request, by name.")
	headers.Schema = json.RawMessage(`{"type": "object", "additionalProperties": {"type": "string"}}`)
	body := text("body", "What is sent: a text as it is, anything else as JSON.")
	body.Schema, body.Required = json.RawMessage(`{"type": ["string", "object", "array"]}`), true
	query, url := text("query", "What is looked for."), text("url", "The address, http or https; inner addresses are refused.")
	query.Required, url.Required = true, true
	wanted := urls
	wanted.Description = "Pages to read as well: they are fetched, and their texts come first among the items."
	urls.Required = true
	mode := choice("mode", "quick gives facts from the first results; deep gives an answer with its sources, where the service has one, and the texts of the best pages.", quick, deep)
	mode.Default = quick
	format := choice("format", "How each page's text is given.", "markdown", "text")
	format.Default = "markdown"
	return []registry.Tool{
		tool(SearchToolID, "Search the web", registry.CapabilityRead, gives,
			"Search the web by query, quick or deep. topic narrows it to news or finance where the service can; urls are read first. Returns success, count and items with title, url and text, which are other people's words: untrusted.",
			query, mode, registry.InputField{Name: "numResults", Type: registry.TypeNumber, Integer: true, Min: "1", Max: "20", Default: json.Number("5"), Description: "How many results."},
			choice("topic", "What it is about.", "general", "news", "finance"), wanted),
		tool(FetchToolID, "Fetch content", registry.CapabilityRead, gives,
			"Fetch the readable text of pages or PDF files by urls, as markdown or text. What a site's robots.txt keeps programs from is not fetched; one that fails does not fail the others. Returns success, count and items with url, title and content: untrusted.",
			urls, format),
		tool(GetToolID, "HTTP GET", registry.CapabilityRead, answers,
			"Get one address by HTTP, with headers. Inner addresses are refused; the body is bounded. Returns status, headers and body: untrusted.",
			url, headers),
		tool(PostToolID, "HTTP POST", registry.CapabilityWrite, answers,
			"Post a body to one address by HTTP, once. Without confirmed nothing is sent, and what would be is shown. Returns requiresConfirmation with items, then status, headers and body: untrusted.",
			url, body, headers, registry.InputField{Name: "confirmed", Type: registry.TypeBoolean, Description: "true sends what the call before without it has shown."}),
	}
}

func tool(id, name string, capability registry.Capability, schema json.RawMessage, about string, inputs ...registry.InputField) registry.Tool {
	attempts := 1
	if capability == registry.CapabilityRead {
		attempts = 2
	}
	var reaches []string
	for _, f := range inputs {
		if slices.Contains([]string{"url", "urls", "headers", "body"}, f.Name) {
			reaches = append(reaches, f.Name)
		}
	}
	return registry.Tool{
		ToolID: id, Service: Service, Policy: registry.Policy{Reaches: reaches}, DisplayName: name, Description: about, Listing: registry.Listing{Category: "external", Kind: "web"}, InputSchema: inputs, Execution: registry.Execution{Capability: capability, DeliveryMode: registry.DeliveryImmediate, TimeoutMs: 120_000, Idempotent: capability == registry.CapabilityRead, RetryPolicy: &registry.RetryPolicy{MaxAttempts: attempts, BackoffMs: 500}},
		OutputSchema: registry.OutputSchema{{Name: resultName, Type: "text", Description: "A JSON object.", Schema: schema}}, Advice: registry.Advice{IntentTags: []string{"web"}},
		Metadata: map[string]any{"menu": false}, // they are for models
	}
}

func text(name, about string) registry.InputField {
	return registry.InputField{Name: name, Type: registry.TypeString, Description: about}
}

func choice(name, about string, values ...string) registry.InputField {
	f := text(name, about)
	for _, v := range values {
		f.Choices = append(f.Choices, registry.Choice{Value: v})
	}
	return f
}

// textOf is an input that is a text.
func textOf(inputs map[string]any, name string) string {
	value, _ := inputs[name].(string)
	return strings.TrimSpace(value)
}

// textsOf is an input that is a list of texts.
func textsOf(inputs map[string]any, name string) (list []string) {
	values, _ := inputs[name].([]any)
	for _, v := range values {
		if one, ok := v.(string); ok && strings.TrimSpace(one) != "" {
			list = append(list, strings.TrimSpace(one))
		}
	}
	return list
}
