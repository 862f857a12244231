package registry

import "slices"

// toolKinds are the kinds of files that a tool takes.
type toolKinds struct {
	needs []InputType // without which it can't run
	takes []InputType
	main  InputType // the kind of the input that a file in a chat goes to, empty where that is text
}

func kindsOf(t *Tool) toolKinds {
	var k toolKinds
	for _, f := range t.InputSchema {
		if !f.Type.IsMedia() {
			continue
		}
		if k.takes = addKind(k.takes, f.Type); f.Required {
			k.needs = addKind(k.needs, f.Type)
		}
	}
	if t.PlatformHints != nil && InputType(t.PlatformHints.PrimaryInput).IsMedia() {
		k.main = InputType(t.PlatformHints.PrimaryInput)
	}
	return k
}

func addKind(kinds []InputType, kind InputType) []InputType {
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
)

// fit says by how much a tool's score changes, given what was sent, and why.
func (k toolKinds) fit(has []InputType) (factor float64, reason string) {
	if has == nil {
		return 1, ""
	}
	for _, kind := range k.needs {
		if !k.sent(kind, has) {
			return fitMissing, ""
		}
	}
	sentMedia := slices.ContainsFunc(has, InputType.IsMedia)
	switch {
	case k.main != "" && slices.Contains(has, k.main):
		return fitMain, "takes " + string(k.main)
	case sentMedia && !slices.ContainsFunc(has, func(kind InputType) bool { return slices.Contains(k.takes, kind) }):
		return fitUnused, ""
	}
	return 1, ""
}

// sent reports whether a kind came with the request. Any file may be what an input of type file takes.
func (k toolKinds) sent(kind InputType, has []InputType) bool {
	return slices.Contains(has, kind) || (kind == TypeFile && slices.ContainsFunc(has, InputType.IsMedia))
}
