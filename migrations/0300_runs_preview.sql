-- +goose Up

-- What the call would do, as its provider said before the run was accepted; NULL: its tool has no preview.
ALTER TABLE runs ADD COLUMN preview json;

-- +goose Down

ALTER TABLE runs DROP COLUMN preview;
