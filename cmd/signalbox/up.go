package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	limit "golang.org/x/time/rate"

	"github.com/signalbox/signalbox/cmd/signalbox/config"
	"github.com/signalbox/signalbox/cmd/signalbox/drawings"
	"github.com/signalbox/signalbox/cmd/signalbox/engines"
	"github.com/signalbox/signalbox/cmd/signalbox/figures"
	"github.com/signalbox/signalbox/cmd/signalbox/houserules"
	"github.com/signalbox/signalbox/cmd/signalbox/landing"
	"github.com/signalbox/signalbox/cmd/signalbox/logs"
	"github.com/signalbox/signalbox/cmd/signalbox/serve"
	"github.com/signalbox/signalbox/cmd/signalbox/settings"
	"github.com/signalbox/signalbox/cmd/signalbox/terminal"
	"github.com/signalbox/signalbox/cmd/signalbox/versions"
	"github.com/signalbox/signalbox/comfy"
	"github.com/signalbox/signalbox/comfy/learned"
	"github.com/signalbox/signalbox/comfy/loader"
	"github.com/signalbox/signalbox/internal/watch"
	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/platforms/web/api"
	"github.com/signalbox/signalbox/platforms/web/pages"
	"github.com/signalbox/signalbox/registry/history"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/gallery"
	"github.com/signalbox/signalbox/runs/runner"
	"github.com/signalbox/signalbox/workflows"
)

type upCommand struct{}

// stopLimit bounds the orderly end of the program.
const stopLimit = 9 * time.Second

// startGC is GOGC during a start: what stays lies closer together when its garbage is collected sooner.
const startGC = 50

// Run runs everything until a signal comes, then stops it in reverse order.
func (upCommand) Run(e env) error {
	return live(e, e.settings, "Stopping: running work is picked up again at the next start.", func(context.Context, *app) error { return nil })
}

// live runs the whole program until a signal comes, then says goodbye and stops it in reverse order. ready is called when all is up,
// before the lines that say so.
func live(e env, s settings.Settings, goodbye string, ready func(context.Context, *app) error) error {
	c, err := config.Check(s)
	if err != nil {
		return err
	}
	c.Fetching = func(bytes int64) io.Writer {
		return terminal.Fetch(e.stderr, "Fetching Postgres, once", bytes)
	}
	// What a start does step by step is told when debugging; else the first lines are those that say where everything is.
	var level slog.LevelVar
	usual := logs.Levels[c.LogLevel]
	level.Set(usual)
	if usual == slog.LevelInfo {
		level.Set(slog.LevelWarn)
	}
	a := newApp(c, logs.At(&level, c, e.stderr))
	usualGC := debug.SetGCPercent(startGC)
	if err = a.start(e.ctx); err == nil {
		err = ready(e.ctx, a)
	}
	if err == nil {
		a.banner(e.stdout)
		level.Set(usual)
		debug.SetGCPercent(usualGC)
		debug.FreeOSMemory()                                         // a start needs twice what stays
		defer time.AfterFunc(time.Minute, debug.FreeOSMemory).Stop() // as does what begins beside it, later on a busy machine
		err = a.wait(e.ctx)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(e.ctx), stopLimit)
	defer cancel()
	if e.ctx.Err() != nil {
		fmt.Fprintln(e.stdout, goodbye)
	}
	return errors.Join(err, a.Stop(ctx))
}

func (a *app) start(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		a.claimAddresses, a.openStorage, a.startEngines, a.loadTools, a.post.newAddresses, a.startRuns, a.startMissions, a.startExports, a.startSeeing, a.startModeration, a.post.startInbox, a.startChat, a.startMetrics, a.startWeb, a.post.startOutbox, a.listen, a.keepInStep,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// A database server that ends by itself is started anew, but not one that does so time and again.
const (
	serverLosses = 5
	lossesWithin = 5 * time.Minute
)

// wait blocks until ctx ends or a part of the program fails.
func (a *app) wait(ctx context.Context) error {
	losses := limit.NewLimiter(limit.Every(lossesWithin/serverLosses), serverLosses)
	for {
		var lost <-chan struct{}
		if a.db.Server != nil {
			lost = a.db.Server.Done()
		}
		select {
		case <-ctx.Done():
			return nil
		case err := <-a.Failed():
			return err
		case <-lost:
		}
		a.db.Pool.Reset() // its connections are broken, and nobody shall get one once the server is back
		if !losses.Allow() {
			return errors.New("the database server ends by itself again and again; its log is in DATA_DIR/postgres")
		}
		a.log.Error("the database server ended by itself; it is started anew", "log", filepath.Join(a.cfg.DataDir, "postgres"))
		if err := a.db.Server.Restart(ctx); err != nil {
			return err
		}
	}
}

// claimAddresses takes LISTEN_ADDR and METRICS_ADDR before anything else is started or written. Who connects before startWeb waits.
func (a *app) claimAddresses(ctx context.Context) (err error) {
	if a.listener, err = a.Claim(ctx, "LISTEN_ADDR", a.cfg.ListenAddr); err == nil && a.cfg.MetricsAddr != "" {
		a.figures, err = a.Claim(ctx, "METRICS_ADDR", a.cfg.MetricsAddr)
	}
	return err
}

// startEngines connects the ComfyUI servers, or starts the CPU engine.
func (a *app) startEngines(ctx context.Context) error {
	urls := a.cfg.Engines
	if len(urls) == 0 {
		own, err := a.startCPU()
		if err != nil {
			return err
		}
		urls = []*url.URL{own}
	}
	headers, err := a.cfg.EngineHeaders()
	if err != nil {
		return err
	}
	rate, err := a.cfg.MachineRate()
	if err != nil {
		return err
	}
	a.fleet = comfy.NewFleet(urls, comfy.FleetConfig{
		Headers: headers, Logger: a.log.With("component", "engines"), OnChange: func() { a.reload(ctx) }, Orders: comfy.Orders{Pool: a.pool()}, Endpoints: a.cfg.Endpoints, GoneAfter: a.cfg.GoneAfter,
		Waiting: engines.Waiting(a.pool()), Rate: rate, UsualRate: a.cfg.UsualRate(), Waker: engines.Waker(a.cfg, a.pool(), headers),
	})
	a.fleet.Refresh(ctx)
	return nil
}

// pool is of the database; nil where there is none.
func (a *app) pool() *pgxpool.Pool {
	if a.db == nil {
		return nil
	}
	return a.db.Pool
}

// startCPU serves the CPU engine on a free port of loopback, where the fleet talks to it as to any other.
func (a *app) startCPU() (*url.URL, error) {
	engine, err := engines.Own(a.cfg.DataDir, a.log.With("component", "cpu engine"))
	if err != nil {
		return nil, err
	}
	a.OnStop("CPU engine", func(ctx context.Context) error { return engines.Close(ctx, engine) })
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	a.Serve("CPU engine", listener, engine)
	return &url.URL{Scheme: "http", Host: listener.Addr().String()}, nil
}

// engines is where operators see to them.
func (h *house) engines() engines.Control { return engines.Control{Fleet: h.fleet} }

// newWorkflows makes the loader of ComfyUI workflows: the bundled ones, and those of WORKFLOWS_DIR over
// them.
func (a *app) newWorkflows() {
	a.flows = loader.New(loader.Config{
		Sources: []fs.FS{workflows.FS, os.DirFS(a.cfg.WorkflowsDir)}, Engines: a.fleet, Store: a.templates,
		Rate: rate(a.cfg), ByMachine: a.cfg.ByMachine(), Logger: a.log,
		Learned: learned.New(a.pool(), a.log, a.Soon("what runs show of workflows", a.reload)), Loras: a.cfg.Loras,
	})
}

// newWatcher takes its first look now: what changes in the folders and files of tools from here on is read again.
func (a *app) newWatcher() {
	for variable, dir := range a.cfg.MissingFolders() {
		a.log.Warn("there is no such folder; what comes into it later is read", "setting", variable, "folder", dir)
	}
	dirs := []string{a.cfg.WorkflowsDir}
	if a.cfg.ToolsDir != "" {
		dirs = append(dirs, a.cfg.ToolsDir)
	}
	if info, err := os.Stat(a.cfg.AgentsDir); err == nil && info.IsDir() {
		dirs = append(dirs, a.cfg.AgentsDir)
	}
	var files []string
	for _, file := range []string{a.cfg.ToolManifest, a.cfg.MCPServers, a.cfg.ToolGuidanceFile} {
		if file != "" {
			files = append(files, file)
		}
	}
	a.watcher = watch.New(watch.Config{Dirs: dirs, Files: files, Changed: a.reload, Logger: a.log})
}

func (a *app) startRuns(ctx context.Context) error {
	card, err := a.cfg.RateCard()
	if err != nil {
		return err
	}
	if a.chat, err = a.newChat(ctx); err != nil {
		return err
	}
	quotes, err := a.keyFor("quotes")
	if err != nil {
		return err
	}
	check, err := a.resultChecks()
	if err != nil {
		return err
	}
	a.runs, err = runner.New(runs.Config{
		Pool: a.db.Pool, Registry: a.registry, Ledger: a.ledger, Users: a.users, Limits: a.users, Assets: a.media, RateCard: card,
		Providers:  a.providers(),
		Deliverers: a.chat.deliverers(), CallbackURL: a.post.callbackURL,
		Logger: logs.Quiet(a.log), Events: a.log, Metrics: a.metrics, Now: a.clock.Now, SiteID: a.siteID(), Approval: a.cfg.Approval(), Quotes: quotes, BillCanceled: a.cfg.BillCanceled == "true",
		KeepMetadata: a.cfg.KeepWorkflow == "true", Warn: func(ctx context.Context, run runs.Run) { a.chat.tell.Limits(ctx, a.runs, run) }, Screen: a.rules.Screen, Check: check,
	})
	if err != nil {
		return err
	}
	if err := a.runs.Start(ctx); err != nil {
		return err
	}
	a.OnStop("runs", a.runs.Stop)
	return nil
}

// providers is who runs the tools, by service.
func (a *app) providers() map[string]runs.Provider {
	providers := map[string]runs.Provider{
		loader.Service: {Submitter: comfy.NewProvider(comfy.ProviderConfig{Fleet: a.fleet, Workflows: a.flows, Logger: a.log, Metrics: a.metrics, PartnerKey: a.cfg.ComfyOrgAPIKey})},
	}
	for _, s := range a.services {
		providers[s.Name] = s.Provider
	}
	return providers
}

func (a *app) startWeb(ctx context.Context) error {
	telegram, discord, err := landing.SignIn(a.cfg)
	if err != nil {
		return err
	}
	if err := a.post.newOutbox(a.chat.tell.Person); err != nil {
		return err
	}
	answers, err := api.NewAnswers(a.db.Pool, a.key)
	if err != nil {
		return err
	}
	mounts, err := a.newMounts(a.key)
	if err != nil {
		return err
	}
	var metrics http.Handler
	if a.cfg.MetricsAddr == "" {
		metrics = promhttp.HandlerFor(a.metrics, promhttp.HandlerOpts{})
	}
	examples, err := landing.Examples(a.cfg.WorkflowsDir)
	if err != nil {
		return err
	}
	a.web, err = web.New(web.Config{
		Search: a.search,
		Mounts: mounts, Registry: a.registry, Runs: a.runs, Users: a.users, Ledger: a.ledger, Invitations: a.invitations(), Shares: pages.NewShares(a.db.Pool), Reports: a.linkReports(), Gallery: gallery.New(a.db.Pool), Logger: a.log.With("component", "web"),
		Public: a.cfg.Public, AdminToken: a.cfg.AdminToken, MetricsToken: a.cfg.MetricsToken, MediaOrigin: a.cfg.Store.MediaOrigin(), Proxies: a.cfg.Proxies, LinkKey: a.key, Version: version, Points: a.cfg.Points, Buying: pages.Buying{Offers: a.buying, Support: a.rules.Says(houserules.Support)},
		Telegram: telegram, Discord: discord, APIRate: a.cfg.RequestRate, Conversation: a.chat.page, Questions: a.agents.asked(), Hooks: a.post.outbox, Exports: a.exports, Answers: answers, Landing: landing.Page(a.cfg, a.rules, a.chat.telegram), Examples: examples, Drawings: drawings.Pages(a.canvas), Missions: a.missions,
		Status: func() map[string]any {
			return map[string]any{"engines": a.fleet.Status(), "lint": a.flows.Findings()}
		},
		Ready: func(ctx context.Context) error { return a.db.Pool.Ping(ctx) },
		Changes: func(ctx context.Context) ([]history.Change, error) {
			return a.history.Changes(ctx, history.ChangesQuery{})
		},
		Metrics: metrics, Measure: figures.Requests(a.metrics),
	})
	if err != nil {
		return err
	}
	if err := a.web.CloseLocal(ctx); err != nil {
		return err
	}
	a.chat.linkFiles(a.web)
	a.Serve("page", a.listener, a.content.withHost(a.web.Handler()))
	return nil
}

// startMetrics serves the figures at an address of their own, where the operator wants that.
func (a *app) startMetrics(context.Context) error {
	watched := figures.Config{Version: version, Pool: a.db.Pool, Fleet: a.fleet}
	if a.chat.discord != nil {
		watched.Gateway = a.chat.discord.Connected
	}
	figures.Register(a.metrics, watched)
	if a.figures == nil {
		return nil
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(a.metrics, promhttp.HandlerOpts{}))
	a.Serve("metrics", a.figures, mux)
	return nil
}

// keepInStep starts what keeps registry and fleet fresh.
func (a *app) keepInStep(context.Context) error {
	a.Background("engine health", a.fleet.Run)
	a.Background("folder watch", a.watcher.Run)
	a.Background("pinned versions", func(ctx context.Context) { versions.Follow(ctx, a.history, a.reload) })
	a.Background("settings of the console", func(ctx context.Context) { a.rules.Follow(ctx, a.log, a.reload) })
	a.Background("news of settings", func(ctx context.Context) { a.peers.Follow(ctx, "settings", func(context.Context) { a.rules.Look() }) })
	a.Background("news of tools", func(ctx context.Context) { a.peers.Follow(ctx, "tools", a.reload) })
	if a.knowledge.watcher != nil {
		a.Background("documents watch", a.knowledge.watcher.Run)
	}
	a.knowledge.readAgain()
	return a.startSchedules()
}

// banner is what a person reads after the start: five lines.
func (a *app) banner(w io.Writer) {
	page := "http://" + serve.Reachable(a.listener.Addr())
	if a.cfg.Public != nil {
		page = a.cfg.Public.String()
	}
	ready, waiting := a.inMenus()
	tools := fmt.Sprintf("%d ready", ready)
	if waiting > 0 {
		tools += fmt.Sprintf(", %d waiting for an engine that can run them", waiting)
	}
	style := terminal.StyleOf(w)
	var lines strings.Builder // written at once: who waits for the page's address reads the rest with it
	for _, line := range [][2]string{
		{"Page", style.Strong(page)}, {"Tools", tools}, {"Platforms", strings.Join(append([]string{"web", "API"}, a.chat.names()...), ", ")},
		{"Data", a.db.Place(a.cfg)}, {"Stop", "Ctrl-C"},
	} {
		fmt.Fprintf(&lines, "%s %s\n", style.Faint(fmt.Sprintf("%-10s", line[0])), line[1])
	}
	fmt.Fprint(w, lines.String())
}
