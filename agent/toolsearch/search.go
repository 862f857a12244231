// Package toolsearch finds tools by vectors of what they mean, beside what the registry's own search knows of words.
package toolsearch

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/signalbox/signalbox/internal/upstream/embeddings"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
)

// nearest is how many tools a search takes from the vectors.
const nearest = 40

// queryWait is how long a search waits for the vector of its words before it does without.
const queryWait = 3 * time.Second

// Search finds tools by words and vectors together. It is safe for concurrent use.
type Search struct {
	client   *embeddings.Client
	registry *catalog.Registry
	log      *slog.Logger
	known    atomic.Pointer[catalogue]
	changed  chan struct{}
}

// catalogue are the vectors of a catalogue's tools.
type catalogue struct {
	hash    string
	byTool  map[string][]float32
	byAbout map[string][]float32 // by the text that a vector was made of, so that only what changed is made anew
}

// New makes a Search, which knows no vectors until Run has made them.
func New(c *embeddings.Client, r *catalog.Registry, log *slog.Logger) *Search {
	s := &Search{client: c, registry: r, log: log, changed: make(chan struct{}, 1)}
	s.known.Store(&catalogue{})
	r.OnSwap(func(context.Context, catalog.Swap) { s.wake() })
	s.wake()
	return s
}

func (s *Search) wake() {
	select {
	case s.changed <- struct{}{}:
	default: // it will look anyway
	}
}

// Run makes vectors of the tools whenever they change, until ctx ends. While the server is in trouble searches go on by what
// was known before.
func (s *Search) Run(ctx context.Context) {
	const pause = time.Minute // before a server that failed is asked again
	for {
		var again <-chan time.Time
		if err := s.Refresh(ctx); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "tools are searched by words alone", "error", err)
			again = time.After(pause)
		}
		select {
		case <-ctx.Done():
			return
		case <-s.changed:
		case <-again:
		}
	}
}

// Refresh makes the vectors of the present catalogue.
func (s *Search) Refresh(ctx context.Context) error {
	snapshot, before := s.registry.Snapshot(), s.known.Load()
	if snapshot.Hash() == before.hash {
		return nil
	}
	next := &catalogue{snapshot.Hash(), map[string][]float32{}, map[string][]float32{}}
	var texts []string
	for t := range snapshot.Each() {
		text := about(t)
		if v, ok := before.byAbout[text]; ok {
			next.byAbout[text] = v
		} else if _, asked := next.byAbout[text]; !asked {
			texts, next.byAbout[text] = append(texts, text), nil
		}
	}
	made, err := s.vectors(ctx, texts)
	if err != nil {
		return err
	}
	for i, text := range texts {
		next.byAbout[text] = made[i]
	}
	for t := range snapshot.Each() {
		next.byTool[t.ToolID] = next.byAbout[about(t)]
	}
	s.known.Store(next)
	return nil
}

// about is what a vector is made of.
func about(t *registry.Tool) string {
	return t.DisplayName + ". " + strings.ToValidUTF8(t.Description[:min(len(t.Description), 1000)], "") + " " + t.Category
}

// Find is registry.Snapshot.Search with the vectors' word added, where the server gives one in time.
func (s *Search) Find(ctx context.Context, query string, o catalog.SearchOptions) []catalog.Match {
	o.Near = s.near(ctx, query)
	return s.registry.Snapshot().Search(query, o)
}

// near gives how near the nearest tools are, from one for the nearest of all down to none.
func (s *Search) near(ctx context.Context, query string) map[string]float64 {
	known := s.known.Load()
	if len(known.byTool) == 0 || query == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, queryWait)
	defer cancel()
	asked, err := s.vectors(ctx, []string{query})
	if err != nil {
		s.log.WarnContext(ctx, "a search goes by words alone", "error", err)
		return nil
	}
	type place struct {
		tool string
		dot  float64
	}
	places := make([]place, 0, len(known.byTool))
	for tool, v := range known.byTool {
		places = append(places, place{tool, embeddings.Dot(asked[0], v)})
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Or(cmp.Compare(b.dot, a.dot), cmp.Compare(a.tool, b.tool)) })
	places = places[:min(len(places), nearest)]
	first, last := places[0].dot, places[len(places)-1].dot
	found := make(map[string]float64, len(places))
	for _, p := range places {
		found[p.tool] = max(0, p.dot)
		if first > last {
			found[p.tool] = (p.dot - last) / (first - last)
		}
	}
	return found
}

// batch is how many texts go into one request.
const batch = 96

// vectors makes one of length 1 for each text, in their order.
func (s *Search) vectors(ctx context.Context, texts []string) ([][]float32, error) {
	made := make([][]float32, 0, len(texts))
	for part := range slices.Chunk(texts, batch) {
		vectors, err := s.client.Embed(ctx, part)
		if err != nil {
			return nil, err
		}
		made = append(made, vectors...)
	}
	return made, nil
}
