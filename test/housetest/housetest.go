// Package housetest has what the fixtures of whole houses share: files, people with credit, and running runs.
package housetest

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/runner"
	"github.com/signalbox/signalbox/users"
)

// Runs starts the runs of a house, which are stopped with the test.
func Runs(t testing.TB, cfg runs.Config) *runner.Service {
	t.Helper()
	service, err := runner.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	Begin(t, service)
	return service
}

// Begin starts a part of a house, which is stopped with the test.
func Begin(t testing.TB, part interface {
	Start(context.Context) error
	Stop(context.Context) error
}) {
	t.Helper()
	if err := part.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		if err := part.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
}

// Welcome gives each new account a wallet with credit, for OnCreate of users.Config.
func Welcome(ledger *billing.Ledger, credit billing.NanoUSD) func(context.Context, pgx.Tx, users.Account) error {
	return func(ctx context.Context, tx pgx.Tx, a users.Account) error {
		if err := ledger.EnsureWallet(ctx, tx, a.ID); err != nil {
			return err
		}
		return ledger.Grant(ctx, tx, a.ID, credit, "signup:"+a.ID, "sign-up credit")
	}
}

// Files are stored files as runs and content know them: by reference.
type Files struct{ *assets.Store }

// NewFiles gives files in a folder that goes with the test.
func NewFiles(t testing.TB, pool *pgxpool.Pool) Files {
	t.Helper()
	folder, err := assets.OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return Files{assets.New(pool, folder, 0)}
}

// Collect frees the files that nobody has any more.
func (f Files) Collect(ctx context.Context) error {
	_, err := f.Store.Collect(ctx)
	return err
}

// Keep stores a file.
func (f Files) Keep(ctx context.Context, r io.Reader, meta assets.Meta) (registry.Media, registry.MediaInfo, error) {
	ref, err := f.Store.Put(ctx, r, meta)
	if err != nil {
		return "", registry.MediaInfo{}, err
	}
	info, err := f.info(ctx, ref)
	info.Name = meta.Name
	return string(ref), info, err
}

// Put stores a file that is no account's.
func (f Files) Put(ctx context.Context, r io.Reader, name string) (registry.Media, registry.MediaInfo, error) {
	return f.Keep(ctx, r, assets.Meta{Name: name})
}

// OpenMedia opens a stored file.
func (f Files) OpenMedia(ctx context.Context, media registry.Media) (io.ReadCloser, registry.MediaInfo, error) {
	ref, err := assets.ParseRef(media)
	if err != nil {
		return nil, registry.MediaInfo{}, err
	}
	info, err := f.info(ctx, ref)
	if err != nil {
		return nil, registry.MediaInfo{}, err
	}
	content, err := f.Open(ctx, ref)
	return content, info, err
}

func (f Files) info(ctx context.Context, ref assets.Ref) (registry.MediaInfo, error) {
	i, err := f.Stat(ctx, ref)
	return registry.MediaInfo{Name: i.Name, MIMEType: i.MIME, Bytes: i.Size, Width: i.Width, Height: i.Height}, err
}
