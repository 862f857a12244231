//go:build unix

package postgrestest_test

import (
	"testing"

	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
)

func TestNew(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"first", "second"} {
		t.Run(name+" sees a migrated database of its own", func(t *testing.T) {
			t.Parallel()
			pool := postgrestest.New(t)
			if _, err := pool.Exec(t.Context(), `CREATE TABLE mine (n int)`); err != nil {
				t.Fatal(err)
			}
			var found int
			if err := pool.QueryRow(t.Context(), `SELECT count(*) FROM runs`).Scan(&found); err != nil {
				t.Fatal(err)
			}
		})
	}
	t.Run("the time zone is off by a half-hour", func(t *testing.T) {
		t.Parallel()
		var minutes int
		err := postgrestest.NewEmpty(t).QueryRow(t.Context(),
			`SELECT abs(extract(timezone_minute FROM timestamptz '2026-01-01'))::int`).Scan(&minutes)
		if err != nil {
			t.Fatal(err)
		}
		if minutes != 30 {
			t.Errorf("offset has %d minutes, want 30", minutes)
		}
	})
}
