package peers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/postgres"
)

// Divider is Process.Divide, for those who may be alone.
type Divider func(ctx context.Context, kind string, count int, work func(ctx context.Context, item int) error) error

// Divide has the numbers from 0 to count-1 of a kind worked on, each by one of the processes that call this, about as many by each; it
// returns nil when ctx ends. The context of work ends as well when another process shall go on with that number, which it does once work
// has returned. Work that ends by itself ends the part of this process with its error. While the database is away everybody keeps what he has.
func (p *Process) Divide(ctx context.Context, kind string, count int, work func(ctx context.Context, item int) error) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	d := &division{Process: p, kind: kind, count: count, work: work, end: end, running: make(map[int]context.CancelFunc)}
	heard := p.hear(shares)
	for {
		if err := d.look(ctx); err != nil && ctx.Err() == nil {
			p.log.WarnContext(ctx, "looking for this process' part failed, another try follows", "kind", kind, "error", err)
		}
		select {
		case <-heard:
		case <-ctx.Done():
			d.wait.Wait()
			err := d.leave(context.WithoutCancel(ctx))
			var over *endedError
			if errors.As(context.Cause(ctx), &over) {
				return over.err
			}
			return err
		}
	}
}

// endedError is work that ended by itself.
type endedError struct{ err error }

func (e *endedError) Error() string { return fmt.Sprintf("work ended by itself: %v", e.err) }

// division is one process' part of something.
type division struct {
	*Process
	kind  string
	count int
	work  func(ctx context.Context, item int) error
	end   context.CancelCauseFunc

	wait    sync.WaitGroup
	mu      sync.Mutex
	running map[int]context.CancelFunc
}

// look brings what is worked on here in line with what the database says is this process' part.
func (d *division) look(ctx context.Context) error {
	var mine []int
	var most int
	err := postgres.InTx(ctx, d.pool, func(tx pgx.Tx) (err error) {
		if most, err = d.fair(ctx, tx); err != nil {
			return err
		}
		mine, err = d.take(ctx, tx, most)
		return err
	})
	if err != nil {
		return err
	}
	for i, item := range mine {
		if i < most {
			d.start(ctx, item)
		} else if !d.stop(item) { // for another process
			d.free(ctx, item)
		}
	}
	for _, item := range d.strays(mine) { // taken over by another process while this one seemed to be gone
		d.stop(item)
	}
	return nil
}

// fair is how many numbers are this process' fair part. Who came first has one more, so that nothing moves for who comes later and gets none.
func (d *division) fair(ctx context.Context, tx pgx.Tx) (int, error) {
	tag, err := tx.Exec(ctx, `INSERT INTO house_members (kind, process) VALUES ($1, $2) ON CONFLICT (kind, process) DO NOTHING`, d.kind, d.id)
	if err == nil && tag.RowsAffected() > 0 {
		_, err = tx.Exec(ctx, `SELECT pg_notify($1, $2)`, channel, shares)
	}
	if err != nil {
		return 0, err
	}
	var members, before int
	err = tx.QueryRow(ctx, `SELECT count(*), count(*) FILTER (WHERE joined < (SELECT joined FROM house_members WHERE kind = $1 AND process = $2))
		FROM house_members WHERE kind = $1`, d.kind, d.id).Scan(&members, &before)
	if err != nil {
		return 0, err
	}
	most := d.count / members
	if before < d.count%members {
		most++
	}
	return most, nil
}

// take takes numbers that nobody works on, until there are as many as are fair, and gives all of this process.
func (d *division) take(ctx context.Context, tx pgx.Tx, most int) ([]int, error) {
	rows, _ := tx.Query(ctx, `SELECT item FROM house_shares WHERE kind = $1 AND process = $2 ORDER BY item`, d.kind, d.id)
	mine, err := pgx.CollectRows(rows, pgx.RowTo[int])
	if err != nil || len(mine) >= most {
		return mine, err
	}
	rows, _ = tx.Query(ctx, `
		INSERT INTO house_shares (kind, item, process)
		SELECT $1, n.item, $2 FROM generate_series(0, $3::int - 1) AS n (item)
		WHERE NOT EXISTS (SELECT FROM house_shares s WHERE s.kind = $1 AND s.item = n.item) ORDER BY n.item LIMIT $4
		ON CONFLICT (kind, item) DO NOTHING RETURNING item`, d.kind, d.id, d.count, most-len(mine))
	taken, err := pgx.CollectRows(rows, pgx.RowTo[int])
	return append(mine, taken...), err
}

// start has an item worked on, unless it is.
func (d *division) start(ctx context.Context, item int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.running[item] != nil {
		return
	}
	working, stop := context.WithCancel(ctx)
	d.running[item] = stop
	d.wait.Go(func() {
		err := d.work(working, item)
		ended := working.Err() == nil // by itself
		stop()
		if ended {
			d.end(&endedError{err})
			return
		}
		d.free(context.WithoutCancel(ctx), item)
		d.mu.Lock()
		delete(d.running, item)
		d.mu.Unlock()
		d.tell(shares) // this process may have taken the item again while its former work stood here
	})
}

// stop ends the work on an item, which leaves it to others then, and tells whether there was any.
func (d *division) stop(item int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	stop := d.running[item]
	if stop != nil {
		stop()
	}
	return stop != nil
}

// strays are the items worked on here that are not this process' any more.
func (d *division) strays(mine []int) (list []int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for item := range d.running {
		if !slices.Contains(mine, item) {
			list = append(list, item)
		}
	}
	return list
}

// free leaves an item to others.
func (d *division) free(ctx context.Context, item int) {
	ctx, cancel := context.WithTimeout(ctx, leaveTime)
	defer cancel()
	_, err := d.pool.Exec(ctx, `
		WITH gone AS (DELETE FROM house_shares WHERE kind = $1 AND item = $2 AND process = $3 RETURNING item)
		SELECT pg_notify($4, $5) FROM gone`, d.kind, item, d.id, channel, shares)
	if err != nil {
		d.log.WarnContext(ctx, "a connection can't be left to another process yet", "kind", d.kind, "number", item, "error", err)
	}
}

// leave gives up this process' part.
func (d *division) leave(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, leaveTime)
	defer cancel()
	_, err := d.pool.Exec(ctx, `
		WITH gone AS (DELETE FROM house_shares WHERE kind = $1 AND process = $2), left_ AS (DELETE FROM house_members WHERE kind = $1 AND process = $2)
		SELECT pg_notify($3, $4)`, d.kind, d.id, channel, shares)
	return errs.Wrap(err, "leave %s to other processes", d.kind)
}
