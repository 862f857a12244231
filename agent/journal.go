package agent

import (
	"context"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/billing"
)

// Journal keeps what was asked and what was done for it, and has the model's words paid.
type Journal interface {
	// Open takes a question on, before the model is asked for the first time. An error refuses it: that there is too little credit, or
	// a limit in the way. A *BoundError ends it with a sentence.
	Open(ctx context.Context, o Opening) (Entry, error)
}

// Opening is a question as it begins.
type Opening struct {
	ID       string // a UUIDv7
	Question Question
	Provider string // of the model that is asked first
	// Quote is the most that the model may cost, Least what its first turn needs. What is set aside lies between the two.
	Quote, Least billing.NanoUSD
	Tokens       int64 // that the question may use
}

// Entry is a question while it is answered. It is used from one goroutine at a time.
type Entry interface {
	// Left is what the model may still cost and how many tokens it may still use, with what agents that were called for the question
	// have used.
	Left(ctx context.Context) (billing.NanoUSD, int64, error)
	// Used notes what turns have used. One that was noted before is not noted again.
	Used(ctx context.Context, turns []Spent) error
	// Did notes steps that are over.
	Did(ctx context.Context, steps []Step) error
	// Close ends the question, settles what it cost, and tells that. failed is the error that ended it, if one did.
	Close(ctx context.Context, a Answer, failed error) (cost billing.NanoUSD, err error)
}

// Spent is what one turn has used.
type Spent struct {
	Place int    // the first turn is 1
	Model string // who answered; empty where nobody did
	Usage Usage
}

// BoundError says that a question can't begin because a bound is reached.
type BoundError struct{ Stop Stop }

// Error names the bound.
func (e *BoundError) Error() string { return "a bound of questions is reached: " + string(e.Stop) }

// leastWords is how many tokens of an answer there must be money for when the model is asked.
const leastWords = 1000

// pictureTokens is what a picture counts at most, of at most 1,024 pixels a side: services count about a token for each 750 pixels.
const pictureTokens = 1600

// need is what the next turn costs at most, if its answer is short.
func (t *talk) need() billing.NanoUSD {
	prompt := Tokens(encode(t.with))
	for _, turn := range t.with.Turns {
		prompt += pictureTokens * len(turn.Pictures)
	}
	return mostOf(t.agent.cfg.Model, int64(prompt), leastWords)
}

// Most is what the model's words for any question may cost.
func (a *Agent) Most() billing.NanoUSD {
	return min(a.cfg.Bounds.Money, mostOf(a.cfg.Model, 0, a.cfg.Bounds.Tokens))
}

// quote is what the first turn needs, and what the question may cost at most.
func (t *talk) quote() (least, most billing.NanoUSD) {
	least = t.need()
	return least, max(least, t.agent.Most())
}

// Quote tells what the model's words for a question may cost, before it is asked: what its first turn needs, and the bound.
func (a *Agent) Quote(ctx context.Context, q Question) (least, most billing.NanoUSD, err error) {
	t, err := a.newTalk(ctx, q)
	if err != nil {
		return 0, 0, err
	}
	least, most = t.quote()
	return least, most, nil
}

// open takes the question on in the journal.
func (t *talk) open(ctx context.Context) error {
	if t.agent.cfg.Journal == nil {
		return nil
	}
	id, err := uuid.NewV7()
	if err != nil {
		return err
	}
	least, quote := t.quote()
	t.entry, err = t.agent.cfg.Journal.Open(ctx, Opening{
		ID: id.String(), Question: t.question, Provider: t.agent.cfg.Provider, Quote: quote, Least: least, Tokens: t.agent.cfg.Bounds.Tokens,
	})
	if err == nil {
		t.answer.ID = id.String()
	}
	return err
}

// note writes down what has not been noted yet. What can't be stays for the next time: a turn that came is not lost for that.
func (t *talk) note(ctx context.Context) {
	if t.entry == nil || len(t.unnoted) == 0 {
		return
	}
	if err := t.entry.Used(context.WithoutCancel(ctx), t.unnoted); err != nil {
		t.agent.cfg.Logger.ErrorContext(ctx, "what a question cost could not be noted", "question", t.answer.ID, "error", err)
		return
	}
	t.unnoted = nil
}

// did writes down what was done.
func (t *talk) did(ctx context.Context, steps []Step) {
	if t.entry == nil {
		return
	}
	if err := t.entry.Did(context.WithoutCancel(ctx), steps); err != nil {
		t.agent.cfg.Logger.ErrorContext(ctx, "what a question did could not be noted", "question", t.answer.ID, "error", err)
	}
}

// close ends the question in the journal. Where that can't be, the journal settles it by itself, later, by what was noted.
func (t *talk) close(ctx context.Context, failed error) {
	if t.entry == nil {
		return
	}
	t.note(ctx)
	var err error
	if t.answer.Cost, err = t.entry.Close(context.WithoutCancel(ctx), t.answer, failed); err != nil {
		t.agent.cfg.Logger.ErrorContext(ctx, "a question could not be settled yet", "question", t.answer.ID, "error", err)
	}
}
