// Package housekey has the secret of a house: it signs the addresses of results, and encrypts what the database keeps of others' secrets.
// All processes on one database need the same; the database knows its fingerprint.
package housekey

import (
	"context"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/errs"
)

// FileName is the key's in DATA_DIR.
const FileName = "link.key"

const (
	leastBytes = 16
	newBytes   = 32
)

// Config says where the key is.
type Config struct {
	Given   []byte // what HOUSE_KEY says; nil: the key is in DataDir
	DataDir string
	// Shared says that other processes may be on the database. Without that a key that was lost is replaced.
	Shared bool
	Log    *slog.Logger
}

// Read gives the key without asking the database; where there is none, one that ends with this process.
func Read(c Config) ([]byte, error) {
	key, err := c.read()
	if err == nil && key == nil {
		key = newKey()
	}
	return key, err
}

// Open gives the key, which is made by the first process of a house, and fails where it is not the one that the others have.
func Open(ctx context.Context, pool *pgxpool.Pool, c Config) ([]byte, error) {
	key, err := c.read()
	if err != nil {
		return nil, err
	}
	file, made := filepath.Join(c.DataDir, FileName), false
	if key == nil {
		key, made = newKey(), true
		if err := os.WriteFile(file, key, 0o600); err != nil {
			return nil, fmt.Errorf("DATA_DIR: %w", err)
		}
	}
	known, err := claim(ctx, pool, key)
	if err == nil && known != fingerprint(key) {
		err = c.another(ctx, pool, key, known, made)
	}
	if err != nil && made {
		err = errors.Join(err, os.Remove(file))
	}
	return key, err
}

// claim makes a key the house's, if it has none, and gives the fingerprint of the one that it has.
func claim(ctx context.Context, pool *pgxpool.Pool, key []byte) (known string, err error) {
	_, err = pool.Exec(ctx, `INSERT INTO house_key (fingerprint) VALUES ($1) ON CONFLICT DO NOTHING`, fingerprint(key))
	if err == nil {
		err = pool.QueryRow(ctx, `SELECT fingerprint FROM house_key`).Scan(&known)
	}
	if err != nil {
		return "", fmt.Errorf("compare the key of the house: %w", err)
	}
	return known, nil
}

// another is a key that is not the one that the database knows.
func (c Config) another(ctx context.Context, pool *pgxpool.Pool, key []byte, known string, made bool) error {
	if c.Shared {
		has := "has the key " + fingerprint(key)
		if made {
			has = "has none"
		}
		return fmt.Errorf("the processes on this database share the key %s, this one %s: copy %s from the DATA_DIR of one that works to %s, or give all the same HOUSE_KEY; docs/operate.md says what to do where it is lost",
			known, has, FileName, c.DataDir)
	}
	c.Log.WarnContext(ctx, "the key of this house is another than before: addresses of results that were given out no longer work, and headers of registered tools have to be set again", "file", FileName)
	_, err := pool.Exec(ctx, `UPDATE house_key SET fingerprint = $1`, fingerprint(key))
	return errs.Wrap(err, "note the key of the house")
}

// read gives the key that is there, or nil.
func (c Config) read() ([]byte, error) {
	if c.Given != nil {
		return c.Given, nil
	}
	key, err := os.ReadFile(filepath.Join(c.DataDir, FileName))
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(key) < leastBytes {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("DATA_DIR: %w", err)
	}
	return key, nil
}

func newKey() []byte {
	key := make([]byte, newBytes)
	rand.Read(key)
	return key
}

// Parse reads HOUSE_KEY: at least 32 hex digits.
func Parse(text string) ([]byte, error) {
	key, err := hex.DecodeString(text)
	if err != nil || len(key) < leastBytes {
		return nil, errors.New("expected at least 32 hex digits")
	}
	return key, nil
}

// For derives the key for one purpose.
func For(key []byte, purpose string) ([]byte, error) {
	return hkdf.Key(sha256.New, key, nil, "signalbox "+purpose, newBytes)
}

// fingerprint names a key, and tells nothing of it.
func fingerprint(key []byte) string {
	mark := sha256.Sum256(append([]byte("signalbox fingerprint\x00"), key...))
	return hex.EncodeToString(mark[:6])
}
