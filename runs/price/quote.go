// Package price quotes runs before they are accepted: from the tool's costing model, the provider's own price and what the tool has cost
// lately. What was shown is sealed, so that it can come back. It also asks providers what a call would do.
package price

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/internal/seal"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/store"
)

const (
	learnFrom    = 20               // runs with which a tool is known well enough for news of it to wait
	learnAmong   = 200              // the latest runs of the tool, among which those like the one to be quoted count first
	learnedFor   = 20 * time.Second // how long what was read is used
	priceTimeout = 3 * time.Second  // for a provider to name its price
)

// Pricer quotes runs.
type Pricer struct {
	*store.Env
	Learned lessons
	quotes  seal.Sealer
}

// NewPricer makes a Pricer that seals its offers.
func NewPricer(e *store.Env) (*Pricer, error) {
	sealer, err := seal.New(e.Config.Quotes)
	return &Pricer{Env: e, quotes: sealer}, err
}

// quote is the house's own price of a bound request, with the time when it was made.
func (s *Pricer) quote(ctx context.Context, b runs.Bound) (billing.Quote, time.Time, error) {
	return b.QuoteOnce(s.Config.Now(), func() (billing.Quote, error) { return s.makeQuote(ctx, b) })
}

func (s *Pricer) makeQuote(ctx context.Context, b runs.Bound) (billing.Quote, error) {
	model := b.Tool.CostingModel
	if model == nil {
		return billing.Estimate(nil, billing.History{}, registry.Price{}, s.Config.RateCard), nil
	}
	var history billing.History
	if model.Unit != registry.UnitRequest || model.RateSource == registry.RateAPI {
		var err error
		if history, err = s.History(ctx, b); err != nil {
			return billing.Quote{}, fmt.Errorf("quote %s: %w", b.Tool.ToolID, err)
		}
	}
	price := s.price(ctx, b)
	quote := billing.Estimate(model, history, price, s.Config.RateCard)
	quote.Parts = price.Parts
	quote = quote.WithShare(model, b.Request.AccountID)
	quote.BillCanceled = s.Config.BillCanceled && quote.High > 0 && quote.Unit == string(registry.UnitSecond)
	return quote, nil
}

// price asks the provider, for the sources where its answer counts. No answer is no obstacle: the
// estimate does without.
func (s *Pricer) price(ctx context.Context, b runs.Bound) registry.Price {
	pricer, ok := runs.Extra[registry.Pricer](s.Config.Providers[b.Tool.Service])
	model := b.Tool.CostingModel
	if !ok || model.RateSource != registry.RateAPI && model.RateSource != registry.RateMachine && !model.Fees {
		return registry.Price{}
	}
	ctx, cancel := context.WithTimeout(ctx, priceTimeout)
	defer cancel()
	price, err := pricer.Price(ctx, registry.Call{
		UserID: b.Request.AccountID, Tool: b.Tool, Inputs: b.Inputs, Media: stored{s.Config.Assets}, Context: b.Request.Context, Budget: b.Request.Budget.Name, Group: b.Request.Group,
	})
	if err != nil {
		s.Log.WarnContext(ctx, "the provider named no price", "tool", b.Tool.ToolID, "error", err)
		return registry.Price{}
	}
	return price
}

// lesson is one past run of a tool.
type lesson struct {
	shape  int64
	kin    uint64 // see traits
	sample billing.Sample
}

// lessons caches the latest runs of each version of a tool.
type lessons struct {
	mu    sync.Mutex
	tools map[store.ToolKey]learned
}

type learned struct {
	at      time.Time
	lessons []lesson
}

// History gives what the tool's latest runs say of one with these inputs.
func (s *Pricer) History(ctx context.Context, b runs.Bound) (billing.History, error) {
	all, err := s.learn(ctx, b.Tool)
	if err != nil {
		return billing.History{}, err
	}
	h := billing.History{Timeout: s.TimeoutOf(b.Tool), Efforts: effortsOf(b.Tool), Samples: make([]billing.Sample, 0, len(all))}
	next, kin, choices := traits(b.Tool, b.Inputs)
	h.Next, h.Choices = next, choices
	shape := ShapeOf(b)
	for _, l := range all {
		// A provider that charges by itself may tell the price and nothing of what was consumed.
		if l.sample.NanoUnits == 0 && b.Tool.CostingModel.RateSource != registry.RateAPI {
			continue
		}
		l.sample.Alike, l.sample.Kin = l.shape == shape, l.kin == kin
		h.Samples = append(h.Samples, l.sample)
	}
	return h, nil
}

// learnSQL gives the latest runs of a tool. A planner that is asked for what IS NULL expects hardly any, and sorts all runs that the tool ever had; it does so, too, for
// a tool of which it does not know how many runs there are, so the plan is made anew each time.
const learnSQL = `
	SELECT shape, machine, nano_units, coalesce((receipt ->> 'netNanoUsd')::bigint, full_cost), convert_to(inputs::text, 'UTF8') FROM runs
	WHERE tool_id = $1 AND status = 'succeeded' AND (nano_units > 0 OR full_cost > 0) AND CASE WHEN quote ->> 'parts' IS NULL THEN 1 ELSE 0 END <> 0
	ORDER BY ended_at DESC LIMIT $2`

func (s *Pricer) learn(ctx context.Context, tool registry.Tool) ([]lesson, error) {
	key := store.KeyOf(tool)
	s.Learned.mu.Lock()
	known, ok := s.Learned.tools[key]
	s.Learned.mu.Unlock()
	now := s.Config.Now()
	if ok && now.Sub(known.at) < learnedFor {
		return known.lessons, nil
	}
	rows, _ := s.Config.Pool.Query(ctx, learnSQL, pgx.QueryExecModeCacheDescribe, tool.ToolID, learnAmong)
	fresh, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (lesson, error) {
		var l lesson
		var raw []byte
		if err := row.Scan(&l.shape, &l.sample.Machine, &l.sample.NanoUnits, &l.sample.Cost, &raw); err != nil {
			return l, err
		}
		var inputs map[string]any
		if err := decimal.Unmarshal(raw, &inputs); err != nil {
			return l, err
		}
		l.sample.Effort, l.kin, _ = traits(tool, inputs)
		return l, nil
	})
	if err != nil {
		return nil, err
	}
	s.Learned.mu.Lock()
	defer s.Learned.mu.Unlock()
	if s.Learned.tools == nil || len(s.Learned.tools) >= store.MaxCachedTools {
		s.Learned.tools = make(map[store.ToolKey]learned)
	}
	s.Learned.tools[key] = learned{at: now, lessons: fresh}
	return fresh, nil
}

// News forgets what is remembered of a tool of which little is known, so that the next quote knows of the run that ended.
func (l *lessons) News(tool registry.Tool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if key := (store.KeyOf(tool)); len(l.tools[key].lessons) < learnFrom {
		delete(l.tools, key)
	}
}

// growing are parts of the names of inputs that multiply the work of a run.
var growing = []string{"batch", "width", "height", "steps", "frame", "length", "duration", "second", "count", "num_", "amount", "pixel", "resolution", "size", "fps", "repeat", "samples"}

// effortsOf are the inputs of a tool whose amounts may bear on what a run consumes: numbers, and how many files a list has.
func effortsOf(tool registry.Tool) []billing.Effort {
	var efforts []billing.Effort
	for _, f := range tool.InputSchema {
		if !isEffort(f) {
			continue
		}
		name := strings.ToLower(f.Name)
		efforts = append(efforts, billing.Effort{
			Name: f.Name, Usual: amount(f.Default),
			Grows: f.Type.IsMedia() || name == "n" || slices.ContainsFunc(growing, func(part string) bool { return strings.Contains(name, part) }),
		})
	}
	return efforts
}

func isEffort(f registry.InputField) bool {
	return f.Type == registry.TypeNumber && !f.Seed && !f.Multiple && len(f.Choices) == 0 || f.Type.IsMedia() && f.Multiple
}

// traits are what of a run's inputs bears on how much it consumes: the amounts of effortsOf, and a hash of its choices and switches, which
// are choices many.
func traits(tool registry.Tool, inputs map[string]any) (efforts []float64, kin uint64, choices int) {
	h := fnv.New64a()
	for _, f := range tool.InputSchema {
		switch {
		case isEffort(f):
			efforts = append(efforts, amount(inputs[f.Name]))
		case f.Type == registry.TypeBoolean || len(f.Choices) > 0:
			choices++
			fmt.Fprintf(h, "%s=%v\x00", f.Name, inputs[f.Name])
		}
	}
	return efforts, h.Sum64(), choices
}

// amount is a number, or how many a list has; 0 where there is neither.
func amount(value any) float64 {
	switch v := value.(type) {
	case json.Number:
		n, err := v.Float64()
		if err != nil {
			return 0
		}
		return n
	case float64:
		return v
	case []any:
		return float64(len(v))
	}
	return 0
}

// ShapeOf hashes the inputs that bear on how much a run consumes: numbers, choices and switches, but
// neither seeds, texts nor media. Quotes compare a run with those of its shape first.
func ShapeOf(b runs.Bound) int64 {
	h := fnv.New64a()
	for _, f := range b.Tool.InputSchema {
		value, ok := b.Inputs[f.Name]
		weighs := f.Type == registry.TypeNumber || f.Type == registry.TypeBoolean || len(f.Choices) > 0
		if !ok || !weighs || f.Seed {
			continue
		}
		fmt.Fprintf(h, "%s=%v\x00", f.Name, value)
	}
	return int64(h.Sum64()) // all 64 bits, for Postgres' signed bigint
}

// stored opens the files of a call that nobody has let go ahead yet: none from elsewhere, for to fetch it is to go there.
type stored struct{ registry.MediaOpener }

func (m stored) OpenMedia(ctx context.Context, ref registry.Media) (io.ReadCloser, registry.MediaInfo, error) {
	if _, elsewhere := bare(ref); elsewhere {
		return nil, registry.MediaInfo{}, errors.New("what is at an address is fetched when the call is made")
	}
	return m.MediaOpener.OpenMedia(ctx, ref)
}
