package registry

import (
	"cmp"
	"slices"
	"strings"
)

// SearchOptions narrow a search. The zero value searches what everybody may be offered.
type SearchOptions struct {
	Audience        Audience
	Limit           int  // zero means 10
	WithUnavailable bool // also deprecated and unavailable tools
	Service         string
	Category        string
	// Has are the kinds of what comes with the request: image, video, audio, file; text is understood. Nil means
	// that it is not known, an empty list that nothing comes with it. Tools that need a kind which was not sent sink,
	// those whose main input was sent rise.
	Has []InputType
	// Language is a hint for words that several languages have, a code such as "de".
	Language string
	// Near, where it is set, is how near each tool is in meaning to the request, by vectors (see Vectors).
	Near map[string]float64
}

// Match is a tool that was found, shared and read-only.
type Match struct {
	Tool  *Tool
	Score float64 // higher is better; below WeakScore hardly anything speaks for the tool
	Why   []string
}

const defaultSearchLimit = 10

// Search finds the tools that a request in plain words asks for, best first: by the tasks it speaks of, in five
// languages, and by words of names, commands, aliases, tags, categories and descriptions. Word endings and slips of
// the finger are forgiven. Tools that the audience may not see are never found. An empty query finds nothing, nor
// does one that only greets or thanks.
func (s *Snapshot) Search(query string, o SearchOptions) []Match {
	if o.Limit <= 0 {
		o.Limit = defaultSearchLimit
	}
	index := s.index()
	var matches []Match
	for i, found := range index.search(query, o) {
		if t := &s.tools[i]; found.score > 0 && o.allows(t) {
			matches = append(matches, Match{t, found.score, found.why()})
		}
	}
	slices.SortFunc(matches, func(a, b Match) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.Tool.ToolID, b.Tool.ToolID))
	})
	return matches[:min(len(matches), o.Limit)]
}

func (o SearchOptions) allows(t *Tool) bool {
	if !t.ListedFor(o.Audience) || (!o.WithUnavailable && t.State() != StateActive) {
		return false
	}
	return (o.Service == "" || t.Service == o.Service) && (o.Category == "" || strings.EqualFold(t.Category, o.Category))
}
