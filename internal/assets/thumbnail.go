package assets

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/image/draw"
	"golang.org/x/image/webp"

	"github.com/signalbox/signalbox/internal/metadata"
)

// ErrNoThumbnail is wrapped by Thumbnail for content of which none can be made: it is no picture, or too large a one.
var ErrNoThumbnail = errors.New("there is no thumbnail of this")

// maxThumbnailPixels bounds the pictures that are decoded for a thumbnail, maxThumbnailBytes their files.
const (
	maxThumbnailPixels = 64 << 20
	maxThumbnailBytes  = 64 << 20
)

// drawing bounds how many thumbnails are made at a time in this process.
type drawing chan struct{}

// Thumbnails makes small versions of pictures, once each, and keeps them with the original.
type Thumbnails struct {
	pool  *pgxpool.Pool
	slots drawing
}

// NewThumbnails returns Thumbnails that draws two at a time.
func NewThumbnails(pool *pgxpool.Pool) *Thumbnails {
	return &Thumbnails{pool, make(drawing, 2)}
}

// Shown is Get for a place where anybody may look, such as a site: of a picture that was taken down there is none.
func (t *Thumbnails) Shown(ctx context.Context, ref Ref, side int, open func(context.Context) (io.ReadCloser, error)) (mime string, content []byte, err error) {
	hidden, err := Hidden(ctx, t.pool, ref)
	if err == nil && hidden {
		err = fmt.Errorf("%s was taken down", ref)
	}
	if err != nil {
		return "", nil, err
	}
	return t.Get(ctx, ref, side, open)
}

// Get gives a picture that fits into a square of so many pixels, and its type. open gives the original.
func (t *Thumbnails) Get(ctx context.Context, ref Ref, side int, open func(context.Context) (io.ReadCloser, error)) (mime string, content []byte, err error) {
	err = t.pool.QueryRow(ctx, `SELECT mime, content FROM asset_thumbnails WHERE hash = $1 AND side = $2`, ref.Hash(), side).Scan(&mime, &content)
	if err == nil {
		return mime, content, nil
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return "", nil, fmt.Errorf("thumbnail of %s: %w", ref, err)
	}
	select {
	case t.slots <- struct{}{}:
		defer func() { <-t.slots }()
	case <-ctx.Done():
		return "", nil, context.Cause(ctx)
	}
	original, err := open(ctx)
	if err != nil {
		return "", nil, err
	}
	defer original.Close()
	if mime, content, err = Shrink(original, side); err != nil {
		return "", nil, fmt.Errorf("thumbnail of %s: %w", ref, err)
	}
	_, err = t.pool.Exec(ctx, `
		INSERT INTO asset_thumbnails (hash, side, mime, content) SELECT hash, $2, $3, $4 FROM assets WHERE hash = $1 FOR KEY SHARE
		ON CONFLICT DO NOTHING`, ref.Hash(), side, mime, content)
	if err != nil {
		return "", nil, fmt.Errorf("keep the thumbnail of %s: %w", ref, err)
	}
	return mime, content, nil
}

// Shrink draws a picture into a square of so many pixels: with transparency as PNG, else as JPEG. The first picture of an
// animation stands for it.
func Shrink(original io.Reader, side int) (mime string, content []byte, err error) {
	file, err := io.ReadAll(io.LimitReader(original, maxThumbnailBytes+1))
	if err != nil {
		return "", nil, err
	}
	img, err := decodeSmall(file)
	if err != nil {
		return "", nil, err
	}
	size := img.Bounds().Size()
	width, height := side, side
	if size.X > size.Y {
		height = max(1, side*size.Y/size.X)
	} else {
		width = max(1, side*size.X/size.Y)
	}
	if size.X <= side && size.Y <= side {
		width, height = size.X, size.Y
	}
	small := image.NewNRGBA(image.Rect(0, 0, width, height))
	draw.ApproxBiLinear.Scale(small, small.Bounds(), img, img.Bounds(), draw.Src, nil)
	turned := metadata.Turn(small, metadata.Orientation(file))
	var out bytes.Buffer
	if turned.Opaque() {
		err = jpeg.Encode(&out, turned, &jpeg.Options{Quality: 82})
		return "image/jpeg", out.Bytes(), err
	}
	err = png.Encode(&out, turned)
	return "image/png", out.Bytes(), err
}

func decodeSmall(file []byte) (image.Image, error) {
	if len(file) > maxThumbnailBytes {
		return nil, fmt.Errorf("%w: the file is too large", ErrNoThumbnail)
	}
	found, err := sniff(bytes.NewReader(file))
	if err != nil || found.width == 0 || int64(found.width)*int64(found.height) > maxThumbnailPixels {
		return nil, fmt.Errorf("%w: %s of %d x %d pixels", ErrNoThumbnail, found.mime, found.width, found.height)
	}
	decode := map[string]func(io.Reader) (image.Image, error){
		"image/png": png.Decode, "image/apng": png.Decode, "image/jpeg": jpeg.Decode, "image/gif": gif.Decode, "image/webp": webp.Decode,
	}[found.mime]
	if decode == nil {
		return nil, fmt.Errorf("%w: it is %s", ErrNoThumbnail, found.mime)
	}
	img, err := decode(bufio.NewReader(bytes.NewReader(file)))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoThumbnail, err)
	}
	return img, nil
}
