// Package settings keeps what operators set while the program runs. It outlives a restart, and processes that share a database follow
// each other at once, and within Interval where news are lost.
package settings

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/errs"
)

// Interval is how often Follow looks for what other processes have set.
const Interval = 2 * time.Second

// Value is what somebody set.
type Value struct {
	Name, Text string
	By         string // an account's id
	At         time.Time
}

// Store keeps the values. Reading them takes no query. Make it with Open.
type Store struct {
	pool *pgxpool.Pool
	news chan struct{}

	mu    sync.RWMutex
	known map[string]Value
}

// Open reads the values in pool's database.
func Open(ctx context.Context, pool *pgxpool.Pool) (*Store, error) {
	s := &Store{pool: pool, news: make(chan struct{}, 1)}
	_, err := s.read(ctx)
	return s, err
}

// Get gives the value of a name, and whether there is one.
func (s *Store) Get(name string) (Value, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	v, ok := s.known[name]
	return v, ok
}

// ErrOvertaken is the error of Set where another process has set the value since this one read it.
var ErrOvertaken = errors.New("it was set meanwhile")

// Set sets a value that is still what Get gives, or still not set; else nothing is done, and Get gives what holds from here on.
func (s *Store) Set(ctx context.Context, name, text, by string) error {
	was, isSet := s.Get(name)
	done, err := s.pool.Exec(ctx, `INSERT INTO house_settings AS there (name, value, by_whom) SELECT $1, $2, $3 WHERE NOT $5 OR EXISTS (SELECT FROM house_settings WHERE name = $1)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value, by_whom = excluded.by_whom, at = now() WHERE $5 AND there.value = $4`, name, text, by, was.Text, isSet)
	if err == nil {
		_, err = s.read(ctx)
	}
	if err == nil && done.RowsAffected() == 0 {
		err = ErrOvertaken
	}
	return errs.Wrap(err, "set %s", name)
}

// Clear takes a value back. One that is not there is no error.
func (s *Store) Clear(ctx context.Context, name string) error {
	_, err := s.pool.Exec(ctx, `DELETE FROM house_settings WHERE name = $1`, name)
	if err == nil {
		_, err = s.read(ctx)
	}
	return errs.Wrap(err, "take back %s", name)
}

// Look has Follow look at once, as after news from another process.
func (s *Store) Look() {
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// Follow takes over what other processes set, until ctx ends; changed is called whenever it was something new. While the database is away
// the values stay.
func (s *Store) Follow(ctx context.Context, log *slog.Logger, changed func()) {
	tick := time.NewTicker(Interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-s.news:
		}
		switch anew, err := s.read(ctx); {
		case err != nil && ctx.Err() == nil:
			log.DebugContext(ctx, "settings of the console can't be read", "error", err)
		case anew:
			changed()
		}
	}
}

// read reads all values and reports whether they are others than before.
func (s *Store) read(ctx context.Context) (anew bool, err error) {
	s.mu.Lock() // so that of two that read, the later one stays
	defer s.mu.Unlock()
	rows, _ := s.pool.Query(ctx, `SELECT name, value, by_whom, at FROM house_settings`)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Value])
	if err != nil {
		return false, fmt.Errorf("read the settings of the console: %w", err)
	}
	known := make(map[string]Value, len(list))
	for _, v := range list {
		v.At = v.At.UTC()
		known[v.Name] = v
	}
	anew = !maps.Equal(known, s.known)
	s.known = known
	return anew, nil
}
