package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/cmd/signalbox/build"
	"github.com/signalbox/signalbox/cmd/signalbox/config"
	"github.com/signalbox/signalbox/cmd/signalbox/flash"
	"github.com/signalbox/signalbox/cmd/signalbox/logs"
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
	c, err := config.Check(e.settings)
	if err != nil {
		return err
	}
	c.ToolsFile = "" // the live sources are asked, not an earlier dump
	a := newApp(c, logs.New(c, e.stderr))
	err = f.flash(e, a)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(e.ctx), stopLimit)
	defer cancel()
	return errors.Join(err, a.Stop(ctx))
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
		if err := history.New(a.db.Pool).Teach(e.ctx, a.registry); err != nil {
			return err
		}
	}
	_, err := a.registry.Reload(e.ctx)
	silent := a.engines().Silent()
	missing := errors.Join(append(silent, err)...)
	if missing != nil && !f.AllowMissing {
		return fmt.Errorf("nothing was written; --allow-missing keeps the last good definitions of what does not answer: %w", missing)
	}
	s := a.registry.Snapshot()
	if missing != nil {
		fmt.Fprintf(e.stderr, "warning: %v\n", missing)
		if s, err = flash.KeepGood(e.ctx, e.stderr, f.Out, s, len(silent) > 0); err != nil {
			return err
		}
	}
	meta := catalog.FlashMeta{Now: time.Now(), SourceVersion: build.Version(version), StubsPackage: f.Stubs}
	if err := catalog.Flash(f.Out, s, meta); err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.stdout, "%d tools written to %s.\n", s.Len(), f.Out)
	return err
}
