-- +goose Up

-- The scopes of personal data that a run's owner granted when it was confirmed; NULL: all that its tool names.
ALTER TABLE runs ADD COLUMN granted text[];

-- +goose Down

ALTER TABLE runs DROP COLUMN granted;
