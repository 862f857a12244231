-- +goose Up

-- runs_claim as before, but that of the tools p_full those runs are taken that were asked for in a group with a place of its own: p_kept has tool and
-- group, with a space between. The version before goes on with its own.
-- +goose StatementBegin
CREATE FUNCTION runs_claim(p_worker text, p_service text, p_after uuid, p_full text[], p_kept text[], p_limit int) RETURNS TABLE (run uuid, account uuid) LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS
$$
DECLARE
    v_accounts uuid[] := '{}';
    v_account uuid := p_after;
    v_around boolean := false; -- past the last account, and on from the first
BEGIN
    WHILE cardinality(v_accounts) < p_limit LOOP
        SELECT r.account_id INTO v_account FROM runs r
        WHERE r.status = 'queued' AND r.claimed_by IS NULL AND r.claims = 0 AND NOT r.waiting
            AND r.service = p_service AND r.account_id > v_account AND (r.tool_id <> ALL (p_full) OR r.tool_id || ' ' || r.group_id = ANY (p_kept))
        ORDER BY r.account_id LIMIT 1;
        IF FOUND AND NOT (v_around AND v_account > p_after) THEN
            v_accounts := v_accounts || v_account;
        ELSIF v_around THEN
            EXIT;
        ELSE
            v_around := true;
            v_account := '00000000-0000-0000-0000-000000000000';
        END IF;
    END LOOP;
    IF v_accounts = '{}' THEN
        RETURN;
    END IF;
    RETURN QUERY
        WITH queued AS MATERIALIZED (
            SELECT q.id, row_number() OVER (PARTITION BY a.turn ORDER BY q.id) AS round, a.turn
            FROM unnest(v_accounts) WITH ORDINALITY AS a (id, turn) CROSS JOIN LATERAL (
                SELECT r.id FROM runs r
                WHERE r.status = 'queued' AND r.claimed_by IS NULL AND r.claims = 0 AND NOT r.waiting
                    AND r.service = p_service AND r.account_id = a.id AND (r.tool_id <> ALL (p_full) OR r.tool_id || ' ' || r.group_id = ANY (p_kept))
                ORDER BY r.id LIMIT (p_limit - 1) / cardinality(v_accounts) + 1 FOR UPDATE SKIP LOCKED) q),
        chosen AS MATERIALIZED (SELECT q.id, q.round, q.turn FROM queued q ORDER BY q.round, q.turn LIMIT p_limit),
        taken AS (
            UPDATE runs r SET claimed_by = p_worker, claims = 1 FROM chosen c WHERE r.id = c.id
            RETURNING r.id, r.account_id, c.round, c.turn)
        SELECT t.id, t.account_id FROM taken t ORDER BY t.round, t.turn;
END $$;
-- +goose StatementEnd

-- Engines that sleep and are being woken: since when, when their address is called next, and how often it was.
CREATE TABLE engine_wakes (
    engine  text        PRIMARY KEY,
    since   timestamptz NOT NULL,
    next_at timestamptz NOT NULL,
    calls   integer     NOT NULL
);

-- What engines that may sleep declared when they were up (GET /object_info, gzip), so that their tools are there after a start.
CREATE TABLE engine_declarations (
    engine       text  PRIMARY KEY,
    declarations bytea NOT NULL
);

-- +goose Down

DROP TABLE engine_declarations, engine_wakes;
DROP FUNCTION runs_claim(text, text, uuid, text[], text[], int);
