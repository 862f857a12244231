-- +goose Up

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

-- +goose Down

DROP TABLE user_used_proofs;
DROP TABLE user_sessions;
