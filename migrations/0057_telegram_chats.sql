-- +goose Up

-- Groups that have become supergroups: Telegram gives them a new id and refuses the old one.
CREATE TABLE telegram_chats (
    chat_id  bigint PRIMARY KEY,
    moved_to bigint NOT NULL,
    CONSTRAINT telegram_chats_moved CHECK (moved_to <> chat_id)
);

-- +goose Down

DROP TABLE telegram_chats;
