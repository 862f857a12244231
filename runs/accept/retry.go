package accept

import (
	"context"
	"fmt"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// Retry accepts a run that came to nothing once more: for the same account, with the same inputs as far as the tool of
// today has them, to the same place, in the same session and trace. A repeat gives the same new run, whose Parent is the old one. Errors: ErrNotFound,
// ErrNotFailed, those of Accept.
func (s *Acceptor) Retry(ctx context.Context, runID string) (runs.Run, error) {
	old, err := s.store.Get(ctx, runID)
	if err != nil {
		return runs.Run{}, err
	}
	if !old.Status.Final() || old.Status == runs.StatusSucceeded {
		return runs.Run{}, fmt.Errorf("retry of run %s: %w", runID, runs.ErrNotFailed)
	}
	where := old.Context
	where.PlannerProvider = "" // who tries it again is a person
	return s.Accept(ctx, runs.Request{
		AccountID: old.AccountID, Context: where, ToolID: old.Tool.ToolID, Origin: old.Origin, Group: old.Group, Parent: old.ID, Audience: registry.Insiders, Budget: runs.Budget{Name: old.Budget},
		Values: s.stillThere(old), IdempotencyKey: "retry:" + old.ID,
	})
}

// stillThere are the inputs of a run that its tool still has, as a request takes them. What is the tool's default
// today need not be what the run had, so it counts as given; preferences set since do not count.
func (s *Acceptor) stillThere(old runs.Run) map[runs.Source]map[string]any {
	values := map[runs.Source]map[string]any{runs.FromPreference: {}}
	t, ok := s.Config.Registry.Snapshot().Resolve(old.Tool.ToolID)
	if !ok {
		return values // Accept says so
	}
	for name, value := range old.Inputs {
		source := old.Sources[name]
		if source == runs.FromDefault || source == runs.FromRandom {
			source = runs.FromArgument
		}
		if values[source] == nil {
			values[source] = make(map[string]any)
		}
		if _, ok := t.InputSchema.Get(name); ok {
			values[source][name] = value
		}
	}
	return values
}
