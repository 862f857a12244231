-- +goose Up

-- Open questions: one per person and chat. A new question replaces the one before.
CREATE TABLE chat_prompts (
    platform   text        NOT NULL,
    chat       text        NOT NULL,
    account_id uuid        NOT NULL,
    id         text        NOT NULL UNIQUE,
    message_id text        NOT NULL DEFAULT '', -- the message that asks
    state      jsonb       NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (platform, chat, account_id)
);

CREATE INDEX chat_prompts_expires ON chat_prompts (expires_at);

-- +goose Down

DROP TABLE chat_prompts;
