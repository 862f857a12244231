package backup_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/cmd/signalbox/backup"
	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/users"
)

func house(t *testing.T, pool *pgxpool.Pool) backup.House {
	t.Helper()
	dir := t.TempDir()
	folder, err := assets.OpenFolder(filepath.Join(dir, "assets"))
	if err != nil {
		t.Fatal(err)
	}
	return backup.House{Pool: pool, Files: folder, DataDir: dir, Logger: slog.New(slog.DiscardHandler)}
}

// live is one person coming, getting credit and sending a file that a table needs no more than its owner does.
func live(ctx context.Context, h backup.House, n int) error {
	ledger := billing.NewLedger(h.Pool)
	store := users.New(h.Pool, users.Config{OnCreate: func(ctx context.Context, tx pgx.Tx, a users.Account) error { return ledger.EnsureWallet(ctx, tx, a.ID) }})
	a, err := store.Identify(ctx, users.Identity{Platform: "web", ExternalID: fmt.Sprint("person-", n), Name: "Ann"})
	if err != nil {
		return err
	}
	err = pgx.BeginFunc(ctx, h.Pool, func(tx pgx.Tx) error { return ledger.Grant(ctx, tx, a.ID, 5, fmt.Sprint("key-", n), "") })
	if err != nil {
		return err
	}
	files := assets.New(h.Pool, h.Files, 0)
	if _, err := files.Put(ctx, strings.NewReader(fmt.Sprint("file ", n)), assets.Meta{Owner: a.ID, Kind: assets.Upload}); err != nil {
		return err
	}
	if n%3 == 0 { // what was sent is deleted again while the backup is made
		err = pgx.BeginFunc(ctx, h.Pool, func(tx pgx.Tx) error { return assets.Forget(ctx, tx, a.ID) })
		if err == nil {
			_, err = files.Collect(ctx)
		}
	}
	return err
}

// A backup that is made while people come, pay, send and delete is one moment of the house: its books hold, and each file
// that it knows is there.
func TestRestoreOfABackupMadeUnderLoad(t *testing.T) {
	t.Parallel()
	from := house(t, postgrestest.New(t))
	if err := os.WriteFile(filepath.Join(from.DataDir, "link.key"), bytes.Repeat([]byte("k"), 32), 0o600); err != nil {
		t.Fatal(err)
	}
	for n := range 5 {
		if err := live(t.Context(), from, n); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(t.TempDir(), "backup")
	ctx, stop := context.WithCancel(t.Context())
	var load errgroup.Group
	for worker := 1; worker <= 3; worker++ {
		load.Go(func() error {
			for n := 0; ctx.Err() == nil; n++ {
				if err := live(t.Context(), from, worker*1_000_000+n); err != nil {
					return err
				}
			}
			return nil
		})
	}
	made, err := backup.Write(t.Context(), from, dir)
	stop()
	if err := load.Wait(); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}

	to := house(t, postgrestest.NewEmpty(t))
	back, err := backup.Read(t.Context(), to, dir)
	if err != nil {
		t.Fatal(err)
	}
	if back.Files != made.Files || back.Files < 3 {
		t.Errorf("%d files were written, %d are back", made.Files, back.Files)
	}
	books, err := billing.NewLedger(to.Pool).Check(t.Context())
	if err != nil || len(books.Problems) > 0 || books.Transfers < 5 {
		t.Errorf("the books: %+v, %v", books, err)
	}
	checkFiles(t, to)
	if err := live(t.Context(), to, 5_000_000); err != nil {
		t.Errorf("the house does not go on: %v", err)
	}
	if key, _ := os.ReadFile(filepath.Join(to.DataDir, "link.key")); !bytes.Equal(key, bytes.Repeat([]byte("k"), 32)) {
		t.Errorf("the key is %q", key)
	}
	if _, err := backup.Read(t.Context(), to, dir); err == nil || !strings.Contains(err.Error(), "has people in it") {
		t.Errorf("over a house with people: %v", err)
	}
	if _, err := backup.Write(t.Context(), to, dir); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("over another backup: %v", err)
	}
}

// checkFiles reads every file that the database knows.
func checkFiles(t *testing.T, h backup.House) {
	t.Helper()
	rows, err := h.Pool.Query(t.Context(), `SELECT hash FROM assets`)
	if err != nil {
		t.Fatal(err)
	}
	hashes, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(hashes) < 3 {
		t.Fatalf("%d files, %v", len(hashes), err)
	}
	for _, hash := range hashes {
		c, err := h.Files.Open(t.Context(), hash)
		if err != nil {
			t.Error(err)
			continue
		}
		if _, err := io.Copy(io.Discard, c); err != nil {
			t.Error(err)
		}
		c.Close()
	}
}

// Damage is told, and nothing of it gets into the database.
func TestADamagedBackupIsRefused(t *testing.T) {
	t.Parallel()
	from := house(t, postgrestest.New(t))
	if err := live(t.Context(), from, 1); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "backup")
	if _, err := backup.Write(t.Context(), from, dir); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "users.copy.gz")
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, append(content, 0), 0o600); err != nil {
		t.Fatal(err)
	}
	to := house(t, postgrestest.NewEmpty(t))
	if _, err := backup.Read(t.Context(), to, dir); err == nil || !strings.Contains(err.Error(), "users") {
		t.Errorf("a damaged table: %v", err)
	}
	var people int
	if err := to.Pool.QueryRow(t.Context(), `SELECT count(*) FROM users`).Scan(&people); err != nil || people != 0 {
		t.Errorf("%d people are there, %v", people, err)
	}
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Read(t.Context(), to, dir); err != nil {
		t.Errorf("the whole one, after it: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "manifest.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Read(t.Context(), house(t, postgrestest.NewEmpty(t)), dir); err == nil || !strings.Contains(err.Error(), "no whole backup") {
		t.Errorf("half a backup: %v", err)
	}
}

// While two versions work on one database, the older one's backup has the schema of the newer one.
func TestABackupBesideANewerProgram(t *testing.T) {
	t.Parallel()
	from := house(t, postgrestest.New(t))
	if err := live(t.Context(), from, 1); err != nil {
		t.Fatal(err)
	}
	write := func(change func(*backup.Manifest)) string {
		t.Helper()
		dir := filepath.Join(t.TempDir(), "backup")
		m, err := backup.Write(t.Context(), from, dir)
		if err != nil {
			t.Fatal(err)
		}
		change(&m)
		text, err := json.Marshal(m)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "manifest.json"), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return dir
	}
	// Programs up to November 2026 named only the steps that they had themselves.
	former := write(func(m *backup.Manifest) {
		m.Steps = slices.DeleteFunc(m.Steps, func(step int64) bool { return step > 728 })
	})
	to := house(t, postgrestest.NewEmpty(t))
	if _, err := backup.Read(t.Context(), to, former); err != nil {
		t.Errorf("without the newer one's steps: %v", err)
	}
	var people int
	if err := to.Pool.QueryRow(t.Context(), `SELECT count(*) FROM users`).Scan(&people); err != nil || people == 0 {
		t.Errorf("%d people are there, %v", people, err)
	}
	if _, err := from.Pool.Exec(t.Context(), `INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, true)`); err != nil {
		t.Fatal(err)
	}
	dir := write(func(*backup.Manifest) {})
	if _, err := backup.Read(t.Context(), house(t, postgrestest.NewEmpty(t)), dir); err == nil || !strings.Contains(err.Error(), "lacks step 99999") {
		t.Errorf("by a program without the newer one's step: %v", err)
	}
}
