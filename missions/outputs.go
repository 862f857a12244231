package missions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// outputKey marks a value that is an earlier leg's output.
const outputKey = "$output"

// output names an output of a leg: by its name in the tool's outputSchema, or by a path into the data of an answer in JSON.
type output struct {
	Leg  int    `json:"leg"`
	Name string `json:"name"`
}

// outputRef reads {"$output": {"leg": 1, "name": "image"}}; is is false for any other value.
func outputRef(value any) (ref output, is bool, err error) {
	object, isObject := value.(map[string]any)
	inner, marked := object[outputKey]
	if !isObject || !marked {
		return ref, false, nil
	}
	raw, err := json.Marshal(inner)
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		err = d.Decode(&ref)
	}
	if err != nil || len(object) != 1 || ref.Leg < 1 || ref.Name == "" {
		return ref, true, fmt.Errorf(`expected {"$output": {"leg": 1, "name": "image"}} and nothing beside it`)
	}
	return ref, true, nil
}

// OutputOf makes a value of an input that is an output of an earlier leg.
func OutputOf(leg int, name string) map[string]any {
	return map[string]any{outputKey: map[string]any{"leg": leg, "name": name}}
}

// ReadOutput reads a value that OutputOf made; is is false for any other.
func ReadOutput(value any) (leg int, name string, is bool) {
	ref, is, err := outputRef(value)
	return ref.Leg, ref.Name, is && err == nil
}

// eachOutput calls f for all references within a value.
func eachOutput(value any, f func(output) error) error {
	ref, is, err := outputRef(value)
	switch {
	case err != nil:
		return err
	case is:
		return f(ref)
	}
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			if err := eachOutput(item, f); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, item := range v {
			if err := eachOutput(item, f); err != nil {
				return err
			}
		}
	}
	return nil
}

// refers reports whether there is a reference within a value.
func refers(value any) bool {
	found := false
	err := eachOutput(value, func(output) error { found = true; return nil })
	return found || err != nil
}

// filled gives a value with each reference replaced by what it stands for.
func filled(value any, of func(output) (any, error)) (any, error) {
	ref, is, err := outputRef(value)
	switch {
	case err != nil:
		return nil, err
	case is:
		return of(ref)
	}
	switch v := value.(type) {
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			if list[i], err = filled(item, of); err != nil {
				return nil, err
			}
		}
		return list, nil
	case map[string]any:
		object := make(map[string]any, len(v))
		for name, item := range v {
			if object[name], err = filled(item, of); err != nil {
				return nil, err
			}
		}
		return object, nil
	}
	return value, nil
}

// outputsOf are a run's outputs by name, files as their references; several of a name are a list. An answer in JSON gives its members too.
func outputsOf(run runs.Run) map[string]any {
	found := map[string]any{}
	for name, list := range run.OutputsOf(func(o runs.Output) any { return o.Media }) {
		found[name] = list
		if len(list) == 1 {
			found[name] = list[0]
		}
	}
	data, ok := run.Data()
	if !ok {
		data = answerOf(run)
	}
	members, _ := data.(map[string]any)
	for name, value := range members {
		if _, taken := found[name]; !taken {
			found[name] = value
		}
	}
	return found
}

// answerOf reads the only output of a run as JSON; nil where it is none.
func answerOf(run runs.Run) (data any) {
	if len(run.Outputs) != 1 || run.Outputs[0].Type != "text" {
		return nil
	}
	if decimal.Unmarshal([]byte(run.Outputs[0].Text), &data) != nil {
		return nil
	}
	return data
}

// lookUp follows a path such as booking.id; a name with dots is taken as it stands first.
func lookUp(value any, path string) (any, bool) {
	object, isObject := value.(map[string]any)
	if !isObject {
		return nil, false
	}
	if found, ok := object[path]; ok && found != nil {
		return found, true
	}
	first, rest, deeper := strings.Cut(path, ".")
	if !deeper {
		return nil, false
	}
	return lookUp(object[first], rest)
}

var place = regexp.MustCompile(`\{\{\s*outputs\.([\w.-]+)\s*\}\}`)

// render fills a template of inputs with a leg's outputs. A text that is one place and nothing else becomes the value itself. A path that
// leads nowhere is an error that names it.
func render(template any, outputs map[string]any) (any, error) {
	switch v := template.(type) {
	case map[string]any:
		object := make(map[string]any, len(v))
		for name, item := range v {
			one, err := render(item, outputs)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			object[name] = one
		}
		return object, nil
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			one, err := render(item, outputs)
			if err != nil {
				return nil, err
			}
			list[i] = one
		}
		return list, nil
	case string:
		return renderText(v, outputs)
	}
	return template, nil
}

func renderText(text string, outputs map[string]any) (any, error) {
	if whole := place.FindStringSubmatch(text); whole != nil && whole[0] == text {
		value, found := lookUp(outputs, whole[1])
		if !found {
			return nil, fmt.Errorf("the answer has no %s", whole[1])
		}
		return value, nil
	}
	var missing []string
	filled := place.ReplaceAllStringFunc(text, func(at string) string {
		path := place.FindStringSubmatch(at)[1]
		value, found := lookUp(outputs, path)
		if !found {
			missing = append(missing, path)
		}
		return fmt.Sprint(value)
	})
	if len(missing) > 0 {
		return nil, fmt.Errorf("the answer has no %s", strings.Join(missing, ", "))
	}
	return filled, nil
}

// undoInputs are what the tool that takes a leg back is given: by the template, or, without one, what bears the names of its inputs in
// the leg's answer or else in its own inputs.
func undoInputs(e Effect, undo registry.Tool, outputs, inputs map[string]any) (map[string]any, error) {
	if len(e.Inputs) == 0 {
		found := map[string]any{}
		for _, f := range undo.InputSchema {
			value, ok := lookUp(outputs, f.Name)
			if !ok {
				value, ok = inputs[f.Name]
			}
			if ok {
				found[f.Name] = value
			} else if f.Required {
				return nil, fmt.Errorf("neither the answer nor the inputs have %s, which %s needs", f.Name, undo.ToolID)
			}
		}
		return found, nil
	}
	var template map[string]any
	if err := decimal.Unmarshal(e.Inputs, &template); err != nil {
		return nil, fmt.Errorf("the inputs of %s: %w", undo.ToolID, err)
	}
	rendered, err := render(template, outputs)
	if err != nil {
		return nil, fmt.Errorf("the inputs of %s: %w", undo.ToolID, err)
	}
	found, _ := rendered.(map[string]any)
	return found, nil
}

// referenceNames are members of answers by which services name what was done.
var referenceNames = []string{"reference", "booking_reference", "bookingReference", "confirmation_number", "confirmationNumber", "order_number", "orderNumber", "id"}

// referenceOf is how a service names what a leg did: what it calls so, or else what it is taken back by.
func referenceOf(outputs, undo map[string]any) string {
	for _, within := range []map[string]any{outputs, undo} {
		if found := referenceIn(within); found != "" {
			return found
		}
	}
	for _, name := range slices.Sorted(maps.Keys(undo)) {
		if text := plainText(undo[name]); text != "" {
			return text
		}
	}
	return ""
}

func referenceIn(object map[string]any) string {
	for _, name := range referenceNames {
		if text := plainText(object[name]); text != "" {
			return text
		}
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if inner, isObject := object[name].(map[string]any); isObject {
			if found := referenceIn(inner); found != "" {
				return found
			}
		}
	}
	return ""
}

// maxReference bounds a reference, in bytes.
const maxReference = 200

func plainText(value any) string {
	switch v := value.(type) {
	case string:
		if len(v) <= maxReference && !strings.HasPrefix(v, "asset:") {
			return v
		}
	case json.Number:
		return v.String()
	}
	return ""
}
