package content

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/registry"
)

// args are the inputs of a call, as registry.Call has them. A nil value was given, as null.
type args map[string]any

// has reports whether something was given for an input; null counts as nothing but where it is asked for by name.
func (a args) has(name string) bool { return a[name] != nil && a[name] != "" }

func (a args) text(name string) string {
	if text, ok := a[name].(string); ok {
		return strings.TrimSpace(text)
	}
	return ""
}

// flag is a yes or no, no where nothing was given.
func (a args) flag(name string) bool { return a[name] == true }

// whole is a whole number, nil where none was given.
func (a args) whole(name string) *int {
	n, err := strconv.Atoi(fmt.Sprint(a[name]))
	if err != nil {
		return nil
	}
	return &n
}

// texts is a list of texts without blanks and repetitions.
func (a args) texts(name string) []string {
	list := []string{}
	values, _ := a[name].([]any)
	for _, v := range values {
		if text, ok := v.(string); ok && strings.TrimSpace(text) != "" {
			list = append(list, strings.TrimSpace(text))
		}
	}
	return distinct(list)
}

func distinct(list []string) []string {
	seen := map[string]bool{}
	kept := []string{}
	for _, text := range list {
		if !seen[text] {
			seen[text] = true
			kept = append(kept, text)
		}
	}
	return kept
}

// object is an object, nil where none was given.
func (a args) object(name string) map[string]any {
	object, _ := a[name].(map[string]any)
	return object
}

// setText sets a text where one was given.
func (a args) setText(to *string, name string) {
	if _, given := a[name].(string); given {
		*to = a.text(name)
	}
}

// setFlag sets a yes or no where one was given.
func (a args) setFlag(to *bool, name string) {
	if v, given := a[name].(bool); given {
		*to = v
	}
}

// setWhole sets a whole number where one was given.
func (a args) setWhole(to *int, name string) {
	if n := a.whole(name); n != nil {
		*to = *n
	}
}

// setParent sets or takes away a parent where one was given: null and the empty text stand for the top.
func (a args) setParent(to **string, name string) error {
	v, given := a[name]
	switch {
	case !given:
	case v == nil || v == "":
		*to = nil
	default:
		id, err := a.id(name, "getPage, or null for the top")
		if err != nil {
			return err
		}
		*to = &id
	}
	return nil
}

// moment is a time, nil where none was given.
func (a args) moment(name string) (*time.Time, error) {
	if !a.has(name) {
		return nil, nil
	}
	at, err := time.Parse(time.RFC3339, a.text(name))
	if err != nil {
		return nil, &registry.Error{Code: registry.CodeInvalidInput, Field: name, Message: fmt.Sprintf("%s: %q is no time: expected one such as 2026-12-24T18:00:00Z", name, short(a.text(name)))}
	}
	return &at, nil
}

// id is an input that must be an id. finder is the tool that knows ids.
func (a args) id(name, finder string) (string, error) {
	text := a.text(name)
	if _, err := uuid.Parse(text); err != nil || len(text) != 36 {
		return "", &registry.Error{Code: registry.CodeInvalidInput, Field: name, Message: fmt.Sprintf("%s: %q is no id, which has the form of a UUID: find it with %s", name, short(text), finder)}
	}
	return strings.ToLower(text), nil
}

func short(text string) string {
	if len(text) > 60 {
		return text[:60] + "..."
	}
	return text
}

// merged lays members over an object. A member that is null goes.
func merged(object, over map[string]any) map[string]any {
	result := map[string]any{}
	maps.Copy(result, object)
	for name, value := range over {
		if value == nil {
			delete(result, name)
		} else {
			result[name] = value
		}
	}
	return result
}

// The inputs of tools are described by these.

func textInput(name, about string) registry.InputField {
	return registry.InputField{Name: name, Type: registry.TypeString, Description: about}
}

func need(f registry.InputField) registry.InputField {
	f.Required = true
	return f
}

func several(f registry.InputField) registry.InputField {
	f.Multiple = true
	return f
}

func flagInput(name, about string) registry.InputField {
	return registry.InputField{Name: name, Type: registry.TypeBoolean, Description: about}
}

func wholeInput(name, about string, least int) registry.InputField {
	return registry.InputField{Name: name, Type: registry.TypeNumber, Integer: true, Min: json.Number(strconv.Itoa(least)), Description: about}
}

func choiceInput(name, about string, values ...string) registry.InputField {
	f := textInput(name, about)
	for _, v := range values {
		f.Choices = append(f.Choices, registry.Choice{Value: v})
	}
	return f
}

func objectInput(name, about string) registry.InputField {
	f := textInput(name, about)
	f.Schema = json.RawMessage(`{"type": "object"}`)
	return f
}

// parentInput takes null as well.
func parentInput(name, about string) registry.InputField {
	f := textInput(name, about)
	f.Schema = json.RawMessage(`{"type": ["string", "null"]}`)
	return f
}
