package registrytest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/signalbox/signalbox/registry"
)

// Specs is a registry.SpecStore in memory; the zero value is ready.
type Specs struct {
	mu       sync.Mutex
	contents map[registry.Media][]byte
	writes   int
}

// PutSpecs keeps the contents.
func (s *Specs) PutSpecs(_ context.Context, contents [][]byte) ([]registry.Media, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.contents == nil {
		s.contents = map[registry.Media][]byte{}
	}
	s.writes++
	var refs []registry.Media
	for _, content := range contents {
		ref := registry.SpecRef(content)
		s.contents[ref] = bytes.Clone(content)
		refs = append(refs, ref)
	}
	return refs, nil
}

// OpenMedia opens a spec.
func (s *Specs) OpenMedia(_ context.Context, ref registry.Media) (io.ReadCloser, registry.MediaInfo, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	content, known := s.contents[ref]
	if !known {
		return nil, registry.MediaInfo{}, errors.New("no such spec")
	}
	return io.NopCloser(bytes.NewReader(content)), registry.MediaInfo{Bytes: int64(len(content))}, nil
}

// Writes counts the calls of PutSpecs.
func (s *Specs) Writes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writes
}
