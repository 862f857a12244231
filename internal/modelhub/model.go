package modelhub

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/signalbox/signalbox/registry"
)

// Model is a model that a service hosts, billed by what it is priced by.
type Model struct {
	Service, Label string // Label is the service's name for people
	ID             string // as the service names it: owner/name and perhaps more
	Description    string
	Inputs         registry.InputSchema
	Price          Price
	Unpriced       string // why the price can't be had: the tool can't be used; empty: it can
	Metadata       map[string]any
}

// loadsAtOnce is how many models are asked for at the same time.
const loadsAtOnce = 8

var unfit = regexp.MustCompile(`[^a-z0-9]+`)

// Tool is the model as a tool. Its id and command are of the model's name, its outputs all those it makes.
func (m Model) Tool() registry.Tool {
	_, name, _ := strings.Cut(m.ID, "/")
	primary := "text"
	if f, ok := primaryInput(m.Inputs); ok && f.Type.IsMedia() {
		primary = string(f.Type)
	}
	if m.Metadata == nil {
		m.Metadata = map[string]any{}
	}
	var costing *registry.CostingModel
	if m.Price.USD == "" {
		m.Unpriced = cmp.Or(m.Unpriced, "nobody has said what it costs: the operator has to set its price in MODEL_PRICES_FILE")
	} else {
		m.Metadata[priceKey], costing = m.Price.metadata(), m.Price.costing()
	}
	tool := registry.Tool{
		ToolID: m.Service + "." + strings.ReplaceAll(m.ID, "/", "."), Service: m.Service, DisplayName: strings.ReplaceAll(name, "/", " "),
		Description:   strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(m.Description), ".") + ". Runs at " + m.Label + ": " + m.ID + "."),
		CommandName:   "/" + commandOf(name),
		Listing:       registry.Listing{Category: m.Service, Kind: "model"},
		InputSchema:   m.Inputs,
		OutputSchema:  registry.OutputSchema{{Name: outputName, Type: "file", Description: "What the model makes: pictures, videos, sounds, other files or a text."}},
		CostingModel:  costing,
		PlatformHints: &registry.PlatformHints{PrimaryInput: primary, SupportsFileCaption: primary != "text", SupportsReplyWithCommand: true},
		Execution:     registry.Execution{DeliveryMode: registry.DeliveryAsync, TimeoutMs: 30 * 60 * 1000, RetryPolicy: &registry.RetryPolicy{MaxAttempts: 2, BackoffMs: 5000}},
		Metadata:      m.Metadata,
	}
	if m.Unpriced != "" {
		tool.Status = &registry.Status{State: registry.StateUnavailable, Reason: m.Unpriced}
	}
	return tool
}

// commandOf makes a command of a name; it is never empty.
func commandOf(name string) string {
	command := strings.Trim(unfit.ReplaceAllString(strings.ToLower(name), "_"), "_")
	if command == "" {
		return "model"
	}
	return strings.TrimRight(command[:min(len(command), 32)], "_")
}

// primaryInput is what a person gives: the prompt, else the first file that is needed, else the first input.
func primaryInput(inputs registry.InputSchema) (registry.InputField, bool) {
	for _, fits := range []func(registry.InputField) bool{
		func(f registry.InputField) bool { return f.Name == "prompt" },
		func(f registry.InputField) bool { return f.Required && f.Type.IsMedia() },
		func(registry.InputField) bool { return true },
	} {
		if i := slices.IndexFunc(inputs, fits); i >= 0 {
			return inputs[i], true
		}
	}
	return registry.InputField{}, false
}

// Load describes models at the same time, in their order. One that the service does not have, or whose description
// makes no sense, is told in a *registry.PartialError beside the others. Any other trouble is an error, so that
// the tools known before stay.
func Load(ctx context.Context, models []string, describe func(ctx context.Context, model string) (registry.Tool, error)) ([]registry.Tool, error) {
	tools, failures := make([]registry.Tool, len(models)), make([]error, len(models))
	slots := make(chan struct{}, loadsAtOnce)
	var all sync.WaitGroup
	for i, model := range models {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			tools[i], failures[i] = describe(ctx, model)
		})
	}
	all.Wait()
	var good []registry.Tool
	var problems registry.Problems
	for i, failure := range failures {
		switch code := registry.AsError(failure); {
		case failure == nil:
			good = append(good, tools[i])
		case ctx.Err() != nil || code.Code != registry.CodeLost && code.Code != registry.CodeInvalidInput && code.Code != registry.CodeBadOutput:
			return nil, fmt.Errorf("%s: %w", models[i], failure)
		default:
			problems = append(problems, registry.Problem{ToolID: models[i], Message: code.Message})
		}
	}
	if len(problems) > 0 {
		return good, &registry.PartialError{Problems: problems}
	}
	return good, ctx.Err()
}
