package router

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/turn"
)

// lossy is a connection to the database that breaks with the next question, or with the answer to it.
type lossy struct {
	net.Conn
	losesQuestion, losesAnswer *atomic.Bool
}

func (c lossy) Write(b []byte) (int, error) {
	if c.losesQuestion.CompareAndSwap(true, false) {
		c.Close()
		return 0, errors.New("the question is lost")
	}
	return c.Conn.Write(b)
}

func (c lossy) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b) // Postgres has committed when it answers
	if n > 0 && c.losesAnswer.CompareAndSwap(true, false) {
		c.Close()
		return 0, errors.New("the answer is lost")
	}
	return n, err
}

func TestUpdatesWhoseStoringFailedAreHandledOnce(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ stored, here bool }{
		"the answer was lost":                                   {stored: true},
		"the question was lost":                                 {},
		"the question about one that waits here was lost":       {here: true},
		"the answer about one that waits here already was lost": {here: true, stored: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var question, answer atomic.Bool
			config := postgrestest.New(t).Config()
			config.MaxConns = 1
			config.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
				return lossy{conn, &question, &answer}, err
			}
			pool, err := pgxpool.NewWithConfig(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			defer pool.Close()
			b := inbox{pool, postgres.NewWriter(pool), "me", newHeld()}
			if _, err := b.store(t.Context(), "test", []chat.Incoming{{ID: "1"}}); err != nil { // the next one is sent in one piece
				t.Fatal(err)
			}
			two := []chat.Incoming{{ID: "2"}}
			var got []turn.Update
			if tc.here {
				if got, err = b.store(t.Context(), "test", two); err != nil {
					t.Fatal(err)
				}
			}
			answer.Store(tc.stored)
			question.Store(!tc.stored)
			if _, err := b.store(t.Context(), "test", two); err == nil {
				t.Fatal("nothing was lost")
			}
			again, err := b.store(t.Context(), "test", two)
			if err != nil {
				t.Fatal(err)
			}
			if err := b.freeLost(t.Context(), "test"); err != nil {
				t.Fatal(err)
			}
			taken, err := b.take(t.Context(), "test", 10)
			if err != nil {
				t.Fatal(err)
			}
			got = slices.Concat(got, again, taken)
			if tc.stored && len(again) > 0 || len(got) != 1 || got[0].IDs[0] != "2" {
				t.Errorf("the second time there are %v, left over is %v; want update 2 once", again, taken)
			}
		})
	}
}
