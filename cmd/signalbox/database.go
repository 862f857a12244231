package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/postgres"
)

// database is the connection pool and, without DATABASE_URL, the own server behind it.
type database struct {
	pool   *pgxpool.Pool
	server *postgres.Server // nil with DATABASE_URL
}

// openDatabase connects to DATABASE_URL, or starts the own Postgres under DATA_DIR.
func openDatabase(ctx context.Context, c Config, log *slog.Logger) (*database, error) {
	if c.DatabaseURL != "" {
		pool, err := postgres.Connect(ctx, c.DatabaseURL)
		if err != nil {
			return nil, fmt.Errorf("DATABASE_URL: %w", err)
		}
		return &database{pool: pool}, nil
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
	return &database{pool: pool, server: server}, nil
}

// attachDatabase is openDatabase for commands that work beside a running program: the own Postgres of a
// program on the same DATA_DIR is used, not started a second time.
func attachDatabase(ctx context.Context, c Config, log *slog.Logger) (*database, error) {
	db, err := openDatabase(ctx, c, log)
	if !errors.Is(err, postgres.ErrInUse) {
		return db, err
	}
	pool, err := postgres.Attach(ctx, filepath.Join(c.DataDir, "postgres"))
	if err != nil {
		return nil, err
	}
	return &database{pool: pool}, nil
}

// close returns the connections and stops the own server.
func (d *database) close(ctx context.Context) error {
	d.pool.Close()
	if d.server == nil {
		return nil
	}
	return d.server.Stop(ctx)
}

// place says where the data is, for people.
func (d *database) place(c Config) string {
	if d.server == nil {
		return redactURL(c.DatabaseURL) + " and " + c.DataDir
	}
	return c.DataDir
}
