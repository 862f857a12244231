package mcp

import (
	"context"
	"sync"
)

// asks remembers what a server asked during its calls, so that a call that failed for want of an answer says so.
type asks struct {
	mu   sync.Mutex
	open map[*string]bool // the questions of the calls under way, empty where none was asked
}

// askKey leads from a call's context to its question.
type askKey struct{}

func (a *asks) begin(ctx context.Context) (context.Context, *string) {
	question := new(string)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open == nil {
		a.open = map[*string]bool{}
	}
	a.open[question] = true
	return context.WithValue(ctx, askKey{}, question), question
}

// end gives what was asked during the call.
func (a *asks) end(question *string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.open, question)
	return *question
}

// heard keeps a question for its call. Before 2026-07-28 a question does not say which call it is of: it is kept only where
// one call is under way, so that nobody reads what another was asked.
func (a *asks) heard(ctx context.Context, message string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	question, known := ctx.Value(askKey{}).(*string)
	if !known && len(a.open) == 1 {
		for only := range a.open {
			question, known = only, true
		}
	}
	if known {
		*question = message
	}
}
