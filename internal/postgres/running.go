//go:build unix

package postgres

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/postgres/cluster"
)

// Found is what Look sees.
type Found struct {
	Binaries cluster.Binaries // the programs that a start would use
	Data     int              // the major version that wrote the data; 0: there is none yet
	Running  bool             // a program of ours runs the server
}

// Look sees what Start would find in dir, and starts, fetches and writes nothing. Errors wrap ErrForeignVersion or
// ErrNoBinaries where these are the reason; of ErrNoBinaries Start may still be saved by fetching them.
func Look(ctx context.Context, dir string) (Found, error) {
	major, err := cluster.DataVersion(dir)
	if err != nil {
		return Found{}, err
	}
	pid, _ := (&cluster.Cluster{Dir: dir}).PID()
	found := Found{Data: major, Running: cluster.Serving(pid)}
	found.Binaries, err = cluster.Find(ctx, major)
	if _, fetched := builds[major]; err != nil && major != 0 && !fetched {
		err = fmt.Errorf("%w: the data in %s needs Postgres %d (%w)", ErrForeignVersion, dir, major, err)
	}
	return found, err
}

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
