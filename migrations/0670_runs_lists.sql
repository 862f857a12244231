-- +goose NO TRANSACTION
-- +goose Up

-- Lists of runs are found by indexes, however long the history is. They are built beside the work: runs go on meanwhile. A step that was
-- broken off has left some of them, perhaps invalid, so each is dropped first.

-- run_grams are the pieces of three characters of a text, each once: what contains a text contains all of its pieces. No extension is needed.
CREATE OR REPLACE FUNCTION run_grams(p_text text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
    'SELECT coalesce(array_agg(DISTINCT substr(p_text, i, 3)), ''{}'') FROM generate_series(1, least(length(p_text), 2000) - 2) i';

DROP INDEX CONCURRENTLY IF EXISTS runs_of_tool;
CREATE INDEX CONCURRENTLY runs_of_tool ON runs (tool_id, id DESC);
DROP INDEX CONCURRENTLY IF EXISTS runs_of_account_and_tool;
CREATE INDEX CONCURRENTLY runs_of_account_and_tool ON runs (account_id, tool_id, id DESC);

-- People read the last eight characters of an id on pages, and search for them.
DROP INDEX CONCURRENTLY IF EXISTS runs_by_end_of_id;
CREATE INDEX CONCURRENTLY runs_by_end_of_id ON runs (right(id::text, 8)) WHERE ended_at IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS users_by_end_of_id;
CREATE INDEX CONCURRENTLY users_by_end_of_id ON users (right(id::text, 8));

-- What did not succeed is rare: these cost other runs nothing.
DROP INDEX CONCURRENTLY IF EXISTS runs_unsuccessful;
CREATE INDEX CONCURRENTLY runs_unsuccessful ON runs (status, id DESC) WHERE ended_at IS NOT NULL AND status <> 'succeeded';
DROP INDEX CONCURRENTLY IF EXISTS runs_unsuccessful_by_id;
CREATE INDEX CONCURRENTLY runs_unsuccessful_by_id ON runs (id DESC) WHERE ended_at IS NOT NULL AND status <> 'succeeded';
DROP INDEX CONCURRENTLY IF EXISTS runs_unsuccessful_of_account;
CREATE INDEX CONCURRENTLY runs_unsuccessful_of_account ON runs (account_id, status, id DESC) WHERE ended_at IS NOT NULL AND status <> 'succeeded';
DROP INDEX CONCURRENTLY IF EXISTS runs_unsuccessful_of_tool;
CREATE INDEX CONCURRENTLY runs_unsuccessful_of_tool ON runs (tool_id, status, id DESC) WHERE ended_at IS NOT NULL AND status <> 'succeeded';
DROP INDEX CONCURRENTLY IF EXISTS runs_by_error;
CREATE INDEX CONCURRENTLY runs_by_error ON runs USING gin (run_grams(lower(coalesce(error ->> 'code', '') || ' ' || coalesce(error ->> 'message', ''))))
    WHERE ended_at IS NOT NULL AND status <> 'succeeded';

-- +goose Down

DROP INDEX runs_by_error;
DROP INDEX runs_unsuccessful_of_tool;
DROP INDEX runs_unsuccessful_of_account;
DROP INDEX runs_unsuccessful_by_id;
DROP INDEX runs_unsuccessful;
DROP INDEX users_by_end_of_id;
DROP INDEX runs_by_end_of_id;
DROP INDEX runs_of_account_and_tool;
DROP INDEX runs_of_tool;
DROP FUNCTION run_grams(text);
