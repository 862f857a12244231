-- +goose Up

-- How far the delivery of a run's result has come. What can't be undone is recorded before and after it
-- is sent, so that a retry neither loses a result nor shows it twice.
CREATE TABLE chat_deliveries (
    run_id      uuid        PRIMARY KEY,
    platform    text        NOT NULL,
    account_id  uuid        NOT NULL,
    parts       jsonb       NOT NULL DEFAULT '{}', -- part -> {status, refs}
    created_at  timestamptz NOT NULL DEFAULT now(),
    finished_at timestamptz,
    missed_at   timestamptz, -- the chat could not be reached
    offered_at  timestamptz, -- the person was told about it since
    CONSTRAINT chat_deliveries_finished_or_missed CHECK (finished_at IS NULL OR missed_at IS NULL)
);

CREATE INDEX chat_deliveries_missed ON chat_deliveries (account_id, platform) WHERE missed_at IS NOT NULL AND offered_at IS NULL;

-- +goose Down

DROP TABLE chat_deliveries;
