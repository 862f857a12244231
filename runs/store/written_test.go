package store

import (
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
)

func TestWrittenWaitsForTransactions(t *testing.T) {
	t.Parallel()
	pool := postgrestest.New(t)
	var w written
	look := func() (now, until time.Time) {
		t.Helper()
		now, until, err := w.look(t.Context(), pool)
		if err != nil {
			t.Fatal(err)
		}
		return now, until
	}
	if now, until := look(); !until.Equal(now.Add(-countAfter)) {
		t.Errorf("the first look at %s believes all until %s", now, until)
	}
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	var begun time.Time
	if err := tx.QueryRow(t.Context(), `SELECT clock_timestamp() FROM pg_current_xact_id()`).Scan(&begun); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		if _, until := look(); until.After(begun.Add(-toldLate)) {
			t.Errorf("all is believed until %s while a transaction of %s writes", until, begun)
		}
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	clocktest.Until(t, "what the transaction wrote is believed", func() bool {
		_, until := look()
		return until.After(begun.Add(-toldLate))
	})
}
