-- +goose Up

-- The inbox: callbacks of services, stored before they are answered. A row is its own job.
CREATE TABLE webhook_events (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    service     text NOT NULL,
    event_id    text NOT NULL, -- the sender's, or made of what the callback says
    run_id      text NOT NULL, -- ours, from the address that it came to, or empty
    provider_id text NOT NULL, -- the service's id of the run, or empty
    state       text NOT NULL, -- what it says of the run; only asking the service tells whether that is true
    body        bytea NOT NULL,
    copies      integer NOT NULL DEFAULT 1, -- since it was taken up
    status      text NOT NULL DEFAULT 'stored',
    attempts    integer NOT NULL DEFAULT 0,
    error       text NOT NULL DEFAULT '',
    received_at timestamptz NOT NULL,
    due_at      timestamptz NOT NULL, -- when it is looked at next; while it is, when others may
    ended_at    timestamptz,
    CONSTRAINT webhook_event_once UNIQUE (service, event_id),
    CONSTRAINT webhook_event_status CHECK (status IN ('stored', 'done', 'orphan', 'dead')),
    CONSTRAINT webhook_event_end CHECK ((status = 'stored') = (ended_at IS NULL))
);

CREATE INDEX webhook_events_due ON webhook_events (due_at) WHERE status = 'stored';
CREATE INDEX webhook_events_left ON webhook_events (id) WHERE status IN ('orphan', 'dead');
CREATE INDEX webhook_events_received ON webhook_events USING brin (received_at);

-- +goose Down

DROP TABLE webhook_events;
