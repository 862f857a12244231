package main

import (
	"context"

	"github.com/signalbox/signalbox/cmd/signalbox/accounts"
	"github.com/signalbox/signalbox/cmd/signalbox/media"
	"github.com/signalbox/signalbox/exports"
	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/platforms/web/account"
)

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
