-- +goose NO TRANSACTION
-- +goose Up

-- Lists of runs by platform, and of results that nobody could be brought, are found by indexes. They are built beside the work.

-- What is over alone: so a run is written into it once. Those that are not over are few.
DROP INDEX CONCURRENTLY IF EXISTS runs_of_platform;
CREATE INDEX CONCURRENTLY runs_of_platform ON runs (platform, id DESC) WHERE ended_at IS NOT NULL;

-- A run that ends is claimed by who brings its result, and stays so when it is there; without a claim are those that could not be brought at once. So
-- others cost nothing, and the mark of a delivery stays on its page, which an index that names delivered_at would take from it.
DROP INDEX CONCURRENTLY IF EXISTS runs_unclaimed;
CREATE INDEX CONCURRENTLY runs_unclaimed ON runs (id DESC) WHERE deliverable AND ended_at IS NOT NULL AND claimed_by IS NULL;

-- +goose Down

DROP INDEX runs_unclaimed;
DROP INDEX runs_of_platform;
