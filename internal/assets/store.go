// Package assets keeps files by their content: inputs that people send and
// results that tools return.
//
// A file is stored once however often it arrives, under a Ref made from its
// SHA-256. The bytes are in a Backend (a folder, or a bucket), and
// what is known about them in the table assets. Both are written so that a
// crash at any point leaves at worst bytes without a row, which the next Put of
// the same content puts right.
//
// Equal files of different people are one asset, so it may have several owners.
// What needs an asset is told by the view asset_uses; Sweep deletes the others.
package assets

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/locks"
	"github.com/signalbox/signalbox/internal/postgres"
)

// DefaultMaxBytes is the size limit of a Store that sets none: enough for a
// few minutes of video.
const DefaultMaxBytes = 512 << 20

// maxName is the longest file name kept, in bytes.
const maxName = 255

var (
	// ErrNotFound is wrapped by Open and Stat for content that is not stored.
	ErrNotFound = errors.New("no such asset")
	// ErrTooLarge is wrapped by Put for content above the limit.
	ErrTooLarge = errors.New("file is too large")
)

// Meta is what the sender says about content. All of it is optional.
type Meta struct {
	// Name is a file name for people; only its last path element is kept.
	Name string
	// Owner is the account whose file it is; empty: the house's.
	Owner string
	Kind  Kind
	// Limit bounds the bytes of Owner's files of this kind; 0: no limit.
	Limit int64
	// Filter copies content into the store and may leave something out; nil: io.Copy.
	Filter func(to io.Writer, from io.Reader) (int64, error)
}

// Info is what is known about stored content.
type Info struct {
	Ref  Ref
	Size int64 // in bytes
	// MIME is judged from the bytes, not from the name, such as "image/png" or
	// "text/plain; charset=utf-8".
	MIME string
	// Width and Height are those of an image in pixels, as stored, that is
	// before a rotation that a camera noted. Both are 0 for other content.
	Width, Height int
	// Name is the one that content came with when it was first stored, which
	// may have been by somebody else. It may be empty.
	Name      string
	CreatedAt time.Time
}

// Store stores and finds assets. It is safe for concurrent use.
type Store struct {
	pool     *pgxpool.Pool
	backend  Backend
	maxBytes int64
}

// New returns a Store. maxBytes limits each asset; 0 means DefaultMaxBytes.
func New(pool *pgxpool.Pool, backend Backend, maxBytes int64) *Store {
	if maxBytes <= 0 {
		maxBytes = DefaultMaxBytes
	}
	return &Store{pool: pool, backend: backend, maxBytes: maxBytes}
}

// Put stores what r yields up to its end and returns its reference. Content
// that is stored already keeps its first Meta. Nothing is stored when r fails,
// ctx ends, or the content exceeds the limit (ErrTooLarge).
func (s *Store) Put(ctx context.Context, r io.Reader, meta Meta) (ref Ref, err error) {
	staged, err := s.backend.Stage(ctx)
	if err != nil {
		return "", fmt.Errorf("store asset: %w", err)
	}
	defer func() {
		if discardErr := staged.Discard(); discardErr != nil && err == nil {
			ref, err = "", fmt.Errorf("store asset: %w", discardErr)
		}
	}()
	info, err := s.receive(ctx, staged, r, meta.Filter)
	if err != nil {
		return "", fmt.Errorf("store asset: %w", err)
	}
	info.Name = cleanName(meta.Name)
	if err := s.commit(ctx, staged, info, meta); err != nil {
		return "", fmt.Errorf("store %s: %w", info.Ref, err)
	}
	return info.Ref, nil
}

// receive copies r into staged and finds out what it is.
func (s *Store) receive(ctx context.Context, staged Staged, r io.Reader, filter func(io.Writer, io.Reader) (int64, error)) (Info, error) {
	sum := sha256.New()
	bounded := &io.LimitedReader{R: contextReader{ctx, r}, N: s.maxBytes + 1}
	if filter == nil {
		filter = io.Copy
	}
	size, err := filter(io.MultiWriter(staged, sum), bounded)
	if err != nil {
		return Info{}, err
	}
	if bounded.N == 0 {
		return Info{}, fmt.Errorf("%w: at most %s are taken", ErrTooLarge, Words(s.maxBytes))
	}
	found, err := sniff(staged)
	if err != nil {
		return Info{}, err
	}
	ref := refOf(hex.EncodeToString(sum.Sum(nil)))
	return Info{Ref: ref, Size: size, MIME: found.mime, Width: found.width, Height: found.height}, nil
}

// commit stores bytes, then row. The lock keeps a Delete of the same content
// from coming between the two.
func (s *Store) commit(ctx context.Context, staged Staged, info Info, meta Meta) error {
	stored := false
	return postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		if err := checkOwner(ctx, tx, meta); err != nil {
			return err
		}
		if err := checkLimit(ctx, tx, info, meta); err != nil {
			return err
		}
		if err := lock(ctx, tx, info.Ref); err != nil {
			return err
		}
		// The transaction may be repeated, but the staged content is spent.
		if !stored {
			if err := staged.Commit(ctx, info.Ref.Hash()); err != nil {
				return err
			}
			stored = true
		}
		_, err := tx.Exec(ctx, `
			INSERT INTO assets (hash, size, mime, width, height, name)
			VALUES (@hash, @size, @mime, nullif(@width::int, 0), nullif(@height::int, 0), @name)
			ON CONFLICT (hash) DO UPDATE SET put_at = now()`,
			pgx.NamedArgs{
				"hash": info.Ref.Hash(), "size": info.Size, "mime": info.MIME,
				"width": info.Width, "height": info.Height, "name": info.Name,
			})
		if err != nil || meta.Owner == "" {
			return err
		}
		_, err = tx.Exec(ctx, `
			INSERT INTO asset_owners (account_id, hash, kind, size) VALUES (coalesce((SELECT merged_into FROM users WHERE id = $1), $1), $2, $3, $4)
			ON CONFLICT (account_id, hash) DO UPDATE SET put_at = now(),
				kind = CASE WHEN asset_owners.kind = 'lent' THEN excluded.kind ELSE asset_owners.kind END`,
			meta.Owner, info.Ref.Hash(), meta.Kind, info.Size)
		return err
	})
}

// lock makes Put and Delete of one asset take turns, on all machines.
func lock(ctx context.Context, tx pgx.Tx, ref Ref) error {
	_, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(`+locks.Asset+`)`, string(ref))
	return err
}

// Open returns the content of ref, which the caller closes, or an error
// wrapping ErrNotFound.
func (s *Store) Open(ctx context.Context, ref Ref) (Content, error) {
	content, err := s.backend.Open(ctx, ref.Hash())
	if err != nil {
		return nil, fmt.Errorf("open asset: %w", err)
	}
	return content, nil
}

// Stat returns what is known about ref, or an error wrapping ErrNotFound.
func (s *Store) Stat(ctx context.Context, ref Ref) (Info, error) {
	info := Info{Ref: ref}
	err := s.pool.QueryRow(ctx, `
		SELECT size, mime, coalesce(width, 0), coalesce(height, 0), name, created_at
		FROM assets WHERE hash = $1`, ref.Hash()).
		Scan(&info.Size, &info.MIME, &info.Width, &info.Height, &info.Name, &info.CreatedAt)
	if errors.Is(err, pgx.ErrNoRows) {
		return Info{}, fmt.Errorf("%.80q: %w", string(ref), ErrNotFound)
	}
	if err != nil {
		return Info{}, fmt.Errorf("stat %s: %w", ref, err)
	}
	return info, nil
}

// cleanName keeps of a file name what can be shown and saved anywhere.
func cleanName(name string) string {
	name = strings.ToValidUTF8(strings.ReplaceAll(name, `\`, "/"), "")
	name = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, name))
	if name == "" {
		return ""
	}
	if name = path.Base(name); name == "." || name == ".." || name == "/" {
		return ""
	}
	for len(name) > maxName {
		// The end holds the file type, so the start gives way.
		_, width := utf8.DecodeRuneInString(name)
		name = name[width:]
	}
	return name
}

// Words gives a number of bytes as people read it.
func Words(n int64) string {
	switch {
	case n >= 1<<30:
		return strings.Replace(fmt.Sprintf("%.1f GB", float64(n)/(1<<30)), ".0 ", " ", 1)
	case n >= 1<<20:
		return fmt.Sprintf("%d MB", n>>20)
	case n >= 10<<10:
		return fmt.Sprintf("%d kB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}

// contextReader stops reading once ctx is over.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, context.Cause(c.ctx)
	}
	return c.r.Read(p)
}
