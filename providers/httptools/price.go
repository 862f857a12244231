package httptools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"unicode/utf8"

	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/providers/httptools/formula"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/strategy"
)

// price says what a run costs, as formulas (see package formula) in US dollars. Names are inputs, and in Charge also those of Answer;
// tables are the spec's. characters(input), count(input) and pixels(input) or pixels(width, height) measure.
type price struct {
	AsOf string `json:"asOf"` // the day, month or year of which the figures are
	// USD is known before the run, and charged where Charge is not set or the answer lacks what it takes.
	USD string `json:"usd"`
	// Charge is what the answer says, by what Answer finds in it.
	Charge string              `json:"charge,omitempty"`
	Answer map[string][]string `json:"answer,omitempty"`
	// Results names the input that says how many results are asked for: those that don't come are not charged.
	Results string `json:"results,omitempty"`
}

// usd is what a number of units costs, or "" where it is none.
func (s spec) usd(units json.Number) string {
	n, err := decimal.Parse(units)
	if err != nil || n.Sign() < 0 {
		return ""
	}
	rate := big.NewRat(1, 1)
	if s.USDPerCost != "" {
		if rate, err = decimal.Parse(s.USDPerCost); err != nil {
			return ""
		}
	}
	return dollars(n.Mul(n, rate))
}

// dollars is an amount as a decimal.
func dollars(r *big.Rat) string { return r.FloatString(12) }

// env is what the names of formulas stand for.
type env struct {
	scope
	answer map[string]any
}

var _ formula.Env = env{}

// Amount is a number that an input or the answer has. A switch is 1 or 0, and what is not given has no amount but as a switch.
func (e env) Amount(name string) (*big.Rat, error) {
	value, there := e.answer[name]
	if !there {
		value, there = e.lookup(name)
	}
	if value == true {
		return big.NewRat(1, 1), nil
	}
	if value == false {
		return new(big.Rat), nil
	}
	if !there {
		return nil, fmt.Errorf("%s is not known", name)
	}
	n, err := decimal.Parse(json.Number(plain(value)))
	if err != nil {
		return nil, fmt.Errorf("%s is no number: %w", name, err)
	}
	return n, nil
}

// Cell is a number of one of the spec's tables.
func (e env) Cell(table string, names []string) (*big.Rat, error) {
	value, there := e.cell(table, names)
	if !there {
		return nil, fmt.Errorf("the table %s has no row for %s", table, strings.Join(names, ", "))
	}
	n, err := decimal.Parse(json.Number(plain(value)))
	if err != nil {
		return nil, fmt.Errorf("the table %s: %w", table, err)
	}
	return n, nil
}

func (e env) eval(text string) (string, error) {
	f, err := formula.Parse(text)
	if err != nil {
		return "", err
	}
	amount, err := f.Eval(e)
	if err != nil {
		return "", err
	}
	if amount.Sign() < 0 {
		return "", errors.New("it is below zero")
	}
	return dollars(amount), nil
}

// uses are what the formulas ask for.
func (p *price) uses() []formula.Use {
	if p == nil {
		return nil
	}
	var uses []formula.Use
	for _, text := range []string{p.USD, p.Charge} {
		if f, err := formula.Parse(text); err == nil {
			uses = append(uses, f.Uses()...)
		}
	}
	return uses
}

// measured gives the values with the measures that the price takes, so that they are known when the files are not at hand any more.
func (s spec) measured(values map[string]any) error {
	for _, use := range s.Price.uses() {
		if use.IsTable || len(use.Args) == 0 {
			continue
		}
		n, err := measure(use, scope{values: values})
		if err != nil {
			return err
		}
		values[use.String()] = n
	}
	return nil
}

// within refuses more files than the service takes.
func (s spec) within(sc scope) error {
	for name, text := range s.Most {
		value, _ := sc.lookup(name)
		files, several := value.([]any)
		f, err := formula.Parse(text)
		if !several || err != nil {
			continue
		}
		most, err := f.Eval(env{scope: sc})
		if err == nil && most.Cmp(big.NewRat(int64(len(files)), 1)) < 0 {
			return registry.Say(registry.CodeInvalidInput, said.PicturesMany, "n", len(files), "most", most.FloatString(0)).At(name)
		}
	}
	return nil
}

// measure counts what inputs have. What is not given has none.
func measure(use formula.Use, sc scope) (json.Number, error) {
	value, there := sc.lookup(use.Args[0])
	if !there {
		return "0", nil
	}
	items, several := value.([]any)
	if !several {
		items = []any{value}
	}
	switch {
	case use.Name == "count":
		return json.Number(fmt.Sprint(len(items))), nil
	case use.Name == "characters":
		return json.Number(fmt.Sprint(utf8.RuneCountInString(plain(value)))), nil
	case len(use.Args) == 2:
		width, err := env{scope: sc}.Amount(use.Args[0])
		if err != nil {
			return "", err
		}
		height, err := env{scope: sc}.Amount(use.Args[1])
		if err != nil {
			return "", err
		}
		return json.Number(width.Mul(width, height).FloatString(0)), nil
	}
	total := int64(0)
	for _, item := range items {
		f, ok := item.(*file)
		if !ok {
			return "", fmt.Errorf("%s is no picture", use.Args[0])
		}
		n, err := f.pixels()
		if err != nil {
			return "", err
		}
		total += n
	}
	return json.Number(fmt.Sprint(total)), nil
}

// cost is what a run has cost in dollars: as the answers say it, else as it was known before. "" where neither says it.
func (s spec) cost(sc scope, r strategy.Reading, delivered int, docs ...any) string {
	if r.Cost != "" {
		if usd := s.usd(r.Cost); usd != "" {
			return usd
		}
	}
	if s.Price == nil {
		return ""
	}
	e := env{scope: sc, answer: map[string]any{}}
	if asked, err := e.Amount(s.Price.Results); s.Price.Results != "" && err == nil && asked.Cmp(big.NewRat(int64(delivered), 1)) > 0 {
		e.answer[s.Price.Results] = json.Number(fmt.Sprint(delivered))
	}
	for name, path := range s.Price.Answer {
		for _, doc := range docs {
			if found, there := strategy.Lookup(doc, path); there && found != nil {
				e.answer[name] = found
			}
		}
	}
	usd, err := e.eval(cmp.Or(s.Price.Charge, s.Price.USD))
	if err != nil && s.Price.Charge != "" {
		usd, err = e.eval(s.Price.USD)
	}
	if err != nil {
		return ""
	}
	return usd
}

// quote is the price of a call before it is made, where the file says it.
func (t *Tools) quote(ctx context.Context, call registry.Call) (registry.Price, error) {
	s, err := t.specs.Of(ctx, refOf(call))
	if err != nil || s.Price == nil {
		return registry.Price{}, err
	}
	values := t.values(ctx, call)
	if err := s.measured(values); err != nil {
		return registry.Price{}, fmt.Errorf("measure the inputs of %s: %w", call.Tool.ToolID, err)
	}
	usd, err := env{scope: scope{values: values, tables: s.Tables}}.eval(s.Price.USD)
	if err != nil {
		return registry.Price{}, fmt.Errorf("the price of %s: %w", call.Tool.ToolID, err)
	}
	return registry.Price{CostUSD: usd}, nil
}

// Price names the price of a call, where the file has one that is known before.
func (j Jobs) Price(ctx context.Context, call registry.Call) (registry.Price, error) {
	return j.tools.quote(ctx, call)
}

// Price names the price of a call, where the file has one that is known before.
func (c Calls) Price(ctx context.Context, call registry.Call) (registry.Price, error) {
	return c.tools.quote(ctx, call)
}
