package missions

import (
	"fmt"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
	"github.com/signalbox/signalbox/runs"
)

// proposes is a model's call of several steps.
func proposes(user string, steps ...map[string]any) runs.Request {
	list := make([]any, len(steps))
	for i, one := range steps {
		list[i] = one
	}
	r := runOf(user, StepsTool, map[string]any{"steps": list})
	r.Approval, r.Context = runs.ApproveWrites, registry.CallContext{PlannerProvider: "script", TraceID: "a-question"}
	return r
}

func stepOf(tool string, inputs map[string]any) map[string]any {
	return map[string]any{"tool": tool, "inputs": inputs}
}

// from is what an earlier step makes, without its name.
func from(leg int) map[string]any {
	return map[string]any{outputKey: map[string]any{"leg": leg}}
}

// shown asks for steps and gives the run that waits.
func (h *house) shown(r runs.Request) runs.Run {
	h.t.Helper()
	run, err := h.runs.Ask(h.t.Context(), r)
	if err == nil || run.Status != runs.StatusAwaitingConfirmation {
		h.t.Fatalf("the run is %s, %v", run.Status, err)
	}
	return run
}

func TestSteps(t *testing.T) {
	t.Parallel()
	t.Run("C42 several steps are shown with their prices and the total, confirmed once, and end in one result", func(t *testing.T) {
		t.Parallel()
		h := withChains(t)
		user := h.user()
		run := h.shown(proposes(user, stepOf("paint", map[string]any{"where": "Porto"}), stepOf("frame", map[string]any{"image": from(1)})))
		parts := run.Preview.Parts
		if len(parts) != 2 || parts[0].Name != "Paint" || parts[0].CostUSD != "0.01" || run.Quote.High != 2*cent || run.Quote.Held() != 0 {
			t.Fatalf("shown are %+v for %s", parts, run.Quote)
		}
		if got := fmt.Sprint(parts[0].Inputs, parts[1].Inputs); got != "[{where string Porto 0}] [{image image  1}]" {
			t.Errorf("the inputs shown are %s", got)
		}
		h.wantCalls()
		if _, err := h.runs.ConfirmSummary(t.Context(), run.ID, user, run.Summary().Hash(), nil); err != nil {
			t.Fatal(err)
		}
		run = h.runEnds(run)
		if run.Status != runs.StatusSucceeded || len(run.Outputs) != 1 || run.Outputs[0].Type != "image" {
			t.Errorf("the run is %s with %+v, %+v", run.Status, run.Outputs, run.Error)
		}
		h.wantCalls("paint", "frame")
		h.wantBalance(user, billing.Dollar-2*cent)
	})
	t.Run("C42 what was not shown does not run: other steps have another hash, another tool is refused before anything begins", func(t *testing.T) {
		t.Parallel()
		h := withChains(t)
		user := h.user()
		run := h.shown(proposes(user, stepOf("paint", nil)))
		other := h.shown(proposes(user, stepOf("jet", nil)))
		if _, err := h.runs.ConfirmSummary(t.Context(), other.ID, user, run.Summary().Hash(), nil); err == nil {
			t.Error("one card's word confirms another card")
		}
		h.changes("paint", func(t *registry.Tool) { t.Description = "Paints something else." })
		if _, err := h.runs.ConfirmSummary(t.Context(), run.ID, user, run.Summary().Hash(), nil); err != nil {
			t.Fatal(err)
		}
		if run = h.runEnds(run); run.Status != runs.StatusFailed || !strings.Contains(run.Error.Message, "changed since the steps were shown") {
			t.Errorf("the run is %s, %+v", run.Status, run.Error)
		}
		h.wantCalls()
		h.wantBalance(user, billing.Dollar)
	})
	t.Run("C44 a step that fails has what was done before taken back, and told as the run's failure", func(t *testing.T) {
		t.Parallel()
		h := withChains(t)
		h.agency.answer = failing("paint", soldOut)
		user := h.user()
		run := h.shown(proposes(user, stepOf("flight", nil), stepOf("paint", map[string]any{"after": map[string]any{outputKey: map[string]any{"leg": 1, "name": "booking.id"}}})))
		if _, err := h.runs.Confirm(t.Context(), run.ID, user); err != nil {
			t.Fatal(err)
		}
		if run = h.runEnds(run); run.Status != runs.StatusFailed || run.Error.Message != "Paint: sold out" {
			t.Errorf("the run is %s, %+v", run.Status, run.Error)
		}
		h.wantCalls("flight", "paint", "cancel_flight")
		h.wantBalance(user, billing.Dollar)
	})
	t.Run("C43 what one word can't cover is refused with what to do", func(t *testing.T) {
		t.Parallel()
		h := withChains(t)
		user := h.user()
		chain := h.save(poster(user))
		for want, steps := range map[string][]map[string]any{
			"there is no tool":              {stepOf("nothing", nil)},
			"has steps of its own":          {stepOf(chain.ToolID(), nil)},
			StepsTool + " has steps":        {stepOf(StepsTool, map[string]any{"steps": []any{stepOf("paint", nil)}})},
			"passes on personal data":       {stepOf("visa", map[string]any{"passport": "X1"})},
			"make it the last step":         {stepOf("publish", nil), stepOf("paint", nil)},
			"takes image, and step 1 gives": {stepOf("flight", nil), stepOf("frame", map[string]any{"image": from(1)})},
			"the number of an earlier step": {stepOf("frame", map[string]any{"image": from(1)})},
			"where: takes text":             {stepOf("paint", map[string]any{"where": []any{"a"}})},
			"steps":                         {},
		} {
			_, err := h.runs.Ask(t.Context(), proposes(user, steps...))
			if err == nil || !strings.Contains(runs.Refusal(err).Message, want) {
				t.Errorf("%v: %v, want %q", steps, err, want)
			}
		}
		h.may = func(toolID string) error {
			if toolID == "jet" {
				return registry.Errorf(registry.CodeUnauthorized, "no jets for you")
			}
			return nil
		}
		if _, err := h.runs.Ask(t.Context(), proposes(user, stepOf("paint", nil), stepOf("jet", nil))); err == nil || !strings.Contains(err.Error(), "no jets") {
			t.Errorf("a step that the account may not use: %v", err)
		}
		h.wantCalls()
	})
	t.Run("a key's limit, which could not bound the steps, runs none that cost", func(t *testing.T) {
		t.Parallel()
		h := withChains(t)
		r := proposes(h.user(), stepOf("paint", nil))
		r.Budget = runs.Budget{Name: "key", Limit: billing.Dollar}
		if _, err := h.runs.Ask(t.Context(), r); err == nil || !strings.Contains(err.Error(), "spending limit") {
			t.Error(err)
		}
	})
	t.Run("no list shows the tool, which is there for models", func(t *testing.T) {
		t.Parallel()
		snapshot := registrytest.Registry(t, registrytest.NewLoader("steps", stepsTool())).Snapshot()
		if len(snapshot.Offered(registry.Insiders)) != 0 {
			t.Error("it is in a list")
		}
		if _, ok := snapshot.Resolve(StepsTool); !ok {
			t.Error("it is not there")
		}
	})
}
