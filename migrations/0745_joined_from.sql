-- +goose Up

-- From which account an identity, a key, a browser and an endpoint came when two became one, the account that is left included; null: it came
-- later. When the last identity of such an account leaves again, what came with it ends.
ALTER TABLE user_identities ADD COLUMN joined_from uuid;
ALTER TABLE user_keys ADD COLUMN joined_from uuid;
ALTER TABLE user_sessions ADD COLUMN joined_from uuid;
ALTER TABLE webhook_endpoints ADD COLUMN joined_from uuid;

-- +goose Down

ALTER TABLE user_identities DROP COLUMN joined_from;
ALTER TABLE user_keys DROP COLUMN joined_from;
ALTER TABLE user_sessions DROP COLUMN joined_from;
ALTER TABLE webhook_endpoints DROP COLUMN joined_from;
