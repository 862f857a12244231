// Package bucket keeps assets in a bucket of an object store that speaks S3, for houses of several machines.
package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/errs"
)

const (
	// folder begins the names of our objects, so that a bucket can hold other things, too.
	folder = "assets/"
	// partSize is from where on content travels in parts, which are repeated one by one, and how large these are.
	partSize = 16 << 20
	// attempts is how often a request is made in all: stores answer "slow down" and break off as a matter of course.
	attempts = 5
	// silence is how long a connection may stand still.
	silence = 30 * time.Second
	// playLife is how long an address at the store works, since a video asks there again and again while it plays; saveLife is that of one for
	// saving, which is followed at once: it works on after its owner has signed out, or the file was taken down.
	playLife, saveLife = time.Hour, 5 * time.Minute
)

// Config says where the bucket is. All but PublicEndpoint is required.
type Config struct {
	Endpoint        *url.URL // http or https, host and perhaps port
	PublicEndpoint  *url.URL // where browsers reach the store; nil: they do not, and content goes through us
	Bucket, Region  string
	AccessKeyID     string
	SecretAccessKey string
	Staging         *assets.Folder // where content waits until its hash is known
}

// Bucket is an assets.Backend. Make it with Open.
type Bucket struct {
	cfg    Config
	store  minio.Core
	public *minio.Client // only signs; nil without PublicEndpoint
}

var _ assets.Backend = (*Bucket)(nil)

// Open returns the Backend after asking the store for the bucket.
func Open(ctx context.Context, cfg Config) (*Bucket, error) {
	b := &Bucket{cfg: cfg}
	client, err := newClient(cfg, cfg.Endpoint)
	if err != nil {
		return nil, fmt.Errorf("store of files at %s: %w", cfg.Endpoint.Host, err)
	}
	b.store = minio.Core{Client: client}
	if cfg.PublicEndpoint != nil {
		if b.public, err = newClient(cfg, cfg.PublicEndpoint); err != nil {
			return nil, fmt.Errorf("store of files at %s: %w", cfg.PublicEndpoint.Host, err)
		}
	}
	there, err := client.BucketExists(ctx, cfg.Bucket)
	if minio.ToErrorResponse(err).StatusCode == http.StatusForbidden {
		return nil, fmt.Errorf("bucket %q at %s: the store refuses the key; check S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY, S3_REGION and what the key may do", cfg.Bucket, cfg.Endpoint.Host)
	}
	if err != nil {
		return nil, fmt.Errorf("bucket %q at %s: %w", cfg.Bucket, cfg.Endpoint.Host, err)
	}
	if !there {
		return nil, fmt.Errorf("bucket %q at %s: there is none; make it, or name another in S3_BUCKET", cfg.Bucket, cfg.Endpoint.Host)
	}
	return b, nil
}

func newClient(cfg Config, endpoint *url.URL) (*minio.Client, error) {
	return minio.New(endpoint.Host, &minio.Options{
		Creds:  credentials.NewStaticV4(cfg.AccessKeyID, cfg.SecretAccessKey, ""),
		Secure: endpoint.Scheme == "https", Region: cfg.Region,
		Transport: transport(silence), MaxRetries: attempts,
	})
}

// Stage implements assets.Backend: content waits in a local file.
func (b *Bucket) Stage(ctx context.Context) (assets.Staged, error) {
	file, err := b.cfg.Staging.Stage(ctx)
	if err != nil {
		return nil, err
	}
	return staged{file, b}, nil
}

// stat asks for the size and tag of a hash's content.
func (b *Bucket) stat(ctx context.Context, hash string) (minio.ObjectInfo, error) {
	if _, err := assets.ParseRef("asset:" + hash); err != nil {
		return minio.ObjectInfo{}, fmt.Errorf("%.80q: %w", hash, assets.ErrNotFound)
	}
	info, err := b.store.StatObject(ctx, b.cfg.Bucket, folder+hash, minio.StatObjectOptions{})
	if minio.ToErrorResponse(err).StatusCode == http.StatusNotFound {
		err = assets.ErrNotFound
	}
	return info, errs.Wrap(err, "asset:%s in bucket %q", hash, b.cfg.Bucket)
}

// Delete implements assets.Backend.
func (b *Bucket) Delete(ctx context.Context, hash string) error {
	if _, err := assets.ParseRef("asset:" + hash); err != nil {
		return nil
	}
	err := b.store.RemoveObject(ctx, b.cfg.Bucket, folder+hash, minio.RemoveObjectOptions{})
	return errs.Wrap(err, "delete asset:%s in bucket %q", hash, b.cfg.Bucket)
}

// staged is content in a local file.
type staged struct {
	assets.Staged
	bucket *Bucket
}

// Commit implements assets.Staged. The store shows an object when it has all of it, and checks it by its hash or that of its parts.
func (s staged) Commit(ctx context.Context, hash string) error {
	size, err := s.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	info, err := s.bucket.stat(ctx, hash)
	if err == nil && info.Size == size {
		return nil // objects are whole, so it is this content
	}
	if err != nil && !errors.Is(err, assets.ErrNotFound) {
		return err
	}
	if _, err := s.Seek(0, io.SeekStart); err != nil {
		return err
	}
	b, o := s.bucket, minio.PutObjectOptions{DisableContentSha256: true, PartSize: partSize}
	if size > partSize {
		o.SendContentMd5 = true
		_, err = b.store.Client.PutObject(ctx, b.cfg.Bucket, folder+hash, s.Staged, size, o)
	} else {
		_, err = b.store.PutObject(ctx, b.cfg.Bucket, folder+hash, s.Staged, size, "", hash, o)
	}
	return errs.Wrap(err, "bucket %q", b.cfg.Bucket)
}
