-- +goose NO TRANSACTION
-- +goose Up

-- What is left to forget of runs that their owners deleted is looked for each hour, and must not be looked for in the whole history. Other runs
-- are not in this index, which is built beside the work; a step that was broken off has left it, perhaps invalid, so it is dropped first.
DROP INDEX CONCURRENTLY IF EXISTS runs_deleted;
CREATE INDEX CONCURRENTLY runs_deleted ON runs (id) WHERE deleted_at IS NOT NULL AND ended_at IS NOT NULL;

-- +goose Down

DROP INDEX runs_deleted;
