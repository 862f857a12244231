-- +goose Up

-- Answers of our API to requests with an Idempotency-Key, so that a repeated one gets the same. They are kept for a day.
CREATE TABLE web_answers (
    account_id uuid NOT NULL,
    path       text NOT NULL,
    key        text NOT NULL,
    body       bytea NOT NULL, -- hash of the request's
    status     integer,        -- empty: it is being worked on
    answer     bytea,          -- encrypted: it can hold a secret that is told only once
    created_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, path, key),
    CONSTRAINT web_answer_whole CHECK ((status IS NULL) = (answer IS NULL))
);

CREATE INDEX web_answers_age ON web_answers (created_at);

-- +goose Down

DROP TABLE web_answers;
