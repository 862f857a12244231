package price

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/billing"
)

// usualAmong is among how many of a tool's latest runs the usual cost is looked for.
const usualAmong = 20

// Usual tells by tool what its latest runs came to, as the middle of them, no matter who ran it and with whatever inputs: enough for a list
// of tools, see Quote for a run. Tools without a run that cost something are not in it.
func (s *Pricer) Usual(ctx context.Context, tools []string) (map[string]billing.NanoUSD, error) {
	rows, _ := s.Config.Pool.Query(ctx, `
		SELECT t.id, usual.cost FROM unnest($1::text[]) t (id), LATERAL (
			SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY full_cost) AS cost FROM (
				SELECT full_cost FROM runs WHERE tool_id = t.id AND status = 'succeeded' AND (nano_units > 0 OR full_cost > 0) ORDER BY ended_at DESC LIMIT $2) latest
			WHERE full_cost > 0) usual
		WHERE usual.cost IS NOT NULL`, tools, usualAmong)
	usual := make(map[string]billing.NanoUSD, len(tools))
	var tool string
	var cost billing.NanoUSD
	if _, err := pgx.ForEachRow(rows, []any{&tool, &cost}, func() error {
		usual[tool] = cost
		return nil
	}); err != nil {
		return nil, fmt.Errorf("what tools cost usually: %w", err)
	}
	return usual, nil
}
