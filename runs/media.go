package runs

import (
	"context"
	"fmt"
	"io"

	"github.com/signalbox/signalbox/registry"
)

// OpenMedia gives the content of a file that a run takes or made. The caller closes it.
func (s *Service) OpenMedia(ctx context.Context, ref registry.Media) (io.ReadCloser, registry.MediaInfo, error) {
	content, info, err := s.config.Assets.OpenMedia(ctx, ref)
	if err != nil {
		return nil, registry.MediaInfo{}, fmt.Errorf("open media: %w", err)
	}
	return content, info, nil
}

// PutMedia stores a file that somebody sent, under a name for people, and returns its reference for the
// inputs of a run.
func (s *Service) PutMedia(ctx context.Context, content io.Reader, name string) (ref registry.Media, info registry.MediaInfo, err error) {
	ref, info, err = s.config.Assets.Put(ctx, content, name)
	if err != nil {
		return "", registry.MediaInfo{}, fmt.Errorf("store media: %w", err)
	}
	return ref, info, nil
}
