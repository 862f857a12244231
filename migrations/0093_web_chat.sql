-- +goose Up

-- A conversation on the web: one for each account, by the account's id.
CREATE TABLE web_chats (
    chat      text        PRIMARY KEY,
    changes   bigint      NOT NULL DEFAULT 0, -- numbers what happens to its messages
    joined    text,                           -- the conversation this one has become part of
    paused_at timestamptz                     -- its person wants to hear nothing
);

-- What was said. A deleted message stays as an empty row, so that open pages learn of it.
CREATE TABLE web_messages (
    id         bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    chat       text        NOT NULL REFERENCES web_chats (chat),
    change     bigint      NOT NULL, -- the number of the last thing that happened to it
    mine       boolean     NOT NULL, -- the person wrote it
    nonce      text,                 -- of the form it came with: sent twice, it is kept once
    reply_to   bigint,
    body       jsonb       NOT NULL, -- text, buttons, menus
    media      jsonb       NOT NULL DEFAULT '[]',
    deleted    boolean     NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (chat, nonce)
);

CREATE INDEX web_messages_changes ON web_messages (chat, change);
CREATE INDEX web_messages_order ON web_messages (chat, id);

-- +goose Down

DROP TABLE web_messages;
DROP TABLE web_chats;
