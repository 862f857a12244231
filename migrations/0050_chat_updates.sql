-- +goose Up

-- What came in from the chat platforms: stored before it is confirmed to the platform, so that no crash
-- loses an update, and remembered for a while afterwards, so that a repeated one is not handled twice.
CREATE TABLE chat_updates (
    platform    text        NOT NULL,
    update_id   text        NOT NULL,
    position    bigint      GENERATED ALWAYS AS IDENTITY,
    body        jsonb, -- what people wrote: kept only until it has been handled
    answer      jsonb, -- the status message it was answered with, to be used again after a crash
    received_at timestamptz NOT NULL DEFAULT now(),
    handled_at  timestamptz,
    PRIMARY KEY (platform, update_id),
    CONSTRAINT chat_updates_body_until_handled CHECK ((body IS NULL) = (handled_at IS NOT NULL))
);

CREATE INDEX chat_updates_open ON chat_updates (position) WHERE handled_at IS NULL;
CREATE INDEX chat_updates_handled ON chat_updates (handled_at) WHERE handled_at IS NOT NULL;

-- +goose Down

DROP TABLE chat_updates;
