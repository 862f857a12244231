package peers

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
)

// TestRoom: the process with which the house may need more connections than the database allows says so.
func TestRoom(t *testing.T) {
	t.Parallel()
	config := postgrestest.New(t).Config()
	var said bytes.Buffer
	for n, tc := range []struct {
		name  string
		size  int32 // of the pool, of 500 connections
		apart bool  // sessions have another address
		want  string
	}{
		{name: "one that has all it needs", size: 400},
		{name: "a second one of its size", size: 400, want: "processes=2 each=406 allowed=497"},
		{name: "a third one with a pooler", size: 400, apart: true},
		{name: "a fourth one that is small", size: 118},
		{name: "a fifth one of its size", size: 118, want: "processes=5 each=124 allowed=497"},
	} {
		sized := config.Copy()
		sized.MaxConns = tc.size
		if tc.apart {
			sized.BeforeConnect = func(context.Context, *pgx.ConnConfig) error { return nil }
		}
		pool, err := pgxpool.NewWithConfig(t.Context(), sized)
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		said.Reset()
		p := New(pool, slog.New(slog.NewTextHandler(&said, nil)))
		if err := p.life.Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer p.life.Abandon(context.Background())
		p.checkRoom(t.Context())
		if got := said.String(); (tc.want == "") != (got == "") || !strings.Contains(got, tc.want) || strings.Count(got, "\n") > 1 {
			t.Errorf("process %d, %s, says %q, want %q", n+1, tc.name, got, tc.want)
		}
	}
}
