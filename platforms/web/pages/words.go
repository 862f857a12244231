package pages

import (
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/platforms/web/problem"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/registry"
)

// inWords says in the reader's language what is wrong with a form. English has the registry's own words, which say more.
func inWords(v i18n.Voice, t registry.Tool, p problem.Problem) string {
	if v.Language() == i18n.Fallback {
		return p.Detail
	}
	var missing []string
	for _, f := range t.InputSchema.Ordered() {
		if f.Name == p.Field && p.Code == string(registry.CodeInvalidInput) {
			return words.WrongValue(v, f)
		}
		if slices.Contains(p.Missing, f.Name) {
			missing = append(missing, f.Label())
		}
	}
	if len(missing) > 0 {
		return v.Line("ask.input", "tool", t.DisplayName, "input", strings.Join(missing, ", "))
	}
	return p.Detail
}

// noticeOf is the line shown with a tool that is deprecated or can't be run now, in the reader's language.
func noticeOf(v i18n.Voice, t registry.Tool, s *registry.Snapshot) string {
	var notice string
	switch state := t.State(); {
	case state == registry.StateUnavailable:
		notice = v.Line("tool.unavailable", "tool", t.DisplayName)
	case state == registry.StateDeprecated && v.Language() != i18n.Fallback:
		notice = v.Line("tool.deprecated", "tool", t.DisplayName)
	default:
		return t.Notice()
	}
	if t.Status.Reason != "" {
		notice += " " + words.Told(v, "", t.Status.Reason)
	}
	if next, ok := s.ByID(t.Status.Replacement); ok {
		notice += " " + v.Line("tool.instead", "command", next.DisplayName)
	}
	return notice
}
