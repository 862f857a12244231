package accept

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// PutMedia stores a file that an account sent, under a name for people, and returns its reference for the
// inputs of a run. A *LimitError: the account's uploads take what they may.
func (s *Acceptor) PutMedia(ctx context.Context, accountID string, content io.Reader, name string) (ref registry.Media, info registry.MediaInfo, err error) {
	limits, err := s.limiter.LimitsOf(ctx, accountID)
	if err != nil {
		return "", registry.MediaInfo{}, err
	}
	ref, info, err = s.Config.Assets.Keep(ctx, content, assets.Meta{Name: name, Owner: accountID, Kind: assets.Upload, Limit: limits.UploadBytes})
	var full *assets.LimitError
	if errors.As(err, &full) {
		err = &runs.LimitError{LimitUse: runs.LimitUse{Kind: runs.LimitUploads, Limit: full.Limit, Used: full.Used}}
	}
	if errors.Is(err, assets.ErrErased) {
		err = registry.Errorf(registry.CodeUnauthorized, "this account was deleted, and nothing was kept")
	}
	if err != nil {
		return "", registry.MediaInfo{}, fmt.Errorf("store media: %w", err)
	}
	return ref, info, nil
}
