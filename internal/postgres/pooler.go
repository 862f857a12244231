package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/postgres/session"
)

// behindPooler gives a pool that works as well behind a pooler, such as PgBouncer, in the place of one that does not, which it closes. It fails
// where sessions would come from a pooler that gives each transaction another connection.
func behindPooler(ctx context.Context, pool *pgxpool.Pool, config *pgxpool.Config, dsn string) (*pgxpool.Pool, error) {
	var direct bool
	err := pool.AcquireFunc(ctx, func(conn *pgxpool.Conn) (err error) {
		direct, _, err = isDirect(ctx, conn.Conn())
		return err
	})
	if err == nil && direct {
		return pool, nil
	}
	pool.Close()
	if err != nil {
		return nil, err
	}
	apart, err := session.Config(ctx, pool)
	if err != nil {
		return nil, err
	}
	switch stays, err := isSession(ctx, apart); {
	case err != nil:
		return nil, fmt.Errorf("DATABASE_SESSION_URL: %w", err)
	case !stays:
		return nil, errors.New("it is behind a pooler that gives each transaction another connection (PgBouncer: pool_mode = transaction): set DATABASE_SESSION_URL to the address of Postgres itself, or of a pool of sessions")
	}
	config = config.Copy()
	if !strings.Contains(dsn, "default_query_exec_mode") {
		// Prepared statements belong to a connection of the server, which is another one the next time.
		config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
		config.ConnConfig.DescriptionCacheCapacity = config.ConnConfig.StatementCacheCapacity
	}
	return pgxpool.NewWithConfig(ctx, config)
}

// isDirect reports whether nobody stands between a connection and the server, by the process that the server named when it greeted, and gives
// the process that answers.
func isDirect(ctx context.Context, conn *pgx.Conn) (direct bool, pid uint32, err error) {
	err = conn.QueryRow(ctx, `SELECT pg_backend_pid()`, pgx.QueryExecModeExec).Scan(&pid)
	return pid == conn.PgConn().PID(), pid, err
}

// sharedTries is how often it is tried whether two connections share one of the server.
const sharedTries = 5

// isSession reports whether connections are sessions of the server, as far as that can be seen. A pooler of transactions has two idle clients
// use the same connection of the server in turn.
func isSession(ctx context.Context, config *pgx.ConnConfig) (bool, error) {
	var conns [2]*pgx.Conn
	for i := range conns {
		conn, err := pgx.ConnectConfig(ctx, config)
		if err != nil {
			return false, err
		}
		defer conn.Close(context.WithoutCancel(ctx))
		conns[i] = conn
	}
	for range sharedTries {
		direct, first, err := isDirect(ctx, conns[0])
		if err != nil || direct {
			return direct, err
		}
		if _, second, err := isDirect(ctx, conns[1]); err != nil || first == second {
			return false, err
		}
	}
	return true, nil
}
