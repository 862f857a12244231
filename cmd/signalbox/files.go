package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/signalbox/signalbox/cmd/signalbox/accounts"
	"github.com/signalbox/signalbox/cmd/signalbox/config"
	"github.com/signalbox/signalbox/cmd/signalbox/database"
	"github.com/signalbox/signalbox/cmd/signalbox/media"
	"github.com/signalbox/signalbox/exports"
	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/platforms/web/account"
)

type filesCommand struct {
	Move filesMoveCommand `cmd:"" help:"Move all files to the bucket of S3_BUCKET, or back to the folder in DATA_DIR. It may be broken off and called again."`
}

type filesMoveCommand struct {
	To string `arg:"" enum:"bucket,folder" help:"bucket or folder."`
}

// Run moves all files, and fails where some are in neither place.
func (c filesMoveCommand) Run(e env) error {
	return withDatabase(e, func(ctx context.Context, cfg config.Config, db *database.DB, _ *slog.Logger) error {
		places, err := media.OpenPlaces(ctx, cfg.DataDir, cfg.Store)
		if err != nil {
			return err
		}
		if places.Bucket == nil {
			return errors.New("S3_ENDPOINT: found nothing, expected the store that files are moved to or from")
		}
		var from, to assets.Backend = places.Folder, places.Bucket
		if c.To == "folder" {
			from, to = to, from
		}
		done, err := assets.MoveAll(ctx, db.Pool, from, to)
		fmt.Fprintf(e.stdout, "%d files were moved to the %s (%s), %d were there already.\n", done.Moved.Files, c.To, assets.Words(done.Moved.Bytes), done.There)
		if err != nil {
			return fmt.Errorf("%w; what was moved stays moved: call it again", err)
		}
		for _, hash := range done.Missing {
			fmt.Fprintf(e.stderr, "asset:%s is in neither place\n", hash)
		}
		if n := len(done.Missing); n > 0 {
			return fmt.Errorf("%d files are in neither place: on another machine's DATA_DIR, or only in a backup", n)
		}
		return nil
	})
}

// maxArchive bounds the archive of everything that an account has, in bytes.
const maxArchive = 256 << 30

// startExports makes the archives that people ask for.
func (a *app) startExports(ctx context.Context) error {
	places, err := media.OpenPlaces(ctx, a.cfg.DataDir, a.cfg.Store)
	if err != nil {
		return err
	}
	a.exports, err = exports.New(exports.Config{
		Pool: a.db.Pool, Files: assets.New(a.db.Pool, places.Now(), maxArchive), Parts: accounts.Parts(),
		Address: func(id string) string { return a.address(account.ExportPath + id) },
		Tell:    a.chat.tell.Export,
		Logger:  a.log, Now: a.clock.Now,
	})
	if err != nil {
		return err
	}
	if err := a.exports.Start(ctx); err != nil {
		return err
	}
	a.OnStop("exports", a.exports.Stop)
	return nil
}
