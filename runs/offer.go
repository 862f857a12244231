package runs

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
)

// QuoteLife is how long a price that was shown is held to. Whoever comes later is asked again.
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

// sealedQuote is what an Offer's seal holds.
type sealedQuote struct {
	For   string        `json:"for"` // the fingerprint of what it was made for
	Quote billing.Quote `json:"quote"`
	At    time.Time     `json:"at"`
}

// Offer gives the quote of a bound request in a form that can be shown, kept and accepted within QuoteLife, see Request.Quote.
func (s *pricer) Offer(ctx context.Context, b Bound) (Offer, error) {
	quote, at, err := s.quote(ctx, b)
	if err != nil {
		return Offer{}, err
	}
	mark, err := fingerprint(b)
	if err != nil {
		return Offer{}, fmt.Errorf("offer %s: %w", b.Tool.ToolID, err)
	}
	raw, err := json.Marshal(sealedQuote{For: mark, Quote: quote, At: at})
	if err != nil {
		return Offer{}, fmt.Errorf("offer %s: %w", b.Tool.ToolID, err)
	}
	return Offer{Quote: quote, Sealed: base64.RawURLEncoding.EncodeToString(s.quotes.Close(raw, quoteOwner(b))), Until: at.Add(QuoteLife)}, nil
}

// shown is the price that the sender of a request was shown, exactly so, or a *QuoteError. Where the inputs were changed
// since, the price is made for what they are now; it is refused if it is more than what was shown.
func (s *pricer) shown(ctx context.Context, b Bound) (billing.Quote, error) {
	var shown sealedQuote
	raw, err := base64.RawURLEncoding.DecodeString(b.Request.Quote)
	if err == nil {
		raw, err = s.quotes.Open(raw, quoteOwner(b))
	}
	if err == nil {
		err = json.Unmarshal(raw, &shown)
	}
	if err != nil {
		return billing.Quote{}, &QuoteError{Reason: QuoteUnknown}
	}
	if s.config.Now().Sub(shown.At) >= QuoteLife {
		return billing.Quote{}, &QuoteError{Reason: QuoteExpired}
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
		err = &QuoteError{Reason: QuoteChanged, Shown: shown.Quote, Now: quote}
	}
	return quote, err
}

// quoteOwner is for whom a quote is sealed.
func quoteOwner(b Bound) string { return "quote:" + b.Request.AccountID }

// fingerprint is the hash of all that a quote is made of: the tool as it is, with its price, and its inputs but for drawn seeds.
func fingerprint(b Bound) (string, error) {
	inputs := make(map[string]any, len(b.Inputs))
	for name, value := range b.Inputs {
		if b.Sources[name] != FromRandom {
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

// QuoteReason says why a quote that came with a request is not held to.
type QuoteReason string

// The reasons.
const (
	QuoteUnknown QuoteReason = "quote-unknown"
	QuoteExpired QuoteReason = "quote-expired"
	QuoteChanged QuoteReason = "quote-changed"
)

// QuoteError says that a request came with a quote that does not hold for it: whoever sent it has to be asked again. Nothing
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
