package comfydeploy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/comfy/workflow"
	"github.com/signalbox/signalbox/registry"
)

// The members of a tool's metadata by which its runs are made. A run keeps the tool it was accepted with,
// and so runs as it was then.
const (
	keyDeployment = "deploymentId"
	keyWorkflow   = "workflowId"
	keyMachine    = "gpu"
	keyInputs     = "inputIds"  // the service's ids by input name
	keyOutputs    = "nodeNames" // output names by node
)

// externalClass begins the class of every node that takes a value from outside.
const externalClass = "ComfyUIDeployExternal"

// queueTime is how long a run may wait for its machine, beside the time it may take.
const queueTime = 15 * time.Minute

// defaultRunTime is what machines allow that do not say.
const defaultRunTime = 5 * time.Minute

// environments are those whose deployments are offered, the first that a workflow has. Only the first two are
// meant for everybody.
var environments = []string{"production", "public-share", "community-share", "private-share", "staging", "preview"}

func public(environment string) bool {
	return environment == environments[0] || environment == environments[1]
}

// toolOf describes a deployment: texts and outputs come from its graph, inputs from its prompt by their
// names, and both from the deployment itself where the workflow can't be read.
func toolOf(d deployment, name string, v version, m machine, rate json.Number) registry.Tool {
	t := registry.Tool{DisplayName: name, Listing: registry.Listing{Category: "image"}, CommandName: workflow.CommandName(workflow.ToolID(name))}
	outputs := map[string]any{}
	if def := define(v.Graph, name); def != nil {
		t = def.Tool
		for _, o := range def.Binding.Outputs {
			outputs[o.Node] = o.Name
		}
	}
	t.Description = cmp.Or(t.Description, d.Description)
	var ids map[string]any
	t.InputSchema, ids = inputsOf(v.Prompt, name)
	if ids == nil {
		t.InputSchema, ids = listedInputs(d.Inputs)
	}
	if len(t.OutputSchema) == 0 {
		t.OutputSchema = registry.OutputSchema{{Name: "image", Type: "image"}}
	}
	t.ToolID, t.Service = registry.StableID(Service, d.ID), Service
	t.CostingModel = &registry.CostingModel{Rate: rate, Unit: registry.UnitSecond, RateSource: registry.RateMachine}
	t.WebhookStrategy = &registry.WebhookConfig{ExpectedStatusField: "status", SuccessValue: "success", DurationTracking: true, ResultPath: []string{"outputs"}}
	t.TimeoutMs = (queueTime + max(defaultRunTime, time.Duration(m.RunTimeout)*time.Second)).Milliseconds()
	t.Metadata = map[string]any{keyDeployment: d.ID, keyWorkflow: d.WorkflowID, keyMachine: gpuOf(d, m), keyInputs: ids, keyOutputs: outputs}
	if !public(d.Environment) {
		t.Visibility = registry.VisibilityInternal
	}
	if reason := m.broken(); reason.Known() {
		t.Status = registry.SayStatus(registry.StateUnavailable, reason)
	}
	return t
}

func gpuOf(d deployment, m machine) string {
	if d.GPU != "" {
		return d.GPU
	}
	return m.GPU
}

// define reads a workflow in either form; nil where it is none.
func define(data json.RawMessage, name string) *workflow.Definition {
	parsed, err := graph.Parse(data)
	if err != nil {
		return nil
	}
	def, err := workflow.Define(parsed, workflow.Options{FileName: name + ".json", Service: Service})
	if err != nil {
		return nil
	}
	return def
}

// inputsOf are the fields of a prompt's external nodes, and the ids under which the service takes their
// values. Values that are no external node's can't be set there. nil: the prompt can't be read.
func inputsOf(prompt json.RawMessage, name string) (registry.InputSchema, map[string]any) {
	def := define(prompt, name)
	if def == nil {
		return nil, nil
	}
	var nodes map[string]struct {
		Class  string `json:"class_type"`
		Inputs struct {
			ID any `json:"input_id"`
		} `json:"inputs"`
	}
	if err := json.Unmarshal(def.Binding.Prompt, &nodes); err != nil {
		return nil, nil
	}
	fields, ids := registry.InputSchema{}, map[string]any{}
	for _, bound := range def.Binding.Inputs {
		for _, target := range bound.Targets {
			id, named := nodes[target.Node].Inputs.ID.(string)
			if named && id != "" && strings.HasPrefix(nodes[target.Node].Class, externalClass) {
				fields, ids[bound.Field.Name] = append(fields, bound.Field), id
				break
			}
		}
	}
	return fields, ids
}

// listedInputs are the fields of a deployment by its own list.
func listedInputs(list []input) (registry.InputSchema, map[string]any) {
	fields, ids := registry.InputSchema{}, map[string]any{}
	for _, in := range list {
		name := workflow.ToolID(in.ID)
		if _, taken := ids[name]; taken || name == "" {
			continue
		}
		ids[name] = in.ID
		fields = append(fields, in.field(name))
	}
	return fields, ids
}

func (in input) field(name string) registry.InputField {
	f := registry.InputField{Name: name, Type: registry.TypeString, DisplayName: in.Name, Description: in.Description, Min: in.Min, Max: in.Max}
	kind, _ := strings.CutPrefix(in.Class, externalClass)
	switch {
	case strings.HasPrefix(kind, "Image"):
		f.Type, f.Multiple = registry.TypeImage, kind == "ImageBatch"
	case kind == "Video" || kind == "Vid":
		f.Type = registry.TypeVideo
	case kind == "Audio":
		f.Type = registry.TypeAudio
	case kind == "File" || kind == "EXR":
		f.Type = registry.TypeFile
	case in.Type == "integer" || in.Type == "float":
		f.Type, f.Integer, f.Seed = registry.TypeNumber, in.Type == "integer", kind == "Seed"
	case in.Type == "boolean":
		f.Type = registry.TypeBoolean
	}
	for _, option := range in.Options {
		f.Choices = append(f.Choices, registry.Choice{Value: option})
	}
	f.Required = !f.Seed
	if in.Default != nil && in.Default != "" && !f.Type.IsMedia() {
		if value, refusal := registry.CheckValue(f, in.Default); refusal == nil {
			f.Default, f.Required = value, false
		}
	}
	return f
}

// pick is the deployment of each workflow that is offered: that of the first environment it has one in.
func pick(all []deployment) []deployment {
	slices.SortFunc(all, func(a, b deployment) int {
		if a.WorkflowID != b.WorkflowID {
			return strings.Compare(a.WorkflowID, b.WorkflowID)
		}
		if order := place(a.Environment) - place(b.Environment); order != 0 {
			return order
		}
		return strings.Compare(a.ID, b.ID)
	})
	return slices.CompactFunc(all, func(a, b deployment) bool { return a.WorkflowID == b.WorkflowID })
}

func place(environment string) int {
	if i := slices.Index(environments, environment); i >= 0 {
		return i
	}
	return len(environments)
}

// nameOf is what people call a deployment's workflow.
func nameOf(d deployment, names map[string]string) string {
	for _, name := range []string{d.Workflow.Name, names[d.WorkflowID]} {
		if strings.TrimSpace(name) != "" {
			return strings.TrimSpace(name)
		}
	}
	return fmt.Sprintf("Workflow %.8s", d.WorkflowID)
}
