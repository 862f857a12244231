package comfy

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/registry"
)

// What an engine says of a failure can hold paths of its disk and the prompt. It stays in the cause, for the
// log; people get words made here, of names that come from the workflow's author.

// submitError is for a prompt that the engine did not take.
func submitError(e *Engine, err error) error {
	var refused *PromptError
	var status *StatusError
	var out *registry.Error
	switch {
	case errors.As(err, &refused):
		e.forgetInfo() // what it has may have changed since it was asked
		out = registry.Errorf(registry.CodeProvider, "the engine refused the workflow: %s", refusalWords(refused))
	case errors.As(err, &status) && status.Status < http.StatusInternalServerError:
		out = registry.Errorf(registry.CodeProvider, "the engine refused the workflow")
	default:
		out = registry.Errorf(registry.CodeUnavailable, "the engine does not answer; try again in a minute")
		out.Retryable = true
	}
	out.Cause = fmt.Errorf("%s: %w", e.Name, err)
	return out
}

// silence is for an engine that can't be asked.
func silence(e *Engine, err error) error {
	out := registry.Errorf(registry.CodeUnavailable, "the engine does not answer")
	out.Retryable, out.Cause = true, fmt.Errorf("%s: %w", e.Name, err)
	return out
}

// refusalWords names nodes and inputs and no values.
func refusalWords(e *PromptError) string {
	var parts []string
	for _, n := range e.NodeErrors {
		for _, d := range n.Errors {
			parts = append(parts, problemWords(n.ClassType, d))
		}
	}
	if len(parts) == 0 {
		return typeWords(e.Detail.Type)
	}
	slices.Sort(parts)
	return enumerate(slices.Compact(parts), 4)
}

func problemWords(class string, d ErrorDetail) string {
	input, _ := d.ExtraInfo["input_name"].(string)
	where := cleanTitle(class+"."+input, "")
	switch d.Type {
	case "value_not_in_list":
		return where + " is not available on the engine"
	case "required_input_missing":
		return where + " is missing"
	case "value_smaller_than_min":
		return where + " is too small"
	case "value_bigger_than_max":
		return where + " is too large"
	}
	return cleanTitle(class, "") + ": " + typeWords(d.Type)
}

// typeWords makes words of an error type such as "missing_node_type".
func typeWords(kind string) string {
	kind = cleanTitle(strings.ReplaceAll(kind, "_", " "), "")
	if kind == "" {
		return "it does not say why"
	}
	return kind
}

// runError is for a prompt that failed while it ran.
func runError(e *Engine, o Outcome, pl plan) *registry.Error {
	out := registry.Errorf(registry.CodeProvider, "the workflow failed at %s", failedNode(o, pl))
	if strings.HasPrefix(o.NodeType, "Load") && !strings.Contains(o.NodeType, "Loader") {
		// LoadImage and its kin read what people sent.
		out = registry.Errorf(registry.CodeInvalidInput, "the file for %s can't be read; send it in another format, a picture as PNG or JPEG", failedNode(o, pl))
	}
	if outOfMemory(o.Exception) {
		out = registry.Errorf(registry.CodeProvider, "the engine ran out of memory at %s; try a smaller size or fewer pictures", failedNode(o, pl))
	}
	out.Cause = fmt.Errorf("%s: node %s: %s", e.Name, o.NodeID, o.Exception)
	return out
}

func outOfMemory(exception string) bool {
	text := strings.ToLower(exception)
	for _, sign := range []string{"outofmemory", "out of memory", "memoryerror", "can't allocate memory", "not enough memory"} {
		if strings.Contains(text, sign) {
			return true
		}
	}
	return false
}

func failedNode(o Outcome, pl plan) string {
	if title := pl.Titles[o.NodeID]; title != "" {
		return fmt.Sprintf("%q", title)
	}
	// A node that another expanded into, such as 57:30 of 57.
	outer, _, _ := strings.Cut(o.NodeID, ":")
	if title := pl.Titles[outer]; title != "" {
		return fmt.Sprintf("%q", title)
	}
	return "an unknown node"
}
