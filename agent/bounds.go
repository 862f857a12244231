package agent

import (
	"cmp"
	"context"
	"fmt"
)

// Bounds are how far a question may go. Zero members have defaults.
type Bounds struct {
	Rounds int   // how often the model is asked; zero: 8
	Calls  int   // of tools; zero: 40
	Tokens int64 // read and written, cached ones included; zero: 400,000
}

func (b Bounds) orDefaults() Bounds {
	return Bounds{cmp.Or(b.Rounds, 8), cmp.Or(b.Calls, 40), cmp.Or(b.Tokens, 400_000)}
}

// Meter counts what the questions of accounts use.
type Meter interface {
	// Left is how many tokens an account may still use today; negative: as many as it likes.
	Left(ctx context.Context, accountID string) (int64, error)
	// Used notes what a turn has used.
	Used(ctx context.Context, accountID string, u Usage) error
}

// sentences say for people which bound ended a question.
func (b Bounds) sentence(s Stop) string {
	switch s {
	case StopRounds:
		return fmt.Sprintf("The model was asked %d times, as often as one question may. Ask again to go on.", b.Rounds)
	case StopCalls:
		return fmt.Sprintf("The model has called tools %d times, as often as one question may. Ask again to go on.", b.Calls)
	case StopTokens:
		return fmt.Sprintf("The question has used the %d tokens that one question may. Ask again, in fewer words.", b.Tokens)
	case StopDay:
		return "Your questions of today have used all tokens that a day may. It goes on tomorrow (UTC)."
	}
	return ""
}
