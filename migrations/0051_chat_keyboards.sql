-- +goose Up

-- The buttons under a message. A button itself carries only the keyboard's id and the name of an action,
-- since platforms give it as little as 64 bytes.
CREATE TABLE chat_keyboards (
    id         text        PRIMARY KEY,
    platform   text        NOT NULL,
    account_id uuid        NOT NULL, -- who may press
    state      jsonb       NOT NULL, -- what the buttons are about
    used       jsonb       NOT NULL DEFAULT '{}', -- action -> the update that used it, for those that act once
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT chat_keyboards_short_id CHECK (length(id) BETWEEN 8 AND 24)
);

CREATE INDEX chat_keyboards_created ON chat_keyboards (created_at);

-- +goose Down

DROP TABLE chat_keyboards;
