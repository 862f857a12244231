-- +goose NO TRANSACTION
-- +goose Up

-- Figures of a time are those of the runs that ended in it, which this index finds. It is built beside the work; a step that was broken off
-- has left it, perhaps invalid, so it is dropped first. A run is written into it once, when it ends.
DROP INDEX CONCURRENTLY IF EXISTS runs_by_end;
CREATE INDEX CONCURRENTLY runs_by_end ON runs (ended_at) WHERE ended_at IS NOT NULL;

-- +goose Down

DROP INDEX runs_by_end;
