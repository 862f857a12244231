//go:build unix

package postgres_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/internal/postgres/session"
)

func TestPooler(t *testing.T) {
	t.Parallel()
	direct := postgrestest.New(t)
	pooled := postgrestest.PgBouncer(t, direct)

	t.Run("without an address for sessions it is refused with a line that says what to do", func(t *testing.T) {
		t.Parallel()
		_, err := postgres.Connect(t.Context(), pooled)
		if err == nil || !strings.Contains(err.Error(), "set DATABASE_SESSION_URL") || strings.Contains(err.Error(), "\n") {
			t.Errorf("it says %v", err)
		}
		if _, err := postgres.ConnectBoth(t.Context(), pooled, pooled); err == nil || !strings.Contains(err.Error(), "set DATABASE_SESSION_URL") {
			t.Errorf("with a pooler for sessions it says %v", err)
		}
	})
	t.Run("with it statements, transactions, copies and news work", func(t *testing.T) {
		t.Parallel()
		pool, err := postgres.ConnectBoth(t.Context(), pooled, postgrestest.DSN(direct))
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		listener, err := session.Open(t.Context(), pool)
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close(t.Context())
		if _, err := listener.Exec(t.Context(), `LISTEN pooler_test`); err != nil {
			t.Fatal(err)
		}
		if _, err := pool.Exec(t.Context(), `CREATE TABLE things (n int PRIMARY KEY, text text)`); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for n := range 40 {
			all.Go(func() {
				err := postgres.InTx(t.Context(), pool, func(tx pgx.Tx) error {
					if _, err := tx.Exec(t.Context(), `INSERT INTO things (n, text) VALUES ($1, $2)`, n, "a"); err != nil {
						return err
					}
					var got string
					return tx.QueryRow(t.Context(), `SELECT text FROM things WHERE n = $1`, n).Scan(&got)
				})
				if err == nil {
					_, err = pool.CopyFrom(t.Context(), pgx.Identifier{"things"}, []string{"n", "text"}, pgx.CopyFromRows([][]any{{100 + n, "b"}}))
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if _, err := pool.Exec(t.Context(), `SELECT pg_notify('pooler_test', 'hello')`); err != nil {
			t.Fatal(err)
		}
		if n, err := listener.WaitForNotification(t.Context()); err != nil || n.Payload != "hello" {
			t.Errorf("heard %v, %v", n, err)
		}
	})
}
