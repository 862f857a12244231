-- From which share of their credit on people are asked before a run.

-- +goose Up

ALTER TABLE user_limits ADD COLUMN confirm_percent smallint NOT NULL DEFAULT 0 -- 0: the default; 100: never asked
    CHECK (confirm_percent BETWEEN 0 AND 100);

-- +goose Down

ALTER TABLE user_limits DROP COLUMN confirm_percent;
