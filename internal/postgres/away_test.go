package postgres

import (
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

func TestAway(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]bool{
		"53100": true,  // disk full
		"53300": true,  // too many connections
		"57P01": true,  // admin shutdown
		"57P03": true,  // cannot connect now
		"08006": true,  // connection failure
		"58030": true,  // I/O error
		"57014": false, // the query was canceled
		"23505": false, // unique violation
		"42P01": false, // undefined table
	} {
		if got := Away(fmt.Errorf("read runs: %w", &pgconn.PgError{Code: code})); got != want {
			t.Errorf("%s: %v", code, got)
		}
	}
	if Away(nil) || Away(errors.New("no such tool")) {
		t.Error("other errors say nothing about the database")
	}
}
