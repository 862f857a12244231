-- +goose NO TRANSACTION
-- +goose Up

-- The newest transfers of a kind, and of all kinds by going through them, are found by an index. It is built beside the work; a step that was
-- broken off has left it, perhaps invalid, so it is dropped first.
DROP INDEX CONCURRENTLY IF EXISTS ledger_newest;
CREATE INDEX CONCURRENTLY ledger_newest ON ledger_transfers (kind, id DESC);

-- +goose Down

DROP INDEX ledger_newest;
