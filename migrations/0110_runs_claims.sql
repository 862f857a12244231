-- +goose Up

-- A run's row is its own job: who works on it stands in it. No further row has to be written, fetched and
-- completed for each run, and none can be lost.
ALTER TABLE runs
    ADD COLUMN claimed_by text,                    -- the process that works on it, or brings its result
    ADD COLUMN claims integer NOT NULL DEFAULT 0;  -- how often somebody began to: the first one knows that nothing was submitted

CREATE INDEX runs_free ON runs (id) WHERE ended_at IS NULL AND claimed_by IS NULL;

-- Processes that work on runs. Each holds an advisory lock on its id as long as it lives.
CREATE TABLE run_workers (
    id         text PRIMARY KEY,
    started_at timestamptz NOT NULL DEFAULT now()
);

-- What was a job until now may have been begun.
UPDATE runs SET claims = 1 WHERE ended_at IS NULL;

-- The mark of the delivery is no part of any index, so that it writes to none. Who looks for what an account
-- missed finds it among the account's runs.
DROP INDEX runs_undelivered;

-- +goose Down

CREATE INDEX runs_undelivered ON runs (account_id, id DESC) WHERE deliverable AND ended_at IS NOT NULL AND delivered_at IS NULL;
DROP TABLE run_workers;
DROP INDEX runs_free;
ALTER TABLE runs DROP COLUMN claims, DROP COLUMN claimed_by;
