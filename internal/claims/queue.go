package claims

import (
	"context"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/errs"
)

// QueueConfig is what a Queue works with. All but Poll is needed.
type QueueConfig struct {
	Pool *pgxpool.Pool
	Log  *slog.Logger
	Now  func() time.Time
	// Table has a row for each thing that waits: its Key (a uuid), since and next_at timestamptz, tries integer, claimed_by text.
	// A row without next_at is kept, see Next.
	Table, Key string
	Process    string        // in whose name rows are claimed; see Process
	Places     int           // rows worked on at a time
	Poll       time.Duration // how often the table is looked at, should no news of it come; 0: 2 s. What is due sooner is looked for then.
	// Work does what a row is for, and says what becomes of the row. ctx ends when the time for a stop in good order is over.
	Work func(ctx context.Context, item Item) Next
}

// Item is a row that is claimed.
type Item struct {
	Key   string
	Since time.Time // when it came into the queue
	Tries int       // that failed before
}

// Next is what becomes of a row that was worked on: the zero value ends it.
type Next struct {
	After time.Duration // above zero: it is due again after this
	Free  bool          // that counts as no try
	Keep  bool          // it stays in its table and is not due any more
}

// Queue is a table of work that is due at a time. Any number of processes may work it off, each row by one of them.
type Queue struct {
	cfg  QueueConfig
	wake chan struct{}
	work sync.WaitGroup

	doubt bool // a claim may have been made whose answer was lost
	mu    sync.Mutex
	mine  map[string]bool // keys under work here
}

// NewQueue makes a Queue; Run works it off.
func NewQueue(cfg QueueConfig) *Queue {
	if cfg.Poll <= 0 {
		cfg.Poll = againEvery
	}
	return &Queue{cfg: cfg, wake: make(chan struct{}, 1), mine: make(map[string]bool)}
}

// execer is a pool or a transaction.
type execer interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// Add puts things into the queue, due now. One that waits there is due now, too; one that is under work stays as it is.
func (q *Queue) Add(ctx context.Context, on execer, keys ...string) error {
	_, err := on.Exec(ctx, `
		INSERT INTO `+q.cfg.Table+` AS t (`+q.cfg.Key+`, since, next_at) SELECT unnest($1::text[])::uuid, $2, $2
		ON CONFLICT (`+q.cfg.Key+`) DO UPDATE SET since = $2, next_at = $2, tries = 0 WHERE t.claimed_by IS NULL`, keys, q.cfg.Now())
	return errs.Wrap(err, "put into %s", q.cfg.Table)
}

// Look has the table looked at now, as after a notification.
func (q *Queue) Look() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// Run works on what is due until stop is closed, and returns once no work is under way. ctx ends the work itself.
func (q *Queue) Run(ctx context.Context, stop <-chan struct{}) {
	defer q.work.Wait()
	next := time.NewTimer(0)
	defer next.Stop()
	for {
		var pause time.Duration
		err := q.freeDoubtful(ctx)
		if err == nil {
			pause, err = q.claim(ctx)
		}
		if err != nil {
			pause = min(tryAgain, q.cfg.Poll)
		}
		next.Reset(pause)
		if q.doubt = err != nil; err != nil && ctx.Err() == nil {
			q.cfg.Log.WarnContext(ctx, "claiming what is due failed, another try follows", "table", q.cfg.Table, "error", err)
		}
		select {
		case <-stop:
			return
		case <-ctx.Done():
			return
		case <-next.C:
		case <-q.wake:
		}
	}
}

// claim takes as many rows as there are places, those first that are due the longest, and tells when to look again.
func (q *Queue) claim(ctx context.Context) (pause time.Duration, err error) {
	free := q.cfg.Places - len(q.underWork())
	if free == 0 {
		return q.cfg.Poll, nil // who leaves a place looks again
	}
	var items []Item
	var due *time.Time // of the row that is next
	now, batch := q.cfg.Now(), &pgx.Batch{}
	batch.Queue(`
		UPDATE `+q.cfg.Table+` SET claimed_by = $1 WHERE `+q.cfg.Key+` IN (
			SELECT `+q.cfg.Key+` FROM `+q.cfg.Table+` WHERE next_at <= $2 AND claimed_by IS NULL ORDER BY next_at LIMIT $3 FOR UPDATE SKIP LOCKED)
		RETURNING `+q.cfg.Key+`::text, since, tries`, q.cfg.Process, now, free).Query(func(rows pgx.Rows) (err error) {
		items, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Item])
		return err
	})
	batch.Queue(`SELECT min(next_at) FROM `+q.cfg.Table+` WHERE claimed_by IS NULL AND next_at > $1`, now).QueryRow(func(row pgx.Row) error { return row.Scan(&due) })
	if err := q.cfg.Pool.SendBatch(ctx, batch).Close(); err != nil {
		return 0, err
	}
	for _, item := range items {
		q.enter(item.Key)
		q.work.Go(func() {
			defer q.leave(item.Key)
			q.settle(ctx, item.Key, &q.cfg.Process, q.try(ctx, item, q.cfg.Work))
		})
	}
	if due == nil {
		return q.cfg.Poll, nil
	}
	return min(due.Sub(now), q.cfg.Poll), nil
}

// Do does work on a row that is not due yet, and that nobody claims until then: so who puts it there has the first try. Without the row,
// or when it is somebody's by now, the work is done all the same. Its Item has the key only.
func (q *Queue) Do(ctx context.Context, key string, work func(ctx context.Context, item Item) Next) {
	q.settle(ctx, key, nil, q.try(ctx, Item{Key: key}, work))
}

// freeDoubtful frees rows that are claimed here and that nobody works on, as when the answer to their claim was lost.
func (q *Queue) freeDoubtful(ctx context.Context) error {
	if !q.doubt {
		return nil
	}
	_, err := q.cfg.Pool.Exec(ctx, `UPDATE `+q.cfg.Table+` SET claimed_by = NULL WHERE claimed_by = $1 AND `+q.cfg.Key+` <> ALL ($2::text[]::uuid[])`,
		q.cfg.Process, q.underWork())
	return err
}

func (q *Queue) underWork() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.AppendSeq([]string{}, maps.Keys(q.mine))
}

func (q *Queue) enter(key string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.mine[key] = true
}

func (q *Queue) leave(key string) {
	q.mu.Lock()
	delete(q.mine, key)
	q.mu.Unlock()
	q.Look()
}

// panicked is when work that panicked is tried again: not for ever at once.
const panicked = time.Minute

func (q *Queue) try(ctx context.Context, item Item, work func(context.Context, Item) Next) (next Next) {
	defer func() {
		if p := recover(); p != nil {
			q.cfg.Log.ErrorContext(ctx, "work from a queue panicked", "table", q.cfg.Table, "key", item.Key, "panic", p, "stack", string(debug.Stack()))
			next = Next{After: panicked}
		}
	}()
	return work(ctx, item)
}

// settle writes what becomes of a row that has this claimant, or none, however long that takes. Where ctx ends before, a row stays
// claimed, and this process' end frees it.
func (q *Queue) settle(ctx context.Context, key string, claimant *string, next Next) {
	sql, args := `DELETE FROM `+q.cfg.Table+` WHERE `+q.cfg.Key+` = $1 AND claimed_by IS NOT DISTINCT FROM $2`, []any{key, claimant}
	if next.After > 0 || next.Keep {
		var due *time.Time
		if !next.Keep {
			due = new(q.cfg.Now().Add(next.After))
		}
		tried := 1
		if next.Free {
			tried = 0
		}
		sql = `UPDATE ` + q.cfg.Table + ` SET claimed_by = NULL, next_at = $3, tries = tries + $4 WHERE ` + q.cfg.Key + ` = $1 AND claimed_by IS NOT DISTINCT FROM $2`
		args = append(args, due, tried)
	}
	for {
		noting, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleWithin)
		_, err := q.cfg.Pool.Exec(noting, sql, args...)
		cancel()
		if err == nil {
			return
		}
		q.cfg.Log.WarnContext(ctx, "noting what became of work from a queue failed", "table", q.cfg.Table, "key", key, "error", err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(tryAgain):
		}
	}
}

const (
	settleWithin = 5 * time.Second        // bounds one try to note what became of a row
	tryAgain     = 500 * time.Millisecond // passes before the next, and after a look that failed
)

// Release frees what a process had claimed, for others to take at once; it counts as no try.
func (q *Queue) Release(ctx context.Context, tx pgx.Tx, process string) (freed int64, err error) {
	tag, err := tx.Exec(ctx, `UPDATE `+q.cfg.Table+` SET claimed_by = NULL, next_at = least(next_at, $2) WHERE claimed_by = $1`, process, q.cfg.Now())
	return tag.RowsAffected(), errs.Wrap(err, "free claims of %s", q.cfg.Table)
}
