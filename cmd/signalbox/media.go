package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/registry"
)

// maxFetched bounds a file that is fetched from an address in an input.
const maxFetched = 64 << 20

// mediaStore joins the two kinds of media references: stored files, and web addresses, which are fetched
// through the guard.
type mediaStore struct {
	assets *assets.Store
	client *http.Client
}

// Put stores a file of the house.
func (m mediaStore) Put(ctx context.Context, r io.Reader, name string) (registry.Media, registry.MediaInfo, error) {
	return m.Keep(ctx, r, assets.Meta{Name: name})
}

// Keep stores a file of an account. What a run made loses the texts in its metadata, unless the operator keeps them.
func (m mediaStore) Keep(ctx context.Context, r io.Reader, meta assets.Meta) (registry.Media, registry.MediaInfo, error) {
	ref, err := m.assets.Put(ctx, r, meta)
	if err != nil {
		return "", registry.MediaInfo{}, err
	}
	info, err := m.assets.Stat(ctx, ref)
	if err != nil {
		return "", registry.MediaInfo{}, err
	}
	return string(ref), mediaInfo(info, meta.Name), nil
}

// Collect frees the files that no account has any more.
func (m mediaStore) Collect(ctx context.Context) error {
	_, err := m.assets.Collect(ctx)
	return err
}

// OpenMedia opens a stored file or fetches an address.
func (m mediaStore) OpenMedia(ctx context.Context, ref registry.Media) (io.ReadCloser, registry.MediaInfo, error) {
	if strings.HasPrefix(ref, "http://") || strings.HasPrefix(ref, "https://") {
		return m.fetch(ctx, ref)
	}
	parsed, err := assets.ParseRef(ref)
	if err != nil {
		return nil, registry.MediaInfo{}, err
	}
	info, err := m.assets.Stat(ctx, parsed)
	if err != nil {
		return nil, registry.MediaInfo{}, err
	}
	content, err := m.assets.Open(ctx, parsed)
	if err != nil {
		return nil, registry.MediaInfo{}, err
	}
	return content, mediaInfo(info, info.Name), nil
}

func (m mediaStore) fetch(ctx context.Context, address string) (io.ReadCloser, registry.MediaInfo, error) {
	body, header, err := outbound.Get(ctx, m.client, address, maxFetched)
	if err != nil {
		return nil, registry.MediaInfo{}, fmt.Errorf("fetching the file: %w", err)
	}
	info := registry.MediaInfo{MIMEType: header.Get("Content-Type")}
	if u, err := url.Parse(address); err == nil {
		info.Name = path.Base(u.Path)
	}
	return body, info, nil
}

func mediaInfo(i assets.Info, name string) registry.MediaInfo {
	return registry.MediaInfo{Name: name, MIMEType: i.MIME, Bytes: i.Size, Width: i.Width, Height: i.Height}
}
