package registrytest

import (
	"context"
	"testing"
	"time"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/registry/validate"
)

// Tool gives a small valid tool of service "fake": id, the command of that id where it can be one, a
// required text input "prompt" and an image output "image". Options change it.
func Tool(id string, options ...func(*registry.Tool)) registry.Tool {
	t := registry.Tool{
		ToolID:      id,
		Service:     "fake",
		DisplayName: "Tool " + id,
		Description: "Does what " + id + " does.",
		CommandName: "/" + id,
		InputSchema: registry.InputSchema{
			{Name: "prompt", Type: registry.TypeString, Required: true, Description: "What to do"},
		},
		OutputSchema: registry.OutputSchema{{Name: "image", Type: "image"}},
		Execution:    registry.Execution{DeliveryMode: registry.DeliveryAsync},
	}
	for _, change := range options {
		change(&t)
	}
	return t
}

// Snapshot builds a catalogue of tools after checking that each is valid.
func Snapshot(t testing.TB, tools ...registry.Tool) *catalog.Snapshot {
	t.Helper()
	for _, tool := range tools {
		if err := validate.Tool(tool); err != nil {
			t.Fatalf("registrytest: %v", err)
		}
	}
	s := catalog.NewSnapshot(tools, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	if err := s.Problems().Err(); err != nil {
		t.Fatalf("registrytest: %v", err)
	}
	return s
}

// Registry runs loaders once and gives the Registry; what they got wrong fails the test.
func Registry(t testing.TB, loaders ...registry.Loader) *catalog.Registry {
	t.Helper()
	r, err := catalog.New(catalog.Config{Loaders: loaders})
	if err != nil {
		t.Fatalf("registrytest: %v", err)
	}
	if _, err := r.Reload(context.Background()); err != nil {
		t.Fatalf("registrytest: %v", err)
	}
	return r
}

// Complete is a definition that uses every member of the contract.
const Complete = `{
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
