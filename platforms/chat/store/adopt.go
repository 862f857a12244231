package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Adopt gives what is kept of an account in chats to the one that it is merged into: its buttons go on to
// work, its results are offered to the survivor. An open question of both in one chat is the survivor's.
func Adopt(ctx context.Context, tx pgx.Tx, from, into string) error {
	for _, statement := range []string{
		`UPDATE chat_keyboards SET account_id = $2 WHERE account_id = $1`,
		`UPDATE chat_marks SET account_id = $2 WHERE account_id = $1`,
		`UPDATE chat_deliveries SET account_id = $2 WHERE account_id = $1`,
		`UPDATE chat_questions SET account_id = $2 WHERE account_id = $1`,
		`UPDATE chat_prompts f SET account_id = $2 WHERE account_id = $1
		 AND NOT EXISTS (SELECT FROM chat_prompts i WHERE i.account_id = $2 AND i.platform = f.platform AND i.chat = f.chat)`,
	} {
		if _, err := tx.Exec(ctx, statement, from, into); err != nil {
			return fmt.Errorf("give the chats of %s to %s: %w", from, into, err)
		}
	}
	return Forget(ctx, tx, from)
}

// Forget deletes what is kept of an account in chats.
func Forget(ctx context.Context, tx pgx.Tx, accountID string) error {
	for _, statement := range []string{
		`DELETE FROM chat_prompts WHERE account_id = $1`,
		`DELETE FROM chat_marks WHERE account_id = $1`,
		`DELETE FROM chat_keyboards WHERE account_id = $1`,
		`DELETE FROM chat_deliveries WHERE account_id = $1`,
		`DELETE FROM chat_questions WHERE account_id = $1`,
	} {
		if _, err := tx.Exec(ctx, statement, accountID); err != nil {
			return fmt.Errorf("forget the chats of %s: %w", accountID, err)
		}
	}
	return nil
}
