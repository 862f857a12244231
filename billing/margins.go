package billing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/validate"
)

// others is the entry for services that have none of their own.
const others = "*"

// Margins are what an operator adds to the prices of services: a markup and the least that a run costs. The
// zero value adds nothing.
type Margins struct {
	byService map[string]margin
}

type margin struct {
	Markup     json.Number `json:"markup"`
	MinimumUSD json.Number `json:"minimumUsd"`
}

// ParseMargins reads {"vidu": {"markup": "0.2", "minimumUsd": "0.01"}, "*": {"markup": "0.05"}}: by service as
// tools name it, "*" for all others. A markup of 0.2 adds a fifth. Values are strings or numbers.
func ParseMargins(data []byte) (Margins, error) {
	var m Margins
	if err := registry.ReadStrict(data, &m.byService); err != nil {
		return Margins{}, fmt.Errorf(`parse margins: expected what is added by service, such as {"vidu": {"markup": "0.2", "minimumUsd": "0.01"}}: %w`, err)
	}
	for service, added := range m.byService {
		// A tool shows whether the values are such as tools may have.
		probe := registry.Tool{ToolID: "probe", Service: "probe", DisplayName: "probe", InputSchema: registry.InputSchema{}, CostingModel: &registry.CostingModel{
			Rate: "1", Unit: registry.UnitRequest, RateSource: registry.RateStatic, Markup: added.Markup, MinimumUSD: added.MinimumUSD,
		}}
		var problems registry.Problems
		if errors.As(validate.Tool(probe), &problems) {
			return Margins{}, fmt.Errorf("parse margins: service %s: %s: %s", service, strings.TrimPrefix(problems[0].Field, "costingModel."), problems[0].Message)
		}
	}
	return m, nil
}

// Loader gives a loader's tools with the margins in their prices, so that all that is drawn from the registry
// shows what people pay. Tools without a price stay free, and those with a margin of their own keep it.
func (m Margins) Loader(l registry.Loader) registry.Loader {
	if len(m.byService) == 0 {
		return l
	}
	return marginLoader{l, m}
}

// LivingMargins gives a loader's tools with the margins that are in force when it loads.
func LivingMargins(l registry.Loader, inForce func() Margins) registry.Loader {
	return livingLoader{l, inForce}
}

type livingLoader struct {
	registry.Loader
	inForce func() Margins
}

// Load loads the tools.
func (l livingLoader) Load(ctx context.Context) ([]registry.Tool, error) {
	return l.inForce().Loader(l.Loader).Load(ctx)
}

type marginLoader struct {
	registry.Loader
	margins Margins
}

// Load loads the tools. What comes beside them as an error stays.
func (l marginLoader) Load(ctx context.Context) ([]registry.Tool, error) {
	tools, err := l.Loader.Load(ctx)
	for i := range tools {
		tools[i].CostingModel = l.margins.add(tools[i].Service, tools[i].CostingModel)
	}
	return tools, err
}

func (m Margins) add(service string, model *registry.CostingModel) *registry.CostingModel {
	added, own := m.byService[service]
	if !own {
		added = m.byService[others]
	}
	if model == nil || model.Markup != "" || model.MinimumUSD != "" || added == (margin{}) {
		return model
	}
	priced := *model
	priced.Markup, priced.MinimumUSD = added.Markup, added.MinimumUSD
	if rate, err := parseRat(model.Rate.String()); err == nil {
		if rate, err = marked(rate, &priced); err == nil {
			priced.Rate = json.Number(decimalText(rate))
		}
	}
	return &priced
}

// marked is a rate with a model's markup.
func marked(rate *big.Rat, model *registry.CostingModel) (*big.Rat, error) {
	if model.Markup == "" {
		return rate, nil
	}
	markup, err := parseRat(model.Markup.String())
	if err != nil {
		return nil, fmt.Errorf("markup: %w", err)
	}
	return markup.Add(markup, big.NewRat(1, 1)).Mul(markup, rate), nil
}

// markedUp is an estimated amount with a model's markup; one that can't be read adds nothing.
func markedUp(nano int64, model *registry.CostingModel) NanoUSD {
	amount := big.NewRat(nano, int64(Dollar))
	if with, err := marked(amount, model); err == nil {
		amount = with
	}
	return bounded(amount)
}

// minimumOf is the least that a run of a model costs.
func minimumOf(model *registry.CostingModel) (NanoUSD, error) {
	if model.MinimumUSD == "" {
		return 0, nil
	}
	minimum, err := parseRat(model.MinimumUSD.String())
	if err != nil {
		return 0, fmt.Errorf("minimum: %w", err)
	}
	return toNano(minimum)
}
