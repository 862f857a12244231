package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/signalbox/signalbox/cmd/signalbox/config"
	"github.com/signalbox/signalbox/cmd/signalbox/doctor"
	"github.com/signalbox/signalbox/cmd/signalbox/help"
	"github.com/signalbox/signalbox/cmd/signalbox/serve"
	"github.com/signalbox/signalbox/cmd/signalbox/terminal"
)

type doctorCommand struct {
	Ready bool `help:"Only ask the running program whether it is ready; for health checks."`
}

// Run checks everything that a start needs, one line each, and says how to mend what is wrong.
func (d doctorCommand) Run(e env) error {
	c, err := config.Check(e.settings)
	switch {
	case d.Ready && err == nil:
		return askReady(e.ctx, c)
	case d.Ready:
		return err
	}
	style := terminal.StyleOf(e.stdout)
	headers, wrong := c.EngineHeaders()
	if err = errors.Join(err, wrong); err != nil {
		doctor.WrongSettings(e.stdout, style)
		printError(e.stdout, err)
		return errReported
	}
	parser, err := newParser(new(cli))
	if err != nil {
		return err
	}
	healthy := doctor.Look(e.ctx, e.stdout, doctor.Config{
		DataDir: c.DataDir, Public: c.Public, AdminToken: c.AdminToken, WorkflowsDir: c.WorkflowsDir, ToolsDir: c.ToolsDir, DatabaseURL: c.DatabaseURL, DatabaseSessionURL: c.DatabaseSessionURL, ListenAddr: c.ListenAddr,
		Engines: c.Engines, EngineHeaders: headers, Endpoints: c.Endpoints, TelegramToken: c.TelegramBotToken, TelegramAPI: c.TelegramAPI,
		DiscordToken: c.DiscordBotToken, DiscordAppID: c.DiscordAppID, DiscordPublicKey: c.DiscordPublicKey, DiscordAPI: c.DiscordAPI, Style: style,
		Misspelt: help.Misspelt(os.Environ(), parser.Model.Flags), Missing: c.MissingFolders(),
	})
	if !healthy {
		return errReported
	}
	return nil
}

// askReady is the health check of containers, whose images have no curl.
func askReady(ctx context.Context, c config.Config) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	return serve.Ask(ctx, c.ListenAddr, "/readyz")
}
