package runs

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
)

// Bound is a request whose inputs have their values, and the run that it becomes.
type Bound struct {
	Request Request
	Run     // so far its tool and its inputs, checked as providers get them, with where each came from; see At
	Missing []registry.InputField

	judged *judged // its price and preview, once they were asked for
}

// NewBound makes a Bound that has no inputs yet.
func NewBound(r Request, tool registry.Tool) Bound {
	return Bound{
		Request: r, judged: &judged{},
		Run: Run{Tool: tool, Inputs: make(map[string]any, len(tool.InputSchema)), Sources: make(map[string]Source, len(tool.InputSchema))},
	}
}

// At is the run that the request becomes at this price, before it has an id.
func (b Bound) At(quote billing.Quote) Run {
	r, run := b.Request, b.Run
	run.AccountID, run.Origin, run.Group, run.Budget, run.Parent, run.Context = r.AccountID, r.Origin, r.Group, r.Budget.Name, r.Parent, r.Context
	run.Status, run.Quote, run.Preview, run.Attempt = StatusQueued, quote, b.Preview(), 1
	if b.Asks(quote) {
		run.Status = StatusAwaitingConfirmation
	}
	return run
}

// QuoteLife is how long a price that was shown is held to. Anyone who comes later is asked again.
const QuoteLife = 15 * time.Minute

// judged is what a bound request costs and does. Both are found out once, and copies of the Bound share it.
type judged struct {
	mu        sync.Mutex
	quote     billing.Quote
	at        time.Time // of the quote; zero: not made yet
	preview   *registry.Preview
	previewed bool // the provider was asked
}

// QuoteOnce gives the price with the time when it was made, and makes it where there is none yet or its time is over.
func (b Bound) QuoteOnce(now time.Time, makeOne func() (billing.Quote, error)) (billing.Quote, time.Time, error) {
	q := b.judged
	if q == nil { // not from Bind: nobody shares it
		q = &judged{}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.at.IsZero() && now.Sub(q.at) < QuoteLife {
		return q.quote, q.at, nil
	}
	quote, err := makeOne()
	if err == nil {
		q.quote, q.at = quote, now
	}
	return quote, q.at, err
}

// Offer is a quote that leaves the house, to come back with the request that accepts it. It is sealed: nobody can change
// it, and nobody but the account that it was made for can use it.
type Offer struct {
	Quote  billing.Quote
	Sealed string    // for Request.Quote
	Until  time.Time // when it ends
}

// QuoteReason says why a quote that came with a request is not held to.
type QuoteReason string

// The reasons.
const (
	QuoteUnknown QuoteReason = "quote-unknown"
	QuoteExpired QuoteReason = "quote-expired"
	QuoteChanged QuoteReason = "quote-changed"
)

// QuoteError says that a request came with a quote that does not hold for it: its sender has to be asked again. Nothing
// was started. It is a *registry.Error as well, for those who only show it.
type QuoteError struct {
	Reason     QuoteReason
	Shown, Now billing.Quote // of QuoteChanged
}

// Error says what is wrong with the quote.
func (e *QuoteError) Error() string {
	switch e.Reason {
	case QuoteExpired:
		return fmt.Sprintf("the price that was shown is older than %d minutes; nothing was started: ask for the price again", int(QuoteLife.Minutes()))
	case QuoteChanged:
		return fmt.Sprintf("for these inputs the price is %s, more than the %s that was shown; nothing was started: ask for the price again", e.Now, e.Shown)
	}
	return "the quote is none that was made here for this account; nothing was started: ask for the price again"
}

// Unwrap gives the words for people.
func (e *QuoteError) Unwrap() error {
	return registry.Errorf(registry.CodeInvalidInput, "%s", e.Error())
}

// PreviewOnce has it found out what the call would do, where that was not done yet; copies of the Bound share it.
func (b Bound) PreviewOnce(ask func() (registry.Preview, error)) error {
	known := b.judged
	if known == nil {
		return errors.New("runs: a request has a preview once it is bound")
	}
	known.mu.Lock()
	defer known.mu.Unlock()
	if known.previewed {
		return nil
	}
	p, err := ask()
	if known.previewed = err == nil; err == nil && (p.Capability != "" || p.Message != "" || len(p.Touches) > 0) {
		known.preview = &p
	}
	return err
}

// Preview is what the call would do, once Quote has asked for it; nil: its provider has nothing to say about single calls.
func (b Bound) Preview() *registry.Preview {
	if b.judged == nil {
		return nil
	}
	b.judged.mu.Lock()
	defer b.judged.mu.Unlock()
	return b.judged.preview
}

// Capability is what this very call does: by its preview, or else by its tool.
func (b Bound) Capability() registry.Capability { return capabilityOf(b.Tool, b.Preview()) }

// Capability is what this very call does: by its preview, or else by its tool.
func (r Run) Capability() registry.Capability { return capabilityOf(r.Tool, r.Preview) }

func capabilityOf(t registry.Tool, p *registry.Preview) registry.Capability {
	if p != nil && p.Capability != "" {
		return p.Capability
	}
	return t.Capability
}

// Approved is the preview that the run's owner has approved; nil: there is none, or nobody had to be asked.
func (r Run) Approved() *registry.Preview {
	if r.ConfirmedAt == nil {
		return nil
	}
	return r.Preview
}
