-- +goose Up

-- Keys are only ever compared for being equal: by their bytes, which is cheaper than by a language's order. The
-- table stays as it is, the index is made anew.
ALTER TABLE ledger_transfers ALTER COLUMN key TYPE text COLLATE "C";

-- +goose Down

ALTER TABLE ledger_transfers ALTER COLUMN key TYPE text COLLATE "default";
