package runs

import (
	"context"
	"errors"
	"time"

	"github.com/signalbox/signalbox/registry"
)

// OpenQuestion is what a run's provider wants to know of its owner now. The call waits for it.
type OpenQuestion struct {
	registry.Question
	ID    string
	Until time.Time // then nobody waits any more
}

// Asker is a Deliverer that asks a run's owner where the run was asked for. Both may be repeated.
type Asker interface {
	// Ask shows Run.Question.
	Ask(ctx context.Context, run Run) error
	// Asked shows that a question of a run needs no answer any more.
	Asked(ctx context.Context, run Run, questionID string) error
}

// ErrNoQuestion says that a run's question is over: answered, too old, or gone with its call.
var ErrNoQuestion = errors.New("this question is over: it was answered, nobody waits for it any more, or it was never asked")
