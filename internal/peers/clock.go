package peers

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// tolerance is how far a clock may be off before it is set right: no claim or pause in the database is so short that it would matter.
	tolerance = time.Second
	// askEvery is how often the database is asked for its time. It is shorter than any claim by time.
	askEvery = 10 * time.Second
)

// Clock is the time of all processes that share a database: this computer's, and the database's where the two differ. Times that one
// process writes and another compares with its own, such as those of claims, come from it.
type Clock struct {
	pool  *pgxpool.Pool
	log   *slog.Logger
	now   func() time.Time // this computer's time
	ahead atomic.Int64     // of the database, in nanoseconds
}

// NewClock makes a Clock that goes by this computer until it has asked the database.
func NewClock(pool *pgxpool.Pool, log *slog.Logger) *Clock {
	return &Clock{pool: pool, log: log, now: time.Now}
}

// Now is the present time.
func (c *Clock) Now() time.Time { return c.now().Add(-time.Duration(c.ahead.Load())) }

// Ask compares this computer's time with the database's.
func (c *Clock) Ask(ctx context.Context) error {
	conn, err := c.pool.Acquire(ctx) // waiting for one is no part of the question
	if err != nil {
		return err
	}
	defer conn.Release()
	var database time.Time
	before := c.now()
	if err := conn.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&database); err != nil {
		return err
	}
	took := c.now().Sub(before)
	ahead := before.Add(took / 2).Sub(database) // give or take took/2
	if ahead.Abs() <= tolerance {
		ahead = 0
	}
	if was := time.Duration(c.ahead.Load()); (was - ahead).Abs() > tolerance+took/2 { // what a late answer does not prove wrong stays
		c.ahead.Store(int64(ahead))
		c.log.WarnContext(ctx, "this computer's clock is not the database's, which counts; set both by a time server", "ahead", ahead.Round(time.Millisecond))
	}
	return nil
}

// Follow asks the database now and then until ctx ends.
func (c *Clock) Follow(ctx context.Context) {
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := c.Ask(ctx); err != nil && ctx.Err() == nil {
			c.log.WarnContext(ctx, "asking the database for its time failed, another try follows", "error", err)
		}
	}
}
