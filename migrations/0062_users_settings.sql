-- +goose Up

-- What the admins of a chat, or of a space of chats, set for everybody in it.
CREATE TABLE place_preferences (
    platform text NOT NULL,
    kind     text NOT NULL CHECK (kind IN ('chat', 'space')),
    place    text NOT NULL, -- the platform's id of the chat or space
    tool_id  text NOT NULL,
    field    text NOT NULL,
    value    json NOT NULL, -- json keeps numbers as they were written
    PRIMARY KEY (platform, kind, place, tool_id, field)
);
CREATE INDEX place_preferences_of_tool ON place_preferences (tool_id);

-- Values of several inputs of a tool, under a name.
CREATE TABLE user_presets (
    user_id    uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    tool_id    text NOT NULL,
    key        text NOT NULL, -- the name in lower case
    name       text NOT NULL,
    fields     json NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, tool_id, key),
    CONSTRAINT user_presets_name CHECK (length(name) BETWEEN 1 AND 40)
);

-- Who may use the tools, and where.
CREATE TABLE access_rules (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    allow          boolean NOT NULL,
    kind           text NOT NULL CHECK (kind IN ('account', 'identity', 'role', 'chat', 'space')),
    platform       text NOT NULL DEFAULT '', -- empty for accounts, which are one on all platforms
    subject        text NOT NULL,            -- the account's id, or the platform's id of the rest
    where_platform text NOT NULL DEFAULT '', -- the place that the rule is for; empty: everywhere
    where_kind     text NOT NULL DEFAULT '',
    where_id       text NOT NULL DEFAULT '',
    note           text NOT NULL DEFAULT '',
    by_whom        text NOT NULL,
    at             timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT access_rule_once UNIQUE (kind, platform, subject, where_platform, where_kind, where_id)
);

-- The tools of a place that does not have all of them.
CREATE TABLE access_tools (
    platform text NOT NULL,
    kind     text NOT NULL CHECK (kind IN ('chat', 'space')),
    place    text NOT NULL,
    tools    text[] NOT NULL,
    PRIMARY KEY (platform, kind, place)
);

-- Limits of an account: the operator's and the person's own. Zero is none given, -1 is no limit.
CREATE TABLE user_limits (
    user_id   uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    own       boolean NOT NULL, -- set by the person
    at_once   integer NOT NULL DEFAULT 0,
    per_day   integer NOT NULL DEFAULT 0,
    day_cap   bigint NOT NULL DEFAULT 0, -- nano-dollars
    month_cap bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (user_id, own)
);

-- Processes keep rules and limits in memory; this tells them that something has changed.
CREATE TABLE access_version (
    one     boolean PRIMARY KEY DEFAULT true CHECK (one),
    version bigint NOT NULL
);
INSERT INTO access_version (version) VALUES (1);

-- +goose StatementBegin
CREATE FUNCTION access_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE access_version SET version = version + 1;
    RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER access_changed AFTER INSERT OR UPDATE OR DELETE ON access_rules FOR EACH STATEMENT EXECUTE FUNCTION access_changed();
CREATE TRIGGER access_changed AFTER INSERT OR UPDATE OR DELETE ON access_tools FOR EACH STATEMENT EXECUTE FUNCTION access_changed();
CREATE TRIGGER access_changed AFTER INSERT OR UPDATE OR DELETE ON user_limits FOR EACH STATEMENT EXECUTE FUNCTION access_changed();

-- An API key can be named, to list and revoke it.
ALTER TABLE user_keys
    ADD COLUMN id           bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    ADD COLUMN hint         text NOT NULL DEFAULT '', -- its first letters
    ADD COLUMN last_used_at timestamptz;

-- +goose Down

ALTER TABLE user_keys DROP COLUMN last_used_at, DROP COLUMN hint, DROP COLUMN id;
DROP TABLE access_version;
DROP TABLE user_limits;
DROP TABLE access_tools;
DROP TABLE access_rules;
DROP TABLE user_presets;
DROP TABLE place_preferences;
DROP FUNCTION access_changed();
