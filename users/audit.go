package users

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/signalbox/signalbox/internal/errs"
)

// BySystem is who did what nobody asked for.
const BySystem = "system"

// The actions that this room records.
const (
	actionLink     = "link"
	actionUnlink   = "unlink"
	actionMerge    = "merge"
	actionErase    = "erase"
	actionOperator = "operator"
	actionRule     = "rule"
	actionTools    = "tools"
	actionLimits   = "limits"
	actionPlace    = "chat setting"
	actionMute     = "mute"
)

// AuditEntry is one thing that somebody did about an account.
type AuditEntry struct {
	ID        int64
	At        time.Time
	By        string // an account's id, or BySystem, or how else somebody is known
	AccountID string // whom it concerns; empty: nobody
	Action    string // link, unlink, merge, erase, operator, rule, tools, limits, chat setting, mute, and those of other rooms
	Detail    string // what was changed to what
	Note      string // why, in the words of who did it
}

// AuditQuery chooses entries; empty members choose all.
type AuditQuery struct {
	AccountID string
	Before    int64 // an entry's ID: only older ones, for paging
	Limit     int   // 1 to 200; 0 means 50
}

const (
	defaultPage = 50
	maxPage     = 200
	maxDetail   = 2000 // bytes of a detail or note
)

func pageOf(limit int) int {
	if limit <= 0 {
		return defaultPage
	}
	return min(limit, maxPage)
}

// Record keeps what was done in another room, such as a grant. ID and At are set here.
func (s *Store) Record(ctx context.Context, e AuditEntry) error { return audit(ctx, s.pool, e) }

// Audit lists what was done, newest first. What was done about accounts that were merged into one is listed with
// it.
func (s *Store) Audit(ctx context.Context, q AuditQuery) ([]AuditEntry, error) {
	rows, _ := s.pool.Query(ctx, `
		SELECT id, at, by_whom AS by, coalesce(account_id::text, '') AS account_id, action, detail, note FROM user_audit
		WHERE ($1 = '' OR account_id IN (SELECT u.id FROM users u WHERE u.id = users_now(nullif($1, '')::uuid) OR u.merged_into = users_now(nullif($1, '')::uuid)))
		AND ($2::bigint = 0 OR id < $2) ORDER BY id DESC LIMIT $3`, q.AccountID, q.Before, pageOf(q.Limit))
	entries, err := pgx.CollectRows(rows, pgx.RowToStructByName[AuditEntry])
	return entries, errs.Wrap(err, "read the audit")
}

// executor is a pool or a transaction.
type executor interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

func audit(ctx context.Context, on executor, e AuditEntry) error {
	var account *string
	if _, err := uuid.Parse(e.AccountID); err == nil {
		account = &e.AccountID
	}
	_, err := on.Exec(ctx, `INSERT INTO user_audit (by_whom, account_id, action, detail, note) VALUES ($1, $2, $3, $4, $5)`,
		cleanText(e.By), account, cleanText(e.Action), cut(e.Detail, maxDetail), cut(e.Note, maxDetail))
	return errs.Wrap(err, "record %s of %s", e.Action, e.AccountID)
}

// RecordIn is Record in a transaction of another room.
func RecordIn(ctx context.Context, tx pgx.Tx, e AuditEntry) error { return audit(ctx, tx, e) }
