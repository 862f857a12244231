package apitable

import (
	"errors"
	"slices"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// Fault is one thing wrong with a body.
type Fault struct {
	// Path leads to the value: property names and, for arrays, indexes.
	Path []string
	// Code is the code Discord uses for this kind of mistake.
	Code string
	// Text says what is wrong.
	Text string
	// Unknown marks a property that the API does not have: Discord ignores those.
	Unknown bool
}

// faults turns the validator's tree into the leaves that matter: of a union only the branch that was meant.
func faults(err error) []Fault {
	var v *jsonschema.ValidationError
	if !errors.As(err, &v) {
		return nil
	}
	var out []Fault
	collect(v, &out)
	slices.SortFunc(out, func(a, b Fault) int { return slices.Compare(a.Path, b.Path) })
	return out
}

func collect(e *jsonschema.ValidationError, out *[]Fault) {
	switch k := e.ErrorKind.(type) {
	case *kind.OneOf, *kind.AnyOf:
		if best := meant(e); best != nil {
			collect(best, out)
			return
		}
		*out = append(*out, Fault{Path: append(slices.Clone(e.InstanceLocation), "type"), Code: "UNION_TYPE_CHOICES", Text: "Value of field \"type\" must be one of the known types."})
		return
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			*out = append(*out, Fault{Path: append(slices.Clone(e.InstanceLocation), name), Code: "UNKNOWN_FIELD", Text: "the API has no such field here", Unknown: true})
		}
		return
	case *kind.Required:
		for _, name := range k.Missing {
			*out = append(*out, Fault{Path: append(slices.Clone(e.InstanceLocation), name), Code: "BASE_TYPE_REQUIRED", Text: "This field is required"})
		}
		return
	}
	if len(e.Causes) == 0 {
		*out = append(*out, Fault{Path: slices.Clone(e.InstanceLocation), Code: code(e.ErrorKind), Text: text(e.ErrorKind)})
	}
	for _, cause := range e.Causes {
		collect(cause, out)
	}
}

// meant picks the branch of a union that the value was meant for: the one whose "type" fits and that is
// not simply "null". None fitting, it returns nil when the branches are told apart by their type.
func meant(e *jsonschema.ValidationError) *jsonschema.ValidationError {
	var best *jsonschema.ValidationError
	tagged := false
	for _, branch := range e.Causes {
		switch {
		case wrongTag(branch, len(e.InstanceLocation)):
			tagged = true
		case wrongKind(branch, len(e.InstanceLocation)):
			if best == nil {
				best = branch
			}
		default:
			return branch
		}
	}
	if tagged && best != nil && onlyNull(best) || tagged && best == nil {
		return nil
	}
	return best
}

// wrongTag reports whether a branch failed at the property "type" right below depth.
func wrongTag(e *jsonschema.ValidationError, depth int) bool {
	if len(e.InstanceLocation) == depth+1 && e.InstanceLocation[depth] == "type" {
		return true
	}
	return slices.ContainsFunc(e.Causes, func(c *jsonschema.ValidationError) bool {
		return len(c.InstanceLocation) <= depth+1 && wrongTag(c, depth)
	})
}

// wrongKind reports whether a branch failed because the value itself has another JSON type.
func wrongKind(e *jsonschema.ValidationError, depth int) bool {
	if _, ok := e.ErrorKind.(*kind.Type); ok && len(e.InstanceLocation) == depth {
		return true
	}
	return slices.ContainsFunc(e.Causes, func(c *jsonschema.ValidationError) bool { return wrongKind(c, depth) })
}

func onlyNull(e *jsonschema.ValidationError) bool {
	k, ok := e.ErrorKind.(*kind.Type)
	if ok {
		return len(k.Want) == 1 && k.Want[0] == "null"
	}
	return slices.ContainsFunc(e.Causes, onlyNull)
}

func code(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		if slices.Contains(k.Want, "integer") {
			return "NUMBER_TYPE_COERCE"
		}
		return "BASE_TYPE_BAD_TYPE"
	case *kind.MaxLength, *kind.MaxItems, *kind.MaxProperties:
		return "BASE_TYPE_MAX_LENGTH"
	case *kind.MinLength, *kind.MinItems, *kind.MinProperties:
		return "BASE_TYPE_MIN_LENGTH"
	case *kind.Maximum:
		return "NUMBER_TYPE_MAX"
	case *kind.Minimum:
		return "NUMBER_TYPE_MIN"
	case *kind.Enum, *kind.Const:
		return "BASE_TYPE_CHOICES"
	case *kind.Format:
		return "URL_TYPE_INVALID_URL"
	}
	return "BASE_TYPE_INVALID"
}

func text(k jsonschema.ErrorKind) string {
	if m, ok := k.(*kind.MaxLength); ok {
		return "Must be " + strconv.Itoa(m.Want) + " or fewer in length."
	}
	return k.LocalizedString(message.NewPrinter(language.English))
}
