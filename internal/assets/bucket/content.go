package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"

	"github.com/minio/minio-go/v7"

	"github.com/signalbox/signalbox/internal/assets"
)

// Open implements assets.Backend. Content that can be linked to is a Linked.
func (b *Bucket) Open(ctx context.Context, hash string) (assets.Content, error) {
	info, err := b.stat(ctx, hash)
	if err != nil {
		return nil, err
	}
	c := &content{ctx: ctx, bucket: b, name: folder + hash, tag: info.ETag, size: info.Size}
	if b.public != nil {
		return linked{c}, nil
	}
	return c, nil
}

// content reads an object where it is asked for, and goes on where a connection broke off.
type content struct {
	ctx    context.Context // of who opened it
	bucket *Bucket
	name   string
	tag    string
	size   int64
	offset int64         // of the next byte
	body   io.ReadCloser // from offset on; nil: none is open
	closed bool
}

// Read implements io.Reader.
func (c *content) Read(p []byte) (int, error) {
	if c.closed {
		return 0, os.ErrClosed
	}
	var broken error
	for range attempts {
		if c.offset >= c.size {
			return 0, io.EOF
		}
		if err := c.open(); err != nil {
			return 0, fmt.Errorf("%s in bucket %q: %w", c.name, c.bucket.cfg.Bucket, err)
		}
		n, err := c.body.Read(p)
		c.offset += int64(n)
		if err != nil {
			c.drop()
		}
		if n > 0 || len(p) == 0 {
			return n, nil
		}
		if err := c.ctx.Err(); err != nil {
			return 0, err
		}
		broken = err
	}
	if errors.Is(broken, io.EOF) || broken == nil {
		broken = io.ErrUnexpectedEOF
	}
	return 0, fmt.Errorf("%s in bucket %q: at byte %d of %d: %w", c.name, c.bucket.cfg.Bucket, c.offset, c.size, broken)
}

// open asks for the rest of the object, of the same version.
func (c *content) open() error {
	if c.body != nil {
		return nil
	}
	var o minio.GetObjectOptions
	if err := o.SetMatchETag(c.tag); err != nil {
		return err
	}
	if c.offset > 0 {
		if err := o.SetRange(c.offset, c.size-1); err != nil {
			return err
		}
	}
	body, _, _, err := c.bucket.store.GetObject(c.ctx, c.bucket.cfg.Bucket, c.name, o)
	if minio.ToErrorResponse(err).StatusCode == http.StatusNotFound {
		return assets.ErrNotFound
	}
	if err == nil {
		c.body = body
	}
	return err
}

func (c *content) drop() {
	if c.body != nil {
		c.body.Close()
		c.body = nil
	}
}

// Seek implements io.Seeker. Nothing is asked for before the next Read.
func (c *content) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += c.offset
	case io.SeekEnd:
		offset += c.size
	}
	if offset < 0 {
		return 0, fmt.Errorf("seek to %d: it is before the start", offset)
	}
	if offset != c.offset {
		c.drop()
	}
	c.offset = offset
	return offset, nil
}

// Close implements io.Closer.
func (c *content) Close() error {
	c.drop()
	c.closed = true
	return nil
}

// linked is content with an address of its own at the store.
type linked struct{ *content }

var _ assets.Linked = linked{}

// Link implements assets.Linked.
func (l linked) Link(ctx context.Context, as assets.Served) (string, error) {
	query := url.Values{"response-content-type": {as.MIME}, "response-cache-control": {as.CacheControl}}
	life := playLife
	if as.Disposition != "" {
		life = saveLife
		query.Set("response-content-disposition", as.Disposition)
	}
	b := l.bucket
	address, err := b.public.PresignedGetObject(ctx, b.cfg.Bucket, l.name, life, query)
	if err != nil {
		return "", fmt.Errorf("sign the address of %s: %w", l.name, err)
	}
	return address.String(), nil
}
