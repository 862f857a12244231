-- +goose Up

-- What came in from the chat platforms: stored before it is confirmed to the platform, so that no crash
-- loses an update, and remembered for a while afterwards, so that a repeated one is not handled twice.
CREATE TABLE chat_updates (
    platform    text        NOT NULL,
    update_id   text        NOT NULL,
    position    bigint      GENERATED ALWAYS AS IDENTITY,
    claimed_by  text, -- the process that handles it; what one that is gone had is taken over
    body        jsonb, -- what people wrote: kept only until it has been handled
    answer      jsonb, -- the status message it was answered with, to be used again after a crash
    received_at timestamptz NOT NULL DEFAULT now(),
    handled_at  timestamptz,
    PRIMARY KEY (platform, update_id),
    CONSTRAINT chat_updates_body_until_handled CHECK ((body IS NULL) = (handled_at IS NOT NULL))
);

CREATE INDEX chat_updates_open ON chat_updates (position) WHERE handled_at IS NULL;
CREATE INDEX chat_updates_handled ON chat_updates (handled_at) WHERE handled_at IS NOT NULL;

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

-- Open questions: one per person and chat. A new question replaces the one before.
CREATE TABLE chat_prompts (
    platform   text        NOT NULL,
    chat       text        NOT NULL,
    account_id uuid        NOT NULL,
    id         text        NOT NULL UNIQUE,
    message_id text        NOT NULL DEFAULT '', -- the message that asks
    state      jsonb       NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (platform, chat, account_id)
);

CREATE INDEX chat_prompts_expires ON chat_prompts (expires_at);

-- How far the open question of a run was answered in the chat where the run was asked for: field by field, until the whole goes to the run.
CREATE TABLE chat_questions (
    run_id     uuid        PRIMARY KEY,
    id         text        NOT NULL, -- the question's
    platform   text        NOT NULL,
    chat       text        NOT NULL,
    account_id uuid        NOT NULL,
    message_id text        NOT NULL DEFAULT '', -- the message that asks for the field
    field      integer     NOT NULL DEFAULT 0,
    state      jsonb       NOT NULL,
    expires_at timestamptz NOT NULL
);

CREATE INDEX chat_questions_of ON chat_questions (platform, chat, account_id);

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

-- How far the delivery of a run's result has come. What can't be undone is recorded before and after it
-- is sent, so that a retry neither loses a result nor shows it twice.
CREATE TABLE chat_deliveries (
    run_id      uuid        PRIMARY KEY,
    platform    text        NOT NULL,
    account_id  uuid        NOT NULL,
    parts       jsonb       NOT NULL DEFAULT '{}', -- part -> {status, refs}
    created_at  timestamptz NOT NULL DEFAULT now(),
    finished_at timestamptz,
    missed_at   timestamptz, -- the chat could not be reached
    offered_at  timestamptz, -- the person was told about it since
    CONSTRAINT chat_deliveries_finished_or_missed CHECK (finished_at IS NULL OR missed_at IS NULL)
);

CREATE INDEX chat_deliveries_missed ON chat_deliveries (account_id, platform) WHERE missed_at IS NOT NULL AND offered_at IS NULL;

-- How often a tool was started by chat: where a platform lists only so many commands, the most used win.
CREATE TABLE chat_uses (
    tool_id text   PRIMARY KEY,
    uses    bigint NOT NULL DEFAULT 0 CHECK (uses >= 0)
);

-- +goose Down

DROP TABLE chat_uses, chat_deliveries, chat_marks, chat_questions, chat_prompts, chat_keyboards, chat_updates;
