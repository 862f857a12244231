package postgres_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
)

func TestInTx(t *testing.T) {
	t.Parallel()
	pool := postgrestest.NewEmpty(t)
	exec(t, pool, `CREATE TABLE words (word text PRIMARY KEY)`)

	t.Run("commits what f did", func(t *testing.T) {
		err := postgres.InTx(t.Context(), pool, func(tx pgx.Tx) error {
			_, err := tx.Exec(t.Context(), `INSERT INTO words VALUES ('committed')`)
			return err
		})
		if err != nil || count(t, pool, "committed") != 1 {
			t.Errorf("InTx: %v, rows %d, want 1", err, count(t, pool, "committed"))
		}
	})
	t.Run("rolls back when f fails and returns its error", func(t *testing.T) {
		sentinel := errors.New("no")
		err := postgres.InTx(t.Context(), pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(t.Context(), `INSERT INTO words VALUES ('rolled back')`); err != nil {
				return err
			}
			return sentinel
		})
		if !errors.Is(err, sentinel) || count(t, pool, "rolled back") != 0 {
			t.Errorf("InTx: %v, rows %d, want the error and 0", err, count(t, pool, "rolled back"))
		}
	})
	t.Run("does not repeat other errors", func(t *testing.T) {
		calls := 0
		err := postgres.InTx(t.Context(), pool, func(tx pgx.Tx) error {
			calls++
			_, err := tx.Exec(t.Context(), `INSERT INTO words VALUES (NULL)`)
			return err
		})
		if err == nil || calls != 1 {
			t.Errorf("InTx: %v after %d calls, want an error after 1", err, calls)
		}
	})
	t.Run("gives up after ten conflicts", func(t *testing.T) {
		calls := 0
		err := postgres.InTx(t.Context(), pool, func(pgx.Tx) error {
			calls++
			return &pgconn.PgError{Code: "40001"}
		})
		if err == nil || calls != 10 {
			t.Errorf("InTx: %v after %d calls, want an error after 10", err, calls)
		}
	})
	t.Run("stops waiting when cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		err := postgres.InTx(ctx, pool, func(pgx.Tx) error {
			cancel()
			return &pgconn.PgError{Code: "40P01"}
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("InTx: %v, want context.Canceled", err)
		}
	})
}

func TestInTxSurvivesDeadlocks(t *testing.T) {
	t.Parallel()
	pool := postgrestest.NewEmpty(t)
	exec(t, pool, `CREATE TABLE counters (id int PRIMARY KEY, n int NOT NULL)`)
	exec(t, pool, `INSERT INTO counters VALUES (1, 0), (2, 0)`)
	// Each pair takes the two rows in opposite order, and only after both
	// have their first: a deadlock every time.
	var group errgroup.Group
	first, second := make(chan struct{}), make(chan struct{})
	add := func(ids [2]int, mine, theirs chan struct{}) func() error {
		met := false
		return func() error {
			return postgres.InTx(t.Context(), pool, func(tx pgx.Tx) error {
				if _, err := tx.Exec(t.Context(), `UPDATE counters SET n = n + 1 WHERE id = $1`, ids[0]); err != nil {
					return err
				}
				if !met {
					met = true
					close(mine)
					<-theirs
				}
				_, err := tx.Exec(t.Context(), `UPDATE counters SET n = n + 1 WHERE id = $1`, ids[1])
				return err
			})
		}
	}
	group.Go(add([2]int{1, 2}, first, second))
	group.Go(add([2]int{2, 1}, second, first))
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	assertSum(t, pool, 4)
}

func TestInTxSurvivesSerializationFailures(t *testing.T) {
	t.Parallel()
	pool := postgrestest.NewEmpty(t)
	exec(t, pool, `CREATE TABLE counters (id int PRIMARY KEY, n int NOT NULL)`)
	exec(t, pool, `INSERT INTO counters VALUES (1, 0)`)
	var group errgroup.Group
	for range 4 {
		group.Go(func() error {
			return postgres.InTx(t.Context(), pool, func(tx pgx.Tx) error {
				if _, err := tx.Exec(t.Context(), `SET TRANSACTION ISOLATION LEVEL SERIALIZABLE`); err != nil {
					return err
				}
				var n int
				if err := tx.QueryRow(t.Context(), `SELECT n FROM counters WHERE id = 1`).Scan(&n); err != nil {
					return err
				}
				_, err := tx.Exec(t.Context(), `UPDATE counters SET n = $1 WHERE id = 1`, n+1)
				return err
			})
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	assertSum(t, pool, 4)
}

func exec(t *testing.T, pool *pgxpool.Pool, sql string) {
	t.Helper()
	if _, err := pool.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

func count(t *testing.T, pool *pgxpool.Pool, word string) (n int) {
	t.Helper()
	if err := pool.QueryRow(t.Context(), `SELECT count(*) FROM words WHERE word = $1`, word).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func assertSum(t *testing.T, pool *pgxpool.Pool, want int) {
	t.Helper()
	var sum int
	if err := pool.QueryRow(t.Context(), `SELECT sum(n) FROM counters`).Scan(&sum); err != nil {
		t.Fatal(err)
	}
	if sum != want {
		t.Errorf("the counters sum to %d, want %d: an update was lost or done twice", sum, want)
	}
}
