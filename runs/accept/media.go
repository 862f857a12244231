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

// ownFiles refuses files of others, unless they were shown.
func (s *Acceptor) ownFiles(ctx context.Context, b runs.Bound) error {
	for _, f := range b.Tool.InputSchema {
		if b.Request.Shown && !writtenDown(b.Sources[f.Name]) {
			continue
		}
		if err := s.OwnFiles(ctx, b.Request.AccountID, b.Tool, f, b.Inputs[f.Name]); err != nil {
			return err
		}
	}
	return nil
}

// OwnFiles refuses files of others in the value of an input: who knows what a file is called here, such as by an address that is good no
// more, does not get it by a run. What a tool itself has as its default is nobody's, or that of whoever made the tool.
func (s *Acceptor) OwnFiles(ctx context.Context, accountID string, t registry.Tool, f registry.InputField, value any) error {
	named := runs.FilesIn(value)
	lent := ofTool(t, f, value)
	if len(named) == 0 || !f.Type.IsMedia() || lent && t.Owner == "" {
		return nil
	}
	foreign, err := assets.Foreign(ctx, s.Config.Pool, accountID, named)
	if err == nil && foreign && lent {
		foreign, err = assets.Foreign(ctx, s.Config.Pool, t.Owner, named)
	}
	if err == nil && foreign {
		err = registry.Say(registry.CodeInvalidInput, said.FileForeign).At(f.Name)
	}
	return err
}

// writtenDown reports whether values of a source may name files that nobody was shown: they stood somewhere before.
func writtenDown(source runs.Source) bool {
	return source == runs.FromPreset || source == runs.FromDefault
}
