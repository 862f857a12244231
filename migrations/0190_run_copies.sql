-- +goose Up

-- What the person is told beside the state: that the run waits for an engine, or went to another one.
ALTER TABLE runs ADD COLUMN notice text NOT NULL DEFAULT '';

-- Runs that went on elsewhere, as they were left where nobody answered any more: that place is told to stop them once it
-- is back. Whatever comes of them there counts for nothing.
CREATE TABLE run_copies (
    run_id  uuid        NOT NULL,
    attempt integer     NOT NULL,
    service text        NOT NULL,
    ticket  json        NOT NULL,
    since   timestamptz NOT NULL,
    next_at timestamptz NOT NULL, -- when the next try is due, by whatever process
    PRIMARY KEY (run_id, attempt)
);

CREATE INDEX run_copies_due ON run_copies (next_at);

-- +goose Down

DROP TABLE run_copies;
ALTER TABLE runs DROP COLUMN notice;
