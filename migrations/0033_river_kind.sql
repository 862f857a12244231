-- +goose Up

-- River lists jobs of a kind with this, which nobody does here; its queues are found by another index. It costs
-- three entries over a job's life.
DROP INDEX IF EXISTS river_job_kind;

-- +goose Down

CREATE INDEX IF NOT EXISTS river_job_kind ON river_job (kind);
