package postgres_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
)

func TestWriter(t *testing.T) {
	t.Parallel()
	pool := postgrestest.New(t)
	if _, err := pool.Exec(t.Context(), `CREATE TABLE notes (n int PRIMARY KEY, tx xid8 NOT NULL DEFAULT pg_current_xact_id())`); err != nil {
		t.Fatal(err)
	}
	w := postgres.NewWriter(pool)
	const insert = `INSERT INTO notes (n) VALUES ($1)`
	var wait sync.WaitGroup
	for n := range 100 {
		wait.Go(func() {
			tag, err := w.Exec(t.Context(), insert, n/2) // each number twice: the second one fails
			var refused *pgconn.PgError
			if err != nil && (!errors.As(err, &refused) || refused.Code != "23505") || err == nil && tag.RowsAffected() != 1 {
				t.Errorf("%d: %v, %v", n, tag, err)
			}
		})
	}
	wait.Wait()
	var rows, transactions int
	if err := pool.QueryRow(t.Context(), `SELECT count(*), count(DISTINCT tx) FROM notes`).Scan(&rows, &transactions); err != nil || rows != 50 {
		t.Errorf("%d rows, %v, want 50", rows, err)
	}
	t.Run("what one asks for is done whole or not", func(t *testing.T) {
		var n int
		err := w.Do(t.Context(), func(batch *pgx.Batch) {
			batch.Queue(insert, 1000)
			batch.Queue(`SELECT n FROM notes WHERE n = 1000`).QueryRow(func(row pgx.Row) error { return row.Scan(&n) })
			batch.Queue(insert, 1)
		})
		if err == nil || n != 1000 {
			t.Errorf("%d, %v", n, err)
		}
		var there bool
		if err := pool.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM notes WHERE n = 1000)`).Scan(&there); err != nil || there {
			t.Errorf("the half of it is there: %v, %v", there, err)
		}
	})
	t.Run("many that come at once share a transaction", func(t *testing.T) {
		for n := range 200 {
			wait.Go(func() {
				if _, err := w.Exec(t.Context(), insert, 2000+n); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		err := pool.QueryRow(t.Context(), `SELECT count(DISTINCT tx) FROM notes WHERE n >= 2000`).Scan(&transactions)
		if err != nil || transactions > 100 {
			t.Errorf("200 writes took %d transactions, %v", transactions, err)
		}
	})
}
