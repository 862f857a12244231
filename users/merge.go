package users

import (
	"context"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"
)

// Merged is the result of merging two accounts.
type Merged struct {
	Account Account // the one that is left
	From    string  // the id of the one that is no more; empty when they were one before
}

func (s *Store) merge(ctx context.Context, tx pgx.Tx, a, b, by string) (Merged, error) {
	into, from, err := lockPair(ctx, tx, a, b)
	if err != nil || into.ID == from.ID {
		return Merged{Account: into}, err
	}
	if err := mergePresets(ctx, tx, from.ID, into.ID); err != nil {
		return Merged{}, err
	}
	if err := mergeLimits(ctx, tx, from.ID, into.ID); err != nil {
		return Merged{}, err
	}
	for _, statement := range moved {
		if _, err := tx.Exec(ctx, statement, from.ID, into.ID); err != nil {
			return Merged{}, err
		}
	}
	for _, statement := range left {
		if _, err := tx.Exec(ctx, statement, from.ID); err != nil {
			return Merged{}, err
		}
	}
	if s.config.OnMerge != nil {
		if err := s.config.OnMerge(ctx, tx, from.ID, into.ID); err != nil {
			return Merged{}, err
		}
	}
	err = audit(ctx, tx, AuditEntry{By: by, AccountID: into.ID, Action: actionMerge, Detail: from.ID + " (" + from.DisplayName + ") went into " + into.ID})
	if err != nil {
		return Merged{}, err
	}
	merged := Merged{From: from.ID}
	merged.Account, err = one(tx.Query(ctx, `SELECT `+accountColumns+` FROM users u WHERE u.id = $1`, into.ID))
	return merged, err
}

// moved brings what is kept by account from $1 to $2. What another room or file of this one keeps in a table
// of its own is moved by Config.OnMerge, or here.
var moved = [...]string{
	// What is there keeps for Unlink whose it was.
	`UPDATE user_identities SET user_id = $2, joined_from = coalesce(joined_from, user_id) WHERE user_id IN ($1, $2)`,
	`UPDATE user_keys SET user_id = $2, joined_from = coalesce(joined_from, user_id) WHERE user_id IN ($1, $2)`,
	`UPDATE user_sessions SET user_id = $2, joined_from = coalesce(joined_from, user_id) WHERE user_id IN ($1, $2)`,
	`INSERT INTO user_preferences (user_id, tool_id, field, value)
	 SELECT $2, tool_id, field, value FROM user_preferences WHERE user_id = $1 ON CONFLICT DO NOTHING`,
	// Where both have a rule for the same place a denial holds.
	`UPDATE access_rules i SET allow = i.allow AND f.allow FROM access_rules f
	 WHERE i.kind = 'account' AND f.kind = 'account' AND i.subject = ($2::uuid)::text AND f.subject = ($1::uuid)::text
	 AND (i.where_platform, i.where_kind, i.where_id) = (f.where_platform, f.where_kind, f.where_id)`,
	`DELETE FROM access_rules f USING access_rules i
	 WHERE i.kind = 'account' AND f.kind = 'account' AND i.subject = ($2::uuid)::text AND f.subject = ($1::uuid)::text
	 AND (i.where_platform, i.where_kind, i.where_id) = (f.where_platform, f.where_kind, f.where_id)`,
	`UPDATE access_rules SET subject = ($2::uuid)::text WHERE kind = 'account' AND subject = ($1::uuid)::text`,
	`UPDATE users i SET operator = i.operator OR f.operator, own_language = i.own_language OR f.own_language,
	 display_name = coalesce(nullif(i.display_name, ''), f.display_name),
	 language = CASE WHEN f.own_language AND NOT i.own_language OR i.language = '' THEN f.language ELSE i.language END
	 FROM users f WHERE f.id = $1 AND i.id = $2`,
	`INSERT INTO user_mutes (user_id, until) SELECT $2, until FROM user_mutes WHERE user_id = $1
	 ON CONFLICT (user_id) DO UPDATE SET until = greatest(user_mutes.until, excluded.until)`,
	`UPDATE users SET merged_into = $2, operator = false WHERE id = $1 OR merged_into = $1`,
}

// left deletes what was not moved from $1.
var left = [...]string{
	`DELETE FROM user_preferences WHERE user_id = $1`,
	`DELETE FROM user_link_codes WHERE user_id = $1`,
	`DELETE FROM user_limits WHERE user_id = $1`,
	`DELETE FROM user_mutes WHERE user_id = $1`,
}

// lockPair reads and locks two accounts, by today's ids, the older one first.
func lockPair(ctx context.Context, tx pgx.Tx, a, b string) (older, younger Account, err error) {
	for {
		locked, err := pairOf(ctx, tx, a, b)
		if err != nil {
			return Account{}, Account{}, err
		}
		now, err := todaysIDs(ctx, tx, a, b)
		if err != nil {
			return Account{}, Account{}, err
		}
		// Either may have been merged while we waited for it: then it is another one that must be locked.
		isLocked := func(id string) bool {
			return slices.ContainsFunc(locked, func(l Account) bool { return l.ID == id })
		}
		if isLocked(now[0]) && isLocked(now[1]) {
			return locked[0], locked[len(locked)-1], nil
		}
	}
}

// pairOf locks the accounts and gives them with the older one first; there is one where both are the same.
// Locks are taken in the order of ids, so that two merges wait for each other but never in a circle, and first
// on those that were merged before, as writers do who come by an old id.
func pairOf(ctx context.Context, tx pgx.Tx, a, b string) ([]Account, error) {
	_, err := tx.Exec(ctx, `SELECT id FROM users WHERE merged_into IN (users_now($1), users_now($2)) ORDER BY id FOR UPDATE`, a, b)
	if err != nil {
		return nil, err
	}
	rows, _ := tx.Query(ctx, `SELECT `+accountColumns+` FROM users u WHERE u.id IN (users_now($1), users_now($2)) ORDER BY u.id FOR UPDATE`, a, b)
	pair, err := pgx.CollectRows(rows, pgx.RowToStructByName[Account])
	slices.SortStableFunc(pair, func(x, y Account) int { return x.CreatedAt.Compare(y.CreatedAt) })
	return pair, err
}

func todaysIDs(ctx context.Context, tx pgx.Tx, a, b string) (now [2]string, err error) {
	err = tx.QueryRow(ctx, `SELECT coalesce(users_now($1)::text, ''), coalesce(users_now($2)::text, '')`, a, b).Scan(&now[0], &now[1])
	if err == nil && (now[0] == "" || now[1] == "") {
		err = ErrNotFound
	}
	return now, err
}

// mergePresets moves presets. One whose name is taken by another with other values gets a number.
func mergePresets(ctx context.Context, tx pgx.Tx, from, into string) error {
	_, err := tx.Exec(ctx, `
		DELETE FROM user_presets f USING user_presets i WHERE f.user_id = $1 AND i.user_id = $2
		AND i.tool_id = f.tool_id AND i.key = f.key AND i.fields::jsonb = f.fields::jsonb`, from, into)
	if err != nil {
		return err
	}
	rows, _ := tx.Query(ctx, `SELECT tool_id, name FROM user_presets WHERE user_id = $1 ORDER BY tool_id, key`, from)
	presets, err := pgx.CollectRows(rows, pgx.RowToStructByPos[presetKey])
	if err != nil {
		return err
	}
	for _, p := range presets {
		if err := movePreset(ctx, tx, from, into, p); err != nil {
			return err
		}
	}
	return nil
}

type presetKey struct{ ToolID, Name string }

// movePreset tries the preset's own name first, then numbered ones.
func movePreset(ctx context.Context, tx pgx.Tx, from, into string, p presetKey) error {
	name := p.Name
	for n := 2; ; n++ {
		tag, err := tx.Exec(ctx, `
			UPDATE user_presets SET user_id = $2, name = $5, key = lower($5) WHERE user_id = $1 AND tool_id = $3 AND key = lower($4)
			AND NOT EXISTS (SELECT FROM user_presets t WHERE t.user_id = $2 AND t.tool_id = $3 AND t.key = lower($5))`,
			from, into, p.ToolID, p.Name, name)
		if err != nil || tag.RowsAffected() > 0 {
			return err
		}
		suffix := " " + strconv.Itoa(n)
		runes := []rune(p.Name)
		name = string(runes[:min(len(runes), maxPresetName-len(suffix))]) + suffix
	}
}

// mergeLimits keeps the stricter of two limits.
func mergeLimits(ctx context.Context, tx pgx.Tx, from, into string) error {
	theirs, err := readLimits(ctx, tx, from)
	if err != nil || theirs == (LimitSettings{}) {
		return err
	}
	ours, err := readLimits(ctx, tx, into)
	if err != nil {
		return err
	}
	if err := writeLimits(ctx, tx, into, false, ours.Operator.stricter(theirs.Operator)); err != nil {
		return err
	}
	return writeLimits(ctx, tx, into, true, ours.Own.stricter(theirs.Own))
}
