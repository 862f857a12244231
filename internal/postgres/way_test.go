package postgres

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
)

// TestASilentNetwork proves that connections over which nothing comes any more are left, whatever the caller's patience.
func TestASilentNetwork(t *testing.T) {
	t.Parallel()
	config, err := poolConfig(postgrestest.DSN(postgrestest.NewEmpty(t)))
	if err != nil {
		t.Fatal(err)
	}
	if config.ConnConfig.ConnectTimeout != connectTimeout || config.PingTimeout != pingTimeout {
		t.Errorf("connecting may take %v, a ping %v", config.ConnConfig.ConnectTimeout, config.PingTimeout)
	}
	config.PingTimeout = 100 * time.Millisecond // the same in less time
	config.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return true }
	config.MinConns, config.MaxConns = 0, 2
	var silent atomic.Bool
	var connections atomic.Int32
	dial := config.ConnConfig.DialFunc
	config.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if connections.Add(1) > 1 || err != nil {
			return conn, err
		}
		return &deafConn{Conn: conn, silent: &silent}, nil
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	ask := func() error { return pool.QueryRow(t.Context(), `SELECT 1`).Scan(new(int)) }
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	silent.Store(true)
	if err := ask(); err != nil {
		t.Errorf("a connection that fell silent is not replaced: %v", err)
	}
}

// deafConn hears nothing any more once silent is set.
type deafConn struct {
	net.Conn
	silent *atomic.Bool
}

func (c *deafConn) Read(p []byte) (int, error) {
	for {
		n, err := c.Conn.Read(p)
		if err != nil || !c.silent.Load() {
			return n, err
		}
	}
}
