-- +goose Up

-- How far the open question of a run was answered in the chat where the run was asked for: field by field, until the whole goes to the run.
CREATE TABLE chat_questions (
    run_id     uuid        PRIMARY KEY,
    id         text        NOT NULL, -- the question's
    platform   text        NOT NULL,
    chat       text        NOT NULL,
    account_id uuid        NOT NULL,
    message_id text        NOT NULL DEFAULT '', -- the message that asks for the field
    field      integer     NOT NULL DEFAULT 0,
    state      jsonb       NOT NULL,
    expires_at timestamptz NOT NULL
);

CREATE INDEX chat_questions_of ON chat_questions (platform, chat, account_id);

-- +goose Down

DROP TABLE chat_questions;
