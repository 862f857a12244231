-- +goose Up

CREATE TABLE users (
    id           uuid PRIMARY KEY,
    display_name text NOT NULL DEFAULT '',
    language     text NOT NULL DEFAULT '', -- BCP 47; empty: unknown
    own_language boolean NOT NULL DEFAULT false, -- chosen by the user: platforms no longer set it
    operator     boolean NOT NULL DEFAULT false,
    -- An account that was merged into another one stays as a signpost: what still knows its id finds the survivor.
    merged_into  uuid REFERENCES users (id),
    created_at   timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT users_merged CHECK (merged_into <> id)
);
CREATE INDEX users_merged_into ON users (merged_into) WHERE merged_into IS NOT NULL;

-- users_now is the id by which an account goes today. Writers lock the row they find it in, so that nothing is
-- written to an account that is being merged.
CREATE FUNCTION users_now(p_id uuid) RETURNS uuid LANGUAGE sql STABLE AS
    'SELECT coalesce(u.merged_into, u.id) FROM users u WHERE u.id = p_id';

-- One person as one platform knows them.
CREATE TABLE user_identities (
    platform    text NOT NULL,
    external_id text NOT NULL,
    user_id     uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name        text NOT NULL DEFAULT '',
    -- What a platform lets nobody else have, such as @ann: whom one joins an account with is known by it, not by a name.
    handle      text NOT NULL DEFAULT '',
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
    id           bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    hash         bytea PRIMARY KEY, -- SHA-256 of the key, which is random and long, so that no salt is needed
    user_id      uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    label        text NOT NULL DEFAULT '',
    hint         text NOT NULL DEFAULT '', -- its first letters
    spend_limit  bigint NOT NULL DEFAULT 0 CHECK (spend_limit >= 0), -- what its runs may cost in a calendar month, nano-dollars; 0: no limit
    agent        boolean NOT NULL DEFAULT false, -- a model acts with it: what changes something waits for its owner's approval
    created_at   timestamptz NOT NULL DEFAULT now(),
    last_used_at timestamptz
);
CREATE INDEX user_keys_of_user ON user_keys (user_id);

-- Browsers that are signed in. The cookie holds the secret, this table its hash.
CREATE TABLE user_sessions (
    hash       bytea PRIMARY KEY, -- SHA-256 of the secret, which is random and long, so that no salt is needed
    id         uuid NOT NULL UNIQUE, -- by which the owner ends it
    user_id    uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    way        text NOT NULL, -- how its owner signed in
    agent      text NOT NULL DEFAULT '',
    address    text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now(),
    seen_at    timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    CHECK (expires_at > created_at)
);
CREATE INDEX user_sessions_of_user ON user_sessions (user_id);
CREATE INDEX user_sessions_end ON user_sessions (expires_at);

-- Proofs of identity from elsewhere that were used: none signs in twice.
CREATE TABLE user_used_proofs (
    hash       bytea PRIMARY KEY,
    expires_at timestamptz NOT NULL -- when the proof is too old anyway
);
CREATE INDEX user_used_proofs_end ON user_used_proofs (expires_at);

-- One-time links by which an operator lets somebody in.
CREATE TABLE user_invitations (
    id         uuid PRIMARY KEY,
    hash       bytea NOT NULL UNIQUE, -- SHA-256 of the link's secret
    by_whom    text NOT NULL,
    note       text NOT NULL DEFAULT '',
    credit     bigint NOT NULL DEFAULT 0 CHECK (credit >= 0), -- nano-dollars
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    used_at    timestamptz,
    used_by    uuid REFERENCES users (id) ON DELETE SET NULL,
    revoked_at timestamptz,
    CHECK (used_at IS NULL OR revoked_at IS NULL)
);

-- Codes that link two accounts; only hashes are kept.
CREATE TABLE user_link_codes (
    user_id    uuid PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE, -- one at a time
    hash       bytea NOT NULL UNIQUE,
    tried_by   text, -- the account that has tried it: it is good for one try
    expires_at timestamptz NOT NULL
);

-- Wrong guesses of codes: by account, or by address where nobody is signed in.
CREATE TABLE user_link_guesses (
    guesser text PRIMARY KEY,
    wrong   integer NOT NULL,
    since   timestamptz NOT NULL
);
CREATE INDEX user_link_guesses_since ON user_link_guesses (since);

-- Identities whose account was erased on request, as hashes: coming back is no reason for a new sign-up credit.
CREATE TABLE user_former_identities (
    hash bytea PRIMARY KEY
);

-- Who changed what about whom. Accounts are named without a foreign key: the record outlives them.
CREATE TABLE user_audit (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at         timestamptz NOT NULL DEFAULT now(),
    by_whom    text NOT NULL,
    account_id uuid,
    action     text NOT NULL,
    detail     text NOT NULL DEFAULT '',
    note       text NOT NULL DEFAULT ''
);
CREATE INDEX user_audit_of_account ON user_audit (account_id, id DESC);

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
    user_id      uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    own          boolean NOT NULL, -- set by the person
    at_once      integer NOT NULL DEFAULT 0,
    per_day      integer NOT NULL DEFAULT 0,
    day_cap      bigint NOT NULL DEFAULT 0, -- nano-dollars
    month_cap    bigint NOT NULL DEFAULT 0,
    upload_bytes bigint NOT NULL DEFAULT 0,
    result_bytes bigint NOT NULL DEFAULT 0,
    streams      integer NOT NULL DEFAULT 0, -- event streams that may be open at a time
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

-- +goose Down

DROP TABLE access_version, user_limits, access_tools, access_rules, user_presets, place_preferences, user_audit, user_former_identities, user_link_guesses, user_link_codes, user_invitations, user_used_proofs, user_sessions, user_keys, user_preferences, user_identities, users;
DROP FUNCTION users_now, access_changed;
