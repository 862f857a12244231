-- +goose Up

-- When content was last received: what nobody refers to yet may be about to be.
ALTER TABLE assets ADD COLUMN put_at timestamptz NOT NULL DEFAULT now();

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

ALTER TABLE runs
    ADD COLUMN files_deleted_at timestamptz, -- its files are gone, its row tells so
    ADD COLUMN deleted_at       timestamptz; -- its owner deleted it; what stays is for the books

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

INSERT INTO asset_owners (account_id, hash, kind, size)
    SELECT DISTINCT r.account_id, a.hash, 'result', a.size
    FROM runs r, asset_hashes(r.outputs::text) h JOIN assets a ON a.hash = h;

INSERT INTO asset_owners (account_id, hash, kind, size)
    SELECT DISTINCT u.account_id, a.hash, 'upload', a.size
    FROM asset_uses u JOIN assets a ON a.hash = u.hash WHERE u.account_id IS NOT NULL
    ON CONFLICT DO NOTHING;

-- Small versions of pictures, for lists. They go with the original.
CREATE TABLE asset_thumbnails (
    hash    text    NOT NULL REFERENCES assets (hash) ON DELETE CASCADE,
    side    integer NOT NULL, -- of the square that it fits into
    mime    text    NOT NULL,
    content bytea   NOT NULL,
    PRIMARY KEY (hash, side)
);

-- What the files of an account may take, in bytes; like the other limits.
ALTER TABLE user_limits
    ADD COLUMN upload_bytes bigint NOT NULL DEFAULT 0,
    ADD COLUMN result_bytes bigint NOT NULL DEFAULT 0;

-- +goose Down

ALTER TABLE user_limits DROP COLUMN upload_bytes, DROP COLUMN result_bytes;
DROP TABLE asset_thumbnails;
DROP VIEW asset_uses;
DROP FUNCTION asset_hashes(text);
ALTER TABLE runs DROP COLUMN files_deleted_at, DROP COLUMN deleted_at;
DROP TABLE asset_owners;
ALTER TABLE assets DROP COLUMN put_at;
