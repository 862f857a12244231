package peers

import (
	"context"
	"fmt"
)

// beside are the connections that a process has beside its pool, for signs of life and news.
const beside = 6

// checkRoom says so where the processes of the house, if they are like this one, may come to need more connections than the database allows.
func (p *Process) checkRoom(ctx context.Context) {
	processes, allowed, err := p.room(ctx)
	if err != nil {
		p.log.WarnContext(ctx, "asking how many connections the database allows failed", "error", err)
		return
	}
	each := beside
	if config := p.pool.Config(); config.BeforeConnect == nil { // else the pool's connections are a pooler's
		each += int(config.MaxConns)
	}
	if processes*each > allowed {
		p.log.WarnContext(ctx, "the database may run out of connections: set pool_max_conns in the DATABASE_URL of each process, raise max_connections of Postgres, or put PgBouncer in between",
			"processes", processes, "each", each, "allowed", allowed)
	}
}

// room is how many processes there are, and how many connections the database allows to all of them.
func (p *Process) room(ctx context.Context) (processes, allowed int, err error) {
	err = p.pool.QueryRow(ctx, `SELECT (SELECT count(*) FROM house_processes WHERE gone_at IS NULL),
		current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int - coalesce(current_setting('reserved_connections', true), '0')::int`).Scan(&processes, &allowed)
	if err != nil {
		return 0, 0, fmt.Errorf("count processes and connections: %w", err)
	}
	return processes, allowed, nil
}
