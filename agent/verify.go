package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/signalbox/signalbox/registry"
)

// unread names the first tool whose change nobody has looked at since, where there is a tool to look with (D13).
func (t *talk) unread() string {
	for i, step := range t.answer.Steps {
		if _, own := t.own[step.Tool]; own || step.Reads || !step.Result.OK {
			continue
		}
		later := t.answer.Steps[i+1:]
		looked := slices.ContainsFunc(later, func(s Step) bool {
			return s.Round > step.Round && s.Reads && s.Result.OK && sameThing(step, s)
		})
		if !looked && t.canLook(step) {
			return step.Tool
		}
	}
	return ""
}

// canLook reports whether a tool that only reads is about the same thing as a step's.
func (t *talk) canLook(step Step) bool {
	snapshot := t.agent.cfg.Registry.Snapshot()
	return slices.ContainsFunc(snapshot.Offered(t.question.Audience), func(tool *registry.Tool) bool {
		return tool.Capability == registry.CapabilityRead && noun(tool.ToolID) == noun(step.Tool)
	})
}

// sameThing reports whether a read is about what a step changed: tools of one noun, or one id in both calls.
func sameThing(changed, read Step) bool {
	if noun(changed.Tool) == noun(read.Tool) {
		return true
	}
	ids := idsOf(changed.Arguments)
	return slices.ContainsFunc(idsOf(read.Arguments), func(id string) bool { return slices.Contains(ids, id) })
}

// noun is what a tool is about: updatePage, getPage and pages.update are about a page.
func noun(toolID string) string {
	words := strings.FieldsFunc(spaced(toolID), func(r rune) bool { return !unicode.IsLetter(r) })
	words = slices.DeleteFunc(words, func(w string) bool { return verbs[w] })
	return strings.TrimSuffix(strings.Join(words, " "), "s")
}

// spaced parts camelCase.
func spaced(name string) string {
	var b strings.Builder
	before := ' '
	for _, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
		before = r
	}
	return b.String()
}

// verbs are what tools do with the thing that the rest of their name names.
var verbs = map[string]bool{
	"get": true, "read": true, "list": true, "find": true, "search": true, "look": true, "show": true, "fetch": true, "create": true, "add": true, "new": true,
	"update": true, "modify": true, "set": true, "change": true, "edit": true, "move": true, "write": true, "delete": true, "remove": true, "cancel": true,
}

// idsOf are the values of a call that name something: texts without blanks.
func idsOf(arguments string) []string {
	var values map[string]any
	if json.Unmarshal([]byte(arguments), &values) != nil {
		return nil
	}
	var ids []string
	for name, v := range values {
		if text, ok := v.(string); ok && text != "" && !strings.ContainsAny(text, " \n") && strings.HasSuffix(strings.ToLower(name), "id") {
			ids = append(ids, text)
		}
	}
	return ids
}

// inOrder refuses a call of a tool that comes after another one which the model could have tried in this question and has not.
func (t *talk) inOrder(call Call) error {
	snapshot := t.agent.cfg.Registry.Snapshot()
	tool, ok := snapshot.ByID(call.Tool)
	if !ok || tool.After() == "" {
		return nil
	}
	first, ok := snapshot.ByID(tool.After())
	tried := slices.ContainsFunc(t.answer.Steps, func(s Step) bool { return s.Tool == tool.After() })
	if !ok || tried || !first.OfferedTo(t.question.Audience) || !t.agent.has(first.ToolID) {
		return nil
	}
	if shown, err := describe([]*registry.Tool{first}); err == nil {
		t.show(shown)
	}
	return registry.Errorf(registry.CodeInvalidInput, "expected a call of %s first: what is here already comes before what is outside", first.ToolID)
}

func lookFirst(thing string) string {
	return fmt.Sprintf("%s has changed something, and nobody has looked at it since: read it again, and then say what is there", thing)
}

// goesBack sends an answer without calls back once where it has a flaw.
func (t *talk) goesBack(turn Turn) bool {
	flaw := t.flaw(turn.Text)
	if flaw == "" {
		return false
	}
	t.sentBack = true
	if turn.Text != "" {
		t.with.Turns = append(t.with.Turns, turn)
	}
	t.with.Turns = append(t.with.Turns, Turn{By: Person, Text: flaw + "."})
	return true
}
