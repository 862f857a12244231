-- +goose Up

-- Archives of everything that a person has, at their request: one is made at a time for each, and kept for a week.
CREATE TABLE exports (
    id           uuid        PRIMARY KEY,
    account_id   uuid        NOT NULL,
    state        text        NOT NULL DEFAULT 'making' CHECK (state IN ('making', 'ready', 'failed')),
    hash         text, -- of the archive, which is a file of the account
    bytes        bigint      NOT NULL DEFAULT 0 CHECK (bytes >= 0),
    requested_at timestamptz NOT NULL,
    expires_at   timestamptz, -- when the archive is deleted
    CHECK ((state = 'ready') = (hash IS NOT NULL AND expires_at IS NOT NULL))
);
CREATE UNIQUE INDEX exports_one_at_a_time ON exports (account_id) WHERE state = 'making';
CREATE INDEX exports_of_account ON exports (account_id, requested_at DESC);
CREATE INDEX exports_end ON exports (expires_at) WHERE expires_at IS NOT NULL;

-- Archives that are to be made or told of, see internal/claims.
CREATE TABLE export_work (
    export_id  uuid        PRIMARY KEY REFERENCES exports ON DELETE CASCADE,
    since      timestamptz NOT NULL,
    tries      integer     NOT NULL DEFAULT 0,
    next_at    timestamptz NOT NULL,
    claimed_by text
);
CREATE TABLE export_workers (
    id         text        PRIMARY KEY,
    started_at timestamptz NOT NULL DEFAULT now(),
    gone_at    timestamptz
);

-- An archive counts neither as an upload nor as a result.
ALTER TABLE asset_owners DROP CONSTRAINT asset_owners_kind_check, ADD CONSTRAINT asset_owners_kind_check CHECK (kind IN ('upload', 'result', 'lent', 'export'));

-- What needs an asset, as in 0490, translations of the site, and archives.
CREATE OR REPLACE VIEW asset_uses (account_id, hash) AS
    SELECT r.account_id, h FROM runs r, asset_hashes(concat_ws(' ', r.inputs, r.outputs, r.target)) h WHERE r.files_deleted_at IS NULL
    UNION ALL SELECT p.user_id, h FROM user_presets p, asset_hashes(p.fields::text) h
    UNION ALL SELECT p.user_id, h FROM user_preferences p, asset_hashes(p.value::text) h
    UNION ALL SELECT m.chat::uuid, h FROM web_messages m, asset_hashes(concat_ws(' ', m.body, m.media)) h WHERE NOT m.deleted
    UNION ALL SELECT k.account_id, h FROM chat_keyboards k, asset_hashes(k.state::text) h
    UNION ALL SELECT q.account_id, h FROM chat_prompts q, asset_hashes(q.state::text) h
    UNION ALL SELECT NULL, h FROM place_preferences p, asset_hashes(p.value::text) h
    UNION ALL SELECT NULL, h FROM registry_tool_versions v, asset_hashes(v.definition::text) h
    UNION ALL SELECT NULL, h FROM run_tools t, asset_hashes(t.definition::text) h
    UNION ALL SELECT NULL, h FROM remote_tools t, asset_hashes(t.entry) h
    UNION ALL SELECT NULL, i.hash FROM site_images i
    UNION ALL SELECT NULL, h FROM site_pages p, asset_hashes(p.meta::text) h
    UNION ALL SELECT NULL, h FROM site_sections s, asset_hashes(s.content::text) h
    UNION ALL SELECT NULL, h FROM site_entries e, asset_hashes(e.content::text) h
    UNION ALL SELECT NULL, h FROM site_translations t, asset_hashes(t.content::text) h
    UNION ALL SELECT NULL, b.item_id FROM site_history b WHERE b.kind = 'image' AND b.deleted AND b.changed_at > now() - interval '30 days'
    UNION ALL SELECT NULL, h FROM site_history b, asset_hashes(b.content::text) h WHERE b.changed_at > now() - interval '30 days'
    UNION ALL SELECT s.account_id, h FROM canvas_shapes c JOIN canvas_scenes s ON s.id = c.scene_id, asset_hashes(c.body::text) h
    UNION ALL SELECT s.account_id, h FROM canvas_changes c JOIN canvas_scenes s ON s.id = c.scene_id, asset_hashes(c.step::text) h
    UNION ALL SELECT c.account_id, h FROM agent_conversations c, asset_hashes(c.remembered::text) h
    UNION ALL SELECT u.account_id, u.hash FROM asset_uses_missions u
    UNION ALL SELECT e.account_id, e.hash FROM exports e WHERE e.hash IS NOT NULL;

-- +goose Down

CREATE OR REPLACE VIEW asset_uses (account_id, hash) AS
    SELECT r.account_id, h FROM runs r, asset_hashes(concat_ws(' ', r.inputs, r.outputs, r.target)) h WHERE r.files_deleted_at IS NULL
    UNION ALL SELECT p.user_id, h FROM user_presets p, asset_hashes(p.fields::text) h
    UNION ALL SELECT p.user_id, h FROM user_preferences p, asset_hashes(p.value::text) h
    UNION ALL SELECT m.chat::uuid, h FROM web_messages m, asset_hashes(concat_ws(' ', m.body, m.media)) h WHERE NOT m.deleted
    UNION ALL SELECT k.account_id, h FROM chat_keyboards k, asset_hashes(k.state::text) h
    UNION ALL SELECT q.account_id, h FROM chat_prompts q, asset_hashes(q.state::text) h
    UNION ALL SELECT NULL, h FROM place_preferences p, asset_hashes(p.value::text) h
    UNION ALL SELECT NULL, h FROM registry_tool_versions v, asset_hashes(v.definition::text) h
    UNION ALL SELECT NULL, h FROM run_tools t, asset_hashes(t.definition::text) h
    UNION ALL SELECT NULL, h FROM remote_tools t, asset_hashes(t.entry) h
    UNION ALL SELECT NULL, i.hash FROM site_images i
    UNION ALL SELECT NULL, h FROM site_pages p, asset_hashes(p.meta::text) h
    UNION ALL SELECT NULL, h FROM site_sections s, asset_hashes(s.content::text) h
    UNION ALL SELECT NULL, h FROM site_entries e, asset_hashes(e.content::text) h
    UNION ALL SELECT NULL, b.item_id FROM site_history b WHERE b.kind = 'image' AND b.deleted AND b.changed_at > now() - interval '30 days'
    UNION ALL SELECT NULL, h FROM site_history b, asset_hashes(b.content::text) h WHERE b.changed_at > now() - interval '30 days'
    UNION ALL SELECT s.account_id, h FROM canvas_shapes c JOIN canvas_scenes s ON s.id = c.scene_id, asset_hashes(c.body::text) h
    UNION ALL SELECT s.account_id, h FROM canvas_changes c JOIN canvas_scenes s ON s.id = c.scene_id, asset_hashes(c.step::text) h
    UNION ALL SELECT c.account_id, h FROM agent_conversations c, asset_hashes(c.remembered::text) h
    UNION ALL SELECT u.account_id, u.hash FROM asset_uses_missions u;
DROP TABLE export_workers, export_work, exports;
DELETE FROM asset_owners WHERE kind = 'export';
ALTER TABLE asset_owners DROP CONSTRAINT asset_owners_kind_check, ADD CONSTRAINT asset_owners_kind_check CHECK (kind IN ('upload', 'result', 'lent'));
