package catalog

import (
	"slices"
	"strings"

	"github.com/signalbox/signalbox/registry"
)

// Candidates gives the tools that anyone who plans should choose from for a request in plain words, best first. Tags
// narrow them to the intents that the request is about: tools that the request names exactly come first whatever
// their tags, then those with a tag that the words find, then the others with a tag. Tags that no tool has narrow
// nothing, as a wrong guess must not leave nobody to choose; without tags it is a search.
func (s *Snapshot) Candidates(request string, tags []string, o SearchOptions) []*registry.Tool {
	if o.Limit <= 0 {
		o.Limit = defaultSearchLimit
	}
	tagged := s.where(func(t *registry.Tool) bool { return o.allows(t) && t.HasIntent(tags) })
	found := s.named(request, o)
	add := func(t *registry.Tool) {
		if !slices.Contains(found, t) {
			found = append(found, t)
		}
	}
	all := o
	all.Limit = s.Len()
	for _, m := range s.Search(request, all) {
		if len(tagged) == 0 || m.Tool.HasIntent(tags) {
			add(m.Tool)
		}
	}
	for _, t := range tagged {
		add(t)
	}
	return found[:min(len(found), o.Limit)]
}

// named gives the tools whose id, command, alias or whole name stands in a text, in the order in which they stand.
func (s *Snapshot) named(text string, o SearchOptions) []*registry.Tool {
	var found []*registry.Tool
	add := func(t *registry.Tool, ok bool) {
		if ok && o.allows(t) && !slices.Contains(found, t) {
			found = append(found, t)
		}
	}
	for word := range strings.FieldsSeq(text) {
		word = strings.Trim(word, ".,;:!?\"'`()")
		add(s.Resolve(word))
		add(s.ByCommand(word))
	}
	spaced := func(s string) string { return " " + strings.ToLower(strings.Join(strings.Fields(s), " ")) + " " }
	whole := spaced(text)
	for t := range s.Each() {
		if name := spaced(t.DisplayName); strings.Contains(strings.TrimSpace(name), " ") && strings.Contains(whole, name) {
			add(t, true)
		}
	}
	return found
}
