package media

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/signalbox/signalbox/cmd/signalbox/settings"
	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/assets/bucket"
	"github.com/signalbox/signalbox/internal/errs"
)

// FileStores are where files may be: the folder of DATA_DIR is always there, the bucket where one is set.
type FileStores struct {
	Folder *assets.Folder
	Bucket *bucket.Bucket // nil: none
}

// OpenPlaces opens the folder, and the bucket of store if that names one.
func OpenPlaces(ctx context.Context, dataDir string, store settings.Store) (p FileStores, err error) {
	if p.Folder, err = assets.OpenFolder(filepath.Join(dataDir, "assets")); err != nil {
		return p, fmt.Errorf("DATA_DIR: %w", err)
	}
	if store.Endpoint == nil {
		return p, nil
	}
	p.Bucket, err = bucket.Open(ctx, bucket.Config{
		Endpoint: store.Endpoint, PublicEndpoint: store.PublicEndpoint, Bucket: store.Bucket, Region: store.Region,
		AccessKeyID: store.AccessKeyID, SecretAccessKey: store.SecretAccessKey, Staging: p.Folder,
	})
	return p, errs.Wrap(err, "S3_ENDPOINT")
}

// Now is the place of new files. With a bucket, those that are still in the folder are read there.
func (p FileStores) Now() assets.Backend {
	if p.Bucket == nil {
		return p.Folder
	}
	return assets.Both{First: p.Bucket, Second: p.Folder}
}
