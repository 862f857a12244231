package web

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/exports"
	"github.com/signalbox/signalbox/platforms/web/account"
	"github.com/signalbox/signalbox/platforms/web/api"
	"github.com/signalbox/signalbox/platforms/web/chains"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/files"
	"github.com/signalbox/signalbox/platforms/web/pages"
	"github.com/signalbox/signalbox/platforms/web/render"
	"github.com/signalbox/signalbox/platforms/web/request"
	"github.com/signalbox/signalbox/platforms/web/scenes"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/runs/gallery"
)

// Runs is what the packages of the web need of runner.Service.
type Runs interface {
	api.Starts
	api.Runs
	api.Follows
	pages.Runs
	account.Spending
	request.Runs
	request.Media
	files.Store
}

// Users is what the packages of the web need of users.Store.
type Users interface {
	door.Accounts
	door.Secrets
	door.StreamLimits
	api.Keys
	api.Programs
	pages.Users
	account.Users
	request.Access
}

// Invitations is what the packages of the web need of users.Invitations.
type Invitations interface {
	api.Invitations
	account.Invitations
}

// Hooks is what the packages of the web need of webhooks.Outbox.
type Hooks interface {
	api.Hooks
	api.HookMessages
	account.HookMessages
}

// Config wires a Server. Registry, Runs, Users, Ledger, Invitations and
// LinkKey are required.
type Config struct {
	Registry    *catalog.Registry
	Runs        Runs
	Users       Users
	Ledger      account.Ledger
	Invitations Invitations
	Logger      *slog.Logger
	// Public is the address under which the world reaches us; nil means a local program: anyone who opens
	// the page on this machine is signed in as the local user.
	Public *url.URL
	// AdminToken signs the operator in. With one, anyone who opens the page on this machine is no operator without it.
	AdminToken string
	// MetricsToken opens GET /metrics, as the operator's token does.
	MetricsToken string
	// MediaOrigin is where stored files lead browsers to that play or save them, such as https://files.example; empty: nowhere.
	MediaOrigin string
	// Proxies are those in front of us: what they say in X-Forwarded-For is where requests come from.
	Proxies  []netip.Prefix
	Telegram *account.TelegramLogin // nil: no signing in with Telegram
	Discord  *account.DiscordLogin  // nil: no signing in with Discord
	// Search finds tools by words; nil: the registry's own.
	Search catalog.Searcher
	// Mounts are handlers of other packages that are served behind the same doors.
	Mounts []Mount
	// APIRate is how many requests a second one account may make; bursts may be four times that. 0: no limit.
	APIRate int
	// Conversation is the chat at pages.ChatPath; nil: none.
	Conversation pages.Conversation
	// Questions are what was asked of models; nil: nobody can ask one.
	Questions pages.Asked
	// Buying is how people get more credit; the zero value says whom to ask.
	Buying pages.Buying
	// Shares keeps which results are shown to anyone who has their link; nil: sharing is not offered.
	Shares *pages.Shares
	// Reports takes reports of shared results; nil: nothing is reported.
	Reports pages.Reports
	// Landing is what strangers are told at PUBLIC_URL.
	Landing pages.Landing
	// Examples are pictures that tools made, as JPEG files by the tools' ids.
	Examples map[string][]byte
	// Drawings are those at scenes.Path; nil: there are none.
	Drawings scenes.Drawings
	// Missions are those at chains.Path, and what is built there; nil: there are none.
	Missions chains.Missions
	// Gallery finds results again; nil: there is no gallery.
	Gallery *gallery.Gallery
	// Hooks tells programs of runs; nil: there are no endpoints.
	Hooks Hooks
	// Exports makes archives of everything that people have; nil: nobody gets one.
	Exports *exports.Service
	// Answers keeps the answers to requests with an Idempotency-Key; nil: only runs are begun once.
	Answers *api.Answers
	// Points shows amounts in points as well; the zero value does not.
	Points billing.Points
	// LinkKey signs the addresses of results. At least 16 bytes, kept across restarts.
	LinkKey []byte
	// Status is what GET /api/status answers beside the loaders, e.g. the engines.
	Status func() map[string]any
	// Changes lists what changed in the catalogue, newest first, for operators; nil: nothing does.
	Changes api.Changes
	// Ready is nil when the program can serve; GET /readyz asks it.
	Ready   func(ctx context.Context) error
	Metrics http.Handler // nil: not served here
	// Measure wraps what routes requests, whose Pattern is known inside; nil: nothing does.
	Measure func(http.Handler) http.Handler
	Version string
	Now     func() time.Time
}

// Server serves pages and API. Make it with New.
type Server struct {
	cfg     Config
	door    *door.Door
	render  *render.Renderer
	streams *door.Streams
	links   files.Links
	api     *api.API
	mux     *http.ServeMux
}
