package discord

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/clock"
	"github.com/signalbox/signalbox/internal/peers"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/discord/gateway"
	"github.com/signalbox/signalbox/platforms/discord/sales"
)

// Platform is the name under which people and runs of Discord are kept.
const Platform = "discord"

// typingFor is how long Discord shows that the bot is typing.
const typingFor = 10 * time.Second

// AdapterConfig is what an Adapter works with. Client, Pool, Logger and Elsewhere are required.
type AdapterConfig struct {
	Client *Client
	Pool   *pgxpool.Pool
	Logger *slog.Logger
	// PublicKey is the application's, in hex, for interactions by HTTP; empty: none are taken there.
	PublicKey string
	// Shards says which connections to the gateway this process keeps; without ids they are all that Discord recommends, or
	// that there shall be.
	Shards gateway.Shards
	// Divide divides them among the processes that share the application; nil: there are no others.
	Divide peers.Divider
	// Payments take what is bought in Discord's store; nil: nothing is sold there. TestPurchases says that those for tests count, too.
	Payments      sales.Payments
	TestPurchases bool
	// Elsewhere says, in the language of a locale, where the result of a run can be seen that can't be shown where it
	// was asked for.
	Elsewhere func(locale string) string
	Clock     clock.Clock    // nil: the system's
	Jitter    func() float64 // numbers in [0, 1) that spread repeats; nil: random ones
}

// Adapter is Discord as the chat contract has it.
type Adapter struct {
	client  *Client
	storage storage
	clock   clock.Clock
	jitter  func() float64
	log     *slog.Logger
	key     ed25519.PublicKey
	shards  gateway.Shards
	divide  peers.Divider
	answers *answers
	// elsewhere says where results can be seen that can't be shown in their place.
	elsewhere func(locale string) string
	admins    *clock.Recent[adminKey, bool]
	channels  *clock.Recent[string, channel]
	store     *sales.Store

	syncing  sync.Mutex // one synchronisation of commands at a time
	commands atomic.Pointer[published]
	checked  bool        // the commands were compared with Discord's in this process; needs syncing
	refused  refusedList // needs syncing

	bot       atomic.Pointer[string]
	connected atomic.Int32 // shards whose connection to the gateway works

	gate     sync.RWMutex
	running  *running // set while Run runs; needs gate
	handling sync.WaitGroup
}

// running is where what comes in goes.
type running struct {
	to   chat.Receiver
	done <-chan struct{} // closed when Run is to end
}

var (
	_ chat.Adapter     = (*Adapter)(nil)
	_ chat.AdminTeller = (*Adapter)(nil)
)

// NewAdapter makes an adapter. It reads what is known from Postgres and calls nobody.
func NewAdapter(ctx context.Context, cfg AdapterConfig) (*Adapter, error) {
	if cfg.Client == nil || cfg.Pool == nil || cfg.Logger == nil || cfg.Elsewhere == nil {
		return nil, errors.New("discord: Client, Pool, Logger and Elsewhere are needed")
	}
	a := &Adapter{
		client: cfg.Client, storage: storage{cfg.Pool, postgres.NewWriter(cfg.Pool), cfg.Client.app}, clock: cfg.Clock, jitter: cfg.Jitter,
		log: cfg.Logger.With("component", Platform), shards: cfg.Shards, divide: cfg.Divide, answers: newAnswers(), elsewhere: cfg.Elsewhere,
	}
	if a.clock == nil {
		a.clock = clock.System{}
	}
	a.admins = clock.NewRecent[adminKey, bool](a.clock, adminsRemembered)
	a.channels = clock.NewRecent[string, channel](a.clock, channelsRemembered)
	if a.jitter == nil {
		a.jitter = rand.Float64
	}
	a.store = newStore(a, cfg)
	if cfg.PublicKey != "" {
		key, err := hex.DecodeString(cfg.PublicKey)
		if err != nil || len(key) != ed25519.PublicKeySize {
			return nil, fmt.Errorf("discord: found a public key of %d characters, expected 64 hex digits", len(cfg.PublicKey))
		}
		a.key = key
	}
	p, err := a.storage.published(ctx)
	if err != nil {
		return nil, err
	}
	a.commands.Store(&p)
	a.bot.Store(&cfg.Client.app) // the same, but for the oldest applications: READY tells
	return a, nil
}

// Connected is how many connections to the gateway work.
func (a *Adapter) Connected() int { return int(a.connected.Load()) }

// Platform gives the constant of that name.
func (a *Adapter) Platform() string { return Platform }

// Capabilities tells what Discord can do.
func (a *Adapter) Capabilities() chat.Capabilities {
	caps := capabilities()
	caps.Uploads = maps.Clone(caps.Uploads)
	return caps
}

func capabilities() chat.Capabilities {
	return chat.Capabilities{
		Buttons: chat.ButtonLimits{Rows: maxRows, PerRow: maxPerRow, LabelLimit: maxButtonLabel, DataBytes: maxCustomID},
		Menus:   chat.MenuLimits{PerMessage: maxRows, Options: maxMenuOptions, LabelLimit: maxMenuLabel},
		Forms:   chat.FormLimits{Fields: maxFormFields, TitleLimit: maxFormTitle, LabelLimit: maxFieldLabel, ValueLimit: maxFieldValue},
		Commands: chat.CommandLimits{
			Max: maxCommands, NameChars: maxName, NamePattern: `[-_\p{Ll}\p{Lo}\p{N}]{1,32}`, DescriptionLimit: maxDescription,
			Options: maxOptions, OnMessages: maxOnMessages, OnPeople: maxOnPeople, Entry: true, Localized: true,
		},
		TextLimit: MaxText, CaptionLimit: MaxText, AnswerLimit: MaxText,
		Edit: true, EditToMedia: true, AlbumMax: maxFiles, AlbumButtons: true, Ephemeral: true, AltLimit: maxAlt, Alerts: true,
		Uploads: map[chat.MediaKind]int64{
			chat.KindPhoto: MaxUpload, chat.KindVideo: MaxUpload, chat.KindAnimation: MaxUpload,
			chat.KindAudio: MaxUpload, chat.KindVoice: MaxUpload, chat.KindDocument: MaxUpload,
		},
		Download:        MaxDownload,
		WorkingFor:      typingFor,
		NoticedFor:      answerLife,
		ProgressPrivate: 3 * time.Second,
		ProgressGroup:   3 * time.Second,
	}
}

// String names the adapter without its secrets.
func (a *Adapter) String() string { return "Discord adapter of application " + a.client.app }

// GoString does as String.
func (a *Adapter) GoString() string { return a.String() }
