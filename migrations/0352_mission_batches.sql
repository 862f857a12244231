-- +goose Up

-- Where a mission was asked for: its owner is told there what waits for them, how it ends, and what its last legs made. As for runs.
ALTER TABLE missions
    ADD COLUMN origin_platform text    NOT NULL DEFAULT '',
    ADD COLUMN origin_target   jsonb,
    ADD COLUMN untold          boolean NOT NULL DEFAULT false; -- it is over, and its owner has not been told yet

-- +goose Down

ALTER TABLE missions DROP COLUMN origin_platform, DROP COLUMN origin_target, DROP COLUMN untold;
