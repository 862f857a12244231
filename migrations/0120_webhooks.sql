-- +goose Up

-- The inbox: callbacks of services, stored before they are answered. A row is its own job.
CREATE TABLE webhook_events (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- An event's key is compared byte by byte: its order means nothing, and comparing by a language's rules takes longer.
    service     text COLLATE "C" NOT NULL,
    event_id    text COLLATE "C" NOT NULL, -- the sender's, or made of what the callback says
    run_id      text NOT NULL, -- ours, from the address that it came to, or empty
    provider_id text NOT NULL, -- the service's id of the run, or empty
    state       text NOT NULL, -- what it says of the run; only asking the service tells whether that is true
    body        bytea NOT NULL,
    copies      integer NOT NULL DEFAULT 1, -- since it was taken up
    status      text NOT NULL DEFAULT 'stored',
    attempts    integer NOT NULL DEFAULT 0,
    error       text NOT NULL DEFAULT '',
    received_at timestamptz NOT NULL,
    due_at      timestamptz NOT NULL, -- when it is looked at next; while it is, when others may
    ended_at    timestamptz,
    CONSTRAINT webhook_event_once UNIQUE (service, event_id),
    CONSTRAINT webhook_event_status CHECK (CASE WHEN ended_at IS NULL THEN status = 'stored' ELSE status IN ('done', 'orphan', 'dead') END)
);

CREATE INDEX webhook_events_due ON webhook_events (due_at) WHERE status = 'stored';
CREATE INDEX webhook_events_left ON webhook_events (id) WHERE status IN ('orphan', 'dead');
CREATE INDEX webhook_events_received ON webhook_events USING brin (received_at);
-- What was called back about a run is its result where a service can't be asked.
CREATE INDEX webhook_events_run ON webhook_events (run_id, id) WHERE run_id <> '';

-- The outbox: where programs of our users want to hear of their runs, and what they are told.
CREATE TABLE webhook_endpoints (
    id              uuid PRIMARY KEY,
    account_id      uuid NOT NULL,
    url             text NOT NULL,
    events          text[] NOT NULL,
    ordered         boolean NOT NULL DEFAULT false, -- what is later of one run waits for what is earlier
    secret          bytea NOT NULL,                 -- encrypted
    old_secret      bytea,                          -- signs, too, until old_until
    old_until       timestamptz,
    created_at      timestamptz NOT NULL,
    disabled_at     timestamptz,
    disabled_reason text NOT NULL DEFAULT '',
    failing_since   timestamptz,                    -- nothing got through since
    pause_until     timestamptz NOT NULL DEFAULT '-infinity',
    pauses          integer NOT NULL DEFAULT 0,     -- in a row
    CONSTRAINT webhook_endpoint_old CHECK ((old_secret IS NULL) = (old_until IS NULL)),
    CONSTRAINT webhook_endpoint_disabled CHECK ((disabled_at IS NULL) = (disabled_reason = ''))
);

CREATE INDEX webhook_endpoints_of_account ON webhook_endpoints (account_id);

CREATE TABLE webhook_messages (
    id          uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    endpoint_id uuid NOT NULL REFERENCES webhook_endpoints ON DELETE CASCADE,
    type        text NOT NULL,
    subject     text NOT NULL,   -- the run
    sequence    bigint NOT NULL, -- of the subject's messages to the endpoint
    data        json,            -- what is said; empty: the run as it is when it is first said
    payload     bytea,           -- as it was first sent, since repeats are the same to the byte
    status      text NOT NULL DEFAULT 'pending',
    attempts    integer NOT NULL DEFAULT 0,
    created_at  timestamptz NOT NULL,
    next_at     timestamptz NOT NULL, -- when it is tried; while it is, when others may
    ended_at    timestamptz,
    CONSTRAINT webhook_message_order UNIQUE (endpoint_id, subject, sequence),
    CONSTRAINT webhook_message_status CHECK (status IN ('pending', 'delivered', 'failed')),
    CONSTRAINT webhook_message_end CHECK ((status = 'pending') = (ended_at IS NULL))
);

CREATE INDEX webhook_messages_due ON webhook_messages (endpoint_id, next_at) WHERE status = 'pending';
CREATE INDEX webhook_messages_log ON webhook_messages (endpoint_id, created_at);

CREATE TABLE webhook_attempts (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    message_id uuid NOT NULL REFERENCES webhook_messages ON DELETE CASCADE,
    at         timestamptz NOT NULL,
    status     integer NOT NULL, -- HTTP; 0: no answer
    took_ms    integer NOT NULL,
    error      text NOT NULL,
    answer     text NOT NULL     -- how it begins
);

CREATE INDEX webhook_attempts_of_message ON webhook_attempts (message_id, id);

-- What a run tells is written in the transaction that changes the run, so that nothing is told that did not happen, and
-- nothing that happened is not told. It is written once for all runs that a statement changes: a trigger for each row cost a tenth
-- of a run, also where nobody listens.
-- +goose StatementBegin
CREATE FUNCTION webhook_tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM webhook_endpoints) THEN
        RETURN NULL;
    END IF;
    INSERT INTO webhook_messages (endpoint_id, type, subject, sequence, data, created_at, next_at)
    SELECT e.id, c.tells, c.id::text,
        1 + coalesce((SELECT max(m.sequence) FROM webhook_messages m WHERE m.endpoint_id = e.id AND m.subject = c.id::text), 0),
        CASE WHEN c.tells <> 'run.finished' THEN json_build_object('runId', c.id, 'toolId', c.tool_id, 'status', c.status,
            'progress', c.fraction, 'stage', c.stage, 'queuePosition', c.queue_position) END,
        clock_timestamp(), clock_timestamp()
    FROM (
        SELECT now_is.*, CASE WHEN now_is.ended_at IS NOT NULL THEN 'run.finished'
                              WHEN was.started_at IS NULL AND now_is.started_at IS NOT NULL THEN 'run.started'
                              ELSE 'run.progress' END AS tells
        FROM now_is JOIN was ON was.id = now_is.id
        WHERE was.ended_at IS NULL AND (now_is.ended_at IS NOT NULL OR now_is.status IS DISTINCT FROM was.status
            OR now_is.fraction IS DISTINCT FROM was.fraction OR now_is.started_at IS DISTINCT FROM was.started_at)) c
    JOIN webhook_endpoints e ON e.account_id = c.account_id AND c.tells = ANY (e.events);
    RETURN NULL;
END $$;
-- +goose StatementEnd

-- For a trigger on what a statement changed, Postgres keeps each run as it was and as it is until the statement ends, also
-- while the trigger is disabled: a fifteenth of all that a run costs. So the trigger comes with the first endpoint. That it
-- does not go with the last leaves no moment in which one that comes could miss something.
-- +goose StatementBegin
CREATE FUNCTION webhook_listen() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = 'runs'::regclass AND tgname = 'webhook_tell') THEN
        -- It waits for the changes of runs that are under way. Of two first endpoints at once the second finds it there.
        CREATE OR REPLACE TRIGGER webhook_tell AFTER UPDATE ON runs REFERENCING OLD TABLE AS was NEW TABLE AS now_is
            FOR EACH STATEMENT EXECUTE FUNCTION webhook_tell();
    END IF;
    RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER webhook_listen BEFORE INSERT ON webhook_endpoints FOR EACH STATEMENT EXECUTE FUNCTION webhook_listen();

-- +goose Down

DROP TABLE webhook_attempts, webhook_messages, webhook_endpoints, webhook_events;
DROP FUNCTION webhook_tell, webhook_listen;
