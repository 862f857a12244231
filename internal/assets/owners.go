package assets

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/cache"
	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/locks"
	"github.com/signalbox/signalbox/internal/postgres"
)

// Kind says how an account came by a file. It is what its limits are for.
type Kind string

// The kinds of files that count against an account.
const (
	Upload Kind = "upload" // it was sent
	Result Kind = "result" // a run made it
)

// Archive is a file with everything that an account has, made at its request. It counts against no limit.
const Archive Kind = "export"

// LimitError refuses a file for which its owner's limit leaves no room.
type LimitError struct {
	Kind        Kind
	Used, Limit int64 // bytes
}

// Error says which limit, what is used, and what to do.
func (e *LimitError) Error() string {
	what := map[Kind]string{Upload: "uploads", Result: "results"}[e.Kind]
	return fmt.Sprintf("your %s take %s and may take %s: delete runs that you need no more, or ask the operator for more room", what, Words(e.Used), Words(e.Limit))
}

// ErrErased refuses an upload or archive of somebody who has had everything about them deleted meanwhile.
var ErrErased = errors.New("the account that it is for was deleted")

// checkOwner refuses an upload or archive for an account that was erased, which leaves it without identities. The lock makes this and
// the erasing take turns; what was let in before is deleted with the rest.
func checkOwner(ctx context.Context, tx pgx.Tx, meta Meta) error {
	if meta.Owner == "" || meta.Kind != Upload && meta.Kind != Archive {
		return nil
	}
	tag, err := tx.Exec(ctx, `SELECT FROM users WHERE id = (SELECT coalesce(merged_into, id) FROM users WHERE id = $1) FOR KEY SHARE`, meta.Owner)
	if err != nil || tag.RowsAffected() == 0 {
		return err
	}
	var there bool
	err = tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM user_identities WHERE user_id = (SELECT coalesce(merged_into, id) FROM users WHERE id = $1))`, meta.Owner).Scan(&there)
	if err == nil && !there {
		err = ErrErased
	}
	return err
}

// checkLimit refuses a file that is new to its owner where the owner's limit has no room for it. Files of one owner with a
// limit are stored one after the other.
func checkLimit(ctx context.Context, tx pgx.Tx, info Info, meta Meta) error {
	if meta.Owner == "" || meta.Limit <= 0 {
		return nil
	}
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(`+locks.Owner+`)`, meta.Owner); err != nil {
		return err
	}
	used := LimitError{Kind: meta.Kind, Limit: meta.Limit}
	err := tx.QueryRow(ctx, `SELECT coalesce(sum(size), 0) FROM asset_owners WHERE account_id = $1 AND kind = $2 AND hash <> $3`,
		meta.Owner, meta.Kind, info.Ref.Hash()).Scan(&used.Used)
	if err == nil && used.Used+info.Size > meta.Limit {
		return &used
	}
	return err
}

// Reader is who wants to see a file; the zero value is anybody.
type Reader struct {
	Account  string
	Operator bool // sees what is hidden, too
}

// Owners gives the accounts by whose links content is reached by a reader: those whose file it is, and those that have become one of them.
// By those from whom it is hidden only they themselves and operators reach it.
func Owners(ctx context.Context, pool *pgxpool.Pool, ref Ref, reader Reader) ([]string, error) {
	rows, _ := pool.Query(ctx, `
		WITH o AS (SELECT account_id FROM asset_owners WHERE hash = $1 AND (hidden_at IS NULL OR $3 OR account_id::text = $2))
		SELECT account_id::text FROM o UNION SELECT u.id::text FROM o JOIN users u ON u.merged_into = o.account_id`, ref.Hash(), reader.Account, reader.Operator)
	accounts, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return accounts, errs.Wrap(err, "owners of %s", ref)
}

// Hidden tells whether content is hidden from everybody but those whose file it is: where it is shown by no owner's link, this is asked.
func Hidden(ctx context.Context, pool *pgxpool.Pool, ref Ref) (hidden bool, err error) {
	err = pool.QueryRow(ctx, `SELECT coalesce(bool_and(hidden_at IS NOT NULL), false) FROM asset_owners WHERE hash = $1`, ref.Hash()).Scan(&hidden)
	if err != nil {
		return false, fmt.Errorf("whether %s is hidden: %w", ref, err)
	}
	return hidden, nil
}

// Foreign tells whether one of the files is somebody's, and not the account's.
func Foreign(ctx context.Context, pool *pgxpool.Pool, accountID string, hashes []string) (foreign bool, err error) {
	err = pool.QueryRow(ctx, `
		SELECT EXISTS (SELECT FROM asset_owners WHERE hash = ANY ($2) GROUP BY hash HAVING NOT bool_or(account_id = coalesce(users_now($1), $1)))`, accountID, hashes).Scan(&foreign)
	if err != nil {
		return false, fmt.Errorf("whose files %s names: %w", accountID, err)
	}
	return foreign, nil
}

// Lend gives an account those of the files that another has, as runs do which take them.
func Lend(ctx context.Context, pool *pgxpool.Pool, from, to string, hashes []string) error {
	_, err := pool.Exec(ctx, `
		INSERT INTO asset_owners (account_id, hash, kind, size)
		SELECT coalesce(users_now($2), $2), hash, 'lent', size FROM asset_owners WHERE account_id = coalesce(users_now($1), $1) AND hash = ANY ($3) AND hidden_at IS NULL ORDER BY hash
		ON CONFLICT (account_id, hash) DO UPDATE SET put_at = now()`, from, to, hashes)
	return errs.Wrap(err, "lend files of %s to %s", from, to)
}

// Filed is a file of an account.
type Filed struct {
	Ref  Ref
	Name string // as it first came, perhaps from somebody else; may be empty
	MIME string
}

// FilesOf gives the files of an account, archives aside, those first that came first.
func FilesOf(ctx context.Context, tx pgx.Tx, accountID string) ([]Filed, error) {
	rows, _ := tx.Query(ctx, `
		SELECT '`+refScheme+`' || o.hash, a.name, a.mime FROM asset_owners o JOIN assets a USING (hash)
		WHERE o.account_id = $1 AND o.kind <> 'export' ORDER BY o.put_at, o.hash`, accountID)
	files, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Filed])
	return files, errs.Wrap(err, "files of %s", accountID)
}

// Adopt gives the files of an account to the one that it is merged into.
func Adopt(ctx context.Context, tx pgx.Tx, from, into string) error {
	_, err := tx.Exec(ctx, `
		WITH moved AS (DELETE FROM asset_owners WHERE account_id = $1 RETURNING hash, kind, size, put_at, hidden_at)
		INSERT INTO asset_owners (account_id, hash, kind, size, put_at, hidden_at) SELECT $2::uuid, hash, kind, size, put_at, hidden_at FROM moved
		ON CONFLICT (account_id, hash) DO UPDATE SET put_at = greatest(asset_owners.put_at, excluded.put_at), hidden_at = coalesce(asset_owners.hidden_at, excluded.hidden_at)`, from, into)
	return errs.Wrap(err, "give the files of %s to %s", from, into)
}

// Hide keeps files of an account from all but itself and operators, see Owners; Show takes that back.
func Hide(ctx context.Context, tx pgx.Tx, accountID string, hashes []string) error {
	return setHidden(ctx, tx, accountID, hashes, `now()`)
}

// Show has files of an account served to everybody again who has their links.
func Show(ctx context.Context, tx pgx.Tx, accountID string, hashes []string) error {
	return setHidden(ctx, tx, accountID, hashes, `NULL`)
}

func setHidden(ctx context.Context, tx pgx.Tx, accountID string, hashes []string, at string) error {
	_, err := tx.Exec(ctx, `UPDATE asset_owners SET hidden_at = `+at+` WHERE account_id = $1 AND hash = ANY ($2)`, accountID, hashes)
	return errs.Wrap(err, "hide or show files of %s", accountID)
}

// Forget takes all files from an account. Collect frees those that nobody else has.
func Forget(ctx context.Context, tx pgx.Tx, accountID string) error {
	_, err := tx.Exec(ctx, `
		WITH left_behind AS (DELETE FROM asset_owners WHERE account_id = $1 RETURNING hash)
		UPDATE assets SET put_at = '-infinity', name = '' WHERE hash IN (SELECT hash FROM left_behind)`, accountID)
	return errs.Wrap(err, "forget the files of %s", accountID)
}

// Release takes files from an account where nothing of it needs them any more. An upload that came again since is left to
// Sweep: somebody may be about to use it. Collect frees what nobody else has.
func Release(ctx context.Context, tx pgx.Tx, accountID string, hashes []string, since time.Time) error {
	_, err := tx.Exec(ctx, `
		WITH released AS (
			DELETE FROM asset_owners o WHERE account_id = $1 AND hash = ANY ($2) AND (kind = 'result' OR put_at <= $3)
				AND NOT EXISTS (SELECT FROM asset_uses u WHERE u.account_id = $1 AND u.hash = o.hash)
			RETURNING hash)
		UPDATE assets SET put_at = '-infinity' WHERE hash IN (SELECT hash FROM released)`, accountID, hashes, since)
	return errs.Wrap(err, "release files of %s", accountID)
}

// grace is how long a file may lie about that nothing needs yet: a person who sent it chooses a tool, a tool that it belongs
// to is about to be recorded.
const grace = 24 * time.Hour

// Sweep deletes the files that nothing needs. Any number of processes may do so at a time, while files come and go.
func (s *Store) Sweep(ctx context.Context) (freed Space, err error) {
	_, err = s.pool.Exec(ctx, `
		DELETE FROM asset_owners o WHERE put_at < now() - make_interval(secs => $1)
			AND NOT EXISTS (SELECT FROM asset_uses u WHERE u.account_id = o.account_id AND u.hash = o.hash)`, grace.Seconds())
	if err != nil {
		return freed, fmt.Errorf("sweep files: %w", err)
	}
	return s.remove(ctx, `put_at < now() - make_interval(secs => $1)`, grace.Seconds())
}

// Collect deletes what Forget and Release have left without an owner.
func (s *Store) Collect(ctx context.Context) (freed Space, err error) {
	return s.remove(ctx, `put_at = '-infinity'`)
}

// Space is what files take.
type Space struct {
	Files, Bytes int64
}

// totalFor is how long a total is good for: with millions of files it takes a second to count them.
const totalFor = time.Minute

// Total tells what all files take together.
type Total struct {
	pool  *pgxpool.Pool
	space cache.Latest[Space]
}

// NewTotal makes a Total.
func NewTotal(pool *pgxpool.Pool) *Total {
	return &Total{pool: pool, space: cache.Latest[Space]{Life: totalFor}}
}

// Get gives what they take at now, or took a minute before at most.
func (t *Total) Get(ctx context.Context, now time.Time) (Space, error) {
	all, _, err := t.space.Get(now, func() (all Space, err error) {
		err = t.pool.QueryRow(ctx, `SELECT count(*), coalesce(sum(size), 0)::bigint FROM assets`).Scan(&all.Files, &all.Bytes)
		return all, err
	})
	if err != nil {
		return Space{}, fmt.Errorf("count files: %w", err)
	}
	return all, nil
}

// unneeded is what asset_uses says of an asset a. Whatever an account needs, it owns.
const unneeded = ` AND NOT EXISTS (SELECT FROM asset_owners o WHERE o.hash = a.hash)
	AND NOT EXISTS (SELECT FROM asset_uses u WHERE u.account_id IS NULL AND u.hash = a.hash)`

// remove deletes the assets of a condition that nothing needs.
func (s *Store) remove(ctx context.Context, condition string, args ...any) (freed Space, err error) {
	rows, _ := s.pool.Query(ctx, `SELECT hash FROM assets a WHERE `+condition+unneeded, args...)
	hashes, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return freed, fmt.Errorf("look for files that nothing needs: %w", err)
	}
	for _, hash := range hashes {
		size, err := s.delete(ctx, refOf(hash), condition, args)
		if err != nil {
			return freed, err
		}
		if size >= 0 {
			freed.Files++
			freed.Bytes += size
		}
	}
	return freed, nil
}

// delete forgets an asset if it is still unneeded, and frees its bytes; readers that have it open read on. The row is gone for
// good before the bytes go, and these go only if no Put has brought the row back. The size is -1 where it stays.
func (s *Store) delete(ctx context.Context, ref Ref, condition string, args []any) (size int64, err error) {
	hash := fmt.Sprintf("$%d", len(args)+1)
	err = s.locked(ctx, ref, func(tx pgx.Tx) error {
		size = -1
		var may bool
		if err := tx.QueryRow(ctx, `SELECT pg_try_advisory_xact_lock_shared($1)`, locks.Backup).Scan(&may); err != nil || !may {
			return err // a backup needs it; the next Sweep finds it again
		}
		err := tx.QueryRow(ctx, `DELETE FROM assets a WHERE hash = `+hash+` AND `+condition+unneeded+` RETURNING size`, append(args[:len(args):len(args)], ref.Hash())...).Scan(&size)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == "23503" { // somebody has come to own it in this moment
		return -1, nil
	}
	if err != nil || size < 0 {
		return size, err
	}
	return size, s.locked(ctx, ref, func(tx pgx.Tx) error {
		var again bool
		err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM assets WHERE hash = $1)`, ref.Hash()).Scan(&again)
		if err != nil || again {
			return err
		}
		return s.backend.Delete(ctx, ref.Hash())
	})
}

// locked makes a transaction that waits for others which store or delete the same asset.
func (s *Store) locked(ctx context.Context, ref Ref, f func(pgx.Tx) error) error {
	err := postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		if err := lock(ctx, tx, ref); err != nil {
			return err
		}
		return f(tx)
	})
	return errs.Wrap(err, "%s", ref)
}
