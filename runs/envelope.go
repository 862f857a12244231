package runs

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/registry"
)

// ToolCode is the code of an Envelope's error. The list is closed; what exactly went wrong stands in the run's own error.
type ToolCode string

// The codes.
const (
	ToolNotFound         ToolCode = "tool_not_found"
	ToolRequiresApproval ToolCode = "tool_requires_approval"
	ToolAutoRunDisabled  ToolCode = "tool_auto_run_disabled" // it only reads, and waits because the policy is strict
	InvalidToolInput     ToolCode = "invalid_tool_input"
	InvalidToolOutput    ToolCode = "invalid_tool_output"
	ToolExecutionFailed  ToolCode = "tool_execution_failed"
)

// Envelope is what a model's program is told of a call, whatever the tool.
type Envelope struct {
	OK    bool           `json:"ok"`
	Data  any            `json:"data,omitempty"`  // with OK only
	Error *EnvelopeError `json:"error,omitempty"` // without OK only
	// LatencyMs is the time from the call to its end with all attempts and all waiting, but for the time that
	// the owner took to approve it.
	LatencyMs int64 `json:"latencyMs"`
	// Attempts counts executions: at least 1 once the work has begun, 0 for a call that was refused or that ended before.
	Attempts int    `json:"attempts"`
	TraceID  string `json:"traceId,omitempty"`
}

// EnvelopeError is why there is no data.
type EnvelopeError struct {
	Code      ToolCode `json:"code"`
	Message   string   `json:"message"` // safe to show, at most 240 characters
	Retryable bool     `json:"retryable"`
}

// DataOf gives a run's results to programs: data of the shape that its tool declares, or else its outputs by name, those with a schema as data.
// file makes of a stored file what is told of it.
func (r Run) DataOf(file func(Output) any) any {
	if data, ok := r.Data(); ok {
		return data
	}
	outputs := r.OutputsOf(file)
	for _, field := range r.Tool.OutputSchema {
		if field.Type != "text" || field.Schema == nil {
			continue
		}
		for i, value := range outputs[field.Name] {
			if text, ok := value.(string); ok {
				if data, fits := dataIn(text, field.Schema); fits {
					outputs[field.Name][i] = data
				}
			}
		}
	}
	return outputs
}

// Data is the result of a run whose tool declares the schema of its data, as long as it fits.
func (r Run) Data() (data any, ok bool) {
	field, declared := r.Tool.OutputSchema.Data()
	at := slices.IndexFunc(r.Outputs, func(o Output) bool { return o.Name == field.Name && o.Type == "text" })
	if !declared || at < 0 {
		return nil, false
	}
	return dataIn(r.Outputs[at].Text, field.Schema)
}

// dataIn reads a text by its schema. A text that is a string to the schema is that string, any other is read as JSON.
func dataIn(text string, raw json.RawMessage) (data any, ok bool) {
	schema, err := registry.ParseSchema(raw)
	if err != nil {
		return nil, false
	}
	if decimal.Unmarshal([]byte(text), &data) == nil && schema.Check(data) == nil {
		return data, true
	}
	return text, schema.Check(text) == nil
}

// OutputsOf gives a run's results by the names of its tool's outputSchema. There may be several of a name, so each is a list.
func (r Run) OutputsOf(file func(Output) any) map[string][]any {
	data := map[string][]any{}
	for _, o := range r.Outputs {
		var value any = o.Text
		if o.Type != "text" {
			value = file(o)
		}
		data[o.Name] = append(data[o.Name], value)
	}
	return data
}

// Envelope tells a run in short; data is only used of one that succeeded. ok is false for a run that is under way: there is nothing to tell
// of it yet.
func (r Run) Envelope(data any) (e Envelope, ok bool) {
	e = Envelope{LatencyMs: r.Latency().Milliseconds(), Attempts: r.Executions(), TraceID: r.Trace()}
	switch {
	case r.Status == StatusSucceeded:
		e.OK, e.Data = true, data
	case r.Status == StatusAwaitingConfirmation:
		e = Refused(r.NeedsApproval(), e.TraceID)
	case !r.Status.Final():
		return Envelope{}, false
	default:
		failure := r.Error
		if failure == nil {
			failure = &Failure{Message: "it ended as " + string(r.Status)}
		}
		e.Error = &EnvelopeError{Code: ToolCodeOf(registry.Code(failure.Code)), Message: bounded(failure.Message), Retryable: failure.Retryable}
	}
	return e, true
}

// Refused is the envelope of a call that was never executed, and why.
func Refused(err error, trace string) Envelope {
	return Envelope{TraceID: trace, Error: Refusal(err)}
}

// Refusal is why a call was not carried out, in an Envelope's words.
func Refusal(err error) *EnvelopeError {
	var unknown *UnknownToolError
	var approval *ApprovalError
	var missing *MissingInputError
	var poor billing.ErrInsufficient
	switch {
	case errors.As(err, &unknown) && unknown.Instead != "":
		return &EnvelopeError{Code: ToolNotFound, Message: bounded(unknown.Error())}
	case errors.Is(err, ErrUnknownTool):
		return &EnvelopeError{Code: ToolNotFound, Message: "there is no such tool"}
	case errors.As(err, &approval) && approval.Reading:
		return &EnvelopeError{Code: ToolAutoRunDisabled, Message: approval.Error()}
	case errors.As(err, &approval):
		return &EnvelopeError{Code: ToolRequiresApproval, Message: approval.Error()}
	case errors.As(err, &missing):
		return &EnvelopeError{Code: InvalidToolInput, Message: bounded(missing.Error())}
	case errors.As(err, &poor):
		return &EnvelopeError{Code: ToolExecutionFailed, Message: bounded(poor.Error())}
	}
	typed := registry.AsError(err)
	message := typed.Message
	if typed.Field != "" && !strings.HasPrefix(message, typed.Field+": ") {
		message = typed.Field + ": " + message
	}
	return &EnvelopeError{Code: ToolCodeOf(typed.Code), Message: bounded(message), Retryable: typed.Retryable}
}

// ToolCodeOf is the closed list's word for a failure.
func ToolCodeOf(c registry.Code) ToolCode {
	switch c {
	case registry.CodeInvalidInput:
		return InvalidToolInput
	case registry.CodeBadOutput:
		return InvalidToolOutput
	}
	return ToolExecutionFailed
}

// maxMessage bounds an envelope's message, in characters.
const maxMessage = 240

func bounded(message string) string {
	if runes := []rune(message); len(runes) > maxMessage {
		return string(runes[:maxMessage-1]) + "…"
	}
	return message
}

// Latency is the time from the call, or from its approval, to its end; zero while it is under way.
func (r Run) Latency() time.Duration {
	if r.EndedAt == nil {
		return 0
	}
	began := r.CreatedAt
	if r.ConfirmedAt != nil {
		began = *r.ConfirmedAt
	}
	return max(r.EndedAt.Sub(began), 0)
}

// Executions counts how often the provider was asked to do the work.
func (r Run) Executions() int {
	if r.StartedAt == nil {
		return 0
	}
	return max(r.Attempt, 1)
}
