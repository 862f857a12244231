package registry_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/registry"
)

// flux is a definition that uses every member of the contract.
const flux = `{
  "toolId": "fluxgeneral",
  "service": "comfyui",
  "displayName": "Flux General",
  "description": "Draws a picture of what you describe.",
  "commandName": "/fluxgeneral",
  "apiPath": "/api/internal/run/fluxgeneral",
  "inputSchema": {
    "prompt": {"name": "prompt", "type": "string", "required": true, "description": "What to draw", "multiline": true},
    "width": {"name": "width", "type": "number", "required": false, "default": 1024, "min": 64, "max": 2048, "step": 8, "integer": true},
    "cfg": {"name": "cfg", "type": "number", "required": false, "default": 3.50, "min": 0, "max": 30, "advanced": true},
    "seed": {"name": "seed", "type": "number", "required": false, "default": 18446744073709551615, "max": 18446744073709551615, "seed": true},
    "sampler": {"name": "sampler", "type": "string", "required": false, "default": "euler", "choices": ["euler", {"value": "dpmpp_2m", "label": "DPM++ 2M"}]},
    "upscale": {"name": "upscale", "type": "boolean", "required": false, "default": false}
  },
  "outputSchema": {"image": {"name": "image", "type": "image", "description": "The picture"}},
  "costingModel": {"rate": 0.000337, "unit": "second", "rateSource": "machine"},
  "webhookStrategy": {"expectedStatusField": "status", "successValue": "success", "durationTracking": true, "resultPath": ["outputs", "0"]},
  "platformHints": {"primaryInput": "text", "supportsFileCaption": false, "supportsReplyWithCommand": true},
  "metadata": {"b": {"z": 9007199254740993, "a": [1.50, "<&>", null, true]}, "a": "x"},
  "status": {"state": "deprecated", "reason": "old", "replacement": "flux2", "since": "2026-05-01"},
  "visibility": "internal",
  "category": "images",
  "aliases": ["flux-1", "/flux"],
  "kind": "function",
  "capability": "write",
  "deliveryMode": "async",
  "timeoutMs": 600000,
  "retryPolicy": {"maxAttempts": 3, "backoffMs": 500},
  "idempotent": true,
  "confirmation": "summary",
  "cancels": "fluxcancel",
  "cancelFor": "fluxother",
  "piiRequired": ["email"],
  "intentTags": ["draw"],
  "guidance": "Short prompts do.",
  "migrations": [{"from": "text", "to": "prompt", "when": {"mode": "simple"}}],
  "delivery": {"telegram": {"sendAs": "document", "filename": "flux.png"}},
  "humanDefaults": {"width": 768}
}`

func mustDecode(t testing.TB, text string) registry.Tool {
	t.Helper()
	tool, err := registry.DecodeTool([]byte(text))
	if err != nil {
		t.Fatalf("decode: %v", err)
	}
	return tool
}

func mustEncode(t testing.TB, tool registry.Tool) string {
	t.Helper()
	data, err := registry.Encode(tool)
	if err != nil {
		t.Fatalf("encode: %v", err)
	}
	return string(data)
}

// simple is a small valid tool with the command of its id.
func simple(id string) registry.Tool {
	return registry.Tool{
		ToolID: id, Service: "test", DisplayName: "Tool " + id, Description: "Does " + id + ".",
		CommandName: "/" + id, InputSchema: registry.InputSchema{},
	}
}

// loaderFunc is a Loader of a function.
type loaderFunc struct {
	name string
	load func(context.Context) ([]registry.Tool, error)
}

func (l loaderFunc) Name() string { return l.name }

func (l loaderFunc) Load(ctx context.Context) ([]registry.Tool, error) { return l.load(ctx) }

func fixed(name string, tools ...registry.Tool) registry.Loader {
	return loaderFunc{name, func(context.Context) ([]registry.Tool, error) { return tools, nil }}
}

func newRegistry(t testing.TB, c registry.Config) *registry.Registry {
	t.Helper()
	r, err := registry.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func mustReload(t testing.TB, r *registry.Registry) registry.Diff {
	t.Helper()
	diff, err := r.Reload(context.Background())
	if err != nil {
		t.Fatalf("reload: %v", err)
	}
	return diff
}

func wantContains(t testing.TB, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", parts)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error lacks %q:\n%v", part, err)
		}
	}
}

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// clones gives private copies of all tools.
func clones(s *registry.Snapshot) (all []registry.Tool) {
	for tool := range s.Each() {
		all = append(all, tool.Clone())
	}
	return all
}
