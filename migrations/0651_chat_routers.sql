-- +goose Up

-- Processes that answer chats; each holds an advisory lock on its id as long as it lives.
CREATE TABLE chat_routers (
    id         text        PRIMARY KEY,
    started_at timestamptz NOT NULL DEFAULT now(),
    gone_at    timestamptz
);

-- +goose Down

DROP TABLE chat_routers;
