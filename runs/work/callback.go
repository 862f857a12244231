package work

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/runs"
)

// Callback makes a run look at its provider now, as after an authentic callback of the service. runID is ours, where
// the callback came to the run's own address, or empty; providerID is the provider's, or empty. A run that is over
// stays as it is. ErrNotFound says that there is no such run of this service, or not yet: a callback can be faster than
// the answer that brings the provider's id.
func (s *Worker) Callback(ctx context.Context, service, runID, providerID string) error {
	var own []string
	for _, id := range []string{runID, providerID} { // a provider may know the run by our handle
		if parsed, err := uuid.Parse(id); err == nil {
			own = append(own, parsed.String())
		}
	}
	if slices.ContainsFunc(own, s.Hub.Nudge) {
		return nil
	}
	// In two halves, so that each uses its index.
	rows, _ := s.Config.Pool.Query(ctx, `
		SELECT id::text, ended_at IS NOT NULL FROM runs WHERE id = ANY ($1::uuid[]) AND service = $2
		UNION
		SELECT id::text, false FROM runs WHERE service = $2 AND provider_id = $3 AND $3 <> '' AND ended_at IS NULL`, own, service, providerID)
	type found struct {
		ID   string
		Over bool
	}
	hits, err := pgx.CollectRows(rows, pgx.RowToStructByPos[found])
	if err != nil {
		return fmt.Errorf("find the run of a callback of %s: %w", service, err)
	}
	if len(hits) == 0 {
		return fmt.Errorf("a callback of %s: %w", service, runs.ErrNotFound)
	}
	for _, run := range hits {
		if !run.Over && !s.Hub.Nudge(run.ID) {
			s.Hub.Tell(run.ID) // the process that works on it looks when it hears of a change
		}
	}
	return nil
}
