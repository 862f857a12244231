package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/group"
)

// writesTogether bounds how many writes share a transaction.
const writesTogether = 64

// Writer makes short writes of many callers together: those that come at the same time travel to the database in one
// round trip and are committed in one transaction. A commit waits for the disk, so that under load a house of many
// small writes is mostly waiting otherwise. It is safe for concurrent use and has nothing to close.
//
// It is for writes of rows of their own, a message or an update: writes to rows that many share would make the
// transactions of several processes wait for each other in a circle.
type Writer struct {
	pool   *pgxpool.Pool
	writes *group.Group[write]
}

// write is one caller's statements.
type write struct {
	queue func(*pgx.Batch)
}

// NewWriter makes a Writer into pool's database.
func NewWriter(pool *pgxpool.Pool) *Writer {
	w := &Writer{pool: pool}
	w.writes = group.New(writesTogether, w.flush)
	return w
}

// Exec executes a statement and returns once it is committed.
func (w *Writer) Exec(ctx context.Context, sql string, args ...any) (tag pgconn.CommandTag, err error) {
	err = w.Do(ctx, func(batch *pgx.Batch) {
		batch.Queue(sql, args...).Exec(func(t pgconn.CommandTag) error {
			tag = t
			return nil
		})
	})
	return tag, err
}

// Do queues statements, with the functions that take their results, and returns once they are committed. When one of
// them fails, none of the caller's is. queue, and with it the functions, may be called again after a failure that was
// another's: it must not add to what an earlier call has left.
func (w *Writer) Do(ctx context.Context, queue func(*pgx.Batch)) error {
	return w.writes.Do(ctx, &write{queue})
}

func (w *Writer) flush(ctx context.Context, writes []*write) error {
	batch := &pgx.Batch{}
	for _, one := range writes {
		one.queue(batch)
	}
	return w.pool.SendBatch(ctx, batch).Close() // a batch is a transaction
}
