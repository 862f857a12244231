package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/agent/questions"
	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/cmd/signalbox/accounts"
	"github.com/signalbox/signalbox/cmd/signalbox/asking"
	"github.com/signalbox/signalbox/cmd/signalbox/config"
	"github.com/signalbox/signalbox/cmd/signalbox/database"
	"github.com/signalbox/signalbox/cmd/signalbox/figures"
	"github.com/signalbox/signalbox/cmd/signalbox/hosted"
	"github.com/signalbox/signalbox/cmd/signalbox/housekey"
	"github.com/signalbox/signalbox/cmd/signalbox/houserules"
	"github.com/signalbox/signalbox/cmd/signalbox/logs"
	"github.com/signalbox/signalbox/cmd/signalbox/media"
	"github.com/signalbox/signalbox/cmd/signalbox/parts"
	"github.com/signalbox/signalbox/cmd/signalbox/selling"
	"github.com/signalbox/signalbox/comfy"
	"github.com/signalbox/signalbox/groups"
	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/internal/peers"
	"github.com/signalbox/signalbox/migrations"
	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/registry/history"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/runner"
	"github.com/signalbox/signalbox/users"
)

// house is what the parts of the program share: where everything is kept, the tools, and who runs them.
type house struct {
	parts.Parts
	log     *slog.Logger
	cfg     config.Config
	metrics *prometheus.Registry

	key           []byte       // the secret of this house, see keyFor
	db            *database.DB // nil: there is none, as for writing the registry to files
	clock         *peers.Clock
	peers         *peers.Process
	media         media.Store
	templates     registry.SpecStore
	rules         *houserules.Rules // what operators set in the console
	ledger        *billing.Ledger
	users         *users.Store
	seller        *selling.Seller
	conversations *agent.Store
	questions     *questions.Store
	fleet         *comfy.Fleet
	services      []hosted.Service
	registry      *catalog.Registry
	search        catalog.Searcher
	near          catalog.Nearness
	runs          *runner.Service
	web           *web.Server
	listener      net.Listener
}

func (h *house) openStorage(ctx context.Context) error {
	if err := os.MkdirAll(h.cfg.DataDir, 0o755); err != nil {
		return fmt.Errorf("DATA_DIR: %w", err)
	}
	db, err := database.Open(ctx, h.cfg, h.log)
	if err != nil {
		return err
	}
	if err := h.useDatabase(ctx, db); err != nil {
		return err
	}
	if h.key, err = housekey.Open(ctx, db.Pool, h.keyConfig()); err != nil {
		return err
	}
	return h.joinPeers(ctx)
}

// joinPeers makes this process one of those that share the database.
func (h *house) joinPeers(ctx context.Context) error {
	h.peers = peers.New(h.db.Pool, h.log.With("component", "peers"))
	ready, ended := make(chan struct{}), make(chan error, 1)
	h.Background("clock", h.clock.Follow)
	h.Background("peers", func(ctx context.Context) { ended <- h.peers.Run(ctx, func() { close(ready) }) })
	select {
	case <-ready:
		return nil
	case err := <-ended:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// useDatabase brings the schema up to date and makes what is kept in the database.
func (h *house) useDatabase(ctx context.Context, db *database.DB) error {
	h.db = db
	h.OnStop("database", db.Close)
	if _, err := migrations.Up(ctx, db.Pool, logs.Quiet(h.log)); err != nil {
		return err
	}
	h.clock = peers.NewClock(db.Pool, h.log.With("component", "peers"))
	if err := h.clock.Ask(ctx); err != nil {
		return err
	}
	places, err := media.OpenPlaces(ctx, h.cfg.DataDir, h.cfg.Store)
	if err != nil {
		return err
	}
	h.media = media.Store{Assets: assets.New(db.Pool, places.Now(), 0), Client: outbound.NewClient(h.cfg.Allow)}
	h.templates = history.NewSpecs(db.Pool, h.media)
	figures.Files(h.metrics, db.Pool)
	h.ledger = billing.NewLedger(db.Pool)
	if h.rules, err = houserules.Open(ctx, db.Pool, h.cfg); err != nil {
		return err
	}
	h.users = accounts.New(db.Pool, h.ledger, h.cfg, h.erases, h.rules.Governs)
	h.conversations = agent.NewStore(db.Pool, int64(h.cfg.TokensPerDay))
	h.questions = questions.New(questions.Config{
		Pool: db.Pool, Ledger: h.ledger, House: h.cfg.AskPaidBy == asking.ByHouse, PerDay: h.cfg.AskPerDay, Logger: h.log.With("component", "agent"),
		Room: func(ctx context.Context, tx pgx.Tx, account string, b runs.Budget, least, most billing.NanoUSD) (billing.NanoUSD, error) {
			return h.runs.Room(ctx, tx, account, b, least, most) // there are runs before anybody can ask
		},
	})
	return nil
}

// attachStorage opens the database if there is one. Without it, specs are kept in memory.
func (h *house) attachStorage(ctx context.Context) error {
	h.templates = &media.Specs{}
	var err error
	if h.key, err = housekey.Read(h.keyConfig()); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(h.cfg.DataDir, "postgres")); h.cfg.DatabaseURL == "" && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	db, err := database.Attach(ctx, h.cfg, h.log)
	if err != nil {
		return err
	}
	return h.useDatabase(ctx, db)
}

// keyFor derives a key for one purpose from the secret of this house.
func (h *house) keyFor(purpose string) ([]byte, error) { return housekey.For(h.key, purpose) }

// keyConfig says where that secret is.
func (h *house) keyConfig() housekey.Config {
	return housekey.Config{Given: h.cfg.Key, DataDir: h.cfg.DataDir, Shared: h.cfg.DatabaseURL != "", Log: h.log}
}

// siteID tells providers whose calls these are.
func (h *house) siteID() string {
	if h.cfg.Public == nil {
		return "local"
	}
	return h.cfg.Public.Host
}

// erases has what runs of an account ended before its data is erased, and its files freed after.
func (h *house) erases(c *users.Config) {
	c.BeforeErase = func(ctx context.Context, accountID string) error { return h.runs.CancelAll(ctx, accountID) }
	c.AfterErase = h.collect
}

// collect frees the files that no account has any more.
func (h *house) collect(ctx context.Context, _ string) error { return h.media.Collect(ctx) }

// groupWallets keeps the wallets of groups.
func (h *house) groupWallets() *groups.Store {
	return groups.New(groups.Config{Pool: h.db.Pool, Ledger: h.ledger, Record: h.users.Record, Now: h.clock.Now})
}

// invitations are the operator's links that let people in; their credit is a grant like any other.
func (h *house) invitations() *users.Invitations {
	return users.NewInvitations(h.users, func(ctx context.Context, tx pgx.Tx, accountID string, nanoUSD int64, key string) error {
		return h.ledger.Grant(ctx, tx, accountID, billing.NanoUSD(nanoUSD), key, "invitation")
	})
}

func (h *house) grant(ctx context.Context, accountID string, amount billing.NanoUSD, key, note string) error {
	return pgx.BeginFunc(ctx, h.db.Pool, func(tx pgx.Tx) error {
		return h.ledger.Grant(ctx, tx, accountID, amount, key, note)
	})
}

func (h *house) languageOf(ctx context.Context, account string) string {
	who, err := h.users.ByID(ctx, account)
	if err != nil {
		return ""
	}
	return who.Language
}

func (h *house) isOperator(ctx context.Context, accountID string) (bool, error) {
	account, err := h.users.ByID(ctx, accountID)
	return account.Operator, err
}

// owned tells whether a stored file is an account's.
func (h *house) owned(ctx context.Context, accountID string, ref registry.Media) (bool, error) {
	owners, err := h.runs.OwnersOf(ctx, ref, assets.Reader{Account: accountID})
	return slices.Contains(owners, accountID), err
}

// recentRuns is how many runs are looked through for the one that made a file.
const recentRuns = 200

// madeBy tells what is known of a file that a run of an account made lately: what was asked for, and of which tool.
func (h *house) madeBy(ctx context.Context, accountID string, ref registry.Media) (prompt, tool string, err error) {
	recent, err := h.runs.List(ctx, runs.Filter{AccountID: accountID, Limit: recentRuns})
	if err != nil {
		return "", "", err
	}
	for _, run := range recent {
		for _, o := range run.Outputs {
			if o.Media != ref {
				continue
			}
			for _, f := range run.Tool.InputSchema {
				if text, ok := run.Inputs[f.Name].(string); ok && f.Type == registry.TypeString && len(f.Choices) == 0 && len(text) > len(prompt) {
					prompt = text
				}
			}
			return prompt, run.Tool.DisplayName, nil
		}
	}
	return "", "", nil
}

// uploadOf opens a file, "asset:HASH" perhaps with /NAME behind it, that is an account's; with no account it was looked at before.
func (h *house) uploadOf(ctx context.Context, account, ref string) (io.ReadCloser, registry.MediaInfo, error) {
	ref, name, _ := strings.Cut(ref, "/")
	parsed, err := assets.ParseRef(ref)
	if err != nil {
		return nil, registry.MediaInfo{}, errors.New("expected a reference from POST /api/uploads")
	}
	if account != "" {
		owners, err := assets.Owners(ctx, h.db.Pool, parsed, assets.Reader{Account: account})
		if err != nil {
			return nil, registry.MediaInfo{}, err
		}
		if !slices.Contains(owners, account) {
			return nil, registry.MediaInfo{}, errors.New("there is no such file of yours; upload it with POST /api/uploads")
		}
	}
	content, info, err := h.media.OpenMedia(ctx, ref)
	if info.Name = cmp.Or(name, info.Name); info.Name == "" {
		info.Name = "upload"
	}
	return content, info, err
}

// followRenames rewrites stored settings of tools that come with another id or other input names.
func (h *house) followRenames(ctx context.Context, swap catalog.Swap) {
	ids := make([]string, 0, len(swap.Diff.Added)+len(swap.Diff.Changed))
	for _, tool := range swap.Diff.Added {
		ids = append(ids, tool.ToolID)
	}
	for _, tool := range swap.Diff.Changed {
		ids = append(ids, tool.ToolID)
	}
	for _, id := range ids {
		tool, ok := swap.New.ByID(id)
		if !ok {
			continue
		}
		switch n, err := h.users.MigratePreferences(ctx, *tool); {
		case err != nil:
			h.log.Warn("stored settings still have a tool's former names; they are read, but cannot be reset", "tool", id, "error", err)
		case n > 0:
			h.log.Info("stored settings follow a tool's new names", "tool", id, "owners", n)
		}
	}
}
