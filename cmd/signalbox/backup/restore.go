package backup

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/migrations"
)

// Read brings a backup into a house that nobody has used: a database without people, a DATA_DIR without another house's
// key. The database gets all rows or none; called again after it broke off, it begins anew. A newer program than the one
// that wrote the backup brings its schema up to date after that.
func Read(ctx context.Context, h House, dir string) (Manifest, error) {
	m, err := readManifest(dir)
	if err != nil {
		return m, err
	}
	if err := unused(ctx, h); err != nil {
		return m, err
	}
	if err := migrations.Only(ctx, h.Pool, h.Logger, m.Steps); err != nil {
		return m, err
	}
	fill := func() error {
		return pgx.BeginFunc(ctx, h.Pool, func(tx pgx.Tx) error { return load(ctx, tx, h, m, dir) })
	}
	if err = fill(); errors.Is(err, errOtherSchema) { // written by an older program beside a newer one, before such backups named the newer one's steps
		if _, err = migrations.Up(ctx, h.Pool, h.Logger); err == nil {
			err = fill()
		}
	}
	if err != nil {
		return m, fmt.Errorf("restore %s: %w", dir, err)
	}
	_, err = migrations.Up(ctx, h.Pool, h.Logger)
	return m, err
}

// readManifest reads what a backup has, and refuses one that this program is too old for.
func readManifest(dir string) (m Manifest, err error) {
	text, err := os.ReadFile(filepath.Join(dir, manifestName))
	if errors.Is(err, os.ErrNotExist) {
		return m, fmt.Errorf("%s holds no whole backup: it has no %s, which is written at the end", dir, manifestName)
	}
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	return m, errs.Wrap(err, "%s", filepath.Join(dir, manifestName))
}

// unused refuses a database in which somebody lives.
func unused(ctx context.Context, h House) error {
	var there, lived bool
	err := h.Pool.QueryRow(ctx, `SELECT to_regclass('users') IS NOT NULL`).Scan(&there)
	if err == nil && there {
		err = h.Pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM users)`).Scan(&lived)
	}
	if err == nil && lived {
		err = errors.New("the database has people in it, which a restore would replace: give it an empty one in DATABASE_URL, or another DATA_DIR")
	}
	return err
}

var errOtherSchema = errors.New("the columns of this program's schema: restore it with the version that wrote it")

// load fills the tables while nothing but what the backup says happens to them: triggers rest, and foreign keys are checked
// when all rows are there.
func load(ctx context.Context, tx pgx.Tx, h House, m Manifest, dir string) error {
	there, err := tables(ctx, tx)
	if err != nil {
		return err
	}
	for _, t := range there {
		if !slices.ContainsFunc(m.Tables, func(o Table) bool { return o.Name == t.Name && slices.Equal(o.Columns, t.Columns) }) {
			return fmt.Errorf("the backup has no table %s with %w", t.Name, errOtherSchema)
		}
	}
	keys, err := dropKeys(ctx, tx)
	if err != nil {
		return err
	}
	if err := each(ctx, tx, there, `ALTER TABLE %s DISABLE TRIGGER USER`, `TRUNCATE %s`); err != nil {
		return err
	}
	for _, t := range m.Tables {
		if err := t.load(ctx, tx, dir); err != nil {
			return fmt.Errorf("table %s: %w", t.Name, err)
		}
	}
	if err := keepOn(ctx, tx); err != nil {
		return err
	}
	for _, statement := range slices.Concat([]string{`SET CONSTRAINTS ALL IMMEDIATE`}, keys) {
		if _, err := tx.Exec(ctx, statement); err != nil {
			return err
		}
	}
	if err := each(ctx, tx, there, `ALTER TABLE %s ENABLE TRIGGER USER`); err != nil {
		return err
	}
	if err := loadFiles(ctx, tx, h.Files, filepath.Join(dir, filesName)); err != nil {
		return err
	}
	return loadKey(h.DataDir, dir)
}

// dropKeys drops all foreign keys and returns the statements that make them again.
func dropKeys(ctx context.Context, tx pgx.Tx) ([]string, error) {
	rows, _ := tx.Query(ctx, `
		SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname),
			format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
		FROM pg_constraint WHERE contype = 'f' AND connamespace = current_schema()::regnamespace ORDER BY conname, conrelid`)
	pairs, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct{ Drop, Add string }])
	if err != nil {
		return nil, err
	}
	add := make([]string, len(pairs))
	for i, p := range pairs {
		if _, err := tx.Exec(ctx, p.Drop); err != nil {
			return nil, err
		}
		add[i] = p.Add
	}
	return add, nil
}

// each executes statements, all of them for one table after the other.
func each(ctx context.Context, tx pgx.Tx, tables []Table, statements ...string) error {
	for _, statement := range statements {
		for _, t := range tables {
			name, _ := t.names()
			if _, err := tx.Exec(ctx, fmt.Sprintf(statement, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// load copies a file's rows into the table and checks that they are those which were written.
func (t Table) load(ctx context.Context, tx pgx.Tx, dir string) error {
	file, err := os.Open(t.file(dir))
	if err != nil {
		return err
	}
	defer file.Close()
	sum := sha256.New()
	packed, err := gzip.NewReader(io.TeeReader(file, sum))
	if err != nil {
		return err
	}
	table, columns := t.names()
	tag, err := tx.Conn().PgConn().CopyFrom(ctx, packed, `COPY `+table+` (`+columns+`) FROM STDIN`)
	if err != nil {
		return err
	}
	if _, err := io.Copy(sum, file); err != nil {
		return err
	}
	if found := hex.EncodeToString(sum.Sum(nil)); found != t.SHA256 || tag.RowsAffected() != t.Rows {
		return fmt.Errorf("%s is damaged: %d rows with the hash %s, expected %d with %s", file.Name(), tag.RowsAffected(), found, t.Rows, t.SHA256)
	}
	return nil
}

// keepOn has the sequences of columns go on behind what is there.
func keepOn(ctx context.Context, tx pgx.Tx) error {
	rows, _ := tx.Query(ctx, `
		SELECT format('SELECT setval(%L, greatest((SELECT coalesce(max(%I), 0) FROM %s), s.last_value, 1)) FROM %s s',
			pg_get_serial_sequence(attrelid::regclass::text, attname), attname, attrelid::regclass, pg_get_serial_sequence(attrelid::regclass::text, attname))
		FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
		WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace AND attnum > 0 AND NOT attisdropped
			AND c.relname <> 'goose_db_version' AND pg_get_serial_sequence(attrelid::regclass::text, attname) IS NOT NULL`)
	statements, err := pgx.CollectRows(rows, pgx.RowTo[string])
	for _, statement := range statements {
		if _, err := tx.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return err
}

func loadFiles(ctx context.Context, tx pgx.Tx, to assets.Backend, dir string) error {
	from, err := assets.OpenFolder(dir)
	if err != nil {
		return err
	}
	files, err := filesOf(ctx, tx)
	if err != nil {
		return err
	}
	for _, f := range files {
		if _, err := assets.Copy(ctx, from, to, f.Hash, f.Size); err != nil {
			return err
		}
	}
	return nil
}

// loadKey brings the key back, by which addresses that people have go on working.
func loadKey(dataDir, dir string) error {
	key, err := os.ReadFile(filepath.Join(dir, keyName))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	name := filepath.Join(dataDir, keyName)
	switch there, err := os.ReadFile(name); {
	case err == nil && bytes.Equal(there, key):
		return nil
	case err == nil:
		return fmt.Errorf("%s is the key of another house: give another DATA_DIR", name)
	case !errors.Is(err, os.ErrNotExist):
		return err
	}
	return writeFile(name, key)
}
