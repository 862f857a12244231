package assets

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"
)

// movers is how many files are moved at a time.
const movers = 4

// Both is a Backend in two places: what is new goes into First, what is there already is read where it is. It is how a
// house works on while its files are moved.
type Both struct {
	First, Second Backend
}

var _ Backend = Both{}

// Stage implements Backend.
func (b Both) Stage(ctx context.Context) (Staged, error) { return b.First.Stage(ctx) }

// Open implements Backend. A file that is moved between the two looks is in the place that was looked at first.
func (b Both) Open(ctx context.Context, hash string) (Content, error) {
	for _, place := range []Backend{b.First, b.Second} {
		content, err := place.Open(ctx, hash)
		if !errors.Is(err, ErrNotFound) {
			return content, err
		}
	}
	return b.First.Open(ctx, hash)
}

// Delete implements Backend.
func (b Both) Delete(ctx context.Context, hash string) error {
	return errors.Join(b.First.Delete(ctx, hash), b.Second.Delete(ctx, hash))
}

// Move is what MoveAll did.
type Move struct {
	Moved   Space
	There   int64    // files that were in their new place already
	Missing []string // hashes of files that are in neither place
}

// MoveAll brings the content of all assets from one place to another, and removes it there once it has arrived and been
// read with the hash that it should have. It may be broken off and called again, and files may come and go meanwhile.
// A file that cannot be read as it was stored ends it with an error; it stays where it is.
func MoveAll(ctx context.Context, pool *pgxpool.Pool, from, to Backend) (done Move, err error) {
	for after := ""; ; {
		rows, _ := pool.Query(ctx, `SELECT hash, size FROM assets WHERE hash > $1 ORDER BY hash LIMIT 500`, after)
		files, err := pgx.CollectRows(rows, pgx.RowToStructByPos[stored])
		if err != nil {
			return done, fmt.Errorf("list files: %w", err)
		}
		if len(files) == 0 {
			return done, nil
		}
		after = files[len(files)-1].Hash
		if err := moveSome(ctx, pool, from, to, files, &done); err != nil {
			return done, err
		}
	}
}

// stored is a file as the database knows it.
type stored struct {
	Hash string
	Size int64
}

// moveSome moves files, several at a time, and counts them.
func moveSome(ctx context.Context, pool *pgxpool.Pool, from, to Backend, files []stored, done *Move) error {
	outcomes := make([]outcome, len(files))
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(movers)
	s := Store{pool: pool}
	for i, f := range files {
		work.Go(func() error {
			return s.locked(ctx, refOf(f.Hash), func(tx pgx.Tx) (err error) {
				outcomes[i], err = moveOne(ctx, tx, from, to, f)
				return err
			})
		})
	}
	err := work.Wait()
	for i, o := range outcomes {
		switch o {
		case moved:
			done.Moved.Files++
			done.Moved.Bytes += files[i].Size
		case there:
			done.There++
		case missing:
			done.Missing = append(done.Missing, files[i].Hash)
		}
	}
	return err
}

type outcome int

const (
	none outcome = iota // it was deleted meanwhile, or the work was broken off
	moved
	there
	missing
)

// moveOne moves a file while nobody else stores or deletes it.
func moveOne(ctx context.Context, tx pgx.Tx, from, to Backend, f stored) (outcome, error) {
	var still bool
	if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM assets WHERE hash = $1)`, f.Hash).Scan(&still); err != nil || !still {
		return none, err
	}
	copied, err := Copy(ctx, from, to, f.Hash, f.Size)
	switch {
	case errors.Is(err, ErrNotFound):
		return missing, nil
	case err != nil:
		return none, err
	case !copied:
		return there, from.Delete(ctx, f.Hash)
	}
	return moved, from.Delete(ctx, f.Hash)
}

// Copy brings content from one place to another, where it arrives only if its hash is the one that it is named after. It
// reports false where content of that size was there already, and an error wrapping ErrNotFound where it is nowhere.
func Copy(ctx context.Context, from, to Backend, hash string, size int64) (copied bool, err error) {
	there, err := sizeOf(ctx, to, hash)
	if err == nil && there == size {
		return false, nil
	}
	if err != nil && !errors.Is(err, ErrNotFound) {
		return false, err
	}
	content, err := from.Open(ctx, hash)
	if err != nil {
		return false, err
	}
	defer content.Close()
	staged, err := to.Stage(ctx)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, staged.Discard()) }()
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(staged, sum), contextReader{ctx, content}); err != nil {
		return false, fmt.Errorf("copy %s: %w", refOf(hash), err)
	}
	if found := hex.EncodeToString(sum.Sum(nil)); found != hash {
		return false, fmt.Errorf("copy %s: its content has the hash %s now: it was damaged where it is stored; bring it back from a backup", refOf(hash), found)
	}
	if err := staged.Commit(ctx, hash); err != nil {
		return false, fmt.Errorf("copy %s: %w", refOf(hash), err)
	}
	return true, nil
}

// sizeOf is how many bytes of content are in a place.
func sizeOf(ctx context.Context, place Backend, hash string) (int64, error) {
	content, err := place.Open(ctx, hash)
	if err != nil {
		return 0, err
	}
	defer content.Close()
	return content.Seek(0, io.SeekEnd)
}
