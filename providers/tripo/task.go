package tripo

import (
	_ "embed" // the kinds of tasks
	"encoding/json"
	"fmt"
	"slices"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

// Service is the service name of all tools.
const Service = "tripo"

// The outputs. The preview is there where the service renders one.
const (
	outModel   = "model"
	outPreview = "preview"
	outTask    = "task"
)

//go:embed tasks.json
var defaultTasks []byte

// task is one kind of work that the service does: a tool.
type task struct {
	Type        string               `json:"type"` // the service's word, and the end of the tool's id
	Command     string               `json:"command"`
	Name        string               `json:"name"`
	Description string               `json:"description"`
	Inputs      registry.InputSchema `json:"inputs"`
	Groups      []string             `json:"groups"`      // further inputs that several tasks have
	SourceFirst bool                 `json:"sourceFirst"` // the groups come before Inputs
	Paths       map[string]string    `json:"paths"`       // of an input in the request, steps separated by a dot; else its name
	Views       []string             `json:"views"`       // inputs that go into the list of pictures, in its order
	Limits      map[string]int       `json:"limits"`      // characters of a text
}

// parseTasks reads the list of tasks and gives each all of its inputs.
func parseTasks(data []byte) ([]task, error) {
	var list struct {
		Groups map[string]registry.InputSchema `json:"groups"`
		Tasks  []task                          `json:"tasks"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("tasks of Tripo: %w", err)
	}
	for i := range list.Tasks {
		t := &list.Tasks[i]
		var more registry.InputSchema
		for _, name := range t.Groups {
			group, known := list.Groups[name]
			if !known {
				return nil, fmt.Errorf("tasks of Tripo: %s: there is no group %q", t.Type, name)
			}
			more = append(more, group...)
		}
		if t.SourceFirst {
			t.Inputs = slices.Concat(more, t.Inputs)
		} else {
			t.Inputs = slices.Concat(t.Inputs, more)
		}
	}
	return list.Tasks, nil
}

func (t task) id() string { return Service + "." + t.Type }

// tool describes the task. Beside the model there is a preview wherever the service renders one; a model
// without it is a result all the same, so it is not declared.
func (t task) tool(rate json.Number) registry.Tool {
	primary := "text"
	if t.Inputs[0].Type.IsMedia() {
		primary = string(t.Inputs[0].Type)
	}
	return registry.Tool{
		ToolID: t.id(), Service: Service, DisplayName: t.Name, Description: t.Description + " Made by Tripo.", CommandName: t.Command,
		Listing:     registry.Listing{Category: "3d", Kind: "3d"},
		InputSchema: t.Inputs.Clone(),
		OutputSchema: registry.OutputSchema{
			{Name: outModel, Type: "file", Description: "The model."},
			{Name: outTask, Type: "text", Description: "The task's code, for work that goes on from this model."},
		},
		CostingModel:  &registry.CostingModel{Rate: rate, Unit: registry.UnitRequest, RateSource: registry.RateAPI},
		PlatformHints: &registry.PlatformHints{PrimaryInput: primary, SupportsFileCaption: primary == "image", SupportsReplyWithCommand: true},
		Execution:     registry.Execution{DeliveryMode: registry.DeliveryAsync, TimeoutMs: 30 * 60 * 1000, RetryPolicy: &registry.RetryPolicy{MaxAttempts: 2, BackoffMs: 5000}},
		Advice:        registry.Advice{IntentTags: []string{"3d"}},
	}
}

// check refuses texts that are too long, before anything is sent.
func (t task) check(inputs map[string]any) error {
	for name, limit := range t.Limits {
		text, _ := inputs[name].(string)
		if n := len([]rune(text)); n > limit {
			return registry.Say(registry.CodeInvalidInput, said.TextTooLong, "n", n, "most", limit).At(name)
		}
	}
	return nil
}
