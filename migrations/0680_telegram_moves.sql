-- +goose Up

-- When a group got its new id, and when what is kept of it was last moved along; null: not yet, as of those that moved before this was done.
ALTER TABLE telegram_chats ADD COLUMN moved_at timestamptz, ADD COLUMN carried_at timestamptz;

-- +goose Down

ALTER TABLE telegram_chats DROP COLUMN moved_at, DROP COLUMN carried_at;
