-- +goose Up

-- What the program knows of its Telegram bots, so that a start needs no network.
CREATE TABLE telegram_bots (
    bot_id         bigint PRIMARY KEY, -- a part of the token
    username       text   NOT NULL DEFAULT '',
    webhook_secret text   NOT NULL, -- Telegram shows it with every update it posts
    commands       jsonb  NOT NULL DEFAULT '{}', -- scope/language -> hash of the list published there
    CONSTRAINT telegram_bots_secret_form CHECK (webhook_secret ~ '^[A-Za-z0-9_-]{32,255}$')
);

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

-- Groups that have become supergroups: Telegram gives them a new id and refuses the old one.
CREATE TABLE telegram_chats (
    chat_id  bigint PRIMARY KEY,
    moved_to bigint NOT NULL,
    CONSTRAINT telegram_chats_moved CHECK (moved_to <> chat_id)
);

-- +goose Down

DROP TABLE telegram_chats, telegram_files, telegram_bots;
