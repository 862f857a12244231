-- +goose Up

-- A tool as some run was accepted with it, once for each version.
CREATE TABLE run_tools (
    tool_id    text NOT NULL,
    version    text NOT NULL,
    definition json NOT NULL,
    PRIMARY KEY (tool_id, version)
);

-- What must hold of a run's row stands in one function. Postgres reads the text of every condition of a table anew for each statement
-- that writes to it, which took a seventh of the work of a run; a function is compiled once for each connection.
-- +goose StatementBegin
CREATE FUNCTION run_is_sound(p_status text, p_waiting boolean, p_cost bigint, p_promised bigint, p_ended_at timestamptz, p_receipt json, p_delivered_at timestamptz)
RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN (CASE WHEN p_ended_at IS NULL
            THEN p_status IN ('awaiting_confirmation', 'queued', 'submitted', 'running') AND p_receipt IS NULL AND p_delivered_at IS NULL
            ELSE p_status IN ('succeeded', 'failed', 'canceled', 'timed_out') AND p_receipt IS NOT NULL END
        AND (NOT p_waiting OR p_status = 'queued')
        AND p_cost BETWEEN 0 AND p_promised
        AND (p_cost = 0 OR p_status IN ('succeeded', 'canceled'))) IS TRUE;
END $$;
-- +goose StatementEnd

-- A run's row is its own job: who works on it stands in it. It is written three times; the last time, the mark of the delivery, it
-- stays on its page where there is room, and then no index is written.
CREATE TABLE runs (
    id              uuid PRIMARY KEY, -- version 7: in order of time
    account_id      uuid NOT NULL,
    tool_id         text NOT NULL,
    tool_version    text NOT NULL,
    service         text NOT NULL,
    status          text NOT NULL,
    waiting         boolean NOT NULL DEFAULT false, -- behind the account's own runs
    claimed_by      text,                       -- the process that works on it, or brings its result
    claims          integer NOT NULL DEFAULT 0, -- how often somebody began to: the first one knows that nothing was submitted
    fraction        double precision,
    stage           text NOT NULL DEFAULT '',
    notice          text NOT NULL DEFAULT '', -- told beside the state: that it waits for an engine, or went to another one
    queue_position  integer NOT NULL DEFAULT 0,
    inputs          json NOT NULL, -- json, not jsonb: numbers stay as they were written
    sources         json NOT NULL,
    shape           bigint NOT NULL, -- hash of the inputs that bear on the effort, see Quote
    quote           json NOT NULL,
    promised        bigint NOT NULL, -- the quote's high end, and what is held
    budget          text, -- the pot that the run draws on, such as that of an API key
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
    context         json, -- for whom it is made: site, session, trace and the model that plans; NULL where nobody said
    granted         text[], -- the scopes of personal data that the owner granted; NULL: all that the tool names
    idempotency_key text,
    attempt         integer NOT NULL DEFAULT 1,
    ticket          json,
    provider_id     text, -- the ticket's, to find the run of a provider's callback
    timeout_ms      bigint NOT NULL,
    created_at      timestamptz NOT NULL,
    confirmed_at    timestamptz, -- when its owner let it go ahead; NULL where nobody was asked
    started_at      timestamptz,
    running_at      timestamptz, -- since when the present attempt runs at its provider: what a canceled run pays for
    expected_at     timestamptz, -- when it will be over, by how long such runs took
    ended_at        timestamptz,
    delivered_at    timestamptz,
    refunded_at     timestamptz, -- an operator gave back what it cost; the receipt says how much and why
    files_deleted_at timestamptz, -- its files are gone, its row tells so
    deleted_at      timestamptz, -- its owner deleted it; what stays is for the books
    CONSTRAINT run_is_sound CHECK (run_is_sound(status, waiting, cost, promised, ended_at, receipt, delivered_at))
) WITH (fillfactor = 60);

CREATE INDEX runs_of_account ON runs (account_id, id DESC);
CREATE UNIQUE INDEX run_once ON runs (account_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX runs_open ON runs (account_id) WHERE ended_at IS NULL;
CREATE INDEX runs_of_provider ON runs (service, provider_id) WHERE ended_at IS NULL AND provider_id IS NOT NULL;
-- A provider that charges by itself may tell the price and nothing of what was consumed: quotes learn from such runs too.
CREATE INDEX runs_learned ON runs (tool_id, ended_at DESC) WHERE status = 'succeeded' AND (nano_units > 0 OR full_cost > 0);
-- The queue is taken from by turns over the accounts, so it lies in their order, for each service apart: one may have no place while others do.
CREATE INDEX runs_queued ON runs (service, account_id, id) WHERE status = 'queued' AND claimed_by IS NULL AND claims = 0 AND NOT waiting;

-- What was begun and is nobody's, such as after a crash, comes before.
CREATE INDEX runs_begun ON runs (id) WHERE ended_at IS NULL AND claimed_by IS NULL AND claims > 0;

-- runs_lock serialises what counts an account's runs. Locks are taken in the order of accounts, this one
-- before the ledger's.
CREATE FUNCTION runs_lock(p_account uuid) RETURNS void LANGUAGE sql AS
    'SELECT pg_advisory_xact_lock(hashtextextended(p_account::text, 7001))';

-- runs_full reports whether the account has as many runs under way as it may; zero means no limit.
CREATE FUNCTION runs_full(p_account uuid, p_limit int) RETURNS boolean LANGUAGE sql STABLE AS
    'SELECT p_limit > 0 AND (SELECT count(*) FROM runs WHERE account_id = p_account AND ended_at IS NULL
         AND NOT waiting AND status <> ''awaiting_confirmation'') >= p_limit';

-- runs_promote lets the account's oldest waiting run go ahead, if it may, and returns it.
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

-- Processes that work on runs. Each holds an advisory lock on its id as long as it lives.
CREATE TABLE run_workers (
    id         text PRIMARY KEY,
    started_at timestamptz NOT NULL DEFAULT now(),
    -- A process that was found gone is looked at once more a little later: what it was about to write when its sign of life broke
    -- may have come after the first look.
    gone_at    timestamptz
);

-- Runs that went on elsewhere, as they were left where nobody answered any more: that place is told to stop them once it
-- is back. Whatever comes of them there counts for nothing.
CREATE TABLE run_copies (
    run_id  uuid        NOT NULL,
    attempt integer     NOT NULL,
    service text        NOT NULL,
    ticket  json        NOT NULL,
    since   timestamptz NOT NULL,
    next_at timestamptz NOT NULL, -- when the next try is due, by whatever process
    PRIMARY KEY (run_id, attempt)
);

CREATE INDEX run_copies_due ON run_copies (next_at);

-- Runs that ended here without a result while they may go on at their provider, where they cost money: it is told to stop
-- them. A row goes once it has; one that nobody tries any more (next_at is NULL) needs an operator.
CREATE TABLE run_stops (
    run_id  uuid        PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    since   timestamptz NOT NULL,
    tries   integer     NOT NULL DEFAULT 0,
    next_at timestamptz, -- when the next try is due, by whatever process
    error   text        NOT NULL DEFAULT ''
);

CREATE INDEX run_stops_due ON run_stops (next_at);

-- What providers want to know of runs' owners in the midst of their calls. A call is one process's: the question is open as long as that
-- process has the run, nobody replied, and its time is not over. Its row goes with it.
CREATE TABLE run_questions (
    run_id   uuid        PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    id       uuid        NOT NULL,
    asked_by text        NOT NULL, -- as in runs.claimed_by
    question json        NOT NULL,
    until    timestamptz NOT NULL,
    reply    json        -- on its way to the process that asks
);

-- +goose Down

DROP TABLE run_questions, run_stops, run_copies, run_workers, runs, run_tools;
DROP FUNCTION run_is_sound, runs_lock, runs_full, runs_promote, runs_services, runs_claim;
