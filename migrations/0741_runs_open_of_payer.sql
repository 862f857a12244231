-- +goose NO TRANSACTION
-- +goose Up

-- What a group's wallet pays for and is not over is found without reading all that it ever paid for. It is built beside the work; a
-- step that was broken off has left some of it, so it is dropped first. It costs nothing where people pay for themselves.
DROP INDEX CONCURRENTLY IF EXISTS runs_open_of_payer;
CREATE INDEX CONCURRENTLY runs_open_of_payer ON runs (payer) WHERE ended_at IS NULL AND payer IS NOT NULL;

-- +goose Down

DROP INDEX runs_open_of_payer;
