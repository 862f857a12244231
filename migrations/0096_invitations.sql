-- +goose Up

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

-- +goose Down

DROP TABLE user_invitations;
