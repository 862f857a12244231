-- +goose Up

-- Files that Telegram has already: they are sent again by their id, without an upload. An id is good for
-- one bot and one kind of message only.
CREATE TABLE telegram_files (
    bot_id  bigint      NOT NULL,
    media   text        NOT NULL, -- the content's key
    kind    text        NOT NULL, -- photo, video, document, ...
    file_id text        NOT NULL,
    used_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (bot_id, media, kind)
);

CREATE INDEX telegram_files_used ON telegram_files (used_at);

-- +goose Down

DROP TABLE telegram_files;
