-- +goose Up

-- One condition in place of two: Postgres reads a table's conditions anew for every statement, which is a good part of what
-- storing a callback takes.
ALTER TABLE webhook_events
    DROP CONSTRAINT webhook_event_status,
    DROP CONSTRAINT webhook_event_end,
    ADD CONSTRAINT webhook_event_status CHECK (CASE WHEN ended_at IS NULL THEN status = 'stored' ELSE status IN ('done', 'orphan', 'dead') END);

-- +goose Down

ALTER TABLE webhook_events
    DROP CONSTRAINT webhook_event_status,
    ADD CONSTRAINT webhook_event_status CHECK (status IN ('stored', 'done', 'orphan', 'dead')),
    ADD CONSTRAINT webhook_event_end CHECK ((status = 'stored') = (ended_at IS NULL));
