package registry

import (
	"context"
	"maps"
	"slices"

	"github.com/signalbox/signalbox/internal/said"
)

// Question is what a provider has to know of a run's owner in the midst of a call.
type Question struct {
	Message string `json:"message"`
	// Fields are what is asked for, in order; without any, all that is asked is whether the owner agrees.
	Fields []InputField `json:"fields,omitempty"`
	// URL is a page that the owner is asked to open: accepting means that they do. What is entered there does not come here.
	URL string `json:"url,omitempty"`
}

// Reply is the result of a Question.
type Reply struct {
	Action Action         `json:"action"`
	Values map[string]any `json:"values,omitempty"` // by field, as CheckValue makes them; of an accepted question only
}

// Action is what an owner does with a Question.
type Action string

// The actions.
const (
	ActionAccept  Action = "accept"  // here is the answer
	ActionDecline Action = "decline" // no, and the call shall go on without it
	ActionCancel  Action = "cancel"  // nobody said either: the question was dismissed, nobody answered in time, or the run is over
)

// Asker asks a run's owner and waits for what becomes of it. It always gives a Reply: who is not reached in time cancels.
type Asker func(ctx context.Context, q Question) Reply

// Field finds a field of the question by name.
func (q Question) Field(name string) (InputField, bool) { return InputSchema(q.Fields).Get(name) }

// Check makes of values, as they came from a form or as JSON, the values that the provider gets. A field that nobody filled in
// is left out. What does not fit is an *Error that names its Field.
func (q Question) Check(values map[string]any) (map[string]any, *Error) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if _, asked := q.Field(name); !asked {
			e := Errorf(CodeInvalidInput, "%s: nobody asked for this", said.Brief(name))
			e.Field = name
			return nil, e
		}
	}
	checked := map[string]any{}
	for _, f := range q.Fields {
		value, bad := CheckAnswer(f, values[f.Name])
		if bad != nil {
			return nil, bad
		}
		if value != nil {
			checked[f.Name] = value
		}
	}
	return checked, nil
}

// CheckAnswer is CheckValue for a field of a Question, whose schema's format counts, too.
func CheckAnswer(f InputField, v any) (any, *Error) {
	if text, ok := v.(string); ok && text == "" && !f.Required {
		return nil, nil
	}
	value, bad := CheckValue(f.single(), v)
	if bad != nil || value == nil || len(f.Schema) == 0 {
		return value, bad
	}
	schema, err := compile(f.Schema, true)
	if err != nil {
		return nil, Say(CodeInternal, said.ToolSchema).At(f.Name).Because(err)
	}
	if err := schema.Validate(value); err != nil {
		return nil, invalid(f, "%s", schemaFailure(err))
	}
	return value, nil
}

// ParseAnswer is CheckAnswer for what a person typed; see ParseText.
func ParseAnswer(f InputField, text string) (any, *Error) {
	value, bad := ParseText(f.single(), text)
	if bad != nil {
		return nil, bad
	}
	return CheckAnswer(f, value)
}

// single is a field as each of its values is judged. The schema of one with choices is about all that is chosen together.
func (f InputField) single() InputField {
	if len(f.Choices) > 0 {
		f.Schema = nil
	}
	return f
}
