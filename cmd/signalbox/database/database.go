// Package database opens the database of the program: the one that DATABASE_URL names, or the own server under DATA_DIR.
package database

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/cmd/signalbox/config"
	"github.com/signalbox/signalbox/internal/postgres"
)

// DB is the connection pool and, without DATABASE_URL, the own server behind it.
type DB struct {
	Pool   *pgxpool.Pool
	Server *postgres.Server // nil with DATABASE_URL
}

// Open connects to DATABASE_URL, or starts the own Postgres under DATA_DIR.
func Open(ctx context.Context, c config.Config, log *slog.Logger) (*DB, error) {
	if c.DatabaseURL != "" {
		pool, err := postgres.ConnectBoth(ctx, c.DatabaseURL, c.DatabaseSessionURL)
		if err != nil {
			return nil, fmt.Errorf("DATABASE_URL: %w", err)
		}
		return &DB{Pool: pool}, nil
	}
	server, err := postgres.Start(ctx, postgres.Config{
		Dir: filepath.Join(c.DataDir, "postgres"), Logger: log,
		Download: postgres.Download{MirrorURL: c.PostgresMirrorURL, Progress: c.Fetching},
	})
	if err != nil {
		return nil, err
	}
	pool, err := postgres.Connect(ctx, server.DSN())
	if err != nil {
		stopCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		server.Stop(stopCtx)
		return nil, err
	}
	return &DB{Pool: pool, Server: server}, nil
}

// Attach is Open for commands that work beside a running program: the own Postgres of a
// program on the same DATA_DIR is used, not started a second time.
func Attach(ctx context.Context, c config.Config, log *slog.Logger) (*DB, error) {
	db, err := Open(ctx, c, log)
	if !errors.Is(err, postgres.ErrInUse) {
		return db, err
	}
	pool, err := postgres.Attach(ctx, filepath.Join(c.DataDir, "postgres"))
	if err != nil {
		return nil, err
	}
	return &DB{Pool: pool}, nil
}

// Close returns the connections and stops the own server.
func (d *DB) Close(ctx context.Context) error {
	d.Pool.Close()
	if d.Server == nil {
		return nil
	}
	return d.Server.Stop(ctx)
}

// Place says where the data is, for people.
func (d *DB) Place(c config.Config) string {
	if d.Server == nil {
		return config.Redact(c.DatabaseURL) + " and " + c.DataDir
	}
	return c.DataDir
}
