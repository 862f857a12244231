-- +goose Up

-- Results that could not be brought at once, with the time of the next try. A row goes once the result is there or was given up.
CREATE TABLE run_deliveries (
    run_id     uuid        PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    since      timestamptz NOT NULL,
    tries      integer     NOT NULL DEFAULT 0 CHECK (tries >= 0),
    next_at    timestamptz NOT NULL,
    claimed_by text -- the process that brings it
);

CREATE INDEX run_deliveries_due ON run_deliveries (next_at) WHERE claimed_by IS NULL;

-- They were jobs of River, whose tables are not needed any more.
-- +goose StatementBegin
DO $$
BEGIN
    IF to_regclass('river_job') IS NOT NULL THEN
        EXECUTE 'INSERT INTO run_deliveries (run_id, since, next_at)
            SELECT DISTINCT ON (r.id) r.id, j.created_at, now() FROM river_job j JOIN runs r ON r.id::text = j.args ->> ''run_id''
            WHERE j.kind = ''deliver'' AND j.state::text IN (''available'', ''pending'', ''retryable'', ''running'', ''scheduled'')
                AND r.ended_at IS NOT NULL AND r.delivered_at IS NULL';
    END IF;
END $$;
-- +goose StatementEnd

DROP TABLE IF EXISTS river_client_queue, river_client, river_job, river_leader, river_notification, river_queue, river_migration CASCADE;
DROP FUNCTION IF EXISTS river_job_state_in_bitmask, river_job_notify;
DROP TYPE IF EXISTS river_job_state;

-- +goose Down

DROP TABLE run_deliveries;
