package router

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/postgres/session"
	"github.com/signalbox/signalbox/platforms/chat/store"
)

// presenceLock is the advisory lock that a Router holds as long as it lives. The database gives it up when
// the process is gone, however that happened, and another Router takes over what it had claimed.
const presenceLock = `hashtextextended($1, 7003)`

// presence is a Router's sign of life in the database, on a connection of its own.
type presence struct {
	pool *pgxpool.Pool
	id   string
	conn *pgx.Conn
}

func newPresence(pool *pgxpool.Pool) *presence { return &presence{pool: pool, id: store.NewID()} }

// begin takes the sign of life.
func (p *presence) begin(ctx context.Context) error {
	conn, err := session.Open(ctx, p.pool)
	if err != nil {
		return fmt.Errorf("a connection for the sign of life: %w", err)
	}
	if _, err := conn.Exec(ctx, `SELECT pg_advisory_lock(`+presenceLock+`)`, p.id); err != nil {
		return errors.Join(fmt.Errorf("take the sign of life: %w", err), conn.Close(ctx))
	}
	p.conn = conn
	return nil
}

// end gives the sign of life up at once; a connection that merely closes takes the database a moment.
func (p *presence) end(ctx context.Context) {
	if p.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	// Where this fails the connection is broken, and the lock is gone with it.
	_, _ = p.conn.Exec(ctx, `SELECT pg_advisory_unlock(`+presenceLock+`)`, p.id)
	_ = p.conn.Close(ctx)
	p.conn = nil
}

// keep renews the sign of life when its connection breaks, until ctx ends. Meanwhile others may take over
// what is being handled here, which does no harm: handling an update twice starts nothing twice.
func (p *presence) keep(ctx context.Context, log *slog.Logger) {
	defer func() { p.end(ctx) }()
	for ctx.Err() == nil {
		if p.conn != nil {
			err := p.broken(ctx)
			if err == nil {
				return // ctx ended
			}
			log.WarnContext(ctx, "the connection for the sign of life broke", "error", err)
			p.end(ctx)
		}
		if err := p.begin(ctx); err != nil {
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
	}
}

// lookEvery is how often the connection is tried.
const lookEvery = 5 * time.Second

// broken waits until the connection breaks, and gives nil when ctx ends first.
func (p *presence) broken(ctx context.Context) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		trying, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookEvery)
		err := p.conn.Ping(trying)
		cancel()
		if err != nil {
			return err
		}
	}
}
