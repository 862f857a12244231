-- +goose Up

-- What needs an asset, as in 0390, and what rooms since then say in views of their own.
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
    UNION ALL SELECT c.account_id, h FROM agent_conversations c, asset_hashes(c.remembered::text) h;
