-- +goose Up

-- Several processes may share one database and one bot. Each handles the updates it has claimed; those of
-- a process that is gone are taken over. NULL: received before claims were kept.
ALTER TABLE chat_updates ADD COLUMN claimed_by text;

-- +goose Down

ALTER TABLE chat_updates DROP COLUMN claimed_by;
