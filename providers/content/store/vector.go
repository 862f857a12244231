package store

import (
	"context"
	"strings"

	"github.com/signalbox/signalbox/internal/errs"
)

// ImageVector is what an image shows, as a model sees it.
type ImageVector struct {
	Image  string    `db:"image"` // its id
	About  string    `db:"about"` // what the vector was made of
	Vector []float32 `db:"vector"`
}

// ImageVectors lists the vectors of a site's images that a model made.
func (c Content) ImageVectors(ctx context.Context, model string) ([]ImageVector, error) {
	vectors, err := list[ImageVector](ctx, c.pool, `SELECT 'asset:' || hash AS image, about, vector FROM site_image_vectors WHERE site_id = $1 AND model = $2`, c.site, model)
	return vectors, errs.Wrap(err, "vectors of images")
}

// PutImageVector keeps what a model made of an image in place of any other vector of it. An image that has gone needs none.
func (c Content) PutImageVector(ctx context.Context, model string, v ImageVector) error {
	_, err := c.pool.Exec(ctx, `
		INSERT INTO site_image_vectors (site_id, hash, model, about, vector) SELECT site_id, hash, $3, $4, $5 FROM site_images WHERE site_id = $1 AND hash = $2
		ON CONFLICT (site_id, hash) DO UPDATE SET model = excluded.model, about = excluded.about, vector = excluded.vector`,
		c.site, strings.TrimPrefix(v.Image, assetScheme), model, v.About, v.Vector)
	return errs.Wrap(err, "keep the vector of an image")
}
