package upstream

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

// Specs keep how tools are called, a T each, by content: a run is carried out as its tool was when the run was accepted, also after the
// file that describes the tool has changed.
type Specs[T any] struct {
	store registry.SpecStore
	limit int64

	keeping sync.Mutex // one Keep at a time, so that each ends when all that was noted before is kept
	mu      sync.Mutex
	known   map[registry.Media]T
	unkept  map[registry.Media][]byte
}

// NewSpecs keeps specs in a store. One that has more bytes than limit is not read from there.
func NewSpecs[T any](store registry.SpecStore, limit int64) *Specs[T] {
	return &Specs[T]{store: store, limit: limit, known: map[registry.Media]T{}, unkept: map[registry.Media][]byte{}}
}

// Note remembers a spec until the next Keep, and gives its reference.
func (s *Specs[T]) Note(spec T) (registry.Media, error) {
	raw, err := json.Marshal(spec)
	if err != nil {
		return "", err
	}
	ref := registry.SpecRef(raw)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.known[ref]; !known {
		s.known[ref], s.unkept[ref] = spec, raw
	}
	return ref, nil
}

// Keep stores what was noted, all at once. What it could not store is stored by the next one.
func (s *Specs[T]) Keep(ctx context.Context) error {
	s.keeping.Lock()
	defer s.keeping.Unlock()
	s.mu.Lock()
	fresh := maps.Clone(s.unkept)
	s.mu.Unlock()
	if len(fresh) == 0 {
		return nil
	}
	if _, err := s.store.PutSpecs(ctx, slices.Collect(maps.Values(fresh))); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.unkept, func(ref registry.Media, _ []byte) bool { return fresh[ref] != nil })
	return nil
}

// Of finds the spec of a reference.
func (s *Specs[T]) Of(ctx context.Context, ref registry.Media) (spec T, err error) {
	s.mu.Lock()
	spec, known := s.known[ref]
	s.mu.Unlock()
	if known {
		return spec, nil
	}
	body, _, err := s.store.OpenMedia(ctx, ref)
	if err != nil {
		return spec, registry.Say(registry.CodeUnavailable, said.NoWay).Because(err)
	}
	defer body.Close()
	if err := json.NewDecoder(io.LimitReader(body, s.limit)).Decode(&spec); err != nil {
		return spec, registry.Say(registry.CodeInternal, said.NoWayRead).Because(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[ref] = spec
	return spec, nil
}
