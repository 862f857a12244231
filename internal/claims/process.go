// Package claims is how processes that share a database share the work that waits in it, without a job queue beside their tables.
//
// A row that needs work has its claim in itself: the id of the process that works on it, or NULL. A process takes rows with
// FOR UPDATE SKIP LOCKED, as many as it has places for, and is told of new ones by NOTIFY, which is only a hint: it also looks now
// and then. A Process is the sign of life behind its claims: an advisory lock that the database gives up when the process is gone,
// however that happened. The others see that within seconds and take its claims over, so no claim needs a lease that is longer than
// its work. A Queue is a table of such rows that are due at a time, and of the tries that failed.
package claims

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/internal/postgres/session"
)

// ProcessConfig is what a Process works with. All but Channel, Heard, Again and Missed are needed.
type ProcessConfig struct {
	Pool *pgxpool.Pool
	Log  *slog.Logger
	ID   string // among the processes that share the database
	// Table has a row for each process: id text, started_at timestamptz, and gone_at timestamptz, when it was first found to be gone.
	Table string
	Lock  string // the advisory lock of an id, see package locks
	// Channel is listened to, if there is one; Heard gets what comes.
	Channel string
	Heard   func(payload string)
	// Again is called every other second, for a notification may have been missed.
	Again func(ctx context.Context)
	// Missed is called when the connection was lost and is back: notifications were missed. nil: Again is enough.
	Missed func()
	// Release gives up all that a process had claimed, which lived since then, and tells how much that was.
	Release func(ctx context.Context, tx pgx.Tx, id string, since time.Time) (freed int64, err error)
}

const (
	againEvery = 2 * time.Second
	reconnect  = time.Second

	// secondLook is when what a process had claimed that is gone is looked for once more: the database notices the end of each of
	// its connections by itself, so that one may have claimed something after the first look, which asks for the sign of life.
	secondLook = 15 * time.Second
)

// Process is the sign of life of this process among those that share the database.
type Process struct {
	cfg  ProcessConfig
	born time.Time
	conn *pgx.Conn // holds the lock, and listens

	mu     sync.Mutex
	ended  bool
	missed map[string]bool // whose sign of life the last TakeOver missed; nil before the first
}

// NewProcess makes a Process that is not alive yet.
func NewProcess(cfg ProcessConfig) *Process { return &Process{cfg: cfg, born: time.Now()} }

// Begin takes the sign of life and starts to listen. It comes before the first claim: others would take that for an orphan.
func (p *Process) Begin(ctx context.Context) error {
	conn, err := session.Open(ctx, p.cfg.Pool)
	if err != nil {
		return fmt.Errorf("a connection for the sign of life: %w", err)
	}
	type statement struct {
		sql  string
		args []any
	}
	statements := []statement{
		{`SELECT pg_advisory_lock(` + p.cfg.Lock + `)`, []any{p.cfg.ID}},
		{`INSERT INTO ` + p.cfg.Table + ` (id) VALUES ($1) ON CONFLICT (id) DO UPDATE SET gone_at = NULL`, []any{p.cfg.ID}},
	}
	if p.cfg.Channel != "" {
		statements = append(statements, statement{`LISTEN ` + p.cfg.Channel, nil})
	}
	for _, statement := range statements {
		if _, err := conn.Exec(ctx, statement.sql, statement.args...); err != nil {
			return errors.Join(fmt.Errorf("take the sign of life: %w", err), conn.Close(ctx))
		}
	}
	p.conn = conn
	return nil
}

// Keep listens until ctx ends, and takes the sign of life anew when its connection breaks.
func (p *Process) Keep(ctx context.Context) {
	for ctx.Err() == nil {
		if p.conn == nil && !p.begin(ctx) {
			return
		}
		err := p.listen(ctx)
		p.Abandon(ctx)
		if ctx.Err() == nil {
			p.cfg.Log.WarnContext(ctx, "the connection for the sign of life broke", "error", err)
		}
	}
}

// Abandon gives up a sign of life that Keep does not keep.
func (p *Process) Abandon(ctx context.Context) {
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = p.conn.Close(closing) // the connection is of no use either way
	p.conn = nil
}

// begin tries until it has the sign of life again; false: there is no need any more.
func (p *Process) begin(ctx context.Context) bool {
	for !p.isEnded() {
		if p.Begin(ctx) == nil {
			if p.cfg.Missed != nil {
				p.cfg.Missed()
			}
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(reconnect):
		}
	}
	return false
}

func (p *Process) isEnded() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended
}

func (p *Process) listen(ctx context.Context) error {
	for looked := time.Now(); ; {
		waiting, cancel := context.WithTimeout(ctx, againEvery)
		notification, err := p.conn.WaitForNotification(waiting)
		cancel()
		switch {
		case err == nil:
			p.cfg.Heard(notification.Payload)
		case ctx.Err() != nil:
			return ctx.Err()
		case waiting.Err() == nil || p.conn.IsClosed():
			return err
		}
		if time.Since(looked) >= againEvery {
			p.cfg.Again(ctx)
			looked = time.Now()
		}
	}
}

// Died is a process whose claims were taken over.
type Died struct {
	ID    string
	Freed int64 // claims
}

// peer is another process.
type peer struct {
	ID       string
	Since    time.Time
	WasFound bool // gone, and released for the first time
	IsGone   bool // its lock is free
}

// TakeOver releases what processes that are gone had claimed. That a process is gone is seen by its lock being free. At the first
// call that is enough; later it has to be free twice, since a process whose connection broke takes it again in a moment.
func (p *Process) TakeOver(ctx context.Context) (died []Died, err error) {
	rows, _ := p.cfg.Pool.Query(ctx, `SELECT id, started_at, gone_at IS NOT NULL, pg_try_advisory_xact_lock(`+strings.Replace(p.cfg.Lock, "$1", "id", 1)+`) FROM `+p.cfg.Table+`
		WHERE id <> $1 AND (gone_at IS NULL OR gone_at < now() - $2::interval)`, p.cfg.ID, secondLook)
	peers, err := pgx.CollectRows(rows, pgx.RowToStructByPos[peer])
	if err != nil {
		return nil, fmt.Errorf("look for processes: %w", err)
	}
	missed := make(map[string]bool)
	for _, other := range peers {
		if !other.IsGone {
			continue
		}
		if p.missed != nil && !p.missed[other.ID] && !other.WasFound {
			missed[other.ID] = true
			continue
		}
		freed, gone, err := p.takeOver(ctx, other)
		if err != nil {
			return died, fmt.Errorf("take over from process %s: %w", other.ID, err)
		}
		if gone && (freed > 0 || !other.WasFound) {
			died = append(died, Died{other.ID, freed})
		}
	}
	p.missed = missed
	return died, nil
}

// isGone reports whether the lock of a process is free, which this one holds then until the transaction ends.
func (p *Process) isGone(ctx context.Context, tx pgx.Tx, id string) (gone bool, err error) {
	if err := tx.QueryRow(ctx, `SELECT pg_try_advisory_xact_lock(`+p.cfg.Lock+`)`, id).Scan(&gone); err != nil {
		return false, fmt.Errorf("look for the sign of life of process %s: %w", id, err)
	}
	return gone, nil
}

func (p *Process) takeOver(ctx context.Context, other peer) (freed int64, gone bool, err error) {
	err = postgres.InTx(ctx, p.cfg.Pool, func(tx pgx.Tx) error {
		freed = 0
		if gone, err = p.isGone(ctx, tx, other.ID); err != nil || !gone {
			return err
		}
		freed, err = p.release(ctx, tx, other.ID, other.Since, other.WasFound)
		return err
	})
	return freed, gone, err
}

// End gives up all that this process has claimed. certain says that nothing here can claim any more; else others look once more
// later. The sign of life itself ends with the context of Keep.
func (p *Process) End(ctx context.Context, certain bool) error {
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
	err := postgres.InTx(ctx, p.cfg.Pool, func(tx pgx.Tx) error {
		_, err := p.release(ctx, tx, p.cfg.ID, p.born, certain)
		return err
	})
	return errs.Wrap(err, "give up what process %s has claimed", p.cfg.ID)
}

func (p *Process) release(ctx context.Context, tx pgx.Tx, id string, since time.Time, certain bool) (int64, error) {
	freed, err := p.cfg.Release(ctx, tx, id, since)
	if err != nil {
		return 0, err
	}
	over := `UPDATE ` + p.cfg.Table + ` SET gone_at = now() WHERE id = $1`
	if certain {
		over = `DELETE FROM ` + p.cfg.Table + ` WHERE id = $1`
	}
	_, err = tx.Exec(ctx, over, id)
	return freed, err
}
