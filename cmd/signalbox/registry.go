package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox/comfy"
	"github.com/signalbox/signalbox/internal/schedule"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// rate is the price of a second of engine time as tools carry it.
func rate(c Config) json.Number { return json.Number(c.ComfyUIUSDPerSecond) }

// newRegistry makes the registry with the loaders that the configuration asks for: the one visible list.
func (a *app) newRegistry() error {
	services, err := a.newServices()
	if err != nil {
		return err
	}
	a.services = services
	margins, err := serviceMargins(a.cfg)
	if err != nil {
		return err
	}
	loaders := []registry.Loader{a.flows}
	for _, s := range services {
		if s.loader != nil {
			loaders = append(loaders, s.loader)
		}
	}
	if a.cfg.ToolsDir != "" {
		loaders = append(loaders, a.preflight(registry.NewFileLoader("tools", a.cfg.ToolsDir)))
	}
	for i, l := range loaders {
		loaders[i] = margins.Loader(l)
	}
	if a.cfg.ToolsFile != "" { // its prices were made with the margins of then
		loaders = []registry.Loader{a.preflight(registry.NewFlashLoader("flash", a.cfg.ToolsFile))}
	}
	a.registry, err = registry.New(registry.Config{
		Loaders: loaders, Reserved: chat.Commands(), ReservedPaths: web.OwnPaths(), Logger: a.log.With("component", "registry"),
	})
	return err
}

// preflight lists tools of services that are not connected as unavailable; a command that runs nothing can't know which will be.
func (a *app) preflight(l registry.Loader) registry.Loader {
	if a.templates == (hashOnly{}) {
		return l
	}
	names := []string{comfy.Service}
	for _, s := range a.services {
		names = append(names, s.name)
	}
	return runs.Preflight{Loader: l, Services: names}
}

// loadTools fills the registry and lets the history follow it.
func (a *app) loadTools(ctx context.Context) error {
	a.newWatcher()
	a.newWorkflows()
	if err := a.newRegistry(); err != nil {
		return err
	}
	a.history = registry.NewHistory(a.db.pool)
	if err := a.history.Attach(ctx, a.registry, a.log); err != nil {
		return err
	}
	a.registry.OnSwap(a.followRenames)
	a.registerToolMetrics()
	a.reload(ctx)
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
}

// loadTemplates reads the workflows without listing them. They are foreign input: a crash of the reader is one file's.
func (a *app) loadTemplates(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			a.log.Error("the workflow files could not be read", "panic", p, "stack", string(debug.Stack()))
		}
	}()
	if _, err := a.flows.Load(ctx); err != nil && !errors.Is(ctx.Err(), context.Canceled) {
		a.log.Warn("workflow files", "error", err)
	}
}

func (a *app) registerToolMetrics() {
	a.metrics.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "signalbox_tools", Help: "Tools in the catalogue."},
			func() float64 { return float64(a.registry.Snapshot().Len()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "signalbox_tools_offered", Help: "Tools that can be used now."},
			func() float64 { return float64(len(a.registry.Snapshot().Offered(registry.Everyone))) }),
	)
}

// startSchedules reads all sources again at the times of SYNC_SCHEDULE, on every machine.
func (a *app) startSchedules() error {
	runner, err := schedule.New(a.db.pool, schedule.Config{Logger: a.log}, schedule.Job{
		Name: "sync tools", Spec: a.cfg.SyncSchedule, Follow: a.reload,
	})
	if err != nil {
		return err
	}
	a.background("schedules", func(ctx context.Context) {
		if err := runner.Run(ctx); err != nil && ctx.Err() == nil {
			a.failed <- fmt.Errorf("schedules: %w", err)
		}
	})
	return nil
}

type flashCommand struct {
	Out   string `required:"" placeholder:"DIR" help:"Folder to write to."`
	Stubs string `placeholder:"PACKAGE" help:"Also write typed Go stubs of the tools, in a package of this name."`
}

// Run writes the registry's files. It needs the engines, to know what they have, but no database.
func (f flashCommand) Run(e env) error {
	c, err := e.settings.check()
	if err != nil {
		return err
	}
	a := &app{cfg: c, log: newLogger(c, e.stderr), metrics: prometheus.NewRegistry(), failed: make(chan error, 1)}
	err = f.flash(e, a)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(e.ctx), stopLimit)
	defer cancel()
	return errors.Join(err, a.stop(ctx))
}

func (f flashCommand) flash(e env, a *app) error {
	a.templates = hashOnly{}
	if err := a.startEngines(e.ctx); err != nil {
		return err
	}
	a.newWorkflows()
	if err := a.newRegistry(); err != nil {
		return err
	}
	if _, err := a.registry.Reload(e.ctx); err != nil {
		return fmt.Errorf("nothing was written: %w", err)
	}
	s := a.registry.Snapshot()
	meta := registry.FlashMeta{Now: time.Now(), SourceVersion: sourceVersion(), StubsPackage: f.Stubs}
	if err := registry.Flash(f.Out, s, meta); err != nil {
		return err
	}
	_, err := fmt.Fprintf(e.stdout, "%d tools written to %s.\n", s.Len(), f.Out)
	return err
}

// sourceVersion is the program's version, with the commit it was built from where Go knows it.
func sourceVersion() string {
	if version != "dev" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return version + " " + s.Value[:12]
		}
	}
	return version
}

// hashOnly names templates without keeping them, for commands that run nothing.
type hashOnly struct{}

// Put gives the reference that a store would.
func (hashOnly) Put(_ context.Context, r io.Reader, name string) (registry.Media, registry.MediaInfo, error) {
	h := sha256.New()
	n, err := io.Copy(h, r)
	return "asset:" + hex.EncodeToString(h.Sum(nil)), registry.MediaInfo{Name: name, Bytes: n}, err
}

// OpenMedia finds nothing.
func (hashOnly) OpenMedia(context.Context, registry.Media) (io.ReadCloser, registry.MediaInfo, error) {
	return nil, registry.MediaInfo{}, errors.New("this command keeps no files")
}
