package groups

import (
	"cmp"
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/errs"
)

// MoveChat gives the wallet of a chat, with its rules, parties and books, to the id under which its platform goes on with it. Where there is a
// wallet under both ids, the older one's rules hold, and the other's money and gifts become part of it. It may be repeated.
func (s *Store) MoveChat(ctx context.Context, tx pgx.Tx, platform, from, to string) error {
	return errs.Wrap(s.moveChat(ctx, tx, platform, from, to), "move the wallet of the %s chat %s to %s", platform, from, to)
}

func (s *Store) moveChat(ctx context.Context, tx pgx.Tx, platform, from, to string) error {
	rows, _ := tx.Query(ctx, `
		SELECT g.id::text, (SELECT min(a.id) FROM ledger_accounts a WHERE a.owner = g.id) FROM groups g
		WHERE g.platform = $1 AND g.kind = 'chat' AND g.place = ANY ($2) AND g.closed_at IS NULL ORDER BY g.id FOR UPDATE OF g`,
		platform, []string{from, to})
	type wallet struct {
		ID     string
		Opened int64 // grows with each that is opened
	}
	open, err := pgx.CollectRows(rows, pgx.RowToStructByPos[wallet])
	if err != nil {
		return err
	}
	slices.SortFunc(open, func(a, b wallet) int { return cmp.Compare(a.Opened, b.Opened) })
	if len(open) == 2 {
		if err := s.join(ctx, tx, open[1].ID, open[0].ID); err != nil {
			return err
		}
	}
	for _, statement := range []string{
		`UPDATE groups SET place = $3 WHERE platform = $1 AND kind = 'chat' AND place = $2`,
		`UPDATE groups SET chat = jsonb_set(chat::jsonb, '{chat,chat}', to_jsonb($3::text))::json
			WHERE platform = $1 AND kind = 'chat' AND place = $3 AND chat #>> '{chat,chat}' = $2`,
		`UPDATE group_parties p SET chat = jsonb_set(p.chat::jsonb, '{chat,chat}', to_jsonb($3::text))::json
			FROM groups g WHERE g.id = p.group_id AND g.platform = $1 AND g.kind = 'chat' AND g.place = $3 AND p.chat #>> '{chat,chat}' = $2`,
	} {
		if _, err := tx.Exec(ctx, statement, platform, from, to); err != nil {
			return err
		}
	}
	return nil
}

// join makes one wallet part of another; the rows of both are locked. What is set aside for runs is settled as it was made, and follows. A party of
// it goes on in the other, or ends where that has its own. Locks are taken in the order of all writers: runs before accounts.
func (s *Store) join(ctx context.Context, tx pgx.Tx, part, whole string) error {
	for _, lock := range []struct {
		sql string
		of  []string
	}{
		{`SELECT id FROM runs WHERE payer = ANY ($1) OR group_id = ANY ($1) ORDER BY id FOR UPDATE`, []string{part}},
		{`SELECT runs_lock(id) FROM unnest($1::uuid[]) AS one (id) ORDER BY id`, []string{part, whole}},
	} {
		if _, err := tx.Exec(ctx, lock.sql, lock.of); err != nil {
			return err
		}
	}
	var both bool
	err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM group_parties WHERE group_id = $1 AND ended_at IS NULL)`, whole).Scan(&both)
	if err == nil && both {
		err = s.endParty(ctx, tx, part, `true`)
	}
	if err != nil {
		return err
	}
	for _, statement := range []string{
		`UPDATE group_parties SET group_id = $2 WHERE group_id = $1`,
		`UPDATE runs SET group_id = $2 WHERE group_id = $1`,
		`UPDATE runs SET payer = $2 WHERE payer = $1`,
		`UPDATE group_gifts SET fund = $2 WHERE fund = $1`,
	} {
		if _, err := tx.Exec(ctx, statement, part, whole); err != nil {
			return err
		}
	}
	if err := s.cfg.Ledger.Merge(ctx, tx, part, whole); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE groups SET closed_at = $2 WHERE id = $1`, part, s.cfg.Now())
	return err
}
