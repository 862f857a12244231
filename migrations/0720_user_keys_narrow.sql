-- +goose Up

-- What else restricts an API key: the tools that it may use (none named: all), when it ends, and whether it sees only the runs that it made
-- itself. Restricted keys from before this step see all runs of their account, as they did; the version before makes such ones.
ALTER TABLE user_keys
    ADD COLUMN tools      text[]  NOT NULL DEFAULT '{}',
    ADD COLUMN expires_at timestamptz,
    ADD COLUMN own_runs   boolean NOT NULL DEFAULT false;

-- The budget of the key with which a mission was planned or run; empty: none, or it was before this step.
ALTER TABLE missions ADD COLUMN budget text NOT NULL DEFAULT '';

-- +goose Down

ALTER TABLE missions DROP COLUMN budget;
ALTER TABLE user_keys DROP COLUMN tools, DROP COLUMN expires_at, DROP COLUMN own_runs;
