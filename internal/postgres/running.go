//go:build unix

package postgres

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/postgres/cluster"
)

// Attach connects to the server that another process of ours runs on dir, for commands that work beside
// it. It fails when none runs there.
func Attach(ctx context.Context, dir string) (*pgxpool.Pool, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	user, err := cluster.UserFor(dir)
	if err != nil {
		return nil, err
	}
	c := cluster.Cluster{Dir: dir, User: user}
	if _, ready := c.PID(); !ready {
		return nil, errors.New("no server of ours runs on " + dir)
	}
	return Connect(ctx, c.DSN(databaseName))
}
