package comfy

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/comfy/api"
	"github.com/signalbox/signalbox/comfy/needs"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

// What an engine says of a failure can hold paths of its disk and the prompt. It stays in the cause, for the
// log; people get words made here, of names that come from the workflow's author, and of the engine's only what api.PlainWords takes.

// submitError is for a prompt that the engine did not take.
func submitError(e *Engine, err error) error {
	var refused *api.PromptError
	var status *api.StatusError
	var out *registry.Error
	switch {
	case errors.As(err, &refused):
		out = registry.Say(registry.CodeProvider, said.EngineDecides, "words", refusalWords(refused))
	case errors.As(err, &status) && status.Status < http.StatusInternalServerError && !isDoor(status.Status):
		out = registry.Say(registry.CodeProvider, said.EngineRefused)
	default:
		out = registry.Say(registry.CodeUnavailable, said.EngineSilentNow)
		out.Retryable = true
	}
	out.Cause = fmt.Errorf("%s: %w", e.Name, err)
	return out
}

// isDoor tells whether a status is about who may come in, and when, rather than about what was sent.
func isDoor(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusProxyAuthRequired || status == http.StatusTooManyRequests
}

// silence is for an engine that can't be asked.
func silence(e *Engine, err error) error {
	out := registry.Say(registry.CodeUnavailable, said.EngineSilent)
	out.Retryable, out.Cause = true, fmt.Errorf("%s: %w", e.Name, err)
	return out
}

// atWork is for an engine that was told to stop a run and has not done so.
func atWork(e *Engine, err error) error {
	out := registry.Say(registry.CodeUnavailable, said.EngineStopping)
	out.Retryable, out.Cause = true, fmt.Errorf("%s: %w", e.Name, err)
	return out
}

// gone is for an engine whose runs have to go on elsewhere.
func gone(e *Engine) error {
	out := registry.Say(registry.CodeGone, said.EngineGoneLong)
	if e.ordered() == OrderReleased {
		out.Reword(said.EngineReleased.With())
	}
	if k := e.knowledge(); k.err != nil {
		out.Cause = fmt.Errorf("%s: down since %s: %w", e.Name, k.downSince.Format(time.RFC3339), k.err)
	}
	return out
}

// refusalWords names nodes and inputs and no values.
func refusalWords(e *api.PromptError) string {
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
	return needs.Enumerate(slices.Compact(parts), 4)
}

func problemWords(class string, d api.ErrorDetail) string {
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
func runError(e *Engine, o api.Outcome, pl plan) *registry.Error {
	out := registry.Say(registry.CodeProvider, said.EngineFails, "node", failedNode(o, pl))
	if words := api.PlainWords(o.Exception); words != "" {
		out = registry.Say(registry.CodeProvider, said.EngineFailsFor, "node", failedNode(o, pl), "words", words)
	}
	if strings.HasPrefix(o.NodeType, "Load") && !strings.Contains(o.NodeType, "Loader") {
		// LoadImage and its kin read what people sent.
		out = registry.Say(registry.CodeInvalidInput, said.EngineFileKind, "node", failedNode(o, pl))
	}
	if api.DiskFull(o.Exception) {
		out = registry.Say(registry.CodeProvider, said.EngineFull)
	}
	if api.OutOfMemory(o.Exception) {
		out = registry.Say(registry.CodeProvider, said.EngineMemory, "node", failedNode(o, pl))
	}
	if api.TooLarge(o.Exception) {
		out = registry.Say(registry.CodeProvider, said.EngineLarge, "node", failedNode(o, pl))
	}
	out.Cause = fmt.Errorf("%s: node %s: %s", e.Name, o.NodeID, o.Exception)
	return out
}

func failedNode(o api.Outcome, pl plan) any {
	if title := pl.Titles[o.NodeID]; title != "" {
		return fmt.Sprintf("%q", title)
	}
	// A node that another expanded into, such as 57:30 of 57.
	outer, _, _ := strings.Cut(o.NodeID, ":")
	if title := pl.Titles[outer]; title != "" {
		return fmt.Sprintf("%q", title)
	}
	return said.NodeUnknown
}
