package agent

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/billing"
)

// tariff is a Model that knows what it may cost.
type tariff interface {
	// Most is the most that a turn with a prompt and an answer of so many tokens can cost.
	Most(prompt, output int64) billing.NanoUSD
}

// mostOf is what a turn of a model may cost; one that does not know is free.
func mostOf(m Model, prompt, output int64) billing.NanoUSD {
	if t, ok := m.(tariff); ok {
		return t.Most(prompt, output)
	}
	return 0
}

// Priced is a model whose turns say what they have cost, those that failed, too: a service bills what it has counted.
type Priced struct {
	model Model
	rate  func() (billing.ModelRate, bool)
}

var _ Model = (*Priced)(nil)

// NewPriced gives the model of a name its rate. Without one its turns are free.
func NewPriced(m Model, name string, rates billing.ModelRates) *Priced {
	return &Priced{m, func() (billing.ModelRate, bool) { return rates.Rate(name, time.Now()) }}
}

// Answer is that of the model, with its cost.
func (p *Priced) Answer(ctx context.Context, c Conversation) (Turn, error) {
	turn, err := p.model.Answer(ctx, c)
	if rate, ok := p.rate(); ok {
		u := turn.Usage
		turn.Usage.Cost = rate.Cost(billing.Tokens{Input: u.Input, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Output: u.Output})
	}
	return turn, err
}

// Most is the most that a turn can cost.
func (p *Priced) Most(prompt, output int64) billing.NanoUSD {
	rate, ok := p.rate()
	if !ok {
		return 0
	}
	return rate.Most(prompt, output)
}
