package runs

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/riverqueue/river"
)

// sender is a connection or a transaction of it.
type sender interface {
	querier
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults
}

// queueJobs adds the insertion of jobs, and River's word of them to its workers, to batch. They are the
// only ones of their runs, or the batch fails.
func (s *Service) queueJobs(ctx context.Context, on sender, batch *pgx.Batch, jobs []river.InsertManyParams) error {
	if len(jobs) == 0 {
		return nil
	}
	if _, err := s.river.InsertManyFastTx(ctx, jobBatch{on: on, batch: batch}, jobs); err != nil {
		return fmt.Errorf("insert jobs: %w", err)
	}
	return nil
}

// jobBatch is the transaction that River is given for inserting jobs: it gathers what River writes, so that
// it goes to the database together with all the rest instead of in round trips of its own. River's way for
// many jobs calls only what is here.
type jobBatch struct {
	pgx.Tx // never set
	on     sender
	batch  *pgx.Batch
}

// Conn gives none: River asks for the connection's settings only.
func (b jobBatch) Conn() *pgx.Conn { return nil }

// Query asks at once.
func (b jobBatch) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	return b.on.Query(ctx, sql, args...)
}

// QueryRow asks at once.
func (b jobBatch) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return b.on.QueryRow(ctx, sql, args...)
}

// Exec queues the statement.
func (b jobBatch) Exec(_ context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	b.batch.Queue(sql, args...)
	return pgconn.CommandTag{}, nil
}

// CopyFrom queues one statement that inserts the rows.
func (b jobBatch) CopyFrom(_ context.Context, table pgx.Identifier, names []string, source pgx.CopyFromSource) (int64, error) {
	var c columns
	var rows int64
	for source.Next() {
		values, err := source.Values()
		if err != nil {
			return 0, err
		}
		for i, value := range values {
			if values[i], err = plain(value); err != nil {
				return 0, fmt.Errorf("column %s of %s: %w", names[i], table.Sanitize(), err)
			}
		}
		c.add(values...)
		rows++
	}
	b.batch.Queue(copySQL(table, names), c.args()...)
	return rows, source.Err()
}

// jobTypes are the types of River's columns that are not text. Tags are written as Postgres writes arrays.
var jobTypes = map[string]string{
	"args": "jsonb", "created_at": "timestamptz", "max_attempts": "smallint", "metadata": "jsonb", "priority": "smallint",
	"scheduled_at": "timestamptz", "state": "river_job_state", "tags": "varchar[]", "unique_key": "bytea", "unique_states": "bit(8)",
}

// copySQL inserts rows that come as one array for each column.
func copySQL(table pgx.Identifier, names []string) string {
	into, from, arrays := make([]string, len(names)), make([]string, len(names)), make([]string, len(names))
	for i, name := range names {
		into[i] = pgx.Identifier{name}.Sanitize()
		from[i], arrays[i] = into[i], fmt.Sprintf("$%d::text[]", i+1)
		switch kind := jobTypes[name]; kind {
		case "":
		case "timestamptz", "bytea":
			arrays[i] = fmt.Sprintf("$%d::%s[]", i+1, kind)
		case "smallint":
			arrays[i] = fmt.Sprintf("$%d::bigint[]", i+1)
		default:
			from[i] += "::" + kind
		}
	}
	return fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM unnest(%s) AS j (%s)", table.Sanitize(),
		strings.Join(into, ", "), strings.Join(from, ", "), strings.Join(arrays, ", "), strings.Join(into, ", "))
}

// plain is a value of a job as columns takes it.
func plain(value any) (any, error) {
	switch v := value.(type) {
	case string, []byte, time.Time:
		return v, nil
	case int16:
		return int64(v), nil
	case []string:
		if len(v) == 0 {
			return "{}", nil
		}
	case pgtype.Bits:
		if !v.Valid {
			return (*string)(nil), nil
		}
		if len(v.Bytes) == 1 {
			bits := fmt.Sprintf("%08b", v.Bytes[0])
			return &bits, nil
		}
	}
	if v := reflect.ValueOf(value); v.Kind() == reflect.String { // River's name for a state
		return v.String(), nil
	}
	return nil, fmt.Errorf("a %T is not expected there", value)
}
