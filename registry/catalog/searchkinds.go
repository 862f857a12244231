package catalog

import (
	"slices"

	"github.com/signalbox/signalbox/registry"
)

// toolKinds are the kinds of files that a tool takes and gives.
type toolKinds struct {
	gives []string             // types of its outputs; empty where they are not told
	needs []registry.InputType // without which it can't run
	takes []registry.InputType
	main  registry.InputType // the kind of the input that a file in a chat goes to, empty where that is text
}

func kindsOf(t *registry.Tool) toolKinds {
	var k toolKinds
	for _, o := range t.OutputSchema {
		k.gives = append(k.gives, o.Type)
	}
	for _, f := range t.InputSchema {
		if !f.Type.IsMedia() {
			continue
		}
		if k.takes = addKind(k.takes, f.Type); f.Required {
			k.needs = addKind(k.needs, f.Type)
		}
	}
	if t.PlatformHints != nil && registry.InputType(t.PlatformHints.PrimaryInput).IsMedia() {
		k.main = registry.InputType(t.PlatformHints.PrimaryInput)
	}
	return k
}

func addKind(kinds []registry.InputType, kind registry.InputType) []registry.InputType {
	if slices.Contains(kinds, kind) {
		return kinds
	}
	return append(kinds, kind)
}

// What it does to a score when files and inputs fit or don't.
const (
	fitMain    = 1.25 // the main input was sent
	fitUnused  = 0.7  // something was sent that the tool has no input for
	fitMissing = 0.3  // something is needed that was not sent
	fitOther   = 0.7  // it gives files, but none of the kind that is wanted
)

// giving says by how much a score changes, given what is wanted. Text tells nothing: every tool has some to say.
func (k toolKinds) giving(wanted string) float64 {
	isMedia := func(kind string) bool { return registry.InputType(kind).IsMedia() }
	if wanted == "" || !slices.ContainsFunc(k.gives, isMedia) || slices.Contains(k.gives, wanted) {
		return 1
	}
	return fitOther
}

// fit says by how much a tool's score changes, given what was sent.
func (k toolKinds) fit(has []registry.InputType) float64 {
	if has == nil {
		return 1
	}
	for _, kind := range k.needs {
		if !k.sent(kind, has) {
			return fitMissing
		}
	}
	switch {
	case k.main != "" && slices.Contains(has, k.main):
		return fitMain
	case slices.ContainsFunc(has, registry.InputType.IsMedia) && !slices.ContainsFunc(k.takes, func(kind registry.InputType) bool { return k.sent(kind, has) }):
		return fitUnused
	}
	return 1
}

// sent reports whether a kind came with the request. Any file may be what an input of type file takes.
func (k toolKinds) sent(kind registry.InputType, has []registry.InputType) bool {
	return slices.Contains(has, kind) || (kind == registry.TypeFile && slices.ContainsFunc(has, registry.InputType.IsMedia))
}
