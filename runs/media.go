package runs

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/said"
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

// OwnersOf gives the accounts whose file a reference is.
func (s *Service) OwnersOf(ctx context.Context, ref registry.Media) ([]string, error) {
	return assets.Owners(ctx, s.config.Pool, assets.Ref(ref))
}

// Space gives what the files of all accounts and of the house take.
func (s *Service) Space(ctx context.Context) (assets.Space, error) {
	return assets.AllSpace(ctx, s.config.Pool)
}

// Thumbnail gives a small version of a picture, which fits into a square of so many pixels, and its type. assets.ErrNoThumbnail:
// none can be made.
func (s *Service) Thumbnail(ctx context.Context, ref registry.Media, side int) (mime string, content []byte, err error) {
	return s.thumbnails.Get(ctx, assets.Ref(ref), side, func(ctx context.Context) (io.ReadCloser, error) {
		original, _, err := s.OpenMedia(ctx, ref)
		return original, err
	})
}

// PutMedia stores a file that an account sent, under a name for people, and returns its reference for the
// inputs of a run. A *LimitError: the account's uploads take what they may.
func (s *Service) PutMedia(ctx context.Context, accountID string, content io.Reader, name string) (ref registry.Media, info registry.MediaInfo, err error) {
	limits, err := s.limitsOf(ctx, accountID)
	if err != nil {
		return "", registry.MediaInfo{}, err
	}
	ref, info, err = s.config.Assets.Keep(ctx, content, assets.Meta{Name: name, Owner: accountID, Kind: assets.Upload, Limit: limits.UploadBytes})
	var full *assets.LimitError
	if errors.As(err, &full) {
		err = &LimitError{LimitUse: LimitUse{Kind: LimitUploads, Limit: full.Limit, Used: full.Used}}
	}
	if errors.Is(err, assets.ErrErased) {
		err = registry.Say(registry.CodeUnauthorized, said.AccountDeleted)
	}
	if err != nil {
		return "", registry.MediaInfo{}, fmt.Errorf("store media: %w", err)
	}
	return ref, info, nil
}
