package telegram

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	mathrand "math/rand/v2"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/clock"
	"github.com/signalbox/signalbox/internal/peers"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/telegram/botapi"
)

// Platform is the name under which people and runs of Telegram are kept.
const Platform = "telegram"

// nameWait bounds how long the first start waits to learn the bot's name.
const nameWait = 2 * time.Second

// AdapterConfig is what an Adapter works with. Client, Pool and Logger are required.
type AdapterConfig struct {
	Client *botapi.Client
	Pool   *pgxpool.Pool
	Logger *slog.Logger
	// PublicURL is the address of this program's HTTP server as Telegram reaches it. With it updates come
	// by webhook to WebhookPath below it; nil: they are polled for.
	PublicURL *url.URL
	// App is the https address of the pages as a Mini App, which the menu button of private chats opens; empty: none.
	App string
	// Divide has one of the processes that share the bot poll, and each send its part; nil: there are no others.
	Divide   peers.Divider
	Payments Payments // nil: nothing is sold for Stars
	// Moved moves what the house keeps of a group to the id that Telegram gives it. It may be called again; nil: nothing is kept.
	Moved  func(ctx context.Context, tx pgx.Tx, from, to string) error
	Clock  clock.Clock    // nil: the system's
	Limits botapi.Limits  // zero: DefaultLimits
	Jitter func() float64 // numbers in [0, 1) that spread repeats; nil: random ones
	Random io.Reader      // source of secrets; nil: the system's
}

// Adapter is Telegram as the chat contract has it.
type Adapter struct {
	client   *botapi.Client
	storage  storage
	sender   *botapi.Sender
	clock    clock.Clock
	log      *slog.Logger
	public   *url.URL
	app      string
	secret   string
	payments Payments
	caps     chat.Capabilities

	admins *clock.Recent[adminKey, bool]

	mu    sync.Mutex
	moved map[int64]int64 // groups that have a new id

	divide   peers.Divider
	inlining chan struct{}  // bounds the questions of inline mode that are being answered
	aside    sync.WaitGroup // what goes on beside the receiving

	menus    sync.Mutex // one synchronisation of command lists at a time
	username atomic.Pointer[string]
	receiver atomic.Pointer[chat.Receiver] // set while Run runs
}

var (
	_ chat.Adapter     = (*Adapter)(nil)
	_ chat.AdminTeller = (*Adapter)(nil)
	_ chat.MoveTeller  = (*Adapter)(nil)
)

// NewAdapter makes an adapter. It reads what is known of the bot from Postgres; only where its name is not
// known yet it asks Telegram, briefly, and goes on without the name when there is no answer: deep links then
// work from the next start on.
func NewAdapter(ctx context.Context, cfg AdapterConfig) (*Adapter, error) {
	if cfg.Client == nil || cfg.Pool == nil || cfg.Logger == nil {
		return nil, errors.New("telegram: Client, Pool and Logger are needed")
	}
	cfg = cfg.complete()
	a := &Adapter{
		client: cfg.Client, storage: storage{cfg.Pool, cfg.Client.BotID(), cfg.Moved}, clock: cfg.Clock, public: cfg.PublicURL, app: cfg.App,
		sender: botapi.NewSender(cfg.Clock, cfg.Limits, cfg.Jitter), log: cfg.Logger.With("component", Platform), payments: cfg.Payments,
		inlining: make(chan struct{}, inlineAtOnce), divide: cfg.Divide,
	}
	if a.divide != nil {
		a.sender.ShareOut(paceShares)
	}
	username, secret, err := a.storage.open(ctx, cfg.Random)
	if err != nil {
		return nil, err
	}
	if a.moved, err = a.storage.moved(ctx); err != nil {
		return nil, err
	}
	if username == "" {
		username = a.askName(ctx)
	}
	a.admins = clock.NewRecent[adminKey, bool](cfg.Clock, adminsRemembered)
	a.secret, a.caps = secret, capabilities(username)
	a.username.Store(&username)
	return a, nil
}

func (cfg AdapterConfig) complete() AdapterConfig {
	if cfg.Clock == nil {
		cfg.Clock = clock.System{}
	}
	if cfg.Limits == (botapi.Limits{}) {
		cfg.Limits = botapi.DefaultLimits()
	}
	if cfg.Jitter == nil {
		cfg.Jitter = mathrand.Float64
	}
	cfg.Random = cmp.Or(cfg.Random, rand.Reader)
	return cfg
}

// askName asks for the bot's name once.
func (a *Adapter) askName(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, nameWait)
	defer cancel()
	me, err := a.client.GetMe(ctx)
	if err == nil {
		err = a.storage.setUsername(ctx, me.Username)
	}
	if err != nil {
		a.log.WarnContext(ctx, "the bot's name is not known yet: no deep links until the next start", "error", err)
	}
	return me.Username
}

// Platform gives the constant of that name.
func (a *Adapter) Platform() string { return Platform }

// Capabilities tells what Telegram can do.
func (a *Adapter) Capabilities() chat.Capabilities {
	caps := a.caps
	caps.Uploads = maps.Clone(caps.Uploads)
	return caps
}

func capabilities(username string) chat.Capabilities {
	caps := chat.Capabilities{
		Buttons:   chat.ButtonLimits{Rows: 12, PerRow: 8, LabelLimit: 64, DataBytes: 64},
		Commands:  chat.CommandLimits{Max: 100, NameChars: 32, NamePattern: `[a-z0-9_]{1,32}`, DescriptionLimit: 256},
		TextLimit: botapi.MaxText, SplitsAt: botapi.MaxText, CaptionLimit: botapi.MaxCaption, AnswerLimit: 200,
		Edit: true, EditToMedia: true, AlbumMax: 10, ForceReply: true, Alerts: true,
		Uploads: map[chat.MediaKind]int64{
			chat.KindPhoto: botapi.MaxPhoto, chat.KindVideo: botapi.MaxUpload, chat.KindAnimation: botapi.MaxUpload,
			chat.KindAudio: botapi.MaxUpload, chat.KindVoice: botapi.MaxUpload, chat.KindDocument: botapi.MaxUpload,
		},
		Download:        botapi.MaxDownload,
		Photo:           chat.PhotoLimits{MaxSides: botapi.MaxPhotoSides, MaxRatio: botapi.MaxPhotoRatio, LosesAlpha: true},
		WorkingFor:      5 * time.Second,
		ProgressPrivate: 3 * time.Second,
		ProgressGroup:   10 * time.Second,
	}
	if username != "" {
		caps.DeepLink = "https://t.me/" + username + "?start=%s"
	}
	return caps
}

// now gives the present id of a chat: groups that become supergroups get a new one.
func (a *Adapter) now(chatID int64) int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	if to, ok := a.moved[chatID]; ok {
		return to
	}
	return chatID
}

// move notes that a group has a new id, and moves what is kept of it. A group that could not be moved is not known as such: the next one to hear
// of it tries again.
func (a *Adapter) move(ctx context.Context, from, to int64) error {
	if from == to || from == 0 || to == 0 || a.now(from) == to {
		return nil
	}
	if err := a.storage.setMoved(ctx, from, to); err != nil {
		return err
	}
	a.mu.Lock()
	a.moved[from] = to
	a.mu.Unlock()
	a.log.InfoContext(ctx, "a group goes on under another id", "chat", from, "now", to)
	return nil
}

// supergroups are the chats whose ids are no higher; these never get another one.
const supergroups = -1_000_000_000_000

// Present gives the id of a chat as it is by now. A move that another process heard of is looked up.
func (a *Adapter) Present(ctx context.Context, chatID string) (string, error) {
	id, err := strconv.ParseInt(chatID, 10, 64)
	if err != nil || id >= 0 || id <= supergroups {
		return chatID, nil
	}
	to := a.now(id)
	if to == id {
		if to, err = a.storage.movedTo(ctx, id); err != nil {
			return chatID, err
		}
	}
	return idText(to), nil
}

// FollowMoves moves what was written under the former ids of groups that moved lately, by who had not heard of it, or was at it at that moment. It
// is to be called now and then.
func (a *Adapter) FollowMoves(ctx context.Context) error { return a.storage.followMoves(ctx) }

// patiently repeats a call that shows nothing in a chat as long as that helps and fits ctx.
func (a *Adapter) patiently(ctx context.Context, call func(context.Context) error) error {
	for attempt := 1; ; attempt++ {
		err := call(ctx)
		pause := a.sender.Pause(attempt)
		switch botapi.ReasonOf(err) {
		case botapi.RateLimited:
			pause = retryAfter(err)
		case botapi.Temporary:
		default:
			return err
		}
		if attempt == botapi.MaxAttempts || !botapi.Fits(ctx, pause) {
			return err
		}
		select {
		case <-a.clock.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// retryAfter is how long a refusal asks to wait.
func retryAfter(err error) time.Duration {
	var e *botapi.Error
	if errors.As(err, &e) {
		return e.RetryAfter
	}
	return 0
}

// String names the adapter without its secrets.
func (a *Adapter) String() string { return fmt.Sprintf("Telegram adapter of bot %d", a.storage.bot) }

// GoString does as String.
func (a *Adapter) GoString() string { return a.String() }
