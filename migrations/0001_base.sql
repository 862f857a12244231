-- +goose Up

-- Similarity of words, for searches that forgive typing errors.
CREATE EXTENSION IF NOT EXISTS pg_trgm;

-- Jobs that recur. The row is locked while the job runs, and the job's own writes are in the same
-- transaction as the next time: so no run is lost and none happens twice, on however many machines.
CREATE TABLE schedules (
    name          text PRIMARY KEY,
    spec          text        NOT NULL, -- cron expression
    next_run_at   timestamptz NOT NULL,
    runs          bigint      NOT NULL DEFAULT 0, -- that succeeded
    last_run_at   timestamptz,
    failures      integer     NOT NULL DEFAULT 0, -- in a row
    last_error    text,
    last_error_at timestamptz,
    CONSTRAINT schedule_named CHECK (name <> '' AND spec <> ''),
    CONSTRAINT schedule_run_has_time CHECK ((runs = 0) = (last_run_at IS NULL)),
    CONSTRAINT schedule_failure_has_reason CHECK (failures = 0 OR (last_error IS NOT NULL AND last_error_at IS NOT NULL))
);

-- +goose Down

DROP TABLE schedules;
DROP EXTENSION pg_trgm;
