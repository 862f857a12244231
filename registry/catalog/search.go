package catalog

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/registry"
)

// SearchOptions narrow a search. The zero value searches what everybody may be offered.
type SearchOptions struct {
	Audience        registry.Audience
	Limit           int  // zero means 10
	WithUnavailable bool // also deprecated and unavailable tools
	Service         string
	Category        string
	// Has are the kinds of what comes with the request: image, video, audio, file; text is understood. Nil means
	// that it is not known, an empty list that nothing comes with it. Tools that need a kind which was not sent sink,
	// those whose main input was sent rise.
	Has []registry.InputType
	// Language is a hint for words that several languages have, a code such as "de".
	Language string
	// Near is how near tools are to the request by what vectors know of their meaning, from 0 to 1 by id; nil: there are none. See Nearness.
	Near map[string]float64
	// People tells that somebody looks for a tool to use: small steps, which no menu shows, come after all others.
	People bool
}

// Nearness tells SearchOptions.Near of a request; nil: there are no vectors.
type Nearness func(ctx context.Context, query string) map[string]float64

// Of is nothing where there are no vectors.
func (n Nearness) Of(ctx context.Context, query string) map[string]float64 {
	if n == nil {
		return nil
	}
	return n(ctx, query)
}

// Searcher finds tools in the present catalogue: Registry.Search, or one that knows more, such as vectors.
type Searcher func(ctx context.Context, query string, o SearchOptions) []Match

// Search is Snapshot.Search of the present catalogue.
func (r *Registry) Search(_ context.Context, query string, o SearchOptions) []Match {
	return r.Snapshot().Search(query, o)
}

// Match is a tool that was found, shared and read-only.
type Match struct {
	Tool  *registry.Tool
	Score float64 // higher is better; below 2 hardly anything speaks for the tool
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
	q := s.index().query(query, o)
	places := q.found()
	places = slices.DeleteFunc(places, func(i int32) bool { return !o.allows(&s.tools[i]) })
	slices.SortFunc(places, func(a, b int32) int {
		first := 0
		if o.People {
			first = registry.MenusFirst(&s.tools[a], &s.tools[b])
		}
		return cmp.Or(first, cmp.Compare(q.scores[b], q.scores[a]), cmp.Compare(a, b))
	})
	matches := make([]Match, 0, o.Limit)
	for _, i := range places[:min(len(places), o.Limit)] {
		matches = append(matches, Match{&s.tools[i], q.scores[i], q.why(i)})
	}
	return matches
}

func (o SearchOptions) allows(t *registry.Tool) bool {
	if !t.ListedFor(o.Audience) || (!o.WithUnavailable && t.State() != registry.StateActive) {
		return false
	}
	return (o.Service == "" || t.Service == o.Service) && (o.Category == "" || strings.EqualFold(t.Category, o.Category))
}

// Brief is what a model is told of a tool that was found: enough to choose it.
type Brief struct {
	ToolID      string   `json:"toolId"`
	Name        string   `json:"name"`
	About       string   `json:"about,omitempty"`
	Needs       []string `json:"needs,omitempty"` // inputs without which it does not run, with their types
	Takes       []string `json:"takes,omitempty"` // other inputs
	Price       string   `json:"price"`
	Changes     bool     `json:"changes"` // it does more than read
	Score       float64  `json:"score"`
	Why         []string `json:"why,omitempty"`
	Unavailable bool     `json:"unavailable,omitempty"`
}

// Brief says in a few words what was found.
func (m Match) Brief() Brief {
	about, _ := firstSentence(m.Tool.Description)
	b := Brief{
		ToolID: m.Tool.ToolID, Name: m.Tool.DisplayName, About: about, Price: m.Tool.CostingModel.Summary(),
		Changes: m.Tool.Capability != registry.CapabilityRead, Score: math.Round(m.Score*100) / 100, Why: m.Why, Unavailable: m.Tool.State() == registry.StateUnavailable,
	}
	for _, f := range m.Tool.InputSchema.Ordered() {
		input := f.Name + " (" + string(f.Type) + ")"
		switch {
		case f.Required:
			b.Needs = append(b.Needs, input)
		case !f.Advanced:
			b.Takes = append(b.Takes, input)
		}
	}
	return b
}

// ParseKinds reads a list such as "image,text" of what comes with a request, see SearchOptions.Has. Text, which
// always comes, is left out; an empty list is no nil.
func ParseKinds(list string) ([]registry.InputType, error) {
	kinds := []registry.InputType{}
	for name := range strings.SplitSeq(list, ",") {
		switch kind := registry.InputType(strings.ToLower(strings.TrimSpace(name))); {
		case kind.IsMedia():
			kinds = addKind(kinds, kind)
		case kind != "" && kind != "text":
			return nil, registry.Errorf(registry.CodeInvalidInput, "has: found %.40q, expected some of text, image, video, audio and file", name)
		}
	}
	return kinds, nil
}
