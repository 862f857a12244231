package runs

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
)

const (
	learnFrom    = 20               // runs that a quote is learned from
	learnAmong   = 200              // the latest runs of the tool, among which those of the same shape count first
	learnedFor   = 20 * time.Second // how long what was read is used
	priceTimeout = 3 * time.Second  // for a provider to name its price
)

// Quote tells what the bound run will cost: from the tool's costing model, the provider's own price where
// it names one, and what the tool has cost lately, first of all with inputs of the same shape (the same
// size, steps, model, ...). High is a promise, see billing.Quote.
func (s *Service) Quote(ctx context.Context, b Bound) (billing.Quote, error) {
	model := b.Tool.CostingModel
	if model == nil {
		return billing.Estimate(nil, billing.History{}, registry.Price{}, s.config.RateCard), nil
	}
	var history billing.History
	if model.Unit != registry.UnitRequest || model.RateSource == registry.RateAPI {
		var err error
		if history, err = s.history(ctx, b.Tool, shapeOf(b)); err != nil {
			return billing.Quote{}, fmt.Errorf("quote %s: %w", b.Tool.ToolID, err)
		}
	}
	return billing.Estimate(model, history, s.price(ctx, b), s.config.RateCard), nil
}

// price asks the provider, for the sources where its answer counts. No answer is no obstacle: the
// estimate does without.
func (s *Service) price(ctx context.Context, b Bound) registry.Price {
	pricer, ok := s.config.Providers[b.Tool.Service].(registry.Pricer)
	source := b.Tool.CostingModel.RateSource
	if !ok || (source != registry.RateAPI && source != registry.RateMachine) {
		return registry.Price{}
	}
	ctx, cancel := context.WithTimeout(ctx, priceTimeout)
	defer cancel()
	price, err := pricer.Price(ctx, registry.Call{UserID: b.Request.AccountID, Tool: b.Tool, Inputs: b.Inputs, Media: s.config.Assets})
	if err != nil {
		s.log.WarnContext(ctx, "the provider named no price", "tool", b.Tool.ToolID, "error", err)
		return registry.Price{}
	}
	return price
}

// lesson is one past run of a tool.
type lesson struct {
	shape   int64
	machine string
	sample  billing.Sample
}

// lessons caches the latest runs of each tool.
type lessons struct {
	mu    sync.Mutex
	tools map[string]learned
}

type learned struct {
	at      time.Time
	lessons []lesson
}

// history gives the tool's latest runs of the shape, or of any where those are too few to tell.
func (s *Service) history(ctx context.Context, tool registry.Tool, shape int64) (billing.History, error) {
	all, err := s.learn(ctx, tool.ToolID)
	if err != nil {
		return billing.History{}, err
	}
	// A provider that charges by itself may tell the price and nothing of what was consumed.
	tells := func(l *lesson) bool {
		return l.sample.NanoUnits != 0 || tool.CostingModel.RateSource == registry.RateAPI
	}
	h := billing.History{Timeout: s.timeoutOf(tool)}
	if i := slices.IndexFunc(all, func(l lesson) bool { return tells(&l) }); i >= 0 {
		h.Machine = all[i].machine
	}
	h.Samples = samples(all, func(l *lesson) bool { return l.shape == shape && tells(l) })
	if len(h.Samples) < 5 {
		if any := samples(all, tells); len(any) > len(h.Samples) {
			h.Samples = any
		}
	}
	return h, nil
}

// samples chooses the latest of those that count.
func samples(all []lesson, counts func(*lesson) bool) []billing.Sample {
	chosen := make([]billing.Sample, 0, min(len(all), learnFrom))
	for i := range all {
		if len(chosen) == learnFrom {
			break
		}
		if counts(&all[i]) {
			chosen = append(chosen, all[i].sample)
		}
	}
	return chosen
}

func (s *Service) learn(ctx context.Context, toolID string) ([]lesson, error) {
	s.learned.mu.Lock()
	known, ok := s.learned.tools[toolID]
	s.learned.mu.Unlock()
	now := s.config.Now()
	if ok && now.Sub(known.at) < learnedFor {
		return known.lessons, nil
	}
	rows, err := s.config.Pool.Query(ctx, `
		SELECT shape, machine, nano_units, coalesce((receipt ->> 'netNanoUsd')::bigint, full_cost) FROM runs
		WHERE tool_id = $1 AND status = 'succeeded' AND (nano_units > 0 OR full_cost > 0) ORDER BY ended_at DESC LIMIT $2`, toolID, learnAmong)
	if err != nil {
		return nil, err
	}
	fresh, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (lesson, error) {
		var l lesson
		err := row.Scan(&l.shape, &l.machine, &l.sample.NanoUnits, &l.sample.Cost)
		return l, err
	})
	if err != nil {
		return nil, err
	}
	s.learned.mu.Lock()
	defer s.learned.mu.Unlock()
	if s.learned.tools == nil || len(s.learned.tools) >= maxCachedTools {
		s.learned.tools = make(map[string]learned)
	}
	s.learned.tools[toolID] = learned{at: now, lessons: fresh}
	return fresh, nil
}

// timeoutOf is how long a run of the tool may take, from its start.
func (s *Service) timeoutOf(tool registry.Tool) time.Duration {
	timeout := tool.Timeout()
	if timeout <= 0 {
		timeout = s.config.DefaultTimeout
	}
	return min(timeout, maxTimeout)
}
