package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/signalbox/signalbox/cmd/signalbox/demo"
	"github.com/signalbox/signalbox/cmd/signalbox/settings"
	"github.com/signalbox/signalbox/cmd/signalbox/terminal"
)

type demoCommand struct {
	Listen string `default:"127.0.0.1:0" help:"Address of the page. Who reaches it is the operator: keep it on loopback. Port 0: a free one."`
}

// How many runs are made, and how long that may take.
const (
	demoRuns   = 140
	demoAtMost = 45 * time.Second
)

// Run starts a house of its own in a folder that goes with it, fills it, and runs it until a signal comes. Neither the environment nor
// the data of another house is touched.
func (d demoCommand) Run(e env) error {
	dir, err := os.MkdirTemp("", "signalbox-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	usual, err := defaultSettings()
	if err != nil {
		return err
	}
	usual.DataDir, usual.ListenAddr, usual.LogLevel = dir, d.Listen, "error"
	fmt.Fprintln(e.stdout, "A house with a week of people is made; that takes half a minute.")
	return live(e, usual, "Stopping: this house is gone.", func(ctx context.Context, a *app) error {
		bar := terminal.Bar(e.stderr, demoRuns, "A week of people")
		filled, err := demo.Fill(ctx, demo.Config{
			Pool: a.db.Pool, Users: a.users, Ledger: a.ledger, Runs: a.runs, Now: time.Now(), AtMost: demoAtMost, Count: demoRuns, Done: func() { _ = bar.Add(1) },
		})
		if err != nil {
			return err
		}
		_ = bar.Finish()
		fmt.Fprintf(e.stdout, "%d people with %d runs are in it. /operator/ has the console, /history what you have made. All of it goes with Ctrl-C.\n\n", filled.People, filled.Runs)
		return nil
	})
}

// defaultSettings are those of a program to which nobody has said anything.
func defaultSettings() (settings.Settings, error) {
	var c cli
	parser, err := newParser(&c)
	if err != nil {
		return c.Settings, err
	}
	for _, f := range parser.Model.Flags {
		f.Value.Tag.Envs = nil
	}
	_, err = parser.Parse([]string{"version"})
	return c.Settings, err
}
