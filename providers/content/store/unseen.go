package store

import (
	"context"
	"fmt"
)

// ToSee gives an image that a model is to look at, by its id in the table site_image_looks, with its site. The error wraps
// ErrNotFound where there is none any more.
func (s *Store) ToSee(ctx context.Context, look string) (site Site, id string, err error) {
	row, err := first[struct {
		Site string `db:"slug"`
		Hash string `db:"hash"`
	}](ctx, s.pool, `SELECT s.slug, l.hash FROM site_image_looks l JOIN sites s ON s.id = l.site_id WHERE l.id = $1`, look)
	if err == nil {
		site, err = s.Site(ctx, row.Site)
	}
	if err != nil {
		return Site{}, "", fmt.Errorf("find an image to look at: %w", err)
	}
	return site, assetScheme + row.Hash, nil
}
