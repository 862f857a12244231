package main

import (
	"context"
	"io"
	"slices"
	"sync/atomic"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/cmd/signalbox/figures"
	"github.com/signalbox/signalbox/cmd/signalbox/houserules"
	"github.com/signalbox/signalbox/cmd/signalbox/places"
	"github.com/signalbox/signalbox/cmd/signalbox/telling"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/router"
	"github.com/signalbox/signalbox/platforms/chat/show"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/platforms/discord"
	"github.com/signalbox/signalbox/platforms/telegram"
	"github.com/signalbox/signalbox/platforms/telegram/botapi"
	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/webchat"
	"github.com/signalbox/signalbox/providers/canvas"
	tryouts "github.com/signalbox/signalbox/providers/canvas/example"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// chatPlatforms are the chat platforms, with the router they share: the page's, and those that the configuration
// switches on.
type chatPlatforms struct {
	page      *webchat.Adapter
	telegram  *telegram.Adapter // nil: off
	discord   *discord.Adapter  // nil: off
	deliverer *show.Deliverer
	tell      telling.Teller
	router    *router.Router
	server    atomic.Pointer[web.Server] // nil: not there yet
}

// newChat makes the adapters and what delivers through them. It comes before the runs service, which
// delivers, while the router, which starts runs, comes after it.
func (a *app) newChat(ctx context.Context) (*chatPlatforms, error) {
	p := &chatPlatforms{}
	err := a.newSeller()
	if err != nil {
		return nil, err
	}
	p.page, err = webchat.New(webchat.Config{
		Pool: a.db.Pool, Files: a.media, People: a.users, Logger: a.log.With("component", "webchat"), FilePath: p.filePath,
		ThumbPath: func(owner string, ref registry.Media) string { return p.server.Load().ThumbPath(owner, ref) },
		Upload: func(ctx context.Context, accountID string, r io.Reader, name string) (registry.Media, registry.MediaInfo, error) {
			return a.runs.PutMedia(ctx, accountID, r, name)
		},
	})
	if err != nil {
		return nil, err
	}
	// The one visible list of chat platforms.
	adapters := []chat.Adapter{p.page}
	if a.cfg.TelegramBotToken != "" {
		if p.telegram, err = a.newTelegram(ctx); err != nil {
			return nil, err
		}
		a.seller.TakeStars(p.telegram)
		adapters = append(adapters, p.telegram)
	}
	if a.cfg.DiscordBotToken != "" {
		if p.discord, err = a.newDiscord(ctx); err != nil {
			return nil, err
		}
		a.seller.TakeStore(p.discord)
		adapters = append(adapters, p.discord)
	}
	a.content.adapters = map[string]chat.Adapter{}
	for _, adapter := range adapters {
		a.content.adapters[adapter.Platform()] = adapter
	}
	p.deliverer, err = show.NewDeliverer(show.DelivererConfig{
		Adapters: adapters, Pool: a.db.Pool, Media: a.media, Logger: a.log, Points: a.cfg.Points, Tools: a.registry, Places: a.content.works,
		Link: func(run runs.Run, output int) string {
			server := p.server.Load()
			if server == nil {
				return ""
			}
			o := run.Outputs[output]
			return server.FileURL(run.AccountID, o.Media, o.FileName)
		},
	})
	if err != nil {
		return nil, err
	}
	texts, err := i18n.Load()
	p.tell = telling.Teller{Users: a.users, Texts: texts, Page: p.page, Telegram: p.telegram, Deliverer: p.deliverer, Logger: a.log}
	return p, err
}

func (a *app) newTelegram(ctx context.Context) (*telegram.Adapter, error) {
	seconds := figures.Calls(a.metrics, "telegram", "Telegram", "method")
	client, err := botapi.NewClient(botapi.Config{
		Token: a.cfg.TelegramBotToken, BaseURL: a.cfg.TelegramAPI.String(),
		Observe: func(c botapi.CallInfo) { seconds(c.Method, c.Code, c.Took) },
	})
	if err != nil {
		return nil, err
	}
	app := ""
	if a.cfg.Public != nil && a.cfg.Public.Scheme == "https" {
		app = a.cfg.Public.JoinPath(door.AppPath).String()
	}
	return telegram.NewAdapter(ctx, telegram.AdapterConfig{
		Client: client, Pool: a.db.Pool, Logger: a.log, PublicURL: a.cfg.Public, App: app,
		Payments: a.seller, Divide: a.peers.Divide,
		Moved: func(ctx context.Context, tx pgx.Tx, from, to string) error {
			return places.MoveChat(ctx, tx, a.groupWallets(), telegram.Platform, from, to)
		},
	})
}

func (a *app) newDiscord(ctx context.Context) (*discord.Adapter, error) {
	seconds := figures.Calls(a.metrics, "discord", "Discord", "route")
	client, err := discord.NewClient(discord.Config{
		Token: a.cfg.DiscordBotToken, AppID: a.cfg.DiscordAppID, BaseURL: a.cfg.DiscordAPI.String(),
		Observe: func(c discord.CallInfo) { seconds(c.Call, c.Status, c.Took) },
	})
	if err != nil {
		return nil, err
	}
	texts, err := i18n.Load()
	if err != nil {
		return nil, err
	}
	return discord.NewAdapter(ctx, discord.AdapterConfig{
		Client: client, Pool: a.db.Pool, Logger: a.log, PublicKey: a.cfg.DiscordPublicKey, Shards: a.cfg.Shards, Divide: a.peers.Divide,
		Payments: a.seller, TestPurchases: a.cfg.DiscordTestSales == "true",
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
	m[web.Platform] = pageDeliverer{p.deliverer}
	return m
}

// pageDeliverer delivers what was asked for on the web: in the conversation. A run that a form has started is shown
// by its own page.
type pageDeliverer struct{ *show.Deliverer }

func (d pageDeliverer) Deliver(ctx context.Context, run runs.Run) error {
	if len(run.Origin.Target) == 0 {
		return nil
	}
	return d.Deliverer.Deliver(ctx, run)
}

// startChat starts the router. Updates come in once listen has been called, when all else is up.
func (a *app) startChat(ctx context.Context) error {
	p := a.chat
	agent, err := a.agents.inChats()
	if err != nil {
		return err
	}
	p.router, err = router.NewRouter(router.Config{
		Deliverer: p.deliverer, Pool: a.db.Pool, Tools: a.registry, Runs: a.runs, Accounts: a.users, Wallets: a.ledger, Groups: a.groupWallets(), Logger: a.log,
		Operator:     turn.Operator{Support: a.rules.Says(houserules.Support), Terms: a.rules.Says(houserules.Terms), Privacy: a.rules.Says(houserules.Privacy), Buying: a.buying},
		Near:         a.near,
		DefaultTool:  a.rules.Says(houserules.DefaultTool),
		Agent:        agent,
		Exports:      a.exports,
		Moderation:   a.reports(),
		Example:      tried,
		Site:         a.content.desk(),
		Missions:     a.missions,
		Acknowledged: figures.Acknowledgements(a.metrics),
		Privately:    p.tell.Person,
	})
	if err != nil {
		return err
	}
	if err := p.router.Start(ctx); err != nil {
		return err
	}
	a.OnStop("chat router", p.router.Stop)
	return nil
}

// tried is the example that people see first: the one tool that makes pictures of words without a GPU or a key.
func tried(language string) (turn.Example, error) {
	picture, err := tryouts.Picture(language)
	return turn.Example{Tool: canvas.DrawTool, Words: tryouts.Words(language), Picture: picture}, err
}

// listen lets the platforms' updates in. A token that is refused switches its platform off, not the
// program: the others go on.
func (a *app) listen(context.Context) error {
	a.Background("conversations", func(ctx context.Context) {
		if err := a.chat.page.Run(ctx, a.chat.router); err != nil {
			a.log.Error("conversations on the page are off until the next start", "error", err)
		}
	})
	if a.chat.telegram != nil {
		a.Background("telegram", func(ctx context.Context) {
			if err := a.chat.telegram.Run(ctx, a.chat.router); err != nil {
				a.log.Error("Telegram is off until the next start", "error", err)
			}
		})
	}
	if a.chat.discord != nil {
		a.Background("discord", func(ctx context.Context) {
			if err := a.chat.discord.Run(ctx, a.chat.router); err != nil {
				a.log.Error("Discord is off until the next start", "error", err)
			}
		})
	}
	return nil
}

// linkFiles tells how results can be reached, once the page is there. Deliveries left over from the last run may
// be under way by then.
func (p *chatPlatforms) linkFiles(server *web.Server) { p.server.Store(server) }

// filePath is the address of a stored file within the page, which is there whenever somebody looks at it.
func (p *chatPlatforms) filePath(owner string, ref registry.Media, name string) string {
	return p.server.Load().FilePath(owner, ref, name)
}

// names are the platforms besides the web.
func (p *chatPlatforms) names() []string {
	return slices.DeleteFunc(p.deliverer.Platforms(), func(name string) bool { return name == web.Platform })
}
