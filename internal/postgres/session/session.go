// Package session gives connections that keep their state from one statement to the next, also where the pool's do not.
package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// wanted is in the context of a connection that is made by Open.
type wanted struct{}

// By has Open connect to another address than the pool does.
func By(config *pgxpool.Config, dsn string) error {
	apart, err := pgx.ParseConfig(dsn)
	if err != nil {
		return errors.New("DATABASE_SESSION_URL is no Postgres address: want postgres://user:password@host:5432/database, with special characters of the password %-encoded")
	}
	apart.DialFunc, apart.ConnectTimeout = config.ConnConfig.DialFunc, config.ConnConfig.ConnectTimeout
	apart.RuntimeParams["application_name"] = config.ConnConfig.RuntimeParams["application_name"]
	config.BeforeConnect = func(ctx context.Context, c *pgx.ConnConfig) error {
		if ctx.Value(wanted{}) != nil {
			*c = *apart.Copy()
		}
		return nil
	}
	return nil
}

// keepAlive has the database notice within some seconds that the machine of a session is gone, or its network. A connection through a
// local socket takes no notice of it.
const keepAlive = `SELECT set_config('tcp_keepalives_idle', '4', false), set_config('tcp_keepalives_interval', '2', false), set_config('tcp_keepalives_count', '2', false)`

// Config is how Open connects to a pool's database.
func Config(ctx context.Context, pool *pgxpool.Pool) (*pgx.ConnConfig, error) {
	config := pool.Config()
	if config.BeforeConnect != nil {
		if err := config.BeforeConnect(context.WithValue(ctx, wanted{}, true), config.ConnConfig); err != nil {
			return nil, err
		}
	}
	return config.ConnConfig, nil
}

// Open gives a connection of its own to a pool's database, which the caller closes. What it is told stays from one statement to the next, as
// LISTEN and locks that outlive a transaction need; behind a pooler that does not hold for the pool's connections.
func Open(ctx context.Context, pool *pgxpool.Pool) (*pgx.Conn, error) {
	config, err := Config(ctx, pool)
	if err != nil {
		return nil, err
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Exec(ctx, keepAlive, pgx.QueryExecModeExec); err != nil {
		return nil, errors.Join(fmt.Errorf("prepare a session: %w", err), conn.Close(context.WithoutCancel(ctx)))
	}
	return conn, nil
}
