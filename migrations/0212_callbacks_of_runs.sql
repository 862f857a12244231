-- +goose Up

-- What was called back about a run is its result where a service can't be asked.
CREATE INDEX webhook_events_run ON webhook_events (run_id, id) WHERE run_id <> '';

-- +goose Down

DROP INDEX webhook_events_run;
