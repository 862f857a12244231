package drawings

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"

	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/sceneapi"
	"github.com/signalbox/signalbox/platforms/web/scenes"
	"github.com/signalbox/signalbox/providers/canvas"
	"github.com/signalbox/signalbox/providers/canvas/draw"
	"github.com/signalbox/signalbox/registry"
)

// API gives drawings over HTTP to those whose they are.
func API(scenes *canvas.Provider, log *slog.Logger) http.Handler {
	info := func(i canvas.Info) sceneapi.Info { return sceneapi.Info(i) }
	return sceneapi.Handler(sceneapi.Config{
		Caller: web.Caller, Logger: log,
		List: func(ctx context.Context, accountID string) ([]sceneapi.Info, error) {
			found, err := scenes.List(ctx, accountID)
			list := make([]sceneapi.Info, len(found))
			for i, one := range found {
				list[i] = info(one)
			}
			return list, err
		},
		Get: func(ctx context.Context, accountID, sceneID string) (sceneapi.Info, error) {
			one, err := scenes.Info(ctx, accountID, sceneID)
			return info(one), err
		},
		Picture: func(ctx context.Context, accountID, sceneID string, p sceneapi.Picture) ([]byte, string, error) {
			format := draw.Format(p.Format)
			made, err := scenes.Picture(ctx, accountID, sceneID, draw.Options{Board: p.Board, Format: format, Scale: p.Scale})
			return made.Content, format.MIMEType(), err
		},
		Export: func(ctx context.Context, accountID, sceneID string) (json.RawMessage, error) {
			return scenes.Export(ctx, accountID, sceneID)
		},
		Edit: func(ctx context.Context, accountID, sceneID string, body json.RawMessage) (any, error) {
			var e canvas.Edit
			if err := door.DecodeStrictly(body, &e); err != nil {
				return nil, registry.Errorf(registry.CodeInvalidInput, "the body can't be read: %s", door.JSONFault(err))
			}
			done, err := scenes.Edit(ctx, accountID, sceneID, e)
			if errors.Is(err, canvas.ErrConflict) {
				err = sceneapi.Conflict
			}
			return done, err
		},
	})
}

// Pages gives the pages an account's drawings.
func Pages(drawn *canvas.Provider) scenes.Drawings { return pages{drawn} }

type pages struct{ drawn *canvas.Provider }

// List gives those of an account.
func (p pages) List(ctx context.Context, accountID string) ([]scenes.Info, error) {
	found, err := p.drawn.List(ctx, accountID)
	list := make([]scenes.Info, len(found))
	for i, one := range found {
		list[i] = scenes.Info(one)
	}
	return list, err
}

// Get gives one of an account.
func (p pages) Get(ctx context.Context, accountID, id string) (scenes.Info, error) {
	one, err := p.drawn.Info(ctx, accountID, id)
	return scenes.Info(one), err
}
