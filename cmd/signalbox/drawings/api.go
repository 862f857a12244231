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
	"github.com/signalbox/signalbox/users"
)

// API gives drawings over HTTP to those whose they are.
func API(scenes *canvas.Provider, log *slog.Logger) http.Handler {
	info := func(i canvas.Info) sceneapi.Info { return sceneapi.Info(i) }
	return sceneapi.Handler(sceneapi.Config{
		Caller: web.Caller, Logger: log,
		List: func(ctx context.Context, a users.Account) ([]sceneapi.Info, error) {
			found, err := scenes.List(ctx, whose(a))
			list := make([]sceneapi.Info, len(found))
			for i, one := range found {
				list[i] = info(one)
			}
			return list, err
		},
		Get: func(ctx context.Context, a users.Account, sceneID string) (sceneapi.Info, error) {
			one, err := scenes.Info(ctx, whose(a), sceneID)
			return info(one), err
		},
		Picture: func(ctx context.Context, a users.Account, sceneID string, p sceneapi.Picture) ([]byte, string, error) {
			format := draw.Format(p.Format)
			made, err := scenes.Picture(ctx, whose(a), sceneID, draw.Options{Board: p.Board, Format: format, Scale: p.Scale})
			return made.Content, format.MIMEType(), err
		},
		Export: func(ctx context.Context, a users.Account, sceneID string) (json.RawMessage, error) {
			return scenes.Export(ctx, whose(a), sceneID)
		},
		Edit: func(ctx context.Context, a users.Account, sceneID string, body json.RawMessage) (any, error) {
			var e canvas.Edit
			if err := door.DecodeStrictly(body, &e); err != nil {
				return nil, registry.Errorf(registry.CodeInvalidInput, "the body can't be read: %s", door.JSONFault(err))
			}
			done, err := scenes.Edit(ctx, whose(a), sceneID, e)
			if errors.Is(err, canvas.ErrConflict) {
				err = sceneapi.Conflict
			}
			return done, err
		},
	})
}

// whose are the drawings that are there for an account as its key opens it.
func whose(a users.Account) canvas.Whose { return canvas.Whose{Account: a.ID, Maker: a.Runs} }

// Sees tells whose drawings are there for a run with a key. What a key has begun goes on when that ends: as if it saw only what was made by it.
func Sees(people *users.Store) func(ctx context.Context, accountID, budget string) (maker string, err error) {
	return func(ctx context.Context, accountID, budget string) (string, error) {
		if !users.IsKeyBudget(budget) {
			return "", nil
		}
		key, err := people.KeyOfBudget(ctx, accountID, budget)
		if errors.Is(err, users.ErrNotFound) {
			return budget, nil
		}
		return key.Narrow(users.Account{}).Runs, err
	}
}

// Pages gives the pages an account's drawings.
func Pages(drawn *canvas.Provider) scenes.Drawings { return pages{drawn} }

type pages struct{ drawn *canvas.Provider }

// List gives those of an account.
func (p pages) List(ctx context.Context, accountID string) ([]scenes.Info, error) {
	found, err := p.drawn.List(ctx, canvas.Whose{Account: accountID})
	list := make([]scenes.Info, len(found))
	for i, one := range found {
		list[i] = scenes.Info(one)
	}
	return list, err
}

// Get gives one of an account.
func (p pages) Get(ctx context.Context, accountID, id string) (scenes.Info, error) {
	one, err := p.drawn.Info(ctx, canvas.Whose{Account: accountID}, id)
	return scenes.Info(one), err
}
