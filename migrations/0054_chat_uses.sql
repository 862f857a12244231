-- +goose Up

-- How often a tool was started by chat: where a platform lists only so many commands, the most used win.
CREATE TABLE chat_uses (
    tool_id text   PRIMARY KEY,
    uses    bigint NOT NULL DEFAULT 0 CHECK (uses >= 0)
);

-- +goose Down

DROP TABLE chat_uses;
