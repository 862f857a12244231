-- +goose Up

-- The fingerprint of the key that all processes of the house have; the key itself is not here.
CREATE TABLE house_key (
    one         boolean PRIMARY KEY DEFAULT true CHECK (one),
    fingerprint text NOT NULL
);

-- Processes that share the database. Each holds an advisory lock on its id as long as it lives.
CREATE TABLE house_processes (
    id         text PRIMARY KEY,
    started_at timestamptz NOT NULL DEFAULT now(),
    gone_at    timestamptz -- when it was first found to be gone
);

-- Who takes part in keeping the connections of a kind, in the order in which they came.
CREATE TABLE house_members (
    kind    text NOT NULL, -- such as "telegram 123456"
    process text NOT NULL,
    joined  bigint GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (kind, process)
);

-- Who keeps which of them. A row is there as long as the connection may be used.
CREATE TABLE house_shares (
    kind    text NOT NULL,
    item    integer NOT NULL CHECK (item >= 0),
    process text NOT NULL,
    PRIMARY KEY (kind, item)
);

-- Processes remember what these tables say; this tells all of them that it is something else.
-- +goose StatementBegin
CREATE FUNCTION house_tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('house', TG_ARGV[0]);
    RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER house_tell AFTER INSERT OR UPDATE OR DELETE ON house_settings FOR EACH STATEMENT EXECUTE FUNCTION house_tell('settings');
CREATE TRIGGER house_tell AFTER INSERT OR UPDATE OR DELETE ON registry_pins FOR EACH STATEMENT EXECUTE FUNCTION house_tell('tools');
CREATE TRIGGER house_tell AFTER INSERT OR UPDATE OR DELETE ON remote_tools FOR EACH STATEMENT EXECUTE FUNCTION house_tell('tools');

-- What is needed to resume a session of Discord's gateway, also by another process.
CREATE TABLE discord_sessions (
    application_id text    NOT NULL,
    shards         integer NOT NULL,
    shard          integer NOT NULL,
    session_id     text    NOT NULL,
    resume_url     text    NOT NULL,
    sequence       bigint  NOT NULL, -- of an event that was taken, and all before it
    PRIMARY KEY (application_id, shards, shard)
);

-- New sessions that Discord allows an application, of all processes together.
CREATE TABLE discord_starts (
    application_id text  PRIMARY KEY,
    starts         jsonb NOT NULL
);

-- +goose Down

DROP TABLE discord_starts, discord_sessions, house_shares, house_members, house_processes, house_key;
DROP TRIGGER house_tell ON house_settings;
DROP TRIGGER house_tell ON registry_pins;
DROP TRIGGER house_tell ON remote_tools;
DROP FUNCTION house_tell;
