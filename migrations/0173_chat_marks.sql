-- +goose Up

-- What became of single messages, for as long as people may come back to them: a question of the bot that somebody
-- was asked, and a command of theirs that led to nothing, which they may correct by editing it.
CREATE TABLE chat_marks (
    platform   text        NOT NULL,
    chat       text        NOT NULL,
    message_id text        NOT NULL,
    account_id uuid        NOT NULL,
    kind       text        NOT NULL CHECK (kind IN ('asked', 'refused')),
    said       bytea       NOT NULL DEFAULT '', -- the hash of what a command of theirs said
    marked_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (platform, chat, message_id)
);

CREATE INDEX chat_marks_marked ON chat_marks (marked_at);
CREATE INDEX chat_marks_account ON chat_marks (account_id);

-- +goose Down

DROP TABLE chat_marks;
