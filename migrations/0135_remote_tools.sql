-- +goose Up

-- Remote tools that were registered while the program ran.
CREATE TABLE remote_tools (
    key        text PRIMARY KEY CHECK (key = lower(key)), -- the name, case folded
    entry      text NOT NULL,                             -- as it was registered, without its headers
    headers    text NOT NULL,                             -- static headers: secrets, never shown
    enabled    boolean NOT NULL,
    by_whom    text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);

-- What idempotent remote tools answered, so that an identical call in the same trace is not made again.
CREATE TABLE remote_results (
    key        bytea PRIMARY KEY, -- SHA-256 of trace, tool and input
    data       text NOT NULL,
    expires_at timestamptz NOT NULL
);
CREATE INDEX remote_results_expires ON remote_results (expires_at);

-- +goose Down

DROP TABLE remote_results;
DROP TABLE remote_tools;
