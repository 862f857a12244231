// Package backup writes a house into a folder and reads it back: the database as it was at one moment, the files that it
// needs, and the key that signs addresses.
package backup

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/pressly/goose/v3"

	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/locks"
	"github.com/signalbox/signalbox/migrations"
)

const (
	manifestName = "manifest.json"
	keyName      = "link.key"
	filesName    = "files"
)

// House is what is written and read back.
type House struct {
	Pool    *pgxpool.Pool
	Files   assets.Backend
	DataDir string // has the key
	Key     []byte // what HOUSE_KEY says; nil: it is in DataDir
	Logger  *slog.Logger
}

// Manifest says what a backup has. It is written last, so that a folder without one holds none.
type Manifest struct {
	Made   time.Time `json:"made"`
	Steps  []int64   `json:"steps"` // of the schema
	Tables []Table   `json:"tables"`
	Files  int       `json:"files"`
}

// Table is one table's rows, in Postgres' text form of COPY, compressed by gzip.
type Table struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns"`
	Rows    int64    `json:"rows"`
	SHA256  string   `json:"sha256"` // of the compressed file
}

// Write backs up a house that may go on working, into a folder that is empty or does not exist. What is accepted after the
// beginning is not in it; of what was accepted before, everything is.
func Write(ctx context.Context, h House, dir string) (m Manifest, err error) {
	if err := makeEmpty(dir); err != nil {
		return m, err
	}
	// The lock is had before the moment that is written down: a file that is needed then stays until it is copied.
	err = pgx.BeginFunc(ctx, h.Pool, func(guard pgx.Tx) error {
		if _, err := guard.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, locks.Backup); err != nil {
			return err
		}
		moment := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
		return pgx.BeginTxFunc(ctx, h.Pool, moment, func(tx pgx.Tx) error {
			m, err = write(ctx, tx, h, dir)
			return err
		})
	})
	if err != nil {
		return m, fmt.Errorf("backup to %s: %w", dir, err)
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return m, err
	}
	return m, writeFile(filepath.Join(dir, manifestName), text)
}

func makeEmpty(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	there, err := os.ReadDir(dir)
	if err == nil && len(there) > 0 {
		err = fmt.Errorf("%s is not empty: name a new folder", dir)
	}
	return err
}

func write(ctx context.Context, tx pgx.Tx, h House, dir string) (m Manifest, err error) {
	m.Made = time.Now().UTC()
	m.Steps, err = migrations.Applied(ctx, h.Pool, h.Logger)
	if err != nil {
		return m, err
	}
	if m.Tables, err = tables(ctx, tx); err != nil {
		return m, err
	}
	for i := range m.Tables {
		if err := m.Tables[i].write(ctx, tx, dir); err != nil {
			return m, fmt.Errorf("table %s: %w", m.Tables[i].Name, err)
		}
	}
	key := h.Key
	if key == nil {
		key, err = os.ReadFile(filepath.Join(h.DataDir, keyName))
	}
	if err == nil {
		err = writeFile(filepath.Join(dir, keyName), key)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return m, err
	}
	m.Files, err = copyFiles(ctx, tx, h.Files, filepath.Join(dir, filesName))
	return m, err
}

// tables lists all tables of the schema but that of the migrations, with the columns that are stored.
func tables(ctx context.Context, tx pgx.Tx) ([]Table, error) {
	rows, err := tx.Query(ctx, `
		SELECT c.relname, array_agg(a.attname::text ORDER BY a.attnum)
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
		WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND c.relname <> $1
		GROUP BY c.relname ORDER BY c.relname`, goose.DefaultTablename)
	if err != nil {
		return nil, fmt.Errorf("list tables: %w", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (t Table, err error) {
		err = row.Scan(&t.Name, &t.Columns)
		return t, err
	})
}

// file is where a table's rows are.
func (t Table) file(dir string) string { return filepath.Join(dir, t.Name+".copy.gz") }

func (t Table) names() (table, columns string) {
	for i, c := range t.Columns {
		if i > 0 {
			columns += ", "
		}
		columns += pgx.Identifier{c}.Sanitize()
	}
	return pgx.Identifier{t.Name}.Sanitize(), columns
}

// write copies the rows into a file and notes their number and the file's hash.
func (t *Table) write(ctx context.Context, tx pgx.Tx, dir string) error {
	file, err := os.OpenFile(t.file(dir), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	sum := sha256.New()
	packed := gzip.NewWriter(io.MultiWriter(file, sum))
	table, columns := t.names()
	tag, err := tx.Conn().PgConn().CopyTo(ctx, packed, `COPY `+table+` (`+columns+`) TO STDOUT`)
	if err == nil {
		err = errors.Join(packed.Close(), file.Sync())
	}
	t.Rows, t.SHA256 = tag.RowsAffected(), hex.EncodeToString(sum.Sum(nil))
	return err
}

// copyFiles copies the files that the database knows at the moment of tx.
func copyFiles(ctx context.Context, tx pgx.Tx, from assets.Backend, dir string) (int, error) {
	to, err := assets.OpenFolder(dir)
	if err != nil {
		return 0, err
	}
	files, err := filesOf(ctx, tx)
	if err != nil {
		return 0, err
	}
	for _, f := range files {
		if _, err := assets.Copy(ctx, from, to, f.Hash, f.Size); err != nil {
			return 0, err
		}
	}
	return len(files), nil
}

// file is one of the files that the database knows.
type file struct {
	Hash string
	Size int64
}

func filesOf(ctx context.Context, tx pgx.Tx) ([]file, error) {
	rows, err := tx.Query(ctx, `SELECT hash, size FROM assets ORDER BY hash`)
	if err != nil {
		return nil, fmt.Errorf("list files: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[file])
}

// writeFile writes a whole file, on disk when it returns, or none.
func writeFile(name string, content []byte) error {
	f, err := os.OpenFile(name+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}
