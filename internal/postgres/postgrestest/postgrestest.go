//go:build unix

// Package postgrestest gives each test a fresh database on a real Postgres.
//
//	func TestTransfer(t *testing.T) {
//		t.Parallel()
//		pool := postgrestest.New(t)
//		...
//	}
//
// All test programs of one user share one server. The first to need it starts
// it, and it stops by itself when the last has ended, however that ended. Its
// data outlives it in ScratchDir, so that the next start takes
// well under a second; it runs without syncing to disk, since nothing in it
// matters.
//
// The server's time zone is America/St_Johns: behind UTC, off by a half-hour
// and with summer time, so that a test fails when SQL confuses local time
// with UTC.
package postgrestest

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/postgres/cluster"
	"github.com/signalbox/signalbox/migrations"
)

// joinServer finds or starts the shared server, once for this test program,
// which then keeps it alive until the program ends.
var joinServer = sync.OnceValues(func() (*server, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	user, err := cluster.ServerUser()
	if err != nil {
		return nil, err
	}
	dir, err := sharedDir()
	if err != nil {
		return nil, err
	}
	return join(ctx, user, dir)
})

// New returns a pool on a database of t's own with all migrations applied. It
// is dropped when t ends. Without Postgres on the machine the test is skipped,
// or failed when the environment says CI=true.
func New(t testing.TB) *pgxpool.Pool {
	t.Helper()
	return NewSized(t, 10) // enough for tests of races; the server has room for 50 such tests at once
}

// NewSized is New with a pool of so many connections. A house whose parts all begin at once opens as many as it may, and the server's work for one
// is several times that for a question: four are enough where a test is about what the house does, and not about races in it.
func NewSized(t testing.TB, connections int32) *pgxpool.Pool {
	t.Helper()
	srv := need(t)
	template, err := srv.template(t.Context())
	if err != nil {
		t.Fatalf("postgrestest: migrated template: %v", err)
	}
	return fresh(t, srv, template, connections)
}

// NewEmpty is New without any migration applied.
func NewEmpty(t testing.TB) *pgxpool.Pool {
	t.Helper()
	return fresh(t, need(t), "template1", 10)
}

// DSN returns the address of pool's database, for code that connects by
// itself.
func DSN(pool *pgxpool.Pool) string { return pool.Config().ConnString() }

// need returns the shared server or ends the test.
func need(t testing.TB) *server {
	t.Helper()
	srv, err := joinServer()
	switch {
	case err == nil:
		return srv
	case errors.Is(err, cluster.ErrNoBinaries) && os.Getenv("CI") != "true":
		t.Skipf("%v: %s", err, cluster.InstallHint(0))
	default:
		t.Fatalf("postgrestest: %v", err)
	}
	return nil
}

// fresh copies template into a database that lives as long as t.
func fresh(t testing.TB, srv *server, template string, connections int32) *pgxpool.Pool {
	t.Helper()
	name := databaseName(t.Name())
	quoted := pgx.Identifier{name}.Sanitize()
	create := "CREATE DATABASE " + quoted + " TEMPLATE " + pgx.Identifier{template}.Sanitize()
	if major, _ := cluster.DataVersion(srv.cluster.Dir); major > 14 { // which knows no other way
		create += " STRATEGY file_copy" // takes a third of the time of the default, which logs each page
	}
	err := srv.exec(t.Context(), create)
	if err != nil {
		t.Fatalf("postgrestest: create database: %v", err)
	}
	config, err := pgxpool.ParseConfig(srv.cluster.DSN(name))
	if err != nil {
		t.Fatalf("postgrestest: %v", err)
	}
	config.MaxConns = connections
	pool, err := pgxpool.NewWithConfig(context.WithoutCancel(t.Context()), config)
	if err != nil {
		t.Fatalf("postgrestest: %v", err)
	}
	t.Cleanup(func() {
		if !closeWithin(pool, 10*time.Second) {
			t.Errorf("postgrestest: a connection of this test was never released")
		}
		if err := srv.exec(context.Background(), "DROP DATABASE "+quoted+" WITH (FORCE)"); err != nil {
			t.Errorf("postgrestest: drop database: %v", err)
		}
	})
	return pool
}

// databaseName makes a name nobody else has that still shows the test it is for.
func databaseName(test string) string {
	readable := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		default:
			return '_'
		}
	}, test)
	// Postgres cuts names at 63 bytes.
	return "test_" + strings.ToLower(rand.Text()[:12]) + "_" + readable[:min(len(readable), 40)]
}

// closeWithin closes the pool and reports whether that was done in time: Close
// itself waits for ever for a connection that nobody returns.
func closeWithin(pool *pgxpool.Pool, limit time.Duration) bool {
	done := make(chan struct{})
	go func() {
		defer close(done)
		pool.Close()
	}()
	select {
	case <-done:
		return true
	case <-time.After(limit):
		return false
	}
}

// template returns the name of a database with the present migrations applied,
// which is made once for each state of the migrations.
func (s *server) template(ctx context.Context) (string, error) {
	s.templateOnce.Do(func() {
		s.templateName, s.templateErr = s.makeTemplate(context.WithoutCancel(ctx))
	})
	return s.templateName, s.templateErr
}

func (s *server) makeTemplate(ctx context.Context) (string, error) {
	hash, err := schemaHash()
	if err != nil {
		return "", err
	}
	name := templatePrefix + hash[:16]
	unlock, err := lockFile(ctx, s.path("template.lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	if exists, err := s.hasDatabase(ctx, name); exists || err != nil {
		return name, err
	}
	building := "building_" + hash[:16]
	if err := s.exec(ctx, "DROP DATABASE IF EXISTS "+building+" WITH (FORCE)", "CREATE DATABASE "+building); err != nil {
		return "", err
	}
	if err := s.migrate(ctx, building); err != nil {
		return "", err
	}
	return name, s.exec(ctx, "ALTER DATABASE "+building+" RENAME TO "+name)
}

func (s *server) migrate(ctx context.Context, database string) error {
	pool, err := pgxpool.New(ctx, s.cluster.DSN(database))
	if err != nil {
		return err
	}
	defer pool.Close()
	if _, err := migrations.Up(ctx, pool, slog.New(slog.DiscardHandler)); err != nil {
		return fmt.Errorf("%s: %w", database, err)
	}
	// The first connection after a migration writes down what all that follow would read from the catalogue. Copies get that file, too.
	pool.Reset()
	return pool.Ping(ctx)
}

// schemaHash changes whenever any step does. It names a schema, as
// for a cache of migrated databases.
func schemaHash() (string, error) {
	sum := sha256.New()
	names, err := fs.Glob(migrations.FS, "*.sql")
	if err != nil {
		return "", err
	}
	for _, name := range names {
		raw, err := migrations.FS.ReadFile(name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%s %d\n%s", name, len(raw), raw)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
