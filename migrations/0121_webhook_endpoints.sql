-- +goose Up

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
-- nothing that happened is not told. Accounts without endpoints, nearly all, cost one look into an index.
-- +goose StatementBegin
CREATE FUNCTION webhook_tell() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    v_type text := CASE WHEN NEW.ended_at IS NOT NULL THEN 'run.finished'
                        WHEN OLD.started_at IS NULL AND NEW.started_at IS NOT NULL THEN 'run.started'
                        ELSE 'run.progress' END;
BEGIN
    INSERT INTO webhook_messages (endpoint_id, type, subject, sequence, data, created_at, next_at)
    SELECT e.id, v_type, NEW.id::text,
        1 + coalesce((SELECT max(m.sequence) FROM webhook_messages m WHERE m.endpoint_id = e.id AND m.subject = NEW.id::text), 0),
        CASE WHEN v_type <> 'run.finished' THEN json_build_object('runId', NEW.id, 'toolId', NEW.tool_id, 'status', NEW.status,
            'progress', NEW.fraction, 'stage', NEW.stage, 'queuePosition', NEW.queue_position) END,
        clock_timestamp(), clock_timestamp()
    FROM webhook_endpoints e WHERE e.account_id = NEW.account_id AND v_type = ANY (e.events);
    RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER webhook_tell AFTER UPDATE OF status, fraction, started_at, ended_at ON runs FOR EACH ROW
    WHEN (OLD.ended_at IS NULL AND (NEW.ended_at IS NOT NULL OR NEW.status IS DISTINCT FROM OLD.status
        OR NEW.fraction IS DISTINCT FROM OLD.fraction OR NEW.started_at IS DISTINCT FROM OLD.started_at))
    EXECUTE FUNCTION webhook_tell();

-- +goose Down

DROP TRIGGER webhook_tell ON runs;
DROP FUNCTION webhook_tell();
DROP TABLE webhook_attempts;
DROP TABLE webhook_messages;
DROP TABLE webhook_endpoints;
