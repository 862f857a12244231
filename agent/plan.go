package agent

import (
	"context"
	"encoding/json"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// maxPlans is how often a plan that is none goes back to the model.
const maxPlans = 2

// planTool is how a model hands in the plan that the asker wants.
func planTool(schema json.RawMessage) (Tool, error) {
	if _, err := registry.ParseSchema(schema); err != nil {
		return Tool{}, registry.Errorf(registry.CodeInvalidInput, "planSchema: %v", err)
	}
	return Tool{toolPlan, "Submit the plan that was asked for and complete the task. Nothing of it is applied.", schema}, nil
}

// submitPlan takes a plan that is valid, and ends the task; it is the asker's to apply.
func (t *talk) submitPlan(_ context.Context, call Call) runs.Envelope {
	schema, err := registry.ParseSchema(t.question.PlanSchema)
	if err != nil {
		return t.refuse(err.Error())
	}
	values, err := decode(call.Arguments)
	if err == nil {
		err = schema.Check(values)
	}
	if err == nil {
		t.answer.Plan = json.RawMessage(call.Arguments)
		return runs.Envelope{OK: true, Data: map[string]any{"taken": true}}
	}
	t.plans++
	if t.plans > maxPlans {
		text := "No valid plan was made: " + err.Error()
		t.final = &text
	}
	return t.refuse("the plan is not valid: " + err.Error())
}
