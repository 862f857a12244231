DELETE FROM access_rules WHERE id = $1 RETURNING id, allow, kind, platform, subject, where_platform, where_kind, where_id, note, by_whom, at
;
DELETE FROM access_rules WHERE kind = 'account' AND subject = ($1::uuid)::text
;
DELETE FROM access_rules WHERE kind = 'chat' AND platform = $1 AND subject = $2
;
DELETE FROM access_rules WHERE where_platform = $1 AND where_kind = 'chat' AND where_id = $2
;
DELETE FROM access_rules f USING access_rules i
	 WHERE i.kind = 'account' AND f.kind = 'account' AND i.subject = ($2::uuid)::text AND f.subject = ($1::uuid)::text
	 AND (i.where_platform, i.where_kind, i.where_id) = (f.where_platform, f.where_kind, f.where_id)
;
DELETE FROM access_rules r USING user_identities i
	WHERE i.user_id = users_now($1::uuid) AND r.kind = 'identity' AND r.where_kind = '' AND r.platform = i.platform AND r.subject = i.external_id
;
DELETE FROM access_rules r WHERE NOT allow AND where_kind = '' AND (
				kind = 'account' AND subject = users_now($1)::text OR
				kind = 'identity' AND EXISTS (SELECT FROM user_identities i WHERE i.user_id = users_now($1) AND i.platform = r.platform AND i.external_id = r.subject))
;
DELETE FROM access_tools WHERE platform = $1 AND kind = $2 AND place = $3
;
DELETE FROM access_tools WHERE platform = $1 AND kind = 'chat' AND place = $2
;
DELETE FROM agent_conversations WHERE account_id = $1
;
DELETE FROM agent_conversations WHERE account_id = $1 AND name = $2
;
DELETE FROM agent_steps s USING agent_questions q WHERE q.id = s.question_id AND q.account_id = $1
;
DELETE FROM asset_owners o WHERE put_at < now() - make_interval(secs => $1)
			AND NOT EXISTS (SELECT FROM asset_uses u WHERE u.account_id = o.account_id AND u.hash = o.hash)
;
DELETE FROM canvas_changes WHERE scene_id = $1 AND version <= $2
;
DELETE FROM canvas_scenes WHERE account_id = $1
;
DELETE FROM canvas_shapes WHERE scene_id = $1 AND id = $2
;
DELETE FROM chains WHERE account_id = $1
;
DELETE FROM chains WHERE id::text = $1 AND account_id = $2
;
DELETE FROM chat_deliveries WHERE account_id = $1
;
DELETE FROM chat_deliveries WHERE run_id = $1
;
DELETE FROM chat_keyboards WHERE account_id = $1
;
DELETE FROM chat_keyboards WHERE account_id = $2 AND state ->> 'run' = $1
;
DELETE FROM chat_keyboards WHERE created_at < now() - make_interval(secs => $1)
;
DELETE FROM chat_marks WHERE account_id = $1
;
DELETE FROM chat_marks WHERE marked_at < now() - make_interval(secs => $1)
;
DELETE FROM chat_marks WHERE platform = $1 AND chat = $2 AND message_id = $3
;
DELETE FROM chat_prompts WHERE account_id = $1
;
DELETE FROM chat_prompts WHERE expires_at < now()
;
DELETE FROM chat_prompts WHERE id = $1
;
DELETE FROM chat_prompts WHERE platform = $1 AND chat = $2 AND account_id = $3
;
DELETE FROM chat_questions WHERE account_id = $1
;
DELETE FROM chat_questions WHERE expires_at < now()
;
DELETE FROM chat_questions WHERE run_id = $1 AND id = $2 RETURNING run_id::text, id, platform, chat, account_id::text, message_id, field, state, expires_at
;
DELETE FROM chat_updates WHERE handled_at < now() - make_interval(secs => $1)
;
DELETE FROM discord_interactions WHERE created_at < $1
;
DELETE FROM engine_orders WHERE engine = $1
;
DELETE FROM exports WHERE account_id = $1
;
DELETE FROM exports WHERE account_id = $1 AND state = 'making' AND EXISTS (SELECT FROM exports WHERE account_id = $2 AND state = 'making')
;
DELETE FROM exports WHERE expires_at <= $1 RETURNING id::text, account_id::text, state, bytes, requested_at, expires_at, coalesce('asset:' || hash, '')
;
DELETE FROM house_members WHERE process = $1
;
DELETE FROM house_settings WHERE name = $1
;
DELETE FROM house_shares WHERE process = $1
;
DELETE FROM knowledge_documents WHERE source_id = $1 AND path = ANY ($2)
;
DELETE FROM knowledge_groups
;
DELETE FROM knowledge_sources WHERE id = $1
;
DELETE FROM knowledge_sources WHERE owner = $1
;
DELETE FROM limit_warnings WHERE until < $1
;
DELETE FROM missions WHERE account_id = $1 AND (ended_at IS NOT NULL OR status = 'awaiting_confirmation')
;
DELETE FROM missions WHERE id = $1 AND forgotten
;
DELETE FROM moderation_appeals WHERE account_id = $1
;
DELETE FROM moderation_reports WHERE account_id = $1
;
DELETE FROM moderation_reports f USING moderation_reports i WHERE f.reporter = $1 AND i.reporter = $2 AND f.run_id = i.run_id AND f.state = 'open' AND i.state = 'open'
;
DELETE FROM moderation_strikes WHERE account_id = $1
;
DELETE FROM moderation_takedowns WHERE account_id = $1
;
DELETE FROM moderation_takedowns WHERE account_id = $1 RETURNING run_id::text
;
DELETE FROM payment_guesses WHERE account_id = $1
;
DELETE FROM payment_guesses WHERE since <= $1
;
DELETE FROM payment_notices WHERE seen_at < $1
;
DELETE FROM payment_orders o WHERE account_id = $1 AND NOT EXISTS (SELECT FROM payments p WHERE p.order_id = o.id)
;
DELETE FROM place_preferences WHERE platform = $1 AND kind = $2 AND place = $3 AND tool_id = $4
;
DELETE FROM place_preferences WHERE platform = $1 AND kind = $2 AND place = $3 AND tool_id = $4 AND field = $5
;
DELETE FROM place_preferences WHERE platform = $1 AND kind = 'chat' AND place = $2
;
DELETE FROM registry_current WHERE tool_id = ANY($1)
;
DELETE FROM registry_pins WHERE tool_id = $1 AND ($2 = 0 OR number = $2)
;
DELETE FROM registry_pins WHERE tool_id = $1 AND instead
;
DELETE FROM registry_renames WHERE alias = $1
;
DELETE FROM remote_results WHERE expires_at < $1
;
DELETE FROM remote_tools WHERE key = $1
;
DELETE FROM run_questions WHERE run_id = $1 AND id = $2 RETURNING convert_to(reply::text, 'UTF8')
;
DELETE FROM run_questions WHERE until < $1
;
DELETE FROM site_chat_roles WHERE account_id = $1
;
DELETE FROM site_chat_roles WHERE told_at < now() - make_interval(secs => $1)
;
DELETE FROM site_history WHERE deleted AND changed_at < now() - make_interval(secs => $1)
;
DELETE FROM site_history WHERE id IN (
			SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY site_id, kind, item_id ORDER BY id DESC) AS n FROM site_history) h WHERE n > $1)
;
DELETE FROM site_members WHERE account_id = $1
;
DELETE FROM site_members WHERE site_id = $1 AND account_id = $2
;
DELETE FROM site_shown WHERE account_id = $1
;
DELETE FROM site_shown WHERE shown_at < now() - make_interval(secs => $1)
;
DELETE FROM site_translations WHERE site_id = $1 AND (page_id = $2 OR entry_id = $2) AND locale = $3
;
DELETE FROM telegram_files WHERE bot_id = $1 AND media = $2 AND kind = $3
;
DELETE FROM telegram_files WHERE used_at < now() - make_interval(days => $1)
;
DELETE FROM user_identities WHERE user_id = $1
;
DELETE FROM user_keys WHERE user_id = $1
;
DELETE FROM user_limits WHERE user_id = $1
;
DELETE FROM user_limits WHERE user_id = $1 AND own = $2
;
DELETE FROM user_link_codes WHERE expires_at <= $1
;
DELETE FROM user_link_codes WHERE user_id = $1
;
DELETE FROM user_link_guesses WHERE since <= $1
;
DELETE FROM user_mutes WHERE user_id = $1
;
DELETE FROM user_mutes WHERE user_id = users_now($1)
;
DELETE FROM user_preferences WHERE user_id = $1
;
DELETE FROM user_preferences WHERE user_id = (SELECT coalesce(o.merged_into, o.id) FROM users o WHERE o.id = $1 FOR SHARE) AND tool_id = $2
;
DELETE FROM user_preferences WHERE user_id = (SELECT coalesce(o.merged_into, o.id) FROM users o WHERE o.id = $1 FOR SHARE) AND tool_id = $2 AND field = $3
;
DELETE FROM user_presets WHERE user_id = $1
;
DELETE FROM user_presets WHERE user_id = (SELECT coalesce(o.merged_into, o.id) FROM users o WHERE o.id = $1 FOR SHARE) AND tool_id = $2 AND key = lower($3)
;
DELETE FROM user_presets f USING user_presets i WHERE f.user_id = $1 AND i.user_id = $2
		AND i.tool_id = f.tool_id AND i.key = f.key AND i.fields::jsonb = f.fields::jsonb
;
DELETE FROM user_sessions WHERE expires_at < now()
;
DELETE FROM user_sessions WHERE user_id = $1
;
DELETE FROM user_sessions WHERE user_id = $1 AND id = $2
;
DELETE FROM user_sessions WHERE user_id = $1 AND id::text <> $2
;
DELETE FROM user_used_proofs WHERE expires_at < now()
;
DELETE FROM web_answers WHERE account_id = $1 AND path = $2 AND key = $3
;
DELETE FROM web_answers WHERE created_at < $1 OR status IS NULL AND created_at < $2
;
DELETE FROM web_shares WHERE run_id = $1
;
DELETE FROM web_shares w USING runs r WHERE r.id = w.run_id AND r.account_id = $1
;
DELETE FROM webhook_endpoints
;
DELETE FROM webhook_endpoints WHERE account_id = $1
;
DELETE FROM webhook_events WHERE received_at < $1 AND (status = 'done' OR received_at < $2)
;
DELETE FROM webhook_messages WHERE created_at < $1
;
INSERT INTO access_rules (allow, kind, platform, subject, note, by_whom)
	 SELECT false, 'identity', i.platform, i.external_id, r.note, r.by_whom FROM access_rules r JOIN user_identities i ON i.user_id = $1
	 WHERE r.kind = 'account' AND r.subject = i.user_id::text AND NOT r.allow AND r.where_kind = '' ON CONFLICT DO NOTHING
;
INSERT INTO access_rules (allow, kind, platform, subject, where_platform, where_kind, where_id, note, by_whom)
	 SELECT false, kind, platform, ($2::uuid)::text, where_platform, where_kind, where_id, note, by_whom FROM access_rules
	 WHERE kind = 'account' AND subject = ($1::uuid)::text AND NOT allow
;
INSERT INTO access_rules (allow, kind, platform, subject, where_platform, where_kind, where_id, note, by_whom) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
			ON CONFLICT (kind, platform, subject, where_platform, where_kind, where_id)
			DO UPDATE SET allow = excluded.allow, note = excluded.note, by_whom = excluded.by_whom, at = now()
;
INSERT INTO access_tools (platform, kind, place, tools) VALUES ($1, $2, $3, $4)
				ON CONFLICT (platform, kind, place) DO UPDATE SET tools = excluded.tools
;
INSERT INTO agent_conversations (account_id, name, remembered, updated_at)
		SELECT $2, name, remembered, updated_at FROM agent_conversations WHERE account_id = $1 ON CONFLICT DO NOTHING
;
INSERT INTO agent_questions (id, account_id, within, trace_id, platform, conversation, provider, question, house, budget, room, held, token_room, run_id)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, nullif($10, ''), $11, $12, $13, nullif($14, '')::uuid)
;
INSERT INTO agent_steps (question_id, place, round, tool, arguments, run_id, ok, error)
			SELECT $1, $2, $3, $4, $5, nullif($6, '')::uuid, $7, $8 WHERE EXISTS (SELECT FROM agent_questions WHERE id = $1 AND NOT forgotten) ON CONFLICT DO NOTHING
;
INSERT INTO agent_usage AS u (account_id, day, input, cache_read, cache_write, output)
		VALUES ($1, (now() AT TIME ZONE 'UTC')::date, $2, $3, $4, $5)
		ON CONFLICT (account_id, day) DO UPDATE SET input = u.input + excluded.input, cache_read = u.cache_read + excluded.cache_read,
			cache_write = u.cache_write + excluded.cache_write, output = u.output + excluded.output
;
INSERT INTO asset_owners (account_id, hash, kind, size)
		SELECT coalesce(users_now($2), $2), hash, 'lent', size FROM asset_owners WHERE account_id = coalesce(users_now($1), $1) AND hash = ANY ($3) AND hidden_at IS NULL ORDER BY hash
		ON CONFLICT (account_id, hash) DO UPDATE SET put_at = now()
;
INSERT INTO asset_owners (account_id, hash, kind, size)
	SELECT l.account::uuid, a.hash, 'lent', a.size FROM unnest($1::text[], $2::text[], $3::boolean[]) AS l (account, hash, taken) JOIN assets a ON a.hash = l.hash
	WHERE l.taken OR EXISTS (SELECT FROM asset_owners o WHERE o.account_id = l.account::uuid AND o.hash = l.hash) FOR KEY SHARE OF a
	ON CONFLICT (account_id, hash) DO UPDATE SET put_at = now()
;
INSERT INTO asset_owners (account_id, hash, kind, size) VALUES (coalesce((SELECT merged_into FROM users WHERE id = $1), $1), $2, $3, $4)
			ON CONFLICT (account_id, hash) DO UPDATE SET put_at = now(),
				kind = CASE WHEN asset_owners.kind = 'lent' THEN excluded.kind ELSE asset_owners.kind END
;
INSERT INTO asset_thumbnails (hash, side, mime, content) SELECT hash, $2, $3, $4 FROM assets WHERE hash = $1 FOR KEY SHARE
		ON CONFLICT DO NOTHING
;
INSERT INTO canvas_changes (scene_id, version, run_id, tool, board, step, answer, took) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
;
INSERT INTO canvas_scenes (id, account_id, session, page) VALUES ($1, $2, $3, '{}')
;
INSERT INTO canvas_scenes (id, account_id, session, page) VALUES ($1, $2, $3, '{}') ON CONFLICT (account_id, session) WHERE current DO NOTHING
;
INSERT INTO canvas_shapes (scene_id, id, body) VALUES ($1, $2, $3) ON CONFLICT (scene_id, id) DO UPDATE SET body = excluded.body
;
INSERT INTO chain_versions (chain_id, version, definition, made_at) VALUES ($1, $2, $3, $4)
;
INSERT INTO chains AS c (id, account_id, command, version, definition, tool, changed_at) VALUES ($1, $2, $3, 1, $4, $5, $6)
		ON CONFLICT (id) DO UPDATE SET command = $3, version = c.version + 1, definition = $4, tool = $5, changed_at = $6 WHERE c.account_id = $2
		RETURNING version
;
INSERT INTO chat_deliveries (run_id, platform, account_id) VALUES ($1, $2, $3)
		ON CONFLICT (run_id) DO UPDATE SET platform = EXCLUDED.platform
		RETURNING parts, finished_at IS NOT NULL
;
INSERT INTO chat_deliveries (run_id, platform, account_id, parts) VALUES ($1, $2, $3, $4)
			ON CONFLICT (run_id) DO UPDATE SET parts = chat_deliveries.parts || EXCLUDED.parts
;
INSERT INTO chat_keyboards (id, platform, account_id, state) VALUES ($1, $2, $3, $4)
		ON CONFLICT (id) DO UPDATE SET state = EXCLUDED.state
;
INSERT INTO chat_marks (platform, chat, message_id, account_id, kind, said) VALUES ($1, $2, $3, $4, $5, coalesce($6::bytea, ''))
		ON CONFLICT (platform, chat, message_id) DO UPDATE SET account_id = EXCLUDED.account_id, kind = EXCLUDED.kind, said = EXCLUDED.said, marked_at = now()
;
INSERT INTO chat_prompts (platform, chat, account_id, id, message_id, state, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7))
		ON CONFLICT (platform, chat, account_id) DO UPDATE SET
			id = EXCLUDED.id, message_id = EXCLUDED.message_id, state = EXCLUDED.state, expires_at = EXCLUDED.expires_at
;
INSERT INTO chat_questions (run_id, id, platform, chat, account_id, field, state, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (run_id) DO UPDATE SET id = EXCLUDED.id, platform = EXCLUDED.platform, chat = EXCLUDED.chat, account_id = EXCLUDED.account_id,
			message_id = '', field = EXCLUDED.field, state = EXCLUDED.state, expires_at = EXCLUDED.expires_at
		WHERE chat_questions.id <> EXCLUDED.id
;
INSERT INTO chat_routers (id) SELECT DISTINCT claimed_by FROM chat_updates WHERE handled_at IS NULL AND claimed_by IS NOT NULL
		ON CONFLICT DO NOTHING
;
INSERT INTO chat_updates (platform, update_id, body, claimed_by)
			SELECT $1, u.id, u.body::jsonb, $4 FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS u(id, body, n) ORDER BY n
			ON CONFLICT DO NOTHING
			RETURNING update_id
;
INSERT INTO chat_uses (tool_id, uses) SELECT id, count(*) FROM unnest($1::text[]) AS id GROUP BY id ORDER BY id
		ON CONFLICT (tool_id) DO UPDATE SET uses = chat_uses.uses + EXCLUDED.uses
;
INSERT INTO comfy_node_times (tool_id, node, seconds) SELECT $1, * FROM unnest($2::text[], $3::float8[])
		ON CONFLICT (tool_id, node) DO UPDATE SET seconds = excluded.seconds
;
INSERT INTO comfy_output_kinds (class, kind) VALUES ($1, $2) ON CONFLICT (class) DO UPDATE SET kind = excluded.kind
;
INSERT INTO discord_apps (application_id, commands) VALUES ($1, $2)
		ON CONFLICT (application_id) DO UPDATE SET commands = EXCLUDED.commands
;
INSERT INTO discord_interactions (id, kind, token, channel, ephemeral, created_at)
		VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING
;
INSERT INTO discord_messages (message_id, interaction_id, original) VALUES ($1, $2, $3)
		ON CONFLICT (message_id) DO UPDATE SET interaction_id = EXCLUDED.interaction_id, original = EXCLUDED.original
;
INSERT INTO discord_sessions (application_id, shards, shard, session_id, resume_url, sequence) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (application_id, shards, shard) DO UPDATE SET session_id = $4, resume_url = $5, sequence = $6
;
INSERT INTO discord_starts (application_id, starts) VALUES ($1, '{}')
			ON CONFLICT (application_id) DO UPDATE SET application_id = $1 RETURNING starts
;
INSERT INTO engine_orders (engine, mode) VALUES ($1, $2) ON CONFLICT (engine) DO UPDATE SET mode = $2, since = now()
;
INSERT INTO exports (id, account_id, requested_at) VALUES ($1, $2, $3) RETURNING id::text, account_id::text, state, bytes, requested_at, expires_at, coalesce('asset:' || hash, '')
;
INSERT INTO fleet_signals AS f (level, since) VALUES ($1, $2)
		ON CONFLICT (house) DO UPDATE SET level = $1, since = CASE WHEN f.level = $1 THEN f.since ELSE $2 END
		RETURNING since, told, told_at
;
INSERT INTO group_gifts (key, fund, account_id, amount) VALUES ($1, $2, $3, $4) ON CONFLICT (key) DO NOTHING
;
INSERT INTO group_parties (id, group_id, ends_at, chat) VALUES ($1, $2, $3, $4)
			ON CONFLICT (group_id) WHERE ended_at IS NULL DO UPDATE SET ends_at = greatest(group_parties.ends_at, excluded.ends_at) RETURNING id::text
;
INSERT INTO groups (id, platform, kind, place, chat) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (platform, kind, place) WHERE closed_at IS NULL DO UPDATE SET chat = excluded.chat RETURNING id::text
;
INSERT INTO house_key (fingerprint) VALUES ($1) ON CONFLICT DO NOTHING
;
INSERT INTO house_members (kind, process) VALUES ($1, $2) ON CONFLICT (kind, process) DO NOTHING
;
INSERT INTO house_settings (name, value, by_whom) VALUES ($1, $2, $3)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value, by_whom = excluded.by_whom, at = now()
;
INSERT INTO house_shares (kind, item, process)
		SELECT $1, n.item, $2 FROM generate_series(0, $3::int - 1) AS n (item)
		WHERE NOT EXISTS (SELECT FROM house_shares s WHERE s.kind = $1 AND s.item = n.item) ORDER BY n.item LIMIT $4
		ON CONFLICT (kind, item) DO NOTHING RETURNING item
;
INSERT INTO knowledge_documents (source_id, path, title, hash, problem)
		SELECT $1, * FROM unnest($2::text[], $3::text[], $4::bytea[], $5::text[]) RETURNING path, id
;
INSERT INTO knowledge_groups (name, member) SELECT DISTINCT * FROM unnest($1::text[], $2::text[])
;
INSERT INTO knowledge_trigrams (source_id, trigram, lexeme) SELECT $1, * FROM unnest($2::text[], $3::text[]) ON CONFLICT DO NOTHING
;
INSERT INTO ledger_accounts (owner, kind) SELECT owner, 'debt' FROM ledger_transfers WHERE key = $1
		ON CONFLICT (owner, kind) DO NOTHING
;
INSERT INTO ledger_accounts (owner, kind) VALUES ($1, 'debt') ON CONFLICT (owner, kind) DO NOTHING
;
INSERT INTO ledger_accounts (owner, kind) VALUES ($1, 'wallet'), ($1, 'hold')
		ON CONFLICT (owner, kind) DO NOTHING
;
INSERT INTO limit_warnings (whose, kind, most, until) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING RETURNING true
;
INSERT INTO mission_legs (mission_id, position) SELECT $1, generate_series(1, $2)
;
INSERT INTO missions (id, account_id, status, title, document, hash, promised, idempotency_key, run_id, created_at, confirmed_at, origin_platform, origin_target)
		VALUES ($1, $2, $3, $4, $5, $6, $7, nullif($8, ''), nullif($9, '')::uuid, $10, $11, $12, $13) ON CONFLICT DO NOTHING RETURNING id::text
;
INSERT INTO moderation_appeals (at, account_id, words) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING
;
INSERT INTO moderation_reports (at, run_id, account_id, reporter, platform, chat, reason, words) VALUES ($1, $2, $3, nullif($4, '')::uuid, $5, $6, $7, $8)
		ON CONFLICT DO NOTHING
;
INSERT INTO moderation_strikes (at, account_id, run_id, by_whom) VALUES ($1, $2, $3, $4)
		ON CONFLICT (run_id) DO UPDATE SET at = excluded.at, by_whom = excluded.by_whom, lifted_at = NULL WHERE moderation_strikes.lifted_at IS NOT NULL
;
INSERT INTO moderation_takedowns (run_id, account_id, at, by_whom) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING
;
INSERT INTO payment_changes AS c (source, ref, payment, kind, amount, currency, state, by_whom) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (source, ref) DO UPDATE SET by_whom = coalesce(nullif(c.by_whom, ''), excluded.by_whom),
			state = CASE WHEN array_position(ARRAY['open', 'done', 'undone'], excluded.state) > array_position(ARRAY['open', 'done', 'undone'], c.state)
				THEN excluded.state ELSE c.state END
;
INSERT INTO payment_guesses AS g (account_id, since, wrong) VALUES ($1, $2, 0)
		ON CONFLICT (account_id) DO UPDATE SET since = CASE WHEN g.since <= $3 THEN $2 ELSE g.since END, wrong = CASE WHEN g.since <= $3 THEN 0 ELSE g.wrong END
		RETURNING wrong
;
INSERT INTO payment_guesses AS g (account_id, since, wrong) VALUES ($1, $2, 1) ON CONFLICT (account_id) DO UPDATE SET wrong = g.wrong + 1
;
INSERT INTO payment_notices (source, ref, seen_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING
;
INSERT INTO payment_orders (id, account_id, source, product, currency, amount, credit, recurring) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
;
INSERT INTO payment_vouchers (hash, hint, credit, note, by_whom, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7)
;
INSERT INTO payments (source, ref) VALUES ($1, $2) ON CONFLICT (source, ref) DO NOTHING
;
INSERT INTO place_preferences (platform, kind, place, tool_id, field, value) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (platform, kind, place, tool_id, field) DO UPDATE SET value = excluded.value
;
INSERT INTO registry_changes (changed_at, tool_ids, diff) VALUES ($1, $2, $3)
;
INSERT INTO registry_current (tool_id, version, status)
		SELECT id, version, nullif(status, 'null')::json
		FROM unnest($1::text[], $2::text[], $3::text[]) AS new (id, version, status)
		ON CONFLICT (tool_id) DO UPDATE SET version = excluded.version, status = excluded.status
;
INSERT INTO registry_pins (tool_id, version, number, instead, by_whom) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (tool_id, version, instead) DO NOTHING
;
INSERT INTO registry_renames (alias, tool_id, renamed_at)
			SELECT alias, $2, $3 FROM unnest($1::text[]) AS old (alias) WHERE alias <> ''
			ON CONFLICT (alias) DO UPDATE SET tool_id = excluded.tool_id, renamed_at = excluded.renamed_at
;
INSERT INTO registry_tool_versions (tool_id, version, definition, first_seen_at)
		SELECT id, version, definition::json, $4
		FROM unnest($1::text[], $2::text[], $3::text[]) AS new (id, version, definition)
		ON CONFLICT (tool_id, version) DO NOTHING
;
INSERT INTO remote_results (key, data, expires_at) VALUES ($1, $2, $3)
		ON CONFLICT (key) DO UPDATE SET data = $2, expires_at = $3
;
INSERT INTO remote_tools (key, entry, headers, enabled, by_whom) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (key) DO UPDATE SET entry = $2, headers = $3, enabled = $4, by_whom = $5, updated_at = now()
;
INSERT INTO run_copies (run_id, attempt, service, ticket, since, next_at) VALUES ($1, $2, $3, $4, $5, $5) ON CONFLICT DO NOTHING
;
INSERT INTO run_questions (run_id, id, asked_by, question, until) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (run_id) DO UPDATE SET id = EXCLUDED.id, asked_by = EXCLUDED.asked_by, question = EXCLUDED.question, until = EXCLUDED.until, reply = NULL
;
INSERT INTO run_stops (run_id, since, next_at)
		SELECT id, $2::timestamptz, CASE WHEN claimed_by IS NULL THEN $2 ELSE $3 END FROM runs
		WHERE id = ANY ($1::uuid[]) AND (claims > 0 OR ticket IS NOT NULL) ON CONFLICT DO NOTHING
;
INSERT INTO run_tools (tool_id, version, definition) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING
;
INSERT INTO runs (id, account_id, tool_id, tool_version, service, status, waiting, claimed_by, claims, inputs, sources, shape, quote, promised,
		platform, target, deliverable, parent, idempotency_key, timeout_ms, created_at, budget)

	SELECT id::uuid, account::uuid, tool, version, service, status, waiting, nullif(worker, ''), (worker <> '')::int, inputs::json, sources::json, shape, quote::json, promised,
		platform, nullif(target, '')::json, deliverable, nullif(parent, '')::uuid, nullif(key, ''), timeout_ms, created, nullif(budget, '')

	FROM (SELECT unnest($1::text[]) AS id, unnest($2::text[]) AS account, unnest($3::text[]) AS tool, unnest($4::text[]) AS version,
		unnest($5::text[]) AS service, unnest($6::text[]) AS status, unnest($7::boolean[]) AS waiting, unnest($8::text[]) AS inputs,
		unnest($9::text[]) AS sources, unnest($10::bigint[]) AS shape, unnest($11::text[]) AS quote, unnest($12::bigint[]) AS promised,
		unnest($13::text[]) AS platform, unnest($14::text[]) AS target, unnest($15::boolean[]) AS deliverable, unnest($16::text[]) AS parent,
		unnest($17::text[]) AS key, unnest($18::bigint[]) AS timeout_ms, unnest($19::timestamptz[]) AS created, unnest($20::text[]) AS worker,
		unnest($21::text[]) AS budget) a
;
INSERT INTO runs (id, account_id, tool_id, tool_version, service, status, waiting, claimed_by, claims, inputs, sources, shape, quote, promised,
		platform, target, deliverable, parent, idempotency_key, timeout_ms, created_at, budget, context, preview, group_id, payer)

	SELECT id::uuid, account::uuid, tool, version, service, status, waiting, nullif(worker, ''), (worker <> '')::int, inputs::json, sources::json, shape, quote::json, promised,
		platform, nullif(target, '')::json, deliverable, nullif(parent, '')::uuid, nullif(key, ''), timeout_ms, created, nullif(budget, ''), nullif(context, '')::json, nullif(preview, '')::json, nullif(group_id, '')::uuid, nullif(payer, '')::uuid

	FROM (SELECT unnest($1::text[]) AS id, unnest($2::text[]) AS account, unnest($3::text[]) AS tool, unnest($4::text[]) AS version,
		unnest($5::text[]) AS service, unnest($6::text[]) AS status, unnest($7::boolean[]) AS waiting, unnest($8::text[]) AS inputs,
		unnest($9::text[]) AS sources, unnest($10::bigint[]) AS shape, unnest($11::text[]) AS quote, unnest($12::bigint[]) AS promised,
		unnest($13::text[]) AS platform, unnest($14::text[]) AS target, unnest($15::boolean[]) AS deliverable, unnest($16::text[]) AS parent,
		unnest($17::text[]) AS key, unnest($18::bigint[]) AS timeout_ms, unnest($19::timestamptz[]) AS created, unnest($20::text[]) AS worker,
		unnest($21::text[]) AS budget, unnest($22::text[]) AS context, unnest($23::text[]) AS preview, unnest($24::text[]) AS group_id, unnest($25::text[]) AS payer) a
;
INSERT INTO schedules AS s (name, spec, next_run_at) VALUES ($1, $2, $3)
			ON CONFLICT (name) DO UPDATE SET spec = excluded.spec,
				next_run_at = CASE WHEN s.spec = excluded.spec THEN s.next_run_at ELSE excluded.next_run_at END
			RETURNING runs
;
INSERT INTO site_chat_roles (site_id, account_id, admin) VALUES ($1, $2, $3)
		ON CONFLICT (site_id, account_id) DO UPDATE SET admin = excluded.admin, told_at = now()
			WHERE site_chat_roles.admin <> excluded.admin OR site_chat_roles.told_at < now() - interval '1 minute'
;
INSERT INTO site_collections (site_id, slug, title, kind) VALUES ($1, 'blog', 'Blog', 'post'), ($1, 'glossary', 'Glossary', 'entry') ON CONFLICT DO NOTHING
;
INSERT INTO site_entries (site_id, collection_id, kind, slug, title, content, status, author, excerpt, category, featured_image, published_at, publish_at, written_by)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, coalesce($13, CASE WHEN $7 = 'published' THEN now() END), $14, nullif($12, '')::uuid) RETURNING id::text
;
INSERT INTO site_image_vectors (site_id, hash, model, about, vector) SELECT site_id, hash, $3, $4, $5 FROM site_images WHERE site_id = $1 AND hash = $2
		ON CONFLICT (site_id, hash) DO UPDATE SET model = excluded.model, about = excluded.about, vector = excluded.vector
;
INSERT INTO site_images (site_id, hash, filename, description, tags, categories, origin, attribution, session_id, words)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, to_tsvector('english', $10)) ON CONFLICT DO NOTHING
;
INSERT INTO site_members (site_id, account_id, role) VALUES ($1, $2, $3)
			ON CONFLICT (site_id, account_id) DO UPDATE SET role = excluded.role
;
INSERT INTO site_members (site_id, account_id, role) VALUES ($1, $2, 'owner') ON CONFLICT (site_id, account_id) DO UPDATE SET role = 'owner'
;
INSERT INTO site_nav_items (site_id, navigation_id, parent_id, label, target_type, page_id, entry_id, image, url, visible, position)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) RETURNING id::text
;
INSERT INTO site_navigations (site_id, slug, title) VALUES ($1, 'main', 'Main menu'), ($1, 'footer', 'Footer') ON CONFLICT DO NOTHING
;
INSERT INTO site_pages (site_id, parent_id, slug, name, is_protected, indexing, meta) VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id::text
;
INSERT INTO site_sections (site_id, page_id, template, content, status, hidden, position) VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id::text
;
INSERT INTO site_shown (account_id, site_id, tool, subject, touches) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (account_id, site_id, tool, subject) DO UPDATE SET touches = excluded.touches, shown_at = now()
;
INSERT INTO site_translations (site_id, page_id, entry_id, locale, title, about, content, status, publish_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
;
INSERT INTO sites (slug, title, language, platform, place) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (platform, place) DO UPDATE SET off_since = NULL, version = sites.version + 1 RETURNING id::text
;
INSERT INTO telegram_bots (bot_id, webhook_secret) VALUES ($1, $2)
		ON CONFLICT (bot_id) DO UPDATE SET bot_id = EXCLUDED.bot_id
		RETURNING username, webhook_secret
;
INSERT INTO telegram_chats (chat_id, moved_to, moved_at, carried_at) VALUES ($1, $2, now(), now())
			ON CONFLICT (chat_id) DO UPDATE SET moved_to = EXCLUDED.moved_to, carried_at = now()
;
INSERT INTO telegram_files (bot_id, media, kind, file_id) VALUES ($1, $2, $3, $4)
		ON CONFLICT (bot_id, media, kind) DO UPDATE SET file_id = EXCLUDED.file_id, used_at = now()
;
INSERT INTO tool_specs (hash, content)
		SELECT DISTINCT ON (hash) hash, content FROM unnest($1::text[], $2::bytea[]) AS new (hash, content) ORDER BY hash
		ON CONFLICT (hash) DO NOTHING
;
INSERT INTO user_audit (by_whom, account_id, action, detail, note) VALUES ($1, $2, $3, $4, $5)
;
INSERT INTO user_former_identities (hash, muted_until) VALUES ($1, (SELECT until FROM user_mutes WHERE user_id = $2))
			ON CONFLICT (hash) DO UPDATE SET muted_until = greatest(user_former_identities.muted_until, excluded.muted_until)
;
INSERT INTO user_identities (platform, external_id, user_id, name, language, handle) VALUES ($1, $2, $3, $4, $5, $6)
;
INSERT INTO user_identities (platform, external_id, user_id, name, language, handle) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (platform, external_id) DO NOTHING
;
INSERT INTO user_identities (user_id, platform, external_id, name, language, handle) VALUES ((SELECT coalesce(o.merged_into, o.id) FROM users o WHERE o.id = $1 FOR SHARE), $2, $3, $4, $5, $6)
			ON CONFLICT (platform, external_id) DO NOTHING
;
INSERT INTO user_invitations (id, hash, by_whom, note, credit, expires_at) VALUES ($1, $2, $3, $4, $5, $6)
		RETURNING id::text AS id, by_whom AS by, note, credit, created_at, expires_at, used_at, coalesce(used_by::text, '') AS used_by, revoked_at
;
INSERT INTO user_keys (user_id, hash, label, hint) VALUES ((SELECT coalesce(o.merged_into, o.id) FROM users o WHERE o.id = $1 FOR SHARE), $2, $3, $4)
;
INSERT INTO user_limits (user_id, own, at_once, per_day, streams, day_cap, month_cap, upload_bytes, result_bytes)
	 SELECT $2, own, greatest(at_once, 0), greatest(per_day, 0), greatest(streams, 0), greatest(day_cap, 0), greatest(month_cap, 0), greatest(upload_bytes, 0), greatest(result_bytes, 0)
	 FROM user_limits WHERE user_id = $1 AND NOT own AND greatest(at_once, per_day, streams, day_cap, month_cap, upload_bytes, result_bytes) > 0
;
INSERT INTO user_limits (user_id, own, at_once, per_day, streams, day_cap, month_cap, upload_bytes, result_bytes, confirm_percent) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		ON CONFLICT (user_id, own) DO UPDATE SET at_once = excluded.at_once, per_day = excluded.per_day, streams = excluded.streams, day_cap = excluded.day_cap, month_cap = excluded.month_cap,
			upload_bytes = excluded.upload_bytes, result_bytes = excluded.result_bytes, confirm_percent = excluded.confirm_percent
;
INSERT INTO user_link_codes (user_id, hash, expires_at) SELECT users_now(id), $2, $3 FROM users WHERE id = $1
		ON CONFLICT (user_id) DO UPDATE SET hash = excluded.hash, expires_at = excluded.expires_at, tried_by = NULL
;
INSERT INTO user_link_guesses AS g (guesser, wrong, since) VALUES ($1, 1, $2)
		ON CONFLICT (guesser) DO UPDATE SET wrong = g.wrong + 1
;
INSERT INTO user_mutes (user_id, until) SELECT $2, muted_until FROM user_former_identities WHERE hash = $1 AND muted_until > $3
;
INSERT INTO user_mutes (user_id, until) SELECT $2, until FROM user_mutes WHERE user_id = $1
;
INSERT INTO user_mutes (user_id, until) SELECT $2, until FROM user_mutes WHERE user_id = $1
	 ON CONFLICT (user_id) DO UPDATE SET until = greatest(user_mutes.until, excluded.until)
;
INSERT INTO user_mutes (user_id, until) VALUES ($1, $2)
			ON CONFLICT (user_id) DO UPDATE SET until = greatest(user_mutes.until, excluded.until)
;
INSERT INTO user_preferences (user_id, tool_id, field, value)
	 SELECT $2, tool_id, field, value FROM user_preferences WHERE user_id = $1 ON CONFLICT DO NOTHING
;
INSERT INTO user_preferences (user_id, tool_id, field, value) VALUES ((SELECT coalesce(o.merged_into, o.id) FROM users o WHERE o.id = $1 FOR SHARE), $2, $3, $4)
		ON CONFLICT (user_id, tool_id, field) DO UPDATE SET value = excluded.value
;
INSERT INTO user_presets (user_id, tool_id, key, name, fields) VALUES ($1, $2, lower($3), $3, $4)
			ON CONFLICT (user_id, tool_id, key) DO UPDATE SET name = excluded.name, fields = excluded.fields, updated_at = now()
;
INSERT INTO user_sessions (hash, id, user_id, way, agent, address, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, now() + $7)
;
INSERT INTO user_used_proofs (hash, expires_at) VALUES ($1, $2) ON CONFLICT DO NOTHING
;
INSERT INTO users AS u (id, display_name, language) VALUES ($1, $2, $3) RETURNING u.id::text AS id, u.display_name, u.language, u.operator, u.created_at
;
INSERT INTO web_answers (account_id, path, key, body, created_at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING
;
INSERT INTO web_chats (chat) VALUES ($1), ($2) ON CONFLICT DO NOTHING
;
INSERT INTO web_chats (chat, paused_at) VALUES ($1, CASE WHEN $2 THEN now() END)
		ON CONFLICT (chat) DO UPDATE SET paused_at = EXCLUDED.paused_at
;
INSERT INTO web_shares (id, run_id) SELECT $1::text, $2::uuid WHERE NOT EXISTS (SELECT FROM moderation_takedowns WHERE run_id = $2::uuid)
		ON CONFLICT (run_id) DO UPDATE SET run_id = excluded.run_id RETURNING id
;
INSERT INTO webhook_attempts (message_id, at, status, took_ms, error, answer) SELECT id, $2, $3, $4, $5, $6 FROM webhook_messages WHERE id = $1
;
INSERT INTO webhook_endpoints (id, account_id, url, events, ordered, secret, created_at)
		SELECT $1, $2, $3, $4, $5, $6, $7 WHERE (SELECT count(*) FROM webhook_endpoints WHERE account_id = $2) < $8
;
INSERT INTO webhook_events AS e (service, event_id, run_id, provider_id, state, body, received_at, attempts, due_at)
	SELECT unnest($1::text[]), unnest($2::text[]), unnest($3::text[]), unnest($4::text[]), unnest($5::text[]), unnest($6::bytea[]),
		unnest($7::timestamptz[]), $9, $8
;
INSERT INTO webhook_events AS e (service, event_id, run_id, provider_id, state, body, received_at, attempts, due_at)
	SELECT unnest($1::text[]), unnest($2::text[]), unnest($3::text[]), unnest($4::text[]), unnest($5::text[]), unnest($6::bytea[]),
		unnest($7::timestamptz[]), $9, $8
	ON CONFLICT (service, event_id) DO NOTHING RETURNING service, event_id, id, copies = 1
;
INSERT INTO webhook_events AS e (service, event_id, run_id, provider_id, state, body, received_at, attempts, due_at)
	SELECT unnest($1::text[]), unnest($2::text[]), unnest($3::text[]), unnest($4::text[]), unnest($5::text[]), unnest($6::bytea[]),
		unnest($7::timestamptz[]), $9, $8
	ON CONFLICT (service, event_id) DO UPDATE SET copies = CASE WHEN e.status IN ('orphan', 'dead') THEN 1 ELSE e.copies + 1 END,
		status = CASE WHEN e.status = 'done' THEN 'done' ELSE 'stored' END,
		ended_at = CASE WHEN e.status = 'done' THEN e.ended_at END,
		attempts = CASE WHEN e.status IN ('orphan', 'dead') THEN excluded.attempts ELSE e.attempts END,
		due_at = CASE WHEN e.status IN ('orphan', 'dead') THEN excluded.due_at ELSE e.due_at END,
		received_at = CASE WHEN e.status IN ('orphan', 'dead') THEN excluded.received_at ELSE e.received_at END RETURNING service, event_id, id, copies = 1
;
INSERT INTO webhook_messages (endpoint_id, type, subject, sequence, data, created_at, next_at)
		SELECT id, $3, $5, 1, '{"text": "This is a test."}', $4, $4 FROM webhook_endpoints WHERE account_id = $1 AND id::text = $2
		RETURNING id::text
;
SELECT 'asset:' || hash AS image, about, vector FROM site_image_vectors WHERE site_id = $1 AND model = $2
;
SELECT 'asset:' || i.hash AS id, i.filename, a.mime, coalesce(a.width, 0) AS width, coalesce(a.height, 0) AS height, a.size,
		i.description, i.tags, i.categories, i.status, i.origin, i.attribution, i.session_id, i.version, i.created_at
	FROM site_images i JOIN assets a ON a.hash = i.hash WHERE i.site_id = $1
;
SELECT 'asset:' || i.hash AS id, i.filename, a.mime, coalesce(a.width, 0) AS width, coalesce(a.height, 0) AS height, a.size,
		i.description, i.tags, i.categories, i.status, i.origin, i.attribution, i.session_id, i.version, i.created_at
	FROM site_images i JOIN assets a ON a.hash = i.hash WHERE i.site_id = $1 AND i.hash = $2 FOR UPDATE OF i
;
SELECT 'asset:' || o.hash, a.name, a.mime FROM asset_owners o JOIN assets a USING (hash)
		WHERE o.account_id = $1 AND o.kind <> 'export' ORDER BY o.put_at, o.hash
;
SELECT 'asset:' || u.hash AS image, u.kind, u.item_id::text AS id, coalesce(p.name, e.title, t.title, '') AS place FROM site_image_uses u
			LEFT JOIN site_sections s ON u.kind = 'section' AND s.id = u.item_id LEFT JOIN site_pages p ON p.id = s.page_id
			LEFT JOIN site_entries e ON u.kind = 'entry' AND e.id = u.item_id LEFT JOIN site_translations t ON u.kind = 'translation' AND t.id = u.item_id
		WHERE u.site_id = $1 AND u.hash = ANY ($2)
		UNION ALL SELECT 'asset:' || n.image, 'navItem', n.id::text, n.label FROM site_nav_items n WHERE n.site_id = $1 AND n.image = ANY ($2)
		ORDER BY 2, 4, 3
;
SELECT 'page' AS kind, p.slug, '' AS collection, p.name AS title, greatest(p.updated_at, (SELECT max(s.updated_at) FROM site_sections s WHERE s.page_id = p.id)) AS updated_at
		FROM site_pages p WHERE p.site_id = $1 AND p.indexing AND EXISTS (SELECT FROM site_sections o WHERE o.page_id = p.id AND o.status = 'published' AND NOT o.hidden) AND coalesce(p.meta ->> 'access', '') <> 'members'
		UNION ALL SELECT 'entry', e.slug, c.slug, e.title, e.updated_at FROM site_entries e JOIN site_collections c ON c.id = e.collection_id
		WHERE e.site_id = $1 AND e.status = 'published' ORDER BY kind DESC, collection, slug
;
SELECT (SELECT count(*) FROM ledger_accounts), (SELECT count(*) FROM ledger_transfers), count(*), coalesce(sum(amount), 0)::bigint
			FROM ledger_transfers t
			WHERE kind = 'hold' AND NOT EXISTS (SELECT FROM ledger_transfers s WHERE s.key = 'settle:' || t.run_id::text)
;
SELECT (SELECT count(*) FROM moderation_strikes WHERE account_id = $1 AND lifted_at IS NULL AND at > $2),
			(SELECT count(*) FROM moderation_takedowns WHERE account_id = $1),
			EXISTS (SELECT FROM moderation_appeals WHERE account_id = $1 AND answered_at IS NULL)
;
SELECT CASE WHEN e.id IS NULL THEN 'page' ELSE 'entry' END AS kind, coalesce(e.slug, p.slug) AS slug, coalesce(c.slug, '') AS collection, t.locale, t.title, t.updated_at
		FROM site_translations t LEFT JOIN site_pages p ON p.id = t.page_id LEFT JOIN site_entries e ON e.id = t.entry_id LEFT JOIN site_collections c ON c.id = e.collection_id
		WHERE t.site_id = $1 AND coalesce(p.indexing, true) AND t.status = 'published' AND (e.status = 'published' OR EXISTS (SELECT FROM site_sections o WHERE o.page_id = p.id AND o.status = 'published' AND NOT o.hidden) AND coalesce(p.meta ->> 'access', '') <> 'members') ORDER BY t.locale
;
SELECT CASE WHEN merged_root IS NULL THEN ledger_pay_debt(owner)::text ELSE ledger_merge_debt(owner, merged_root)::text END
		FROM ledger_accounts WHERE owner = $1 AND kind = 'wallet'
;
SELECT DISTINCT account_id::text FROM runs WHERE ended_at IS NULL AND waiting LIMIT 100
;
SELECT DISTINCT t.locale FROM site_translations t
		LEFT JOIN site_pages p ON p.id = t.page_id LEFT JOIN site_entries e ON e.id = t.entry_id WHERE t.site_id = $1 AND t.status = 'published' AND (e.status = 'published' OR EXISTS (SELECT FROM site_sections o WHERE o.page_id = p.id AND o.status = 'published' AND NOT o.hidden) AND coalesce(p.meta ->> 'access', '') <> 'members') ORDER BY 1
;
SELECT DISTINCT tool_id FROM run_tools WHERE strpos(lower(tool_id), $1) > 0 LIMIT $2
;
SELECT EXISTS (SELECT FROM asset_owners WHERE hash = ANY ($2) GROUP BY hash HAVING NOT bool_or(account_id = coalesce(users_now($1), $1)))
;
SELECT EXISTS (SELECT FROM assets WHERE hash = $1)
;
SELECT EXISTS (SELECT FROM chains WHERE account_id = $1 AND command = $2 AND id::text <> $3)
;
SELECT EXISTS (SELECT FROM chat_deliveries WHERE run_id = $1)
;
SELECT EXISTS (SELECT FROM group_gifts WHERE key = $1)
;
SELECT EXISTS (SELECT FROM group_parties WHERE group_id = $1 AND ended_at IS NULL)
;
SELECT EXISTS (SELECT FROM ledger_transfers WHERE run_id = $1 AND kind = 'refund')
;
SELECT EXISTS (SELECT FROM moderation_takedowns WHERE run_id = $1)
;
SELECT EXISTS (SELECT FROM payment_notices WHERE source = $1 AND ref = $2)
;
SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)
;
SELECT EXISTS (SELECT FROM user_former_identities WHERE hash = $1)
;
SELECT EXISTS (SELECT FROM user_identities WHERE user_id = (SELECT coalesce(merged_into, id) FROM users WHERE id = $1))
;
SELECT EXISTS (SELECT FROM users)
;
SELECT EXISTS (SELECT FROM web_chats WHERE chat = $1 AND paused_at IS NOT NULL)
;
SELECT FROM groups WHERE id = $1 FOR UPDATE
;
SELECT FROM site_navigations WHERE id = $1 FOR UPDATE
;
SELECT FROM site_pages WHERE id = $1 FOR UPDATE
;
SELECT FROM users WHERE id = (SELECT coalesce(merged_into, id) FROM users WHERE id = $1) FOR KEY SHARE
;
SELECT FROM web_chats WHERE chat IN ($1, $2) ORDER BY chat FOR UPDATE
;
SELECT a.at, a.status, a.took_ms, a.error, a.answer FROM webhook_messages m JOIN webhook_attempts a ON a.message_id = m.id
		WHERE m.id::text = $3 AND m.endpoint_id = (SELECT id FROM webhook_endpoints WHERE account_id = $1 AND id::text = $2) ORDER BY a.id
;
SELECT a.owner::text, a.kind, a.id, a.balance, a.merged_into IS NOT NULL FROM ledger_accounts a
		WHERE a.owner IN (SELECT unnest($1::uuid[]) UNION SELECT owner FROM ledger_accounts WHERE merged_root = ANY ($1::uuid[])
			UNION SELECT t.owner FROM ledger_transfers t WHERE t.key = ANY ($2::text[]))
		ORDER BY a.owner, a.id FOR UPDATE
;
SELECT account_id, state, used FROM chat_keyboards WHERE id = $1 AND platform = $2
;
SELECT account_id::text AS account, role FROM site_members WHERE site_id = $1 ORDER BY role, account_id
;
SELECT account_id::text FROM chains WHERE id::text = $1
;
SELECT account_id::text, budget, sum(CASE WHEN ended_at IS NULL THEN promised ELSE cost END)::bigint
	FROM runs WHERE account_id = ANY ($1::text[]::uuid[]) AND budget IS NOT NULL AND id >= $3 AND created_at >= $2
	GROUP BY account_id, budget
;
SELECT account_id::text, coalesce(budget, ''),
		coalesce(sum(CASE WHEN ended_at IS NULL THEN held ELSE charged END) FILTER (WHERE created_at >= $2), 0)::bigint,
		sum(CASE WHEN ended_at IS NULL THEN held ELSE charged END)::bigint
	FROM agent_questions WHERE account_id = ANY ($1::uuid[]) AND held > 0 AND id >= $4 AND created_at >= $3
	GROUP BY 1, 2
;
SELECT account_id::text, coalesce(sum(size) FILTER (WHERE kind = 'upload'), 0)::bigint, coalesce(sum(size) FILTER (WHERE kind = 'result'), 0)::bigint
		FROM asset_owners WHERE account_id = ANY ($1::uuid[]) GROUP BY account_id
;
SELECT account_id::text, cost, held FROM agent_questions WHERE id = $1 AND ended_at IS NULL FOR UPDATE
;
SELECT account_id::text, count(*) FILTER (WHERE ended_at IS NULL),
		count(*) FILTER (WHERE created_at >= $2 AND (ended_at IS NULL OR status = 'succeeded')),
		coalesce(sum(CASE WHEN ended_at IS NULL THEN promised ELSE cost END) FILTER (WHERE created_at >= $2 AND payer IS NULL), 0)::bigint,
		coalesce(sum(CASE WHEN ended_at IS NULL THEN promised ELSE cost END) FILTER (WHERE created_at >= $3 AND payer IS NULL), 0)::bigint
	FROM runs WHERE account_id = ANY ($1::uuid[]) AND (id >= $4 OR ended_at IS NULL) AND status <> 'awaiting_confirmation'
	GROUP BY account_id
;
SELECT account_id::text, count(*) FROM runs WHERE account_id = ANY ($1::uuid[]) AND ended_at IS NULL
		AND NOT waiting AND status <> 'awaiting_confirmation' GROUP BY account_id
;
SELECT account_id::text, product, source, currency, amount, credit, recurring, paid_at IS NOT NULL FROM payment_orders WHERE id = $1
;
SELECT account_id::text, said FROM chat_marks WHERE platform = $1 AND chat = $2 AND message_id = $3 AND kind = $4
;
SELECT alias, tool_id FROM registry_renames ORDER BY alias
;
SELECT answer, board FROM canvas_changes WHERE scene_id = $1 AND run_id = $2
;
SELECT at, action, detail, note FROM user_audit WHERE account_id IN (SELECT u.id FROM users u WHERE u.id = $1 OR u.merged_into = $1) ORDER BY id
;
SELECT at, words, granted, answer, answered_at FROM moderation_appeals WHERE account_id = $1 ORDER BY id
;
SELECT body FROM canvas_shapes WHERE scene_id = $1
;
SELECT body, received_at FROM webhook_events WHERE run_id = $1 AND service = $2 ORDER BY id
;
SELECT body, status, answer, created_at FROM web_answers WHERE account_id = $1 AND path = $2 AND key = $3
;
SELECT bucket, coalesce(service, ''), coalesce(tool_id, ''), count(*),
	       count(*) FILTER (WHERE status = 'succeeded'), count(*) FILTER (WHERE status IN ('failed', 'timed_out')),
	       sum(cost)::bigint, sum(greatest(full_cost, cost))::bigint,
	       coalesce(sum(low) FILTER (WHERE status = 'succeeded'), 0)::bigint, coalesce(sum(promised) FILTER (WHERE status = 'succeeded'), 0)::bigint,
	       coalesce(percentile_cont(0.5) WITHIN GROUP (ORDER BY took) FILTER (WHERE status = 'succeeded'), 0)::double precision,
	       coalesce(percentile_cont(0.95) WITHIN GROUP (ORDER BY took) FILTER (WHERE status = 'succeeded'), 0)::double precision,
	       coalesce(sum(nano_units) FILTER (WHERE by_second), 0)::double precision / 1e9
	FROM (SELECT floor(extract(epoch FROM ended_at - $1::timestamptz) / $3::double precision)::int AS bucket, service, tool_id, status, cost, full_cost, nano_units, promised, (quote ->> 'low')::bigint AS low,
	             receipt ->> 'unit' = 'second' AS by_second, extract(epoch FROM ended_at - created_at)::double precision AS took
	      FROM runs WHERE id >= $4::uuid AND ended_at >= $1 AND ended_at < $2) ended
	GROUP BY GROUPING SETS ((bucket), (service, tool_id)) ORDER BY 4 DESC, 3
;
SELECT by_whom FROM user_audit WHERE action = $2
		AND account_id IN (SELECT u.id FROM users u WHERE u.id = users_now($1) OR u.merged_into = users_now($1)) ORDER BY id DESC LIMIT 1
;
SELECT c.relname, array_agg(a.attname::text ORDER BY a.attnum)
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
		WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND c.relname <> $1
		GROUP BY c.relname ORDER BY c.relname
;
SELECT c.scene_id AS drawing, c.id, c.body FROM canvas_shapes c JOIN canvas_scenes s ON s.id = c.scene_id WHERE s.account_id = $1 ORDER BY c.scene_id, c.id
;
SELECT c.scene_id AS drawing, c.version, c.run_id, c.tool, c.board, c.step, c.undone, c.done_at FROM canvas_changes c JOIN canvas_scenes s ON s.id = c.scene_id WHERE s.account_id = $1 ORDER BY c.scene_id, c.version
;
SELECT canceled, account_id::text FROM missions WHERE id = $1
;
SELECT chat_id, moved_to FROM telegram_chats
;
SELECT chat_id, moved_to FROM telegram_chats WHERE carried_at IS NULL OR carried_at < moved_at + make_interval(secs => $1)
;
SELECT claims > 0 FROM runs WHERE id = $1
;
SELECT class, kind FROM comfy_output_kinds
;
SELECT clock_timestamp()
;
SELECT coalesce((SELECT changes FROM web_chats WHERE chat = $1), 0)
;
SELECT coalesce((SELECT joined FROM web_chats WHERE chat = $1), $1)
;
SELECT coalesce((SELECT parts FROM chat_deliveries WHERE run_id = $1), '{}')
;
SELECT coalesce((SELECT version FROM registry_current WHERE tool_id = $1), '')
;
SELECT coalesce(account_id::text, ''), sum(amount)::bigint FROM group_gifts WHERE fund = $1 GROUP BY 1 ORDER BY 2 DESC, 1
;
SELECT coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8
		FROM runs WHERE ended_at IS NULL AND status = $1
;
SELECT coalesce(merged_into, id)::text FROM users WHERE id = (SELECT coalesce(merged_into, id) FROM users WHERE id = $1) FOR UPDATE
;
SELECT coalesce(sum(CASE WHEN ended_at IS NULL THEN greatest(room, cost) ELSE cost END), 0)::bigint FROM agent_questions
		WHERE account_id = $1 AND within IS NULL AND created_at >= date_trunc('day', now(), 'UTC')
;
SELECT coalesce(sum(balance) FILTER (WHERE kind = 'wallet'), 0)::bigint,
		       coalesce(sum(balance) FILTER (WHERE kind = 'hold'), 0)::bigint,
		       coalesce(-sum(balance) FILTER (WHERE kind = 'debt'), 0)::bigint
		FROM ledger_accounts WHERE owner = $1 OR merged_root = $1
;
SELECT coalesce(sum(input + cache_read + cache_write + output), 0)::bigint FROM agent_usage
		WHERE account_id = $1 AND day = (now() AT TIME ZONE 'UTC')::date
;
SELECT coalesce(sum(size), 0) FROM asset_owners WHERE account_id = $1 AND kind = $2 AND hash <> $3
;
SELECT coalesce(users_now($1) = users_now($2), false)
;
SELECT coalesce(users_now($1)::text, ''), coalesce(users_now($2)::text, '')
;
SELECT commands FROM discord_apps WHERE application_id = $1
;
SELECT commands FROM telegram_bots WHERE bot_id = $1
;
SELECT content FROM tool_specs WHERE hash = $1
;
SELECT convert_to(definition::text, 'UTF8') FROM run_tools WHERE tool_id = $1 AND version = $2
;
SELECT convert_to(tool::text, 'UTF8'), account_id::text FROM chains ORDER BY changed_at DESC, id
;
SELECT count(*) FILTER (WHERE run_id = $1), count(*) FILTER (WHERE coalesce(reporter::text, '') = $2)
		FROM moderation_reports WHERE state = 'open' AND (run_id = $1 OR reporter = nullif($2, '')::uuid)
;
SELECT count(*) FROM moderation_strikes WHERE account_id = $1 AND lifted_at IS NULL AND at > $2
;
SELECT count(*) FROM runs WHERE status = 'queued' AND service = $1
;
SELECT count(*) FROM user_presets WHERE user_id = $1 AND tool_id = $2 AND key <> lower($3)
;
SELECT count(*) || ' ' || coalesce(max(pinned_at)::text, '') FROM registry_pins
;
SELECT count(*), coalesce(sum(size), 0)::bigint FROM assets
;
SELECT count(*), count(*) FILTER (WHERE joined < (SELECT joined FROM house_members WHERE kind = $1 AND process = $2))
		FROM house_members WHERE kind = $1
;
SELECT current_setting('server_version_num')::int, current_setting('server_encoding')
;
SELECT data FROM remote_results WHERE key = $1 AND expires_at > $2
;
SELECT date_trunc('day', created_at, 'UTC') AS day, owner::text, note, count(*) FILTER (WHERE kind = 'share')::int,
		coalesce(sum(amount) FILTER (WHERE kind = 'share'), 0)::bigint, coalesce(sum(amount) FILTER (WHERE kind = 'share_back'), 0)::bigint
	FROM ledger_transfers
	WHERE kind IN ('share', 'share_back') AND created_at >= $2 AND ($1::uuid IS NULL OR owner IN (SELECT ledger_group($1)))
	GROUP BY 1, 2, 3 ORDER BY 1 DESC, 5 DESC, 3, 2 LIMIT $3
;
SELECT date_trunc('day', t.created_at, 'UTC'), t.model, count(DISTINCT q.id), count(DISTINCT q.account_id), count(*),
			sum(t.input)::bigint, sum(t.cache_read)::bigint, sum(t.cache_write)::bigint, sum(t.output)::bigint, sum(t.cost)::bigint, coalesce(sum(t.cost) FILTER (WHERE q.house), 0)::bigint
		FROM agent_turns t JOIN agent_questions q ON q.id = t.question_id
		WHERE q.created_at >= date_trunc('day', now(), 'UTC') - make_interval(days => $1) AND t.created_at >= date_trunc('day', now(), 'UTC') - make_interval(days => $1 - 1)
		GROUP BY 1, 2 ORDER BY 1 DESC, sum(t.cost) DESC, 2
;
SELECT date_trunc('day', t.created_at, 'UTC')::date::text AS day, t.note AS of, count(*) FILTER (WHERE t.kind = 'share')::text AS runs,
			(coalesce(sum(t.amount) FILTER (WHERE t.kind = 'share'), 0) / 1e9)::text AS earned_usd, (coalesce(sum(t.amount) FILTER (WHERE t.kind = 'share_back'), 0) / 1e9)::text AS taken_back_usd
		FROM ledger_transfers t JOIN ledger_group($1) g ON t.owner = g WHERE t.kind IN ('share', 'share_back') GROUP BY 1, 2 ORDER BY 1, 2
;
SELECT day, input, cache_read, cache_write, output FROM agent_usage WHERE account_id = $1 ORDER BY day
;
SELECT definition FROM registry_tool_versions WHERE tool_id = $1 AND version = $2
;
SELECT e.id::text, e.collection_id::text, c.slug AS collection, e.kind, e.slug, e.title, e.status, e.author, e.excerpt, e.category,
		'asset:' || e.featured_image AS featured_image, e.content, e.published_at, e.publish_at, e.written_by::text, e.version, e.updated_at
	FROM site_entries e JOIN site_collections c ON c.id = e.collection_id WHERE e.site_id = $1
;
SELECT e.id::text, e.collection_id::text, c.slug AS collection, e.kind, e.slug, e.title, e.status, e.author, e.excerpt, e.category,
		'asset:' || e.featured_image AS featured_image, e.content, e.published_at, e.publish_at, e.written_by::text, e.version, e.updated_at
	FROM site_entries e JOIN site_collections c ON c.id = e.collection_id WHERE e.site_id = $1 AND e.id = $2 FOR UPDATE OF e
;
SELECT engine, mode FROM engine_orders
;
SELECT f.group_id::text, f.fund::text FROM (
			SELECT id AS group_id, id AS fund FROM groups WHERE closed_at IS NOT NULL
			UNION ALL SELECT group_id, id FROM group_parties WHERE ended_at IS NOT NULL) f
		JOIN ledger_accounts a ON a.owner = f.fund AND a.kind = 'wallet' AND a.balance > 0
;
SELECT f.place, d.title, c.heading, c.text, c.url, c.source_path, c.breadcrumbs, c.summary, c.has_code, c.code_langs, s.title, c.document_id
FROM unnest($4::bigint[]) WITH ORDINALITY AS f (id, place) JOIN knowledge_chunks c USING (id) JOIN knowledge_documents d ON d.id = c.document_id JOIN knowledge_sources s ON s.id = c.source_id, (SELECT array_append(array_agg(platform || ':' || external_id), $1) AS own FROM user_identities WHERE user_id::text = $1) AS names
WHERE (s.access = 'public' OR $1 <> '' AND (s.access = 'house' OR s.owner::text = $1 OR s.readers && names.own
	OR EXISTS (SELECT FROM knowledge_groups g WHERE g.name = ANY (s.readers) AND g.member = ANY (names.own)))) AND ($2 = '' OR s.tool_id = $2) AND NOT ($3 AND s.access = 'listed') ORDER BY f.place
;
SELECT fingerprint FROM house_key
;
SELECT format('%s is in transit between wallets', a.balance + coalesce(sum(p.amount), 0))
	 FROM ledger_accounts a LEFT JOIN ledger_pending p ON p.account_id = a.id
	 WHERE a.kind = 'transit' AND a.owner IS NULL GROUP BY a.id, a.balance HAVING a.balance + coalesce(sum(p.amount), 0) <> 0 LIMIT $1
;
SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname),
			format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
		FROM pg_constraint WHERE contype = 'f' AND connamespace = current_schema()::regnamespace ORDER BY conname, conrelid
;
SELECT format('SELECT setval(%L, greatest((SELECT coalesce(max(%I), 0) FROM %s), s.last_value, 1)) FROM %s s',
			pg_get_serial_sequence(attrelid::regclass::text, attname), attname, attrelid::regclass, pg_get_serial_sequence(attrelid::regclass::text, attname))
		FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
		WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace AND attnum > 0 AND NOT attisdropped
			AND c.relname <> 'goose_db_version' AND pg_get_serial_sequence(attrelid::regclass::text, attname) IS NOT NULL
;
SELECT format('account %s (%s of %s) has the balance %s, its entries sum to %s', a.id, a.kind, coalesce(a.owner::text, 'the house'), a.balance + coalesce(p.amount, 0), coalesce(e.amount, 0))
	 FROM ledger_accounts a
	 LEFT JOIN (SELECT account_id, sum(amount) AS amount FROM ledger_pending GROUP BY account_id) p ON p.account_id = a.id
	 LEFT JOIN (SELECT account_id, sum(amount) AS amount FROM ledger_entries GROUP BY account_id) e ON e.account_id = a.id
	 WHERE a.balance + coalesce(p.amount, 0) <> coalesce(e.amount, 0) LIMIT $1
;
SELECT format('the %s of run %s moves %s for an author, whose transfer is of %s', c.kind, c.run_id, c.transit, coalesce(s.amount, 0))
	 FROM (SELECT kind, run_id, (SELECT coalesce(sum(abs(l.amount)), 0) FROM unnest(accounts, amounts) AS l (account, amount) WHERE l.account = 4) AS transit
	       FROM ledger_transfers WHERE kind IN ('capture', 'refund')) c
	 LEFT JOIN ledger_transfers s ON s.key = CASE c.kind WHEN 'capture' THEN 'share:' ELSE 'share_back:' END || c.run_id::text
	 WHERE c.transit <> coalesce(s.amount, 0) LIMIT $1
;
SELECT format('the entries of transfer %s sum to %s', id, total)
	 FROM (SELECT id, (SELECT coalesce(sum(m), 0) FROM unnest(amounts) AS m) AS total FROM ledger_transfers) t WHERE total <> 0 LIMIT $1
;
SELECT format('the hold of run %s is %s, its end gives up %s', h.run_id, h.amount, g.amount)
	 FROM ledger_transfers h JOIN ledger_transfers s ON s.key = 'settle:' || h.run_id::text
	 JOIN ledger_accounts a ON a.owner = h.owner AND a.kind = 'hold'
	 CROSS JOIN LATERAL (SELECT coalesce(-sum(l.amount), 0) AS amount FROM unnest(s.accounts, s.amounts) AS l (account, amount) WHERE l.account = a.id) g
	 WHERE h.kind = 'hold' AND g.amount <> h.amount LIMIT $1
;
SELECT format('the wallet of %s, who was merged, holds %s', owner, balance) FROM ledger_accounts
	 WHERE merged_into IS NOT NULL AND kind = 'wallet' AND balance <> 0 LIMIT $1
;
SELECT format('transfer %s has an entry for the unknown account %s', e.transfer_id, e.account_id)
	 FROM ledger_entries e LEFT JOIN ledger_accounts a ON a.id = e.account_id WHERE a.id IS NULL OR e.amount IS NULL LIMIT $1
;
SELECT format('transfer %s of %s moves nothing', t.id, t.amount)
	 FROM ledger_transfers t WHERE t.amount <> 0 AND cardinality(t.accounts) = 0 LIMIT $1
;
SELECT format('transfer %s, a %s of %s, moves %s into the wallet and %s into the hold of %s, and %s elsewhere among users',
	               t.id, t.kind, t.amount, m.wallet, m.held, t.owner, m.others)
	 FROM ledger_transfers t CROSS JOIN LATERAL (
	     SELECT coalesce(sum(l.amount) FILTER (WHERE a.owner = t.owner AND a.kind = 'wallet'), 0) AS wallet,
	            coalesce(sum(l.amount) FILTER (WHERE a.owner = t.owner AND a.kind = 'hold'), 0) AS held,
	            coalesce(sum(abs(l.amount)) FILTER (WHERE a.owner <> t.owner), 0) AS others,
	            coalesce(sum(abs(l.amount)) FILTER (WHERE a.owner IS NULL), 0) AS house
	     FROM unnest(t.accounts, t.amounts) AS l (account, amount) JOIN ledger_accounts a ON a.id = l.account) m
	 WHERE m.others <> 0 OR NOT CASE t.kind
	     WHEN 'hold' THEN m.wallet = -t.amount AND m.held = t.amount AND m.house = 0
	     WHEN 'release' THEN m.wallet = t.amount AND m.held = -t.amount AND m.house = 0
	     WHEN 'merge_out' THEN m.wallet = -t.amount AND m.held = 0
	     WHEN 'gift_out' THEN m.wallet = -t.amount AND m.held = 0
	     WHEN 'takeback' THEN m.wallet = -t.amount AND m.held = 0
	     WHEN 'debt_paid' THEN m.wallet = -t.amount AND m.held = 0
	     WHEN 'return' THEN m.wallet BETWEEN -t.amount AND 0 AND m.held = 0
	     WHEN 'return_undone' THEN m.wallet BETWEEN 0 AND t.amount AND m.held = 0
	     WHEN 'dispute' THEN m.wallet = 0 AND m.held = 0
	     WHEN 'share_back' THEN m.wallet = 0 AND m.held = 0
	     WHEN 'debt_out' THEN m.wallet = 0 AND m.held = 0
	     WHEN 'debt_in' THEN m.wallet = 0 AND m.held = 0
	     WHEN 'capture' THEN m.wallet + m.held = -t.amount AND m.held <= 0 AND m.wallet >= 0
	     ELSE m.wallet = t.amount AND m.held = 0 END LIMIT $1
;
SELECT format('user %s holds %s, the open holds sum to %s', owner, sum(balance), sum(open))
	 FROM (SELECT owner, balance, 0 AS open FROM ledger_accounts WHERE kind = 'hold'
	       UNION ALL SELECT owner, 0, amount FROM ledger_transfers t
	       WHERE kind = 'hold' AND NOT EXISTS (SELECT FROM ledger_transfers s WHERE s.key = 'settle:' || t.run_id::text)) h
	 GROUP BY owner HAVING sum(balance) <> sum(open) LIMIT $1
;
SELECT fund, amount AS nano_usd FROM group_gifts WHERE account_id = $1 ORDER BY key
;
SELECT g.id::text, (SELECT min(a.id) FROM ledger_accounts a WHERE a.owner = g.id) FROM groups g
		WHERE g.platform = $1 AND g.kind = 'chat' AND g.place = ANY ($2) AND g.closed_at IS NULL ORDER BY g.id FOR UPDATE OF g
;
SELECT g.id::text, g.pays, g.day_budget, g.month_budget, g.member_budget, g.guest_runs, coalesce(p.id::text, ''), coalesce(p.ends_at, 'epoch') FROM groups g LEFT JOIN group_parties p ON p.group_id = g.id AND p.ended_at IS NULL
;
SELECT g.id::text, g.pays, g.day_budget, g.month_budget, g.member_budget, g.guest_runs, coalesce(p.id::text, ''), coalesce(p.ends_at, 'epoch') FROM groups g LEFT JOIN group_parties p ON p.group_id = g.id AND p.ended_at IS NULL WHERE g.id = $1
;
SELECT g.id::text, g.pays, g.day_budget, g.month_budget, g.member_budget, g.guest_runs, coalesce(p.id::text, ''), coalesce(p.ends_at, 'epoch') FROM groups g LEFT JOIN group_parties p ON p.group_id = g.id AND p.ended_at IS NULL WHERE g.id = ANY ($1::text[]::uuid[]) AND g.closed_at IS NULL
;
SELECT g.id::text, g.pays, g.day_budget, g.month_budget, g.member_budget, g.guest_runs, coalesce(p.id::text, ''), coalesce(p.ends_at, 'epoch') FROM groups g LEFT JOIN group_parties p ON p.group_id = g.id AND p.ended_at IS NULL WHERE g.platform = $1 AND g.kind = $2 AND g.place = $3 AND g.closed_at IS NULL
;
SELECT g.id::text, g.pays, g.day_budget, g.month_budget, g.member_budget, g.guest_runs, coalesce(p.id::text, ''), coalesce(p.ends_at, 'epoch'), g.platform, g.kind, g.place, w.balance, h.balance, (SELECT count(DISTINCT account_id) FROM group_gifts WHERE fund = g.id)
			 FROM groups g LEFT JOIN group_parties p ON p.group_id = g.id AND p.ended_at IS NULL JOIN ledger_accounts w ON w.owner = g.id AND w.kind = 'wallet' JOIN ledger_accounts h ON h.owner = g.id AND h.kind = 'hold'
		WHERE g.closed_at IS NULL ORDER BY w.balance DESC, g.id LIMIT $1
;
SELECT g.run_id::text, g.n, g.account_id::text, g.tool_id, convert_to((r.outputs -> g.n)::text, 'UTF8'), coalesce((SELECT t FROM gallery_texts(r.inputs, r.sources) t LIMIT 1), ''), g.favorite, g.rating, r.created_at FROM unnest($2::uuid[], $3::int[]) WITH ORDINALITY w (id, n, nth) JOIN gallery_items g ON g.run_id = w.id AND g.n = w.n
		JOIN runs r ON r.id = g.run_id WHERE g.account_id = $1 ORDER BY w.nth
;
SELECT h FROM runs r, asset_hashes(coalesce(r.outputs::text, '')) h WHERE r.id = ANY ($1::uuid[])
;
SELECT h.id, h.kind, coalesce(h.content ->> 'name', h.content ->> 'title', h.content ->> 'label', nullif(h.content ->> 'filename', ''), nullif(h.content ->> 'locale', ''), h.content ->> 'template', '') AS title, h.changed_at
		FROM site_history h
		WHERE h.site_id = $1 AND h.deleted AND h.changed_at > now() - make_interval(secs => $2)
			AND NOT EXISTS (SELECT FROM site_history later WHERE later.site_id = h.site_id AND later.kind = h.kind AND later.item_id = h.item_id AND later.id > h.id)
			AND NOT (h.kind IN ('section', 'translation') AND EXISTS (
				SELECT FROM site_history p WHERE p.site_id = h.site_id AND p.kind IN ('page', 'entry') AND p.deleted AND p.deed = h.deed AND p.item_id IN (h.content ->> 'page_id', h.content ->> 'entry_id')))
		ORDER BY h.id DESC LIMIT 500
;
SELECT has_schema_privilege(coalesce(current_schema(), 'public'), 'CREATE')
;
SELECT hash, size FROM assets ORDER BY hash
;
SELECT hash, size FROM assets WHERE hash > $1 ORDER BY hash LIMIT 500
;
SELECT i.name, i.handle, i.language, (SELECT count(*) FROM user_identities WHERE user_id = i.user_id) FROM user_identities i
		WHERE i.user_id = $1 AND i.platform = $2 AND i.external_id = $3
;
SELECT id AS run_id FROM runs WHERE platform = $3 AND target #>> '{status,id}' = $1 AND target #>> '{status,chat}' = $2
		UNION ALL SELECT run_id FROM chat_deliveries WHERE platform = $3 AND jsonb_path_query_array(parts, '$.*.refs[*]') @> jsonb_build_array(jsonb_build_object('id', $1::text, 'chat', $2::text))
;
SELECT id FROM ledger_accounts WHERE owner = ANY ($1::uuid[]) ORDER BY owner, id FOR UPDATE
;
SELECT id FROM runs WHERE account_id = $1 ORDER BY id FOR UPDATE
;
SELECT id FROM runs WHERE payer = ANY ($1) OR group_id = ANY ($1) ORDER BY id FOR UPDATE
;
SELECT id FROM users WHERE merged_into IN (users_now($1), users_now($2)) ORDER BY id FOR UPDATE
;
SELECT id FROM web_messages WHERE chat = $1 AND nonce = $2
;
SELECT id FROM web_shares WHERE run_id = $1
;
SELECT id, account_id, url, events, ordered, created_at, disabled_at, disabled_reason, failing_since FROM webhook_endpoints WHERE account_id = $1 AND id::text = $2
;
SELECT id, account_id, url, events, ordered, created_at, disabled_at, disabled_reason, failing_since FROM webhook_endpoints WHERE account_id = $1 ORDER BY created_at, id
;
SELECT id, account_id, url, secret, old_secret, old_until, failing_since, pauses FROM webhook_endpoints WHERE id = $1
;
SELECT id, account_id::text, run_id::text, at FROM moderation_strikes
		WHERE lifted_at IS NULL AND at > $1 AND ($2 = '' OR account_id = nullif($2, '')::uuid) ORDER BY id DESC LIMIT 500
;
SELECT id, account_id::text, words, at FROM moderation_appeals WHERE answered_at IS NULL ORDER BY id LIMIT 500
;
SELECT id, allow, kind, platform, subject, where_platform, where_kind, where_id, note, by_whom, at FROM access_rules
;
SELECT id, allow, kind, platform, subject, where_platform, where_kind, where_id, note, by_whom, at, CASE kind
			WHEN 'account' THEN coalesce((SELECT display_name FROM users WHERE id::text = subject), '')
			WHEN 'identity' THEN coalesce((SELECT name FROM user_identities i WHERE i.platform = r.platform AND external_id = subject), '')
			ELSE '' END
		FROM access_rules r
		WHERE $2 = '' OR (where_platform, where_kind, where_id) = ($1, $2, $3) ORDER BY r.id DESC
;
SELECT id, at, by_whom AS by, coalesce(account_id::text, '') AS account_id, action, detail, note FROM user_audit
		WHERE ($1 = '' OR account_id IN (SELECT u.id FROM users u WHERE u.id = users_now(nullif($1, '')::uuid) OR u.merged_into = users_now(nullif($1, '')::uuid)))
		AND ($2::bigint = 0 OR id < $2) ORDER BY id DESC LIMIT $3
;
SELECT id, breadcrumbs, text FROM knowledge_chunks WHERE source_id = $1 AND id > $2 AND embedding IS NULL ORDER BY id LIMIT $3
;
SELECT id, changed_at, diff FROM registry_changes
		WHERE ($1 = '' OR tool_ids @> ARRAY[$1]) AND ($2 = 0 OR id < $2)
		ORDER BY id DESC LIMIT $3
;
SELECT id, command, version, definition, changed_at FROM chains WHERE account_id = $1 ORDER BY command
;
SELECT id, display_name, language, operator, created_at FROM users WHERE id = $1
;
SELECT id, embedding FROM knowledge_chunks WHERE source_id = $1 AND embedding <> '' ORDER BY id
;
SELECT id, label, hint, created_at, last_used_at, spend_limit, agent FROM user_keys WHERE user_id = (SELECT coalesce(o.merged_into, o.id) FROM users o WHERE o.id = $1) ORDER BY id DESC
;
SELECT id, message_id, state, expires_at > now() FROM chat_prompts
		WHERE platform = $1 AND chat = $2 AND account_id = $3
;
SELECT id, mine, reply_to, body, media, created_at FROM web_messages
		WHERE chat = coalesce((SELECT joined FROM web_chats WHERE chat = $1), $1) AND NOT deleted ORDER BY id
;
SELECT id, name, title, description, origin, address, readers, refreshed_at, created_at FROM knowledge_sources WHERE owner = $1 ORDER BY id
;
SELECT id, run_id::text FROM web_shares WHERE landing_at IS NOT NULL ORDER BY landing_at DESC LIMIT $1
;
SELECT id, service, event_id, run_id, provider_id, state, copies, status, attempts, error, received_at, due_at, ended_at FROM webhook_events WHERE $1 IN ('', status) AND (NOT $2 OR status IN ('orphan', 'dead')) ORDER BY id DESC LIMIT $3
;
SELECT id, session, title, version, page, created_at, changed_at FROM canvas_scenes WHERE account_id = $1 ORDER BY created_at
;
SELECT id, status, title, document, run_id, created_at, confirmed_at, ended_at,
			(SELECT json_agg(l ORDER BY l.position) FROM (SELECT position, status, run_id, failure, reference, undo, undone_at FROM mission_legs WHERE mission_id = m.id) l) AS legs
			FROM missions m WHERE account_id = $1 ORDER BY created_at
;
SELECT id, tool_id, tool_version, service, status, inputs, sources, outputs, error, quote, receipt, platform, parent, context, created_at, confirmed_at, started_at, ended_at,
			delivered_at, refunded_at, files_deleted_at
		FROM runs WHERE account_id = $1 AND deleted_at IS NULL ORDER BY id
;
SELECT id, type, subject, sequence, status, attempts, created_at, next_at, ended_at FROM webhook_messages
		WHERE endpoint_id = $1 ORDER BY created_at DESC, sequence DESC LIMIT $2
;
SELECT id, url, events, ordered, created_at, disabled_at, disabled_reason FROM webhook_endpoints WHERE account_id = $1 ORDER BY created_at
;
SELECT id, version, deleted, changed_by::text, changed_at, content - 'words' AS content FROM site_history
		WHERE site_id = $1 AND kind = $2 AND item_id = $3 ORDER BY id DESC
;
SELECT id::text AS id, by_whom AS by, note, credit, created_at, expires_at, used_at, coalesce(used_by::text, '') AS used_by, revoked_at FROM user_invitations ORDER BY created_at DESC, id LIMIT $1
;
SELECT id::text AS id, by_whom AS by, note, credit, created_at, expires_at, used_at, coalesce(used_by::text, '') AS used_by, revoked_at FROM user_invitations WHERE hash = $1 AND used_at IS NULL AND revoked_at IS NULL AND expires_at > now()
;
SELECT id::text AS id, user_id::text AS account_id, way, agent, address, created_at, seen_at, expires_at FROM user_sessions WHERE hash = $1 AND expires_at > now()
;
SELECT id::text AS id, user_id::text AS account_id, way, agent, address, created_at, seen_at, expires_at FROM user_sessions WHERE user_id = $1 AND expires_at > now() ORDER BY seen_at DESC, created_at DESC
;
SELECT id::text AS order, created_at::text, source, product, amount::text, currency, recurring::text, coalesce(paid_at::text, '') AS paid_at
		FROM payment_orders WHERE account_id IN (SELECT u.id FROM users u WHERE u.id = $1 OR u.merged_into = $1) ORDER BY created_at
;
SELECT id::text FROM agent_questions WHERE account_id = $1 AND trace_id = $2 AND coalesce(budget, '') = $3
		AND within IS NULL AND ended_at IS NULL ORDER BY id DESC LIMIT 1
;
SELECT id::text FROM agent_questions WHERE ended_at IS NULL AND alive_at < now() - make_interval(secs => $1) ORDER BY alive_at LIMIT 1000
;
SELECT id::text FROM missions WHERE id = $1 OR account_id = $2 AND idempotency_key = $3
;
SELECT id::text FROM missions WHERE status = 'awaiting_confirmation' AND created_at < $1 LIMIT 100 FOR UPDATE SKIP LOCKED
;
SELECT id::text FROM payments WHERE source = $1 AND ref = $2 FOR UPDATE
;
SELECT id::text FROM runs WHERE account_id = $1 AND ended_at IS NULL
;
SELECT id::text FROM runs WHERE ended_at IS NULL AND claimed_by = $1
;
SELECT id::text FROM site_nav_items WHERE navigation_id = $1 AND parent_id IS NOT DISTINCT FROM $2::uuid ORDER BY position
;
SELECT id::text FROM site_sections WHERE page_id = $1 ORDER BY position
;
SELECT id::text FROM users WHERE id = users_now($1) FOR SHARE
;
SELECT id::text, account_id::text, coalesce(within::text, ''), coalesce(run_id::text, ''), trace_id, platform, question, answer, stop, error, house, room, cost, charged, tokens, created_at, ended_at FROM agent_questions
;
SELECT id::text, account_id::text, ended_at IS NULL FROM runs WHERE id = ANY ($1::uuid[]) ORDER BY id FOR UPDATE
;
SELECT id::text, account_id::text, version, changed_at, convert_to(definition::text, 'UTF8') FROM chains
;
SELECT id::text, ended_at IS NOT NULL FROM runs WHERE id = ANY ($1::uuid[]) AND service = $2
		UNION
		SELECT id::text, false FROM runs WHERE service = $2 AND provider_id = $3 AND $3 <> '' AND ended_at IS NULL
;
SELECT id::text, slug, title, kind FROM site_collections WHERE site_id = $1
;
SELECT id::text, slug, title, kind FROM site_collections WHERE site_id = $1 AND (id::text = $2 OR slug = $2)
;
SELECT id::text, slug, title, kind FROM site_collections WHERE site_id = $1 ORDER BY slug
;
SELECT id::text, slug, title, max_items FROM site_navigations WHERE site_id = $1
;
SELECT id::text, slug, title, max_items FROM site_navigations WHERE site_id = $1 AND (id::text = $2 OR slug = $2)
;
SELECT id::text, slug, title, max_items FROM site_navigations WHERE site_id = $1 ORDER BY slug
;
SELECT id::text, title, version, changed_at FROM canvas_scenes WHERE account_id = $1 AND id = $2
;
SELECT id::text, title, version, changed_at FROM canvas_scenes WHERE account_id = $1 ORDER BY changed_at DESC LIMIT 100
;
SELECT interaction_id, original FROM discord_messages WHERE message_id = $1
;
SELECT item FROM house_shares WHERE kind = $1 AND process = $2 ORDER BY item
;
SELECT key, entry, headers, enabled FROM remote_tools
;
SELECT key, entry, headers, enabled FROM remote_tools ORDER BY key COLLATE "C"
;
SELECT key, entry, headers, enabled FROM remote_tools WHERE key = $1
;
SELECT kind FROM site_history WHERE id = $1 AND site_id = $2 AND NOT deleted
;
SELECT kind, deed::text, item_id FROM site_history WHERE id = $1 AND site_id = $2 AND deleted
;
SELECT kind, file_id FROM telegram_files WHERE bot_id = $1 AND media = $2 ORDER BY used_at DESC, kind LIMIT 1
;
SELECT kind, token, channel, ephemeral, answered, used, created_at FROM discord_interactions WHERE id = $1
;
SELECT label, hint, spend_limit, agent, created_at, last_used_at FROM user_keys WHERE user_id = $1 ORDER BY created_at
;
SELECT language, embeddings, chunks FROM knowledge_sources WHERE id = $1
;
SELECT language, lexeme, min(lower(word)) FROM unnest($1::text[]) language, unnest($2::text[]) word, unnest(to_tsvector(language::regconfig, word))
		GROUP BY 1, 2 ORDER BY 1, 2
;
SELECT ledger_merge_debt($1, $2)
;
SELECT ledger_pay_debt($1)
;
SELECT ledger_sweep($1)
;
SELECT m.id, a.at, a.status, a.took_ms, a.error, a.answer FROM unnest($1::uuid[]) AS m (id) CROSS JOIN LATERAL (
			SELECT t.id, t.at, t.status, t.took_ms, t.error, t.answer FROM webhook_attempts t WHERE t.message_id = m.id ORDER BY t.id DESC LIMIT $2) a
		ORDER BY a.id
;
SELECT m.id, m.change, m.mine, m.deleted, m.created_at, coalesce(m.reply_to, 0), m.body, m.media, q.body
	FROM web_messages m LEFT JOIN web_messages q ON q.id = m.reply_to AND q.chat = m.chat AND NOT q.deleted WHERE m.chat = $1 AND m.change > $2 ORDER BY m.change, m.id LIMIT $3
;
SELECT m.id, m.change, m.mine, m.deleted, m.created_at, coalesce(m.reply_to, 0), m.body, m.media, q.body
	FROM web_messages m LEFT JOIN web_messages q ON q.id = m.reply_to AND q.chat = m.chat AND NOT q.deleted WHERE m.id = $1 AND NOT m.deleted
;
SELECT m.id, m.change, m.mine, m.deleted, m.created_at, coalesce(m.reply_to, 0), m.body, m.media, q.body
	FROM web_messages m LEFT JOIN web_messages q ON q.id = m.reply_to AND q.chat = m.chat AND NOT q.deleted WHERE m.id = $1 AND m.chat = $2 AND NOT m.deleted
;
SELECT m.id, m.change, m.mine, m.deleted, m.created_at, coalesce(m.reply_to, 0), m.body, m.media, q.body
	FROM web_messages m LEFT JOIN web_messages q ON q.id = m.reply_to AND q.chat = m.chat AND NOT q.deleted WHERE m.id IN (SELECT id FROM web_messages WHERE chat = $1 AND NOT deleted ORDER BY id DESC LIMIT $2)
		ORDER BY m.id
;
SELECT m.id::text, m.account_id::text, m.status, convert_to(m.document::text, 'UTF8'), m.hash, m.promised, coalesce(m.run_id::text, ''),
	m.origin_platform, m.origin_target, m.canceled, m.version, m.created_at, m.confirmed_at, m.ended_at, m.untold FROM missions m
;
SELECT m.run_id::text, coalesce(min(m.account_id::text), ''), min(r.tool_id), (array_agg(m.platform ORDER BY m.id))[1], (array_agg(m.chat ORDER BY m.id))[1],
			count(*), array_agg(DISTINCT m.reason), coalesce(array_agg(m.words ORDER BY m.id) FILTER (WHERE m.words <> ''), '{}'), min(m.at)
		FROM moderation_reports m JOIN runs r ON r.id = m.run_id
		WHERE m.state = 'open' AND ($1 = '' OR m.platform = $1 AND m.chat = $2)
		GROUP BY m.run_id ORDER BY min(m.id) LIMIT $3
;
SELECT max_items, (SELECT count(*) FROM site_nav_items WHERE navigation_id = n.id) FROM site_navigations n WHERE id = $1
;
SELECT merged_into IS NULL FROM users WHERE id = $1
;
SELECT mime, content FROM asset_thumbnails WHERE hash = $1 AND side = $2
;
SELECT min(room - cost), min(token_room - tokens), bool_and(ended_at IS NULL) FROM agent_questions WHERE id IN ($1, $2)
;
SELECT mission_id::text, position, status, coalesce(run_id::text, ''), convert_to(failure::text, 'UTF8'), in_doubt, ended_at, convert_to(undo_inputs::text, 'UTF8'), reference,
			undo, undo_since, undo_tries, undo_error, undone_at
		FROM mission_legs WHERE mission_id = ANY ($1::text[]::uuid[])
;
SELECT model, input, cache_read, cache_write, output, cost, created_at FROM agent_turns WHERE question_id = $1 ORDER BY place
;
SELECT moved_to FROM telegram_chats WHERE chat_id = $1
;
SELECT n.id::text, n.navigation_id::text, n.parent_id::text, n.label, n.target_type, coalesce(n.page_id::text, n.entry_id::text, 'asset:' || n.image) AS target_id,
		n.url, n.visible, n.position, n.version, n.updated_at, coalesce(p.slug, e.slug, '') AS target_slug, coalesce(c.slug, '') AS target_collection,
		coalesce(e.status = 'published', p.id IS NULL OR EXISTS (SELECT FROM site_sections s WHERE s.page_id = p.id AND s.status = 'published' AND NOT s.hidden)) AS target_shown
	FROM site_nav_items n LEFT JOIN site_pages p ON p.id = n.page_id LEFT JOIN site_entries e ON e.id = n.entry_id LEFT JOIN site_collections c ON c.id = e.collection_id
	WHERE n.site_id = $1
;
SELECT n.id::text, n.navigation_id::text, n.parent_id::text, n.label, n.target_type, coalesce(n.page_id::text, n.entry_id::text, 'asset:' || n.image) AS target_id,
		n.url, n.visible, n.position, n.version, n.updated_at, coalesce(p.slug, e.slug, '') AS target_slug, coalesce(c.slug, '') AS target_collection,
		coalesce(e.status = 'published', p.id IS NULL OR EXISTS (SELECT FROM site_sections s WHERE s.page_id = p.id AND s.status = 'published' AND NOT s.hidden)) AS target_shown
	FROM site_nav_items n LEFT JOIN site_pages p ON p.id = n.page_id LEFT JOIN site_entries e ON e.id = n.entry_id LEFT JOIN site_collections c ON c.id = e.collection_id
	WHERE n.site_id = $1 AND n.id = $2 FOR UPDATE OF n
;
SELECT name FROM user_identities WHERE platform = $1 AND external_id = $2
;
SELECT name, count(*) FROM unnest($1::text[]) name, unnest($2::text[]) word
		WHERE ts_lexize((name || '_stem')::regdictionary, lower(word)) = '{}' GROUP BY name ORDER BY count(*) DESC, name <> $3, name LIMIT 1
;
SELECT name, remembered, updated_at FROM agent_conversations WHERE account_id = $1 ORDER BY name
;
SELECT name, value, by_whom, at FROM house_settings
;
SELECT next_run_at FROM schedules WHERE name = $1 AND next_run_at <= $2
			FOR UPDATE SKIP LOCKED
;
SELECT node, seconds FROM comfy_node_times WHERE tool_id = $1
;
SELECT number::text AS receipt, paid_at::text, source, ref, title, amount::text, currency, (credited / 1e9)::text AS credited_usd, (returned / 1e9)::text AS returned_usd, tax
		FROM payments WHERE account_id IN (SELECT u.id FROM users u WHERE u.id = $1 OR u.merged_into = $1) ORDER BY number
;
SELECT own, at_once, per_day, day_cap, month_cap, upload_bytes, result_bytes, streams FROM user_limits WHERE user_id = $1 ORDER BY own
;
SELECT owner::text, kind, id, 0::bigint, false FROM ledger_accounts WHERE owner = ANY ($1::uuid[])
;
SELECT p.group_id::text FROM group_parties p WHERE p.ended_at IS NULL AND (p.ends_at <= $1 OR (SELECT sum(a.balance) FROM ledger_accounts a WHERE a.owner = p.id) = 0)
;
SELECT p.id::text, g.platform, p.chat, p.ended_at, p.left_over, (SELECT coalesce(sum(amount), 0)::bigint FROM group_gifts WHERE fund = p.id)
			FROM group_parties p JOIN groups g ON g.id = p.group_id
			WHERE p.ended_at IS NOT NULL AND p.told_at IS NULL ORDER BY p.ended_at FOR UPDATE OF p SKIP LOCKED
;
SELECT p.id::text, p.number, p.source, p.ref, coalesce(p.account_id::text, ''), p.product, p.title, p.currency, p.amount, p.credit, p.tax, p.subscription, p.payer, p.paid_at,
		p.credited, p.returned, p.absorbed, p.disputed, p.step, c.refunded, c.disputed, c.open
	FROM payments p CROSS JOIN LATERAL (
		SELECT least(coalesce(sum(CASE WHEN c.amount = 0 OR c.currency NOT IN ('', p.currency) THEN whole.money ELSE c.amount END) FILTER (WHERE kind = 'refund' AND state <> 'undone'), 0), whole.money)::bigint AS refunded,
			least(coalesce(sum(CASE WHEN c.amount = 0 OR c.currency NOT IN ('', p.currency) THEN whole.money ELSE c.amount END) FILTER (WHERE kind = 'dispute' AND state <> 'undone'), 0), whole.money)::bigint AS disputed,
			coalesce(bool_or(kind = 'dispute' AND state = 'open'), false) AS open
		FROM (SELECT greatest(p.amount, 1) AS money) whole LEFT JOIN payment_changes c ON c.payment = p.id GROUP BY whole.money) c
;
SELECT p.id::text, p.number, p.source, p.ref, coalesce(p.account_id::text, ''), p.product, p.title, p.currency, p.amount, p.credit, p.tax, p.subscription, p.payer, p.paid_at,
		p.credited, p.returned, p.absorbed, p.disputed, p.step, c.refunded, c.disputed, c.open
	FROM payments p CROSS JOIN LATERAL (
		SELECT least(coalesce(sum(CASE WHEN c.amount = 0 OR c.currency NOT IN ('', p.currency) THEN whole.money ELSE c.amount END) FILTER (WHERE kind = 'refund' AND state <> 'undone'), 0), whole.money)::bigint AS refunded,
			least(coalesce(sum(CASE WHEN c.amount = 0 OR c.currency NOT IN ('', p.currency) THEN whole.money ELSE c.amount END) FILTER (WHERE kind = 'dispute' AND state <> 'undone'), 0), whole.money)::bigint AS disputed,
			coalesce(bool_or(kind = 'dispute' AND state = 'open'), false) AS open
		FROM (SELECT greatest(p.amount, 1) AS money) whole LEFT JOIN payment_changes c ON c.payment = p.id GROUP BY whole.money) c 
		WHERE p.paid_at IS NOT NULL AND ($1 = '' OR p.account_id IN (SELECT id FROM users WHERE id = nullif($1, '')::uuid OR merged_into = nullif($1, '')::uuid))
			AND ($2 = '' OR p.source = $2) AND ($3 = 0 OR p.number < $3) AND ($5 = '' OR p.subscription = $5)
		ORDER BY p.number DESC LIMIT $4
;
SELECT p.id::text, p.number, p.source, p.ref, coalesce(p.account_id::text, ''), p.product, p.title, p.currency, p.amount, p.credit, p.tax, p.subscription, p.payer, p.paid_at,
		p.credited, p.returned, p.absorbed, p.disputed, p.step, c.refunded, c.disputed, c.open
	FROM payments p CROSS JOIN LATERAL (
		SELECT least(coalesce(sum(CASE WHEN c.amount = 0 OR c.currency NOT IN ('', p.currency) THEN whole.money ELSE c.amount END) FILTER (WHERE kind = 'refund' AND state <> 'undone'), 0), whole.money)::bigint AS refunded,
			least(coalesce(sum(CASE WHEN c.amount = 0 OR c.currency NOT IN ('', p.currency) THEN whole.money ELSE c.amount END) FILTER (WHERE kind = 'dispute' AND state <> 'undone'), 0), whole.money)::bigint AS disputed,
			coalesce(bool_or(kind = 'dispute' AND state = 'open'), false) AS open
		FROM (SELECT greatest(p.amount, 1) AS money) whole LEFT JOIN payment_changes c ON c.payment = p.id GROUP BY whole.money) c WHERE p.id = $1
;
SELECT p.id::text, p.slug, p.name, p.parent_id::text, p.is_protected, p.indexing, p.meta, p.version, p.updated_at,
		CASE WHEN EXISTS (SELECT FROM site_sections s WHERE s.page_id = p.id AND s.status = 'published' AND NOT s.hidden) THEN 'published' ELSE 'draft' END AS status
	FROM site_pages p WHERE p.site_id = $1
;
SELECT p.id::text, p.slug, p.name, p.parent_id::text, p.is_protected, p.indexing, p.meta, p.version, p.updated_at,
		CASE WHEN EXISTS (SELECT FROM site_sections s WHERE s.page_id = p.id AND s.status = 'published' AND NOT s.hidden) THEN 'published' ELSE 'draft' END AS status
	FROM site_pages p WHERE p.site_id = $1 AND p.id = $2 FOR UPDATE OF p
;
SELECT p.id::text, p.slug, p.name, p.parent_id::text, p.is_protected, p.indexing, p.meta, p.version, p.updated_at,
		CASE WHEN EXISTS (SELECT FROM site_sections s WHERE s.page_id = p.id AND s.status = 'published' AND NOT s.hidden) THEN 'published' ELSE 'draft' END AS status
	FROM site_pages p WHERE p.site_id = $1 AND p.parent_id = ANY ($2::uuid[]) ORDER BY lower(p.name), p.slug
;
SELECT path, hash FROM knowledge_documents WHERE source_id = $1
;
SELECT payer::text, account_id::text, count(*) FILTER (WHERE created_at >= $2 AND (ended_at IS NULL OR status = 'succeeded')),
		coalesce(sum(CASE WHEN ended_at IS NULL THEN promised ELSE cost END) FILTER (WHERE created_at >= $2), 0)::bigint,
		sum(CASE WHEN ended_at IS NULL THEN promised ELSE cost END)::bigint
	FROM runs WHERE payer = ANY ($1::text[]::uuid[]) AND id >= $4 AND created_at >= $3 AND status <> 'awaiting_confirmation'
	GROUP BY payer, account_id
;
SELECT pg_advisory_xact_lock($1)
;
SELECT pg_backend_pid()
;
SELECT pg_notify($1, $2)
;
SELECT pg_notify('signalbox_exports', '')
;
SELECT pg_notify('signalbox_missions', $1)
;
SELECT pg_notify('signalbox_runs', ':')
;
SELECT pg_notify('signalbox_runs', ':deliveries')
;
SELECT pg_notify('web_chat', $1)
;
SELECT pg_try_advisory_lock($1)
;
SELECT pg_try_advisory_xact_lock_shared($1)
;
SELECT platform, external_id, name, handle, language FROM user_identities WHERE user_id = $1
;
SELECT platform, external_id, name, handle, language, created_at AS linked_at FROM user_identities
		WHERE user_id = (SELECT coalesce(o.merged_into, o.id) FROM users o WHERE o.id = $1) ORDER BY created_at, platform, external_id
;
SELECT platform, external_id, name, handle, language, created_at FROM user_identities WHERE user_id = $1 ORDER BY created_at
;
SELECT platform, kind, place, tools FROM access_tools
;
SELECT q.id, q.platform, q.conversation, q.provider, q.question, q.answer, q.error, q.tokens, q.charged, q.created_at, q.ended_at,
			(SELECT json_agg(s ORDER BY s.place) FROM (SELECT place, tool, arguments, run_id, ok, error, created_at FROM agent_steps WHERE question_id = q.id) s) AS steps
		FROM agent_questions q WHERE q.account_id = $1 AND NOT q.forgotten ORDER BY q.id
;
SELECT q.id::text, row_number() OVER (PARTITION BY q.service ORDER BY q.round, q.account_id <= l.account, q.account_id)
	FROM (SELECT id, service, account_id, row_number() OVER (PARTITION BY service, account_id ORDER BY id) AS round FROM runs
		WHERE status = 'queued' AND claimed_by IS NULL AND claims = 0 AND NOT waiting) q
	LEFT JOIN (SELECT unnest($1::text[]) AS service, unnest($2::uuid[]) AS account) l ON l.service = q.service
;
SELECT r.account_id::text, r.idempotency_key, r.id::text FROM runs r
		JOIN unnest($1::uuid[], $2::text[]) AS k (account, key) ON r.account_id = k.account AND r.idempotency_key = k.key
;
SELECT r.id FROM runs r
;
SELECT r.id::text, r.account_id::text, r.tool_id, r.tool_version, r.status, r.waiting, r.fraction, r.stage, r.queue_position,
	convert_to(r.inputs::text, 'UTF8'), convert_to(r.sources::text, 'UTF8'), convert_to(r.quote::text, 'UTF8'), convert_to(r.outputs::text, 'UTF8'), r.cost, convert_to(r.receipt::text, 'UTF8'), convert_to(r.error::text, 'UTF8'),
	r.platform, convert_to(r.target::text, 'UTF8'), r.deliverable, coalesce(r.parent::text, ''), r.attempt, convert_to(r.ticket::text, 'UTF8'), r.timeout_ms,
	r.created_at, r.started_at, r.ended_at, r.delivered_at, r.refunded_at, r.confirmed_at, convert_to(r.context::text, 'UTF8'),
	r.files_deleted_at, r.deleted_at, r.notice, r.expected_at, r.granted, convert_to(r.preview::text, 'UTF8'), coalesce(r.group_id::text, ''), coalesce(r.payer::text, ''), coalesce(r.budget, ''), CASE WHEN r.status = 'running' THEN (SELECT convert_to(json_build_object('id', q.id, 'until', q.until, 'question', q.question)::text, 'UTF8')
	FROM run_questions q WHERE q.run_id = r.id AND q.asked_by = r.claimed_by AND q.reply IS NULL) END FROM runs r
;
SELECT r.id::text, r.service, coalesce(r.provider_id, ''), s.error, s.since FROM run_stops s JOIN runs r ON r.id = s.run_id
		WHERE s.next_at IS NULL AND s.since > $1 ORDER BY s.since DESC LIMIT $2
;
SELECT remembered FROM agent_conversations WHERE account_id = $1 AND name = $2
;
SELECT reply IS NOT NULL FROM run_questions WHERE run_id = $1 AND id = $2
;
SELECT run::text, $2::text, account::text, true FROM runs_claim($1, $2, $3, $4, $5)
;
SELECT run_id FROM chat_deliveries WHERE run_id = ANY($3::uuid[]) AND jsonb_path_query_array(parts, '$.*.refs[*]') @> jsonb_build_array(jsonb_build_object('id', $1::text, 'chat', $2::text))
;
SELECT run_id, at FROM moderation_takedowns WHERE account_id = $1 ORDER BY at
;
SELECT run_id, at, lifted_at FROM moderation_strikes WHERE account_id = $1 ORDER BY id
;
SELECT run_id, at, reason, state, decided_at FROM moderation_reports WHERE account_id = $1 ORDER BY id
;
SELECT run_id, at, reason, words, state, decided_at FROM moderation_reports WHERE reporter = $1 ORDER BY id
;
SELECT run_id, n AS output, favorite, rating FROM gallery_items WHERE account_id = $1 AND (favorite OR rating > 0) ORDER BY run_id, n
;
SELECT run_id::text FROM web_shares WHERE id = $1
;
SELECT run_id::text, service, ticket FROM run_copies WHERE id = $1
;
SELECT running_at FROM runs WHERE id = $1
;
SELECT runs, next_run_at FROM schedules WHERE name = $1
;
SELECT runs_full($1, $2)
;
SELECT runs_lock($1)
;
SELECT runs_lock(a) FROM (SELECT DISTINCT unnest($1::uuid[]) AS a ORDER BY a) AS accounts
;
SELECT runs_lock(id) FROM unnest($1::uuid[]) AS one (id) ORDER BY id
;
SELECT runs_promote($1, $2)
;
SELECT runs_services()
;
SELECT s.id, s.tool_id, s.name, s.title, s.description, coalesce(s.owner::text, ''), s.origin, s.address, s.access, s.readers, s.language, s.chunks, s.problem, s.version, s.embeddings FROM knowledge_sources s ORDER BY s.id
;
SELECT s.id, s.tool_id, s.name, s.title, s.description, coalesce(s.owner::text, ''), s.origin, s.address, s.access, s.readers, s.language, s.chunks, s.problem, s.version, s.embeddings FROM knowledge_sources s WHERE s.origin IN ('site', 'upload')
		AND (s.refreshed_at IS NULL OR s.origin = 'site' AND s.refreshed_at < now() - interval '20 hours') ORDER BY s.id
;
SELECT s.id, s.tool_id, s.name, s.title, s.description, coalesce(s.owner::text, ''), s.origin, s.address, s.access, s.readers, s.language, s.chunks, s.problem, s.version, s.embeddings FROM knowledge_sources s, (SELECT array_append(array_agg(platform || ':' || external_id), $1) AS own FROM user_identities WHERE user_id::text = $1) AS names
		WHERE (s.access = 'public' OR $1 <> '' AND (s.access = 'house' OR s.owner::text = $1 OR s.readers && names.own
	OR EXISTS (SELECT FROM knowledge_groups g WHERE g.name = ANY (s.readers) AND g.member = ANY (names.own)))) AND ($2 = '' OR s.tool_id = $2) AND NOT ($3 AND s.access = 'listed') ORDER BY lower(s.name), s.id
;
SELECT s.id::text, s.page_id::text, s.template, s.position, s.status, s.hidden, s.content, s.version, s.updated_at
	FROM site_sections s WHERE s.site_id = $1
;
SELECT s.id::text, s.page_id::text, s.template, s.position, s.status, s.hidden, s.content, s.version, s.updated_at
	FROM site_sections s WHERE s.site_id = $1 AND s.id = $2
;
SELECT s.id::text, s.page_id::text, s.template, s.position, s.status, s.hidden, s.content, s.version, s.updated_at
	FROM site_sections s WHERE s.site_id = $1 AND s.id = $2 FOR UPDATE
;
SELECT s.id::text, s.page_id::text, s.template, s.position, s.status, s.hidden, s.content, s.version, s.updated_at
	FROM site_sections s WHERE s.site_id = $1 AND s.page_id = $2 ORDER BY s.position FOR UPDATE
;
SELECT s.id::text, s.page_id::text, s.template, s.position, s.status, s.hidden, s.content, s.version, s.updated_at
	FROM site_sections s WHERE s.site_id = $1 AND s.page_id = ANY ($2::uuid[]) ORDER BY s.position
;
SELECT s.id::text, s.slug, s.title, s.description, s.language, s.version, s.locales, s.platform IS NOT NULL AS grouped,
		CASE WHEN s.platform IS NOT NULL THEN s.members_are ELSE '' END AS members_are, s.off_since IS NOT NULL AS off
	FROM sites s
;
SELECT s.id::text, s.slug, s.title, s.description, s.language, s.version, s.locales, s.platform IS NOT NULL AS grouped,
		CASE WHEN s.platform IS NOT NULL THEN s.members_are ELSE '' END AS members_are, s.off_since IS NOT NULL AS off
	FROM sites s
		WHERE s.platform IS NULL OR s.off_since IS NULL AND s.id IN (
			SELECT site_id FROM site_members WHERE account_id = $1 UNION SELECT site_id FROM site_chat_roles WHERE account_id = $1)
		ORDER BY s.platform IS NOT NULL, lower(s.title), s.slug
;
SELECT s.id::text, s.slug, s.title, s.description, s.language, s.version, s.locales, s.platform IS NOT NULL AS grouped,
		CASE WHEN s.platform IS NOT NULL THEN s.members_are ELSE '' END AS members_are, s.off_since IS NOT NULL AS off
	FROM sites s WHERE s.platform = $1 AND s.place = $2
;
SELECT s.id::text, s.slug, s.title, s.description, s.language, s.version, s.locales, s.platform IS NOT NULL AS grouped,
		CASE WHEN s.platform IS NOT NULL THEN s.members_are ELSE '' END AS members_are, s.off_since IS NOT NULL AS off
	FROM sites s WHERE s.slug = $1
;
SELECT s.language, l.lexeme, sum(l.chunks) FROM knowledge_lexemes l JOIN knowledge_sources s ON s.id = l.source_id, (SELECT array_append(array_agg(platform || ':' || external_id), $1) AS own FROM user_identities WHERE user_id::text = $1) AS names
		WHERE (s.access = 'public' OR $1 <> '' AND (s.access = 'house' OR s.owner::text = $1 OR s.readers && names.own
	OR EXISTS (SELECT FROM knowledge_groups g WHERE g.name = ANY (s.readers) AND g.member = ANY (names.own)))) AND ($2 = '' OR s.tool_id = $2) AND NOT ($3 AND s.access = 'listed') AND l.lexeme = ANY ($4) GROUP BY 1, 2
;
SELECT s.name AS source, c.source_path AS path, c.heading, c.text, c.url FROM knowledge_chunks c JOIN knowledge_sources s ON s.id = c.source_id WHERE s.owner = $1 ORDER BY c.id
;
SELECT s.round, s.tool, s.arguments, s.ok, s.error, s.created_at, coalesce(r.id::text, ''), coalesce(r.status, ''), coalesce(r.cost, 0), coalesce(r.promised, 0), r.confirmed_at
		FROM agent_steps s LEFT JOIN runs r ON r.id = s.run_id AND r.deleted_at IS NULL WHERE s.question_id = $1 ORDER BY s.place
;
SELECT s.run_id, s.created_at FROM web_shares s JOIN runs r ON r.id = s.run_id WHERE r.account_id = $1 ORDER BY s.created_at
;
SELECT s.slug AS site, c.slug AS collection, e.slug, e.title, e.content, e.status, e.author, e.excerpt, e.category, e.featured_image, e.published_at, e.created_at, e.updated_at
			FROM site_entries e JOIN sites s ON s.id = e.site_id JOIN site_collections c ON c.id = e.collection_id WHERE e.written_by = $1 ORDER BY e.created_at
;
SELECT s.slug AS site, s.title, m.admin FROM site_chat_roles m JOIN sites s ON s.id = m.site_id WHERE m.account_id = $1 ORDER BY s.slug
;
SELECT s.slug AS site, s.title, m.role FROM site_members m JOIN sites s ON s.id = m.site_id WHERE m.account_id = $1 ORDER BY s.slug
;
SELECT session_id, resume_url, sequence FROM discord_sessions WHERE application_id = $1 AND shards = $2 AND shard = $3
;
SELECT set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true),
	set_config('enable_bitmapscan', 'off', true), set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)
;
SELECT set_config('site.by', $1, true)
;
SELECT set_config('tcp_keepalives_idle', '4', false), set_config('tcp_keepalives_interval', '2', false), set_config('tcp_keepalives_count', '2', false)
;
SELECT shape, machine, nano_units, coalesce((receipt ->> 'netNanoUsd')::bigint, full_cost), convert_to(inputs::text, 'UTF8') FROM runs
		WHERE tool_id = $1 AND status = 'succeeded' AND (nano_units > 0 OR full_cost > 0) AND quote ->> 'parts' IS NULL ORDER BY ended_at DESC LIMIT $2
;
SELECT since FROM user_link_guesses WHERE guesser = $1 AND wrong >= $2 AND since > $3
;
SELECT size, mime, coalesce(width, 0), coalesce(height, 0), name, created_at
		FROM assets WHERE hash = $1
;
SELECT slug FROM sites WHERE platform IS NOT NULL AND off_since IS NULL
;
SELECT spend_limit FROM user_keys WHERE user_id = (SELECT coalesce(o.merged_into, o.id) FROM users o WHERE o.id = $1) AND $2 || id = $3
;
SELECT status, count(*) FROM runs WHERE ended_at IS NULL GROUP BY status
;
SELECT step FROM canvas_changes WHERE scene_id = $1 AND version > $2
;
SELECT subject_version, parts #> '{main,refs,0}' FROM chat_deliveries
		WHERE account_id = $1 AND subject = $2 AND platform = $3 AND run_id <> $4
			AND parts #>> '{main,refs,0,chat}' = $5 AND coalesce(parts #>> '{main,refs,0,topic}', '') = $6
		ORDER BY subject_version DESC LIMIT 1
;
SELECT t.id, t.created_at, t.kind, t.owner::text, coalesce(t.run_id::text, ''), t.amount, t.note, legs.accounts, legs.amounts
		FROM (SELECT * FROM ledger_transfers
		      WHERE ($1::uuid IS NULL OR owner = $1) AND ($3 = '' OR kind = $3) AND ($4::bigint = 0 OR id < $4)
		        AND ($2::uuid IS NULL OR key IN ('hold:' || $2::uuid::text, 'settle:' || $2::uuid::text, 'share:' || $2::uuid::text, 'share_back:' || $2::uuid::text) OR (kind = 'refund' AND run_id = $2))
		      ORDER BY id DESC LIMIT $5) t
		CROSS JOIN LATERAL (
		    SELECT coalesce(array_agg(a.kind ORDER BY l.amount, a.id), '{}') AS accounts, coalesce(array_agg(l.amount ORDER BY l.amount, a.id), '{}') AS amounts
		    FROM unnest(t.accounts, t.amounts) AS l (account, amount) JOIN ledger_accounts a ON a.id = l.account) legs
		ORDER BY t.id DESC
;
SELECT t.id, usual.cost FROM unnest($1::text[]) t (id), LATERAL (
			SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY full_cost) AS cost FROM (
				SELECT full_cost FROM runs WHERE tool_id = t.id AND status = 'succeeded' AND (nano_units > 0 OR full_cost > 0) ORDER BY ended_at DESC LIMIT $2) latest
			WHERE full_cost > 0) usual
		WHERE usual.cost IS NOT NULL
;
SELECT t.id::text AS transfer, t.created_at::text AS time, t.kind, (t.amount / 1e9)::text AS amount_usd,
			(coalesce(sum(e.amount) FILTER (WHERE a.kind = 'wallet'), 0) / 1e9)::text AS wallet_usd, (coalesce(sum(e.amount) FILTER (WHERE a.kind = 'hold'), 0) / 1e9)::text AS held_usd,
			coalesce(t.run_id::text, '') AS run, t.note
		FROM ledger_transfers t JOIN ledger_group($1) g ON t.owner = g
		CROSS JOIN LATERAL unnest(t.accounts, t.amounts) AS e (account_id, amount) JOIN ledger_accounts a ON a.id = e.account_id
		GROUP BY t.key ORDER BY t.id
;
SELECT t.id::text, t.page_id::text, t.entry_id::text, t.locale, t.title, t.about, t.content, t.status, t.publish_at, t.version, t.updated_at, coalesce(p.name, e.title) AS base
	FROM site_translations t LEFT JOIN site_pages p ON p.id = t.page_id LEFT JOIN site_entries e ON e.id = t.entry_id WHERE t.site_id = $1
;
SELECT t.id::text, t.page_id::text, t.entry_id::text, t.locale, t.title, t.about, t.content, t.status, t.publish_at, t.version, t.updated_at, coalesce(p.name, e.title) AS base
	FROM site_translations t LEFT JOIN site_pages p ON p.id = t.page_id LEFT JOIN site_entries e ON e.id = t.entry_id WHERE t.site_id = $1
		AND (t.page_id = ANY ($2::uuid[]) OR t.entry_id = ANY ($2::uuid[])) AND ($3 = '' OR t.locale = $3) AND (NOT $4 OR t.status = 'published') ORDER BY t.locale
;
SELECT t.id::text, t.page_id::text, t.entry_id::text, t.locale, t.title, t.about, t.content, t.status, t.publish_at, t.version, t.updated_at, coalesce(p.name, e.title) AS base
	FROM site_translations t LEFT JOIN site_pages p ON p.id = t.page_id LEFT JOIN site_entries e ON e.id = t.entry_id WHERE t.site_id = $1 AND t.locale = $2 AND (t.page_id = $3 OR t.entry_id = $4) FOR UPDATE OF t
;
SELECT t.key, t.kind, t.owner::text, coalesce(t.run_id::text, ''), t.amount, t.note
		FROM unnest($1::text[]) AS k (key) CROSS JOIN LATERAL (SELECT key, kind, owner, run_id, amount, note FROM ledger_transfers WHERE ledger_transfers.key = k.key LIMIT 1) t
;
SELECT t.key, t.kind, t.owner::uuid, nullif(t.run, '')::uuid, t.amount, t.note,
			array_remove(ARRAY[t.a1, t.a2, t.a3, t.a4], 0), array_remove(ARRAY[t.m1, t.m2, t.m3, t.m4], 0)
		FROM (SELECT unnest($1::text[]) AS key, unnest($2::text[]) AS kind, unnest($3::text[]) AS owner, unnest($4::text[]) AS run,
			unnest($5::bigint[]) AS amount, unnest($6::text[]) AS note, unnest($7::bigint[]) AS a1, unnest($8::bigint[]) AS a2,
			unnest($9::bigint[]) AS a3, unnest($10::bigint[]) AS a4, unnest($11::bigint[]) AS m1, unnest($12::bigint[]) AS m2,
			unnest($13::bigint[]) AS m3, unnest($14::bigint[]) AS m4) t
;
SELECT to_regclass($1) IS NOT NULL
;
SELECT to_regclass('users') IS NOT NULL
;
SELECT tool_id FROM user_presets WHERE user_id = (SELECT coalesce(o.merged_into, o.id) FROM users o WHERE o.id = $1) GROUP BY tool_id ORDER BY max(updated_at) DESC, tool_id
;
SELECT tool_id, count(*) FROM runs WHERE status = 'queued' AND claimed_by IS NULL AND claims = 0 AND NOT waiting AND service = $1
		GROUP BY tool_id
;
SELECT tool_id, field, convert_to(value::text, 'UTF8') AS value FROM place_preferences
		WHERE platform = $1 AND kind = $2 AND place = $3 AND tool_id = ANY ($4)
;
SELECT tool_id, field, convert_to(value::text, 'UTF8') AS value FROM user_preferences WHERE user_id = (SELECT coalesce(o.merged_into, o.id) FROM users o WHERE o.id = $1) AND tool_id = ANY ($2)
;
SELECT tool_id, field, value FROM user_preferences WHERE user_id = $1 ORDER BY tool_id, field
;
SELECT tool_id, name FROM user_presets WHERE user_id = $1 ORDER BY tool_id, key
;
SELECT tool_id, name, convert_to(fields::text, 'UTF8'), updated_at FROM user_presets
		WHERE user_id = (SELECT coalesce(o.merged_into, o.id) FROM users o WHERE o.id = $1) AND tool_id = ANY ($2) ORDER BY key, array_position($2, tool_id)
;
SELECT tool_id, name, fields, updated_at FROM user_presets WHERE user_id = $1 ORDER BY tool_id, key
;
SELECT tool_id, uses FROM chat_uses
;
SELECT tool_id, v.definition FROM registry_current c JOIN registry_tool_versions v USING (tool_id, version)
		WHERE v.definition::text LIKE '%"migrations":%' ORDER BY tool_id
;
SELECT tool_id, version, coalesce(status, 'null') FROM registry_current
;
SELECT tool_id, version, number, instead, by_whom, pinned_at FROM registry_pins ORDER BY tool_id, number, instead
;
SELECT touches FROM site_shown WHERE account_id = $1 AND site_id = $2 AND tool = $3 AND subject = $4 AND shown_at > now() - make_interval(secs => $5)
;
SELECT u.id::text AS id, u.display_name, u.language, u.operator, u.created_at FROM user_identities i JOIN users u ON u.id = i.user_id
		WHERE i.platform = $1 AND i.external_id = $2
;
SELECT u.id::text AS id, u.display_name, u.language, u.operator, u.created_at FROM user_link_codes c JOIN users u ON u.id = c.user_id
			WHERE c.hash = $1 AND c.expires_at > $2 AND coalesce(c.tried_by, $3) = $3 FOR UPDATE OF c
;
SELECT u.id::text AS id, u.display_name, u.language, u.operator, u.created_at FROM users u WHERE id = (SELECT coalesce(o.merged_into, o.id) FROM users o WHERE o.id = $1)
;
SELECT u.id::text AS id, u.display_name, u.language, u.operator, u.created_at FROM users u WHERE operator AND merged_into IS NULL ORDER BY id
;
SELECT u.id::text AS id, u.display_name, u.language, u.operator, u.created_at FROM users u WHERE u.id = $1
;
SELECT u.id::text AS id, u.display_name, u.language, u.operator, u.created_at FROM users u WHERE u.id = (SELECT coalesce(o.merged_into, o.id) FROM users o WHERE o.id = $1) FOR UPDATE
;
SELECT u.id::text AS id, u.display_name, u.language, u.operator, u.created_at FROM users u WHERE u.id IN (users_now($1), users_now($2)) ORDER BY u.id FOR UPDATE
;
SELECT u.id::text AS id, u.display_name, u.language, u.operator, u.created_at FROM users u WHERE u.merged_into IS NULL
		AND ($1 = '' OR u.id = users_now(nullif($2, '')::uuid) OR strpos(lower(u.display_name), lower($1)) > 0
			OR EXISTS (SELECT FROM user_identities i WHERE i.user_id = u.id AND (i.external_id = $1 OR strpos(lower(i.name), lower($1)) > 0 OR strpos(lower(i.handle), lower($1)) > 0)))
		AND ($3 = '' OR EXISTS (SELECT FROM user_identities i WHERE i.user_id = u.id AND i.platform = $3))
		AND (NOT $4 OR u.operator)
		AND (NOT $5 OR EXISTS (SELECT FROM access_rules r WHERE r.kind = 'account' AND r.subject = u.id::text AND NOT r.allow AND r.where_kind = ''))
		AND ($6 = '' OR u.id < nullif($6, '')::uuid)
		ORDER BY u.id DESC LIMIT $7
;
SELECT u.id::text AS id, u.display_name, u.language, u.operator, u.created_at, i.name, i.handle, i.language FROM user_identities i JOIN users u ON u.id = i.user_id
		WHERE i.platform = $1 AND i.external_id = $2
;
SELECT u.id::text AS id, u.display_name, u.language, u.operator, u.created_at, k.id, k.spend_limit, k.agent, coalesce(k.last_used_at > now() - interval '1 minute', false)
		FROM user_keys k JOIN users u ON u.id = k.user_id WHERE k.hash = $1
;
SELECT u.id::text, u.merged_into::text FROM users u WHERE u.merged_into IN (
			SELECT user_id FROM user_limits UNION SELECT user_id FROM user_mutes UNION SELECT subject::uuid FROM access_rules WHERE kind = 'account')
;
SELECT until FROM user_mutes WHERE user_id = $1
;
SELECT user_id::text FROM user_identities WHERE platform = $1 AND external_id = $2
;
SELECT user_id::text, own, at_once, per_day, streams, day_cap, month_cap, upload_bytes, result_bytes, confirm_percent FROM user_limits
;
SELECT user_id::text, own, at_once, per_day, streams, day_cap, month_cap, upload_bytes, result_bytes, confirm_percent FROM user_limits WHERE user_id = $1
;
SELECT user_id::text, platform, external_id, name, handle, language, created_at FROM user_identities
		WHERE user_id = ANY ($1::text[]::uuid[]) ORDER BY created_at, platform, external_id
;
SELECT user_id::text, until FROM user_mutes
;
SELECT user_id::text, until FROM user_mutes WHERE until > $1 ORDER BY until DESC
;
SELECT users_now($1)::text
;
SELECT v.definition FROM registry_current c
		JOIN registry_tool_versions v USING (tool_id, version)
		WHERE c.tool_id = ANY($1)
;
SELECT v.hint, v.credit, v.note, v.by_whom, v.created_at, v.expires_at, v.redeemed_at, coalesce(p.number, 0)
		FROM payment_vouchers v LEFT JOIN payments p ON p.id = v.payment ORDER BY v.created_at DESC, v.hash LIMIT $1
;
SELECT version FROM access_version
;
SELECT version, first_seen_at FROM registry_tool_versions
		WHERE tool_id = $1 ORDER BY first_seen_at DESC, version
;
SELECT version, step FROM canvas_changes WHERE scene_id = $1 AND NOT undone AND tool NOT IN ('undo', 'redo') ORDER BY version DESC LIMIT 1
;
SELECT version, took, step FROM canvas_changes u
		WHERE scene_id = $1 AND NOT undone AND tool = 'undo' AND NOT EXISTS (
			SELECT FROM canvas_changes l WHERE l.scene_id = u.scene_id AND l.version > u.version AND l.tool NOT IN ('undo', 'redo'))
		ORDER BY version DESC LIMIT 1
;
SELECT w.id, w.run_id::text, r.tool_id, w.created_at, w.landing_at IS NOT NULL
		FROM web_shares w JOIN runs r ON r.id = w.run_id
		WHERE NOT $1 OR w.landing_at IS NOT NULL ORDER BY w.created_at DESC LIMIT 100
;
SELECT way, agent, address, created_at, seen_at, expires_at FROM user_sessions WHERE user_id = $1 ORDER BY created_at
;
UPDATE access_rules SET subject = ($2::uuid)::text WHERE kind = 'account' AND subject = ($1::uuid)::text
;
UPDATE access_rules f SET subject = $3 WHERE kind = 'chat' AND platform = $1 AND subject = $2 AND NOT EXISTS (
				SELECT FROM access_rules t WHERE t.kind = 'chat' AND t.platform = $1 AND t.subject = $3
					AND t.where_platform = f.where_platform AND t.where_kind = f.where_kind AND t.where_id = f.where_id)
;
UPDATE access_rules f SET where_id = $3 WHERE where_platform = $1 AND where_kind = 'chat' AND where_id = $2 AND NOT EXISTS (
				SELECT FROM access_rules t WHERE t.kind = f.kind AND t.platform = f.platform AND t.subject = f.subject
					AND t.where_platform = $1 AND t.where_kind = 'chat' AND t.where_id = $3)
;
UPDATE access_rules i SET allow = i.allow AND f.allow FROM access_rules f
	 WHERE i.kind = 'account' AND f.kind = 'account' AND i.subject = ($2::uuid)::text AND f.subject = ($1::uuid)::text
	 AND (i.where_platform, i.where_kind, i.where_id) = (f.where_platform, f.where_kind, f.where_id)
;
UPDATE access_tools SET place = $3 WHERE platform = $1 AND kind = 'chat' AND place = $2 AND NOT EXISTS (
				SELECT FROM access_tools t WHERE t.platform = $1 AND t.kind = 'chat' AND t.place = $3)
;
UPDATE agent_conversations c SET name = $2
		WHERE name = $1 AND NOT EXISTS (SELECT FROM agent_conversations o WHERE o.account_id = c.account_id AND o.name = $2)
;
UPDATE agent_questions SET account_id = $2 WHERE account_id = $1
;
UPDATE agent_questions SET alive_at = now() WHERE id = ANY ($1::uuid[]) AND ended_at IS NULL
;
UPDATE agent_questions SET ended_at = now(), charged = least(cost, held), stop = $2,
			answer = CASE WHEN forgotten THEN '' ELSE $3 END, error = CASE WHEN forgotten THEN '' ELSE $4 END WHERE id = $1
;
UPDATE agent_questions SET question = '', answer = '', error = '', conversation = '', forgotten = true WHERE account_id = $1
;
UPDATE canvas_changes SET undone = $3 WHERE scene_id = $1 AND version = $2
;
UPDATE canvas_scenes SET current = false WHERE account_id = $1 AND session = $2 AND current
;
UPDATE canvas_scenes SET version = $2, page = $3, title = $4, changed_at = now() WHERE id = $1
;
UPDATE canvas_scenes s SET account_id = $2,
			current = current AND NOT EXISTS (SELECT FROM canvas_scenes o WHERE o.account_id = $2 AND o.session = s.session AND o.current)
		WHERE account_id = $1
;
UPDATE canvas_scenes s SET session = $2,
			current = current AND NOT EXISTS (SELECT FROM canvas_scenes o WHERE o.account_id = s.account_id AND o.session = $2 AND o.current)
		WHERE session = $1
;
UPDATE chat_deliveries SET account_id = $2 WHERE account_id = $1
;
UPDATE chat_deliveries SET finished_at = coalesce(finished_at, now()), missed_at = NULL WHERE run_id = $1
;
UPDATE chat_deliveries SET missed_at = now(), offered_at = NULL WHERE run_id = $1 AND finished_at IS NULL
;
UPDATE chat_deliveries SET offered_at = NULL WHERE run_id = ANY($1::uuid[])
;
UPDATE chat_deliveries SET offered_at = now()
		WHERE run_id IN (
			SELECT run_id FROM chat_deliveries
			WHERE account_id = $1 AND platform = $2 AND missed_at IS NOT NULL AND offered_at IS NULL
			ORDER BY missed_at DESC LIMIT 10 FOR UPDATE SKIP LOCKED)
		RETURNING run_id::text
;
UPDATE chat_deliveries SET parts = $2 WHERE run_id = $1
;
UPDATE chat_deliveries SET subject = $2, subject_version = $3 WHERE run_id = $1
;
UPDATE chat_keyboards SET account_id = $2 WHERE account_id = $1
;
UPDATE chat_keyboards SET state = jsonb_set(state, '{stands}', to_jsonb($3::text)) WHERE platform = $1 AND state ->> 'stands' = $2
;
UPDATE chat_keyboards SET state = jsonb_set(state, '{view,place,ID}', to_jsonb($3::text))
			WHERE platform = $1 AND state #>> '{view,place,Kind}' = 'chat' AND state #>> '{view,place,ID}' = $2
;
UPDATE chat_keyboards SET used = CASE WHEN used ? $2 THEN used ELSE used || jsonb_build_object($2::text, $3::text) END
		WHERE id = $1 RETURNING used ->> $2
;
UPDATE chat_keyboards SET used = used - $2 WHERE id = $1
;
UPDATE chat_keyboards SET used = used || jsonb_build_object($2::text, $4::text || ' ' || $3::text)
		WHERE id = $1 AND (NOT used ? $2 OR used ->> $2 < $5 COLLATE "C" OR substr(used ->> $2, 25) = $3)
;
UPDATE chat_marks SET account_id = $2 WHERE account_id = $1
;
UPDATE chat_prompts SET message_id = $2, state = $3 WHERE id = $1
;
UPDATE chat_prompts SET state = jsonb_set(state, '{view,place,ID}', to_jsonb($3::text))
			WHERE platform = $1 AND chat = $3 AND state #>> '{view,place,Kind}' = 'chat' AND state #>> '{view,place,ID}' = $2
;
UPDATE chat_prompts f SET account_id = $2 WHERE account_id = $1
		 AND NOT EXISTS (SELECT FROM chat_prompts i WHERE i.account_id = $2 AND i.platform = f.platform AND i.chat = f.chat)
;
UPDATE chat_prompts f SET chat = $3, message_id = '' WHERE platform = $1 AND chat = $2
			AND NOT EXISTS (SELECT FROM chat_prompts t WHERE t.platform = $1 AND t.chat = $3 AND t.account_id = f.account_id)
;
UPDATE chat_questions SET account_id = $2 WHERE account_id = $1
;
UPDATE chat_questions SET chat = $3, message_id = '', state = jsonb_set(state, '{where,chat,chat}', to_jsonb($3::text)) WHERE platform = $1 AND chat = $2
;
UPDATE chat_questions SET message_id = $4, field = $5, state = $6 WHERE run_id = $1 AND id = $2 AND field = $3
;
UPDATE chat_updates SET answer = $3 WHERE platform = $1 AND update_id = $2
;
UPDATE chat_updates SET claimed_by = NULL
		WHERE platform = $1 AND update_id = ANY ($2) AND claimed_by = $3 AND handled_at IS NULL RETURNING update_id
;
UPDATE chat_updates SET claimed_by = NULL WHERE handled_at IS NULL AND claimed_by = $1
;
UPDATE chat_updates SET handled_at = now(), body = NULL WHERE platform = $1 AND update_id = $2 AND handled_at IS NULL
;
UPDATE discord_interactions SET answered = $2, used = $3 WHERE id = $1
;
UPDATE discord_starts SET starts = $2 WHERE application_id = $1
;
UPDATE exports SET account_id = $2 WHERE account_id = $1
;
UPDATE exports SET state = 'failed', expires_at = $2 WHERE id = $1 AND state = 'making'
;
UPDATE exports SET state = 'ready', hash = $2, bytes = $3, expires_at = $4 WHERE id = $1 AND state = 'making' RETURNING id::text, account_id::text, state, bytes, requested_at, expires_at, coalesce('asset:' || hash, '')
;
UPDATE fleet_signals SET told = $1, told_at = $2
;
UPDATE gallery_items SET account_id = $2 WHERE account_id = $1
;
UPDATE group_gifts SET account_id = $2 WHERE account_id = $1
;
UPDATE group_gifts SET account_id = NULL WHERE account_id = $1
;
UPDATE group_gifts SET fund = $2 WHERE fund = $1
;
UPDATE group_parties SET group_id = $2 WHERE group_id = $1
;
UPDATE group_parties SET left_over = $2 WHERE id = $1
;
UPDATE group_parties SET told_at = $2 WHERE id = $1
;
UPDATE group_parties p SET chat = jsonb_set(p.chat::jsonb, '{chat,chat}', to_jsonb($3::text))::json
			FROM groups g WHERE g.id = p.group_id AND g.platform = $1 AND g.kind = 'chat' AND g.place = $3 AND p.chat #>> '{chat,chat}' = $2
;
UPDATE groups SET chat = jsonb_set(chat::jsonb, '{chat,chat}', to_jsonb($3::text))::json
			WHERE platform = $1 AND kind = 'chat' AND place = $3 AND chat #>> '{chat,chat}' = $2
;
UPDATE groups SET closed_at = $2 WHERE id = $1
;
UPDATE groups SET closed_at = $4 WHERE platform = $1 AND kind = $2 AND place = $3 AND closed_at IS NULL RETURNING id::text
;
UPDATE groups SET pays = $2, day_budget = $3, month_budget = $4, member_budget = $5, guest_runs = $6 WHERE id = $1
;
UPDATE groups SET place = $3 WHERE platform = $1 AND kind = 'chat' AND place = $2
;
UPDATE house_key SET fingerprint = $1
;
UPDATE knowledge_chunks SET embedding = NULL WHERE source_id = $1 AND $2 AND embedding IS NOT NULL
;
UPDATE knowledge_chunks c SET embedding = n.embedding FROM unnest($1::bigint[], $2::bytea[]) AS n (id, embedding)
		WHERE c.id = n.id AND n.embedding IS NOT NULL
;
UPDATE knowledge_sources SET problem = $2 WHERE id = $1
;
UPDATE knowledge_sources SET refreshed_at = NULL, problem = '' WHERE id = $1
;
UPDATE knowledge_sources SET refreshed_at = now(), problem = $2 WHERE id = $1
;
UPDATE knowledge_sources SET version = version + 1, language = $2, chunks = (SELECT count(*) FROM knowledge_chunks WHERE source_id = $1) WHERE id = $1
;
UPDATE knowledge_sources s SET embeddings = $2, version = version + 1,
		dimension = coalesce((SELECT length(embedding) / 4 FROM knowledge_chunks WHERE source_id = s.id AND embedding <> '' LIMIT 1), 0)
		WHERE id = $1 AND ($3 OR embeddings <> $2)
;
UPDATE knowledge_sources s SET owner = $2, name = CASE WHEN EXISTS (
			SELECT FROM knowledge_sources o WHERE o.owner = $2 AND lower(o.name) = lower(s.name)) THEN left(s.name, 40) || '-' || s.id ELSE s.name END
		WHERE owner = $1
;
UPDATE knowledge_sources s SET refreshed_at = now() WHERE id = $1 RETURNING s.id, s.tool_id, s.name, s.title, s.description, coalesce(s.owner::text, ''), s.origin, s.address, s.access, s.readers, s.language, s.chunks, s.problem, s.version, s.embeddings
;
UPDATE ledger_accounts SET merged_root = $2 WHERE merged_root = $1
;
UPDATE ledger_accounts f SET merged_into = i.owner, merged_root = i.owner,
			credit_back = CASE WHEN f.merged_into IS NULL THEN ledger_welcomed(i.owner) ELSE f.credit_back END
		FROM ledger_accounts i
		WHERE f.owner = $1 AND i.owner = $2 AND i.kind = 'wallet' AND i.merged_into IS NULL AND (f.merged_into IS NULL OR f.merged_into = i.owner)
;
UPDATE ledger_transfers t SET created_at = a.came FROM (SELECT unnest($1::text[])::uuid AS id, 'epoch'::timestamptz + unnest($2::bigint[]) * interval '1 microsecond' AS came) a WHERE t.run_id IS NULL AND t.owner = a.id
;
UPDATE ledger_transfers t SET created_at = t.created_at - m.by FROM (SELECT unnest($1::text[])::uuid AS id, unnest($2::bigint[]) * interval '1 microsecond' AS by) m WHERE t.run_id = m.id
;
UPDATE mission_legs SET status = $3, run_id = nullif($4, '')::uuid, failure = $5, in_doubt = $6, ended_at = $7, undo_inputs = $8, reference = $9,
				undo = $10, undo_since = $11, undo_tries = $12, undo_error = $13, undone_at = $14
			WHERE mission_id = $1 AND position = $2
;
UPDATE mission_legs SET status = 'skipped' WHERE mission_id = $1
;
UPDATE missions SET account_id = $2 WHERE account_id = $1
;
UPDATE missions SET forgotten = true, canceled = true WHERE account_id = $1
;
UPDATE missions SET idempotency_key = NULL WHERE account_id = $1 AND idempotency_key IN (SELECT idempotency_key FROM missions WHERE account_id = $2)
;
UPDATE missions SET origin_target = jsonb_set(origin_target, '{chat,chat}', to_jsonb($3::text))
		WHERE origin_platform = $1 AND origin_target #>> '{chat,chat}' = $2
;
UPDATE missions SET untold = false WHERE id = $1
;
UPDATE missions SET version = version + 1
;
UPDATE moderation_appeals SET account_id = $2 WHERE account_id = $1
;
UPDATE moderation_appeals SET granted = $2, answer = $3, answered_at = $4, answered_by = $5 WHERE id = $1 AND answered_at IS NULL RETURNING account_id::text
;
UPDATE moderation_reports SET account_id = $2 WHERE account_id = $1
;
UPDATE moderation_reports SET chat = $3 WHERE platform = $1 AND chat = $2
;
UPDATE moderation_reports SET reporter = $2 WHERE reporter = $1
;
UPDATE moderation_reports SET reporter = NULL, words = '' WHERE reporter = $1
;
UPDATE moderation_strikes SET account_id = $2 WHERE account_id = $1
;
UPDATE moderation_strikes SET lifted_at = $2 WHERE account_id = $1 AND lifted_at IS NULL
;
UPDATE moderation_strikes SET lifted_at = $2 WHERE id = $1 AND lifted_at IS NULL RETURNING account_id::text
;
UPDATE moderation_takedowns SET account_id = $2 WHERE account_id = $1
;
UPDATE payment_orders SET paid_at = coalesce(paid_at, $2) WHERE id = $1
;
UPDATE payment_vouchers SET payment = $2 WHERE hash = $1
;
UPDATE payment_vouchers SET redeemed_at = $2 WHERE hash = $1 AND redeemed_at IS NULL AND (expires_at IS NULL OR expires_at > $2) RETURNING credit, note
;
UPDATE payments SET account_id = $2, order_id = nullif($3, '')::uuid, product = $4, title = $5, currency = $6, amount = $7, credit = $8, tax = $9,
			subscription = $10, paid_at = $11, payer = $12
		WHERE id = $1 AND paid_at IS NULL
;
UPDATE payments SET credited = $2, returned = $3, absorbed = $4, disputed = $5, step = $6 WHERE id = $1
;
UPDATE place_preferences f SET place = $3 WHERE platform = $1 AND kind = 'chat' AND place = $2 AND NOT EXISTS (
				SELECT FROM place_preferences t WHERE t.platform = $1 AND t.kind = 'chat' AND t.place = $3 AND t.tool_id = f.tool_id AND t.field = f.field)
;
UPDATE registry_renames SET tool_id = $2 WHERE tool_id = $1
;
UPDATE remote_tools SET headers = $2 WHERE key = $1 AND headers = $3
;
UPDATE run_questions SET reply = $3 WHERE run_id = $1 AND id = $2 AND reply IS NULL AND until > $4
;
UPDATE run_stops SET error = $2 WHERE run_id = $1
;
UPDATE runs SET account_id = $2 WHERE account_id = $1
;
UPDATE runs SET claimed_by = NULL WHERE id = $1 AND claimed_by = $2 AND ended_at IS NULL
;
UPDATE runs SET claimed_by = NULL WHERE id = $1 AND claimed_by IS NOT NULL
;
UPDATE runs SET claimed_by = NULL WHERE id = $1 AND ended_at IS NOT NULL AND delivered_at IS NULL
;
UPDATE runs SET claimed_by = NULL WHERE id IN (
		SELECT id FROM runs WHERE ended_at IS NULL AND claimed_by = $1 ORDER BY id FOR UPDATE)
;
UPDATE runs SET claimed_by = NULL WHERE id IN (
		SELECT id FROM runs WHERE id >= $2 AND claimed_by = $1 AND deliverable AND ended_at IS NOT NULL AND delivered_at IS NULL ORDER BY id FOR UPDATE)
		RETURNING id::text
;
UPDATE runs SET claimed_by = NULL, claims = 0 WHERE id = $1 AND claimed_by = $2 AND ended_at IS NULL
;
UPDATE runs SET context = jsonb_set(context::jsonb, '{sessionId}', to_jsonb($2::text))::json
		WHERE ended_at IS NULL AND context ->> 'sessionId' = $1
;
UPDATE runs SET deleted_at = now() WHERE account_id = $1 AND ended_at IS NULL
;
UPDATE runs SET delivered_at = $2 WHERE id = ANY ($1::text[]::uuid[]) AND ended_at IS NOT NULL AND delivered_at IS NULL
;
UPDATE runs SET files_deleted_at = now() WHERE ended_at < $1 AND files_deleted_at IS NULL
;
UPDATE runs SET group_id = $2 WHERE group_id = $1
;
UPDATE runs SET inputs = '{}', sources = '{}', outputs = NULL, target = NULL, context = NULL, preview = NULL, idempotency_key = NULL, deliverable = false,
	deleted_at = coalesce(deleted_at, now()) WHERE account_id = $1 AND ended_at IS NOT NULL
;
UPDATE runs SET outputs = $2 WHERE id = $1
;
UPDATE runs SET payer = $2 WHERE payer = $1
;
UPDATE runs SET refunded_at = $2, receipt = $3 WHERE id = $1
;
UPDATE runs SET status = $2, fraction = $3, stage = $4, queue_position = $5, attempt = $6, ticket = $7, provider_id = $8,
			started_at = coalesce(started_at, $9), notice = $10, running_at = CASE WHEN $2 = 'running' THEN coalesce(running_at, $11) END, expected_at = $12
		WHERE id = $1 AND ended_at IS NULL
;
UPDATE runs SET status = 'queued', waiting = $2, confirmed_at = $3, granted = $4, payer = nullif($5, '')::uuid WHERE id = $1
;
UPDATE runs SET target = jsonb_set(target::jsonb, '{chat,chat}', to_jsonb($3::text))::json
		WHERE platform = $1 AND target::text LIKE '%"' || $2 || '"%' AND target #>> '{chat,chat}' = $2
;
UPDATE runs SET ticket = $2, attempt = $3, started_at = coalesce(started_at, $4), notice = CASE notice WHEN 'waiting' THEN '' ELSE notice END WHERE id = $1 AND ended_at IS NULL
;
UPDATE runs SET ticket = $2, provider_id = $3 WHERE id = $1 AND ticket IS NULL
;
UPDATE runs f SET idempotency_key = NULL FROM runs i WHERE f.account_id = $1 AND i.account_id = $2 AND i.idempotency_key = f.idempotency_key
;
UPDATE runs r SET account_id = u.merged_into, idempotency_key = NULL FROM users u
		WHERE r.id >= $1 AND u.id = r.account_id AND u.merged_into IS NOT NULL
;
UPDATE runs r SET created_at = r.created_at - m.by, confirmed_at = r.confirmed_at - m.by, started_at = r.started_at - m.by, running_at = r.running_at - m.by,
				expected_at = r.expected_at - m.by, ended_at = r.ended_at - m.by, delivered_at = r.delivered_at - m.by, refunded_at = r.refunded_at - m.by
				FROM (SELECT unnest($1::text[])::uuid AS id, unnest($2::bigint[]) * interval '1 microsecond' AS by) m WHERE r.id = m.id
;
UPDATE runs r SET delivered_at = $2 FROM (SELECT unnest($1::text[]) AS id) d
		CROSS JOIN LATERAL (SELECT ctid AS place FROM runs WHERE id = d.id::uuid LIMIT 1) f
	WHERE r.ctid = f.place AND CASE WHEN f.place IS NOT NULL THEN r.ended_at IS NOT NULL AND r.delivered_at IS NULL END
;
UPDATE schedules SET next_run_at = $2, runs = runs + 1, last_run_at = $3, failures = 0
		WHERE name = $1
;
UPDATE schedules SET next_run_at = $3, failures = failures + 1, last_error = $4, last_error_at = $5
		WHERE name = $1 AND next_run_at = $2
;
UPDATE site_entries SET featured_image = NULL WHERE site_id = $1 AND featured_image = ANY ($2)
;
UPDATE site_entries SET slug = $2, title = $3, content = $4, status = $5, author = $6, excerpt = $7, category = $8, featured_image = $9,
				published_at = coalesce($11, CASE WHEN $5 = 'published' THEN now() END),
				publish_at = CASE WHEN $5 <> 'published' THEN $10::timestamptz END
			WHERE id = $1
;
UPDATE site_entries SET status = 'published', published_at = coalesce(published_at, publish_at), publish_at = NULL WHERE publish_at <= now()
;
UPDATE site_entries SET written_by = NULL WHERE written_by = $1
;
UPDATE site_history SET changed_by = NULL WHERE changed_by = $1
;
UPDATE site_images SET description = $3, tags = $4, categories = $5, words = to_tsvector('english', $6) WHERE site_id = $1 AND hash = $2
;
UPDATE site_nav_items SET parent_id = $2, label = $3, target_type = $4, page_id = $5, entry_id = $6, image = $7, url = $8, visible = $9,
				position = CASE WHEN parent_id IS NOT DISTINCT FROM $2::uuid THEN position ELSE $10 END
			WHERE id = $1
;
UPDATE site_nav_items child SET parent_id = n.parent_id, position = child.position + 1000000 FROM site_nav_items n
				WHERE child.parent_id = n.id AND n.id = ANY ($1::uuid[]) AND child.id <> ALL ($1::uuid[])
;
UPDATE site_nav_items n SET position = o.n - 1 FROM (
				SELECT id, row_number() OVER (PARTITION BY navigation_id, parent_id ORDER BY id = ANY ($1::uuid[]), position, id) AS n FROM site_nav_items
				WHERE navigation_id IN (SELECT navigation_id FROM site_nav_items WHERE id = ANY ($1::uuid[]))) o
			WHERE n.id = o.id AND n.position <> o.n - 1
;
UPDATE site_pages SET parent_id = $2, slug = $3, name = $4, is_protected = $5, indexing = $6, meta = $7 WHERE id = $1
;
UPDATE site_pages child SET parent_id = p.parent_id FROM site_pages p
				WHERE child.parent_id = p.id AND p.id = ANY ($1::uuid[]) AND child.id <> ALL ($1::uuid[])
;
UPDATE site_sections SET content = $2, status = $3, hidden = $4 WHERE id = $1 AND (content, status, hidden) IS DISTINCT FROM ($2::jsonb, $3::text, $4::boolean)
;
UPDATE site_sections s SET position = o.n - 1 FROM (
				SELECT id, row_number() OVER (PARTITION BY page_id ORDER BY id = ANY ($1::uuid[]), position) AS n FROM site_sections
				WHERE page_id IN (SELECT page_id FROM site_sections WHERE id = ANY ($1::uuid[]))) o
			WHERE s.id = o.id AND s.position <> o.n - 1
;
UPDATE site_sections s SET position = o.n - 1 FROM (
				SELECT id, row_number() OVER (PARTITION BY page_id ORDER BY position, version) AS n FROM site_sections
				WHERE $1 = 'section' AND page_id = (SELECT page_id FROM site_sections WHERE id::text = $2)) o
			WHERE s.id = o.id AND s.position <> o.n - 1
;
UPDATE site_translations SET status = 'published', publish_at = NULL WHERE publish_at <= now()
;
UPDATE site_translations SET title = $2, about = $3, content = $4, status = $5, publish_at = $6 WHERE id = $1
;
UPDATE sites SET locales = array_remove(locales, $2) WHERE id = $1 AND NOT EXISTS (SELECT FROM site_translations WHERE site_id = $1 AND locale = $2)
;
UPDATE sites SET locales = locales || $2::text WHERE id = $1 AND NOT $2 = ANY (locales)
;
UPDATE sites SET members_are = $2 WHERE id = $1 AND platform IS NOT NULL
;
UPDATE sites SET off_since = now(), version = version + 1 WHERE id = $1 AND platform IS NOT NULL AND off_since IS NULL
;
UPDATE sites SET place = $3, version = version + 1
		WHERE platform = $1 AND place = $2 AND NOT EXISTS (SELECT FROM sites t WHERE t.platform = $1 AND t.place = $3)
;
UPDATE sites SET title = $2, description = $3, language = $4, version = version + 1 WHERE id = $1
;
UPDATE sites s SET locales = s.locales || t.locale FROM site_translations t WHERE t.id::text = $2 AND s.id = $1 AND NOT t.locale = ANY (s.locales)
;
UPDATE telegram_bots SET commands = $2 WHERE bot_id = $1
;
UPDATE telegram_bots SET username = $2 WHERE bot_id = $1
;
UPDATE telegram_files SET used_at = now() WHERE bot_id = $1 AND media = $2 AND kind = $3
		RETURNING file_id
;
UPDATE user_identities SET name = $3, language = $4, handle = $5 WHERE platform = $1 AND external_id = $2
;
UPDATE user_identities SET user_id = $2 WHERE user_id = $1
;
UPDATE user_identities SET user_id = $3, created_at = now() WHERE platform = $1 AND external_id = $2
;
UPDATE user_identities i SET created_at = a.came FROM (SELECT unnest($1::text[])::uuid AS id, 'epoch'::timestamptz + unnest($2::bigint[]) * interval '1 microsecond' AS came) a WHERE i.user_id = a.id
;
UPDATE user_invitations SET revoked_at = now() WHERE id = $1 AND used_at IS NULL AND revoked_at IS NULL
;
UPDATE user_invitations SET used_at = now(), used_by = $2 WHERE hash = $1 AND used_at IS NULL AND revoked_at IS NULL AND expires_at > now() RETURNING id::text AS id, by_whom AS by, note, credit, created_at, expires_at, used_at, coalesce(used_by::text, '') AS used_by, revoked_at
;
UPDATE user_keys SET agent = true WHERE user_id = (SELECT coalesce(o.merged_into, o.id) FROM users o WHERE o.id = $1) AND id = $2
;
UPDATE user_keys SET last_used_at = now() WHERE hash = $1
;
UPDATE user_keys SET spend_limit = $3 WHERE user_id = (SELECT coalesce(o.merged_into, o.id) FROM users o WHERE o.id = $1) AND id = $2
;
UPDATE user_keys SET user_id = $2 WHERE user_id = $1
;
UPDATE user_link_codes SET tried_by = $2 WHERE user_id = $1 AND user_id::text <> $2
;
UPDATE user_presets SET user_id = $2, name = $5, key = lower($5) WHERE user_id = $1 AND tool_id = $3 AND key = lower($4)
			AND NOT EXISTS (SELECT FROM user_presets t WHERE t.user_id = $2 AND t.tool_id = $3 AND t.key = lower($5))
;
UPDATE user_sessions SET seen_at = now(), expires_at = now() + $2 WHERE id = $1 AND seen_at < now() - $3::interval
;
UPDATE user_sessions SET user_id = $2 WHERE user_id = $1
;
UPDATE users SET display_name = '', language = '', own_language = false, operator = false WHERE id = $1
;
UPDATE users SET language = $2, own_language = $2 <> '' WHERE id = (SELECT coalesce(o.merged_into, o.id) FROM users o WHERE o.id = $1 FOR SHARE)
;
UPDATE users SET merged_into = $2, operator = false WHERE id = $1 OR merged_into = $1
;
UPDATE users SET operator = $2 WHERE id = $1
;
UPDATE users i SET operator = i.operator OR f.operator, own_language = i.own_language OR f.own_language,
	 display_name = coalesce(nullif(i.display_name, ''), f.display_name),
	 language = CASE WHEN f.own_language AND NOT i.own_language OR i.language = '' THEN f.language ELSE i.language END
	 FROM users f WHERE f.id = $1 AND i.id = $2
;
UPDATE users u SET created_at = a.came FROM (SELECT unnest($1::text[])::uuid AS id, 'epoch'::timestamptz + unnest($2::bigint[]) * interval '1 microsecond' AS came) a WHERE u.id = a.id
;
UPDATE users u SET display_name = $2, language = CASE WHEN own_language THEN language ELSE $3 END
			WHERE id = $1 RETURNING u.id::text AS id, u.display_name, u.language, u.operator, u.created_at
;
UPDATE web_answers SET status = $4, answer = $5 WHERE account_id = $1 AND path = $2 AND key = $3
;
UPDATE web_chats c SET changes = changes + 1 FROM web_messages m WHERE m.id = $1 AND c.chat = m.chat
			RETURNING c.changes, c.paused_at IS NOT NULL
;
UPDATE web_shares SET landing_at = CASE WHEN landing_at IS NULL THEN now() END WHERE id = $1
		RETURNING landing_at IS NOT NULL
;
UPDATE webhook_endpoints SET account_id = $2 WHERE account_id = $1
;
UPDATE webhook_endpoints SET disabled_at = NULL, disabled_reason = '', failing_since = NULL, pause_until = '-infinity', pauses = 0
;
UPDATE webhook_endpoints SET failing_since = NULL, pause_until = '-infinity', pauses = 0 WHERE id = $1
;
UPDATE webhook_endpoints SET failing_since = coalesce(failing_since, $2), pause_until = greatest(pause_until, $3), pauses = CASE WHEN $4 THEN $5 + 1 ELSE pauses END,
			disabled_at = CASE WHEN $6 <> '' THEN $2::timestamptz END, disabled_reason = $6
		WHERE id = $1 AND disabled_at IS NULL
;
UPDATE webhook_events SET due_at = $2, attempts = attempts + 1
			WHERE id = ANY (ARRAY(SELECT id FROM webhook_events WHERE status = 'stored' AND due_at <= $1 ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED))
			RETURNING id, service, event_id, run_id, provider_id, state, copies, status, attempts, error, received_at, due_at, ended_at
;
UPDATE webhook_events SET status = 'stored', ended_at = NULL, attempts = 0, error = '', due_at = $1, received_at = $1
		WHERE status IN ('orphan', 'dead') AND (cardinality($2::bigint[]) = 0 OR id = ANY ($2))
;
UPDATE webhook_events e SET status = m.status, error = m.error, due_at = m.due, ended_at = m.ended
	FROM (SELECT set_config('synchronous_commit', 'off', true) AS off) quick
		CROSS JOIN unnest($1::bigint[], $2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[]) AS m (id, status, error, due, ended)
		CROSS JOIN LATERAL (SELECT ctid AS place FROM webhook_events WHERE id = m.id LIMIT 1) f
	WHERE quick.off IS NOT NULL AND e.ctid = f.place AND CASE WHEN f.place IS NOT NULL THEN e.status = 'stored' END
	RETURNING e.id
;
UPDATE webhook_messages SET next_at = $2 WHERE id = $1 AND next_at = $3
;
UPDATE webhook_messages SET next_at = $2, attempts = attempts + 1
		WHERE id = ANY (ARRAY(
			SELECT m.id FROM webhook_endpoints e CROSS JOIN LATERAL (
				SELECT p.id FROM webhook_messages p
				WHERE p.endpoint_id = e.id AND p.status = 'pending' AND p.next_at <= $1
					AND (NOT e.ordered OR NOT EXISTS (SELECT FROM webhook_messages q
						WHERE q.endpoint_id = e.id AND q.subject = p.subject AND q.sequence < p.sequence AND q.status = 'pending'))
				ORDER BY p.next_at, p.sequence LIMIT $4 FOR UPDATE SKIP LOCKED) m
			WHERE e.disabled_at IS NULL AND e.pause_until <= $1 AND e.id <> ALL ($3::uuid[]) LIMIT $5))
		RETURNING id, endpoint_id, type, subject, sequence, convert_to(data::text, 'UTF8'), payload, attempts, created_at, next_at
;
UPDATE webhook_messages SET payload = $2 WHERE id = $1
;
UPDATE webhook_messages SET status = 'delivered', ended_at = $2 WHERE id = $1 AND next_at = $3
;
UPDATE webhook_messages SET status = 'failed', ended_at = $2 WHERE id = $1 AND next_at = $3
;
UPDATE webhook_messages m SET status = 'pending', ended_at = NULL, attempts = 0, next_at = $4 WHERE m.endpoint_id::text = $2 AND m.created_at >= $3 AND m.status = 'failed' AND $1 <> ''
;
UPDATE webhook_messages m SET status = 'pending', ended_at = NULL, attempts = 0, next_at = $4 WHERE m.id::text = $3 AND m.endpoint_id = (SELECT id FROM webhook_endpoints WHERE account_id = $1 AND id::text = $2)
;
WITH changed AS (
				UPDATE web_messages SET change = $2, body = $3, media = $4, deleted = $5 WHERE id = $1 RETURNING chat)
			SELECT pg_notify('web_chat', chat) FROM changed
;
WITH closed AS (
			UPDATE moderation_reports SET state = $2, decided_at = $3, decided_by = $4
			WHERE run_id = $1 AND state = 'open' AND ($5 = '' OR platform = $5 AND chat = $6) RETURNING account_id)
		SELECT coalesce(account_id::text, '') FROM closed LIMIT 1
;
WITH ended AS (
		UPDATE runs r SET status = e.status, waiting = false, fraction = NULL, stage = '', queue_position = 0, outputs = e.outputs::json,
			cost = e.cost, full_cost = e.full_cost, nano_units = e.units, machine = e.machine, receipt = e.receipt::json, error = e.error::json,
			attempt = e.attempt, ticket = coalesce(e.ticket::json, r.ticket), started_at = coalesce(r.started_at, e.started), ended_at = e.ended,
			claimed_by = CASE WHEN e.brings AND r.deliverable THEN $16::text END
		FROM (SELECT unnest($1::text[]) AS id, unnest($2::text[]) AS account, unnest($3::text[]) AS status, unnest($4::text[]) AS outputs,
				unnest($5::bigint[]) AS cost, unnest($6::bigint[]) AS full_cost, unnest($7::bigint[]) AS units, unnest($8::text[]) AS machine,
				unnest($9::text[]) AS receipt, unnest($10::text[]) AS error, unnest($11::bigint[]) AS attempt, unnest($12::text[]) AS ticket,
				unnest($13::timestamptz[]) AS started, unnest($14::timestamptz[]) AS ended, unnest($15::boolean[]) AS brings) e
			CROSS JOIN LATERAL (SELECT ctid AS place FROM runs WHERE id = e.id::uuid LIMIT 1) f
		WHERE r.ctid = f.place AND CASE WHEN f.place IS NOT NULL THEN r.ended_at IS NULL AND r.account_id::text = e.account END
		RETURNING r.id, r.deliverable, r.target)
	SELECT ledger_insist(count(*) = cardinality($1)), array_agg(id::text), array_agg(deliverable), array_agg(convert_to(target::text, 'UTF8')) FROM ended
;
WITH ended AS (DELETE FROM user_sessions WHERE user_id = (SELECT coalesce(o.merged_into, o.id) FROM users o WHERE o.id = $1) AND way = $3 AND id::text <> $4)
		DELETE FROM user_keys WHERE user_id = (SELECT coalesce(o.merged_into, o.id) FROM users o WHERE o.id = $1) AND id = $2
;
WITH free AS MATERIALIZED (
		SELECT id FROM runs WHERE ended_at IS NULL AND claimed_by IS NULL AND claims > 0 ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED)
	UPDATE runs r SET claimed_by = $1, claims = r.claims + 1 FROM free WHERE r.id = free.id RETURNING r.id::text, r.service, r.account_id::text, false
;
WITH gone AS (DELETE FROM house_shares WHERE kind = $1 AND item = $2 AND process = $3 RETURNING item)
		SELECT pg_notify($4, $5) FROM gone
;
WITH gone AS (DELETE FROM house_shares WHERE kind = $1 AND process = $2), left_ AS (DELETE FROM house_members WHERE kind = $1 AND process = $2)
		SELECT pg_notify($3, $4)
;
WITH gone AS (DELETE FROM knowledge_lexemes WHERE source_id = $1 AND chunks = 0 RETURNING lexeme)
		DELETE FROM knowledge_trigrams t USING gone WHERE t.source_id = $1 AND t.lexeme = gone.lexeme
;
WITH gone AS (DELETE FROM moderation_appeals f WHERE f.account_id = $1 AND f.answered_at IS NULL
			AND EXISTS (SELECT FROM moderation_appeals i WHERE i.account_id = $2 AND i.answered_at IS NULL) RETURNING words)
		 UPDATE moderation_appeals i SET words = i.words || E'\n' || gone.words FROM gone WHERE i.account_id = $2 AND i.answered_at IS NULL
;
WITH kept AS (
			INSERT INTO agent_conversations (account_id, name, remembered) VALUES ($1, $2, $3)
			ON CONFLICT (account_id, name) DO UPDATE SET remembered = excluded.remembered, updated_at = now()
		)
		DELETE FROM agent_conversations WHERE account_id = $1 AND name IN (
			SELECT name FROM agent_conversations WHERE account_id = $1 AND name <> $2 ORDER BY updated_at DESC OFFSET $4)
;
WITH left_behind AS (DELETE FROM asset_owners WHERE account_id = $1 RETURNING hash)
		UPDATE assets SET put_at = '-infinity', name = '' WHERE hash IN (SELECT hash FROM left_behind)
;
WITH matching AS MATERIALIZED (SELECT kind, item_id, locale FROM site_words WHERE site_id = $1 AND locale = $5 AND words @@ to_tsquery('simple', $2)),
	compared AS (SELECT kind, item_id, locale FROM matching LIMIT $4),
	top AS (
		SELECT w.kind, w.item_id, w.locale, ts_rank(w.words, to_tsquery('simple', $2)) AS rank FROM compared JOIN site_words w USING (kind, item_id, locale)
		ORDER BY rank DESC, w.item_id LIMIT $3)
	SELECT kind, slug, collection, locale, title, updated_at, content FROM (
		SELECT t.rank, t.kind, p.slug, '' AS collection, t.locale, coalesce(nullif(l.title, ''), p.name) AS title, greatest(max(s.updated_at), l.updated_at) AS updated_at,
				jsonb_agg(s.content || coalesce(l.content -> s.id::text, '{}') ORDER BY s.position) AS content
			FROM top t JOIN site_pages p ON t.kind = 'page' AND p.id = t.item_id JOIN site_sections s ON s.page_id = p.id AND s.status = 'published' AND NOT s.hidden
			LEFT JOIN site_translations l ON l.page_id = p.id AND l.locale = t.locale
			GROUP BY t.rank, t.kind, p.id, t.locale, l.id
		UNION ALL SELECT t.rank, t.kind, e.slug, c.slug, t.locale, coalesce(nullif(l.title, ''), e.title), greatest(e.updated_at, l.updated_at),
				jsonb_build_array(coalesce(l.about, e.excerpt), e.content || coalesce(l.content, '{}'))
			FROM top t JOIN site_entries e ON t.kind = 'entry' AND e.id = t.item_id JOIN site_collections c ON c.id = e.collection_id
			LEFT JOIN site_translations l ON l.entry_id = e.id AND l.locale = t.locale) found
	ORDER BY rank DESC, updated_at DESC, slug
;
WITH mine AS MATERIALIZED (
	SELECT s.id, s.language FROM knowledge_sources s, (SELECT array_append(array_agg(platform || ':' || external_id), $1) AS own FROM user_identities WHERE user_id::text = $1) AS names WHERE (s.access = 'public' OR $1 <> '' AND (s.access = 'house' OR s.owner::text = $1 OR s.readers && names.own
	OR EXISTS (SELECT FROM knowledge_groups g WHERE g.name = ANY (s.readers) AND g.member = ANY (names.own)))) AND ($2 = '' OR s.tool_id = $2) AND NOT ($3 AND s.access = 'listed')
), terms AS MATERIALIZED (
	SELECT mine.id AS source_id, t.lexeme, t.weight, t.strong FROM mine JOIN unnest($4::text[], $5::text[], $6::float8[], $7::boolean[]) AS t (language, lexeme, weight, strong) USING (language)
), chosen AS MATERIALIZED (
	SELECT p.source_id, p.chunk_id, sum(t.weight * p.weight / (p.weight + $8)) AS score FROM terms t JOIN knowledge_postings p USING (source_id, lexeme) WHERE t.strong
	GROUP BY p.source_id, p.chunk_id ORDER BY 3 DESC, p.chunk_id LIMIT $9
)
SELECT c.chunk_id, c.score + coalesce((SELECT sum(t.weight * p.weight / (p.weight + $8)) FROM terms t JOIN knowledge_postings p USING (source_id, lexeme)
	WHERE NOT t.strong AND t.source_id = c.source_id AND p.chunk_id = c.chunk_id), 0)
FROM chosen c ORDER BY 2 DESC, 1
;
WITH moved AS (DELETE FROM agent_usage WHERE account_id = $1 RETURNING day, input, cache_read, cache_write, output)
			INSERT INTO agent_usage AS u (account_id, day, input, cache_read, cache_write, output) SELECT $2, moved.* FROM moved
			ON CONFLICT (account_id, day) DO UPDATE SET input = u.input + excluded.input, cache_read = u.cache_read + excluded.cache_read,
				cache_write = u.cache_write + excluded.cache_write, output = u.output + excluded.output
;
WITH moved AS (DELETE FROM asset_owners WHERE account_id = $1 RETURNING hash, kind, size, put_at, hidden_at)
		INSERT INTO asset_owners (account_id, hash, kind, size, put_at, hidden_at) SELECT $2::uuid, hash, kind, size, put_at, hidden_at FROM moved
		ON CONFLICT (account_id, hash) DO UPDATE SET put_at = greatest(asset_owners.put_at, excluded.put_at), hidden_at = coalesce(asset_owners.hidden_at, excluded.hidden_at)
;
WITH moved AS (DELETE FROM site_members WHERE account_id = $1 RETURNING site_id, role)
		INSERT INTO site_members AS m (site_id, account_id, role) SELECT site_id, $2, role FROM moved
		ON CONFLICT (site_id, account_id) DO UPDATE SET role = CASE
			WHEN 'owner' IN (m.role, excluded.role) THEN 'owner' WHEN 'editor' IN (m.role, excluded.role) THEN 'editor' ELSE 'author' END
;
WITH moved AS (UPDATE chains SET account_id = $2 WHERE account_id = $1 RETURNING id)
			SELECT pg_notify($3, $4) FROM moved LIMIT 1
;
WITH near AS MATERIALIZED (
	SELECT w.word, t.source_id, t.lexeme, count(*) AS common, min(w.parts) AS parts FROM knowledge_sources s, (SELECT array_append(array_agg(platform || ':' || external_id), $1) AS own FROM user_identities WHERE user_id::text = $1) AS names, unnest($4::text[], $5::text[], $6::text[], $7::int[]) AS w (language, word, part, parts)
		JOIN knowledge_trigrams t ON t.trigram = w.part WHERE t.source_id = s.id AND s.language = w.language AND (s.access = 'public' OR $1 <> '' AND (s.access = 'house' OR s.owner::text = $1 OR s.readers && names.own
	OR EXISTS (SELECT FROM knowledge_groups g WHERE g.name = ANY (s.readers) AND g.member = ANY (names.own)))) AND ($2 = '' OR s.tool_id = $2) AND NOT ($3 AND s.access = 'listed')
	GROUP BY w.word, t.source_id, t.lexeme HAVING count(*) >= greatest(1, min(w.parts) * 3 / 10) AND abs(length(t.lexeme) - length(w.word)) <= 2
), nearest AS (
	SELECT *, row_number() OVER (PARTITION BY word ORDER BY common DESC, length(lexeme), lexeme) AS place FROM near
)
SELECT n.word, n.lexeme, sum(l.chunks), max(n.common) FROM nearest n JOIN knowledge_lexemes l USING (source_id, lexeme) WHERE n.place <= $8 AND l.chunks > 0 GROUP BY n.word, n.lexeme
;
WITH new AS (
	INSERT INTO knowledge_chunks (source_id, document_id, heading, summary, text, url, source_path, breadcrumbs, has_code, code_langs, embedding, words)
	SELECT $1, document, heading, summary, text, url, path, ARRAY(SELECT jsonb_array_elements_text(crumbs::jsonb)), code,
		ARRAY(SELECT jsonb_array_elements_text(langs::jsonb)), embedding,
		setweight(to_tsvector($2::regconfig, head_words), 'A') || to_tsvector($2::regconfig, crumb_words) || to_tsvector($2::regconfig, words)
	FROM unnest($3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::boolean[], $15::bytea[])
		AS t (document, heading, summary, text, url, path, head_words, crumb_words, words, crumbs, langs, code, embedding)
	RETURNING id, words
), posted AS (
	INSERT INTO knowledge_postings (source_id, lexeme, chunk_id, weight)
	SELECT $1, w.lexeme, new.id, (cardinality(w.weights) + ($16::real - 1) * cardinality(array_positions(w.weights, 'A')))
		/ (1 - $17::real + $17::real * length(new.words) / $18::real)
	FROM new, unnest(new.words) AS w ORDER BY w.lexeme, new.id
	RETURNING lexeme
)
INSERT INTO knowledge_lexemes AS l (source_id, lexeme, chunks)
SELECT $1, lexeme, count(*) FROM posted GROUP BY lexeme ORDER BY lexeme
ON CONFLICT (source_id, lexeme) DO UPDATE SET chunks = l.chunks + excluded.chunks
RETURNING CASE WHEN xmax = 0 THEN lexeme ELSE '' END
;
WITH noted AS (
				INSERT INTO agent_turns (question_id, place, model, input, cache_read, cache_write, output, cost) VALUES ($1, $3, $4, $5, $6, $7, $8, $9)
				ON CONFLICT DO NOTHING RETURNING cost, input + cache_read + cache_write + output AS tokens)
			UPDATE agent_questions q SET cost = q.cost + n.cost, tokens = q.tokens + n.tokens, alive_at = now() FROM noted n WHERE q.id IN ($1, $2)
;
WITH o AS (SELECT account_id FROM asset_owners WHERE hash = $1 AND (hidden_at IS NULL OR $3 OR account_id::text = $2))
		SELECT account_id::text FROM o UNION SELECT u.id::text FROM o JOIN users u ON u.merged_into = o.account_id
;
WITH old AS MATERIALIZED (SELECT c.id, w.lexeme FROM knowledge_documents d JOIN knowledge_chunks c ON c.document_id = d.id, unnest(c.words) AS w
		WHERE d.source_id = $1 AND d.path = ANY ($2)) DELETE FROM knowledge_postings p USING old o WHERE p.source_id = $1 AND p.lexeme = o.lexeme AND p.chunk_id = o.id
;
WITH old AS MATERIALIZED (SELECT c.id, w.lexeme FROM knowledge_documents d JOIN knowledge_chunks c ON c.document_id = d.id, unnest(c.words) AS w
		WHERE d.source_id = $1 AND d.path = ANY ($2)) UPDATE knowledge_lexemes l SET chunks = l.chunks - o.n FROM (SELECT lexeme, count(*) AS n FROM old GROUP BY lexeme) o
		WHERE l.source_id = $1 AND l.lexeme = o.lexeme
;
WITH pending AS (SELECT account_id, sum(amount) AS amount FROM ledger_pending GROUP BY account_id)
		SELECT a.kind, count(*) AS accounts, sum(a.balance + coalesce(p.amount, 0))::bigint AS total
		FROM ledger_accounts a LEFT JOIN pending p ON p.account_id = a.id GROUP BY a.kind
		ORDER BY array_position(ARRAY['wallet', 'hold', 'debt', 'revenue', 'absorbed', 'transit', 'credit', 'stars', 'stripe', 'discord', 'voucher'], a.kind)
;
WITH place AS (
				INSERT INTO web_chats AS c (chat, changes)
				VALUES (coalesce((SELECT joined FROM web_chats WHERE chat = $1), $1), 1)
				ON CONFLICT (chat) DO UPDATE SET changes = c.changes + 1 WHERE c.paused_at IS NULL
				RETURNING chat, changes),
			told AS (SELECT pg_notify('web_chat', chat) FROM place)
			INSERT INTO web_messages (chat, change, mine, reply_to, body, media)
			SELECT chat, changes, false, nullif($2::bigint, 0), $3, $4 FROM place, told
			RETURNING id
;
WITH place AS (
				INSERT INTO web_chats AS c (chat, changes) VALUES ($1, 1)
				ON CONFLICT (chat) DO UPDATE SET changes = c.changes + 1, paused_at = NULL RETURNING changes),
			old AS (
				DELETE FROM web_messages WHERE chat = $1 AND id <=
					(SELECT id FROM web_messages WHERE chat = $1 ORDER BY id DESC OFFSET $6 LIMIT 1)),
			told AS (SELECT pg_notify('web_chat', $1) FROM place)
			INSERT INTO web_messages (chat, change, mine, nonce, reply_to, body, media)
			SELECT $1, changes, true, $2, nullif($3::bigint, 0), $4, $5 FROM place, told
			ON CONFLICT (chat, nonce) DO NOTHING
;
WITH place AS (UPDATE web_chats SET changes = changes + 1 WHERE chat = $1 RETURNING chat, changes)
		UPDATE web_messages m SET body = '{}', media = '[]', nonce = NULL, deleted = true, change = place.changes
		FROM place WHERE m.chat = place.chat
;
WITH posted AS (
		INSERT INTO ledger_transfers (key, kind, owner, run_id, amount, note, accounts, amounts)
		SELECT t.key, t.kind, t.owner::uuid, nullif(t.run, '')::uuid, t.amount, t.note,
			array_remove(ARRAY[t.a1, t.a2, t.a3, t.a4], 0), array_remove(ARRAY[t.m1, t.m2, t.m3, t.m4], 0)
		FROM (SELECT unnest($1::text[]) AS key, unnest($2::text[]) AS kind, unnest($3::text[]) AS owner, unnest($4::text[]) AS run,
			unnest($5::bigint[]) AS amount, unnest($6::text[]) AS note, unnest($7::bigint[]) AS a1, unnest($8::bigint[]) AS a2,
			unnest($9::bigint[]) AS a3, unnest($10::bigint[]) AS a4, unnest($11::bigint[]) AS m1, unnest($12::bigint[]) AS m2,
			unnest($13::bigint[]) AS m3, unnest($14::bigint[]) AS m4) t
		ON CONFLICT (key) DO NOTHING RETURNING accounts, amounts),
	sums AS (
		SELECT l.account, sum(l.amount)::bigint AS amount FROM posted, unnest(posted.accounts, posted.amounts) AS l (account, amount) GROUP BY l.account),
	balances AS (
		UPDATE ledger_accounts a SET balance = a.balance + s.amount FROM sums s WHERE a.id = s.account AND a.owner IS NOT NULL)
	INSERT INTO ledger_pending (account_id, amount) SELECT account, amount FROM sums WHERE account < 100
;
WITH posted AS (
		INSERT INTO ledger_transfers (key, kind, owner, run_id, amount, note, accounts, amounts)
		SELECT t.key, t.kind, t.owner::uuid, nullif(t.run, '')::uuid, t.amount, t.note,
			array_remove(ARRAY[t.a1, t.a2, t.a3, t.a4], 0), array_remove(ARRAY[t.m1, t.m2, t.m3, t.m4], 0)
		FROM (SELECT unnest($1::text[]) AS key, unnest($2::text[]) AS kind, unnest($3::text[]) AS owner, unnest($4::text[]) AS run,
			unnest($5::bigint[]) AS amount, unnest($6::text[]) AS note, unnest($7::bigint[]) AS a1, unnest($8::bigint[]) AS a2,
			unnest($9::bigint[]) AS a3, unnest($10::bigint[]) AS a4, unnest($11::bigint[]) AS m1, unnest($12::bigint[]) AS m2,
			unnest($13::bigint[]) AS m3, unnest($14::bigint[]) AS m4) t),
	moved AS (
		UPDATE ledger_accounts a SET balance = a.balance + s.amount
		FROM (SELECT unnest($15::bigint[]) AS account, unnest($16::bigint[]) AS amount LIMIT cardinality($15)) s
		WHERE a.id = s.account AND a.merged_into IS NULL AND NOT a.owes RETURNING a.id)
	SELECT ledger_insist((SELECT count(*) FROM moved) = cardinality($15))
;
WITH posted AS (
		INSERT INTO ledger_transfers (key, kind, owner, run_id, amount, note, accounts, amounts)
		SELECT t.key, t.kind, t.owner::uuid, nullif(t.run, '')::uuid, t.amount, t.note,
			array_remove(ARRAY[t.a1, t.a2, t.a3, t.a4], 0), array_remove(ARRAY[t.m1, t.m2, t.m3, t.m4], 0)
		FROM (SELECT unnest($1::text[]) AS key, unnest($2::text[]) AS kind, unnest($3::text[]) AS owner, unnest($4::text[]) AS run,
			unnest($5::bigint[]) AS amount, unnest($6::text[]) AS note, unnest($7::bigint[]) AS a1, unnest($8::bigint[]) AS a2,
			unnest($9::bigint[]) AS a3, unnest($10::bigint[]) AS a4, unnest($11::bigint[]) AS m1, unnest($12::bigint[]) AS m2,
			unnest($13::bigint[]) AS m3, unnest($14::bigint[]) AS m4) t),
	moved AS (
		UPDATE ledger_accounts a SET balance = a.balance + s.amount
		FROM (SELECT unnest($15::bigint[]) AS account, unnest($16::bigint[]) AS amount LIMIT cardinality($15)) s
		WHERE a.id = s.account AND a.merged_into IS NULL AND NOT a.owes RETURNING a.id),
	gathered AS (
		INSERT INTO ledger_pending (account_id, amount) SELECT unnest($17::bigint[]), unnest($18::bigint[]))
	SELECT ledger_insist((SELECT count(*) FROM moved) = cardinality($15)
		AND (SELECT count(*) FROM (SELECT unnest($19::text[]) AS key, unnest($20::text[]) AS owner, unnest($21::bigint[]) AS amount) h CROSS JOIN LATERAL
			(SELECT FROM ledger_transfers t WHERE t.key = h.key AND t.owner::text = h.owner AND t.amount = h.amount LIMIT 1) t) = cardinality($19))
;
WITH released AS (
			DELETE FROM asset_owners o WHERE account_id = $1 AND hash = ANY ($2) AND (kind = 'result' OR put_at <= $3)
				AND NOT EXISTS (SELECT FROM asset_uses u WHERE u.account_id = $1 AND u.hash = o.hash)
			RETURNING hash)
		UPDATE assets SET put_at = '-infinity' WHERE hash IN (SELECT hash FROM released)
;
WITH source AS (SELECT changes FROM web_chats WHERE chat = $1),
			target AS (
				UPDATE web_chats c SET changes = c.changes + source.changes FROM source WHERE c.chat = $2
				RETURNING c.changes - source.changes AS base),
			moved AS (
				UPDATE web_messages SET chat = $2, nonce = NULL, change = change + target.base FROM target WHERE chat = $1)
			UPDATE web_chats SET joined = $2 WHERE chat = $1 OR joined = $1
;
WITH taken AS (
			UPDATE chat_updates SET claimed_by = $2
			WHERE (platform, update_id) IN (
				SELECT platform, update_id FROM chat_updates
				WHERE handled_at IS NULL AND platform = $1 AND claimed_by IS NULL
				ORDER BY position LIMIT $3 FOR UPDATE SKIP LOCKED)
			RETURNING position, platform, update_id, body, coalesce(answer, '{}') AS answer)
		SELECT platform, update_id, body, answer FROM taken ORDER BY position
;
WITH taken AS (DELETE FROM ledger_pending RETURNING account_id, amount),
		     sums AS (SELECT account_id, sum(amount)::bigint AS amount FROM taken GROUP BY account_id)
		UPDATE ledger_accounts a SET balance = a.balance + s.amount FROM sums s WHERE a.id = s.account_id
;
WITH wallet AS (
		UPDATE ledger_accounts SET balance = balance + $3 WHERE owner = $1 AND kind = 'wallet' AND merged_into IS NULL
			AND NOT EXISTS (SELECT FROM ledger_transfers WHERE key = $2)
		RETURNING id),
	posted AS (
		INSERT INTO ledger_transfers (key, kind, owner, amount, note, accounts, amounts)
		SELECT $2, 'grant', $1, $3, $4, ARRAY[id, 1], ARRAY[$3, -$3::bigint] FROM wallet),
	gathered AS (
		INSERT INTO ledger_pending (account_id, amount) SELECT 1, -$3::bigint FROM wallet)
	SELECT EXISTS (SELECT FROM wallet)
;
WITH who AS (SELECT coalesce((SELECT merged_into FROM users WHERE id = $2), $2) AS id)
		SELECT coalesce((SELECT role FROM site_members WHERE site_id = s.id AND account_id = who.id), 'none'),
			coalesce((SELECT CASE WHEN admin THEN 'editor' ELSE s.members_are END FROM site_chat_roles
				WHERE site_id = s.id AND account_id = who.id AND told_at > now() - make_interval(secs => $3)), 'none')
		FROM sites s, who WHERE s.id = $1 AND s.off_since IS NULL
;
