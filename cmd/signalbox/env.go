package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/cmd/signalbox/accounts"
	"github.com/signalbox/signalbox/cmd/signalbox/config"
	"github.com/signalbox/signalbox/cmd/signalbox/database"
	"github.com/signalbox/signalbox/cmd/signalbox/logs"
	"github.com/signalbox/signalbox/cmd/signalbox/settings"
	"github.com/signalbox/signalbox/migrations"
	"github.com/signalbox/signalbox/registry/history"
	"github.com/signalbox/signalbox/users"
)

// version is set at build time (-ldflags "-X main.version=...").
var version = "dev"

// env is what a command gets from its surroundings.
type env struct {
	ctx            context.Context
	stdout, stderr io.Writer
	settings       settings.Settings
}

// errReported ends the program with code 1 without another word.
var errReported = errors.New("already reported")

func printError(w io.Writer, err error) {
	if errors.Is(err, errReported) {
		return
	}
	for line := range strings.SplitSeq(err.Error(), "\n") {
		fmt.Fprintln(w, "signalbox:", line)
	}
}

// withDatabase opens the database for one command, that of a running program if there is one, and brings its schema up to date.
func withDatabase(e env, do func(ctx context.Context, c config.Config, db *database.DB, log *slog.Logger) error) error {
	return openFor(e, func(ctx context.Context, c config.Config, db *database.DB, log *slog.Logger) error {
		if _, err := migrations.Up(ctx, db.Pool, logs.Quiet(log)); err != nil {
			return err
		}
		return do(ctx, c, db, log)
	})
}

// openFor is withDatabase with the schema left as it is.
func openFor(e env, do func(ctx context.Context, c config.Config, db *database.DB, log *slog.Logger) error) error {
	c, err := config.Check(e.settings)
	if err != nil {
		return err
	}
	log := logs.New(c, e.stderr)
	db, err := database.Attach(e.ctx, c, log)
	if err != nil {
		return err
	}
	err = do(e.ctx, c, db, log)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(e.ctx), 10*time.Second)
	defer cancel()
	return errors.Join(err, db.Close(ctx))
}

// withUsers opens the store of people for one command.
func withUsers(e env, do func(ctx context.Context, store *users.Store) error) error {
	return withDatabase(e, func(ctx context.Context, cfg config.Config, db *database.DB, _ *slog.Logger) error {
		return do(ctx, accounts.New(db.Pool, billing.NewLedger(db.Pool), cfg))
	})
}

// withHistory opens the history of tools for one command.
func withHistory(e env, do func(ctx context.Context, store *history.Store) error) error {
	return withDatabase(e, func(ctx context.Context, _ config.Config, db *database.DB, _ *slog.Logger) error {
		return do(ctx, history.New(db.Pool))
	})
}
