-- +goose Up

-- An operator gave back what the run cost; the receipt says how much and why.
ALTER TABLE runs ADD COLUMN refunded_at timestamptz;

-- +goose Down

ALTER TABLE runs DROP COLUMN refunded_at;
