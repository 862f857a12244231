-- +goose Up

-- Which step another one took back: that one can be done again. NULL: it took none back, or did so before this was kept.
ALTER TABLE canvas_changes ADD COLUMN took bigint;

-- +goose Down

ALTER TABLE canvas_changes DROP COLUMN took;
