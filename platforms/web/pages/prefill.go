package pages

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/platforms/web/request"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// prefilled reads what the address asks to fill in: ?preset= a preset, ?run= the inputs of a run, ?use= a result
// of one (?does= says what is done with it), ?follow= a follow-up action of one.
func (s *forms) prefilled(r *http.Request, a users.Account, t registry.Tool) (prefill, error) {
	fill := prefill{typed: map[string]any{}}
	if name := r.URL.Query().Get("preset"); name != "" {
		preset, err := s.presets.Preset(r.Context(), a.ID, t, name)
		if err != nil {
			return fill, err
		}
		fill.preset, fill.values = preset.Name, request.Values{runs.FromPreset: preset.Values}
	}
	if id := r.URL.Query().Get("run"); id != "" {
		run, err := s.callers.Own(r.Context(), a, id)
		if err != nil {
			return fill, err
		}
		fill.parent = run.ID
		for name, value := range run.Inputs {
			if f, ok := t.InputSchema.Get(name); ok && !(f.Seed && run.Sources[name] == runs.FromRandom) {
				fill.typed[name] = value
			}
		}
	}
	if use := r.URL.Query().Get("use"); use != "" {
		id, index, _ := strings.Cut(use, ".")
		run, err := s.callers.Own(r.Context(), a, id)
		if err != nil {
			return fill, err
		}
		i, err := strconv.Atoi(index)
		if err != nil || i < 0 || i >= len(run.Outputs) {
			return fill, runs.ErrNotFound
		}
		useOutput(fill.typed, t, run.Outputs[i])
		goOn(fill.typed, t, run, registry.Follow(r.URL.Query().Get("does")))
	}
	if action := r.URL.Query().Get("follow"); action != "" {
		if err := s.followUp(r, a, t, action, fill.typed); err != nil {
			return fill, err
		}
	}
	return fill, nil
}

// goOn adds to a result what goes along with it: the words it was made of and, where it is varied, how far the next may
// depart. Anyone who edits says something else.
func goOn(typed map[string]any, t registry.Tool, run runs.Run, does registry.Follow) {
	if !slices.Contains(registry.Follows(), does) || does == registry.FollowEdit {
		return
	}
	was, said := inputFor(run.Tool, runs.Output{})
	if text, ok := inputFor(t, runs.Output{}); ok && said && run.Inputs[was.Name] != nil {
		typed[text.Name] = run.Inputs[was.Name]
	}
	if f, ok := t.InputSchema.Strength(); ok && does == registry.FollowVary {
		var before any
		if t.ToolID == run.Tool.ToolID {
			before = run.Inputs[f.Name]
		}
		typed[f.Name] = f.Departing(before, registry.AsFar)
	}
}

// useOutput puts a result into the first input of its kind.
func useOutput(typed map[string]any, t registry.Tool, o runs.Output) {
	f, ok := inputFor(t, o)
	switch {
	case !ok:
	case o.Media == "":
		typed[f.Name] = o.Text
	case f.Multiple:
		typed[f.Name] = []any{o.Media}
	default:
		typed[f.Name] = o.Media
	}
}

// unchanged takes out of a form's values those that would be bound without being typed, so that a run keeps
// where its values truly came from: a form sends all of them, also those that nobody touched.
func (s *forms) unchanged(r *http.Request, asked runs.Request) runs.Request {
	typed := asked.Values[runs.FromArgument]
	without := asked
	without.Values = request.Values{runs.FromPreset: asked.Values[runs.FromPreset]}
	bound, err := s.runs.Bind(r.Context(), without)
	if err != nil {
		return asked
	}
	for _, f := range bound.Tool.InputSchema {
		raw, ok := typed[f.Name]
		if !ok || bound.Sources[f.Name] == runs.FromRandom {
			continue
		}
		if value, bad := checkedValue(f, raw); bad == nil && request.SameValue(value, bound.Inputs[f.Name]) {
			delete(typed, f.Name)
		}
	}
	return asked
}
