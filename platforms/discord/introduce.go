package discord

import (
	"context"
	"net/http"

	"github.com/signalbox/signalbox/platforms/chat"
)

var _ chat.Introducer = (*Adapter)(nil)

// Introduce sets the description on the bot's profile, which Discord has in one language only, where there is none yet.
func (a *Adapter) Introduce(ctx context.Context, texts []chat.Introduction) error {
	if len(texts) == 0 {
		return nil
	}
	app, err := a.client.Application(ctx)
	if err != nil || app.Description != "" {
		return err
	}
	return a.client.do(ctx, call{
		method: http.MethodPatch, path: "/applications/@me", route: "/applications/@me", repeatable: true,
		body: map[string]string{"description": texts[0].Long},
	}, nil)
}
