-- +goose Up

-- The queue is taken from by turns over the accounts, so it lies in their order, for each service apart: one may have no place while others do.
CREATE INDEX runs_queued ON runs (service, account_id, id) WHERE status = 'queued' AND claimed_by IS NULL AND claims = 0 AND NOT waiting;

-- What was begun and is nobody's, such as after a crash, comes before.
CREATE INDEX runs_begun ON runs (id) WHERE ended_at IS NULL AND claimed_by IS NULL AND claims > 0;

DROP INDEX runs_free;

-- runs_services lists the services for which runs are in the queue.
-- +goose StatementBegin
CREATE FUNCTION runs_services() RETURNS SETOF text LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS
$$
DECLARE
    v_service text := '';
BEGIN
    LOOP
        SELECT r.service INTO v_service FROM runs r
        WHERE r.status = 'queued' AND r.claimed_by IS NULL AND r.claims = 0 AND NOT r.waiting AND r.service > v_service
        ORDER BY r.service LIMIT 1;
        EXIT WHEN NOT FOUND;
        RETURN NEXT v_service;
    END LOOP;
END $$;
-- +goose StatementEnd

-- runs_claim takes up to p_limit runs of a service from the queue for a worker: one of each account, beginning after the account p_after, then
-- the next of each, and so on. Runs of the tools p_full stay. What it looks at is bounded by p_limit, however long the queue is; only
-- runs of full tools are passed over one by one.
-- +goose StatementBegin
CREATE FUNCTION runs_claim(p_worker text, p_service text, p_after uuid, p_full text[], p_limit int) RETURNS TABLE (run uuid, account uuid) LANGUAGE plpgsql
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
            AND r.service = p_service AND r.account_id > v_account AND r.tool_id <> ALL (p_full)
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
                    AND r.service = p_service AND r.account_id = a.id AND r.tool_id <> ALL (p_full)
                ORDER BY r.id LIMIT (p_limit - 1) / cardinality(v_accounts) + 1 FOR UPDATE SKIP LOCKED) q),
        chosen AS MATERIALIZED (SELECT q.id, q.round, q.turn FROM queued q ORDER BY q.round, q.turn LIMIT p_limit),
        taken AS (
            UPDATE runs r SET claimed_by = p_worker, claims = 1 FROM chosen c WHERE r.id = c.id
            RETURNING r.id, r.account_id, c.round, c.turn)
        SELECT t.id, t.account_id FROM taken t ORDER BY t.round, t.turn;
END $$;
-- +goose StatementEnd

-- +goose Down

DROP FUNCTION runs_claim(text, text, uuid, text[], int);
DROP FUNCTION runs_services();
CREATE INDEX runs_free ON runs (id) WHERE ended_at IS NULL AND claimed_by IS NULL;
DROP INDEX runs_begun;
DROP INDEX runs_queued;
