package store

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/registry"
)

// OpenMedia gives the content of a file that a run takes or made. The caller closes it.
func (s *Store) OpenMedia(ctx context.Context, ref registry.Media) (io.ReadCloser, registry.MediaInfo, error) {
	content, info, err := s.Config.Assets.OpenMedia(ctx, ref)
	if err != nil {
		return nil, registry.MediaInfo{}, fmt.Errorf("open media: %w", err)
	}
	return content, info, nil
}

// OwnersOf gives the accounts whose file a reference is, as far as a reader may see it by their links.
func (s *Store) OwnersOf(ctx context.Context, ref registry.Media, reader assets.Reader) ([]string, error) {
	return assets.Owners(ctx, s.Config.Pool, assets.Ref(ref), reader)
}

// Hidden tells whether a stored file was taken down, from all who have it.
func (s *Store) Hidden(ctx context.Context, ref registry.Media) (bool, error) {
	return assets.Hidden(ctx, s.Config.Pool, assets.Ref(ref))
}

// Space gives what the files of all accounts and of the house take, or took a minute ago.
func (s *Store) Space(ctx context.Context) (assets.Space, error) { return s.files.Get(ctx, time.Now()) }

// Thumbnail gives a small version of a picture, which fits into a square of so many pixels, and its type. assets.ErrNoThumbnail:
// none can be made.
func (s *Store) Thumbnail(ctx context.Context, ref registry.Media, side int) (mime string, content []byte, err error) {
	return s.thumbnails.Get(ctx, assets.Ref(ref), side, func(ctx context.Context) (io.ReadCloser, error) {
		original, _, err := s.OpenMedia(ctx, ref)
		return original, err
	})
}
