package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/agent/toolsearch"
	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/cmd/signalbox/config"
	"github.com/signalbox/signalbox/cmd/signalbox/figures"
	"github.com/signalbox/signalbox/comfy/loader"
	"github.com/signalbox/signalbox/internal/schedule"
	"github.com/signalbox/signalbox/platforms/chat/router"
	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/providers/content"
	mcpservers "github.com/signalbox/signalbox/providers/mcp"
	"github.com/signalbox/signalbox/providers/remote"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/registry/history"
	"github.com/signalbox/signalbox/runs"
)

// rate is the price of a second of engine time as tools carry it.
func rate(c config.Config) json.Number { return json.Number(c.ComfyUIUSDPerSecond) }

// newRegistry makes the registry with the loaders that the configuration asks for: the one visible list.
func (a *app) newRegistry() error {
	services, err := a.newServices()
	if err != nil {
		return err
	}
	a.services = services
	margins, err := a.cfg.ServiceMargins()
	if err != nil {
		return err
	}
	inForce := func() billing.Margins { return margins }
	shares := func() billing.ShareBounds { return billing.ShareBounds{} }
	if a.rules != nil {
		inForce, shares, a.rules.Changed = a.rules.ServiceMargins, a.rules.Shares, a.reload
	}
	loaders := []registry.Loader{a.flows}
	for _, s := range services {
		if s.Loader != nil {
			loaders = append(loaders, s.Loader)
		}
	}
	if a.cfg.ToolsDir != "" {
		loaders = append(loaders, a.preflight(catalog.NewFileLoader("tools", a.cfg.ToolsDir)))
	}
	for i, l := range loaders {
		loaders[i] = billing.LivingMargins(l, inForce)
	}
	if a.db != nil { // after the margins, which former versions have in their prices
		store, ready := history.New(a.db.Pool), a.readiers()
		for i, l := range loaders {
			loaders[i] = history.Pinned{Loader: l, Store: store, Ready: ready}
		}
	}
	if a.cfg.ToolsFile != "" { // its prices were made with the margins of then
		loaders = []registry.Loader{a.preflight(catalog.NewFlashLoader("flash", a.cfg.ToolsFile))}
	}
	for i, l := range loaders {
		loaders[i] = billing.LivingShares(l, shares)
	}
	a.registry, err = catalog.New(catalog.Config{
		Loaders: loaders, Reserved: router.Commands(), ReservedPaths: web.OwnPaths(), Former: content.FormerNames(), Logger: a.log.With("component", "registry"),
	})
	return err
}

// preflight lists tools that nothing here can run as unavailable.
func (a *app) preflight(l registry.Loader) registry.Loader {
	return runs.Preflight{Loader: l, Connected: a.readiers()}
}

// readiers tell by service whether a tool can be run now; nil: it always can.
type readiers map[string]registry.Readier

func (a *app) readiers() readiers {
	connected := readiers{loader.Service: a.flows}
	for _, s := range a.services {
		connected[s.Name], _ = runs.Extra[registry.Readier](s.Provider)
	}
	return connected
}

// Ready asks the tool's service.
func (r readiers) Ready(ctx context.Context, t registry.Tool) error {
	if asked := r[t.Service]; asked != nil {
		return asked.Ready(ctx, t)
	}
	return nil
}

// loadTools fills the registry and lets the history follow it.
func (a *app) loadTools(ctx context.Context) error {
	a.newWatcher()
	a.newWorkflows()
	if err := a.newRegistry(); err != nil {
		return err
	}
	if err := a.newSearch(); err != nil {
		return err
	}
	a.history = history.New(a.db.Pool)
	if err := a.history.Attach(ctx, a.registry, a.log); err != nil {
		return err
	}
	a.registry.OnSwap(a.followRenames)
	figures.Tools(a.metrics, func() int { return a.registry.Snapshot().Len() }, func() int { ready, _ := a.inMenus(); return ready })
	a.reload(ctx)
	if len(a.registry.Snapshot().ByService(agent.Service)) > 0 { // agents are checked by the tools that there are now
		if _, err := a.registry.Reload(ctx, agent.Service); err != nil && ctx.Err() == nil {
			a.log.Warn("some agents could not be loaded", "error", err)
		}
	}
	return nil
}

// reload reads all tools again. What fails is kept as it was and shown in the status.
func (a *app) reload(ctx context.Context) {
	if a.registry == nil {
		return // the fleet's first look, before there is a registry
	}
	if a.cfg.ToolsFile != "" {
		// The flashed tools name their templates, which the workflows bring along as soon as an engine has answered.
		a.loadTemplates(ctx)
	}
	if _, err := a.registry.Reload(ctx); err != nil && ctx.Err() == nil {
		a.log.Warn("some tools could not be loaded", "error", err)
	}
	if err := a.agents.readGuidance(); err != nil {
		a.log.Warn("the hints for tools stay as they were", "error", err)
	}
}

// loadTemplates reads the workflows, the endpoints of remote tools and the MCP servers without listing their tools, for those who run flashed ones. They are foreign input: a crash of the reader is one file's.
func (a *app) loadTemplates(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			a.log.Error("the workflow files could not be read", "panic", p, "stack", string(debug.Stack()))
		}
	}()
	behind := []registry.Loader{a.flows}
	for _, s := range a.services {
		if s.Name == remote.Service || s.Name == mcpservers.Service {
			behind = append(behind, s.Loader)
		}
	}
	for _, l := range behind {
		if _, err := l.Load(ctx); err != nil && !errors.Is(ctx.Err(), context.Canceled) {
			a.log.Warn("what is behind the flashed tools", "loader", l.Name(), "error", err)
		}
	}
}

// newSearch adds vectors to the search of tools, where there is a server that makes them.
func (a *app) newSearch() error {
	a.search = a.registry.Search
	if a.cfg.EmbeddingsURL == "" {
		return nil
	}
	client, err := newEmbeddings(a.cfg)
	if err != nil {
		return err
	}
	vectors := toolsearch.New(client, a.registry, a.log.With("component", "search"))
	a.search, a.near = vectors.Find, vectors.Near
	a.Background("search", vectors.Run)
	return nil
}

// inMenus counts the tools that people can pick and use now, and those that nobody can run.
func (a *app) inMenus() (ready, waiting int) { return a.registry.Snapshot().Menu(registry.Everyone) }

// How long jobs may take.
const (
	sweepTimeout = 30 * time.Minute
	readTimeout  = 2 * time.Hour
)

// sweepFiles deletes the files of runs that are older than KEEP_RESULTS_DAYS, and those that nothing needs.
func (a *app) sweepFiles(ctx context.Context) error {
	if err := a.runs.Expire(ctx, a.cfg.KeepResults); err != nil {
		return err
	}
	freed, err := a.media.Assets.Sweep(ctx)
	if freed.Files > 0 {
		a.log.Info("files that nothing needs were deleted", "files", freed.Files, "bytes", freed.Bytes)
	}
	return err
}

// startSchedules reads all sources again at the times of SYNC_SCHEDULE, and sweeps files every hour, on one machine each.
func (a *app) startSchedules() error {
	jobs := append(a.engines().ScalingJobs(a.cfg, a.db.Pool), schedule.Job{
		Name: "sync tools", Spec: a.cfg.SyncSchedule,
		Follow: func(ctx context.Context) { a.reload(ctx); debug.FreeOSMemory() }, // reading needs twice what stays
	}, schedule.Job{
		Name: "read documents", Spec: "@daily", Timeout: readTimeout,
		Do: func(ctx context.Context, _ pgx.Tx, _ time.Time) error { return a.knowledge.Sync(ctx) },
	}, schedule.Job{
		Name: "sweep files", Spec: "@hourly", Timeout: sweepTimeout,
		Do: func(ctx context.Context, _ pgx.Tx, _ time.Time) error { return a.sweepFiles(ctx) },
	}, schedule.Job{
		Name: "publish what is due on the site", Spec: "@every 10s", Timeout: sweepTimeout,
		Do: func(ctx context.Context, _ pgx.Tx, _ time.Time) error {
			_, err := a.content.store.PublishDue(ctx)
			return err
		},
	}, schedule.Job{
		Name: "empty the site's bin", Spec: "@daily", Timeout: sweepTimeout,
		Do: func(ctx context.Context, _ pgx.Tx, _ time.Time) error { return a.content.store.Sweep(ctx) },
	}, schedule.Job{
		Name: "end parties of groups", Spec: "@every 15s",
		Do: func(ctx context.Context, _ pgx.Tx, _ time.Time) error {
			return a.groupWallets().Tend(ctx, a.chat.router.PartyOver)
		},
	}, schedule.Job{
		Name: "end subscriptions of deleted accounts", Spec: "@every 10s",
		Do: func(ctx context.Context, _ pgx.Tx, _ time.Time) error { return a.seller.EndSubscriptions(ctx) },
	}, schedule.Job{
		Name: "follow groups that moved", Spec: "@every 1m", Timeout: sweepTimeout,
		Do: func(ctx context.Context, _ pgx.Tx, _ time.Time) error {
			if a.chat.telegram == nil {
				return nil
			}
			return a.chat.telegram.FollowMoves(ctx)
		},
	})
	runner, err := schedule.New(a.db.Pool, schedule.Config{Logger: a.log, Now: a.clock.Now}, jobs...)
	if err != nil {
		return err
	}
	a.Background("schedules", func(ctx context.Context) {
		if err := runner.Run(ctx); err != nil && ctx.Err() == nil {
			a.Fail(fmt.Errorf("schedules: %w", err))
		}
	})
	return nil
}
