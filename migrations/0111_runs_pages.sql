-- +goose Up

-- A run's row is written three times; the last time, the mark of the delivery, it stays on its page where there
-- is room, and then no index is written.
ALTER TABLE runs SET (fillfactor = 60);

-- +goose Down

ALTER TABLE runs SET (fillfactor = 85);
