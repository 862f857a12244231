package main

import (
	"context"
	"net/http"

	"github.com/signalbox/signalbox/internal/seal"
	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/platforms/web/toolapi"
	"github.com/signalbox/signalbox/providers/remote"
)

// newRemote makes the remote tools: those of the operator's file and, where there is a database, those that are
// registered at run time.
func (a *app) newRemote(guard *http.Client) (*remote.Provider, error) {
	c := remote.Config{File: a.cfg.ToolManifest, Store: a.templates, Guard: guard, SiteID: a.siteID(), Logger: a.log.With("component", "remote tools")}
	if a.db != nil {
		key, err := a.keyFor("headers of remote tools")
		if err != nil {
			return nil, err
		}
		if c.Seal, err = seal.New(key); err != nil {
			return nil, err
		}
		c.Pool = a.db.Pool
	}
	return remote.New(c), nil
}

// newToolAPI is how tools are registered at run time.
func (a *app) newToolAPI() http.Handler {
	return toolapi.Handler(toolapi.Config{
		Registry: a.registry, Loader: remote.LoaderName, Service: remote.Service, Caller: web.Caller, Remove: a.remote.Remove,
		Register: func(ctx context.Context, raw []byte, by string) (toolapi.Registration, error) {
			done, err := a.remote.Register(ctx, raw, by)
			return toolapi.Registration(done), err
		},
		Logger: a.log.With("component", "remote tools"),
	})
}
