package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"github.com/signalbox/signalbox/comfy"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/registry/history"
)

type flashCommand struct {
	Out          string `required:"" placeholder:"DIR" help:"Folder to write to."`
	Stubs        string `placeholder:"PACKAGE" help:"Also write typed Go stubs of the tools, in a package of this name."`
	AllowMissing bool   `help:"Write also when an engine or a service does not answer: its tools stay as the files in DIR have them, or are left out."`
}

// Run writes the registry's files. It needs the engines and services, to know what they have, and the database, if there
// is one, for the tools that were registered at run time and for the names that tools once had.
func (f flashCommand) Run(e env) error {
	c, err := check(e.settings)
	if err != nil {
		return err
	}
	c.ToolsFile = "" // the live sources are asked, not an earlier dump
	a := newApp(c, newLogger(c, e.stderr))
	err = f.flash(e, a)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(e.ctx), stopLimit)
	defer cancel()
	return errors.Join(err, a.stop(ctx))
}

func (f flashCommand) flash(e env, a *app) error {
	if err := a.attachStorage(e.ctx); err != nil {
		return err
	}
	if err := a.startEngines(e.ctx); err != nil {
		return err
	}
	a.newWorkflows()
	if err := a.newRegistry(); err != nil {
		return err
	}
	if a.db != nil {
		if err := history.New(a.db.pool).Teach(e.ctx, a.registry); err != nil {
			return err
		}
	}
	_, err := a.registry.Reload(e.ctx)
	silent := a.silentEngines()
	missing := errors.Join(append(silent, err)...)
	if missing != nil && !f.AllowMissing {
		return fmt.Errorf("nothing was written; --allow-missing keeps the last good definitions of what does not answer: %w", missing)
	}
	s := a.registry.Snapshot()
	if missing != nil {
		fmt.Fprintf(e.stderr, "warning: %v\n", missing)
		if s, err = f.keepGood(e, s, len(silent) > 0); err != nil {
			return err
		}
	}
	meta := catalog.FlashMeta{Now: time.Now(), SourceVersion: sourceVersion(), StubsPackage: f.Stubs}
	if err := catalog.Flash(f.Out, s, meta); err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.stdout, "%d tools written to %s.\n", s.Len(), f.Out)
	return err
}

// silentEngines tells of each engine that does not answer. What its tools could do is not known then.
func (a *app) silentEngines() (errs []error) {
	for _, engine := range a.fleet.Status() {
		if !engine.Up {
			errs = append(errs, fmt.Errorf("the engine %s does not answer: %s", engine.Name, engine.Error))
		}
	}
	return errs
}

// keepGood puts what the dump in the folder has in the place of tools that could not be read now. Tools of engines that
// do not answer, and that no dump has, are left out rather than written as unavailable for good.
func (f flashCommand) keepGood(e env, s *catalog.Snapshot, silent bool) (*catalog.Snapshot, error) {
	last, err := catalog.NewFlashLoader("the last dump", filepath.Join(f.Out, catalog.FlashFile)).Load(e.ctx)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var tools []registry.Tool
	for t := range s.Each() {
		was := slices.IndexFunc(last, func(l registry.Tool) bool { return l.ToolID == t.ToolID })
		waits := silent && t.Service == comfy.Service && t.State() == registry.StateUnavailable && t.Status.Checked
		switch {
		case waits && was >= 0:
			tools = append(tools, last[was])
		case waits:
			fmt.Fprintf(e.stderr, "warning: %s is left out: %s\n", t.ToolID, t.Status.Reason)
		default:
			tools = append(tools, *t)
		}
	}
	for _, l := range last {
		if _, there := s.ByID(l.ToolID); !there {
			fmt.Fprintf(e.stderr, "warning: %s stays as it was: it could not be read now\n", l.ToolID)
			tools = append(tools, l)
		}
	}
	return catalog.NewSnapshot(tools, s.Time()), nil
}

// sourceVersion is the program's version; where none was given at build time, what Go knows of it.
func sourceVersion() string {
	info, ok := debug.ReadBuildInfo()
	if version != "dev" || !ok {
		return version
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return s.Value[:12]
		}
	}
	return version
}
