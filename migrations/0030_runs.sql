-- +goose Up

-- A tool as some run was accepted with it, once for each version.
CREATE TABLE run_tools (
    tool_id    text NOT NULL,
    version    text NOT NULL,
    definition json NOT NULL,
    PRIMARY KEY (tool_id, version)
);

CREATE TABLE runs (
    id              uuid PRIMARY KEY, -- version 7: in order of time
    account_id      uuid NOT NULL,
    tool_id         text NOT NULL,
    tool_version    text NOT NULL,
    service         text NOT NULL,
    status          text NOT NULL,
    waiting         boolean NOT NULL DEFAULT false, -- queued behind the account's own runs, without a job
    fraction        double precision,
    stage           text NOT NULL DEFAULT '',
    queue_position  integer NOT NULL DEFAULT 0,
    inputs          json NOT NULL, -- json, not jsonb: numbers stay as they were written
    sources         json NOT NULL,
    shape           bigint NOT NULL, -- hash of the inputs that bear on the effort, see Quote
    quote           json NOT NULL,
    promised        bigint NOT NULL, -- the quote's high end, and what is held
    outputs         json,
    cost            bigint NOT NULL DEFAULT 0,
    full_cost       bigint NOT NULL DEFAULT 0,
    nano_units      bigint NOT NULL DEFAULT 0,
    machine         text NOT NULL DEFAULT '',
    receipt         json,
    error           json,
    platform        text NOT NULL,
    target          json,
    deliverable     boolean NOT NULL, -- the platform wants the result brought
    parent          uuid,
    idempotency_key text,
    attempt         integer NOT NULL DEFAULT 1,
    ticket          json,
    provider_id     text, -- the ticket's, to find the run of a provider's callback
    timeout_ms      bigint NOT NULL,
    created_at      timestamptz NOT NULL,
    started_at      timestamptz,
    ended_at        timestamptz,
    delivered_at    timestamptz,
    CONSTRAINT run_status CHECK (status IN ('awaiting_confirmation', 'queued', 'submitted', 'running', 'succeeded', 'failed', 'canceled', 'timed_out')),
    CONSTRAINT run_final_has_time CHECK ((status IN ('succeeded', 'failed', 'canceled', 'timed_out')) = (ended_at IS NOT NULL)),
    CONSTRAINT run_final_has_receipt CHECK ((ended_at IS NOT NULL) = (receipt IS NOT NULL)),
    CONSTRAINT run_delivered_after_end CHECK (delivered_at IS NULL OR ended_at IS NOT NULL),
    CONSTRAINT run_waits_queued CHECK (NOT waiting OR status = 'queued'),
    CONSTRAINT run_keeps_promise CHECK (cost BETWEEN 0 AND promised),
    CONSTRAINT run_only_success_costs CHECK (cost = 0 OR status = 'succeeded')
) WITH (fillfactor = 85);

CREATE INDEX runs_of_account ON runs (account_id, id DESC);
CREATE UNIQUE INDEX run_once ON runs (account_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX runs_open ON runs (account_id) WHERE ended_at IS NULL;
CREATE INDEX runs_undelivered ON runs (account_id, id DESC) WHERE deliverable AND ended_at IS NOT NULL AND delivered_at IS NULL;
CREATE INDEX runs_of_provider ON runs (service, provider_id) WHERE ended_at IS NULL AND provider_id IS NOT NULL;
CREATE INDEX runs_learned ON runs (tool_id, ended_at DESC) WHERE status = 'succeeded' AND nano_units > 0;

-- runs_lock serialises what counts an account's runs. Locks are taken in the order of accounts, this one
-- before the ledger's.
CREATE FUNCTION runs_lock(p_account uuid) RETURNS void LANGUAGE sql AS
    'SELECT pg_advisory_xact_lock(hashtextextended(p_account::text, 7001))';

-- runs_full reports whether the account has as many runs under way as it may; zero means no limit.
CREATE FUNCTION runs_full(p_account uuid, p_limit int) RETURNS boolean LANGUAGE sql STABLE AS
    'SELECT p_limit > 0 AND (SELECT count(*) FROM runs WHERE account_id = p_account AND ended_at IS NULL
         AND NOT waiting AND status <> ''awaiting_confirmation'') >= p_limit';

-- runs_accept writes a run and its hold. outcome is accepted (with whether it must wait for others of the
-- account), repeated (id is the first run's) or insufficient (have is the spendable balance).
-- +goose StatementBegin
CREATE FUNCTION runs_accept(p_id uuid, p_account uuid, p_tool text, p_version text, p_service text, p_status text,
    p_inputs json, p_sources json, p_shape bigint, p_quote json, p_promised bigint, p_platform text, p_target json,
    p_deliverable boolean, p_parent uuid, p_key text, p_timeout_ms bigint, p_now timestamptz, p_limit int,
    OUT outcome text, OUT id uuid, OUT waits boolean, OUT have bigint) LANGUAGE plpgsql AS $$
BEGIN
    id := p_id;
    waits := false;
    IF p_key IS NOT NULL OR p_limit > 0 THEN
        PERFORM runs_lock(p_account);
    END IF;
    IF p_key IS NOT NULL THEN
        SELECT r.id INTO id FROM runs r WHERE r.account_id = p_account AND r.idempotency_key = p_key;
        IF FOUND THEN
            outcome := 'repeated';
            RETURN;
        END IF;
        id := p_id;
    END IF;
    IF p_status = 'queued' THEN
        have := ledger_hold(p_account, p_id, p_promised);
        IF have IS NOT NULL THEN
            outcome := 'insufficient';
            RETURN;
        END IF;
        IF p_limit > 0 THEN
            waits := runs_full(p_account, p_limit);
        END IF;
    END IF;
    INSERT INTO runs (id, account_id, tool_id, tool_version, service, status, waiting, inputs, sources, shape, quote, promised,
        platform, target, deliverable, parent, idempotency_key, timeout_ms, created_at)
    VALUES (p_id, p_account, p_tool, p_version, p_service, p_status, waits, p_inputs, p_sources, p_shape, p_quote, p_promised,
        p_platform, p_target, p_deliverable, p_parent, p_key, p_timeout_ms, p_now);
    outcome := 'accepted';
END $$;
-- +goose StatementEnd

-- runs_promote lets the account's oldest waiting run go ahead, if it may, and returns it; its job is the
-- caller's to insert.
-- +goose StatementBegin
CREATE FUNCTION runs_promote(p_account uuid, p_limit int) RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
    v_next uuid;
BEGIN
    PERFORM runs_lock(p_account);
    IF runs_full(p_account, p_limit) THEN
        RETURN NULL;
    END IF;
    UPDATE runs SET waiting = false WHERE id = (
        SELECT r.id FROM runs r WHERE r.account_id = p_account AND r.ended_at IS NULL AND r.waiting
        ORDER BY r.id LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING id INTO v_next;
    RETURN v_next;
END $$;
-- +goose StatementEnd

-- runs_finish ends a run that has not ended: its final state, the end of its hold, the next run of the
-- account. The caller has locked the row. ended is false, and nothing has changed, for a run that was over.
-- +goose StatementBegin
CREATE FUNCTION runs_finish(p_id uuid, p_status text, p_outputs json, p_cost bigint, p_full_cost bigint, p_nano_units bigint,
    p_machine text, p_receipt json, p_error json, p_started timestamptz, p_now timestamptz, p_reason text, p_limit int,
    OUT ended boolean, OUT deliver boolean, OUT next uuid) LANGUAGE plpgsql AS $$
DECLARE
    v_account uuid;
    v_promised bigint;
    v_waited boolean;
BEGIN
    SELECT account_id, promised, deliverable, waiting OR status = 'awaiting_confirmation' INTO v_account, v_promised, deliver, v_waited
    FROM runs WHERE id = p_id AND ended_at IS NULL;
    ended := FOUND;
    IF NOT ended THEN
        deliver := false;
        RETURN;
    END IF;
    UPDATE runs SET status = p_status, waiting = false, fraction = NULL, stage = '', queue_position = 0, outputs = p_outputs,
        cost = p_cost, full_cost = p_full_cost, nano_units = p_nano_units, machine = p_machine, receipt = p_receipt, error = p_error,
        started_at = coalesce(started_at, p_started), ended_at = p_now
    WHERE id = p_id;
    IF v_promised > 0 THEN
        IF p_limit > 0 THEN
            PERFORM runs_lock(v_account);
        END IF;
        PERFORM ledger_settle(p_id, p_full_cost, p_reason);
    END IF;
    IF p_limit > 0 AND NOT v_waited THEN
        next := runs_promote(v_account, p_limit);
    END IF;
END $$;
-- +goose StatementEnd

-- +goose Down

DROP FUNCTION runs_finish(uuid, text, json, bigint, bigint, bigint, text, json, json, timestamptz, timestamptz, text, int);
DROP FUNCTION runs_promote(uuid, int);
DROP FUNCTION runs_accept(uuid, uuid, text, text, text, text, json, json, bigint, json, bigint, text, json, boolean, uuid, text, bigint, timestamptz, int);
DROP FUNCTION runs_full(uuid, int);
DROP FUNCTION runs_lock(uuid);
DROP TABLE runs;
DROP TABLE run_tools;
