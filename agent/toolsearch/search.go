// Package toolsearch finds tools by vectors of what they mean, beside what the registry's own search knows of words.
package toolsearch

import (
	"context"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/signalbox/signalbox/internal/upstream/embeddings"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
)

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
	o.Near = s.Near(ctx, query)
	return s.registry.Snapshot().Search(query, o)
}

// Near is a catalog.Nearness: how near tools are, from 0 to 1, as far as they stand out. Most are about as near as any.
func (s *Search) Near(ctx context.Context, query string) map[string]float64 {
	known := s.known.Load()
	if len(known.byTool) == 0 || query == "" {
		return nil
	}
	asked, err := s.client.Ask(ctx, query)
	if err != nil {
		s.log.WarnContext(ctx, "a search goes by words alone", "error", err)
		return nil
	}
	dots := make(map[string]float64, len(known.byTool))
	for tool, v := range known.byTool {
		dots[tool] = embeddings.Dot(asked, v)
	}
	return standingOut(dots)
}

// chance is how far from the middle a tool must stand to count, as a share of what chance alone brings about among as
// many. What a model does not understand, such as a language that it was not made for, hardly ever gets as far.
const chance = 0.75

// standingOut gives how far tools stand out from the middle of all, measured by how the others are spread, since each model has
// a scale of its own: 0 at what chance may bring about, 1 at twice that. Those that don't stand out are left out.
func standingOut(dots map[string]float64) map[string]float64 {
	n, sum, squares := float64(len(dots)), 0.0, 0.0
	for _, dot := range dots {
		sum += dot
	}
	middle := sum / n
	for _, dot := range dots {
		squares += (dot - middle) * (dot - middle)
	}
	// The farthest of n that mean nothing stands about sqrt(2 ln n) standard deviations from their middle.
	least := chance * math.Sqrt(2*math.Log(n)) * math.Sqrt(squares/n)
	far := make(map[string]float64)
	for tool, dot := range dots {
		if out := dot - middle; least > 0 && out > least {
			far[tool] = min(1, out/least-1)
		}
	}
	return far
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
