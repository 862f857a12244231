-- +goose Up

-- When a run that is under way will be over, by how long such runs took.
ALTER TABLE runs ADD COLUMN expected_at timestamptz;

-- +goose Down

ALTER TABLE runs DROP COLUMN expected_at;
