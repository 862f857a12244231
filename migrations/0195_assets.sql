-- +goose Up

-- What is known about each stored blob, which is named by its SHA-256.
CREATE TABLE assets (
    hash       text PRIMARY KEY CHECK (hash ~ '^[0-9a-f]{64}$'),
    size       bigint NOT NULL CHECK (size >= 0),
    mime       text NOT NULL CHECK (mime <> ''),
    -- In pixels, for images whose header tells.
    width      integer CHECK (width > 0),
    height     integer CHECK (height > 0),
    -- The file name it first came with, or empty.
    name       text NOT NULL DEFAULT '' CHECK (octet_length(name) <= 255),
    created_at timestamptz NOT NULL DEFAULT now(),
    put_at     timestamptz NOT NULL DEFAULT now(), -- when it was last received: what nobody refers to yet may be about to be
    CHECK ((width IS NULL) = (height IS NULL))
);

-- Whose content is, since equal files of different people are one asset. Who has no row here reaches it by no link.
CREATE TABLE asset_owners (
    account_id uuid        NOT NULL,
    hash       text        NOT NULL REFERENCES assets (hash),
    kind       text        NOT NULL CHECK (kind IN ('upload', 'result', 'lent')), -- lent: somebody else's, taken as an input
    size       bigint      NOT NULL,
    put_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, hash)
);

CREATE INDEX asset_owners_of ON asset_owners (hash);

-- All hashes in a text.
CREATE FUNCTION asset_hashes(p_text text) RETURNS SETOF text LANGUAGE sql IMMUTABLE AS
    $$ SELECT m[1] FROM regexp_matches(p_text, '\y[0-9a-f]{64}\y', 'g') AS m $$;

-- asset_uses is the one rule of what needs an asset, and whose that is; without account: the house's. A table that comes to
-- hold references has to stand here.
CREATE VIEW asset_uses (account_id, hash) AS
    SELECT r.account_id, h FROM runs r, asset_hashes(concat_ws(' ', r.inputs, r.outputs, r.target)) h WHERE r.files_deleted_at IS NULL
    UNION ALL SELECT p.user_id, h FROM user_presets p, asset_hashes(p.fields::text) h
    UNION ALL SELECT p.user_id, h FROM user_preferences p, asset_hashes(p.value::text) h
    UNION ALL SELECT m.chat::uuid, h FROM web_messages m, asset_hashes(concat_ws(' ', m.body, m.media)) h WHERE NOT m.deleted
    UNION ALL SELECT k.account_id, h FROM chat_keyboards k, asset_hashes(k.state::text) h
    UNION ALL SELECT q.account_id, h FROM chat_prompts q, asset_hashes(q.state::text) h
    UNION ALL SELECT NULL, h FROM place_preferences p, asset_hashes(p.value::text) h
    UNION ALL SELECT NULL, h FROM registry_tool_versions v, asset_hashes(v.definition::text) h
    UNION ALL SELECT NULL, h FROM run_tools t, asset_hashes(t.definition::text) h
    UNION ALL SELECT NULL, h FROM remote_tools t, asset_hashes(t.entry) h;

-- Small versions of pictures, for lists. They go with the original.
CREATE TABLE asset_thumbnails (
    hash    text    NOT NULL REFERENCES assets (hash) ON DELETE CASCADE,
    side    integer NOT NULL, -- of the square that it fits into
    mime    text    NOT NULL,
    content bytea   NOT NULL,
    PRIMARY KEY (hash, side)
);

-- +goose Down

DROP VIEW asset_uses;
DROP TABLE asset_thumbnails, asset_owners, assets;
DROP FUNCTION asset_hashes;
