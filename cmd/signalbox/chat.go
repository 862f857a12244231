package main

import (
	"context"
	"net/http"
	"strconv"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/discord"
	"github.com/signalbox/signalbox/platforms/telegram"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// chatPlatforms are the chat platforms that the configuration switches on, with the router they share.
type chatPlatforms struct {
	telegram  *telegram.Adapter // nil: off
	discord   *discord.Adapter  // nil: off
	deliverer *chat.Deliverer
	router    *chat.Router
	fileURL   atomic.Pointer[func(ref registry.Media, name string) string]
}

// newChat makes the adapters and what delivers through them. It comes before the runs service, which
// delivers, while the router, which starts runs, comes after it.
func (a *app) newChat(ctx context.Context) (*chatPlatforms, error) {
	p := &chatPlatforms{}
	// The one visible list of chat platforms.
	var adapters []chat.Adapter
	if a.cfg.TelegramBotToken != "" {
		var err error
		if p.telegram, err = a.newTelegram(ctx); err != nil {
			return nil, err
		}
		adapters = append(adapters, p.telegram)
	}
	if a.cfg.DiscordBotToken != "" {
		var err error
		if p.discord, err = a.newDiscord(ctx); err != nil {
			return nil, err
		}
		adapters = append(adapters, p.discord)
	}
	var err error
	p.deliverer, err = chat.NewDeliverer(chat.DelivererConfig{
		Adapters: adapters, Pool: a.db.pool, Media: a.media, Logger: a.log,
		Link: func(run runs.Run, output int) string {
			fileURL := p.fileURL.Load()
			if fileURL == nil {
				return "" // the page is not there yet
			}
			o := run.Outputs[output]
			return (*fileURL)(o.Media, o.FileName)
		},
	})
	return p, err
}

func (a *app) newTelegram(ctx context.Context) (*telegram.Adapter, error) {
	seconds := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "signalbox_telegram_call_seconds", Help: "Time of calls to Telegram, by method and status (0: no answer).",
		Buckets: prometheus.ExponentialBuckets(0.005, 4, 8),
	}, []string{"method", "status"})
	a.metrics.MustRegister(seconds)
	client, err := telegram.NewClient(telegram.Config{
		Token: a.cfg.TelegramBotToken, BaseURL: a.cfg.TelegramAPI.String(),
		Observe: func(c telegram.CallInfo) {
			seconds.WithLabelValues(c.Method, strconv.Itoa(c.Code)).Observe(c.Took.Seconds())
		},
	})
	if err != nil {
		return nil, err
	}
	return telegram.NewAdapter(ctx, telegram.AdapterConfig{
		Client: client, Pool: a.db.pool, Logger: a.log.With("component", "telegram"), PublicURL: a.cfg.Public,
	})
}

func (a *app) newDiscord(ctx context.Context) (*discord.Adapter, error) {
	seconds := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "signalbox_discord_call_seconds", Help: "Time of calls to Discord, by route and status (0: no answer).",
		Buckets: prometheus.ExponentialBuckets(0.005, 4, 8),
	}, []string{"route", "status"})
	a.metrics.MustRegister(seconds)
	client, err := discord.NewClient(discord.Config{
		Token: a.cfg.DiscordBotToken, AppID: a.cfg.DiscordAppID, BaseURL: a.cfg.DiscordAPI.String(),
		Observe: func(c discord.CallInfo) {
			seconds.WithLabelValues(c.Call, strconv.Itoa(c.Status)).Observe(c.Took.Seconds())
		},
	})
	if err != nil {
		return nil, err
	}
	texts, err := i18n.Load()
	if err != nil {
		return nil, err
	}
	return discord.NewAdapter(ctx, discord.AdapterConfig{
		Client: client, Pool: a.db.pool, Logger: a.log, PublicKey: a.cfg.DiscordPublicKey, Shards: a.cfg.Shards,
		Elsewhere: func(locale string) string {
			if a.cfg.Public == nil {
				return texts.Voice(locale).Line("discord.elsewhere")
			}
			return texts.Voice(locale).Line("discord.elsewhere.page", "link", a.cfg.Public.JoinPath("history").String())
		},
	})
}

func (p *chatPlatforms) deliverers() map[string]runs.Deliverer {
	m := map[string]runs.Deliverer{}
	for _, name := range p.deliverer.Platforms() {
		m[name] = p.deliverer
	}
	return m
}

// startChat starts the router. Updates come in once listen has been called, when all else is up.
func (a *app) startChat(ctx context.Context) error {
	p := a.chat
	if len(p.deliverer.Platforms()) == 0 {
		return nil
	}
	var err error
	p.router, err = chat.NewRouter(chat.Config{
		Deliverer: p.deliverer, Pool: a.db.pool, Tools: a.registry, Runs: a.runs, Accounts: a.users, Wallets: a.ledger, Logger: a.log,
		Operator: chat.Operator{Support: a.cfg.Support, Terms: a.cfg.TermsURL, Privacy: a.cfg.PrivacyURL},
	})
	if err != nil {
		return err
	}
	if err := p.router.Start(ctx); err != nil {
		return err
	}
	a.onStop("chat router", p.router.Stop)
	return nil
}

// listen lets the platforms' updates in. A token that is refused switches its platform off, not the
// program: the others go on.
func (a *app) listen(context.Context) error {
	if a.chat.telegram != nil {
		a.background("telegram", func(ctx context.Context) {
			if err := a.chat.telegram.Run(ctx, a.chat.router); err != nil {
				a.log.Error("Telegram is off until the next start", "error", err)
			}
		})
	}
	if a.chat.discord != nil {
		a.background("discord", func(ctx context.Context) {
			if err := a.chat.discord.Run(ctx, a.chat.router); err != nil {
				a.log.Error("Discord is off until the next start", "error", err)
			}
		})
	}
	return nil
}

// linkFiles tells how results can be reached from outside, once the page is there. Deliveries left over from
// the last run may be under way by then.
func (p *chatPlatforms) linkFiles(fileURL func(registry.Media, string) string) {
	p.fileURL.Store(&fileURL)
}

// mount adds the platforms' webhooks to the page's routes.
func (p *chatPlatforms) mount(mux *http.ServeMux) {
	if p.telegram != nil {
		mux.Handle(telegram.WebhookPath, p.telegram.WebhookHandler())
	}
	if p.discord != nil && p.discord.TakesHTTP() {
		mux.Handle(discord.InteractionsPath, p.discord.EndpointHandler())
	}
}

func (p *chatPlatforms) names() []string { return p.deliverer.Platforms() }
