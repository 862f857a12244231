// Package media gives runs and tools the house's files by reference: stored ones and web addresses.
package media

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

// Store joins the two kinds of media references: stored files, and web addresses, which are fetched
// through the guard.
type Store struct {
	Assets *assets.Store
	Client *http.Client // fetches addresses that people gave
}

// Keep stores a file of an account. What a run made loses the texts in its metadata, unless the operator keeps them.
func (m Store) Keep(ctx context.Context, r io.Reader, meta assets.Meta) (registry.Media, registry.MediaInfo, error) {
	ref, err := m.Assets.Put(ctx, r, meta)
	if err != nil {
		return "", registry.MediaInfo{}, err
	}
	info, err := m.Assets.Stat(ctx, ref)
	if err != nil {
		return "", registry.MediaInfo{}, err
	}
	return string(ref), infoOf(info, meta.Name), nil
}

// Collect frees the files that no account has any more.
func (m Store) Collect(ctx context.Context) error {
	_, err := m.Assets.Collect(ctx)
	return err
}

// OpenMedia opens a stored file or fetches an address.
func (m Store) OpenMedia(ctx context.Context, ref registry.Media) (io.ReadCloser, registry.MediaInfo, error) {
	if strings.HasPrefix(ref, "http://") || strings.HasPrefix(ref, "https://") {
		return m.fetch(ctx, ref)
	}
	parsed, err := assets.ParseRef(ref)
	if err != nil {
		return nil, registry.MediaInfo{}, err
	}
	info, err := m.Assets.Stat(ctx, parsed)
	if err != nil {
		return nil, registry.MediaInfo{}, err
	}
	content, err := m.Assets.Open(ctx, parsed)
	if err != nil {
		return nil, registry.MediaInfo{}, err
	}
	return content, infoOf(info, info.Name), nil
}

func (m Store) fetch(ctx context.Context, address string) (io.ReadCloser, registry.MediaInfo, error) {
	body, header, err := outbound.Get(ctx, m.Client, address, maxFetched)
	if err != nil {
		return nil, registry.MediaInfo{}, fmt.Errorf("fetching the file: %w", err)
	}
	info := registry.MediaInfo{MIMEType: header.Get("Content-Type")}
	if u, err := url.Parse(address); err == nil {
		info.Name = path.Base(u.Path)
	}
	return body, info, nil
}

func infoOf(i assets.Info, name string) registry.MediaInfo {
	return registry.MediaInfo{Name: name, MIMEType: i.MIME, Bytes: i.Size, Width: i.Width, Height: i.Height}
}
