-- +goose Up

-- River indexes every job's arguments and metadata for searching among jobs, which is three entries in each
-- index over a job's life. We look runs up in our own table and never search jobs that way.
DROP INDEX IF EXISTS river_job_args_index;
DROP INDEX IF EXISTS river_job_metadata_index;

-- +goose Down

CREATE INDEX IF NOT EXISTS river_job_args_index ON river_job USING gin (args);
CREATE INDEX IF NOT EXISTS river_job_metadata_index ON river_job USING gin (metadata);
