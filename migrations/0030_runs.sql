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

-- +goose Down

DROP FUNCTION runs_promote(uuid, int);
DROP FUNCTION runs_full(uuid, int);
DROP FUNCTION runs_lock(uuid);
DROP TABLE runs;
DROP TABLE run_tools;
