package registrytest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/signalbox/signalbox/registry"
)

// Specs is a registry.SpecStore in memory, which also has files for inputs; the zero value is ready.
type Specs struct {
	mu       sync.Mutex
	contents map[registry.Media]kept
	writes   int
	opened   int
	err      error
}

type kept struct {
	content []byte
	info    registry.MediaInfo
}

// PutSpecs keeps the contents.
func (s *Specs) PutSpecs(_ context.Context, contents [][]byte) ([]registry.Media, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil, s.err
	}
	s.writes++
	var refs []registry.Media
	for _, content := range contents {
		refs = append(refs, s.put(content, registry.MediaInfo{}))
	}
	return refs, nil
}

// AddFile keeps a file for an input.
func (s *Specs) AddFile(name, mimeType string, content []byte) registry.Media {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.put(content, registry.MediaInfo{Name: name, MIMEType: mimeType})
}

func (s *Specs) put(content []byte, info registry.MediaInfo) registry.Media {
	if s.contents == nil {
		s.contents = map[registry.Media]kept{}
	}
	ref := registry.SpecRef(content)
	info.Bytes = int64(len(content))
	s.contents[ref] = kept{bytes.Clone(content), info}
	return ref
}

// OpenMedia opens a spec or file.
func (s *Specs) OpenMedia(_ context.Context, ref registry.Media) (io.ReadCloser, registry.MediaInfo, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened++
	found, known := s.contents[ref]
	if !known {
		return nil, registry.MediaInfo{}, errors.New("no such spec")
	}
	return io.NopCloser(bytes.NewReader(found.content)), found.info, nil
}

// Fail has all further calls of PutSpecs fail; with nil they work again.
func (s *Specs) Fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

// Writes counts the calls of PutSpecs that worked.
func (s *Specs) Writes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writes
}

// Opened counts the calls of OpenMedia.
func (s *Specs) Opened() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened
}

// Contents are those of everything that is kept, in no order.
func (s *Specs) Contents() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all [][]byte
	for _, found := range s.contents {
		all = append(all, found.content)
	}
	return all
}
