-- +goose Up

-- The pot that a run draws on, such as that of an API key.
ALTER TABLE runs ADD COLUMN budget text;

-- What the runs of a key may cost in a calendar month, in nano-dollars; 0: no limit.
ALTER TABLE user_keys ADD COLUMN spend_limit bigint NOT NULL DEFAULT 0 CHECK (spend_limit >= 0);

-- +goose Down

ALTER TABLE user_keys DROP COLUMN spend_limit;
ALTER TABLE runs DROP COLUMN budget;
