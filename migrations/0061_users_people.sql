-- +goose Up

-- An account that was merged into another one stays as a signpost: what still knows its id finds the survivor.
ALTER TABLE users
    ADD COLUMN merged_into uuid REFERENCES users (id),
    ADD CONSTRAINT users_merged CHECK (merged_into <> id);
CREATE INDEX users_merged_into ON users (merged_into) WHERE merged_into IS NOT NULL;

-- users_now is the id by which an account goes today. Writers lock the row they find it in, so that nothing is
-- written to an account that is being merged.
CREATE FUNCTION users_now(p_id uuid) RETURNS uuid LANGUAGE sql STABLE AS
    'SELECT coalesce(u.merged_into, u.id) FROM users u WHERE u.id = p_id';

-- Codes that link two accounts; only hashes are kept.
CREATE TABLE user_link_codes (
    user_id    uuid PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE, -- one at a time
    hash       bytea NOT NULL UNIQUE,
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

-- +goose Down

DROP TABLE user_audit;
DROP TABLE user_former_identities;
DROP TABLE user_link_guesses;
DROP TABLE user_link_codes;
DROP FUNCTION users_now(uuid);
ALTER TABLE users DROP CONSTRAINT users_merged, DROP COLUMN merged_into;
