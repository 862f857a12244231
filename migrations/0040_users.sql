-- +goose Up

CREATE TABLE users (
    id           uuid PRIMARY KEY,
    display_name text NOT NULL DEFAULT '',
    language     text NOT NULL DEFAULT '', -- BCP 47; empty: unknown
    own_language boolean NOT NULL DEFAULT false, -- chosen by the user: platforms no longer set it
    operator     boolean NOT NULL DEFAULT false,
    created_at   timestamptz NOT NULL DEFAULT now()
);

-- One person as one platform knows them.
CREATE TABLE user_identities (
    platform    text NOT NULL,
    external_id text NOT NULL,
    user_id     uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name        text NOT NULL DEFAULT '',
    language    text NOT NULL DEFAULT '',
    created_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (platform, external_id)
);
CREATE INDEX user_identities_of_user ON user_identities (user_id);

-- Preferences are keyed by tool id and input name, so a tool's new command or display name changes nothing.
CREATE TABLE user_preferences (
    user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    tool_id text NOT NULL,
    field   text NOT NULL,
    value   json NOT NULL, -- json keeps numbers as they were written
    PRIMARY KEY (user_id, tool_id, field)
);
CREATE INDEX user_preferences_of_tool ON user_preferences (tool_id);

CREATE TABLE user_keys (
    hash       bytea PRIMARY KEY, -- SHA-256 of the key, which is random and long, so that no salt is needed
    user_id    uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    label      text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX user_keys_of_user ON user_keys (user_id);

-- +goose Down

DROP TABLE user_keys;
DROP TABLE user_preferences;
DROP TABLE user_identities;
DROP TABLE users;
