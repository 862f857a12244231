package discord

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/signalbox/signalbox/platforms/discord/gateway"
)

// listen takes events until ctx ends, and then returns nil, or until Discord refuses a connection for good.
func (a *Adapter) listen(ctx context.Context) error {
	if a.shards.Off {
		<-ctx.Done()
		return nil
	}
	info, err := a.findGateway(ctx)
	if err != nil || ctx.Err() != nil {
		return err
	}
	cfg := gateway.Config{
		Token: a.client.token.text, Shards: a.shards, Clock: a.clock, Jitter: a.jitter, Log: a.log, Sessions: a.storage,
		Connected: func(change int32) { a.connected.Add(change) }, Event: a.event,
	}
	if a.divide != nil {
		cfg.Divide = func(ctx context.Context, count int, work func(context.Context, int) error) error {
			return a.divide(ctx, fmt.Sprintf("%s %s, %d shards", Platform, a.client.app, count), count, work)
		}
	}
	return gateway.Listen(ctx, cfg, info)
}

// event hands an event of the gateway on. Nothing of guilds and members is kept.
func (a *Adapter) event(ctx context.Context, kind string, data json.RawMessage) {
	switch kind {
	case "READY":
		var ready struct {
			User user `json:"user"`
		}
		if json.Unmarshal(data, &ready) == nil && ready.User.ID != "" {
			a.bot.Store(&ready.User.ID)
		}
		a.store.LookSoon() // the events between two sessions are lost
	case "INTERACTION_CREATE":
		a.takeInteraction(ctx, data)
	case "MESSAGE_CREATE":
		a.takeMessage(context.WithoutCancel(ctx), data)
	case "ENTITLEMENT_CREATE", "ENTITLEMENT_UPDATE", "ENTITLEMENT_DELETE", "SUBSCRIPTION_CREATE", "SUBSCRIPTION_UPDATE":
		a.takeStoreEvent(ctx, kind, data)
	case "GUILD_DELETE":
		a.takeLeave(context.WithoutCancel(ctx), data)
	}
}

// findGateway asks where the gateway is, until there is an answer. It fails only for a token that is refused.
func (a *Adapter) findGateway(ctx context.Context) (gateway.Info, error) {
	for failures := 1; ; failures++ {
		var info gateway.Info
		err := a.client.do(ctx, call{method: http.MethodGet, path: "/gateway/bot", route: "/gateway/bot", repeatable: true}, &info)
		switch {
		case err == nil && info.URL != "":
			return info, nil
		case ctx.Err() != nil:
			return info, nil
		case reasonOf(err) == unauthorized:
			return info, fmt.Errorf("the token is not accepted by Discord; check DISCORD_BOT_TOKEN: %w", err)
		}
		pause := gateway.Backoff(failures, a.jitter)
		a.log.WarnContext(ctx, "Discord is not reached; trying again", "error", err, "failures", failures, "pause", pause)
		select {
		case <-a.clock.After(pause):
		case <-ctx.Done():
			return info, nil
		}
	}
}
