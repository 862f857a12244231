package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/signalbox/signalbox/cmd/signalbox/backup"
	"github.com/signalbox/signalbox/cmd/signalbox/config"
	"github.com/signalbox/signalbox/cmd/signalbox/database"
	"github.com/signalbox/signalbox/cmd/signalbox/logs"
	"github.com/signalbox/signalbox/cmd/signalbox/media"
)

type backupCommand struct {
	Dir string `arg:"" help:"A new folder. It gets all that the house knows, secrets of people among it: keep it as you keep DATA_DIR."`
}

// Run backs up the house, which may be running.
func (c backupCommand) Run(e env) error {
	return withHouse(e, func(ctx context.Context, h backup.House) error {
		m, err := backup.Write(ctx, h, c.Dir)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(e.stdout, "%d tables and %d files are in %s.\n", len(m.Tables), m.Files, c.Dir)
		return err
	})
}

type restoreCommand struct {
	Dir string `arg:"" help:"The folder of a backup."`
}

// Run brings a backup into an unused house.
func (c restoreCommand) Run(e env) error {
	return withHouse(e, func(ctx context.Context, h backup.House) error {
		m, err := backup.Read(ctx, h, c.Dir)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(e.stdout, "The house of %s is back: %d tables, %d files.\n", m.Made.Format("2006-01-02 15:04:05 UTC"), len(m.Tables), m.Files)
		return err
	})
}

// withHouse opens the database, with the schema left as it is, and the files.
func withHouse(e env, do func(context.Context, backup.House) error) error {
	return openFor(e, func(ctx context.Context, c config.Config, db *database.DB, log *slog.Logger) error {
		places, err := media.OpenPlaces(ctx, c.DataDir, c.Store)
		if err != nil {
			return err
		}
		return do(ctx, backup.House{Pool: db.Pool, Files: places.Now(), DataDir: c.DataDir, Key: c.Key, Logger: logs.Quiet(log)})
	})
}
