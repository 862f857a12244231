package main

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"github.com/signalbox/signalbox/cmd/signalbox/drawings"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/platforms/web/penpot"
	"github.com/signalbox/signalbox/providers/canvas"
	"github.com/signalbox/signalbox/providers/canvas/typeset"
	"github.com/signalbox/signalbox/providers/imagegen"
	"github.com/signalbox/signalbox/registry"
)

// newCanvas makes the drawing tools. Their pictures from words are those of the image services, where one is connected.
func (a *app) newCanvas(pictures *imagegen.Provider) (*canvas.Provider, error) {
	a.penpot = penpot.NewHub()
	var paints canvas.Painter = canvas.Abstract{}
	if tools, err := pictures.Load(context.Background()); err == nil && len(tools) > 0 {
		paints = drawings.NewPainter(pictures, tools[0])
	}
	texts, err := i18n.Load()
	if err != nil {
		return nil, err
	}
	return canvas.New(canvas.Config{
		Say: func(ctx context.Context, accountID, key string) string {
			account, err := a.users.ByID(ctx, accountID)
			if err != nil {
				account.Language = "en"
			}
			return texts.Voice(account.Language).Line(key)
		},
		Address: func(path string) string {
			if a.cfg.Public == nil {
				return ""
			}
			return strings.TrimSuffix(a.cfg.Public.String(), "/") + path
		},
		Pool: a.db.Pool, Fonts: typeset.New(typeset.Config{CacheDir: filepath.Join(a.cfg.DataDir, "fonts")}), Media: a.media, Painter: paints,
		Keep: func(ctx context.Context, accountID string, content io.Reader, name string) (registry.Media, error) {
			ref, _, err := a.runs.PutMedia(ctx, accountID, content, name)
			return ref, err
		},
		Sees:  drawings.Sees(a.users),
		Owned: a.owned,
		User: func(ctx context.Context, accountID string) (canvas.Person, error) {
			account, err := a.users.ByID(ctx, accountID)
			return canvas.Person{ID: account.ID, Name: account.DisplayName}, err
		},
		Penpot: a.penpot.Ask, Logger: a.log.With("component", "drawings"),
	})
}
