package agent

import (
	"cmp"
	"context"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/i18n"
)

// Bounds are how far a question may go. Zero members have defaults.
type Bounds struct {
	Rounds int   // how often the model is asked; zero: 8
	Calls  int   // of tools; zero: 40
	Tokens int64 // read and written, cached ones included; zero: 400,000
	// Money is what the model may cost; zero: a quarter of a dollar.
	Money billing.NanoUSD
}

func (b Bounds) orDefaults() Bounds {
	return Bounds{cmp.Or(b.Rounds, 8), cmp.Or(b.Calls, 40), cmp.Or(b.Tokens, 400_000), cmp.Or(b.Money, billing.Dollar/4)}
}

// Meter counts what the questions of accounts use.
type Meter interface {
	// Left is how many tokens an account may still use today; negative: as many as it likes.
	Left(ctx context.Context, accountID string) (int64, error)
	// Used notes what a turn has used.
	Used(ctx context.Context, accountID string, u Usage) error
}

// notice says for people, in their language, which bound ended a question; "" where none did. most is what the model was allowed to cost.
func (b Bounds) notice(s Stop, language string, most billing.NanoUSD) string {
	texts, err := i18n.Load()
	if err != nil {
		return string(s) // the texts come with the program, and a test reads them
	}
	v := texts.Voice(language)
	switch s {
	case StopRounds:
		return v.Line("ask.stop.rounds", "n", b.Rounds)
	case StopCalls:
		return v.Line("ask.stop.calls", "n", b.Calls)
	case StopTokens:
		return v.Line("ask.stop.tokens", "n", b.Tokens)
	case StopMoney:
		return v.Line("ask.stop.money", "price", most)
	case StopDay, StopDayMoney:
		return v.Line("ask.stop." + string(s))
	}
	return ""
}
