// Package account draws what belongs to a person and to no tool: the account's page, the pages of endpoints for programs, and the
// ways to sign in and to join accounts.
package account

import (
	"log/slog"
	"time"

	"github.com/signalbox/signalbox/exports"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/render"
	"github.com/signalbox/signalbox/registry/catalog"
)

// Users is what the account's pages need of users.Store.
type Users interface {
	Person
	Limits
	Keys
	Sessions
	Secrets
	Codes
	Accounts
	Guests
	Proofs
}

// Config wires the account's pages. Telegram, Discord and Hooks may be nil: then there are none.
type Config struct {
	Door        *door.Door
	Render      *render.Renderer
	Users       Users
	Registry    *catalog.Registry // has the tools that keys are restricted to
	Spending    Spending
	Ledger      Ledger
	Invitations Invitations
	Telegram    *TelegramLogin
	Discord     *DiscordLogin
	Hooks       interface {
		Hooks
		HookMessages
	}
	Exports *exports.Service // makes archives of everything that people have; nil: nobody gets one
	Logger  *slog.Logger
	Now     func() time.Time
}

// Routes gives the addresses of the account's pages.
func Routes(cfg Config) []door.Route {
	s := shared{cfg.Door, cfg.Render, cfg.Render.Pages(templateFiles, functions), cfg.Logger, cfg.Now}
	var ways []way
	if cfg.Telegram != nil {
		ways = append(ways, way{wayTelegram, "/signin/telegram"})
	}
	if cfg.Discord != nil {
		ways = append(ways, way{wayDiscord, "/signin/discord"})
	}
	u := cfg.Users
	me := &person{shared: s, person: u, limits: u, spending: cfg.Spending, ledger: cfg.Ledger, keys: u, registry: cfg.Registry, sessions: u, ways: ways, hooks: cfg.Hooks != nil, exports: cfg.Exports}
	link := &linking{shared: s, codes: u, accounts: u, ledger: cfg.Ledger}
	list := append(me.routes(), link.routes()...)
	if cfg.Exports != nil {
		list = append(list, (&exporting{shared: s, exports: cfg.Exports, page: me}).routes()...)
	}
	list = append(list, (&signin{shared: s, secrets: u, ways: ways}).routes()...)
	list = append(list, (&inviting{shared: s, invitations: cfg.Invitations, guests: u}).routes()...)
	if cfg.Telegram != nil {
		list = append(list, (&miniApp{shared: s, token: cfg.Telegram.BotToken, proofs: u, accounts: u}).routes()...)
		list = append(list, (&telegram{shared: s, login: *cfg.Telegram, proofs: u, linking: link}).routes()...)
	}
	if cfg.Discord != nil {
		list = append(list, (&discord{shared: s, login: *cfg.Discord, linking: link}).routes()...)
	}
	if cfg.Hooks != nil {
		list = append(list, (&hookPages{shared: s, hooks: cfg.Hooks, messages: cfg.Hooks}).routes()...)
	}
	return list
}
