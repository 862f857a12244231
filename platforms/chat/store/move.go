package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// MoveChat lets what waits in a chat go on under the id under which its platform goes on with it: open questions, and buttons of the chat's settings.
// Messages count anew there, so that no answer is taken for one to a message of the former chat; their marks stay behind and are forgotten in time.
// It may be repeated.
func MoveChat(ctx context.Context, tx pgx.Tx, platform, from, to string) error {
	for _, statement := range []string{
		`UPDATE chat_prompts f SET chat = $3, message_id = '' WHERE platform = $1 AND chat = $2
			AND NOT EXISTS (SELECT FROM chat_prompts t WHERE t.platform = $1 AND t.chat = $3 AND t.account_id = f.account_id)`,
		`UPDATE chat_prompts SET state = jsonb_set(state, '{view,place,ID}', to_jsonb($3::text))
			WHERE platform = $1 AND chat = $3 AND state #>> '{view,place,Kind}' = 'chat' AND state #>> '{view,place,ID}' = $2`,
		`UPDATE chat_questions SET chat = $3, message_id = '', state = jsonb_set(state, '{where,chat,chat}', to_jsonb($3::text)) WHERE platform = $1 AND chat = $2`,
		`UPDATE chat_keyboards SET state = jsonb_set(state, '{view,place,ID}', to_jsonb($3::text))
			WHERE platform = $1 AND state #>> '{view,place,Kind}' = 'chat' AND state #>> '{view,place,ID}' = $2`,
		`UPDATE chat_keyboards SET state = jsonb_set(state, '{stands}', to_jsonb($3::text)) WHERE platform = $1 AND state ->> 'stands' = $2`,
	} {
		if _, err := tx.Exec(ctx, statement, platform, from, to); err != nil {
			return fmt.Errorf("move what waits in the %s chat %s to %s: %w", platform, from, to, err)
		}
	}
	return nil
}
