-- +goose Up

-- A process that was found gone is looked at once more a little later: what it was about to write when its sign of life
-- broke may have come after the first look.
ALTER TABLE run_workers ADD COLUMN gone_at timestamptz;

-- +goose Down

ALTER TABLE run_workers DROP COLUMN gone_at;
