package words

import (
	"slices"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// Vary says how another like a result is made.
type Vary int

// The ways to vary.
const (
	VaryNot      Vary = iota // doing it again gives as much, so nothing is offered beside it
	VaryByTool               // by a tool that takes the result
	VarySlightly             // by the same tool, with another seed of small changes
	VarySeed                 // by the same tool, with fresh seeds in place of those that somebody chose, which doing it again keeps
)

// Itself reports whether the run's own tool does it, at its price.
func (v Vary) Itself() bool { return v == VarySlightly || v == VarySeed }

// HowToVary says how another like a run's result is made: like its picture number n, from 1, or like the whole with 0. byTool
// tells whether a tool takes such a result for that.
func HowToVary(run runs.Run, byTool bool, n int) Vary {
	if n > 0 || Pictures(run) == 0 {
		if byTool {
			return VaryByTool
		}
		if _, ok := run.Tool.InputSchema.WithRole(registry.RoleVariation); ok {
			return VarySlightly
		}
	}
	if slices.ContainsFunc(run.Tool.InputSchema, func(f registry.InputField) bool {
		from := run.Sources[f.Name]
		return f.Seed && from != "" && from != runs.FromRandom
	}) {
		return VarySeed
	}
	return VaryNot
}

// Pictures counts the pictures of a set: 0 where a run gave other files too, or no set.
func Pictures(run runs.Run) int {
	n := 0
	for _, o := range run.Outputs {
		if o.Media != "" && o.Type != string(registry.TypeImage) {
			return 0
		}
		if o.Media != "" {
			n++
		}
	}
	if n < 2 {
		return 0
	}
	return n
}
