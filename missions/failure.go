package missions

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/store"
)

// Codes of a leg's failure beside those of runs.
const (
	CodePrice = "price_above_promise"
	CodePoor  = "insufficient_balance"
	CodeLimit = "limit_reached"
)

// final reports whether an error is the answer to a leg, and not a trouble of ours that passes.
func final(err error) bool {
	var typed *registry.Error
	var missing *runs.MissingInputError
	var price *PriceError
	var poor billing.ErrInsufficient
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	return errors.As(err, &typed) || errors.As(err, &missing) || errors.As(err, &price) || errors.As(err, &poor) || errors.Is(err, runs.ErrUnknownTool)
}

// failureOf tells why a leg did not begin.
func failureOf(err error) *runs.Failure {
	var price *PriceError
	var poor billing.ErrInsufficient
	var limit *runs.LimitError
	switch {
	case errors.As(err, &limit):
		return &runs.Failure{Code: CodeLimit, Message: limit.Error()}
	case errors.As(err, &price):
		return &runs.Failure{Code: CodePrice, Message: price.Error()}
	case errors.As(err, &poor):
		return &runs.Failure{Code: CodePoor, Message: poor.Error()}
	}
	refusal := runs.Refusal(err)
	return &runs.Failure{Code: string(registry.AsError(err).Code), Message: refusal.Message, Retryable: refusal.Retryable}
}

// key names the version of the tool.
func (t ToolRef) key() store.ToolKey { return store.ToolKey{ID: t.ID, Version: t.Version} }

// suited makes an earlier output a value of an input: one of several where the input takes one, a list where it takes several, and
// JSON where it takes a text.
func suited(f registry.InputField, value any) (any, error) {
	list, several := value.([]any)
	switch {
	case f.Multiple && !several && value != nil:
		return []any{value}, nil
	case !f.Multiple && several && f.Type.IsMedia() && len(list) > 0:
		return list[0], nil
	case f.Type != registry.TypeString || f.Multiple || len(f.Schema) > 0 || value == nil:
		return value, nil
	}
	if _, isText := value.(string); isText {
		return value, nil
	}
	raw, err := json.Marshal(value)
	return string(raw), err
}
