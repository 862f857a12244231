-- +goose Up

-- What providers want to know of runs' owners in the midst of their calls. A call is one process's: the question is open as long as that
-- process has the run, nobody replied, and its time is not over. Its row goes with it.
CREATE TABLE run_questions (
    run_id   uuid        PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    id       uuid        NOT NULL,
    asked_by text        NOT NULL, -- as in runs.claimed_by
    question json        NOT NULL,
    until    timestamptz NOT NULL,
    reply    json        -- on its way to the process that asks
);

-- +goose Down

DROP TABLE run_questions;
