package accept

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/said"
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
		err = registry.Say(registry.CodeUnauthorized, said.AccountDeleted)
	}
	if err != nil {
		return "", registry.MediaInfo{}, fmt.Errorf("store media: %w", err)
	}
	return ref, info, nil
}

// ownFiles refuses files of others, unless they were shown: who knows what a file is called here, such as by an address that is good no
// more, does not get it by a run. What a tool itself has as its default is nobody's, or that of whoever made the tool.
func (s *Acceptor) ownFiles(ctx context.Context, b runs.Bound) error {
	for _, f := range b.Tool.InputSchema {
		named := runs.FilesIn(b.Inputs[f.Name])
		if len(named) == 0 || !f.Type.IsMedia() || b.Request.Shown && !writtenDown(b.Sources[f.Name]) {
			continue
		}
		lent := ofTool(b.Tool, f, b.Inputs[f.Name])
		if lent && b.Tool.Owner == "" {
			continue
		}
		foreign, err := assets.Foreign(ctx, s.Config.Pool, b.Request.AccountID, named)
		if err == nil && foreign && lent {
			foreign, err = assets.Foreign(ctx, s.Config.Pool, b.Tool.Owner, named)
		}
		if err != nil {
			return err
		}
		if foreign {
			return registry.Say(registry.CodeInvalidInput, said.FileForeign).At(f.Name)
		}
	}
	return nil
}

// writtenDown reports whether values of a source may name files that nobody was shown: they stood somewhere before.
func writtenDown(source runs.Source) bool {
	return source == runs.FromPreset || source == runs.FromDefault
}
