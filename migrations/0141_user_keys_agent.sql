-- +goose Up

-- The key of an agent: a model acts with it, so that what changes something waits for its owner's approval.
ALTER TABLE user_keys ADD COLUMN agent boolean NOT NULL DEFAULT false;

-- +goose Down

ALTER TABLE user_keys DROP COLUMN agent;
