-- +goose Up

-- Event streams that an account may have open at a time, as the other limits: 0 is the default, -1 none.
ALTER TABLE user_limits ADD COLUMN streams integer NOT NULL DEFAULT 0;

-- +goose Down

ALTER TABLE user_limits DROP COLUMN streams;
