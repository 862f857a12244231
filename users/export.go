package users

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/archive"
)

// Export writes who a person is and what they have set. Of keys and sessions it has what their owner sees, none of their secrets; of what was done about the
// account it has what, when, and the person's own words. What others noted may name others, and who left the account is somebody else.
func Export(ctx context.Context, tx pgx.Tx, accountID string, to *archive.Writer) error {
	for _, file := range [][2]string{
		{"account.json", `SELECT id, display_name, language, operator, created_at FROM users WHERE id = $1`},
		{"identities.json", `SELECT platform, external_id, name, handle, language, created_at FROM user_identities WHERE user_id = $1 ORDER BY created_at`},
		{"settings/preferences.json", `SELECT tool_id, field, value FROM user_preferences WHERE user_id = $1 ORDER BY tool_id, field`},
		{"settings/presets.json", `SELECT tool_id, name, fields, updated_at FROM user_presets WHERE user_id = $1 ORDER BY tool_id, key`},
		{"settings/limits.json", `SELECT own, at_once, per_day, day_cap, month_cap, upload_bytes, result_bytes, streams FROM user_limits WHERE user_id = $1 ORDER BY own`},
		{"keys.json", `SELECT label, hint, spend_limit, agent, tools, expires_at, own_runs, created_at, last_used_at FROM user_keys WHERE user_id = $1 ORDER BY created_at`},
		{"sessions.json", `SELECT way, agent, address, created_at, seen_at, expires_at FROM user_sessions WHERE user_id = $1 ORDER BY created_at`},
		{"audit.json", `SELECT at, action, CASE action WHEN '` + actionUnlink + `' THEN regexp_replace(detail, ' is [0-9a-f-]{36}$', '') ELSE detail END AS detail, CASE WHEN by_whom = account_id::text THEN note ELSE '' END AS note
			FROM user_audit WHERE account_id IN (SELECT u.id FROM users u WHERE u.id = $1 OR u.merged_into = $1) ORDER BY id`},
	} {
		if err := to.JSON(ctx, tx, file[0], file[1], accountID); err != nil {
			return err
		}
	}
	return nil
}
