package missions

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// Bounds of a draft. How many independent legs there may be is for the house to say: Config.MaxBatch.
const (
	MaxLegs = 32
	maxText = 500 // bytes of a title, a summary or an address
)

var (
	currency = regexp.MustCompile(`^[A-Z]{3}$`)
	amount   = regexp.MustCompile(`^[0-9]{1,15}(\.[0-9]{1,9})?$`)
)

// refuse is the error for a draft that can't be carried out, at a member such as legs.2.inputs.image.
func refuse(at, format string, args ...any) error {
	return registry.Errorf(registry.CodeInvalidInput, format, args...).At(at)
}

// check refuses a draft that is wrong in itself. most is how many legs it may have.
func (d *Draft) check(most int) error {
	d.Currency = cmp.Or(d.Currency, "USD")
	address, err := url.Parse(d.EscalationURL)
	switch {
	case strings.TrimSpace(d.Title) == "" || len(d.Title) > maxText:
		return refuse("title", "expected a title of at most %d bytes", maxText)
	case !currency.MatchString(d.Currency):
		return refuse("currency", "found %.20q, expected three capitals such as EUR", d.Currency)
	case d.EscalationURL != "" && (err != nil || address.Scheme != "https" || address.Host == "" || len(d.EscalationURL) > maxText):
		return refuse("escalationUrl", "expected an https address")
	case len(d.Legs) == 0 || len(d.Legs) > most:
		return refuse("legs", "found %d, expected 1 to %d", len(d.Legs), most)
	}
	for i := range d.Legs {
		if d.Independent && d.Legs[i].DependsOn == nil {
			d.Legs[i].DependsOn = []int{}
		}
		if err := d.Legs[i].check(i + 1); err != nil {
			return err
		}
		if d.Independent && len(d.Legs[i].DependsOn) > 0 {
			return refuse(fmt.Sprintf("legs.%d.depends_on", i+1), "legs of an independent mission need nothing of each other")
		}
	}
	return nil
}

// mostLegs is how many legs a draft may have.
func (s *Service) mostLegs(d Draft) int {
	if d.Independent {
		return s.cfg.MaxBatch()
	}
	return MaxLegs
}

// check refuses a leg that does not stand where its order says, or that needs one after it, and completes what it depends on.
func (l *DraftLeg) check(order int) error {
	at := func(member string) string { return fmt.Sprintf("legs.%d.%s", order, member) }
	switch {
	case l.Order != order:
		return refuse(at("order"), "found %d at place %d: legs stand in their order, from 1 on", l.Order, order)
	case l.Tool == "":
		return refuse(at("tool"), "expected the id of a tool")
	case len(l.Summary) > maxText || len(l.Agent) > maxText:
		return refuse(at("summary"), "expected at most %d bytes", maxText)
	case l.Amount != "" && !amount.MatchString(l.Amount):
		return refuse(at("amount"), "found %.30q, expected an amount such as 178.00", l.Amount)
	}
	if l.DependsOn == nil && order > 1 {
		l.DependsOn = []int{order - 1}
	}
	needs := slices.Clone(l.DependsOn)
	for name, value := range l.Inputs {
		err := eachOutput(value, func(o output) error { needs = append(needs, o.Leg); return nil })
		if err != nil {
			return refuse(at("inputs."+name), "%s", err)
		}
	}
	slices.Sort(needs)
	l.DependsOn = slices.Compact(needs)
	for _, other := range l.DependsOn {
		if other < 1 || other >= order {
			return refuse(at("depends_on"), "leg %d needs leg %d, which does not come before it", order, other)
		}
	}
	return nil
}

// plan makes the document of a draft: each leg bound to its tool as that is now, and quoted.
func (s *Service) plan(ctx context.Context, accountID string, d Draft) (Document, billing.NanoUSD, error) {
	if err := d.check(s.mostLegs(d)); err != nil {
		return Document{}, 0, err
	}
	doc := Document{Title: d.Title, Currency: d.Currency, EscalationURL: d.EscalationURL, Independent: d.Independent}
	tools := make([]registry.Tool, len(d.Legs))
	for i, draft := range d.Legs {
		leg, tool, err := s.planLeg(ctx, accountID, d.Budget, draft, tools)
		if err != nil {
			return Document{}, 0, fmt.Errorf("leg %d: %w", draft.Order, atLeg(draft.Order, err))
		}
		doc.Legs, tools[i] = append(doc.Legs, leg), tool
	}
	if !doc.Independent {
		doc.settleIrreversible()
	}
	promised, err := doc.total()
	return doc, promised, err
}

// atLeg names the leg in an error about one of its inputs.
func atLeg(order int, err error) error {
	var typed *registry.Error
	if errors.As(err, &typed) && typed.Field != "" && !strings.HasPrefix(typed.Field, "legs.") {
		named := *typed
		named.Field = fmt.Sprintf("legs.%d.inputs.%s", order, typed.Field)
		return &named
	}
	return err
}

func (s *Service) planLeg(ctx context.Context, accountID, budget string, d DraftLeg, before []registry.Tool) (Leg, registry.Tool, error) {
	audience, err := s.cfg.May(ctx, accountID, d.Tool, budget)
	if err != nil {
		return Leg{}, registry.Tool{}, err
	}
	if tool, there := s.cfg.Registry.Snapshot().Resolve(d.Tool); there {
		Follow(*tool, d.Inputs)
	}
	known, later := map[string]any{}, map[string]any{}
	for name, value := range d.Inputs {
		if refers(value) {
			later[name] = value
		} else {
			known[name] = value
		}
	}
	b, err := s.cfg.Runs.Bind(ctx, request(accountID, budget, d.Tool, audience, known))
	if err != nil {
		return Leg{}, registry.Tool{}, err
	}
	if err := fits(b.Tool, later, before); err != nil {
		return Leg{}, registry.Tool{}, err
	}
	b.Missing = slices.DeleteFunc(b.Missing, func(f registry.InputField) bool { _, comes := later[f.Name]; return comes })
	if len(b.Missing) > 0 {
		return Leg{}, registry.Tool{}, &runs.MissingInputError{Fields: b.Missing}
	}
	if len(later) > 0 { // its provider is asked once they are there
		b.Missing = []registry.InputField{{}}
	}
	quote, err := s.cfg.Runs.Quote(ctx, b)
	if err != nil {
		return Leg{}, registry.Tool{}, err
	}
	leg := Leg{
		Order: d.Order, Agent: d.Agent, Summary: d.Summary, DependsOn: append([]int{}, d.DependsOn...), Amount: d.Amount, Quote: quote, Personal: b.Tool.PIIRequired, Preview: withoutLink(b.Preview()),
		Inputs: maps.Clone(b.Inputs), Progress: LegProgress{Status: LegPending},
	}
	leg.Summary = cmp.Or(leg.Summary, b.Tool.DisplayName)
	maps.Copy(leg.Inputs, later)
	if leg.Tool, err = s.keep(ctx, b.Tool); err != nil {
		return Leg{}, registry.Tool{}, err
	}
	return leg, b.Tool, s.settleEffect(ctx, b.Tool, &leg)
}

// settleEffect finds the tool that takes a leg back, as it is now.
func (s *Service) settleEffect(ctx context.Context, tool registry.Tool, leg *Leg) error {
	effect, undo, err := effectOf(tool, func(id string) (*registry.Tool, error) {
		found, ok := s.cfg.Registry.Snapshot().Resolve(id)
		if !ok {
			return nil, registry.Errorf(registry.CodeUnavailable, "there is no tool %s", id)
		}
		return found, nil
	})
	if err == nil && undo != nil {
		var ref ToolRef
		ref, err = s.keep(ctx, *undo)
		effect.Undo = &ref
	}
	effect.Reaches = slices.ContainsFunc(tool.Reaches, func(name string) bool { return leg.Inputs[name] != nil })
	leg.Effect = effect
	return err
}

// keep stores a tool as it is.
func (s *Service) keep(ctx context.Context, tool registry.Tool) (ToolRef, error) {
	key, err := s.cfg.Runs.KeepTool(ctx, tool)
	return ToolRef{ID: key.ID, Version: key.Version, Name: tool.DisplayName}, err
}

// request is a leg's request with all its inputs: neither settings nor presets change it later.
func request(accountID, budget, toolID string, audience registry.Audience, inputs map[string]any) runs.Request {
	return runs.Request{
		AccountID: accountID, ToolID: toolID, Audience: audience, Budget: runs.Budget{Name: budget}, Origin: runs.Origin{Platform: Platform},
		Values: map[runs.Source]map[string]any{runs.FromArgument: inputs, runs.FromPreference: {}},
	}
}

// Platform is the name under which the runs of legs are kept.
const Platform = "mission"

// fits refuses references to outputs that the earlier tool does not have, or that are no values of the input.
func fits(tool registry.Tool, later map[string]any, before []registry.Tool) error {
	for name, value := range later {
		field, known := tool.InputSchema.Get(name)
		if !known {
			return registry.Errorf(registry.CodeInvalidInput, "%s has no such input", tool.ToolID).At(name)
		}
		err := eachOutput(value, func(o output) error { return takes(field, o, before[o.Leg-1]) })
		if err != nil {
			return registry.Errorf(registry.CodeInvalidInput, "%s", err).At(name)
		}
	}
	return nil
}

// takes refuses an output that an input has no use for.
func takes(f registry.InputField, o output, from registry.Tool) error {
	at := slices.IndexFunc(from.OutputSchema, func(one registry.OutputField) bool { return one.Name == o.Name })
	if at < 0 {
		texts := slices.ContainsFunc(from.OutputSchema, func(one registry.OutputField) bool { return one.Type == "text" })
		if len(from.OutputSchema) == 0 || texts && !f.Type.IsMedia() {
			return nil // a member of its answer
		}
		return fmt.Errorf("leg %d, %s, has no output %s", o.Leg, from.ToolID, o.Name)
	}
	declared := from.OutputSchema[at]
	kind := registry.InputType(declared.Type)
	if f.Type.IsMedia() && f.Type != kind && (f.Type != registry.TypeFile || !kind.IsMedia()) || !f.Type.IsMedia() && kind.IsMedia() {
		return fmt.Errorf("it takes %s, and the output %s of leg %d is %s", f.Type, o.Name, o.Leg, declared.Type)
	}
	return nil
}

// settleIrreversible has legs that can't be taken back wait for all before them, and for a word of their own where another one that
// can follows: then it may be in vain.
func (d *Document) settleIrreversible() {
	for i := range d.Legs {
		leg := &d.Legs[i]
		if !leg.Effect.Irreversible {
			continue
		}
		leg.Asks = slices.ContainsFunc(d.Legs[i+1:], func(l Leg) bool { return !l.Effect.Irreversible })
		leg.DependsOn = leg.DependsOn[:0]
		for order := 1; order < leg.Order; order++ {
			leg.DependsOn = append(leg.DependsOn, order)
		}
	}
}

// total sums what the legs cost at most, and what their services take, by currency.
func (d *Document) total() (promised billing.NanoUSD, err error) {
	sums := map[string]*big.Rat{"USD": new(big.Rat)}
	for _, leg := range d.Legs {
		if promised += leg.Quote.High; promised < 0 || leg.Quote.High > 1<<61 {
			return 0, refuse("legs", "together they cost more than can be counted")
		}
		if leg.Amount == "" {
			continue
		}
		amount, ok := new(big.Rat).SetString(leg.Amount)
		if !ok {
			return 0, refuse("legs", "leg %d: %s is no amount", leg.Order, leg.Amount)
		}
		if sums[d.Currency] == nil {
			sums[d.Currency] = new(big.Rat)
		}
		sums[d.Currency].Add(sums[d.Currency], amount)
	}
	sums["USD"].Add(sums["USD"], big.NewRat(int64(promised), int64(billing.Dollar)))
	d.Totals = make(map[string]string, len(sums))
	for name, sum := range sums {
		d.Totals[name] = decimal.Plain(json.Number(sum.FloatString(9)))
	}
	return promised, nil
}
