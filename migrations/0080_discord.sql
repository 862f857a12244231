-- +goose Up

-- What the program knows of its Discord applications, so that a start needs no network.
CREATE TABLE discord_apps (
    application_id text  PRIMARY KEY,
    commands       jsonb NOT NULL DEFAULT '{}' -- the list published last: its hash, Discord's versions, what its options mean
);

-- Interactions that can still be answered: their tokens are good for 15 minutes. The tokens open nothing else.
CREATE TABLE discord_interactions (
    id         text        PRIMARY KEY,
    kind       smallint    NOT NULL, -- 2 command, 3 component, 5 form
    token      text        NOT NULL,
    channel    text        NOT NULL,
    ephemeral  boolean     NOT NULL, -- the first answer is for one person only
    answered   boolean     NOT NULL DEFAULT false, -- the first answer was given
    used       boolean     NOT NULL DEFAULT false, -- the placeholder of the first answer has become a message
    created_at timestamptz NOT NULL
);

CREATE INDEX discord_interactions_created ON discord_interactions (created_at);

-- The messages that belong to an interaction, by the latest one: they can be edited with its token.
CREATE TABLE discord_messages (
    message_id     text    PRIMARY KEY,
    interaction_id text    NOT NULL REFERENCES discord_interactions ON DELETE CASCADE,
    original       boolean NOT NULL -- it is the interaction's first answer, or carries what was pressed
);

CREATE INDEX discord_messages_interaction ON discord_messages (interaction_id);

-- +goose Down

DROP TABLE discord_messages, discord_interactions, discord_apps;
