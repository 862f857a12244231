-- +goose Up

-- Runs that ended here without a result while they may go on at their provider, where they cost money: it is told to stop
-- them. A row goes once it has; one that nobody tries any more (next_at is NULL) needs an operator.
CREATE TABLE run_stops (
    run_id  uuid        PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    since   timestamptz NOT NULL,
    tries   integer     NOT NULL DEFAULT 0,
    next_at timestamptz, -- when the next try is due, by whatever process
    error   text        NOT NULL DEFAULT ''
);

CREATE INDEX run_stops_due ON run_stops (next_at);

-- +goose Down

DROP TABLE run_stops;
