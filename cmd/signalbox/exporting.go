package main

import (
	"context"

	"github.com/signalbox/signalbox/cmd/signalbox/accounts"
	"github.com/signalbox/signalbox/cmd/signalbox/media"
	"github.com/signalbox/signalbox/exports"
	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/platforms/web/account"
)

// maxArchive bounds the archive of everything that an account has, in bytes.
const maxArchive = 256 << 30

// startExports makes the archives that people ask for.
func (a *app) startExports(ctx context.Context) error {
	texts, err := i18n.Load()
	if err != nil {
		return err
	}
	places, err := media.OpenPlaces(ctx, a.cfg.DataDir, a.cfg.Store)
	if err != nil {
		return err
	}
	a.exports, err = exports.New(exports.Config{
		Pool: a.db.Pool, Files: assets.New(a.db.Pool, places.Now(), maxArchive), Parts: accounts.Parts(),
		Address: func(id string) string { return a.address(account.ExportPath + id) },
		Tell:    func(ctx context.Context, e exports.Export) error { return a.tellExported(ctx, texts, e) },
		Logger:  a.log,
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

// tellExported tells somebody that their archive is ready, or that there is none.
func (a *app) tellExported(ctx context.Context, texts *i18n.Catalogue, e exports.Export) error {
	voice := texts.Voice(a.languageOf(ctx, e.AccountID))
	if e.State != exports.Ready {
		return a.tellPerson(ctx, e.AccountID, voice.Line("export.failed"))
	}
	return a.tellPerson(ctx, e.AccountID, voice.Line("export.ready", "size", assets.Words(e.Bytes), "link", e.Address, "until", voice.Moment(*e.ExpiresAt)))
}
