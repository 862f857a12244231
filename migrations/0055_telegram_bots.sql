-- +goose Up

-- What the program knows of its Telegram bots, so that a start needs no network.
CREATE TABLE telegram_bots (
    bot_id         bigint PRIMARY KEY, -- a part of the token
    username       text   NOT NULL DEFAULT '',
    webhook_secret text   NOT NULL, -- Telegram shows it with every update it posts
    commands       jsonb  NOT NULL DEFAULT '{}', -- scope/language -> hash of the list published there
    CONSTRAINT telegram_bots_secret_form CHECK (webhook_secret ~ '^[A-Za-z0-9_-]{32,255}$')
);

-- +goose Down

DROP TABLE telegram_bots;
