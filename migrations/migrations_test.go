package migrations_test

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"golang.org/x/sync/errgroup"

	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/migrations"
)

var quiet = slog.New(slog.DiscardHandler)

func TestUpDownUp(t *testing.T) {
	t.Parallel()
	pool := postgrestest.NewEmpty(t)
	before := objects(t, pool)

	first := up(t, pool)
	if first == 0 {
		t.Fatal("the first Up applied nothing")
	}
	migrated := objects(t, pool)
	if again := up(t, pool); again != 0 {
		t.Errorf("the second Up applied %d steps, want 0", again)
	}
	if err := down(t.Context(), pool, 0); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, objects(t, pool)); diff != "" {
		t.Errorf("Down to 0 left something behind (-before +after):\n%s", diff)
	}
	if second := up(t, pool); second != first {
		t.Errorf("Up after Down applied %d steps, the first time %d", second, first)
	}
	if diff := cmp.Diff(migrated, objects(t, pool)); diff != "" {
		t.Errorf("Up after Down made another schema (-first +second):\n%s", diff)
	}
}

func TestUpByFourAtOnceAppliesOnce(t *testing.T) {
	t.Parallel()
	pool := postgrestest.NewEmpty(t)
	var group errgroup.Group
	applied := make([]int, 4)
	for i := range applied {
		group.Go(func() (err error) {
			applied[i], err = migrations.Up(t.Context(), pool, quiet)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	starters := 0
	for _, n := range applied {
		if n > 0 {
			starters++
		}
	}
	if starters != 1 {
		t.Errorf("applied %v, want all steps by one starter", applied)
	}
}

// From version 15 on, Postgres lets a user make tables in its own databases only, whatever it may do in others; before, when told so.
func TestWhoMayNotMakeTablesIsToldHowTo(t *testing.T) {
	t.Parallel()
	pool := postgrestest.NewEmpty(t)
	database := pool.Config().ConnConfig.Database
	guest := database + "_g"
	exec := func(sql string) {
		if _, err := pool.Exec(context.Background(), sql); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
	exec("REVOKE CREATE ON SCHEMA public FROM PUBLIC; ALTER SCHEMA public OWNER TO pg_database_owner; CREATE ROLE " + guest + " LOGIN; GRANT ALL ON DATABASE " + database + " TO " + guest)
	config := pool.Config()
	config.ConnConfig.User = guest
	guests, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		guests.Close()
		exec("REASSIGN OWNED BY " + guest + " TO CURRENT_USER; DROP OWNED BY " + guest + "; DROP ROLE " + guest)
	}()
	remedy := `ALTER DATABASE "` + database + `" OWNER TO "` + guest + `"`
	if _, err := migrations.Up(t.Context(), guests, quiet); err == nil || !strings.Contains(err.Error(), remedy) {
		t.Errorf("Up: %v, want %s in it", err, remedy)
	}
	if _, err := migrations.Status(t.Context(), guests, quiet); err == nil || !strings.Contains(err.Error(), remedy) {
		t.Errorf("Status: %v, want %s in it", err, remedy)
	}
	exec(remedy)
	up(t, guests)
}

func TestUpGivesUpWaitingWhenCancelled(t *testing.T) {
	t.Parallel()
	pool := postgrestest.NewEmpty(t)
	holder, err := pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Release()
	// The key is part of the contract between releases: an old program and a
	// new one must exclude each other.
	if _, err := holder.Exec(t.Context(), `SELECT pg_advisory_lock($1)`, int64(0x5349474e414c)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := migrations.Up(ctx, pool, quiet)
		done <- err
	}()
	cancel()
	if err := <-done; err == nil {
		t.Error("Up ended without an error while somebody else held the lock")
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	pool := postgrestest.NewEmpty(t)
	for _, step := range status(t, pool) {
		if !step.Applied.IsZero() {
			t.Errorf("%s is applied before Up", step.Name)
		}
	}
	up(t, pool)
	for _, step := range status(t, pool) {
		if step.Applied.IsZero() {
			t.Errorf("%s is pending after Up", step.Name)
		}
	}
}

// TestFilesFollowTheRules holds the naming that keeps parallel work apart.
func TestFilesFollowTheRules(t *testing.T) {
	t.Parallel()
	names, err := fs.Glob(migrations.FS, "*")
	if err != nil {
		t.Fatal(err)
	}
	form := regexp.MustCompile(`^(\d{4})_[a-z0-9_]+\.sql$`)
	seen := make(map[int]string)
	for _, name := range names {
		match := form.FindStringSubmatch(name)
		if match == nil {
			t.Errorf("%s: want NNNN_name.sql", name)
			continue
		}
		number, err := strconv.Atoi(match[1])
		if err != nil || number < 1 || number > 999 {
			t.Errorf("%s: want a number of the ranges in the package comment", name)
		}
		if other, taken := seen[number]; taken {
			t.Errorf("%s and %s have one number", name, other)
		}
		seen[number] = name
	}
}

func up(t *testing.T, pool *pgxpool.Pool) int {
	t.Helper()
	n, err := migrations.Up(t.Context(), pool, quiet)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func status(t *testing.T, pool *pgxpool.Pool) []migrations.Step {
	t.Helper()
	steps, err := migrations.Status(t.Context(), pool, quiet)
	if err != nil {
		t.Fatal(err)
	}
	if len(steps) == 0 {
		t.Fatal("Status lists no steps")
	}
	return steps
}

// objects lists what the schema consists of, without the migration tools' own
// tables.
func objects(t *testing.T, pool *pgxpool.Pool) []string {
	t.Helper()
	rows, err := pool.Query(t.Context(), `
		SELECT name FROM (
			SELECT 'relation ' || c.relname || '.' || coalesce(a.attname || ' ' || format_type(a.atttypid, a.atttypmod), '') AS name
			FROM pg_class c LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
			WHERE c.relnamespace = 'public'::regnamespace
			UNION ALL SELECT 'function ' || p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace
			UNION ALL SELECT 'type ' || t.typname FROM pg_type t WHERE t.typnamespace = 'public'::regnamespace
			UNION ALL SELECT 'constraint ' || conname || pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'public'::regnamespace
			UNION ALL SELECT 'trigger ' || tgname FROM pg_trigger WHERE NOT tgisinternal
			UNION ALL SELECT 'extension ' || extname FROM pg_extension
		) all_objects WHERE name !~ 'goose_db_version' ORDER BY name COLLATE "C"`)
	if err != nil {
		t.Fatal(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// down takes back the steps above version.
func down(ctx context.Context, pool *pgxpool.Pool, version int64) (err error) {
	db := stdlib.OpenDBFromPool(pool)
	defer func() { err = errors.Join(err, db.Close()) }()
	ours, err := goose.NewProvider(goose.DialectPostgres, db, migrations.FS, goose.WithAllowOutofOrder(true), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	_, err = ours.DownTo(ctx, version)
	return err
}

// Databases of before the steps were put together have the rooms' numbers among others.
func TestDatabasesOfBefore(t *testing.T) {
	t.Parallel()
	pool := postgrestest.NewEmpty(t)
	up(t, pool)
	record := func(version int) {
		t.Helper()
		if _, err := pool.Exec(t.Context(), `INSERT INTO goose_db_version (version_id, is_applied) VALUES ($1, true)`, version); err != nil {
			t.Fatal(err)
		}
	}
	record(31)
	if _, err := migrations.Up(t.Context(), pool, quiet); err == nil || !strings.Contains(err.Error(), "start the program of") {
		t.Errorf("half of the old steps: %v", err)
	}
	record(227)
	if n := up(t, pool); n != 0 {
		t.Errorf("all of the old steps, and %d more were applied", n)
	}
}

// Results that waited as jobs of River wait as rows of their own after 0301, and nothing of River is left.
func TestRiverGoes(t *testing.T) {
	t.Parallel()
	pool := postgrestest.NewEmpty(t)
	up(t, pool)
	if err := down(t.Context(), pool, 300); err != nil {
		t.Fatal(err)
	}
	_, err := pool.Exec(t.Context(), `
		CREATE TYPE river_job_state AS ENUM ('available', 'completed', 'retryable');
		CREATE TABLE river_job (id bigint, kind text, state river_job_state, args jsonb, created_at timestamptz);
		CREATE TABLE river_migration (version bigint);
		INSERT INTO runs (id, account_id, tool_id, tool_version, service, status, inputs, sources, shape, quote, promised, platform, deliverable, timeout_ms, created_at, ended_at, receipt)
		SELECT i::uuid, gen_random_uuid(), 'sing', '1', 'choir', 'failed', '{}', '{}', 0, '{}', 0, 'post', true, 1, now(), now(), '{}'
		FROM unnest('{00000000-0000-0000-0000-000000000001,00000000-0000-0000-0000-000000000002}'::text[]) AS i;
		INSERT INTO river_job VALUES
			(1, 'deliver', 'retryable', '{"run_id": "00000000-0000-0000-0000-000000000001"}', '2026-01-01'),
			(2, 'deliver', 'completed', '{"run_id": "00000000-0000-0000-0000-000000000002"}', '2026-01-01'),
			(3, 'deliver', 'available', '{"run_id": "00000000-0000-0000-0000-000000000003"}', '2026-01-01')`)
	if err != nil {
		t.Fatal(err)
	}
	up(t, pool)
	var left []string
	var gone bool
	err = pool.QueryRow(t.Context(), `SELECT (SELECT array_agg(run_id::text) FROM run_deliveries WHERE next_at <= clock_timestamp() AND claimed_by IS NULL),
		NOT EXISTS (SELECT FROM pg_class WHERE relname LIKE 'river%') AND NOT EXISTS (SELECT FROM pg_type WHERE typname LIKE 'river%')`).Scan(&left, &gone)
	if err != nil || !gone || !slices.Equal(left, []string{"00000000-0000-0000-0000-000000000001"}) {
		t.Errorf("waiting are %v, River is gone: %v, %v", left, gone, err)
	}
}

// TestCheapFunctionsAreNotCompiled: where a function forbids ways to read a table and there is no other, Postgres counts the plan as very dear and
// would compile it at each call.
func TestCheapFunctionsAreNotCompiled(t *testing.T) {
	t.Parallel()
	rows, _ := postgrestest.New(t).Query(t.Context(), `SELECT oid::regprocedure::text, 'jit=off' = ANY (proconfig) FROM pg_proc WHERE array_to_string(proconfig, ' ') LIKE '%enable\_%=off%'`)
	type function struct {
		Name  string
		Plain bool
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[function])
	if err != nil || len(found) == 0 {
		t.Fatalf("found %v, %v", found, err)
	}
	for _, f := range found {
		if !f.Plain {
			t.Errorf("%s is compiled at each call: SET jit = off", f.Name)
		}
	}
}

// Receipts keep the numbers that people have; a payment that was only heard of gives the one back that it took, and gets the next when it is booked.
func TestReceiptsKeepTheirNumbers(t *testing.T) {
	t.Parallel()
	pool := postgrestest.New(t)
	if err := down(t.Context(), pool, 700); err != nil {
		t.Fatal(err)
	}
	exec := func(sql string) {
		t.Helper()
		if _, err := pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	const booked = `account_id = gen_random_uuid(), paid_at = now()`
	exec(`INSERT INTO payments (source, ref) SELECT 'stripe', i::text FROM generate_series(1, 4) i; UPDATE payments SET ` + booked + ` WHERE ref IN ('1', '3')`)
	up(t, pool)
	exec(`UPDATE payments SET ` + booked + ` WHERE ref = '4'`)
	exec(`UPDATE payments SET ` + booked + ` WHERE ref = '2'`)
	rows, _ := pool.Query(t.Context(), `SELECT number FROM payments ORDER BY ref`)
	numbers, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if want := []int64{1, 5, 3, 4}; err != nil || !slices.Equal(numbers, want) {
		t.Errorf("the receipts have the numbers %d, want %d; %v", numbers, want, err)
	}
}
