package price

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// Quote tells what the bound run will cost: from the tool's costing model, the provider's own price where
// it names one, and what the tool has cost lately, first of all with inputs of the same shape (the same
// size, steps, model, ...). High is a promise, see billing.Quote. A bound request has one price: who asks again within
// QuoteLife, and AcceptBound, get the same. That of a request which came with the Offer that was shown is the Offer's, or it
// is a *QuoteError.
//
// Where no input is missing, the provider is also asked what the call would do, if it can tell (registry.Previewer): so Asks and AcceptBound
// judge the call and not its tool. Its error is the request's.
func (s *Pricer) Quote(ctx context.Context, b runs.Bound) (billing.Quote, error) {
	if err := s.preview(ctx, b); err != nil {
		return billing.Quote{}, err
	}
	if b.Request.Quote != "" {
		return s.shown(ctx, b)
	}
	quote, _, err := s.quote(ctx, b)
	return quote, err
}

// sealedQuote is what an Offer's seal holds.
type sealedQuote struct {
	For   string        `json:"for"` // the fingerprint of what it was made for
	Quote billing.Quote `json:"quote"`
	At    time.Time     `json:"at"`
}

// Offer gives the quote of a bound request in a form that can be shown, kept and accepted within QuoteLife, see Request.Quote.
func (s *Pricer) Offer(ctx context.Context, b runs.Bound) (runs.Offer, error) {
	quote, at, err := s.quote(ctx, b)
	if err != nil {
		return runs.Offer{}, err
	}
	mark, err := fingerprint(b)
	if err != nil {
		return runs.Offer{}, fmt.Errorf("offer %s: %w", b.Tool.ToolID, err)
	}
	raw, err := json.Marshal(sealedQuote{For: mark, Quote: quote, At: at})
	if err != nil {
		return runs.Offer{}, fmt.Errorf("offer %s: %w", b.Tool.ToolID, err)
	}
	return runs.Offer{Quote: quote, Sealed: base64.RawURLEncoding.EncodeToString(s.quotes.Close(raw, quoteOwner(b))), Until: at.Add(runs.QuoteLife)}, nil
}

// shown is the price that the sender of a request was shown, exactly so, or a *QuoteError. Where the inputs were changed
// since, the price is made for what they are now; it is refused if it is more than what was shown.
func (s *Pricer) shown(ctx context.Context, b runs.Bound) (billing.Quote, error) {
	var shown sealedQuote
	raw, err := base64.RawURLEncoding.DecodeString(b.Request.Quote)
	if err == nil {
		raw, err = s.quotes.Open(raw, quoteOwner(b))
	}
	if err == nil {
		err = json.Unmarshal(raw, &shown)
	}
	if err != nil {
		return billing.Quote{}, &runs.QuoteError{Reason: runs.QuoteUnknown}
	}
	if s.Config.Now().Sub(shown.At) >= runs.QuoteLife {
		return billing.Quote{}, &runs.QuoteError{Reason: runs.QuoteExpired}
	}
	mark, err := fingerprint(b)
	if err != nil {
		return billing.Quote{}, fmt.Errorf("quote %s: %w", b.Tool.ToolID, err)
	}
	if shown.For == mark {
		return shown.Quote, nil
	}
	quote, _, err := s.quote(ctx, b)
	if err == nil && quote.High > shown.Quote.High {
		err = &runs.QuoteError{Reason: runs.QuoteChanged, Shown: shown.Quote, Now: quote}
	}
	return quote, err
}

// quoteOwner is for whom a quote is sealed.
func quoteOwner(b runs.Bound) string { return "quote:" + b.Request.AccountID }

// fingerprint is the hash of all that a quote is made of: the tool as it is, with its price, and its inputs but for drawn seeds.
func fingerprint(b runs.Bound) (string, error) {
	inputs := make(map[string]any, len(b.Inputs))
	for name, value := range b.Inputs {
		if b.Sources[name] != runs.FromRandom {
			inputs[name] = value
		}
	}
	canonical, err := registry.CanonicalJSON([]any{b.Tool.ToolID, b.Tool.Version, b.Tool.CostingModel, inputs})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(canonical)
	return base64.RawURLEncoding.EncodeToString(sum[:]), nil
}
