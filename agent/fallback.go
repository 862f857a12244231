package agent

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/clock"
	"github.com/signalbox/signalbox/registry"
)

// Patience is how a model is asked again when its service is in trouble for a moment.
type Patience struct {
	Tries   int           // of each model; zero: 3
	Wait    time.Duration // before the second try; it doubles; zero: half a second
	Longest time.Duration // a service that asks for more patience is given up; zero: 20 s
	Sleep   func(context.Context, time.Duration) error
}

// Reliable is a model that asks again, and then the next of several.
type Reliable struct {
	models   []Model
	patience Patience
}

var _ Model = (*Reliable)(nil)

// NewReliable asks the models in their order.
func NewReliable(p Patience, models ...Model) *Reliable {
	p.Tries = cmp.Or(p.Tries, 3)
	p.Wait = cmp.Or(p.Wait, 500*time.Millisecond)
	p.Longest = cmp.Or(p.Longest, 20*time.Second)
	if p.Sleep == nil {
		p.Sleep = clock.Sleep
	}
	return &Reliable{models, p}
}

// Answer gives the first answer that there is. A refusal is an answer: no other model is asked to say what one refuses.
func (r *Reliable) Answer(ctx context.Context, c Conversation) (Turn, error) {
	var spent Usage
	var first error
	for _, m := range r.models {
		turn, err := r.patiently(ctx, m, c)
		spent = spent.Plus(turn.Usage)
		turn.Usage = spent
		if err == nil || ctx.Err() != nil || isRefusal(err) {
			return turn, err
		}
		if first == nil {
			first = err
		}
	}
	return Turn{Usage: spent}, first
}

// Most is the most that a turn can cost, no matter which of the models answers.
func (r *Reliable) Most(prompt, output int64) (most billing.NanoUSD) {
	for _, m := range r.models {
		most = max(most, mostOf(m, prompt, output))
	}
	return most
}

func (r *Reliable) patiently(ctx context.Context, m Model, c Conversation) (Turn, error) {
	var spent Usage
	for try, wait := 1, r.patience.Wait; ; try, wait = try+1, 2*wait {
		turn, err := m.Answer(ctx, c)
		spent = spent.Plus(turn.Usage)
		turn.Usage = spent
		var failure *registry.Error
		if err == nil || !errors.As(err, &failure) || !failure.Retryable || try == r.patience.Tries || failure.RetryAfter > r.patience.Longest {
			return turn, err
		}
		pause := max(failure.RetryAfter, wait-time.Duration(rand.Int64N(int64(wait)/4+1)))
		if err := r.patience.Sleep(ctx, pause); err != nil {
			return turn, err
		}
		c.Saying("") // what was said so far is said anew
	}
}

func isRefusal(err error) bool {
	var failure *registry.Error
	return errors.As(err, &failure) && failure.Code == registry.CodeRefused
}
