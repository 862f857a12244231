-- +goose Up

-- Results that their owners show to whoever has the link. Taking a link back deletes its row.
CREATE TABLE web_shares (
    id         text PRIMARY KEY, -- random; the link carries it with our signature
    run_id     uuid NOT NULL UNIQUE REFERENCES runs (id) ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now()
);

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

-- Answers of our API to requests with an Idempotency-Key, so that a repeated one gets the same. They are kept for a day.
CREATE TABLE web_answers (
    account_id uuid NOT NULL,
    path       text NOT NULL,
    key        text NOT NULL,
    body       bytea NOT NULL, -- hash of the request's
    status     integer,        -- empty: it is being worked on
    answer     bytea,          -- encrypted: it can hold a secret that is told only once
    created_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, path, key),
    CONSTRAINT web_answer_whole CHECK ((status IS NULL) = (answer IS NULL))
);

CREATE INDEX web_answers_age ON web_answers (created_at);

-- +goose Down

DROP TABLE web_answers, web_messages, web_chats, web_shares;
